import { z } from 'zod';
import { type Profile, type ProfileSources, type ProviderPlugin, providerPlugin } from '../provider.js';
import {
  checkOptions,
  type EndpointOptions,
  type Endpoints,
  endpointShape,
  type ProviderOptions,
  providerId,
  providerShape,
  required,
  secureUrl,
} from './options.js';

const SHAPE = {
  ...providerShape,
  id: providerId,
  authorizationUrl: secureUrl,
  tokenUrl: secureUrl,
  userinfoUrl: secureUrl,
  issuer: required.max(255, 'must have at most 255 characters').optional(),
  profile: z.custom((value) => typeof value === 'function', 'must be a function').optional(),
};

/** Options of {@link oauth2}. */
export interface OAuth2Options extends ProviderOptions {
  /** The `:provider` of the routes: lower-case letters, digits, `_` and `-`. @default none, required */
  id: string;
  /** The authorization endpoint. @default none, required */
  authorizationUrl: string;
  /** The token endpoint. @default none, required */
  tokenUrl: string;
  /** A URL that returns the user as JSON. @default none, required */
  userinfoUrl: string;
  /**
   * The issuer that is stored with the service's subjects. If it changes, users lose access to their accounts.
   * @default the origin of `authorizationUrl`
   */
  issuer?: string;
  /** Reads the profile from the userinfo. @default `sub` or `id`, and `email`, which does not count as proof */
  profile?: (userinfo: Record<string, unknown>) => Profile;
}

/** Any OAuth 2.0 service with a userinfo URL. @throws TypeError on invalid options */
export function oauth2(options: OAuth2Options): ProviderPlugin {
  checkOptions(options?.id, options, SHAPE);
  const { id, clientId, clientSecret, scopes = [], authorizationUrl, tokenUrl, userinfoUrl } = options;
  const { profile = defaultProfile, issuer = new URL(authorizationUrl).origin } = options;
  return providerPlugin({
    id,
    server: { issuer, authorizationUrl, tokenUrl, userinfoUrl },
    clientId,
    clientSecret,
    clientAuth: 'post',
    scopes,
    profile: async ({ get }) => profile((await get(userinfoUrl)) as Record<string, unknown>),
  });
}

/** A service without discovery that has its own module. */
interface NamedService<E> {
  readonly issuer: string;
  readonly endpoints: E;
  readonly scopes: readonly string[];
  /** @param endpoints the service's endpoints, with those that the app has replaced */
  profile(get: ProfileSources['get'], endpoints: E): Promise<Profile>;
}

export function namedService<E extends Record<'authorizationUrl' | 'tokenUrl' | 'userinfoUrl', string>>(
  id: string,
  options: EndpointOptions,
  { issuer, endpoints: own, scopes, profile }: NamedService<E>,
): ProviderPlugin {
  const shape = endpointShape(...Object.keys(own));
  const { clientId, clientSecret, endpoints: given = {}, ...chosen } = checkOptions(id, options, shape);
  const entries = Object.entries(own).map(([name, url]) => [name, given[name as keyof Endpoints] ?? url]);
  const endpoints = Object.fromEntries(entries) as E;
  const { authorizationUrl, tokenUrl, userinfoUrl } = endpoints;
  return providerPlugin({
    id,
    server: { issuer, authorizationUrl, tokenUrl, userinfoUrl },
    clientId,
    clientSecret,
    clientAuth: 'post',
    scopes: chosen.scopes ?? scopes,
    profile: ({ get }) => profile(get, endpoints),
  });
}

function defaultProfile(userinfo: Record<string, unknown>): Profile {
  return { subject: idOf(userinfo.sub ?? userinfo.id), email: userinfo.email, emailIsProof: false };
}

/** Converts numeric ids, which many services have, to strings. */
export function idOf(value: unknown): unknown {
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
}
