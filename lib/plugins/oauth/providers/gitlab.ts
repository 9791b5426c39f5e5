import { type ProviderPlugin, providerPlugin } from '../provider.js';
import { oidcProfile } from './oidc.js';
import { checkOptions, type DiscoveredOptions, discoveredShape } from './options.js';

/**
 * GitLab, gitlab.com or one's own by `issuer`. `email_verified: true` is taken as proof: GitLab says so of an address
 * that it has confirmed.
 *
 * @see https://docs.gitlab.com/integration/openid_connect_provider/
 */
export function gitlab(options: DiscoveredOptions): ProviderPlugin {
  const { clientId, clientSecret, scopes, issuer } = checkOptions('gitlab', options, discoveredShape);
  return providerPlugin({
    id: 'gitlab',
    server: { discover: issuer ?? 'https://gitlab.com' },
    clientId,
    clientSecret,
    clientAuth: 'basic',
    scopes: scopes ?? ['openid', 'email'],
    profile: (sources) => oidcProfile(sources, ({ email_verified }) => email_verified === true),
  });
}
