import { type RequestHandler, Router } from 'express';
import { currentUser, type GuardOptions, optionalSession, requireAdmin, requireSession } from 'latchkey';
import type { DemoAuth } from '../auth.js';
import { composePage } from '../html.js';
import { outcomeOf } from '../outcomes.js';
import {
  account,
  enter,
  linkedAccounts,
  mailedLink,
  mails,
  nextPage,
  reauthenticate,
  secondFactor,
  sessions,
  signInEmail,
  undoChange,
  type View,
} from '../views.js';
import { navigationOf } from './visitor.js';

export function pages(auth: DemoAuth): Router {
  const all = optionalSession(auth);
  const visitors = [all, redirectSignedIn];
  const users = requireSession(auth, { onError: toSignIn });
  const administrators = requireAdmin(auth, { onError: toSignIn });

  const router = Router();
  router.use(toSecondFactor);
  router.get('/', visitors, page(auth, 'home', 'Home', { script: false }));
  router.get('/sign-up', visitors, page(auth, 'sign-up', 'Sign up', { view: enter }));
  router.get('/sign-in', visitors, page(auth, 'sign-in', 'Sign in', { view: enter }));
  router.get(
    '/sign-in/email',
    all,
    page(auth, 'sign-in-email', 'Sign in with a code', { view: signInEmail, path: '/sign-in' }),
  );
  // The links in emails lead here, whether the user is signed in or not.
  router.get('/forgotten-password', all, page(auth, 'forgotten-password', 'Forgot your password?'));
  router.get('/reset-password', all, page(auth, 'reset-password', 'New password', { view: mailedLink }));
  router.get('/verify-email', all, page(auth, 'verify-email', 'Confirm your email', { view: mailedLink }));
  router.get('/change-email', all, page(auth, 'change-email', 'Your new email', { view: mailedLink }));
  router.get('/second-factor', all, page(auth, 'second-factor', 'One more step', { view: secondFactor }));
  router.get('/undo-change', all, page(auth, 'undo-change', 'This was not me', { view: undoChange }));
  router.get('/sign-in-failed', all, page(auth, 'sign-in-failed', 'Sign-in failed', { script: false }));
  router.get('/mails', all, page(auth, 'mails', 'Emails', { view: mails }));
  router.get('/account', users, page(auth, 'account', 'Account', { view: account }));
  // Where password managers lead users: https://w3c.github.io/webappsec-change-password-url/
  router.get('/.well-known/change-password', (_req, res) => res.redirect(302, '/account#your-password'));
  router.get(
    '/linked-accounts',
    users,
    page(auth, 'linked-accounts', 'Linked accounts', { view: linkedAccounts }),
  );
  router.get('/security', users, page(auth, 'security', 'Security', { needsScript: true }));
  // For browsers without scripts. The others show a dialog.
  router.get(
    '/reauthenticate',
    users,
    page(auth, 'reauthenticate', 'Confirm that it is you', { view: reauthenticate, script: false }),
  );
  router.get('/api-keys', users, page(auth, 'api-keys', 'API keys', { needsScript: true }));
  router.get('/sessions', users, page(auth, 'sessions', 'Sessions', { view: sessions }));
  // For browsers without scripts. The script of the page calls DELETE /auth/sessions/:id.
  router.post('/sessions/:id/end', users, async (req, res) => {
    const hasEnded = await auth.revokeSessionById(currentUser(req).id, String(req.params.id));
    res.redirect(303, hasEnded ? '/sessions?done=session-ended' : '/sessions?error=session_not_found');
  });
  router.get('/users', administrators, page(auth, 'users', 'Users', { needsScript: true }));
  router.get('/users/:id', administrators, page(auth, 'user', 'User', { needsScript: true, path: '/users' }));
  router.get(
    '/events',
    administrators,
    page(auth, 'events', 'Events', { needsScript: true, path: '/users' }),
  );
  return router;
}

interface PageOptions {
  /** What the page shows to a user. Without one, it is the same for all. */
  readonly view?: View;
  /** Whether the page has a script of its own. */
  readonly script?: boolean;
  readonly needsScript?: boolean;
  /** The path of its link in the navigation. */
  readonly path?: string;
}

function page(
  auth: DemoAuth,
  name: string,
  title: string,
  { view, script = true, needsScript = false, path = `/${name}` }: PageOptions = {},
): RequestHandler {
  const compose = composePage(name, { title, path, needsScript, script: script ? `${name}.js` : undefined });
  return async (req, res) => {
    const values = { ...outcomeOf(req), ...(await view?.(auth, req)) };
    // Otherwise the back button would show the page after the user has signed out.
    res
      .set('Cache-Control', 'no-store')
      .type('html')
      .send(compose(navigationOf(auth, req), values));
  };
}

const redirectSignedIn: RequestHandler = (req, res, next) => {
  if (req.auth) res.redirect(303, nextPage(req));
  else next();
};

/** Where a sign-in at a provider returns to if it needs a second factor. */
const toSecondFactor: RequestHandler = (req, res, next) => {
  if (req.query.second_factor !== 'required') {
    next();
    return;
  }
  const isEntrance = ['/sign-in', '/sign-up'].includes(req.path);
  const wanted = isEntrance ? String(req.query.next ?? '/account') : req.path;
  res.redirect(303, `/second-factor?${new URLSearchParams({ next: wanted })}`);
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
