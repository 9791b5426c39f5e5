import { generateKeyPairSync } from 'node:crypto';
import { randomText } from '../data.js';
import { DEMO_PROVIDER, ORIGIN } from '../settings.js';

// Past the package's index and its default adapter: the first warns of every Node but the newest, the second that it
// forgets all when the process ends, which is what a demo wants.
const { Provider } = (await import(
  'oidc-provider/lib/provider.js' as string
)) as typeof import('oidc-provider');
const { createMemoryAdapter } = await import('oidc-provider/lib/adapters/memory_adapter.js' as string);

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** @param people what is known of each subject */
export function createProvider(people: ReadonlyMap<string, Record<string, unknown>>) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return new Provider(DEMO_PROVIDER.issuer, {
    adapter: createMemoryAdapter(0),
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', kid: 'of-this-run' }] },
    ttl: {
      AccessToken: HOUR,
      AuthorizationCode: MINUTE,
      Grant: 24 * HOUR,
      IdToken: HOUR,
      Interaction: 10 * MINUTE,
      RefreshToken: 24 * HOUR,
      Session: 10 * MINUTE,
    },
    clients: [
      {
        client_id: DEMO_PROVIDER.clientId,
        client_secret: DEMO_PROVIDER.clientSecret,
        redirect_uris: [`${ORIGIN}/auth/oauth/${DEMO_PROVIDER.id}/callback`],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    // A path that no request has: the provider's own session is never seen again, and it asks each time who one is.
    cookies: { keys: [randomText()], long: { path: '/nowhere', httpOnly: true, sameSite: 'lax' } },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: async () => true,
    findAccount: (_ctx, accountId) => {
      const claims = people.get(accountId);
      return claims && { accountId, claims: async () => ({ ...claims, sub: accountId }) };
    },
    // To sign in is to consent: the sign-in page says what the app gets.
    async loadExistingGrant({ oidc: { client, session, params, provider } }) {
      const grant = new provider.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      });
      grant.addOIDCScope(String(params?.scope));
      await grant.save();
      return grant;
    },
  });
}
