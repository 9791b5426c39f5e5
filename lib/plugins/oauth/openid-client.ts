import { types } from 'node:util';
import { constants, Script } from 'node:vm';
import type { JWK } from 'openid-client';

export type OpenidClient = typeof import('openid-client');

/**
 * Loads openid-client, which exists as an ES module only.
 *
 * Jest replaces `require`, and its version loads no ES modules unless Jest runs with `--experimental-vm-modules`
 * (https://jestjs.io/docs/ecmascript-modules). So if that fails, Node's own loader imports it:
 * https://nodejs.org/docs/latest-v20.x/api/vm.html#vmconstantsuse_main_context_default_loader
 */
export async function loadOpenidClient(): Promise<OpenidClient> {
  try {
    return await import('openid-client');
  } catch (error) {
    // Only the CommonJS build has a file name, and only it can be in a Jest project of this kind.
    if (typeof __filename === 'undefined') throw error;
    const script = new Script("import('openid-client')", {
      filename: __filename,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    return script.runInThisContext();
  }
}

const MAX_BYTES = 1024 * 1024;

export type Fetch = (url: string, options?: object) => Promise<Response>;

/**
 * `fetch` for providers that may be broken or malicious: it follows no redirects, reads at most 1 MiB, and the signal
 * also aborts reading the body.
 */
export function boundedFetch(signal: AbortSignal): Fetch {
  return async (url, options) => {
    const response = await fetch(url, { ...options, redirect: 'manual', signal });
    const chunks: Uint8Array[] = [];
    let length = 0;
    // Throwing out of the loop cancels the stream and closes the connection.
    for await (const chunk of response.body ?? []) {
      length += chunk.byteLength;
      if (length > MAX_BYTES) throw new Error(`the response is larger than ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
    const { status, statusText, headers } = response;
    const mayHaveBody = status !== 204 && status !== 205 && status !== 304;
    return new Response(mayHaveBody ? Buffer.concat(chunks) : null, { status, statusText, headers });
  };
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
// Anything else could be a token, or forge a line of the log.
const SAFE_CODE = /^[\w.-]{1,64}$/;
// RFC 6749; Apple and LinkedIn.
const DECLINED = /^(access_denied|user_cancelled_\w+)$/;
// RFC 6749; GitHub, with status 200; OpenID Connect Core 1.0, 3.1.2.6, which some providers also use for refreshes.
const GRANT_ENDED =
  /^(invalid_grant|bad_refresh_token|(interaction|login|consent|account_selection)_required)$/;

/** Whether the person canceled the sign-in at the provider. */
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

/** Whether userinfo is about another subject than the ID token. */
export function contradictsIdToken(thrown: unknown): boolean {
  const { code, cause } = thrown as OpenidError;
  return code === MISMATCH && cause?.cause?.attribute === 'sub';
}

/** The issuer in a discovery document that was rejected because of it. */
export function discoveredIssuer(thrown: unknown): string | null {
  const { code, cause } = thrown as OpenidError & {
    cause?: { attribute?: string; body?: { issuer?: unknown } };
  };
  const isOther = code === MISMATCH && cause?.attribute === 'issuer';
  return isOther ? String(cause.body?.issuer) : null;
}

/** The error code of a standard error response; empty if there is none. */
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
 * Describes an error for the log. Of the data from the provider, which could contain a code or token, it contains only
 * the error code, such as `invalid_client`.
 */
export function describe(thrown: unknown): string {
  const { name, code, message, cause } = thrown as OpenidError;
  const sent = errorCode(thrown);
  if (SAFE_CODE.test(sent)) return `it answered with the error ${sent}`;
  // The JSON parser's messages quote their input.
  if (name === 'SyntaxError') return `${name}: the response is not valid JSON`;
  // Not `instanceof`: under Jest, openid-client's errors may be of another realm.
  const inner = types.isNativeError(cause) && cause.name !== 'SyntaxError' ? ` (${cause.message})` : '';
  return `${code ?? name}: ${message}${inner}`;
}
