import type { TokenEndpointResponse } from 'openid-client';
import type { Provider } from './provider.js';

/** The tokens that a provider issued. */
export interface TokenSet {
  readonly accessToken: string;
  readonly refreshToken: string | null;
  readonly idToken: string | null;
  /** Null if the provider did not send a known type. */
  readonly tokenType: string | null;
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
 * @param errorOf translates an error: see `Provider.errorOf`
 */
export async function toStandardResponse(
  response: Response,
  takesIdToken: boolean,
  errorOf: Provider['errorOf'],
): Promise<Response> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  if (!isObject(body)) return response;
  const { status, headers } = response;
  const error = status < 500 ? errorOf?.(body, status) : undefined;
  if (error !== undefined) return Response.json({ error }, { status: 400 });
  if (status >= 400 && status < 500 && typeof body.error === 'string') {
    // The response is an error of RFC 6749, 5.2, regardless of its status, content type and challenge.
    return Response.json(body, { status: 400 });
  }
  // Some servers respond with 201, because they have created tokens.
  const isSuccess = response.ok;
  return new Response(JSON.stringify(corrected(body, takesIdToken)), {
    status: isSuccess ? 200 : status,
    headers,
  });
}

/** The response to a refresh, which might have consumed the refresh token that was sent. */
export interface SavableResponse {
  /** The response with the tokens, and without anything else that openid-client could reject. */
  readonly response: Response;
  /** The ID token, which is verified separately. Null if there is none. */
  readonly idToken: string | null;
  /** The names of other parts that are malformed, and therefore left out. */
  readonly leftOut: readonly string[];
}

/**
 * Separates the new tokens of a refresh from the parts of the response that can be wrong without harm. New tokens must
 * not be lost because of an ID token that is ten seconds too old.
 *
 * @param response a response that {@link toStandardResponse} has corrected
 */
export async function toSavableResponse(response: Response): Promise<SavableResponse> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  if (response.status !== 200 || !isObject(body) || !isToken(body.access_token))
    return { response, idToken: null, leftOut: [] };
  const leftOut = Object.entries(OPTIONAL_FIELDS)
    .filter(([name, isGood]) => body[name] !== undefined && !isGood(body[name]))
    .map(([name]) => name);
  const kept = Object.entries(body).filter(([name]) => name !== 'id_token' && !leftOut.includes(name));
  const { status, headers } = response;
  return {
    response: new Response(JSON.stringify({ token_type: 'bearer', ...Object.fromEntries(kept) }), {
      status,
      headers,
    }),
    idToken: isToken(body.id_token) ? body.id_token : null,
    leftOut,
  };
}

const OPTIONAL_FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  refresh_token: isToken,
  id_token: isToken,
  token_type: (value) => typeof value === 'string' && value.toLowerCase() === 'bearer',
  expires_in: isDuration,
  scope: (value) => typeof value === 'string' && value.length <= MAX_SCOPES_LENGTH && SCOPES.test(value),
};

function isDuration(value: unknown): boolean {
  const seconds = Number.parseFloat(String(value));
  return Number.isFinite(seconds) && seconds >= 0;
}

function isToken(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TOKEN_LENGTH && TOKEN.test(value);
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
  const { refresh_token, id_token, scope, token_type, expires_in, ...rest } = Object.fromEntries(given);
  return {
    ...rest,
    token_type: correctedType(token_type, rest.access_token !== undefined),
    ...(!isBlank(expires_in) && { expires_in }),
    ...(refresh_token !== '' && { refresh_token }),
    ...(takesIdToken && { id_token }),
    scope: Array.isArray(scope) ? scope.join(' ') : scope,
  };
}

function correctedType(type: unknown, hasToken: boolean): unknown {
  if (type === undefined || isBlank(type)) return hasToken ? 'bearer' : undefined;
  return typeof type === 'string' ? type.trim() : type;
}

function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === '';
}
