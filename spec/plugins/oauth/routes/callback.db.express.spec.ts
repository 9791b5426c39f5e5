import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { oauth } from '../../../../lib/index.js';
import { ada, sessionCookie, signedIn } from '../../../support/app.js';
import { rows } from '../../../support/database.js';
import {
  begin,
  countRows,
  type OAuthApp,
  oidcPlugin,
  pathOf,
  signInWith,
  startOAuthApp,
  startWithOidc,
} from '../../../support/oauth-app.js';
import { type OidcServer, visitProvider } from '../../../support/oidc.js';
import { expectProblem } from '../../../support/problem.js';

describe('GET /oauth/:provider/callback', () => {
  let app: OAuthApp;
  let provider: OidcServer;
  beforeAll(async () => {
    ({ app, provider } = await startWithOidc());
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });
  let people = 0;
  beforeEach(() => {
    const sub = `person-${++people}`;
    provider.person = { sub, email: `${sub}@example.com`, email_verified: true };
    provider.declines = false;
  });

  const authorize = '/auth/oauth/oidc/authorize';

  /** Starts a flow and returns its cookie. */
  const cookiesOf = async (browser: ReturnType<OAuthApp['browser']>) =>
    String((await browser.get(authorize).expect(302)).headers['set-cookie']).split(';')[0] ?? '';

  test('creates a new user, signs them in and redirects to callback_url', async () => {
    const browser = app.browser();
    const response = await signInWith(browser, 'oidc', '/welcome?tab=1#top');
    expect(response.status).toBe(303);
    expect(response.headers.location).toBe('/welcome?tab=1#top');
    expect(response.headers['referrer-policy']).toBe('no-referrer');
    expect(response.headers['cache-control']).toBe('no-store');
    expect(sessionCookie(response)?.attributes).toEqual(['Path=/', 'HttpOnly', 'SameSite=Lax']);
    const { body } = await browser.get('/auth/me').expect(200);
    expect(body.user).toMatchObject({ email: provider.person.email });
    expect(body.user.email_verified_at).toEqual(expect.any(String));
  });

  test('signs an existing user in and stores the new tokens', async () => {
    await signInWith(app.browser(), 'oidc');
    const before = await countRows(app.database);
    const browser = app.browser();
    const device = sessionCookie(await signInWith(browser, 'oidc'), 'latchkey-device');
    expect(device?.attributes).toEqual(['Max-Age=7776000', 'Path=/', 'HttpOnly', 'SameSite=Lax']);
    expect(await countRows(app.database)).toEqual({ ...before, sessions: before.sessions + 1 });
    await browser.get('/auth/me').expect(200);
    // The browser keeps its device at the next sign-in.
    expect(sessionCookie(await signInWith(browser, 'oidc'), 'latchkey-device')).toEqual(device);
  });

  test('redirects to / without a callback_url', async () => {
    const browser = app.browser();
    const response = await browser.get(pathOf(await visitProvider(await begin(browser, authorize))));
    expect(response.headers.location).toBe('/');
  });

  test('creates a new session and ends the browser’s previous one', async () => {
    const browser = await signedIn(app, { ...ada, email: `${provider.person.sub}-old@example.com` });
    const { body: before } = await browser.get('/auth/me');
    await signInWith(browser, 'oidc');
    const { body: after } = await browser.get('/auth/me').expect(200);
    expect(after.user.id).not.toBe(before.user.id);
    const left = await rows(app.database, 'SELECT id FROM sessions WHERE id = :id', {
      id: before.session.id,
    });
    expect(left).toEqual([]);
  });

  test('supports flows in two tabs of one browser at the same time', async () => {
    const browser = app.browser();
    const first = await visitProvider(await begin(browser, authorize, { callback_url: '/first' }));
    const second = await visitProvider(await begin(browser, authorize, { callback_url: '/second' }));
    expect((await browser.get(pathOf(second))).headers.location).toBe('/second');
    expect((await browser.get(pathOf(first))).headers.location).toBe('/first');
  });

  test('supports tabs that start a flow at the same time, before the browser has any cookie', async () => {
    const browser = app.browser();
    const paths = Array.from({ length: 8 }, (_, n) => `/tab-${n}`);
    const urls = await Promise.all(paths.map((path) => begin(browser, authorize, { callback_url: path })));
    const backs: string[] = [];
    for (const url of urls) backs.push(pathOf(await visitProvider(url)));
    const responses = await Promise.all(backs.map((back) => browser.get(back)));
    expect(responses.map(({ headers }) => headers.location)).toEqual(paths);
    // Each return removes its own cookie, and nobody else can return with it.
    for (const response of responses) {
      const [cookie = ''] = (response.headers['set-cookie'] as unknown as string[]).filter((line) =>
        line.startsWith('latchkey-flow-'),
      );
      expect(cookie).toMatch(/^latchkey-flow-[\w-]{16}=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/);
    }
    for (const back of backs) expectProblem(await browser.get(back), 400, 'invalid_flow');
  });

  test('keeps at most 16 flows of a browser, the newest ones', async () => {
    const browser = app.browser();
    const backs: string[] = [];
    while (backs.length < 18) backs.push(pathOf(await visitProvider(await begin(browser, authorize))));
    for (const back of backs.slice(0, 2)) expectProblem(await browser.get(back), 400, 'invalid_flow');
    for (const back of [backs[2], backs.at(-1)]) await browser.get(back ?? '').expect(303);
  });

  test('accepts a flow once, even with 16 concurrent requests and a later one', async () => {
    const browser = app.browser();
    const back = pathOf(await visitProvider(await begin(browser, authorize)));
    const responses = await Promise.all(Array.from({ length: 16 }, () => browser.get(back)));
    expect(responses.filter(({ status }) => status === 303)).toHaveLength(1);
    const refused = responses.filter(({ status }) => status !== 303);
    expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set(['invalid_flow']));
    expect((await browser.get(back)).body).toMatchObject({ status: 400, code: 'invalid_flow' });
  });

  test('rejects HEAD, which would use up the flow', async () => {
    const browser = app.browser();
    const back = pathOf(await visitProvider(await begin(browser, authorize)));
    const { headers } = await browser.head(back).expect(405);
    expect(headers.allow).toBe('GET, POST');
    await browser.get(back).expect(303);
  });

  test('rejects another browser, which cannot use up the flow either', async () => {
    const browser = app.browser();
    const back = pathOf(await visitProvider(await begin(browser, authorize)));
    const stranger = app.browser();
    await begin(stranger, authorize);
    for (const other of [stranger, app.browser()]) {
      const response = await other.get(back).expect(400);
      expect(response.body.code).toBe('invalid_flow');
      expect(response.headers['set-cookie']).toBeUndefined();
    }
    const [cookie] = (await cookiesOf(app.browser())).split('=');
    for (const name of ['latchkey-flow', cookie]) {
      const tossed = `${name}=${'a'.repeat(43)}; ${name}=${'b'.repeat(43)}`;
      await app.http.get(back).set('Cookie', tossed).expect(400);
    }
    await browser.get(back).expect(303);
  });

  test('rejects an expired flow', async () => {
    const browser = app.browser();
    const back = pathOf(await visitProvider(await begin(browser, authorize)));
    await rows(app.database, 'UPDATE oauth_flows SET expires_at = :past', {
      past: '2020-01-01 00:00:00.000',
    });
    expect((await browser.get(back).expect(400)).body.code).toBe('invalid_flow');
  });

  test('reports to the page that the user declined', async () => {
    provider.declines = true;
    const before = await countRows(app.database);
    const response = await signInWith(app.browser(), 'oidc', '/done?tab=1#top');
    expect(response.status).toBe(303);
    expect(response.headers.location).toBe('/done?tab=1&error=access_denied#top');
    expect(sessionCookie(response)).toBeUndefined();
    expect(await countRows(app.database)).toEqual(before);
  });

  test.each([
    ['an empty query', ''],
    ['a missing state', '?code=abc'],
    ['an empty state', '?code=abc&state='],
    ['an unknown state', `?code=abc&state=${'x'.repeat(43)}`],
    ['a state twice', '?code=abc&state=a&state=b', 'invalid_request'],
    ['an error and no state', '?error=access_denied'],
    ['a NUL', '?code=%00&state=%00'],
    ['the name of a prototype', '?__proto__=x&constructor=y&state=z'],
  ])('responds with 400 to %s', async (_what, query, code = 'invalid_flow') => {
    const browser = app.browser();
    await begin(browser, authorize);
    const { body, headers } = await browser.get(`/auth/oauth/oidc/callback${query}`).expect(400);
    expect(body.code).toBe(code);
    expect(headers['referrer-policy']).toBe('no-referrer');
  });

  test.each([
    ['without an errorUrl', {}, '/?error=invalid_flow'],
    ['a path', { errorUrl: '/sign-in?from=provider#top' }, '/sign-in?from=provider&error=invalid_flow#top'],
    ['a trusted origin', { errorUrl: 'https://www.example/in' }, 'https://www.example/in?error=invalid_flow'],
  ])('without a valid flow redirects browsers to a page: %s', async (_what, options, location) => {
    const lost = await startOAuthApp({
      providers: () => [oidcPlugin(provider)],
      options,
      config: { trustedOrigins: ['https://www.example'] },
    });
    const path = '/auth/oauth/oidc/callback';
    for (const call of [
      () => lost.http.get(`${path}?code=abc&state=${'x'.repeat(43)}`),
      () => lost.http.get(path),
      () =>
        lost.http
          .post(path)
          .type('form')
          .send({ code: 'abc', state: 'x' })
          .set('Sec-Fetch-Site', 'cross-site'),
    ]) {
      const browser = await call().set('Accept', 'text/html,application/xhtml+xml,*/*;q=0.8').expect(303);
      expect(browser.headers.location).toBe(location);
      expect(browser.headers['set-cookie']).toBeUndefined();
      for (const accept of ['*/*', 'application/json', 'text/*'])
        expectProblem(await call().set('Accept', accept), 400, 'invalid_flow');
    }
    await lost.http.get('/auth/oauth/nobody/callback').set('Accept', 'text/html').expect(404);
    await lost.stop();
  });

  test.each([
    ['another origin', 'https://evil.example/'],
    ['another origin without a scheme', '//evil.example'],
    ['a backslash', '/\\evil.example'],
    ['a script', 'javascript:alert(1)'],
    ['nothing', ''],
    ['no text', 7 as never],
  ])('is refused at the start with an errorUrl of %s', async (_what, errorUrl) => {
    expect(() => app.another({ plugins: [oauth({ errorUrl }), oidcPlugin(provider)] as never })).toThrow(
      /^latchkey: oauth: errorUrl must be a path of this app, or a URL/,
    );
  });

  test('responds with 404 to unknown providers', async () => {
    for (const name of ['nobody', '__proto__', 'constructor', 'OIDC']) {
      const { body } = await app.http.get(`/auth/oauth/${name}/callback?state=x`).expect(404);
      expect(body.code).toBe('provider_not_found');
    }
  });

  test('also returns the session token in a header if bearer is on', async () => {
    const bearer = await startWithOidc({ config: { bearerEnabled: true } });
    const response = await signInWith(bearer.app.browser(), 'oidc');
    const token = response.headers['set-auth-token'];
    expect(response.headers['access-control-expose-headers']).toBe('Set-Auth-Token');
    await bearer.app.http.get('/auth/oauth/accounts').set('Authorization', `Bearer ${token}`).expect(200);
    await bearer.app.stop();
    await bearer.provider.stop();
  });

  test('signs the user in even if the browser sends a session that has ended', async () => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    const { body } = await browser.get('/auth/me').expect(200);
    await app.auth.revokeAllSessions(body.user.id);
    await browser.get('/auth/oauth/oidc/link').expect(401);
    expect((await signInWith(browser, 'oidc')).status).toBe(303);
    await browser.get('/auth/me').expect(200);
  });
});
