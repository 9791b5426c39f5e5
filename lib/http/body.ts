import { isUtf8 } from 'node:buffer';
import type { Request, RequestHandler, Response } from 'express';
import express from 'express';
import * as z from 'zod';
import { withTimeout } from '../context/deadline.js';
import { AuthError, type AuthErrorCode, excerpt, fieldErrors, type GivenFieldError } from '../errors.js';
import { trimWhitespace } from '../sessions/carriers.js';
import type { Pair } from './forms.js';
import type { Route } from './route.js';

/** Parses the query string. `req.query` depends on the app's settings, and can contain arrays and objects. */
export function queryOf(req: Request): URLSearchParams {
  const start = req.url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : req.url.slice(start + 1));
}

/**
 * Validates parameters against a route's schema, and drops unknown ones. Each parameter is a single string: the syntax
 * that some parsers have for lists and objects (`limit[]=1`) is rejected, not ignored.
 *
 * @throws AuthError `invalid_request`
 */
export function checkParameters<T>(given: URLSearchParams, schema: z.ZodType<T>): T {
  const values = new Map<string, string>();
  for (const [name, value] of given) {
    if (values.has(name))
      throw new AuthError('invalid_request', { detail: `The parameter ${excerpt(name)} is sent twice.` });
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

const MAX_BODY_BYTES = 16 * 1024;
/** The rights of a request are checked before its body arrives, so the body must not take long. */
const MAX_BODY_MS = 10_000;

const INVALID_UTF8 = 'latchkey.invalid-utf8';
const INVALID_FORM = 'latchkey.invalid-form';

const parseJson = express.json({
  limit: MAX_BODY_BYTES,
  // Strict mode would report `null` and `5` as syntax errors; they are valid JSON and fail validation instead.
  strict: false,
  inflate: false,
  verify: requireUtf8(INVALID_UTF8),
});

const FORM = 'application/x-www-form-urlencoded';
const textOfForm = { type: FORM, limit: MAX_BODY_BYTES, inflate: false };
const parseForm = express.text({ ...textOfForm, verify: requireUtf8(INVALID_FORM) });
// The app does not control providers, and they might name another character set for their ASCII.
const parseFormPost = express.text(textOfForm);

// Keyed by the `type` of body-parser's errors.
const PARSER_ERRORS: Record<string, AuthErrorCode> = {
  'entity.too.large': 'body_too_large',
  'encoding.unsupported': 'unsupported_media_type',
  'charset.unsupported': 'unsupported_media_type',
  'entity.parse.failed': 'invalid_json',
  [INVALID_UTF8]: 'invalid_json',
};

/**
 * Parses the body of a request, and validates it against the route's schema. If no field is required, the body can be
 * missing.
 *
 * @throws AuthError `unsupported_media_type`, `body_too_large`, `body_too_slow`, `invalid_json`, `validation_failed`
 */
export async function readBody(req: Request, res: Response, rules: BodyRules): Promise<unknown> {
  if (isEmpty(req) && (rules.body ?? nothing).safeParse({}).success) return validateWhole({}, rules);
  const isOurs = await parse(req, res, 'application/json', parseJson);
  return validateWhole(isOurs ? (req.body ?? {}) : jsonIn(req.body), rules);
}

/**
 * Returns the JSON in a body that the app's own middleware has read: as a string (`text()`), as bytes (`raw()`, which
 * is common in front of webhooks), or parsed.
 *
 * @throws AuthError `invalid_json`
 */
function jsonIn(body: unknown): unknown {
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) return body ?? {};
  if (body.length === 0) return {};
  try {
    return JSON.parse(textIn(body));
  } catch (cause) {
    throw new AuthError('invalid_json', { cause });
  }
}

/** @throws TypeError if the bytes are not UTF-8 */
function textIn(body: string | Buffer): string {
  return typeof body === 'string'
    ? body
    : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
}

/** Whether a request has no body. */
export function isEmpty({ headers }: Request): boolean {
  const { 'content-length': length, 'content-type': type, 'transfer-encoding': chunked } = headers;
  // A chunked body without a content type might be empty, so it is not read.
  return !Number(length) && (chunked === undefined || type === undefined);
}

/** Validates a body against a route's schema. @throws AuthError `validation_failed` */
export function validate<T>(body: unknown, schema: z.ZodType<T>): T {
  const { data, error } = schema.safeParse(body, { reportInput: true });
  if (error) throw new AuthError('validation_failed', { errors: fieldErrors(error) });
  return data as T;
}

export const nothing = z.strictObject({});

/** The rules for the body of a route. */
type BodyRules = Pick<Route, 'body' | 'faultsOf'>;

/**
 * Validates a body. If the schema rejects it, the errors by the other rules of the route are reported too, in the order of
 * the fields.
 *
 * @throws AuthError `validation_failed`
 */
export async function validateWhole(
  values: unknown,
  { body: schema = nothing, faultsOf }: BodyRules,
): Promise<unknown> {
  try {
    return validate(values, schema);
  } catch (error) {
    if (!faultsOf || !(error instanceof AuthError) || !isObject(values)) throw error;
    const { errors = [] } = error;
    const rejected = new Set(errors.map(fieldOf));
    const more = (await faultsOf(values)).filter((one) => !rejected.has(fieldOf(one)));
    const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    const placeOf = (one: GivenFieldError) => names.indexOf(fieldOf(one)) + 1 || names.length + 1;
    throw new AuthError('validation_failed', {
      errors: [...errors, ...more].sort((a, b) => placeOf(a) - placeOf(b)),
    });
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldOf({ pointer }: GivenFieldError): string {
  return pointer.split('/')[1] ?? '';
}

/** Whether the body of a request is a form, according to its type. */
export function isForm({ headers }: Request): boolean {
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  return trimWhitespace(type).toLowerCase() === FORM;
}

/**
 * Parses an HTML form in the body, which can be empty.
 *
 * @throws AuthError `unsupported_media_type`, `body_too_large`, `body_too_slow`; `invalid_request` if it is not UTF-8
 */
export async function readForm(req: Request, res: Response): Promise<Pair[]> {
  if (req.headers['content-length'] === undefined && req.headers['transfer-encoding'] === undefined)
    return [];
  await parse(req, res, FORM, parseForm);
  const form = Buffer.isBuffer(req.body) ? formIn(req.body) : req.body;
  if (typeof form === 'string') requireEncodedUtf8(form);
  return pairsOf(form);
}

function formIn(body: Buffer): string {
  try {
    return textIn(body);
  } catch (cause) {
    throw new AuthError('invalid_request', { detail: NOT_UTF8, cause });
  }
}

const NOT_UTF8 = 'The form is not valid UTF-8.';

/**
 * Parses parameters that a provider sends as a form in the body.
 *
 * @throws AuthError `unsupported_media_type`, `body_too_large`, `body_too_slow`, `invalid_request`
 */
export async function readFormPost(req: Request, res: Response): Promise<URLSearchParams> {
  await parse(req, res, FORM, parseFormPost);
  const form = new URLSearchParams();
  // The app does not control providers, so bytes of another character set are decoded as well as possible.
  const body = Buffer.isBuffer(req.body) ? req.body.toString() : req.body;
  for (const [name, value] of pairsOf(body)) {
    if (typeof value !== 'string')
      throw new AuthError('invalid_request', { detail: `${excerpt(name)}: must be a string` });
    form.append(name, value);
  }
  return form;
}

/** @param body the form as a string, or the object from the app's own body parser, with lists for repeated fields */
function pairsOf(body: unknown): Pair[] {
  if (typeof body === 'string') return [...new URLSearchParams(body)];
  return Object.entries(body ?? {}).flatMap(([name, value]) => {
    // Some parsers convert `name[]` to a list with one item, which must not pass for a single value.
    const values: unknown[] = Array.isArray(value) && value.length > 1 ? value : [value];
    return values.map((one): Pair => [name, one]);
  });
}

function requireUtf8(otherwise: string) {
  return (_req: unknown, _res: unknown, bytes: Buffer, charset: string) => {
    if (charset !== 'utf-8') throw Object.assign(new Error(), { type: 'charset.unsupported' });
    if (!isUtf8(bytes)) throw Object.assign(new Error(), { type: otherwise });
  };
}

function requireEncodedUtf8(form: string): void {
  try {
    decodeURIComponent(form);
  } catch (cause) {
    throw new AuthError('invalid_request', { detail: NOT_UTF8, cause });
  }
}

/** @returns whether this function has read the body, and not the app's own middleware */
async function parse(req: Request, res: Response, type: string, parser: RequestHandler): Promise<boolean> {
  if (!req.is(type)) throw new AuthError('unsupported_media_type');
  if (Number(req.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw new AuthError('body_too_large');
  // The app might have parsed a chunked or compressed body with its own limit.
  if (req.body !== undefined && sizeOf(req.body) > MAX_BODY_BYTES) throw new AuthError('body_too_large');
  // Different parsers mark a body as read in different ways, and no parser can read it a second time.
  if (req.readableEnded && !isEmpty(req)) {
    if (req.body === undefined) throw new AuthError('invalid_request', { detail: ALREADY_READ });
    return false;
  }
  const parsed = new Promise<void>((resolve, reject) => {
    withOneNameOfUtf8(req, parser)(req, res, (error?: unknown) => {
      if (error === undefined || error === null) resolve();
      else
        reject(
          new AuthError(PARSER_ERRORS[(error as { type?: string }).type ?? ''] ?? 'invalid_request', {
            cause: error,
          }),
        );
    });
  });
  // The connection is closed after the response, because the rest of the body might never arrive.
  const tooSlow = () => new AuthError('body_too_slow', { headers: { Connection: 'close' } });
  await withTimeout(parsed, MAX_BODY_MS, tooSlow);
  return true;
}

/** Other names of UTF-8, and of a part of it, in a `Content-Type`. The parser knows only `utf-8`. */
const AS_UTF8 = /;\s*charset\s*=\s*(?:"(?:utf8|us-ascii|ascii)"|(?:utf8|us-ascii|ascii))(?=\s*(?:;|$))/i;

/** Lets a parser read a body as UTF-8 if its type names UTF-8 differently. The parser reads the type synchronously. */
function withOneNameOfUtf8(req: Request, parser: RequestHandler): RequestHandler {
  const type = req.headers['content-type'];
  if (type === undefined || !AS_UTF8.test(type)) return parser;
  return (...given) => {
    req.headers['content-type'] = type.replace(AS_UTF8, '; charset=utf-8');
    try {
      return parser(...given);
    } finally {
      req.headers['content-type'] = type;
    }
  };
}

const ALREADY_READ =
  'Other middleware has read the body without keeping it: mount the router before that middleware.';

/** The size of a parsed body as JSON, in bytes. */
function sizeOf(body: unknown): number {
  if (typeof body === 'string' || Buffer.isBuffer(body)) return Buffer.byteLength(body);
  try {
    return Buffer.byteLength(JSON.stringify(body));
  } catch {
    // The body is nested too deeply.
    return Number.POSITIVE_INFINITY;
  }
}
