import type { z } from 'zod';
import { inEnglish, isPhrase, isValueType, type Phrase, say, type Unit } from './phrases.js';

/** A validation error of one field of a request body. */
export interface FieldError {
  /** JSON Pointer (RFC 6901) to the field, such as `/email`; empty for the body itself. Cut after 200 characters. */
  readonly pointer: string;
  /** A machine-readable code, such as `required` or `invalid_email`. */
  readonly code: string;
  /** A human-readable description, in responses in the language of the request. */
  readonly detail: string;
}

/** A {@link FieldError} whose detail can be a phrase, which responses say in the language of the request. */
export interface GivenFieldError extends Omit<FieldError, 'detail'> {
  readonly detail: string | Phrase;
}

/** The body of an error response (RFC 9457, problem details). */
export interface ProblemDetails {
  /** Always `about:blank`, because `code` identifies the problem. */
  readonly type: string;
  /** The name of the HTTP status, such as `Unauthorized`. */
  readonly title: string;
  /** The HTTP status. */
  readonly status: number;
  /** A machine-readable code. */
  readonly code: AuthErrorCode;
  /** A human-readable description, in responses in the language of the request. */
  readonly detail: string;
  /** The errors of each field, for `validation_failed`: at least one, and at most 20. */
  readonly errors?: readonly FieldError[];
  /** For `proof_required`, the missing proofs: `browser`, `password`, `second_factor`, `passkey`. */
  readonly missing?: readonly string[];
  /** For `task_required`, the name of the task to do first. */
  readonly task?: string;
}

/** A problem: its HTTP status, and its human-readable detail. */
type Problem = readonly [status: number, detail: string];

/** Problems by code, for {@link declareProblems}. */
type Problems = Readonly<Record<string, Problem>>;

const known = new Map<string, Problem>();

/**
 * Declares problems, for {@link AuthError}. The plugin or module that owns them calls this when it is loaded.
 *
 * @throws TypeError if a code has been declared with another status or detail
 */
export function declareProblems<const P extends Problems>(problems: P): P {
  for (const [code, problem] of Object.entries(problems)) {
    const other = known.get(code);
    // Accept the same problem again, because a tool that reloads modules repeats their declarations.
    if (other && inWords(other) !== inWords(problem))
      throw new TypeError(
        `latchkey: the error code '${code}' is declared twice: as ${inWords(other)} and as ${inWords(problem)}`,
      );
    known.set(code, problem);
  }
  return problems;
}

function inWords([status, detail]: Problem): string {
  return `${status} "${detail}"`;
}

