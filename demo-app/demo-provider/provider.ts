import { generateKeyPairSync } from 'node:crypto';
import { randomText } from '../data.js';
import { DEMO_PROVIDER, ORIGIN } from '../settings.js';
import { problemPage } from './problem.js';

// Bypasses the package's index and its default adapter. The index logs a warning on every Node version but the newest.
// The adapter logs a warning that all data is lost when the process ends, which is fine for a demo.
const { Provider } = (await import(
  'oidc-provider/lib/provider.js' as string
)) as typeof import('oidc-provider');
const { createMemoryAdapter } = await import('oidc-provider/lib/adapters/memory_adapter.js' as string);

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** @param people the claims of each subject */
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
    // No request has this path, so the browser never sends the provider's session cookie, and every sign-in asks again.
    cookies: { keys: [randomText()], long: { path: '/nowhere', httpOnly: true, sameSite: 'lax' } },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    renderError(ctx) {
      ctx.type = 'html';
      ctx.body = problemPage;
    },
    issueRefreshToken: async () => true,
    findAccount: (_ctx, accountId) => {
      const claims = people.get(accountId);
      return claims && { accountId, claims: async () => ({ ...claims, sub: accountId }) };
    },
    // A sign-in includes consent: the sign-in page says what the app gets.
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
