import { types } from 'node:util';
import type { JWK } from 'openid-client';
import { loadEsModule } from '../../context/es-module.js';

export type OpenidClient = typeof import('openid-client');

/** Loads openid-client, which exists as an ES module only. */
export function loadOpenidClient(): Promise<OpenidClient> {
  return loadEsModule('openid-client', () => import('openid-client'));
}

/** An error of openid-client. Its cause is an error of oauth4webapi, whose cause has the details. */
interface OpenidError extends Error {
  readonly code?: unknown;
  /** The error code of RFC 6749. */
  readonly error?: string;
  readonly cause?: Error & {
    readonly cause?: {
      readonly candidates?: JWK[];
      readonly attribute?: string;
      readonly body?: { readonly error?: unknown; readonly issuer?: unknown };
    };
  };
}

const MISMATCH = 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED';
const MAX_CANDIDATES = 8;
/**
 * The error codes that can be logged. Any other value could be a token that the provider repeats, or forge a line.
 *
 * @see https://www.iana.org/assignments/oauth-parameters (OAuth Extensions Error), with the codes of RFC 6749 and
 *   OpenID Connect Core 1.0, 3.1.2.6
 * @see https://docs.github.com/en/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors
 */
const KNOWN_CODES: ReadonlySet<string> = new Set([
  ...[
    'invalid_request',
    'unauthorized_client',
    'access_denied',
    'unsupported_response_type',
    'invalid_scope',
  ],
  ...['server_error', 'temporarily_unavailable', 'invalid_client', 'invalid_grant', 'unsupported_grant_type'],
  ...['interaction_required', 'login_required', 'account_selection_required', 'consent_required'],
  ...['invalid_request_uri', 'invalid_request_object', 'request_not_supported', 'request_uri_not_supported'],
  ...['registration_not_supported', 'unmet_authentication_requirements', 'insufficient_user_authentication'],
  ...['invalid_token', 'insufficient_scope', 'unsupported_token_type', 'invalid_target', 'slow_down'],
  ...['invalid_dpop_proof', 'use_dpop_nonce', 'invalid_authorization_details'],
  // GitHub.
  ...['application_suspended', 'redirect_uri_mismatch', 'incorrect_client_credentials'],
  ...['bad_verification_code', 'unverified_user_email', 'bad_refresh_token'],
  // Apple and LinkedIn.
  ...['user_cancelled_authorize', 'user_cancelled_login'],
]);
// From RFC 6749; from Apple and LinkedIn.
const DECLINED = /^(access_denied|user_cancelled_\w+)$/;
// From RFC 6749; from GitHub, with status 200; from OpenID Connect Core 1.0, 3.1.2.6, also for refreshes.
const GRANT_ENDED =
  /^(invalid_grant|bad_refresh_token|(interaction|login|consent|account_selection)_required)$/;

/** Whether the user canceled the sign-in at the provider. */
export function isDeclined(thrown: unknown): boolean {
  const { name, error = '' } = thrown as OpenidError;
  return name === 'AuthorizationResponseError' && DECLINED.test(error);
}

/** Whether the provider sent a standard error response. */
export function isRefusal(thrown: unknown): boolean {
  return /^(AuthorizationResponseError|ResponseBodyError)$/.test((thrown as OpenidError).name);
}

/** Whether a failed refresh means that the grant has ended. */
export function endsGrant(thrown: unknown): boolean {
  return GRANT_ENDED.test(errorCode(thrown));
}

/** Whether userinfo has another subject than the ID token. */
export function contradictsIdToken(thrown: unknown): boolean {
  const { code, cause } = thrown as OpenidError;
  return code === MISMATCH && cause?.cause?.attribute === 'sub';
}

/** Returns the issuer of a discovery document that was rejected because of its issuer. Null for any other error. */
export function discoveredIssuer(thrown: unknown): string | null {
  const { code, cause } = thrown as OpenidError & {
    cause?: { attribute?: string; body?: { issuer?: unknown } };
  };
  const isOther = code === MISMATCH && cause?.attribute === 'issuer';
  return isOther ? String(cause.body?.issuer) : null;
}

/** Returns the error code of a standard error response. Empty for any other error. */
function errorCode(thrown: unknown): string {
  // With status 200, openid-client reports a missing access token instead, and keeps the body in the cause.
  const { error, cause } = thrown as OpenidError;
  return String(error ?? cause?.cause?.body?.error ?? '');
}

/** Whether an ID token was rejected because of the keys used to verify it. */
export function isAboutKeys(thrown: unknown): boolean {
  const { code, cause } = thrown as OpenidError;
  return code === 'OAUTH_KEY_SELECTION_FAILED' || /signature/.test(cause?.message ?? '');
}

/** The matching keys, if openid-client could not choose one. */
export function candidateKeys(thrown: unknown): readonly JWK[] {
  const { code, cause } = thrown as OpenidError;
  if (code !== 'OAUTH_KEY_SELECTION_FAILED') return [];
  return cause?.cause?.candidates?.slice(0, MAX_CANDIDATES) ?? [];
}

/**
 * Describes an error for the log. The provider's data could contain a code or token, so the description contains only
 * the error code, such as `invalid_client`, and only if it is a known one.
 */
export function describe(thrown: unknown): string {
  const { name, code, message, cause } = thrown as OpenidError;
  const sent = errorCode(thrown);
  if (KNOWN_CODES.has(sent)) return `it responded with the error ${sent}`;
  if (sent !== '') return 'it responded with an error whose code is not registered';
  // The JSON parser's messages quote their input.
  if (name === 'SyntaxError') return `${name}: the response is not valid JSON`;
  // `instanceof` would not work, because under Jest openid-client's errors can come from another realm.
  const inner = types.isNativeError(cause) && cause.name !== 'SyntaxError' ? ` (${cause.message})` : '';
  return `${code ?? name}: ${message}${inner}`;
}
