import { type ProviderPlugin, providerPlugin } from '../provider.js';
import { oidcProfile } from './oidc.js';
import { checkOptions, type DiscoveredOptions, discoveredShape } from './options.js';

/**
 * GitLab: gitlab.com, or a self-managed instance with `issuer`. `email_verified: true` counts as proof: it means that
 * GitLab has confirmed the address.
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
