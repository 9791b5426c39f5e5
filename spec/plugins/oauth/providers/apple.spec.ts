import { generateKeyPairSync, verify } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { apple } from '../../../../lib/providers.js';
import { signedIn } from '../../../support/app.js';
import { rows } from '../../../support/database.js';
import {
  type Lies,
  type LyingProvider,
  newRsaKeys,
  startLyingProvider,
} from '../../../support/lying-provider.js';
import { begin, linkWith, type OAuthApp, startOAuthApp } from '../../../support/oauth-app.js';
import { visitProvider } from '../../../support/oidc.js';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const options = { clientId: 'com.example.app', teamId: 'TEAM123456', keyId: 'KEY1234567', privateKey: pem };
// Apple sends no `iss` in the response. For hours in June 2025, its discovery document named another issuer than its
// ID tokens.
const asApple: Lies = {
  response: { iss: undefined },
  metadata: { issuer: 'https://account.apple.com' },
};

describe('apple()', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  beforeAll(async () => {
    provider = await startLyingProvider(newRsaKeys());
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

  /**
   * Posts what Apple's page would post, without the cookies that browsers do not send with a form of another
   * site.
   */
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

  test('requests a response as a form', async () => {
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
      'a relay address',
      { email: 'x7@privaterelay.appleid.com', email_verified: 'true' },
      'x7@privaterelay.appleid.com',
    ],
    ['"false"', { email_verified: 'false' }, null],
    ['nothing', { email_verified: undefined }, null],
    ['no email', { email: undefined, email_verified: undefined }, null],
  ])('uses the email according to email_verified: %s', async (_what, claims, email) => {
    expect((await signIn(claims)).email).toBe(email);
    expect(provider.resourceRequests).toEqual([]);
  });

  test('uses a client secret that the app signs, a new one each time', async () => {
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
    // Apple rejects client secrets that are valid for more than six months.
    expect(claims.exp).toBeGreaterThan(now);
    expect(claims.exp).toBeLessThan(now + 3600);
  });

  test('revokes the tokens when the account is unlinked, with a client secret of its own', async () => {
    const browser = await signedIn(app, { email: 'unlinks@example.com', password: 'an analytical engine' });
    provider.lies = asApple;
    expect((await linkWith(browser, 'apple')).headers.location).toBe('/linked');
    const { refresh_token } = (await browser.get('/auth/oauth/apple/tokens').expect(200)).body;
    await browser.delete('/auth/oauth/apple/unlink').expect(204);
    // Waits for revocations that are running.
    await app.auth.close();
    const [revocation, ...more] = provider.revocations;
    expect(more).toEqual([]);
    expect(revocation).toMatchObject({ method: 'POST', url: '/auth/revoke', authorization: undefined });
    const { client_secret, ...form } = Object.fromEntries(revocation?.form ?? []);
    expect(form).toMatchObject({ client_id: options.clientId, token: refresh_token });
    const [header = '', payload = '', signature = ''] = (client_secret ?? '').split('.');
    const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
    expect(
      verify('sha256', Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url')),
    ).toBe(true);
  });

  test.each([
    ['a missing key', { privateKey: '' }],
    ['an invalid key', { privateKey: '-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----' }],
    [
      'a key on another curve',
      {
        privateKey: generateKeyPairSync('ec', { namedCurve: 'P-384' })
          .privateKey.export({ type: 'pkcs8', format: 'pem' })
          .toString(),
      },
    ],
    ['a missing team', { teamId: '' }],
    ['a missing key id', { keyId: '' }],
    ['a missing client', { clientId: '' }],
  ])('throws for %s and does not print the key', (_what, wrong) => {
    expect(() => apple({ ...options, ...wrong })).toThrow(/^latchkey: provider apple: /);
    try {
      apple({ ...options, ...wrong });
    } catch (error) {
      expect(String(error)).not.toMatch(/BEGIN|abc/);
    }
  });
});

describe('the name that Apple sends once', () => {
  const fields = { name: { type: 'string', maxLength: 80, required: true } } as const;
  const told: Record<string, unknown>[] = [];
  let app: OAuthApp;
  let provider: LyingProvider;
  beforeAll(async () => {
    provider = await startLyingProvider(newRsaKeys());
    provider.lies = asApple;
    app = await startOAuthApp({
      providers: () => [
        apple({
          ...options,
          issuer: provider.issuer,
          fields: ({ user }) => ({ name: user && `${user.name.firstName} ${user.name.lastName}` }),
        }),
      ],
      config: {
        user: { fields },
        hooks: { beforeCreateUser: ({ claims }) => void told.push({ ...claims }) },
      },
    });
  });
  afterEach(async () => {
    told.splice(0);
    provider.lies = asApple;
    await rows(app.database, 'DELETE FROM users');
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  const HONEST = '{"name":{"firstName":"Ada","lastName":"Lovelace"},"email":"ada@example.com"}';

  async function answer(user?: string) {
    const browser = app.browser();
    const back = new URL(await visitProvider(await begin(browser, '/auth/oauth/apple/authorize')));
    const form = new URLSearchParams(back.searchParams);
    if (user !== undefined) form.set('user', user);
    return { browser, post: (by = app.http) => by.post(back.pathname).type('form').send(form.toString()) };
  }

  /** As browsers do: the form carries no cookie, and the GET that follows does. */
  async function signIn(user?: string) {
    const { browser, post } = await answer(user);
    const { headers } = await post().expect(303);
    expect(headers.location).not.toMatch(/user|Ada/);
    const done = await browser.get(headers.location ?? '').expect(303);
    return { browser, location: done.headers.location };
  }

  test('becomes a field of the new user, although the browser is redirected in between', async () => {
    const { browser, location } = await signIn(HONEST);
    expect(location).toBe('/');
    expect((await browser.get('/auth/me').expect(200)).body.user.name).toBe('Ada Lovelace');
    expect(told).toMatchObject([{ user: { name: { firstName: 'Ada', lastName: 'Lovelace' } }, sub: 'ada' }]);
  });

  test('is read from a form that carries the cookie too', async () => {
    const { browser, post } = await answer(HONEST);
    expect((await post(browser as never).expect(303)).headers.location).toBe('/');
    expect((await browser.get('/auth/me').expect(200)).body.user.name).toBe('Ada Lovelace');
  });

  test('is encrypted while the browser is redirected', async () => {
    const { post } = await answer(HONEST);
    const before = await rows<{ sealed: string }>(app.database, 'SELECT sealed FROM oauth_flows');
    await post().expect(303);
    const flows = await rows<{ sealed: string }>(app.database, 'SELECT sealed FROM oauth_flows');
    expect(flows).not.toEqual(before);
    expect(JSON.stringify(flows)).not.toMatch(/Lovelace/);
    expect(app.log.join()).not.toMatch(/Lovelace/);
  });

  test('is all that is believed: neither an email nor a subject nor anything else', async () => {
    const forged = {
      name: { firstName: 'Eve', lastName: 'L', middleName: 'M', __proto__: { a: 1 } },
      email: 'victim@example.com',
      email_verified: true,
      sub: 'victim',
    };
    provider.lies = { ...asApple, claims: { email_verified: 'false' } };
    const { browser } = await signIn(JSON.stringify(forged));
    const { user } = (await browser.get('/auth/me').expect(200)).body;
    expect(user).toMatchObject({ email: null, name: 'Eve L' });
    expect(told).toMatchObject([{ sub: 'ada', email: 'ada@example.com', email_verified: 'false' }]);
    expect(told[0]?.user).toEqual({ name: { firstName: 'Eve', lastName: 'L' } });
    expect((await browser.get('/auth/oauth/accounts')).body.accounts[0].provider_account_id).toBe('ada');
  });

  test('gives way to a claim of the same name that Apple has signed', async () => {
    const signed = { name: { firstName: 'Augusta', lastName: 'King' } };
    provider.lies = { ...asApple, claims: { user: signed } };
    await signIn(HONEST);
    expect(told[0]?.user).toEqual(signed);
  });

  test.each([
    ['missing', undefined],
    ['empty', ''],
    ['not JSON', 'Ada'],
    ['null', 'null'],
    ['a list', '[]'],
    ['nested deeply', '['.repeat(4000)],
    ['without a name', '{"email":"ada@example.com"}'],
    ['a name as a string', '{"name":"Ada"}'],
    ['names of another type', '{"name":{"firstName":7,"lastName":["Lovelace"]}}'],
    ['blank names', '{"name":{"firstName":" ","lastName":""}}'],
    ['a name with a NUL', '{"name":{"firstName":"A\\u0000da"}}'],
    ['a name that is ill-formed', '{"name":{"firstName":"\\ud800"}}'],
    ['a name of 256 characters', JSON.stringify({ name: { firstName: 'a'.repeat(256) } })],
    ['too long', JSON.stringify({ name: { firstName: 'Ada', lastName: 'L' }, more: 'x'.repeat(4096) })],
  ])('ends the flow if it is required and %s', async (_what, user) => {
    expect((await signIn(user)).location).toBe('/?error=sign_up_incomplete');
    expect(await rows(app.database, 'SELECT id FROM users')).toEqual([]);
  });

  test('is not needed to sign in again', async () => {
    await signIn(HONEST);
    const { browser, location } = await signIn();
    expect(location).toBe('/');
    expect((await browser.get('/auth/me').expect(200)).body.user.name).toBe('Ada Lovelace');
  });

  test('cannot be put into a flow that is not in progress', async () => {
    const { post } = await answer(HONEST);
    await rows(app.database, "UPDATE oauth_flows SET provider = 'other'");
    await post().expect(400);
    await rows(app.database, 'DELETE FROM oauth_flows');
    await post().expect(400);
  });
});
