import type { JWK } from 'openid-client';

/** An error of openid-client. Its cause is the error of oauth4webapi, whose cause says what it was about. */
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

/** Whether the person declined at the provider. */
export function isDeclined(thrown: unknown): boolean {
  const { name, error = '' } = thrown as OpenidError;
  return name === 'AuthorizationResponseError' && DECLINED.test(error);
}

/** Whether the provider has sent a proper error response. */
export function isRefusal(thrown: unknown): boolean {
  return /^(AuthorizationResponseError|ResponseBodyError)$/.test((thrown as OpenidError).name);
}

/** Whether a refresh was refused for good. */
export function endsGrant(thrown: unknown): boolean {
  // An error with status 200 lacks an access token: openid-client complains about that, and keeps the body in the cause.
  const { error, cause } = thrown as OpenidError;
  return GRANT_ENDED.test(error ?? cause?.cause?.body?.error ?? '');
}

/** Whether an ID token was refused because of the keys with which it was verified. */
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

/** For the log: what went wrong, without anything that the provider sent, which could contain a code or a token. */
export function describe(thrown: unknown): string {
  const { name, code, message, cause } = thrown as OpenidError;
  // The JSON parser quotes what it could not parse.
  if (name === 'SyntaxError') return `${name}: the answer is not valid JSON`;
  const inner = cause instanceof Error && cause.name !== 'SyntaxError' ? ` (${cause.message})` : '';
  return `${code ?? name}: ${message}${inner}`;
}
