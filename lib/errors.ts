/** One thing wrong with one field of a request body. */
export interface FieldError {
  /** JSON Pointer (RFC 6901) to the field, such as `/email`; empty for the body itself. */
  readonly pointer: string;
  /** The machine's word for what is wrong, such as `required` or `invalid_email`. */
  readonly code: string;
  /** The same for people. */
  readonly detail: string;
}

/** Every code that latchkey answers with: its HTTP status, and what it says to people. */
const problems = {
  invalid_json: [400, 'The body is not valid JSON.'],
  invalid_request: [400, 'The request is malformed.'],
  ambiguous_credentials: [400, 'The request carries an API key and another credential; send one.'],
  invalid_callback_url: [
    400,
    'callback_url must be a path of this app or a URL of an origin that it trusts.',
  ],
  invalid_token: [400, 'The link has expired, was already used, or is not valid.'],
  invalid_flow: [
    400,
    'This sign-in was not begun in this browser, is already over, or took too long. Begin again.',
  ],
  unauthenticated: [401, 'Sign in first: the request carries no session.'],
  invalid_api_key: [401, 'The API key has expired or was revoked, or never existed.'],
  invalid_session: [401, 'The session has ended or never existed. Sign in again.'],
  invalid_credentials: [401, 'The email, username or password is wrong.'],
  access_denied: [403, 'The sign-in at the provider was declined.'],
  admin_required: [403, 'Only an administrator may do this.'],
  insufficient_scope: [403, 'The API key lacks a scope that this needs.'],
  session_required: [403, 'This takes a session: sign in, an API key is not enough.'],
  email_not_verified: [403, 'Confirm your email address first: a mail with a link is on its way.'],
  reauthentication_required: [403, 'Prove again who you are: the sign-in is too long ago for this.'],
  origin_not_allowed: [403, 'The request comes from a site that may not use this cookie.'],
  user_not_found: [404, 'There is no such user.'],
  session_not_found: [404, 'You have no such session.'],
  account_not_linked: [404, 'You have no account linked at this provider.'],
  provider_not_found: [404, 'There is no such provider here.'],
  api_key_not_found: [404, 'You have no such API key.'],
  method_not_allowed: [405, 'This path does not answer this method.'],
  email_taken: [409, 'An account with this email exists already.'],
  username_taken: [409, 'This username is taken.'],
  account_exists: [409, 'An account with this email exists already. Sign in to it, then link this provider.'],
  account_linked_elsewhere: [409, 'This account is linked to another user.'],
  provider_already_linked: [409, 'Another account of this provider is linked. Unlink it first.'],
  password_already_set: [409, 'The account has a password. Change it instead.'],
  last_sign_in_method: [409, 'This is the only way left to sign in. Add another first.'],
  refresh_token_missing: [409, 'The provider gave no refresh token for this account.'],
  relink_required: [409, 'These tokens cannot be used any more. Link the account again.'],
  body_too_large: [413, 'The body is larger than 16 KiB.'],
  unsupported_media_type: [415, 'Send the body as application/json in UTF-8, uncompressed.'],
  validation_failed: [422, 'The body does not fit; see errors.'],
  rate_limited: [429, 'Too many attempts. Try again later.'],
  provider_error: [502, 'The provider did not answer as it should. Try again later.'],
  unavailable: [503, 'The service cannot answer right now. Try again shortly.'],
} as const satisfies Record<string, readonly [status: number, detail: string]>;

/** The `code` of a problem response, and of an {@link AuthError}. */
export type AuthErrorCode = keyof typeof problems;

/** What an {@link AuthError} is made with. */
export interface AuthErrorOptions {
  /** Replaces the code's own sentence. Must hold nothing internal: it goes to the client. */
  detail?: string;
  /** What is wrong with each field, for `validation_failed`. */
  errors?: readonly FieldError[];
  /** After how many seconds to try again; sent as `Retry-After`. */
  retryAfter?: number;
  /** Headers that go with it. */
  headers?: Readonly<Record<string, string>>;
  /** What lies behind it; logged at most, never sent. */
  cause?: unknown;
}

const brand = Symbol.for('latchkey.AuthError');

/**
 * What every refusal of latchkey is: thrown by the programmatic operations, answered by the routes and
 * guards as `application/problem+json` (RFC 9457).
 */
export class AuthError extends Error {
  override readonly name = 'AuthError';
  /** The HTTP status that fits. */
  readonly status: number;
  /** The machine's word for it. */
  readonly code: AuthErrorCode;
  readonly errors: readonly FieldError[] | undefined;
  /** Seconds after which to try again, where that is known. */
  readonly retryAfter: number | undefined;
  /** Headers that go with it. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: AuthErrorCode, options: AuthErrorOptions = {}) {
    const [status, detail] = problems[code];
    super(options.detail ?? detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = status;
    this.code = code;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
    this.retryAfter = options.retryAfter ?? (code === 'unavailable' ? 2 : undefined);
    Object.defineProperty(this, brand, { value: true });
  }

  // A process can hold two copies of this class, one by `import` and one by `require`: go by the brand.
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
  return problems[code][0];
}
