import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import type { NextFunction, Request, Response } from 'express';
import * as z from 'zod';
import type { PlainRequest } from '../context/call.js';
import type { Core } from '../core/core.js';
import { AuthError, MAX_FIELD_ERRORS, type ProblemDetails } from '../errors.js';
import { performance } from '../timers.js';
import { withError } from './callback-url.js';
import { problemIn } from './problem-details.js';
import { refusalPage } from './refusal-page.js';

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
    .describe('The invalid fields of the body, or the first of many. A long pointer is cut and ends in …')
    .optional(),
  missing: z.array(z.string()).describe('What is missing, for proof_required').optional(),
  task: z.string().describe('The task to do first, for task_required').optional(),
});

/**
 * Responds to an AuthError with a problem; passes any other error to the app.
 *
 * @param startedAt when the failed work started, by `performance.now()`, for the log
 */
export function answerError(
  core: Core,
  error: unknown,
  res: Response,
  next: NextFunction,
  startedAt?: number,
): void {
  if (!(error instanceof AuthError) || res.headersSent) {
    next(forExpress(error));
    return;
  }
  // Call the app's function before the headers are set, so that it cannot change them.
  const shaped = shapedByApp(core, error, res);
  // The function should not send the response itself, but if it did, that must not end the process.
  if (res.headersSent) return;
  startError(core, error, error.status, res, startedAt);
  res.setHeader('Content-Type', `application/${shaped === null ? 'problem+json' : 'json'}; charset=utf-8`);
  res.end(shaped ?? JSON.stringify(detailsFor(core, error, res.req)));
}

/** Returns the body of an error in the language of a request, or in English if words of the app fail. */
export function detailsFor({ languages }: Core, error: AuthError, req: PlainRequest): ProblemDetails {
  try {
    return problemIn(error, languages.errorsFor(req));
  } catch (cause) {
    languages.failed(
      "locale.words or a language of the app threw, so an error is in latchkey's English",
      cause,
    );
    return problemIn(error);
  }
}

/** Responds to an AuthError with a small page, for a browser if no page of the app can show the error. */
export function answerPage(core: Core, error: AuthError, res: Response, startedAt: number): void {
  startError(core, error, error.status, res, startedAt);
  res.setHeader('Content-Type', 'text/html; charset=utf-8');
  const { languages } = core;
  const script = languages.scriptOf(languages.of(res.req));
  const words = languages.errorsFor(res.req) ?? undefined;
  res.end(refusalPage(error, { home: `${core.settings.publicPath}/`, script, words }).toString());
}

/** Returns the app's own body for an error, as JSON. Null if the app does not define such bodies, or fails to. */
function shapedByApp(core: Core, error: AuthError, { req }: Response): string | null {
  const { problems } = core.settings;
  if (!problems) return null;
  try {
    // Pass a copy, so that the function can change it.
    const body = problems(structuredClone(detailsFor(core, error, req)), req);
    const json = isPromise(body) ? undefined : JSON.stringify(body);
    if (json !== undefined && json !== 'null') return json;
    // No code awaits the promise, so its rejection would end the process.
    if (isPromise(body)) body.then(undefined, () => undefined);
    warnOfShape(core, isPromise(body) ? 'a promise' : 'nothing');
  } catch (thrown) {
    warnOfShape(core, null, thrown);
  }
  return null;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}

const warnedOfShape = new WeakSet<Core>();

/** Logs only once that the app's function fails, because every error response would repeat the line. */
function warnOfShape(core: Core, returned: string | null, ...cause: [thrown?: unknown]): void {
  if (warnedOfShape.has(core)) return;
  warnedOfShape.add(core);
  const what = returned === null ? 'threw' : `returned ${returned}`;
  core.settings.log.error(
    'problems.failed',
    `problems ${what}, so latchkey sent its own body: return a value that JSON can represent, not a promise`,
    cause.length > 0 ? { err: cause[0] } : {},
  );
}

/**
 * Wraps a value that the app's code threw, unless it is an object. Express would ignore `undefined`, `'route'` and some
 * other values, and continue with the next handler.
 */
export function forExpress(thrown: unknown): unknown {
  const isError = typeof thrown === 'object' && thrown !== null;
  return isError
    ? thrown
    : new Error(`a value other than an error was thrown: ${inspect(thrown)}`, { cause: thrown });
}

/** Responds to an AuthError by sending the browser to a page, which gets the code and the names of invalid fields. */
export function redirectError(
  core: Core,
  error: AuthError,
  page: string,
  res: Response,
  startedAt: number,
): void {
  startError(core, error, 303, res, startedAt);
  const { code, task } = error;
  core.pages?.leaveError(code, page, res, null);
  res.setHeader('Location', withError(page, code, { fields: fieldsOf(error), task }));
  res.end();
}

/** Starts the response to an error: its status, its headers and, for a fault, the log. */
export function startError(
  core: Core,
  error: AuthError,
  status: number,
  res: Response,
  startedAt?: number,
): void {
  // A provider's failure (502) has already been logged, because it can also result in a redirect.
  if (error.status === 503) logFault(core, error, res, startedAt);
  res.statusCode = status;
  protect(res);
  if (core.languages.areMany) res.vary('Accept-Language');
  for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
  if (status === 401) res.setHeader('WWW-Authenticate', challenges(core));
  if (error.retryAfter !== undefined) res.setHeader('Retry-After', String(error.retryAfter));
}

/** Returns the names of the invalid fields. Names that a client made up are left out, so that no input is sent back. */
function fieldsOf({ errors = [] }: AuthError): string[] {
  const names = errors.map(({ pointer }) => pointer.split('/')[1] ?? '');
  return [...new Set(names)].filter((name) => /^[a-z][a-z0-9_]{0,63}$/.test(name));
}

function logFault(
  { settings: { log } }: Core,
  { message, code, status, cause }: AuthError,
  res: Response,
  startedAt?: number,
): void {
  log.error('request.failed', message, {
    cause: message,
    err: cause,
    route: routeOf(res.req),
    status,
    code,
    durationMs: startedAt === undefined ? undefined : Math.round(performance.now() - startedAt),
  });
}

/** Returns the method and path of a route as it was declared, because the URL can contain ids and secrets. */
function routeOf({ method, route }: Request): string | undefined {
  const path: unknown = route?.path;
  return typeof path === 'string' ? `${method} ${path}` : undefined;
}

function challenges(core: Core): string {
  return core.carriers.map(({ challenge }) => challenge).join(', ');
}

/** Sets the security headers that every response of latchkey has. */
export function protect(res: ServerResponse): void {
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  // The URL of the OAuth callback contains a code and a state.
  res.setHeader('Referrer-Policy', 'no-referrer');
  // Responses are not part of a page, or are pages with only text and links (ASVS 5.0, 3.2.1, 3.4.6 and 3.5.8).
  res.setHeader(
    'Content-Security-Policy',
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  res.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
}
