import { generateKeyPairSync, verify } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { apple } from '../../../../lib/providers.js';
import { rows } from '../../../support/database.js';
import { type Lies, type LyingProvider, startLyingProvider } from '../../../support/lying-provider.js';
import { begin, type OAuthApp, startOAuthApp } from '../../../support/oauth-app.js';
import { visitProvider } from '../../../support/oidc.js';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const options = { clientId: 'com.example.app', teamId: 'TEAM123456', keyId: 'KEY1234567', privateKey: pem };
// There is no userinfo, and no `iss` in the answer.
const asApple: Lies = {
  response: { iss: undefined },
  metadata: { userinfo_endpoint: undefined, authorization_response_iss_parameter_supported: undefined },
};

describe('apple', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  beforeAll(async () => {
    provider = await startLyingProvider();
    provider.lies = asApple;
    app = await startOAuthApp({ providers: () => [apple({ ...options, issuer: provider.issuer })] });
  });
  afterEach(async () => {
    await rows(app.database, 'DELETE FROM users');
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  /** Posts what Apple's page would, without the cookies that a browser keeps from another site's form. */
  async function signIn(claims: Record<string, unknown>) {
    provider.lies = { ...asApple, claims };
    const browser = app.browser();
    const back = new URL(await visitProvider(await begin(browser, '/auth/oauth/apple/authorize')));
    const form = new URLSearchParams(back.searchParams);
    form.set('user', '{"name":{"firstName":"Ada","lastName":"Lovelace"},"email":"eve@example.com"}');
    const posted = await app.http
      .post(back.pathname)
      .set({ Origin: 'https://appleid.apple.com', 'Sec-Fetch-Site': 'cross-site' })
      .type('form')
      .send(form.toString())
      .expect(303);
    await browser.get(posted.headers.location ?? '').expect(303);
    return (await browser.get('/auth/me').expect(200)).body.user;
  }

  test('is asked to answer by a form', async () => {
    const url = new URL(await begin(app.browser(), '/auth/oauth/apple/authorize'));
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_mode: 'form_post',
      response_type: 'code',
      client_id: options.clientId,
      scope: 'openid name email',
    });
  });

  test.each([
    ['true', { email_verified: true }, 'ada@example.com'],
    ['"true"', { email_verified: 'true' }, 'ada@example.com'],
    [
      'a relay',
      { email: 'x7@privaterelay.appleid.com', email_verified: 'true' },
      'x7@privaterelay.appleid.com',
    ],
    ['"false"', { email_verified: 'false' }, null],
    ['nothing', { email_verified: undefined }, null],
    ['no email', { email: undefined, email_verified: undefined }, null],
  ])('with %s for email_verified', async (_what, claims, email) => {
    expect((await signIn(claims)).email).toBe(email);
    expect(provider.resourceRequests).toEqual([]);
  });

  test('takes a client secret that the app signs, new each time', async () => {
    await signIn({});
    const { form, authorization } = provider.tokenRequests.at(-1) ?? {};
    expect(authorization).toBeUndefined();
    expect(form?.get('client_id')).toBe(options.clientId);
    const [header = '', payload = '', signature = ''] = (form?.get('client_secret') ?? '').split('.');
    const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
    expect(
      verify('sha256', Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url')),
    ).toBe(true);
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
    expect(read(header)).toEqual({ alg: 'ES256', kid: options.keyId });
    const claims = read(payload);
    expect(claims).toMatchObject({ iss: options.teamId, sub: options.clientId, aud: provider.issuer });
    const now = Date.now() / 1000;
    expect(Math.abs(claims.iat - now)).toBeLessThan(5);
    // Apple takes none that is valid for more than six months.
    expect(claims.exp).toBeGreaterThan(now);
    expect(claims.exp).toBeLessThan(now + 3600);
  });

  test.each([
    ['no key', { privateKey: '' }],
    ['a key that is none', { privateKey: '-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----' }],
    [
      'a key on another curve',
      {
        privateKey: generateKeyPairSync('ec', { namedCurve: 'P-384' })
          .privateKey.export({ type: 'pkcs8', format: 'pem' })
          .toString(),
      },
    ],
    ['no team', { teamId: '' }],
    ['no key id', { keyId: '' }],
    ['no client', { clientId: '' }],
  ])('throws on %s, and does not quote the key', (_what, wrong) => {
    expect(() => apple({ ...options, ...wrong })).toThrow(/^latchkey: provider apple: /);
    try {
      apple({ ...options, ...wrong });
    } catch (error) {
      expect(String(error)).not.toMatch(/BEGIN|abc/);
    }
  });
});