const problems = declareProblems({
  invalid_json: [400, 'The body is not valid JSON in UTF-8.'],
  invalid_request: [400, 'The request is malformed: check its path, parameters and headers.'],
  invalid_callback_url: [400, 'callback_url must be a path of this app or a URL of a trusted origin.'],
  invalid_token: [400, 'The link has expired, was already used, or is not valid. Request a new one.'],
  unauthenticated: [401, 'Sign in first: the request does not include a session.'],
  invalid_session: [401, 'The session has ended or never existed. Sign in again.'],
  invalid_code: [401, 'The code is wrong or was already used. Check it, or enter a newer one.'],
  sign_in_expired: [401, 'This sign-in took too long, or has been completed already. Start again.'],
  invalid_credentials: [401, 'The account name or the password is wrong. Check both and try again.'],
  admin_required: [403, 'Only an administrator can do this: sign in as one.'],
  permission_required: [403, 'You do not have the permission that this requires.'],
  target_is_administrator: [
    403,
    'This user is an administrator, so this is not possible here: the people who run this app do it in its config.',
  ],
  insufficient_scope: [403, 'The credential lacks a required scope: use one that has it.'],
  scope_required: [
    403,
    'This credential is limited to its scopes, and no scope allows this path: use a credential without scopes.',
  ],
  session_required: [403, 'This requires a session: sign in.'],
  email_not_verified: [
    403,
    'Verify your email address first: follow the link in the email that was sent to you.',
  ],
  sign_up_refused: [403, 'You cannot sign up here. Ask the people who run this app for an account.'],
  second_factor_required: [403, 'This requires your second factor: provide it with POST /reauthenticate.'],
  reauthentication_required: [403, 'You signed in too long ago. Reauthenticate, then try again.'],
  origin_not_allowed: [
    403,
    'This was sent from another website, or from an address that is not the usual one of this app. Open the app at its usual address, and try again.',
  ],
  user_not_found: [404, 'There is no such user: check the id.'],
  session_not_found: [404, 'You have no such session: it might have ended already.'],
  method_not_allowed: [405, 'This path does not support this method: see Allow.'],
  body_too_slow: [408, 'The body took longer than 10 seconds to arrive. Send it again.'],
  account_exists: [409, 'An account with this email already exists. Sign in to it, then try again.'],
  email_taken: [409, 'An account with this email already exists. Sign in to it, or use another email.'],
  username_taken: [409, 'This username is taken. Choose another.'],
  slug_taken: [409, 'Another organization has this short name. Choose another one.'],
  own_account: [409, 'This is your own account: another administrator must do this.'],
  account_in_use: [409, 'The account cannot be deleted, because other data depends on it.'],
  last_sign_in_method: [409, 'This is your only sign-in method. Add another one first.'],
  body_too_large: [413, 'The body is larger than 16 KiB.'],
  unsupported_media_type: [415, 'Send the body as application/json in UTF-8, uncompressed.'],
  validation_failed: [422, 'The body is invalid: see errors.'],
  rate_limited: [429, 'Too many attempts. Try again later.'],
  mail_refused: [502, 'The mail server permanently rejects this email: check the address.'],
  unavailable: [503, 'The service is temporarily unavailable. Try again shortly.'],
});

/** The codes of all problems. Plugins add their own codes. */
export interface ProblemCodes extends Record<keyof typeof problems, unknown> {}

/** The `code` of a problem response, and of an {@link AuthError}. */
export type AuthErrorCode = keyof ProblemCodes;

/** Options of {@link AuthError}. */
export interface AuthErrorOptions {
  /**
   * Replaces the code's default detail. It is sent to the client, so it must not contain internals. A string is sent as it
   * is; a phrase is sent in the language of the request.
   */
  detail?: string | Phrase;
  /** The errors of each field, for `validation_failed`. The first 20 are kept. */
  errors?: readonly GivenFieldError[];
  /** The missing proofs, for `proof_required`. */
  missing?: readonly string[];
  /** The task to do first, for `task_required`. */
  task?: string;
  /** The number of seconds after which to retry; sent as `Retry-After`. */
  retryAfter?: number;
  /** Additional headers of the response. */
  headers?: Readonly<Record<string, string>>;
  /** The underlying error. It can be logged, but is never sent. */
  cause?: unknown;
}

/** The maximum number of errors in a problem, so that a bad request cannot cause a response larger than itself. */
export const MAX_FIELD_ERRORS = 20;

const MAX_ECHO = 200;

const brand = Symbol.for('latchkey.AuthError');
// Not a WeakMap, because the two copies of this file that a process can have would not share it.
const phraseKey = Symbol.for('latchkey.phrase');

/**
 * An expected failure, such as wrong credentials. The programmatic API throws it; routes and guards send it as
 * `application/problem+json` (RFC 9457).
 *
 * @example
 * try {
 *   await auth.credential.signIn({ credential, password });
 * } catch (error) {
 *   if (error instanceof AuthError && error.code === 'rate_limited') console.log(error.retryAfter);
 * }
 */
export class AuthError extends Error {
  /** Always `AuthError`. */
  override readonly name = 'AuthError';
  /** The corresponding HTTP status. */
  readonly status: number;
  /** The same as `status`, because some frameworks read this name. */
  readonly statusCode: number;
  /** A machine-readable code. */
  readonly code: AuthErrorCode;
  /** A human-readable description in English. Responses say it in the language of the request: see `locale`. */
  readonly detail: string;
  /** The errors of each field: at least one for `validation_failed`, and at most 20. */
  readonly errors: readonly FieldError[] | undefined;
  /** For `proof_required`, the missing proofs: `browser`, `password`, `second_factor`, `passkey`. */
  readonly missing: readonly string[] | undefined;
  /** For `task_required`, the name of the task to do first. */
  readonly task: string | undefined;
  /** The number of seconds after which to retry, if known. */
  readonly retryAfter: number | undefined;
  /** Additional headers of the response. */
  readonly headers: Readonly<Record<string, string>>;

