import { sign } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  answers,
  type KeyPair,
  type LyingProvider,
  newKeys,
  startLyingProvider,
} from '../../support/lying-provider.js';
import { type OAuthApp, oidcPlugin, signInWith, startOAuthApp } from '../../support/oauth-app.js';

const DONE = '/done';
const FAILED = '/done?error=provider_error';

describe('the signing keys of a provider', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  beforeEach(async () => {
    provider = await startLyingProvider();
    app = await startOAuthApp({ providers: () => [oidcPlugin(provider)] });
  });
  afterEach(async () => {
    await app.stop();
    await provider.stop();
  });

  const signIn = async () => (await signInWith(app.browser(), 'oidc')).headers.location;

  test.each([
    ['with a new id', 'k2'],
    ['with the id of the old key', 'k1'],
    ['without an id', ''],
  ])(
    'may change: a new key %s is accepted immediately, and the code is redeemed once',
    async (_what, kid) => {
      expect(await signIn()).toBe(DONE);
      provider.keys = [newKeys()];
      provider.lies = { kid };
      provider.tokenRequests.length = 0;
      expect(await signIn()).toBe(DONE);
      expect(provider.jwksRequests).toBe(2);
      expect(provider.tokenRequests).toHaveLength(1);
      expect(await signIn()).toBe(DONE);
      expect(provider.jwksRequests).toBe(2);
    },
  );

  test('may change during concurrent sign-ins', async () => {
    expect(await signIn()).toBe(DONE);
    provider.keys = [newKeys()];
    const answered = await Promise.all(Array.from({ length: 8 }, signIn));
    expect(answered).toEqual(Array(8).fill(DONE));
    expect(provider.jwksRequests).toBeLessThan(5);
  });

  test('may change before a refresh', async () => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    provider.keys = [newKeys()];
    provider.tokenRequests.length = 0;
    await browser.post('/auth/oauth/oidc/tokens/refresh').expect(200);
    expect(provider.tokenRequests).toHaveLength(1);
  });

  test('are not fetched again for every wrong signature', async () => {
    expect(await signIn()).toBe(DONE);
    provider.lies = { wrongKey: true };
    for (let round = 0; round < 5; round++) expect(await signIn()).toBe(FAILED);
    expect(provider.jwksRequests).toBeLessThan(4);
    provider.lies = {};
    expect(await signIn()).toBe(DONE);
  });

  test('are fetched once if even newly fetched keys do not match', async () => {
    provider.lies = { wrongKey: true };
    expect(await signIn()).toBe(FAILED);
    expect(provider.jwksRequests).toBe(1);
  });

  test.each([
    ['null', 'null'],
    ['keys that are not a list', '{"keys":{}}'],
    ['a list that contains no keys', '{"keys":[null]}'],
  ])('are fetched again after a response with %s', async (_what, body) => {
    provider.lies = {
      answers: {
        jwks: (_req, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(body),
      },
    };
    expect(await signIn()).toBe(FAILED);
    provider.lies = {};
    expect(await signIn()).toBe(DONE);
  });

  test('verify signed userinfo too', async () => {
    const userinfoBy = (key = newKeys()) => {
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: provider.issuer, aud: 'latchkey-spec', iat: now, exp: now + 300, sub: 'ada' };
      const jwt = signed({ ...claims, email: 'signed@example.com', email_verified: true }, key);
      provider.lies = {
        claims: { email: undefined },
        metadata: { userinfo_signing_alg_values_supported: ['ES256'] },
        answers: {
          userinfo: (_req, res) => void res.writeHead(200, { 'content-type': 'application/jwt' }).end(jwt),
        },
      };
    };
    userinfoBy();
    expect(await signIn()).toBe(FAILED);
    userinfoBy(provider.keys[0]);
    const browser = app.browser();
    expect((await signInWith(browser, 'oidc')).headers.location).toBe(DONE);
    expect((await browser.get('/auth/me').expect(200)).body.user.email).toBe('signed@example.com');
  });

  test('verify signed userinfo of a provider that does not list how it signs userinfo', async () => {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: provider.issuer, aud: 'latchkey-spec', iat: now, exp: now + 300, sub: 'ada' };
    const own = signed({ ...claims, email: 'signed@example.com', email_verified: 'true' }, provider.keys[0]!);
    const [, payload] = own.split('.');
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    const signInWithUserinfo = (jwt: string) => {
      const userinfo: (typeof answers)['failure'] = (_req, res) =>
        void res.writeHead(200, { 'content-type': 'application/jwt' }).end(jwt);
      provider.lies = { claims: { email: undefined }, answers: { userinfo } };
      return signInWith(app.browser(), 'oidc');
    };
    expect((await signInWithUserinfo(own)).headers.location).toBe(DONE);
    for (const jwt of [unsigned, signed({ ...claims, email: 'eve@example.com' }, newKeys()), 'junk']) {
      app.log.length = 0;
      expect((await signInWithUserinfo(jwt)).headers.location).toBe(FAILED);
      expect(app.log.join('\n')).toMatch(/^warn .*provider oidc /);
      expect(app.log.join('\n')).not.toContain(jwt);
    }
  });

  test('may change before userinfo is signed, which is fetched once, and are not fetched for every wrong one', async () => {
    const metadata = { userinfo_signing_alg_values_supported: ['ES256'] };
    provider.lies = { metadata };
    expect(await signIn()).toBe(DONE);
    const newer = newKeys();
    // The ID token is still signed by the older key.
    provider.keys = [newer, ...provider.keys];
    let requests = 0;
    const userinfoBy = (key: KeyPair) => {
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: provider.issuer, aud: 'latchkey-spec', iat: now, exp: now + 300, sub: 'ada' };
      const jwt = signed({ ...claims, email: 'signed@example.com', email_verified: true }, key);
      const userinfo: (typeof answers)['failure'] = (_req, res) => {
        requests++;
        res.writeHead(200, { 'content-type': 'application/jwt' }).end(jwt);
      };
      provider.lies = { metadata, claims: { email: undefined }, answers: { userinfo } };
    };
    userinfoBy(newer);
    expect(await signIn()).toBe(DONE);
    expect([requests, provider.jwksRequests]).toEqual([1, 2]);
    userinfoBy(newKeys());
    const startedAt = Date.now();
    for (let round = 0; round < 5; round++) expect(await signIn()).toBe(FAILED);
    expect(requests).toBe(6);
    // One fetch in three seconds.
    const allowed = 1 + Math.ceil((Date.now() - startedAt) / 3000);
    expect(provider.jwksRequests - 2).toBeLessThanOrEqual(allowed);
  });

  test('may have no ids, and then all keys are tried', async () => {
    provider.lies = { kid: '' };
    provider.keys = [newKeys(), newKeys(), ...provider.keys];
    expect(await signIn()).toBe(DONE);
    provider.lies = { kid: '', wrongKey: true };
    expect(await signIn()).toBe(FAILED);
  });
});

