import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sessionCookie } from '../../../support/app.js';
import { rows } from '../../../support/database.js';
import { freePort } from '../../../support/free-port.mjs';
import {
  begin,
  type OAuthApp,
  oidcPlugin,
  signInWith,
  startOAuthApp,
  startWithOidc,
  travel,
} from '../../../support/oauth-app.js';
import { CLIENT, type OidcServer, startOidcServer } from '../../../support/oidc.js';
import { expectProblem } from '../../../support/problem.js';
import { withClockAhead } from '../../../support/wrong-clock.js';

const AUTHORIZE = '/auth/oauth/oidc/authorize';

describe('GET /oauth/:provider/authorize', () => {
  let app: OAuthApp;
  let provider: OidcServer;
  const servers: OidcServer[] = [];
  beforeAll(async () => {
    ({ app, provider } = await startWithOidc());
  });
  afterAll(async () => {
    await app.stop();
    for (const one of [provider, ...servers]) await one.stop();
  });

  test('redirects the browser to the provider with PKCE, state and nonce', async () => {
    const response = await app.http.get(AUTHORIZE).expect(302);
    const url = new URL(response.headers.location ?? '');
    expect(url.origin).toBe(provider.issuer);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: CLIENT.clientId,
      redirect_uri: `${app.origin}/auth/oauth/oidc/callback`,
      scope: 'openid email profile',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(response.headers['cache-control']).toBe('no-store');
  });

  test('requests consent with offline_access, which has no effect otherwise (OpenID Connect Core 1.0, 11)', async () => {
    const scopes = ['openid', 'offline_access'];
    const offline = await startWithOidc({
      async providers(redirectUri) {
        const other = await startOidcServer([redirectUri('offline')]);
        servers.push(other);
        return [oidcPlugin(other, { id: 'offline', scopes })];
      },
    });
    const url = new URL(await begin(offline.app.browser(), '/auth/oauth/offline/authorize'));
    expect(url.searchParams.get('prompt')).toBe('consent');
    const browser = offline.app.browser();
    await signInWith(browser, 'offline');
    const { body } = await browser.get('/auth/oauth/offline/tokens').expect(200);
    expect(body.scopes).toContain('offline_access');
    const plain = new URL(await begin(offline.app.browser(), AUTHORIZE));
    expect(plain.searchParams.has('prompt')).toBe(false);
    await offline.app.stop();
    await offline.provider.stop();
  });

  test('binds the flow to the browser with a cookie of its own', async () => {
    const cookieOf = async () => {
      const response = await app.http.get(AUTHORIZE).expect(302);
      return String(response.headers['set-cookie']);
    };
    const [first, second] = [await cookieOf(), await cookieOf()];
    expect(first).toMatch(
      /^latchkey-flow-[\w-]{16}=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect(second.split('=')[0]).not.toBe(first.split('=')[0]);
  });

  test('creates new secrets for each flow, and stores only hashes or encrypted values of them', async () => {
    const urls = [await begin(app.browser(), AUTHORIZE), await begin(app.browser(), AUTHORIZE)];
    const values = urls.flatMap((url) => {
      const { searchParams } = new URL(url);
      return ['state', 'nonce', 'code_challenge'].map((name) => searchParams.get(name) ?? '');
    });
    expect(new Set(values).size).toBe(6);
    const stored = JSON.stringify(await rows(app.database, 'SELECT * FROM oauth_flows'));
    for (const value of values) expect(stored).not.toContain(value);
    const digest = createHash('sha256')
      .update(values[0] ?? '')
      .digest();
    const hashes = await rows<{ state_hash: Buffer }>(app.database, 'SELECT state_hash FROM oauth_flows');
    expect(hashes.some(({ state_hash }) => digest.equals(state_hash))).toBe(true);
  });

  test.each([
    ['application/json', 200],
    ['application/json, text/html;q=0.5', 200],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 302],
    ['*/*', 302],
    ['text/html, application/json', 302],
  ])('responds to Accept: %s with %i', async (accept, status) => {
    const response = await app.http.get(AUTHORIZE).set('Accept', accept).expect(status);
    expect(response.headers['set-cookie']?.[0]).toMatch(/^latchkey-flow-/);
    if (status === 200) {
      expect(Object.keys(response.body)).toEqual(['url']);
      expect(response.body.url).toContain(`${provider.issuer}/auth?`);
      expect(response.headers.location).toBeUndefined();
    }
  });

  test('rejects a request from a page of another site', async () => {
    const { body, headers } = await app.http.get(AUTHORIZE).set('Sec-Fetch-Site', 'cross-site').expect(403);
    expect(body.code).toBe('origin_not_allowed');
    expect(headers['set-cookie']).toBeUndefined();
    for (const site of ['same-origin', 'same-site', 'none'])
      await app.http.get(AUTHORIZE).set('Sec-Fetch-Site', site).expect(302);
  });

  test.each([
    ['a link in an email or on another site', 'navigate', 'document', 302],
    ['a frame of another site', 'navigate', 'iframe', 403],
    ['an embedded object of another site', 'navigate', 'object', 403],
    ['an image of another site', 'no-cors', 'image', 403],
    ['a script of another site', 'cors', 'empty', 403],
    ['a document that is not a navigation', 'no-cors', 'document', 403],
  ])('answers %s (%s, %s) with %i', async (_what, mode, destination, status) => {
    const headers = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': mode, 'Sec-Fetch-Dest': destination };
    await app.http.get(AUTHORIZE).set(headers).expect(status);
    // Links and reauthentications act on a session, so they are never started from another site.
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    for (const action of ['link', 'reauthenticate'])
      expectProblem(await browser.get(`/auth/oauth/oidc/${action}`).set(headers), 403, 'origin_not_allowed');
  });

  test('passes login_hint on to the provider', async () => {
    const hint = 'ada+work@example.com';
    const url = new URL(await begin(app.browser(), AUTHORIZE, { login_hint: hint }));
    expect(url.searchParams.get('login_hint')).toBe(hint);
    for (const bad of ['', 'x'.repeat(321), 'a\0b'])
      expectProblem(await app.http.get(AUTHORIZE).query({ login_hint: bad }), 400, 'invalid_request');
    // The URL parser replaces ill-formed Unicode, so it can only come from code.
    for (const bad of ['\ud800', '', 'x'.repeat(321), 7 as never])
      await expect(app.auth.oauth.authorizeUrl('oidc', { loginHint: bad })).rejects.toMatchObject({
        code: 'invalid_request',
      });
  });

  test('makes the session a remembered one with remember_me=true', async () => {
    const attributesOf = async (query: Record<string, string>) =>
      sessionCookie(await travel(app.browser(), AUTHORIZE, query))?.attributes.join('; ');
    expect(await attributesOf({ remember_me: 'true' })).toMatch(/Max-Age=25920\d\d; .*Expires=/);
    for (const query of [{}, { remember_me: 'false' }] as Record<string, string>[])
      expect(await attributesOf(query)).toBe('Path=/; HttpOnly; SameSite=Lax');
    for (const remember_me of ['', '1', 'TRUE'])
      expectProblem(await app.http.get(AUTHORIZE).query({ remember_me }), 400, 'invalid_request');
  });

  test('responds with 404 to unknown providers', async () => {
    for (const name of ['nobody', '__proto__', 'constructor', 'toString', 'OIDC', '%00']) {
      const { body } = await app.http.get(`/auth/oauth/${name}/authorize`).expect(404);
      expect(body.code).toBe('provider_not_found');
    }
  });

  test('takes the redirect URI from the config, and ignores the headers of the request', async () => {
    const response = await app.http
      .get(AUTHORIZE)
      .set({ Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https' })
      .set('Forwarded', 'host=evil.example')
      .expect(302);
    expect(new URL(response.headers.location ?? '').searchParams.get('redirect_uri')).toBe(
      `${app.origin}/auth/oauth/oidc/callback`,
    );
  });

  test('responds with 502 while the provider is down, and recovers automatically', async () => {
    const port = await freePort();
    const away = { issuer: `http://127.0.0.1:${port}` };
    const lonely = await startOAuthApp({ providers: () => [oidcPlugin(away)] });
    const { body, headers } = await lonely.http.get(AUTHORIZE).expect(502);
    expect(body.code).toBe('provider_error');
    expect(headers['set-cookie']).toBeUndefined();
    expect(await rows(lonely.database, 'SELECT provider FROM oauth_flows')).toEqual([]);
    const back = await startOidcServer([`${lonely.origin}/auth/oauth/oidc/callback`], port);
    // A failure is remembered for a few seconds.
    await withClockAhead(3000, async () => {
      await lonely.http.get(AUTHORIZE).expect(302);
    });
    await lonely.stop();
    await back.stop();
  });

  test('sets the flow cookie with the prefix __Host- if baseUrl is https', async () => {
    const secure = await startOAuthApp({
      providers: () => [oidcPlugin(provider)],
      config: { baseUrl: 'https://app.example', httpBasePath: '/v1/auth' },
    });
    const { headers } = await secure.http.get('/auth/v1/auth/oauth/oidc/authorize').expect(302);
    expect(headers['set-cookie']?.[0]).toMatch(/^__Host-latchkey-flow-.*; HttpOnly; Secure; SameSite=Lax$/);
    expect(new URL(headers.location ?? '').searchParams.get('redirect_uri')).toBe(
      'https://app.example/v1/auth/oauth/oidc/callback',
    );
    await secure.stop();
  });
});
