import { type ProviderPlugin, providerPlugin } from '../provider.js';
import { oidcProfile } from './oidc.js';
import { checkOptions, type DiscoveredOptions, discoveredShape } from './options.js';

/**
 * Google. `email_verified: true` counts as proof.
 *
 * @see https://developers.google.com/identity/openid-connect/openid-connect#an-id-tokens-payload
 */
export function google(options: DiscoveredOptions): ProviderPlugin {
  const { clientId, clientSecret, scopes, issuer } = checkOptions('google', options, discoveredShape);
  return providerPlugin({
    id: 'google',
    server: { discover: issuer ?? 'https://accounts.google.com' },
    clientId,
    clientSecret,
    clientAuth: 'post',
    scopes: scopes ?? ['openid', 'email', 'profile'],
    // Required for Google to issue a refresh token.
    authorizeParameters: { access_type: 'offline' },
    profile: (sources) => oidcProfile(sources, ({ email_verified }) => email_verified === true),
  });
}
