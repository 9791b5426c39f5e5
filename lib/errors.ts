/** One thing wrong with one field of a request body. */
export interface FieldError {
  /** JSON Pointer (RFC 6901) to the field, such as `/email`; empty for the body itself. */
  readonly pointer: string;
  /** What is wrong, for programs, such as `required` or `invalid_email`. */
  readonly code: string;
  /** The same for people. */
  readonly detail: string;
}

/** A problem: its HTTP status, and what it says to people. */
type Problem = readonly [status: number, detail: string];

/** What a problem's code is declared to be, for {@link declareProblems}. */
type Problems = Readonly<Record<string, Problem>>;

const known = new Map<string, Problem>();

/** Makes problems known to {@link AuthError}: those of a plugin, when its module is loaded. */
export function declareProblems<const P extends Problems>(problems: P): P {
  for (const [code, problem] of Object.entries(problems)) known.set(code, problem);
  return problems;
}

const problems = declareProblems({
  invalid_json: [400, 'The body is not valid JSON.'],
  invalid_request: [400, 'The request is malformed.'],
  invalid_token: [400, 'The link has expired, was already used, or is not valid.'],
  unauthenticated: [401, 'Sign in first: the request carries no session.'],
  invalid_session: [401, 'The session has ended or never existed. Sign in again.'],
  invalid_credentials: [401, 'The email, username or password is wrong.'],
  admin_required: [403, 'Only an administrator may do this.'],
  insufficient_scope: [403, 'The API key lacks a scope that this needs.'],
  session_required: [403, 'This needs a session: sign in, an API key is not enough.'],
  email_not_verified: [403, 'Confirm your email address first: a mail with a link is on its way.'],
  reauthentication_required: [403, 'Prove again who you are: the sign-in is too long ago for this.'],
  origin_not_allowed: [403, 'The request comes from a site that may not use this cookie.'],
  user_not_found: [404, 'There is no such user.'],
  session_not_found: [404, 'You have no such session.'],
  method_not_allowed: [405, 'This path does not answer this method.'],
  email_taken: [409, 'An account with this email exists already.'],
  username_taken: [409, 'This username is taken.'],
  last_sign_in_method: [409, 'This is the only way left to sign in. Add another first.'],
  body_too_large: [413, 'The body is larger than 16 KiB.'],
  unsupported_media_type: [415, 'Send the body as application/json in UTF-8, uncompressed.'],
  validation_failed: [422, 'The body is not valid; see errors.'],
  rate_limited: [429, 'Too many attempts. Try again later.'],
  unavailable: [503, 'The service cannot answer right now. Try again shortly.'],
});

/** The codes of all problems. Plugins add theirs. */
export interface ProblemCodes extends Record<keyof typeof problems, unknown> {}

/** The `code` of a problem response, and of an {@link AuthError}. */
export type AuthErrorCode = keyof ProblemCodes;

/** What an {@link AuthError} is made with. */
export interface AuthErrorOptions {
  /** Replaces the code's own sentence. Must contain nothing internal: it goes to the client. */
  detail?: string;
  /** What is wrong with each field, for `validation_failed`. */
  errors?: readonly FieldError[];
  /** After how many seconds to try again; sent as `Retry-After`. */
  retryAfter?: number;
  /** Further headers of the response. */
  headers?: Readonly<Record<string, string>>;
  /** The error behind it; logged at most, never sent. */
  cause?: unknown;
}

const brand = Symbol.for('latchkey.AuthError');

/**
 * Every refusal by latchkey: thrown by the programmatic operations, answered by the routes and guards as
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
  override readonly name = 'AuthError';
  /** The HTTP status that fits. */
  readonly status: number;
  /** What went wrong, for programs. */
  readonly code: AuthErrorCode;
  /** What is wrong with each field, for `validation_failed`. */
  readonly errors: readonly FieldError[] | undefined;
  /** Seconds after which to try again, where that is known. */
  readonly retryAfter: number | undefined;
  /** Further headers of the response. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: AuthErrorCode, options: AuthErrorOptions = {}) {
    const [status, detail] = problemOf(code);
    const message = options.detail ?? (options.errors ? `${code}: ${summaryOf(options.errors)}` : detail);
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = status;
    this.code = code;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
    this.retryAfter = options.retryAfter ?? (code === 'unavailable' ? 2 : undefined);
    Object.defineProperty(this, brand, { value: true });
  }

  // A process can have two copies of this class, one by `import` and one by `require`: go by the brand.
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && brand in value;
  }
}

/** A `validation_failed` about one field. */
export function invalidField(pointer: string, code: string, detail: string): AuthError {
  return new AuthError('validation_failed', { errors: [{ pointer, code, detail }] });
}

/** The HTTP status of a code. */
export function statusOf(code: AuthErrorCode): number {
  return problemOf(code)[0];
}

/** What a code says to people. */
export function detailOf(code: AuthErrorCode): string {
  return problemOf(code)[1];
}

function problemOf(code: AuthErrorCode): Problem {
  const problem = known.get(code);
  if (!problem) throw new TypeError(`latchkey: there is no error code ${String(code)}`);
  return problem;
}

/** `/password is too short; /email is missing`: whoever sees the error in code sees which fields are at fault. */
function summaryOf(errors: readonly FieldError[]): string {
  return errors.map(({ pointer, detail }) => `${pointer} ${detail}`.trim()).join('; ');
}