describe('a provider on another machine', () => {
  const ISSUER = 'https://provider.example';
  const realFetch = globalThis.fetch;
  afterEach(() => {
    globalThis.fetch = realFetch;
  });

  test.each([
    ['https', DONE],
    ['http', FAILED],
  ])('whose keys are published over %s: a sign-in ends at %s', async (protocol, end) => {
    const provider = await startLyingProvider();
    globalThis.fetch = (input, init) =>
      realFetch(String(input).replace(/^https?:\/\/provider\.example/, provider.issuer), init);
    const app = await startOAuthApp({ providers: () => [oidcPlugin({ issuer: ISSUER })] });
    provider.lies = {
      claims: { iss: ISSUER },
      response: { iss: ISSUER },
      metadata: {
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}/authorize`,
        token_endpoint: `${ISSUER}/token`,
        userinfo_endpoint: `${ISSUER}/userinfo`,
        jwks_uri: `${protocol}://provider.example/jwks`,
      },
    };
    expect((await signInWith(app.browser(), 'oidc')).headers.location).toBe(end);
    await app.stop();
    await provider.stop();
  });
});

describe('the discovery document of a provider', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  beforeEach(async () => {
    provider = await startLyingProvider();
    app = await startOAuthApp({ providers: () => [oidcPlugin(provider)] });
  });
  afterEach(async () => {
    await app.stop();
    await provider.stop();
  });

  test.each([
    [
      'contains no endpoints',
      { authorization_endpoint: undefined, token_endpoint: undefined, jwks_uri: undefined },
    ],
    ['contains no keys', { jwks_uri: undefined }],
    ['contains no token endpoint', { token_endpoint: undefined }],
    ['contains an invalid URL', { token_endpoint: 'token' }],
  ])('is fetched again if it %s', async (_what, metadata) => {
    provider.lies = { metadata };
    await app.http.get('/auth/oauth/oidc/authorize');
    provider.lies = {};
    expect((await signInWith(app.browser(), 'oidc')).headers.location).toBe(DONE);
  });

  test('is fetched again after a request to one of its URLs failed', async () => {
    for (const metadata of [
      { jwks_uri: `${provider.issuer}/nothing` },
      { token_endpoint: `${provider.issuer}/nothing` },
    ]) {
      provider.lies = { metadata };
      expect((await signInWith(app.browser(), 'oidc')).headers.location).toBe(FAILED);
      provider.lies = {};
      expect((await signInWith(app.browser(), 'oidc')).headers.location).toBe(DONE);
      provider.lies = { answers: { token: answers.failure } };
      expect((await signInWith(app.browser(), 'oidc')).headers.location).toBe(FAILED);
    }
  });
});

function signed(claims: object, { privateKey: key }: KeyPair): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const input = `${encode({ alg: 'ES256', kid: 'k1' })}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(input), {
    key,
    dsaEncoding: 'ieee-p1363',
  });
  return `${input}.${signature.toString('base64url')}`;
}
