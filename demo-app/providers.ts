import { github, google, oidc, type ProviderPlugin } from 'latchkey/providers';
import { DEMO_PROVIDER } from './settings.js';

/** A provider and its display name. */
interface NamedProvider {
  readonly name: string;
  readonly plugin: ProviderPlugin;
}

/** The providers that users can sign in with: the demo provider, and those with a client secret in the environment. */
export const providers: readonly NamedProvider[] = [
  // The demo provider is part of this app, so it can be trusted to report verified emails correctly. Before you trust
  // another issuer, make sure that it verifies emails.
  { name: 'the demo provider', plugin: oidc({ ...DEMO_PROVIDER, trustEmailVerified: true }) },
  ...fromEnvironment('Google', 'GOOGLE', google),
  ...fromEnvironment('GitHub', 'GITHUB', github),
];

function fromEnvironment(
  name: string,
  prefix: string,
  make: (client: { clientId: string; clientSecret: string }) => ProviderPlugin,
): NamedProvider[] {
  const clientId = process.env[`${prefix}_CLIENT_ID`];
  const clientSecret = process.env[`${prefix}_CLIENT_SECRET`];
  return clientId && clientSecret ? [{ name, plugin: make({ clientId, clientSecret }) }] : [];
}
