import { type Claims, type Provider, type ProviderPlugin, providerPlugin } from '../provider.js';
import { oidcProfile, saysVerified, verified } from './oidc.js';
import { clientOf, type DiscoveredOptions, discoveredSchema, readProvider } from './options.js';

const TWITCH = 'https://id.twitch.tv/oauth2';
const CLAIMS = { email: null, email_verified: null, preferred_username: null };

/**
 * Adds sign-in with Twitch. ID tokens contain an email only if the claim is requested. `email_verified: true` means
 * that Twitch has verified it at some time. Unlinking revokes the access token.
 *
 * @see https://dev.twitch.tv/docs/authentication/getting-tokens-oidc
 * @see https://dev.twitch.tv/docs/authentication/revoke-tokens
 * @see https://dev.twitch.tv/docs/authentication/refresh-tokens on errors of a refresh, which have a message and no code
 * @see https://github.com/PhantomBot/PhantomBot/issues/2860 on the error for a wrong secret
 * @see https://github.com/twitchdev/issues/issues/943 on the error for a missing one
 */
export function twitch(options: DiscoveredOptions): ProviderPlugin {
  const { scopes, issuer = TWITCH } = readProvider('twitch', discoveredSchema, options);
  return providerPlugin({
    id: 'twitch',
    server: { discover: issuer },
    ...clientOf(options),
    clientAuth: 'post',
    scopes: scopes ?? ['openid', 'user:read:email'],
    authorizeParameters: { claims: JSON.stringify({ id_token: CLAIMS, userinfo: CLAIMS }) },
    errorOf,
    profile: (sources) => oidcProfile(sources, (claims) => verified(saysVerified(claims))),
    revocation: ({ accessToken: token }) =>
      token === null
        ? null
        : {
            url: `${issuer}/revoke`,
            method: 'POST',
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
            body: `${new URLSearchParams({ client_id: options.clientId, token })}`,
          },
  });
}

/** Twitch sends `{ status, message }`. With 401, the person has disconnected the app or changed their password. */
function errorOf({ message }: Claims, status: number): ReturnType<NonNullable<Provider['errorOf']>> {
  const text = String(message);
  if (/client/i.test(text)) return 'invalid_client';
  return status === 401 || /(refresh token|grant|code)/i.test(text) ? 'invalid_grant' : undefined;
}
