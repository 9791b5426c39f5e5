import type { Request, RequestHandler } from 'express';
import { type GuardOptions, optionalSession } from 'latchkey';
import type { DemoAuth } from '../auth.js';
import type { Navigation } from '../html.js';

/** Lets every request through, and sets `req.auth` if the user is signed in. */
export function everybody(auth: DemoAuth): RequestHandler {
  return optionalSession(auth, { onError: continueWithout });
}

/** The navigation for the user of this request. Must be called after a guard. */
export function navigationOf(auth: DemoAuth, req: Request): Navigation {
  if (!req.auth) return 'visitors';
  return auth.admin.isAdministrator(req.auth.user) ? 'administrators' : 'users';
}

/** Treats a session that has ended like no session. */
const continueWithout: NonNullable<GuardOptions['onError']> = (error, _req, _res, next) => {
  if (error.status === 401) next();
  else next(error);
};
