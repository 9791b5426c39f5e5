import type { BearerScheme } from '../../config/config.js';
import type { PlainRequest } from '../../context/call.js';
import type { ShownScope } from '../../core/contribution.js';
import { AuthError } from '../../errors.js';
import { resourceOf } from '../../http/present.js';
import { tokenIn, trimWhitespace } from '../../sessions/carriers.js';
import { ALONGSIDE, type Alongside } from '../../sessions/lookup.js';
import { type Authentication, type Carrier, declareVia } from '../../sessions/request.js';
import type { User } from '../../tables/core.js';
import { type ApiKey, apiKeysTable } from './declarations.js';
import { API_KEY_PREFIX, type ApiKeyStore } from './store.js';

/** A program that acts on behalf of a user with an API key. */
export interface ApiKeyAuthentication {
  /** The user that the key acts for. */
  readonly user: User;
  /** Always null, because a session is set only if the request presents one. */
  readonly session: null;
  /** The key that the request presents. */
  readonly apiKey: ApiKey;
  /** Always null, because administrators cannot act as users with API keys. */
  readonly actor: null;
  /** How the request was authenticated. */
  readonly via: 'api-key';
}

declare module '../../sessions/request.js' {
  interface Authentications {
    'api-key': ApiKeyAuthentication;
  }
}

declareVia('api-key', 'add apiKeys() to plugins');

/** @internal */
export const apiKeyResource = resourceOf<ApiKey>(
  'ApiKey',
  'An API key, without the key itself',
  apiKeysTable.columns,
);

interface Settings {
  readonly header: string;
  readonly acceptBearer: boolean;
  /** The scopes that the app has declared. */
  readonly scopes: readonly ShownScope[] | undefined;
  /** The schemes that present sessions. */
  sessionSchemes(): readonly BearerScheme[];
}

const SCHEME = /^apikey(?![\w!#$%&'*+.^`|~-])/i;

/**
 * Reads `X-Service-API-Key: <key>`, `Authorization: ApiKey <key>` and, if enabled, `Authorization: Bearer <key>`.
 *
 * @internal
 */
export function apiKeyCarrier(keys: ApiKeyStore, settings: Settings): Carrier {
  return {
    via: 'api-key',
    presentsSession: false,
    challenge: 'ApiKey realm="latchkey"',
    securityScheme: { type: 'apiKey', in: 'header', name: settings.header },
    problems: ['invalid_api_key', 'ambiguous_credentials'],
    description: {
      schema: { api_key: apiKeyResource.schema },
      present: (authentication) => ({ api_key: apiKeyResource.present(keyOf(authentication)) }),
    },
    authenticate(request) {
      const presented = presentedKeys(request, settings);
      const [key] = presented;
      if (key === undefined) return null;
      // Reject two credentials, because they are a mistake of the client, and choosing one of them would hide it.
      if (presented.length > 1 || presentsSession(request, settings))
        throw new AuthError('ambiguous_credentials');
      return authenticationBy(keys, key, request[ALONGSIDE]);
    },
    sessionTokens: () => [],
    scopes: (authentication) => keyOf(authentication).scopes,
    ...(settings.scopes && {
      declaredScopes: { names: settings.scopes.map(({ name }) => name), by: 'apiKeys({ scopes })' },
    }),
  };
}

async function authenticationBy(
  keys: ApiKeyStore,
  key: string,
  alongside: Alongside | undefined,
): Promise<ApiKeyAuthentication> {
  const found = await keys.find(key, alongside);
  if (!found) throw new AuthError('invalid_api_key');
  return { user: found.user, session: null, apiKey: found.apiKey, via: 'api-key', actor: null };
}

function keyOf({ apiKey }: Authentication): ApiKey {
  if (!apiKey) throw new TypeError('not an API key');
  return apiKey;
}

function presentedKeys(
  { headers }: PlainRequest,
  { header, acceptBearer, sessionSchemes }: Settings,
): readonly string[] {
  const { authorization } = headers;
  const given = headers[header.toLowerCase()];
  if (authorization === undefined && given === undefined) return [];
  // Node joins repeated headers with commas.
  const keys = new Set([given ?? []].flat().flatMap((value) => value.split(',').map(trimWhitespace)));
  if (authorization && SCHEME.test(authorization))
    keys.add(trimWhitespace(authorization.replace(SCHEME, '')));
  const bearer = acceptBearer ? tokenIn({ headers }, ['Bearer']) : null;
  const isSession = sessionSchemes().includes('Bearer') && !bearer?.startsWith(API_KEY_PREFIX);
  if (bearer !== null && !isSession) keys.add(bearer);
  return [...keys];
}

function presentsSession(request: PlainRequest, { acceptBearer, sessionSchemes }: Settings): boolean {
  const token = tokenIn(request, sessionSchemes());
  return token !== null && !(acceptBearer && token.startsWith(API_KEY_PREFIX));
}
