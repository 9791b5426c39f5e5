import type { Request } from 'express';
import { currentUser } from 'latchkey';
import type { DemoAuth } from './auth.js';
import { type Html, html, type Values } from './html.js';
import { keptMails } from './mails.js';
import { providers } from './providers.js';
import { deviceOf } from './public/device.js';
import { waysInWords } from './public/ways.js';
import { ORIGIN } from './settings.js';
import { signInMethods } from './sign-in-methods.js';

/** What a page shows to a user. Its script shows the same, and more, where scripts run. */
export type View = (auth: DemoAuth, req: Request) => Values | Promise<Values>;

/** The page in `next`, but only a page of this app: anyone can create a link to the sign-in page. */
export function nextPage({ query }: Request): string {
  const wanted = String(query.next ?? '');
  const url = wanted.startsWith('/') && URL.canParse(wanted, ORIGIN) ? new URL(wanted, ORIGIN) : null;
  return url?.origin === ORIGIN ? url.href : `${ORIGIN}/account`;
}

/** Of the pages to sign in and up. */
export const enter: View = (_auth, req) => {
  const next = nextPage(req);
  const links = providers.map(({ name, plugin }) => {
    const query = new URLSearchParams({ callback_url: next }).toString();
    const url = `/auth/oauth/${plugin.provider.id}/authorize?${query}`;
    return html`<a class="button quiet" href="${url}">Sign in with ${name}</a>`;
  });
  const query = new URLSearchParams({ next: String(req.query.next ?? '/account') });
  return {
    next,
    secondFactorTo: `/second-factor?${query}`,
    emailPage: `/sign-in/email?${query}`,
    providers: links,
  };
};

/** Of the page that asks for the code of an emailed sign-in. The link in the email leads there too. */
export const signInEmail: View = (_auth, req) => {
  const { token, next = '/account' } = req.query;
  const query = new URLSearchParams({ next: String(next) });
  return {
    next: nextPage(req),
    secondFactorTo: `/second-factor?${query}`,
    here: `/sign-in/email?${query}&done=code-asked`,
    token: String(token ?? ''),
    linkHidden: token === undefined,
  };
};

/** Of the page with the second step of a sign-in. Without scripts, it offers every method. */
export const secondFactor: View = (_auth, req) => {
  const wanted = String(req.query.next ?? '/account');
  const again = new URLSearchParams({ next: wanted, done: 'code-sent' });
  return { next: nextPage(req), here: `/second-factor?${again}` };
};

/** Of the page that asks who it is once more. With scripts, a dialog does. */
export const reauthenticate: View = async (auth, req) => {
  const user = currentUser(req);
  const { password, providers: linked, totp } = await signInMethods(auth, user.id);
  const next = nextPage(req);
  const links = linked.map((provider) => {
    const query = new URLSearchParams({ callback_url: next }).toString();
    return html`<a class="button quiet" href="/auth/oauth/${provider}/reauthenticate?${query}">Confirm at the provider</a>`;
  });
  return {
    next,
    name: user.email ?? user.username ?? '',
    passwordHidden: !password || totp,
    codeHidden: !totp,
    providers: password || totp ? [] : links,
  };
};

/** Of the pages that links in emails lead to. */
export const mailedLink: View = (_auth, { query, auth }) => ({
  token: String(query.token ?? ''),
  passwordHidden: Boolean(auth) && query.error !== 'unauthenticated',
});

/** Of the page that undoes a change. Its link is its proof only in a browser that the account knew before. */
export const undoChange: View = (_auth, { query }) => ({
  token: String(query.token ?? ''),
  formHidden: query.done === 'undone',
  // Whatever went wrong, another try needs them.
  proofHidden: query.error === undefined,
});

export const account: View = async (auth, req) => {
  const user = currentUser(req);
  const { email, username, name: fullName } = user as typeof user & { readonly name: string | null };
  const methods = await signInMethods(auth, user.id);
  const { password, providers: linked, totp } = methods;
  const name = username ?? email;
  return {
    name: name ?? 'there',
    email: email ?? 'none',
    username: username ?? 'none',
    fullName: fullName ?? 'none',
    nameValue: fullName ?? '',
    usernameValue: username ?? '',
    ways: waysInWords(methods),
    passwordForEmail: password && !totp ? passwordField('password-for-email') : [],
    passwordForClosing: password && !totp ? passwordField('password-for-closing') : [],
    memberSince: dateOf(user.createdAt),
    sessionEnds: timeOf(req.auth.session?.expiresAt ?? new Date()),
    verifiedHidden: !user.emailVerifiedAt,
    unverifiedHidden: !email || !!user.emailVerifiedAt,
    changeHidden: !password,
    // To sign in with a password, the user also needs an email or a username.
    setHidden: password || !name,
    hello: JSON.stringify({ hello: name ?? 'stranger' }),
    curl: curlExample(name ?? '…'),
    download: totp ? CONFIRM_BY_CODE : password ? CONFIRM_BY_PASSWORD : linked.map(confirmAt),
  };
};

