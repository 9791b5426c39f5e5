import { type ProviderPlugin, providerPlugin } from '../provider.js';
import { oidcProfile, verified } from './oidc.js';
import { clientOf, type DiscoveredOptions, discoveredSchema, readProvider } from './options.js';

const TWITCH = 'https://id.twitch.tv/oauth2';
const CLAIMS = { email: null, email_verified: null, preferred_username: null };

/**
 * Adds sign-in with Twitch. ID tokens contain an email only if the claim is requested. `email_verified: true` means
 * that Twitch has verified it at some time. Unlinking revokes the access token.
 *
 * @see https://dev.twitch.tv/docs/authentication/getting-tokens-oidc
 * @see https://dev.twitch.tv/docs/authentication/revoke-tokens
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
    profile: (sources) => oidcProfile(sources, ({ email_verified }) => verified(email_verified === true)),
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
