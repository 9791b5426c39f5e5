import { github, google, oidc, type ProviderPlugin } from 'latchkey/providers';
import { DEMO_PROVIDER } from './settings.js';

/** A provider, and what people call it. */
interface NamedProvider {
  readonly name: string;
  readonly plugin: ProviderPlugin;
}

/** Where people can sign in: the provider that runs beside the app, and those for which the environment has secrets. */
export const providers: readonly NamedProvider[] = [
  // This provider is ours: when it says that an email is verified, it is. Ask that of every issuer before you trust it.
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