/** Scripts ask for the password only after the sign-in has become too old. */
function passwordField(id: string): Html {
  return html`<div class="field">
    <label for="${id}">Your password, to confirm</label>
    <input id="${id}" name="password" type="password" autocomplete="current-password">
  </div>`;
}

const CONFIRM_BY_PASSWORD = html`<form method="post" action="/auth/reauthenticate">
  <input type="hidden" name="redirect_to" value="/api/my-data">
  <div class="field">
    <label for="confirm-password">Confirm with your password</label>
    <input id="confirm-password" name="password" type="password" autocomplete="current-password" required>
  </div>
  <button class="quiet" type="submit">Download my data</button>
</form>`;

const CONFIRM_BY_CODE = html`<a class="button quiet" href="/reauthenticate?next=/api/my-data">Confirm that it is you, and download my data</a>`;

function confirmAt(provider: string): Html {
  const url = `/auth/oauth/${provider}/reauthenticate?callback_url=/api/my-data`;
  return html`<a class="button quiet" href="${url}">Confirm at the provider, and download my data</a>`;
}

function curlExample(credential: string): string {
  return `curl -i ${ORIGIN}/auth/signin/credential \\
  --json '{"credential":"${credential}","password":"…"}'

curl ${ORIGIN}/api/hello \\
  -H 'Authorization: Bearer …'`;
}

export const sessions: View = async (auth, req) => {
  const list = await auth.listSessions(currentUser(req).id);
  return {
    sessions: list.map(
      ({ id, userAgent, ipAddress, lastActiveAt, aal }) => html`<li>
        <div>
          <p><strong>${deviceOf(userAgent)}</strong> ${id === req.auth.session?.id ? CURRENT : ''}</p>
          <p class="muted">${ipAddress ?? 'Unknown address'} · Active ${timeOf(lastActiveAt)}${aal > 1 ? ' · With two factors' : ''}</p>
        </div>
        <form method="post" action="/sessions/${id}/end"><button class="quiet" type="submit">End</button></form>
      </li>`,
    ),
  };
};

const CURRENT = html`<span class="badge">This device</span>`;

export const linkedAccounts: View = async (auth, req) => {
  const { id } = currentUser(req);
  const accounts = await auth.oauth.accounts(id);
  const mustConfirm = (await auth.twoFactor.status(id)).totp && !isConfirmed(req);
  return {
    providers: providers.map(({ name, plugin: { provider } }) => {
      const linked = accounts.find((one) => one.provider === provider.id);
      const url = `/auth/oauth/${provider.id}`;
      return linked
        ? html`<li class="card act">
            <span><strong>${capitalized(name)}</strong> is linked since ${dateOf(linked.createdAt)}.</span>
            <form method="post" action="${url}/unlink">
              <input type="hidden" name="redirect_to" value="/linked-accounts?done=unlinked">
              <button class="danger" type="submit">Unlink</button>
            </form>
          </li>`
        : html`<li class="card act">
            <span><strong>${capitalized(name)}</strong> is not linked.</span>
            ${mustConfirm ? CONFIRM_TO_LINK : html`<a class="button quiet" href="${url}/link?callback_url=/linked-accounts">Link ${name}</a>`}
          </li>`;
    }),
  };
};

// Not at once on to the provider: the Content-Security-Policy lets no form lead to another origin.
const CONFIRM_TO_LINK = html`<a class="button quiet" href="/reauthenticate?next=/linked-accounts">Confirm that it is you, to link it</a>`;

/** Whether the user has shown the second factor as recently as changes of the ways to sign in require. */
function isConfirmed({ auth }: Request): boolean {
  const { session } = auth;
  return session?.aal === 2 && Date.now() - session.authenticatedAt.getTime() < TEN_MINUTES_MS;
}

const TEN_MINUTES_MS = 10 * 60 * 1000;

export const mails: View = () => ({
  mails: keptMails().map(
    ({ subject, to, text, url, sent_at }) => html`<li class="card">
      <h2>${subject}</h2>
      <p class="muted">To ${to} · ${timeOf(sent_at)}</p>
      <div class="text">${paragraphs(text, url)}</div>
    </li>`,
  ),
});

function paragraphs(text: string, url: string): Html[] {
  const parts = text.trim().split('\n\n');
  return parts.map((part) =>
    part === url ? html`<p><a href="${url}">${url}</a></p>` : html`<p>${part}</p>`,
  );
}

const capitalized = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

// The scripts show times in the user's own time zone.
const inUtc = { timeZone: 'UTC', dateStyle: 'medium' } as const;
const date = new Intl.DateTimeFormat('en', inUtc);
const time = new Intl.DateTimeFormat('en', { ...inUtc, timeStyle: 'short' });
const dateOf = (value: Date) => date.format(value);
const timeOf = (value: Date) => `${time.format(value)} UTC`;
