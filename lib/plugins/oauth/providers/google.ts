import { type Claims, type ProviderPlugin, providerPlugin } from '../provider.js';
import { oidcProfile } from './oidc.js';
import { checkOptions, clientOf, type DiscoveredOptions, discoveredShape } from './options.js';

/**
 * Google. `email_verified: true` counts as proof.
 *
 * @see https://developers.google.com/identity/openid-connect/openid-connect#an-id-tokens-payload
 */
export function google(options: DiscoveredOptions): ProviderPlugin {
  const { scopes, issuer } = checkOptions('google', options, discoveredShape);
  return providerPlugin({
    id: 'google',
    server: { discover: issuer ?? 'https://accounts.google.com' },
    ...clientOf(options),
    clientAuth: 'post',
    scopes: scopes ?? ['openid', 'email', 'profile'],
    // Google issues a refresh token only for the first consent, unless it is asked for consent again.
    authorizeParameters: { access_type: 'offline' },
    parametersFor: { link: { prompt: 'consent' } },
    profile: (sources) =>
      oidcProfile(sources, (claims) => ({
        emailIsProof: claims.email_verified === true,
        emailIsAuthoritative: isHostedByGoogle(claims),
      })),
  });
}

function isHostedByGoogle({ email, hd }: Claims): boolean {
  return /@gmail\.com$/i.test(String(email)) || (typeof hd === 'string' && hd !== '');
}
