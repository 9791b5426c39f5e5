import type { JWK } from 'openid-client';

/** What openid-client throws. Its cause is the error of the library below, and that one's cause is what it was about. */
interface OpenidError extends Error {
  readonly code?: unknown;
  /** By RFC 6749. */
  readonly error?: string;
  readonly cause?: Error & {
    readonly cause?: { readonly candidates?: JWK[]; readonly body?: { error?: string } };
  };
}

const MAX_CANDIDATES = 8;
// By RFC 6749; by Apple and LinkedIn.
const DECLINED = /^(access_denied|user_cancelled_\w+)$/;
// By RFC 6749; by GitHub, with status 200.
const GRANT_ENDED = /^(invalid_grant|bad_refresh_token)$/;

/** Whether the person has said no at the provider. */
export function isDeclined(thrown: unknown): boolean {
  const { name, error = '' } = thrown as OpenidError;
  return name === 'AuthorizationResponseError' && DECLINED.test(error);
}

/** Whether the provider has answered properly, though it is no. */
export function isRefusal(thrown: unknown): boolean {
  return /^(AuthorizationResponseError|ResponseBodyError)$/.test((thrown as OpenidError).name);
}

/** Whether a refresh was refused for good. */
export function endsGrant(thrown: unknown): boolean {
  // What comes with status 200 has no access token: openid-client misses that, and keeps the body with the cause.
  const { error, cause } = thrown as OpenidError;
  return GRANT_ENDED.test(error ?? cause?.cause?.body?.error ?? '');
}

/** Whether an ID token was refused for the keys that it was verified with. */
export function isAboutKeys(thrown: unknown): boolean {
  const { code, cause } = thrown as OpenidError;
  return code === 'OAUTH_KEY_SELECTION_FAILED' || /signature/.test(cause?.message ?? '');
}

/** The keys that openid-client could not choose between. */
export function candidateKeys(thrown: unknown): readonly JWK[] {
  const { code, cause } = thrown as OpenidError;
  if (code !== 'OAUTH_KEY_SELECTION_FAILED') return [];
  return cause?.cause?.candidates?.slice(0, MAX_CANDIDATES) ?? [];
}

/** For the log: what went wrong, without what the provider sent, which can hold a code or a token. */
export function describe(thrown: unknown): string {
  const { name, code, message, cause } = thrown as OpenidError;
  // The parser of JSON quotes what it could not read.
  if (name === 'SyntaxError') return `${name}: the answer is not valid JSON`;
  const inner = cause instanceof Error && cause.name !== 'SyntaxError' ? ` (${cause.message})` : '';
  return `${code ?? name}: ${message}${inner}`;
}
