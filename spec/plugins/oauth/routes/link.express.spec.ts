import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { ada, sessionCookie, signedIn } from '../../../support/app.js';
import { rows } from '../../../support/database.js';
import { type LyingProvider, startLyingProvider } from '../../../support/lying-provider.js';
import {
  begin,
  countRows,
  linkWith,
  type OAuthApp,
  oidcPlugin,
  pathOf,
  signInWith,
  startOAuthApp,
} from '../../../support/oauth-app.js';
import { visitProvider } from '../../../support/oidc.js';

const LINK = '/auth/oauth/oidc/link';
const grace = { email: 'grace@example.com', password: 'a nanosecond of wire' };

describe('GET /oauth/:provider/link', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  beforeAll(async () => {
    provider = await startLyingProvider();
    app = await startOAuthApp({
      providers: () => [oidcPlugin(provider), oidcPlugin(provider, { id: 'twin' })],
      config: { bearerEnabled: true },
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

  test('links an account and keeps the session', async () => {
    const browser = await signedIn(app);
    const response = await linkWith(browser, 'oidc');
    expect([response.status, response.headers.location]).toEqual([303, '/linked']);
    expect(sessionCookie(response)).toBeUndefined();
    const { body } = await browser.get('/auth/oauth/accounts').expect(200);
    expect(body.accounts).toEqual([
      {
        provider: 'oidc',
        provider_account_id: 'ada',
        scopes: ['openid', 'email'],
        access_token_expires_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
        created_at: expect.stringMatching(/\.\d{3}Z$/),
        updated_at: expect.stringMatching(/\.\d{3}Z$/),
      },
    ]);
    expect(await countRows(app.database)).toEqual({ users: 1, accounts: 1, sessions: 1 });
  });

  test('requires a known provider and a page of the app', async () => {
    const browser = await signedIn(app);
    expect((await browser.get('/auth/oauth/nobody/link').expect(404)).body.code).toBe('provider_not_found');
    expect((await browser.get(`${LINK}?callback_url=//x`).expect(400)).body.code).toBe(
      'invalid_callback_url',
    );
  });

  test('returns the URL to a script that prefers JSON', async () => {
    const browser = await signedIn(app);
    const { body } = await browser.get(LINK).set('Accept', 'application/json').expect(200);
    expect(body.url).toContain(`${provider.issuer}/authorize?`);
  });

  test('must be completed in the session that started it', async () => {
    const browser = await signedIn(app);
    const back = async () => pathOf(await visitProvider(await begin(browser, LINK)));
    const [first, second, third] = [await back(), await back(), await back()];
    // Another user signs in with the same browser.
    await app.http.post('/auth/signup/credential').send(grace).expect(201);
    await browser
      .post('/auth/signin/credential')
      .send({ credential: grace.email, password: grace.password })
      .expect(200);
    expect((await browser.get(first).expect(400)).body.code).toBe('invalid_flow');
    // Another session of the same user is rejected too.
    await browser
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: ada.password })
      .expect(200);
    expect((await browser.get(second).expect(400)).body.code).toBe('invalid_flow');
    await browser.post('/auth/signout').expect(204);
    const response = await browser.get(third).expect(400);
    expect(response.body.code).toBe('invalid_flow');
    expect(sessionCookie(response)).toBeUndefined();
    expect((await countRows(app.database)).accounts).toBe(0);
  });

  /** Ends all sessions of the user during the request to the provider. */
  function endSessionsMeanwhile(userId: string) {
    provider.lies = {
      answers: {
        async userinfo(_req, res) {
          await app.auth.revokeAllSessions(userId);
          res.writeHead(200, { 'content-type': 'application/json' }).end('{"sub":"ada"}');
        },
      },
    };
  }

  test('links nothing if the session ends during the flow', async () => {
    const browser = await signedIn(app);
    const { body } = await browser.get('/auth/me').expect(200);
    endSessionsMeanwhile(body.user.id);
    const response = await linkWith(browser, 'oidc', '/linked?tab=1');
    expect([response.status, response.headers.location]).toEqual([303, '/linked?tab=1&error=invalid_flow']);
    expect((await countRows(app.database)).accounts).toBe(0);
  });

  test('does not change the stored tokens if the session ends during the flow', async () => {
    const browser = await signedIn(app);
    const { body } = await browser.get('/auth/me').expect(200);
    await linkWith(browser, 'oidc');
    const before = await app.auth.oauth.tokens(body.user.id, 'oidc');
    endSessionsMeanwhile(body.user.id);
    expect((await linkWith(browser, 'oidc')).headers.location).toBe('/linked?error=invalid_flow');
    expect(await app.auth.oauth.tokens(body.user.id, 'oidc')).toEqual(before);
  });

  test('must be completed with the provider that started it (mix-up)', async () => {
    const browser = await signedIn(app);
    for (const path of [LINK, '/auth/oauth/oidc/authorize']) {
      const back = await visitProvider(await begin(browser, path));
      const { body } = await browser.get(pathOf(back).replace('/oidc/', '/twin/')).expect(400);
      expect(body.code).toBe('invalid_flow');
      await browser.get(pathOf(back)).expect(303);
    }
  });

  test('stores new tokens if it is repeated, and creates no second account', async () => {
    const browser = await signedIn(app);
    await linkWith(browser, 'oidc');
    const before = (await browser.get('/auth/oauth/oidc/tokens').expect(200)).body;
    expect((await linkWith(browser, 'oidc')).headers.location).toBe('/linked');
    const after = (await browser.get('/auth/oauth/oidc/tokens').expect(200)).body;
    expect(after.access_token).not.toBe(before.access_token);
    expect((await countRows(app.database)).accounts).toBe(1);
  });

  test('does not link an account that is linked to another user', async () => {
    await linkWith(await signedIn(app), 'oidc');
    const browser = await signedIn(app, grace);
    const response = await linkWith(browser, 'oidc');
    expect(response.headers.location).toBe('/linked?error=account_linked_elsewhere');
    expect((await browser.get('/auth/oauth/accounts')).body.accounts).toEqual([]);
  });

  test('links only one account per provider', async () => {
    const browser = await signedIn(app);
    await linkWith(browser, 'oidc');
    provider.lies = { claims: { sub: 'another' } };
    const response = await linkWith(browser, 'oidc');
    expect(response.headers.location).toBe('/linked?error=provider_already_linked');
    const { body } = await browser.get('/auth/oauth/accounts');
    expect(body.accounts.map((one: { provider_account_id: string }) => one.provider_account_id)).toEqual([
      'ada',
    ]);
  });

  test('links only one account per provider, even with concurrent callbacks', async () => {
    const browser = await signedIn(app);
    const backs: string[] = [];
    while (backs.length < 4) backs.push(await visitProvider(await begin(browser, LINK)));
    let n = 0;
    provider.lies = {
      get claims() {
        return { sub: `subject ${n++}` };
      },
    };
    const responses = await Promise.all(backs.map((back) => browser.get(pathOf(back))));
    const locations = responses.map(({ headers }) => headers.location).sort();
    expect(locations).toEqual(['/', ...Array(3).fill('/?error=provider_already_linked')]);
    expect((await countRows(app.database)).accounts).toBe(1);
  });

  test('does not give a stranger access to the account with the same email', async () => {
    // The provider has verified the email, and it belongs to another account.
    await signedIn(app);
    const eve = await signedIn(app, grace);
    expect((await linkWith(eve, 'oidc')).headers.location).toBe('/linked');
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    expect((await browser.get('/auth/me')).body.user.email).toBe(grace.email);
  });

  test('works for a client that uses a bearer token', async () => {
    await app.http.post('/auth/signup/credential').send(ada).expect(201);
    const { headers } = await app.http
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: ada.password });
    const bearer = { Authorization: `Bearer ${headers['set-auth-token']}` };
    const redirect = await app.http.get(LINK).set(bearer).set('Accept', 'application/json').expect(200);
    const cookie = String(redirect.headers['set-cookie']?.[0]).split(';')[0] ?? '';
    const back = pathOf(await visitProvider(redirect.body.url));
    await app.http.get(back).set(bearer).set('Cookie', cookie).expect(303);
    const { body } = await app.http.get('/auth/oauth/oidc/tokens').set(bearer).expect(200);
    expect(body.access_token).toMatch(/^provider-access/);
  });
});