  /** @throws TypeError if the code is unknown */
  constructor(code: AuthErrorCode, options: AuthErrorOptions = {}) {
    const [status, detail] = problemOf(code);
    const said = options.detail ?? detail;
    const english = inEnglish(said);
    const errors = listed(options.errors, status === 422 ? (options.detail ?? say('invalid')) : null);
    const message = errors ? `${code}: ${summaryOf(errors)}` : english;
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = status;
    this.statusCode = status;
    this.code = code;
    this.detail = english;
    this.errors = errors;
    this.missing = options.missing;
    this.task = options.task;
    this.headers = options.headers ?? {};
    this.retryAfter = options.retryAfter ?? (code === 'unavailable' ? 2 : undefined);
    Object.defineProperty(this, brand, { value: true });
    if (isPhrase(said)) keepPhrase(this, said);
  }

  // Check the brand, because a process can have two copies of this class: one loaded by `import`, one by `require`.
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && brand in value;
  }
}

/**
 * Thrown if code uses a name that has not been declared. This is a bug in latchkey, so a retry does not help.
 */
export class UndeclaredError extends TypeError {}

/** Returns a `validation_failed` error for one field. */
export function invalidField(pointer: string, code: string, detail: string | Phrase): AuthError {
  return new AuthError('validation_failed', { errors: [{ pointer, code, detail }] });
}

/**
 * Runs several checks, and reports what all of them reject in one error, so that users do not find their mistakes one by
 * one.
 *
 * @throws AuthError `validation_failed`, and every other error of a check at once
 * @internal
 */
export function checkTogether(...checks: readonly (() => void)[]): void {
  const errors = errorsOf(...checks);
  if (errors.length > 0) throw new AuthError('validation_failed', { errors });
}

/**
 * Returns what several checks reject.
 *
 * @throws every other error of a check at once
 * @internal
 */
export function errorsOf(...checks: readonly (() => void)[]): readonly FieldError[] {
  return checks.flatMap((check) => {
    try {
      check();
    } catch (error) {
      if (error instanceof AuthError && error.code === 'validation_failed') return error.errors ?? [];
      throw error;
    }
    return [];
  });
}

/** Whether an error has the detail of its code, which no {@link AuthErrorOptions.detail} replaces. */
export function hasDefaultDetail({ code, detail }: Pick<AuthError, 'code' | 'detail'>): boolean {
  return known.get(code)?.[1] === detail;
}

/** Returns the phrase that the detail of an error, or of one of its fields, says in English. Undefined if it is a string. */
export function phraseOf(error: AuthError | GivenFieldError): Phrase | undefined {
  return (error as { readonly [phraseKey]?: Phrase })[phraseKey];
}

/** Keeps a phrase beside its English detail. It is not enumerable, so copies, JSON and logs do not contain it. */
function keepPhrase(error: AuthError | FieldError, phrase: Phrase): void {
  Object.defineProperty(error, phraseKey, { value: phrase });
}

/** Returns the English details of all codes that have been declared. */
export function defaultDetails(): Readonly<Record<AuthErrorCode, string>> {
  return Object.fromEntries([...known].map(([code, [, detail]]) => [code, detail])) as never;
}

/** Returns the HTTP status of a code. */
export function statusOf(code: AuthErrorCode): number {
  return problemOf(code)[0];
}

function problemOf(code: AuthErrorCode): Problem {
  const problem = known.get(code);
  if (!problem) throw new UndeclaredError(`latchkey: there is no error code ${String(code)}`);
  return problem;
}

/**
 * Checks that the problems of a route or a plugin have been declared.
 *
 * @param where the route or plugin, for the message
 * @throws TypeError naming a problem that has not been declared
 */
export function requireProblems(where: string, codes: readonly AuthErrorCode[]): void {
  for (const code of codes) {
    if (!known.has(code))
      throw new UndeclaredError(
        `latchkey: ${where} has the problem '${code}', which has not been declared: its owner must declare it`,
      );
  }
}

