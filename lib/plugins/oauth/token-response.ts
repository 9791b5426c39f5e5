import type { TokenEndpointResponse } from 'openid-client';

/** The tokens that a provider issued. */
export interface TokenSet {
  readonly accessToken: string;
  readonly refreshToken: string | null;
  readonly idToken: string | null;
  readonly tokenType: string;
  readonly scopes: readonly string[];
  /** How long the access token is valid, in milliseconds. Null if the provider does not say. */
  readonly lifetimeMs: number | null;
}

// Visible ASCII. Other characters cannot be sent in a header, or could forge lines in a log.
const TOKEN = /^[\x21-\x7e]+$/;
const SCOPES = /^[\x20-\x7e]*$/;
const MAX_TOKEN_LENGTH = 32 * 1024;
const MAX_TYPE_LENGTH = 64;
const MAX_SCOPES_LENGTH = 16 * 1024;
// 100 years, because later dates could exceed MySQL's range.
const MAX_SECONDS = 100 * 365 * 24 * 60 * 60;

/**
 * Corrects harmless deviations of a token response from the standard. It does not skip any verification.
 *
 * @param takesIdToken false for services without discovery, whose ID tokens cannot be verified because their keys are
 *   unknown
 */
export async function toStandardResponse(response: Response, takesIdToken: boolean): Promise<Response> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  if (!isObject(body)) return response;
  const { status, headers } = response;
  if (status >= 400 && status < 500 && typeof body.error === 'string') {
    // The response is an error of RFC 6749, 5.2, regardless of its status, content type and challenge.
    return Response.json(body, { status: 400 });
  }
  return new Response(JSON.stringify(corrected(body, takesIdToken)), { status, headers });
}

/** @throws Error if RFC 6749, appendix A, does not allow a value, or if a value is too long to be stored */
export function toTokenSet(response: TokenEndpointResponse, requested: readonly string[]): TokenSet {
  const { access_token, refresh_token = null, id_token = null, token_type, expires_in, scope } = response;
  for (const [name, token] of Object.entries({ access_token, refresh_token, id_token })) {
    if (token !== null) checkText(name, token, TOKEN, MAX_TOKEN_LENGTH);
  }
  checkText('token_type', token_type, TOKEN, MAX_TYPE_LENGTH);
  checkText('scope', scope ?? '', SCOPES, MAX_SCOPES_LENGTH);
  return {
    accessToken: access_token,
    refreshToken: refresh_token,
    idToken: id_token,
    tokenType: token_type,
    // Some services separate scopes by commas. If scope is omitted, the requested ones were granted (RFC 6749, 5.1).
    scopes: scope === undefined ? requested : scope.split(/[ ,]+/).filter(Boolean),
    lifetimeMs: expires_in === undefined ? null : Math.min(expires_in, MAX_SECONDS) * 1000,
  };
}

function checkText(name: string, text: string, pattern: RegExp, maxLength: number): void {
  if (text.length > maxLength) throw new Error(`its ${name} is longer than ${maxLength} characters`);
  if (!pattern.test(text)) throw new Error(`its ${name} contains characters that are not allowed there`);
}

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a string can be stored. Databases reject ill-formed Unicode, and PostgreSQL also rejects NUL. */
export function isStorable(text: string, maxLength: number): boolean {
  return text.length <= maxLength && text.isWellFormed() && !text.includes('\0');
}

function corrected(body: object, takesIdToken: boolean): object {
  const given = Object.entries(body).filter(([, value]) => value !== null);
  const { refresh_token, id_token, scope, ...rest } = Object.fromEntries(given);
  return {
    ...(rest.access_token !== undefined && { token_type: 'bearer' }),
    ...rest,
    ...(refresh_token !== '' && { refresh_token }),
    ...(takesIdToken && { id_token }),
    scope: Array.isArray(scope) ? scope.join(' ') : scope,
  };
}
