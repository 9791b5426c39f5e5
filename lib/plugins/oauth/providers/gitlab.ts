import { flag, schemaOf } from '../../../config/options.js';
import { type ProviderPlugin, providerPlugin } from '../provider.js';
import { authoritative, oidcProfile, saysVerified, verified } from './oidc.js';
import { clientOf, type DiscoveredOptions, discoveredShape, readProvider } from './options.js';

/** Options of {@link gitlab}. */
export interface GitlabOptions extends DiscoveredOptions {
  /**
   * Whether `email_verified: true` counts like an email that the person has answered. On a self-managed server, enable
   * it only if the server confirms every address, which it does not by default.
   * @default for gitlab.com, `email_verified: true` means that GitLab has verified the address at some time; with
   *   another `issuer`, false
   */
  trustEmailVerified?: boolean;
}

const GITLAB = 'https://gitlab.com';
/** @internal */
export const schema = () =>
  schemaOf<GitlabOptions>()({ ...discoveredShape, trustEmailVerified: flag.optional() });

/**
 * Adds sign-in with GitLab: gitlab.com, or a self-managed server if `issuer` is set.
 *
 * On gitlab.com, `email_verified: true` means that the address was verified at some time. A self-managed server does
 * not confirm addresses unless its administrator has enabled that. Client secrets are sent in the body, because GitLab
 * (Doorkeeper) does not URL-decode the `Authorization` header. Unlinking revokes the tokens, at the endpoint that
 * discovery names.
 *
 * @see https://docs.gitlab.com/integration/openid_connect_provider/
 * @see https://docs.gitlab.com/administration/settings/sign_up_restrictions/#confirm-user-email
 * @see https://github.com/doorkeeper-gem/doorkeeper/blob/main/lib/doorkeeper/oauth/client/credentials.rb
 */
export function gitlab(options: GitlabOptions): ProviderPlugin {
  const { scopes, issuer = GITLAB, trustEmailVerified } = readProvider('gitlab', schema, options);
  const word = trustEmailVerified ? authoritative : verified;
  const trusts = trustEmailVerified ?? new URL(issuer).origin === GITLAB;
  return providerPlugin({
    id: 'gitlab',
    server: { discover: issuer },
    ...clientOf(options),
    clientAuth: 'post',
    scopes: scopes ?? ['openid', 'email'],
    profile: (sources) => oidcProfile(sources, (claims) => word(trusts && saysVerified(claims))),
  });
}