/** Cuts text that repeats a client's input, so that the client does not control the length of a response. */
export function excerpt(text: string): string {
  return text.length > MAX_ECHO ? `${text.slice(0, MAX_ECHO).toWellFormed()}…` : text;
}

/** @param otherwise the detail of an error about the whole body, if an error is required but `errors` is empty */
function listed(
  errors: readonly GivenFieldError[] = [],
  otherwise: string | Phrase | null,
): FieldError[] | undefined {
  if (errors.length > 0) return errors.slice(0, MAX_FIELD_ERRORS).map(toFieldError);
  return otherwise === null ? undefined : [toFieldError({ pointer: '', code: 'invalid', detail: otherwise })];
}

/** Copies the error of a field, which can be the error of another AuthError. */
function toFieldError(given: GivenFieldError): FieldError {
  const { pointer, code, detail } = given;
  const error = { pointer: excerpt(pointer), code, detail: inEnglish(detail) };
  const phrase = isPhrase(detail) ? detail : phraseOf(given);
  if (phrase) keepPhrase(error, phrase);
  return error;
}

/** Returns the error's message for programmatic callers, such as `password is too short; email is missing`. */
function summaryOf(errors: readonly FieldError[]): string {
  return errors
    .map(({ pointer, detail }) => `${pointer.slice(1).replaceAll('/', '.') || 'the input'} ${detail}`)
    .join('; ');
}

/** The phrases of the schemas' messages. */
const phrasesOfMessages = new Map<string, Phrase>();

/**
 * Returns the English message of a phrase, for a schema. {@link fieldErrors} finds the phrase by its message, because an issue
 * of a schema contains only a string.
 *
 * @param phrase its values come from the config or the code, not from requests, so that the number of messages is limited
 */
export function messageOf(phrase: Phrase): string {
  const message = inEnglish(phrase);
  phrasesOfMessages.set(message, phrase);
  return message;
}

/**
 * Returns the errors of an input that does not match its schema. Each field has only one error, although a value of the
 * wrong type can also have the wrong length, such as an empty list.
 *
 * @internal
 */
export function fieldErrors(error: z.ZodError): GivenFieldError[] {
  const byField = new Map<string, GivenFieldError>();
  for (const fault of error.issues.flatMap(errorsOfIssue)) {
    if (!byField.has(fault.pointer)) byField.set(fault.pointer, fault);
  }
  return [...byField.values()];
}

function errorsOfIssue(issue: z.core.$ZodIssue): GivenFieldError[] {
  const pointer = toPointer(issue.path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        pointer: toPointer([...issue.path, key]),
        code: 'unknown_key',
        detail: say('unknown-key'),
      }));
    case 'invalid_type':
      return issue.input === undefined && issue.path.length > 0
        ? [{ pointer, code: 'required', detail: say('required') }]
        : [{ pointer, code: 'wrong_type', detail: wrongType(issue.expected) }];
    case 'too_big': {
      const maximum = Number(issue.maximum);
      return [
        isAmount(issue)
          ? { pointer, code: 'too_large', detail: say('too-large', { maximum }) }
          : { pointer, code: 'too_long', detail: say('too-long', { maximum, unit: unitOf(issue) }) },
      ];
    }
    case 'too_small': {
      const minimum = Number(issue.minimum);
      return [
        isAmount(issue)
          ? { pointer, code: 'too_small', detail: say('too-small', { minimum }) }
          : { pointer, code: 'too_short', detail: say('too-short', { minimum, unit: unitOf(issue) }) },
      ];
    }
    default:
      return [{ pointer, code: 'invalid', detail: phrasesOfMessages.get(issue.message) ?? issue.message }];
  }
}

function wrongType(type: string): string | Phrase {
  return isValueType(type) ? say('wrong-type', { type }) : `must be of type ${type}`;
}

function isAmount({ origin }: { readonly origin: string }): boolean {
  return origin === 'number' || origin === 'int';
}

function unitOf({ origin }: { readonly origin: string }): Unit {
  return origin === 'array' ? 'items' : 'characters';
}

function toPointer(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
