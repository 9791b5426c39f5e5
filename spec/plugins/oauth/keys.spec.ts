import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { answers, type LyingProvider, newKeys, startLyingProvider } from '../../support/lying-provider.js';
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

  test('may have no ids, and then all keys are tried', async () => {
    provider.lies = { kid: '' };
    provider.keys = [newKeys(), newKeys(), ...provider.keys];
    expect(await signIn()).toBe(DONE);
    provider.lies = { kid: '', wrongKey: true };
    expect(await signIn()).toBe(FAILED);
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
      provider.lies = { answers: { userinfo: answers.failure } };
      expect((await signInWith(app.browser(), 'oidc')).headers.location).toBe(FAILED);
    }
  });
});
