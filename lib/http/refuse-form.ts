import type { NextFunction, Request, Response } from 'express';
import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import { isNavigation } from '../sessions/origin.js';
import { keepRefused } from './form-values.js';
import type { FormPages } from './forms.js';
import { answerError, answerPage, redirectError } from './problem.js';

/**
 * Responds to the error of a form: with a redirect to the page that shows it, which gets what was typed. Without such a
 * page, a browser gets a small page of latchkey, and a program the problem.
 */
export function refuseForm(
  core: Core,
  pages: FormPages,
  error: unknown,
  res: Response & { readonly req: Request },
  next: NextFunction,
  startedAt: number,
): void {
  const page = pages.pageFor(error);
  if (!(error instanceof AuthError) || res.headersSent) answerError(core, error, res, next, startedAt);
  else if (page !== null) {
    keepRefused(core, error, page, pages.typed, res);
    redirectError(core, error, page, res, startedAt);
  } else if (isNavigation(res.req)) answerPage(core, error, res, startedAt);
  else answerError(core, error, res, next, startedAt);
}
