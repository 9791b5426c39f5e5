import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createAuth, oauth, twoFactor } from '../../../lib/index.js';
import { memoryLogger, password, SECRET } from '../../support/app.js';
import { createDatabase, type SpecDatabase } from '../../support/database.js';
import { type LyingProvider, startLyingProvider } from '../../support/lying-provider.js';
import { oidcPlugin } from '../../support/oauth-app.js';
import { visitProvider } from '../../support/oidc.js';
import { codeOf } from '../../support/two-factor.js';

// Sign-ins with a provider of accounts with a second factor.
let database: SpecDatabase;
let provider: LyingProvider;
let auth: ReturnType<typeof open>;
beforeAll(async () => {
  database = await createDatabase();
  provider = await startLyingProvider();
});
afterEach(() => auth.close());
afterAll(async () => {
  await provider.stop();
  await database.drop();
});

function open(trustProviders: string[]) {
  return createAuth({
    database: database.url,
    secret: SECRET,
    baseUrl: 'http://localhost',
    rateLimit: false,
    logger: memoryLogger(),
    plugins: [password(), oauth(), oidcPlugin(provider), twoFactor({ trustProviders })],
  });
}

async function signIn(email: string) {
  provider.lies = { claims: { sub: `subject of ${email}`, email, email_verified: true } };
  const { url, browser } = await auth.oauth.authorizeUrl('oidc');
  const parameters = new URL(await visitProvider(url)).searchParams;
  const { issued } = await auth.oauth.callback({ provider: 'oidc', parameters, browser });
  if (!issued) throw new Error('no sign-in');
  return issued;
}

/** Signs up at the provider, and switches the second factor on. */
async function enrolled(email: string): Promise<string> {
  const issued = await signIn(email);
  if (!('session' in issued)) throw new Error('no session');
  const owner = { userId: issued.user.id, sessionId: issued.session.id };
  const { secret } = await auth.twoFactor.enroll(owner);
  const { recoveryCodes } = await auth.twoFactor.confirm({ ...owner, code: codeOf(secret) });
  return String(recoveryCodes[0]);
}

test('wait for the second factor', async () => {
  auth = open([]);
  await auth.migrate();
  const code = await enrolled('ada@example.com');
  const pending = await signIn('ada@example.com');
  if (!('secondFactor' in pending)) throw new Error('no second factor was asked for');
  const { methods, pendingToken } = pending.secondFactor;
  expect(methods).toEqual(['totp', 'recovery_code']);
  const issued = await auth.completeSignIn({ pendingToken, method: 'recovery_code', code });
  expect(issued.session).toMatchObject({ aal: 2, amr: ['fed', 'otp', 'mfa'] });
});

test('do not, if the provider is trusted to ask for one itself', async () => {
  auth = open(['oidc']);
  await auth.migrate();
  await enrolled('grace@example.com');
  const issued = await signIn('grace@example.com');
  expect(issued).toMatchObject({ session: { aal: 2, amr: ['fed', 'mfa'] } });
});
