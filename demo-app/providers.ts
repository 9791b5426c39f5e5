import { github, google, oidc, type ProviderPlugin } from 'latchkey/providers';
import { DEMO_PROVIDER } from './settings.js';

/** The providers that users can sign in with: the demo provider, and those with a client secret in the environment. */
export const providers: readonly ProviderPlugin[] = [
  // The demo provider is part of this app, so it can be trusted to report verified emails correctly. Before you trust
  // another issuer, make sure that it verifies emails.
  oidc({ ...DEMO_PROVIDER, trustEmailVerified: true, fields: ({ name }) => ({ name }) }),
  ...fromEnvironment('GOOGLE', google),
  ...fromEnvironment('GITHUB', github),
];

function fromEnvironment(
  prefix: string,
  make: (client: { clientId: string; clientSecret: string }) => ProviderPlugin,
): ProviderPlugin[] {
  const clientId = process.env[`${prefix}_CLIENT_ID`];
  const clientSecret = process.env[`${prefix}_CLIENT_SECRET`];
  return clientId && clientSecret ? [make({ clientId, clientSecret })] : [];
}
