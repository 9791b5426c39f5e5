import { schemaOf } from '../../../config/options.js';
import {
  type Claims,
  type Profile,
  type ProfileSources,
  type Provider,
  type ProviderPlugin,
  providerPlugin,
  type RevocableTokens,
  type RevocationRequest,
} from '../provider.js';
import { isObject } from '../token-response.js';
import {
  type ClientAuthOptions,
  callback,
  clientAuthShape,
  clientOf,
  type EndpointOptions,
  type ProviderOptions,
  providerId,
  providerShape,
  readProvider,
  required,
  secureUrl,
} from './options.js';

// This is not a URL, so it cannot be the issuer of an OpenID Connect provider.
const OWN_ISSUERS = 'urn:latchkey:oauth2:';

/** Options of {@link oauth2}. */
export interface OAuth2Options extends ProviderOptions, ClientAuthOptions {
  /** The `:provider` of the routes: lower-case letters, digits, `_` and `-`. @default none, required */
  id: string;
  /** The authorization endpoint. @default none, required */
  authorizationUrl: string;
  /** The token endpoint. @default none, required */
  tokenUrl: string;
  /** A URL that returns the user as JSON. @default none, required */
  userinfoUrl: string;
  /** The endpoint that revokes tokens (RFC 7009), for unlinking. @default none */
  revocationUrl?: string;
  /**
   * The issuer that is stored with the service's subjects. Two providers with the same issuer share their accounts. If
   * it changes, users lose access to their accounts. If the service sends `iss` in its response (RFC 9207), `iss`
   * must be the same.
   * @default one that belongs to this `id` alone; `iss`, if sent, must be the origin of `authorizationUrl`
   */
  issuer?: string;
  /** Reads the profile from the userinfo. @default `sub` or `id`, and `email`, which does not count as proof */
  profile?: (userinfo: Record<string, unknown>) => Profile;
}

/** @internal */
export const schema = () =>
  schemaOf<OAuth2Options>()({
    ...providerShape,
    id: providerId,
    authorizationUrl: secureUrl,
    tokenUrl: secureUrl,
    userinfoUrl: secureUrl,
    revocationUrl: secureUrl.optional(),
    clientAuth: clientAuthShape,
    issuer: required
      .max(255, 'must have at most 255 characters')
      .refine((value) => !value.startsWith(OWN_ISSUERS), `must not start with ${OWN_ISSUERS}`)
      .optional(),
    profile: callback<NonNullable<OAuth2Options['profile']>>(),
  });

/** Adds any OAuth 2.0 service with a userinfo URL. @throws TypeError on invalid options */
export function oauth2(options: OAuth2Options): ProviderPlugin {
  const read = readProvider(options?.id, schema, options);
  const { id, scopes = [], authorizationUrl, tokenUrl, userinfoUrl, revocationUrl } = read;
  const { profile = defaultProfile, issuer, clientAuth = 'post' } = read;
  const { origin } = new URL(authorizationUrl);
  return providerPlugin({
    id,
    server: {
      ...(issuer === undefined ? { issuer: `${OWN_ISSUERS}${id}`, responseIssuer: origin } : { issuer }),
      authorizationUrl,
      tokenUrl,
      userinfoUrl,
      revocationUrl,
    },
    // Before version 0.1.0, the default was the origin, which other services on the same host share.
    ...(issuer === undefined && { formerIssuers: [origin] }),
    ...clientOf({ ...read, profile: undefined }),
    clientAuth,
    scopes,
    async profile({ get }) {
      const claims = await userOf(get, userinfoUrl);
      return { ...profile({ ...claims }), claims };
    },
  });
}

/** A service without discovery that has its own module. */
interface NamedService<E> extends Partial<Omit<Provider, 'id' | 'server' | 'profile' | 'revocation'>> {
  readonly issuer: string;
  readonly endpoints: E;
  readonly scopes: readonly string[];
  /** @param endpoints the service's endpoints, with those that the app has replaced */
  profile(sources: ProfileSources, endpoints: E): Promise<Profile & { readonly claims: Claims }>;
  /** The request to `revocationUrl` that ends a grant. @default RFC 7009 */
  revocation?: (tokens: RevocableTokens, url: string) => RevocationRequest | null;
}

type ServiceEndpoints = Record<'authorizationUrl' | 'tokenUrl' | 'userinfoUrl', string> & {
  readonly revocationUrl?: string;
};

export function namedService<E extends ServiceEndpoints>(
  id: string,
  { endpoints: given = {}, ...chosen }: EndpointOptions,
  { issuer, endpoints: own, profile, revocation, ...service }: NamedService<E>,
): ProviderPlugin {
  // The service must not receive the tokens of another server.
  const kept = given.tokenUrl === undefined ? own : { ...own, revocationUrl: undefined };
  const endpoints = { ...kept, ...given } as E;
  const { revocationUrl } = endpoints;
  return providerPlugin({
    clientAuth: 'post',
    ...service,
    ...(revocation && { revocation: (tokens) => (revocationUrl ? revocation(tokens, revocationUrl) : null) }),
    id,
    server: { ...endpoints, issuer },
    ...clientOf(chosen),
    scopes: chosen.scopes ?? service.scopes,
    profile: (sources) => profile(sources, endpoints),
  });
}

/** Fetches the user from a service. */
export async function userOf(get: ProfileSources['get'], url: string): Promise<Claims> {
  const user = await get(url);
  if (!isObject(user)) throw new Error('its userinfo is not an object');
  return user;
}

function defaultProfile(userinfo: Record<string, unknown>): Profile {
  return { subject: userinfo.sub ?? userinfo.id, email: userinfo.email, emailIsProof: false };
}
