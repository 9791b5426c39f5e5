import { type RequestHandler, Router } from 'express';
import { type GuardOptions, optionalSession, requireAdmin, requireSession } from 'latchkey';
import type { DemoAuth } from '../auth.js';
import { composePage, type PageParts } from '../html.js';
import { ORIGIN } from '../settings.js';

export function pages(auth: DemoAuth): Router {
  const visitors = [optionalSession(auth, { onError: goOnWithout }), signedInGoOn];
  const users = requireSession(auth, { onError: toSignIn });
  const administrators = requireAdmin(auth, { onError: toSignIn });

  const router = Router();
  router.get('/', visitors, page('home', 'Home', 'visitors'));
  router.get('/sign-up', visitors, page('sign-up', 'Sign up', 'visitors'));
  router.get('/sign-in', visitors, page('sign-in', 'Sign in', 'visitors'));
  // The mails' links lead here, whether their reader is signed in or not.
  router.get('/forgotten-password', page('forgotten-password', 'Forgotten password', 'none'));
  router.get('/reset-password', page('reset-password', 'New password', 'none'));
  router.get('/verify-email', page('verify-email', 'Confirm your email', 'none'));
  router.get('/mails', page('mails', 'Mails', 'none'));
  router.get('/account', users, page('account', 'Account', 'users'));
  router.get('/linked-accounts', users, page('linked-accounts', 'Linked accounts', 'users'));
  router.get('/api-keys', users, page('api-keys', 'API keys', 'users'));
  router.get('/sessions', users, page('sessions', 'Sessions', 'users'));
  router.get('/users', administrators, page('users', 'Users', 'users'));
  router.get('/events', administrators, page('events', 'Events', 'users', '/users'));
  return router;
}

/** A page is plain HTML; what it shows of the user, its script asks of the JSON routes. */
function page(
  name: string,
  title: string,
  navigation: PageParts['navigation'],
  path = `/${name}`,
): RequestHandler {
  const html = composePage(name, {
    title,
    navigation,
    path,
    script: name === 'home' ? undefined : `${name}.js`,
  });
  return (_req, res) => {
    // Else the back button would show it after signing out.
    res.set('Cache-Control', 'no-store').type('html').send(html);
  };
}

/** To where they wanted to go, only within this app: anybody can write a link to the sign-in page. */
const signedInGoOn: RequestHandler = (req, res, next) => {
  if (!req.auth) {
    next();
    return;
  }
  const wanted = String(req.query.next ?? '');
  const url = URL.canParse(wanted, ORIGIN) ? new URL(wanted, ORIGIN) : null;
  res.redirect(303, wanted && url?.origin === ORIGIN ? url.href : '/account');
};

const toSignIn: NonNullable<GuardOptions['onError']> = (error, req, res, next) => {
  if (error.status === 401) res.redirect(303, `/sign-in?next=${encodeURIComponent(req.originalUrl)}`);
  else next(error);
};

const goOnWithout: NonNullable<GuardOptions['onError']> = (error, _req, _res, next) => {
  if (error.status === 401) next();
  else next(error);
};
