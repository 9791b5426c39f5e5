import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { github, gitlab, oauth2 } from '../../../lib/providers.js';
import { rows } from '../../support/database.js';
import { answers, type Lies, type LyingProvider, startLyingProvider } from '../../support/lying-provider.js';
import { type OAuthApp, oidcPlugin, signInWith, startOAuthApp } from '../../support/oauth-app.js';

const REFRESH = '/auth/oauth/oidc/tokens/refresh';
const client = { clientId: 'the-client', clientSecret: 'the secret' };
const now = () => Math.floor(Date.now() / 1000);

// Deviations from the standards that occur in practice and are harmless.
describe('a provider may', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  beforeAll(async () => {
    provider = await startLyingProvider();
    const { issuer } = provider;
    const endpoints = {
      authorizationUrl: `${issuer}/authorize`,
      tokenUrl: `${issuer}/token`,
      userinfoUrl: `${issuer}/userinfo`,
    };
    app = await startOAuthApp({
      providers: () => [
        oidcPlugin(provider),
        gitlab({ ...client, issuer }),
        oauth2({ id: 'plain', issuer: 'urn:plain', ...client, ...endpoints }),
        github({ ...client, endpoints: { ...endpoints, emailsUrl: `${issuer}/emails` } }),
      ],
    });
  });
  afterEach(async () => {
    provider.lies = {};
    await rows(app.database, 'DELETE FROM users');
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  const plain: Lies = { response: { iss: undefined }, userinfo: { email: undefined } };

  async function tokensAfter(id: string, lies: Lies) {
    provider.lies = id === 'oidc' ? lies : { ...plain, ...lies };
    const browser = app.browser();
    expect((await signInWith(browser, id)).headers.location).toBe('/done');
    return (await browser.get(`/auth/oauth/${id}/tokens`).expect(200)).body;
  }

  test.each([
    ['omit the token type', { token_type: undefined }, { token_type: 'bearer' }],
    ['send null as the token type', { token_type: null }, { token_type: 'bearer' }],
    ['send null as the lifetime', { expires_in: null }, { access_token_expires_at: null }],
    ['send null as the refresh token', { refresh_token: null }, { refresh_token: null }],
    ['send an empty refresh token', { refresh_token: '' }, { refresh_token: null }],
    ['send the scopes as a list', { scope: ['openid', 'email'] }, { scopes: ['openid', 'email'] }],
    ['send null in other fields', { session_state: null, error: null }, { token_type: 'bearer' }],
    ['send the token type with spaces', { token_type: ' BEARER ' }, { token_type: 'bearer' }],
    ['send an empty token type', { token_type: '' }, { token_type: 'bearer' }],
    ['send an empty lifetime', { expires_in: '' }, { access_token_expires_at: null }],
    ['send a lifetime of spaces', { expires_in: ' ' }, { access_token_expires_at: null }],
  ])('%s', async (_what, tokens, expected) => {
    expect(await tokensAfter('oidc', { tokens })).toMatchObject(expected);
    expect(await tokensAfter('plain', { tokens })).toMatchObject(expected);
  });

  test('send the same in a refresh', async () => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    app.log.length = 0;
    for (const tokens of [{ token_type: 'Bearer ' }, { token_type: '' }, { expires_in: '' }]) {
      provider.lies = { tokens };
      expect((await browser.post(REFRESH).expect(200)).body.token_type).toBe('bearer');
    }
    expect(app.log).toEqual([]);
  });

  test('respond with 201 to a request for tokens', async () => {
    const created = { tokenStatus: 201 };
    expect(await tokensAfter('oidc', created)).toMatchObject({ token_type: 'bearer' });
    expect(await tokensAfter('plain', created)).toMatchObject({ token_type: 'bearer' });
    const browser = app.browser();
    provider.lies = {};
    await signInWith(browser, 'oidc');
    provider.lies = created;
    await browser.post(REFRESH).expect(200);
  });

  test.each([
    ['true', 'ada@example.com'],
    ['false', null],
    ['yes', null],
  ])('send %j as email_verified, if the issuer is trusted', async (email_verified, email) => {
    provider.lies = { claims: { email_verified } };
    const browser = app.browser();
    expect((await signInWith(browser, 'oidc')).headers.location).toBe('/done');
    expect((await browser.get('/auth/me').expect(200)).body.user.email).toBe(email);
  });

  test('send null as the scopes, which means that all requested scopes were granted', async () => {
    expect(await tokensAfter('oidc', { tokens: { scope: null } })).toMatchObject({
      scopes: ['openid', 'email', 'profile'],
    });
    expect(await tokensAfter('plain', { tokens: { scope: null, id_token: null } })).toMatchObject({
      scopes: [],
    });
  });

  test.each([
    ['does not list any', undefined, undefined, 'basic'],
    ['lists only the header', ['client_secret_basic'], undefined, 'basic'],
    ['lists both', ['client_secret_basic', 'client_secret_post'], undefined, 'post'],
    ['lists only the body', ['private_key_jwt', 'client_secret_post'], undefined, 'post'],
    [
      'lists both, but the app wants the header',
      ['client_secret_basic', 'client_secret_post'],
      'basic',
      'basic',
    ],
    ['lists none, but the app wants the body', undefined, 'post', 'post'],
  ])(
    'get the client secret in the way it supports if its discovery document %s',
    async (_what, methods, clientAuth, by) => {
      const fresh = await startLyingProvider();
      fresh.lies = { metadata: { token_endpoint_auth_methods_supported: methods } };
      const other = await startOAuthApp({
        providers: () => [
          oidcPlugin(fresh, clientAuth ? { clientAuth: clientAuth as 'basic' | 'post' } : {}),
        ],
      });
      expect((await signInWith(other.browser(), 'oidc')).headers.location).toBe('/done');
      for (const { authorization, form } of fresh.tokenRequests) {
        expect([authorization !== undefined, form.has('client_secret')]).toEqual([
          by === 'basic',
          by === 'post',
        ]);
      }
      await other.stop();
      await fresh.stop();
    },
  );

  test.each([
    ['401', 401, { 'content-type': 'application/json' }],
    [
      '401 and a challenge',
      401,
      { 'content-type': 'application/json', 'www-authenticate': 'Basic realm="x"' },
    ],
    ['a wrong content type', 400, { 'content-type': 'text/html' }],
    ['no content type', 400, {}],
  ])('reject a revoked grant with %s', async (_what, status, headers) => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    provider.lies = {
      answers: {
        token: (_req, res) => void res.writeHead(status, headers).end('{"error":"invalid_grant"}'),
      },
    };
    expect((await browser.post(REFRESH).expect(409)).body.code).toBe('relink_required');
  });

  test('not reject a revoked grant with a server error', async () => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    provider.lies = {
      answers: {
        token: (_req, res) =>
          void res.writeHead(500, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}'),
      },
    };
    expect((await browser.post(REFRESH).expect(502)).body.code).toBe('provider_error');
  });

  test.each([401, 403, 404])('(GitHub) respond with %i to the request for emails', async (status) => {
    provider.lies = {
      ...plain,
      userinfo: { id: 7, email: 'shown@example.com' },
      answers: { emails: (_req, res) => void res.writeHead(status).end('{}') },
    };
    const browser = app.browser();
    expect((await signInWith(browser, 'github')).headers.location).toBe('/done');
    expect((await browser.get('/auth/me').expect(200)).body.user.email).toBeNull();
  });

  test('(GitHub) not fail to return the emails or the profile', async () => {
    for (const lie of [{ emails: answers.failure }, { userinfo: answers.failure }]) {
      provider.lies = { ...plain, userinfo: { id: 7 }, answers: lie };
      expect((await signInWith(app.browser(), 'github')).headers.location).toBe('/done?error=provider_error');
    }
  });

  test('have a clock that is wrong by a few seconds, but not more', async () => {
    const ends = async (seconds: number) => {
      provider.lies = { claims: { iat: now() - 60, exp: now() - seconds } };
      return (await signInWith(app.browser(), 'oidc')).headers.location;
    };
    expect(await ends(2)).toBe('/done');
    expect(await ends(8)).toBe('/done?error=provider_error');
  });
});
