import type { NextFunction, Request, Response } from 'express';
import type { Via } from '../core/authentication.js';
import type { AuthError } from '../errors.js';

/** What all guards take. */
export interface GuardOptions {
  /**
   * Answers in the guard's place when it refuses, to redirect to a sign-in page, for example. Call `next(error)` for
   * errors that it does not answer.
   * @default a problem response
   */
  onError?(error: AuthError, req: Request, res: Response, next: NextFunction): unknown;
  /** How a request may be authenticated on this route; at least one of them must be on. @default all that are on */
  accept?: readonly Via[];
}
