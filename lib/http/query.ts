import type { Request } from 'express';
import * as z from 'zod';
import { AuthError, excerpt } from '../errors.js';

/** The query string. Not `req.query`, which depends on the app's settings and can contain arrays and objects. */
export function queryOf(req: Request): URLSearchParams {
  const start = req.url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : req.url.slice(start + 1));
}

/**
 * Validates parameters against a route's schema, and drops unknown ones. Each is a single string: the syntax of some
 * parsers for lists and objects (`limit[]=1`) is rejected rather than ignored.
 *
 * @throws AuthError `invalid_request`
 */
export function checkParameters<T>(given: URLSearchParams, schema: z.ZodType<T>): T {
  const values = new Map<string, string>();
  for (const [name, value] of given) {
    if (values.has(name))
      throw new AuthError('invalid_request', { detail: `The parameter ${excerpt(name)} is given twice.` });
    const [plainName = ''] = name.split('[');
    if (plainName !== name && schema instanceof z.ZodObject && Object.hasOwn(schema.shape, plainName))
      throw new AuthError('invalid_request', {
        detail: `The parameter ${plainName} must be a single string.`,
      });
    values.set(name, value);
  }
  const { data, error } = schema.safeParse(Object.fromEntries(values));
  if (error) {
    const [issue] = error.issues;
    throw new AuthError('invalid_request', { detail: `${issue?.path.join('.')}: ${issue?.message}` });
  }
  return data as T;
}
