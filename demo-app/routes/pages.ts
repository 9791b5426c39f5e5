import { type RequestHandler, Router } from 'express';
import { type GuardOptions, optionalSession, requireAdmin, requireSession } from 'latchkey';
import type { DemoAuth } from '../auth.js';
import { composePage } from '../html.js';
import { ORIGIN } from '../settings.js';
import { navigationOf } from './visitor.js';

export function pages(auth: DemoAuth): Router {
  const all = optionalSession(auth);
  const visitors = [all, redirectSignedIn];
  const users = requireSession(auth, { onError: toSignIn });
  const administrators = requireAdmin(auth, { onError: toSignIn });

  const router = Router();
  router.get('/', visitors, page(auth, 'home', 'Home'));
  router.get('/sign-up', visitors, page(auth, 'sign-up', 'Sign up'));
  router.get('/sign-in', visitors, page(auth, 'sign-in', 'Sign in'));
  // The links in emails lead here, whether the user is signed in or not.
  router.get('/forgotten-password', all, page(auth, 'forgotten-password', 'Forgot your password?'));
  router.get('/reset-password', all, page(auth, 'reset-password', 'New password'));
  router.get('/verify-email', all, page(auth, 'verify-email', 'Confirm your email'));
  router.get('/sign-in-failed', all, page(auth, 'sign-in-failed', 'Sign-in failed'));
  router.get('/mails', all, page(auth, 'mails', 'Emails'));
  router.get('/account', users, page(auth, 'account', 'Account'));
  // Where password managers lead users: https://w3c.github.io/webappsec-change-password-url/
  router.get('/.well-known/change-password', (_req, res) => res.redirect(302, '/account#your-password'));
  router.get('/linked-accounts', users, page(auth, 'linked-accounts', 'Linked accounts'));
  router.get('/api-keys', users, page(auth, 'api-keys', 'API keys'));
  router.get('/sessions', users, page(auth, 'sessions', 'Sessions'));
  router.get('/users', administrators, page(auth, 'users', 'Users'));
  router.get('/events', administrators, page(auth, 'events', 'Events', '/users'));
  return router;
}

/** A page is static HTML. Its script loads the user's data from the JSON routes. */
function page(auth: DemoAuth, name: string, title: string, path = `/${name}`): RequestHandler {
  const html = composePage(name, { title, path, script: name === 'home' ? undefined : `${name}.js` });
  return (req, res) => {
    // Otherwise the back button would show the page after the user has signed out.
    res
      .set('Cache-Control', 'no-store')
      .type('html')
      .send(html(navigationOf(auth, req)));
  };
}

/** Redirects to the page in `next`, but only to a path of this app: anyone can create a link to the sign-in page. */
const redirectSignedIn: RequestHandler = (req, res, next) => {
  if (!req.auth) {
    next();
    return;
  }
  const wanted = String(req.query.next ?? '');
  const url = wanted.startsWith('/') && URL.canParse(wanted, ORIGIN) ? new URL(wanted, ORIGIN) : null;
  res.redirect(303, url?.origin === ORIGIN ? url.href : '/account');
};

const toSignIn: NonNullable<GuardOptions['onError']> = (error, req, res, next) => {
  if (error.status !== 401) {
    next(error);
    return;
  }
  const query = new URLSearchParams({ next: req.originalUrl });
  // Tells users who were signed in why they have to sign in again.
  if (error.code === 'invalid_session') query.set('ended', '1');
  res.redirect(303, `/sign-in?${query}`);
};
