import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorRequestHandler } from 'express';
import { ORIGIN } from '../settings.js';

/** The page for everything that the provider cannot continue, with the way back to the app. */
export const problemPage = readFileSync(join(import.meta.dirname, 'problem.html'), 'utf8').replaceAll(
  '{{app}}',
  ORIGIN,
);

/** Users get here with the back button after a sign-in, or if they continue one that has expired. */
export const answerProblem: ErrorRequestHandler = (error, _req, res, next) => {
  if (res.headersSent) {
    next(error);
    return;
  }
  const status = error.status >= 400 && error.status < 500 ? error.status : 500;
  if (status === 500) console.error(error);
  res.status(status).set('Cache-Control', 'no-store').type('html').send(problemPage);
};
