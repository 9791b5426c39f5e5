import type { NextFunction, Request, Response } from 'express';
import type { AuthError } from '../errors.js';
import type { Via } from '../sessions/request.js';

/** Options of all guards. */
export interface GuardOptions {
  /**
   * Responds instead of the guard when it refuses a request, for example by redirecting to a sign-in page. Call
   * `next(error)` for errors that it does not handle.
   * @default a problem response
   */
  onError?(error: AuthError, req: Request, res: Response, next: NextFunction): unknown;
  /** The kinds of credentials to accept; at least one must be enabled. @default all enabled ones */
  accept?: readonly Via[];
}

/** @throws TypeError on a level that there is not */
export function checkAal(name: string, aal: unknown): void {
  if (aal !== 1 && aal !== 2) throw new TypeError(`latchkey: ${name}'s aal must be 1 or 2`);
}
