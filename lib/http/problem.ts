import { STATUS_CODES } from 'node:http';
import type { NextFunction, Response } from 'express';
import { z } from 'zod';
import type { Core } from '../core/core.js';
import { AuthError, MAX_FIELD_ERRORS } from '../errors.js';

/** A problem response (RFC 9457). */
export const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: z.string(),
  errors: z
    .array(z.object({ pointer: z.string(), code: z.string(), detail: z.string() }))
    .max(MAX_FIELD_ERRORS)
    .describe('The invalid fields of the body; of many, the first ones. A long pointer is cut and ends in …')
    .optional(),
});

/** Responds to an AuthError with a problem; passes any other error to the app. */
export function answerError(core: Core, error: unknown, res: Response, next: NextFunction): void {
  if (!(error instanceof AuthError) || res.headersSent) {
    next(error);
    return;
  }
  // A provider's failure (502) has already been logged, since it can also result in a redirect.
  if (error.status === 503) logFault(core, error);
  res.statusCode = error.status;
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Content-Type', 'application/problem+json; charset=utf-8');
  if (error.status === 401) res.setHeader('WWW-Authenticate', challenges(core));
  for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
  if (error.retryAfter !== undefined) res.setHeader('Retry-After', String(error.retryAfter));
  res.end(
    JSON.stringify({
      type: 'about:blank',
      title: STATUS_CODES[error.status],
      status: error.status,
      code: error.code,
      detail: error.detail,
      errors: error.errors,
    }),
  );
}

function logFault({ settings: { logger } }: Core, { message, cause }: AuthError): void {
  const line = `latchkey: ${message}`;
  if (cause === undefined) logger.error(line);
  else logger.error(line, cause);
}

function challenges(core: Core): string {
  return core.carriers.map(({ challenge }) => challenge).join(', ');
}
