import type { Request, RequestHandler } from 'express';
import { type GuardOptions, optionalSession } from 'latchkey';
import type { DemoAuth } from '../auth.js';
import type { Navigation } from '../html.js';

/** Lets everybody through, with `req.auth` set for who is signed in. */
export function everybody(auth: DemoAuth): RequestHandler {
  return optionalSession(auth, { onError: goOnWithout });
}

/** The navigation for who asks. Only known behind a guard. */
export function navigationOf(auth: DemoAuth, req: Request): Navigation {
  if (!req.auth) return 'visitors';
  return auth.admin.isAdministrator(req.auth.user) ? 'administrators' : 'users';
}

/** A session that has ended is none. */
const goOnWithout: NonNullable<GuardOptions['onError']> = (error, _req, _res, next) => {
  if (error.status === 401) next();
  else next(error);
};
