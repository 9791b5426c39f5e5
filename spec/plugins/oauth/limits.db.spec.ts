import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ada, sessionCookie } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { type LyingProvider, startLyingProvider } from '../../support/lying-provider.js';
import {
  begin,
  countRows,
  type OAuthApp,
  oidcPlugin,
  pathOf,
  signInWith,
  startOAuthApp,
} from '../../support/oauth-app.js';
import { visitProvider } from '../../support/oidc.js';
import { expectProblem } from '../../support/problem.js';

const AUTHORIZE = '/auth/oauth/oidc/authorize';
const rule = (limit: number) => ({ limit, window: 3600 });

describe('the limits by address', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  beforeAll(async () => {
    provider = await startLyingProvider();
    app = await startOAuthApp({
      providers: () => [oidcPlugin(provider)],
      config: { rateLimit: { signIn: rule(6), signUp: rule(2) } },
    });
  });
  beforeEach(async () => {
    for (const table of ['users', 'rate_limits', 'oauth_flows'])
      await rows(app.database, `DELETE FROM ${table}`);
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  const as = (sub: string) => {
    provider.lies = { claims: { sub, email: null } };
  };

  test('count sign-ins with a provider together with those with a password, exactly', async () => {
    const wrong = { credential: ada.email, password: 'not this one' };
    await app.http.post('/auth/signin/credential').send(wrong).expect(401);
    const responses = await Promise.all(Array.from({ length: 16 }, () => app.http.get(AUTHORIZE)));
    expect(responses.filter(({ status }) => status === 302)).toHaveLength(5);
    const refused = responses.filter(({ status }) => status !== 302);
    for (const response of refused) {
      expectProblem(response, 429, 'rate_limited');
      expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
      expect(response.headers['set-cookie']).toBeUndefined();
    }
    expect(await rows(app.database, 'SELECT provider FROM oauth_flows')).toHaveLength(5);
    await app.http.post('/auth/signin/credential').send(wrong).expect(429);
  });

  test('do not count requests that are refused anyway', async () => {
    for (let n = 0; n < 10; n++) {
      await app.http.get(`${AUTHORIZE}?callback_url=//evil.example`).expect(400);
      await app.http.get('/auth/oauth/nobody/authorize').expect(404);
      await app.http.get(AUTHORIZE).set('Sec-Fetch-Site', 'cross-site').expect(403);
    }
    await app.http.get(AUTHORIZE).expect(302);
  });

  test('count programmatic calls only with an address', async () => {
    for (let n = 0; n < 10; n++) await app.auth.oauth.authorizeUrl('oidc');
    for (let n = 0; n < 6; n++) await app.auth.oauth.authorizeUrl('oidc', { ip: '192.0.2.7' });
    await expect(app.auth.oauth.authorizeUrl('oidc', { ip: '192.0.2.7' })).rejects.toMatchObject({
      code: 'rate_limited',
    });
  });

  test('count new users of a provider together with sign-ups', async () => {
    await app.http.post('/auth/signup/credential').send(ada).expect(201);
    as('first');
    expect((await signInWith(app.browser(), 'oidc')).headers.location).toBe('/done');
    as('second');
    const before = await countRows(app.database);
    const response = await signInWith(app.browser(), 'oidc');
    expect([response.status, response.headers.location]).toEqual([303, '/done?error=rate_limited']);
    expect(sessionCookie(response)).toBeUndefined();
    expect(await countRows(app.database)).toEqual(before);
    // Known users can still sign in.
    as('first');
    expect((await signInWith(app.browser(), 'oidc')).headers.location).toBe('/done');
    await app.http
      .post('/auth/signup/credential')
      .send({ ...ada, email: 'grace@example.com' })
      .expect(429);
  });

  test('count each new user once, however many of their callbacks race', async () => {
    as('racer');
    const browsers = Array.from({ length: 2 }, () => app.browser());
    const backs = await Promise.all(
      browsers.map(async (browser) => pathOf(await visitProvider(await begin(browser, AUTHORIZE)))),
    );
    const responses = await Promise.all(browsers.map((browser, n) => browser.get(backs[n] ?? '')));
    expect(responses.map(({ headers }) => headers.location)).toEqual(['/', '/']);
  });
});
