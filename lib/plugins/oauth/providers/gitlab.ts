import { type ProviderPlugin, providerPlugin } from '../provider.js';
import { oidcProfile, trusted } from './oidc.js';
import { checkOptions, clientOf, type DiscoveredOptions, discoveredShape } from './options.js';

/**
 * GitLab: gitlab.com, or a self-managed instance with `issuer`. `email_verified: true` counts as proof: it means that
 * GitLab has confirmed the address.
 *
 * @see https://docs.gitlab.com/integration/openid_connect_provider/
 */
export function gitlab(options: DiscoveredOptions): ProviderPlugin {
  const { scopes, issuer } = checkOptions('gitlab', options, discoveredShape);
  return providerPlugin({
    id: 'gitlab',
    server: { discover: issuer ?? 'https://gitlab.com' },
    ...clientOf(options),
    clientAuth: 'post',
    scopes: scopes ?? ['openid', 'email'],
    profile: (sources) => oidcProfile(sources, ({ email_verified }) => trusted(email_verified === true)),
  });
}
