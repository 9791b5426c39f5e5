import { Router } from 'express';
import { currentSession, currentUser, optionalSession, requireSession, type User } from 'latchkey';
import { type Html, html } from 'latchkey/pages';
import type { DemoAuth } from './auth.js';
import { type KeptMail, keptMails } from './mails.js';

/** A user with the field that `auth.ts` adds. */
type DemoUser = User & { readonly name: string | null };

/** The app's own pages: all pages that accounts need are those of `latchkey/pages`. */
export function ownPages(auth: DemoAuth): Router {
  const router = Router();
  router.use(['/dashboard', '/mails'], (_req, res, next) => {
    // Otherwise the back button would show the page of a user who has signed out.
    res.set('Cache-Control', 'no-store');
    next();
  });
  router.get('/', optionalSession(auth), (req, res) => {
    const user = req.auth ? currentUser(req) : null;
    res.set('Cache-Control', 'no-store').send(home(auth, user as DemoUser | null).toString());
  });
  // Without a session, the guard leads a browser to the sign-in page, and the sign-in leads back.
  router.get('/dashboard', requireSession(auth, { accept: ['cookie'] }), (req, res) => {
    const { expiresAt } = currentSession(req);
    res.send(dashboard(auth, currentUser(req) as DemoUser, expiresAt).toString());
  });
  router.get('/mails', (_req, res) => {
    // The policy also holds for the frames of this page, and the styles of emails are inline.
    const policy = res.get('Content-Security-Policy');
    res.set('Content-Security-Policy', `${policy}; style-src 'self' 'unsafe-inline'`);
    res.send(mailbox(keptMails()).toString());
  });
  return router;
}

function home(auth: DemoAuth, user: DemoUser | null): Html {
  const entrance = html`<p><a class="button" href="${auth.pages.url('sign-up')}">Create an account</a>
    <a class="button quiet" href="${auth.pages.url('sign-in')}">Sign in</a></p>`;
  const welcome = html`<p>You are signed in as <strong>${nameOf(user)}</strong>.</p>
    <p><a class="button" href="/dashboard">Open your dashboard</a></p>`;
  return documentOf(
    'A small app with accounts',
    html`${user ? welcome : entrance}
    <p>The app itself has three pages: this one, a <a href="/dashboard">dashboard</a> for users who are signed in, and the
    <a href="/mails">mailbox</a>. <code>pages()</code> adds all others: sign-up, sign-in, accounts and administration.</p>
    <p>Are you waiting for an email? The demo sends none. All of them are in the <a href="/mails">mailbox</a>.</p>`,
  );
}

function dashboard(auth: DemoAuth, user: DemoUser, expiresAt: Date): Html {
  const { email, username, name, emailVerifiedAt } = user;
  const unconfirmed = html` (not confirmed yet: open the link in the <a href="/mails">mailbox</a>)`;
  return documentOf(
    `Hello ${name ?? nameOf(user)}`,
    html`<dl>
      <dt>Email</dt><dd>${email ?? 'none'}${email && !emailVerifiedAt && unconfirmed}</dd>
      <dt>Username</dt><dd>${username ?? 'none'}</dd>
      <dt>Name</dt><dd>${name ?? 'none'}</dd>
      <dt>Session until</dt><dd>${inWords(expiresAt)}</dd>
      <dt><a href="/api/hello">/api/hello</a> says</dt><dd><output id="hello">(needs JavaScript)</output></dd>
    </dl>
    <ul>
      <li><a href="${auth.pages.url('account')}">Your account</a>: change what is above</li>
      <li><a href="${auth.pages.url('account/security')}">Security</a>: password, second factor, passkeys</li>
      <li><a href="${auth.pages.url('account/api-keys')}">API keys</a>: call <code>/api/hello</code> from a program</li>
      <li><a href="/api/my-data">Your data</a>: needs a sign-in within the last minute</li>
      ${
        auth.admin.isAdministrator(user) &&
        html`<li><a href="${auth.pages.url('administration/users')}">Users</a>: for administrators</li>`
      }
      <li><a href="${auth.pages.url('sign-out')}">Sign out</a></li>
    </ul>
    <script type="module" src="/dashboard.js"></script>`,
  );
}

function mailbox(mails: readonly KeptMail[]): Html {
  return documentOf(
    'Mailbox',
    html`<p>The demo sends no emails. It shows all of them here, newest first. Reload the page if one is missing.</p>
    ${mails.length === 0 && html`<p>No emails yet.</p>`}
    ${mails.map(
      ({ to, subject, text, url, html: body, sentAt }) => html`<article>
        <h2>${subject}</h2>
        <p class="quiet">To ${to}, ${inWords(sentAt)}</p>
        ${text.split('\n\n').map((part) => html`<p>${part === url ? html`<a href="${url}">${url}</a>` : part}</p>`)}
        <details>
          <summary>As a mail program shows it</summary>
          <iframe sandbox="" srcdoc="${body}" title="${subject}"></iframe>
        </details>
      </article>`,
    )}`,
  );
}

/** A page that says what went wrong. */
export function problemPage(title: string, detail: string): Html {
  return documentOf(title, html`<p>${detail}</p>`);
}

function documentOf(title: string, content: Html): Html {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title} - latchkey demo</title>
    <link rel="icon" href="/favicon.svg">
    <link rel="stylesheet" href="/style.css">
  </head>
  <body>
    <header>
      <a href="/"><strong>latchkey demo</strong></a>
      <nav><a href="/dashboard">Dashboard</a> <a href="/mails">Mailbox</a></nav>
    </header>
    <main>
      <h1>${title}</h1>
      ${content}
    </main>
  </body>
</html>
`;
}

function nameOf(user: DemoUser | null): string {
  return user?.username ?? user?.email ?? 'stranger';
}

function inWords(time: Date): string {
  return time.toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' });
}
