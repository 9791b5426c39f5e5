import { isUtf8 } from 'node:buffer';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { z } from 'zod';
import { fieldErrors } from '../core/field-errors.js';
import { AuthError, type AuthErrorCode, excerpt } from '../errors.js';

const MAX_BODY_BYTES = 16 * 1024;

const INVALID_UTF8 = 'latchkey.invalid-utf8';

const parseJson = express.json({
  limit: MAX_BODY_BYTES,
  // Strict mode would report `null` and `5` as syntax errors; they are valid JSON and fail validation instead.
  strict: false,
  inflate: false,
  verify(_req, _res, bytes, charset) {
    if (charset !== 'utf-8') throw Object.assign(new Error(), { type: 'charset.unsupported' });
    if (!isUtf8(bytes)) throw Object.assign(new Error(), { type: INVALID_UTF8 });
  },
});

const FORM = 'application/x-www-form-urlencoded';
const parseForm = express.text({ type: FORM, limit: MAX_BODY_BYTES, inflate: false });

// Keyed by the `type` of body-parser's errors.
const PARSER_ERRORS: Record<string, AuthErrorCode> = {
  'entity.too.large': 'body_too_large',
  'encoding.unsupported': 'unsupported_media_type',
  'charset.unsupported': 'unsupported_media_type',
  'entity.parse.failed': 'invalid_json',
  [INVALID_UTF8]: 'invalid_json',
};

/**
 * Parses the body of a request, and validates it against the route's schema.
 *
 * @throws AuthError `unsupported_media_type`, `body_too_large`, `invalid_json`, `validation_failed`
 */
export async function readBody<T>(req: Request, res: Response, schema: z.ZodType<T>): Promise<T> {
  await parse(req, res, 'application/json', parseJson);
  const { data, error } = schema.safeParse(req.body ?? {}, { reportInput: true });
  if (error) throw new AuthError('validation_failed', { errors: fieldErrors(error) });
  return data as T;
}

const nothing = z.strictObject({});

/** Rejects a non-empty body on a route without one. @throws AuthError like {@link readBody} */
export async function refuseBody(req: Request, res: Response): Promise<void> {
  const { 'content-length': length, 'content-type': type, 'transfer-encoding': chunked } = req.headers;
  // A chunked body without a content type may be empty; it is not read.
  const isEmpty = !Number(length) && (chunked === undefined || type === undefined);
  if (!isEmpty) await readBody(req, res, nothing);
}

/**
 * Parses a form in the body.
 *
 * @throws AuthError `unsupported_media_type`, `body_too_large`
 */
export async function readForm(req: Request, res: Response): Promise<URLSearchParams> {
  await parse(req, res, FORM, parseForm);
  if (typeof req.body === 'string') return new URLSearchParams(req.body);
  // The app has already parsed the form.
  const pairs = Object.entries((req.body ?? {}) as Record<string, unknown>);
  const form = new URLSearchParams();
  for (const [name, value] of pairs) {
    for (const one of [value].flat()) {
      if (typeof one !== 'string')
        throw new AuthError('invalid_request', { detail: `${excerpt(name)}: must be a string` });
      form.append(name, one);
    }
  }
  return form;
}

async function parse(req: Request, res: Response, type: string, parser: RequestHandler): Promise<void> {
  if (!req.is(type)) throw new AuthError('unsupported_media_type');
  if (Number(req.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw new AuthError('body_too_large');
  // The app has parsed the body with a limit of its own. It may have come in chunks or compressed.
  if (req.body !== undefined && sizeOf(req.body) > MAX_BODY_BYTES) throw new AuthError('body_too_large');
  await new Promise<void>((resolve, reject) => {
    parser(req, res, (error?: unknown) => {
      if (error === undefined || error === null) resolve();
      else
        reject(
          new AuthError(PARSER_ERRORS[(error as { type?: string }).type ?? ''] ?? 'invalid_request', {
            cause: error,
          }),
        );
    });
  });
}

/** The size of a parsed body as JSON, in bytes. */
function sizeOf(body: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(body));
  } catch {
    // It is nested too deeply.
    return Number.POSITIVE_INFINITY;
  }
}
