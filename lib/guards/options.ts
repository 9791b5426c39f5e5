import type { NextFunction, Request, Response } from 'express';
import type { Via } from '../carriers/carrier.js';
import type { AuthError } from '../errors.js';

/** What all guards take. */
export interface GuardOptions {
  /**
   * Answers in the guard's place when it refuses, for a redirect to a sign-in page, say. Call `next(error)` for errors
   * that are not yours to answer.
   * @default a problem response
   */
  onError?(error: AuthError, req: Request, res: Response, next: NextFunction): unknown;
  /** The carriers that this route accepts: one of them at least must be on. @default all that are on */
  accept?: readonly Via[];
}
