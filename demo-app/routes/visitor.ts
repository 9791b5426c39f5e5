import type { Request } from 'express';
import type { DemoAuth } from '../auth.js';
import type { Navigation } from '../html.js';

/** The navigation for the user of this request. Must be called after a guard. */
export function navigationOf(auth: DemoAuth, req: Request): Navigation {
  if (!req.auth) return 'visitors';
  return auth.admin.isAdministrator(req.auth.user) ? 'administrators' : 'users';
}
