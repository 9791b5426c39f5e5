import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Request, Response } from 'express';
import { type AuthEvents, authRouter, requireSession } from '../../../../lib/index.js';
import { oauth2 } from '../../../../lib/providers.js';
import { signedIn } from '../../../support/app.js';
import { rows } from '../../../support/database.js';
import { type LyingProvider, startLyingProvider } from '../../../support/lying-provider.js';
import {
  type Browser,
  begin,
  linkWith,
  type OAuthApp,
  type OAuthAppOptions,
  oidcPlugin,
  pathOf,
  signInWith,
  startWithOidc,
  travel,
} from '../../../support/oauth-app.js';
import { CLIENT, type OidcServer, visitProvider } from '../../../support/oidc.js';
import { expectProblem } from '../../../support/problem.js';

const REAUTHENTICATE = '/auth/oauth/oidc/reauthenticate';
const now = () => Math.floor(Date.now() / 1000);

const mount: OAuthAppOptions['mount'] = (app, auth) => {
  app.use('/auth', authRouter(auth));
  app.get('/danger', requireSession(auth, { freshWithin: 300 }), (_req: Request, res: Response) => {
    res.json({});
  });
};

let app: OAuthApp;
let provider: OidcServer;
let lying: LyingProvider;
const failed: AuthEvents['sign_in.failed'][] = [];
beforeAll(async () => {
  lying = await startLyingProvider();
  const url = (path: string) => `${lying.issuer}/${path}`;
  const plain = { authorizationUrl: url('authorize'), tokenUrl: url('token'), userinfoUrl: url('userinfo') };
  ({ app, provider } = await startWithOidc({
    providers: () => [oidcPlugin(lying, { id: 'lying' }), oauth2({ id: 'plain', ...CLIENT, ...plain })],
    mount,
  }));
  app.auth.on('sign_in.failed', (event) => failed.push(event));
});
afterEach(async () => {
  lying.lies = {};
  failed.length = 0;
  provider.person = { sub: 'ada', email: 'ada@example.com', email_verified: true };
  await rows(app.database, 'DELETE FROM users');
});
afterAll(async () => {
  await app.stop();
  await provider.stop();
  await lying.stop();
});

const idOf = async (browser: Browser) => (await browser.get('/auth/me').expect(200)).body;
/** Moves the sign-in into the past, while the session stays active. */
async function age(browser: Browser, seconds = 3600) {
  const { session } = await idOf(browser);
  const authenticatedAt = new Date(Date.now() - seconds * 1000);
  await app.auth.models.Session.update({ authenticatedAt }, { where: { id: session.id } });
}
/** Moves the beginning of a session, the user's authentication and the link to this many minutes ago. */
async function putBack(browser: Browser, ago: { session: number; authentication: number; link: number }) {
  const { user, session } = await idOf(browser);
  const at = (minutes: number) => new Date(Math.max(0, Date.now() - minutes * 60_000));
  await app.auth.models.Session.update(
    { createdAt: at(ago.session), authenticatedAt: at(ago.authentication) },
    { where: { id: session.id } },
  );
  await app.auth.models.Account.update({ createdAt: at(ago.link) }, { where: { userId: user.id } });
}
const isFresh = async (browser: Browser) => (await browser.get('/danger')).status === 200;
async function authenticatedAt(browser: Browser) {
  const { session } = await idOf(browser);
  const row = await app.auth.models.Session.findByPk(session.id, { rejectOnEmpty: true });
  return Math.floor((row.get('authenticatedAt') as Date).getTime() / 1000);
}

describe('GET /oauth/:provider/reauthenticate', () => {
  test('makes the session fresh when the provider has asked its user again', async () => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    await age(browser);
    expect(await isFresh(browser)).toBe(false);
    const before = await idOf(browser);
    const url = new URL(await begin(browser, REAUTHENTICATE, { callback_url: '/danger-zone' }));
    expect([url.searchParams.get('max_age'), url.searchParams.get('prompt')]).toEqual(['0', 'login']);
    const response = await browser.get(pathOf(await visitProvider(url.href)));
    expect([response.status, response.headers.location]).toEqual([303, '/danger-zone']);
    expect(await isFresh(browser)).toBe(true);
    // It is the same session, with the same token.
    expect((await idOf(browser)).session.id).toBe(before.session.id);
    expect(response.headers['set-cookie']?.[0]).toMatch(/^latchkey-flow-/);
    expect((await idOf(browser)).session.expires_at).toBe(before.session.expires_at);
    expect(failed).toEqual([]);
  });

  test('returns the URL to a script, and has a programmatic twin', async () => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    await age(browser);
    const { body } = await browser.get(REAUTHENTICATE).set('Accept', 'application/json').expect(200);
    expect(body.url).toContain('max_age=0');
    const { session } = await idOf(browser);
    const { url, setCookie } = await app.auth.oauth.reauthenticateUrl('oidc', session.id);
    const [pair = ''] = (setCookie[0] ?? '').split(';');
    await browser.get(pathOf(await visitProvider(url))).set('Cookie', pair);
    const back = new URL(
      await visitProvider((await app.auth.oauth.reauthenticateUrl('oidc', session.id)).url),
    );
    // Without its cookie, the flow cannot be completed.
    expectProblem(await app.http.get(pathOf(back.href)), 400, 'invalid_flow');
  });

  test('requires a linked account', async () => {
    const browser = await signedIn(app);
    expectProblem(await browser.get(REAUTHENTICATE), 404, 'account_not_linked');
    expectProblem(await browser.get('/auth/oauth/nobody/reauthenticate'), 404, 'provider_not_found');
    await linkWith(browser, 'oidc');
    expectProblem(await browser.get(`${REAUTHENTICATE}?callback_url=//x`), 400, 'invalid_callback_url');
    expectProblem(await browser.get('/auth/oauth/lying/reauthenticate'), 404, 'account_not_linked');
  });

  test('does not accept another account of the provider', async () => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    const { user } = await idOf(browser);
    await age(browser);
    for (const sub of ['eve', 'known']) {
      provider.person = { sub };
      if (sub === 'known') await signInWith(app.browser(), 'oidc');
      const response = await travel(browser, REAUTHENTICATE, { callback_url: '/done' });
      expect(response.headers.location).toBe('/done?error=account_not_linked');
      expect(await isFresh(browser)).toBe(false);
    }
    expect(failed.map(({ userId, provider: id }) => [userId, id])).toEqual(Array(2).fill([user.id, 'oidc']));
    expect((await browser.get('/auth/oauth/accounts')).body.accounts).toHaveLength(1);
  });

  test.each([
    ['no auth_time', () => ({}), 'reauthentication_required'],
    ['an auth_time before the flow', () => ({ auth_time: now() - 60 }), 'reauthentication_required'],
    // Such as one in milliseconds: every earlier sign-in would look like a new one.
    ['an auth_time in the future', () => ({ auth_time: now() + 600 }), 'reauthentication_required'],
    ['an absurd auth_time', () => ({ auth_time: 1e300 }), 'reauthentication_required'],
    ['an auth_time of text', () => ({ auth_time: String(now()) }), 'provider_error'],
    ['a negative auth_time', () => ({ auth_time: -1e12 }), 'provider_error'],
  ])('does not accept %s', async (_what, claims, code) => {
    const browser = app.browser();
    await signInWith(browser, 'lying');
    await age(browser);
    lying.lies = { claims: claims() };
    const response = await travel(browser, '/auth/oauth/lying/reauthenticate', { callback_url: '/done' });
    expect(response.headers.location).toBe(`/done?error=${code}`);
    expect(await isFresh(browser)).toBe(false);
    expect(failed).toHaveLength(1);
  });

  test.each([
    ['by a clock that is slightly behind', () => now() - 3, (at: number) => at],
    ['by a clock that is ahead', () => now() + 60, () => now()],
  ])('makes the session as fresh as auth_time says, %s', async (_what, claim, expected) => {
    const browser = app.browser();
    await signInWith(browser, 'lying');
    await age(browser);
    const auth_time = claim();
    lying.lies = { claims: { auth_time } };
    const response = await travel(browser, '/auth/oauth/lying/reauthenticate');
    expect(response.headers.location).toBe('/');
    const at = await authenticatedAt(browser);
    expect(at).toBeGreaterThan(expected(auth_time) - 10);
    expect(at).toBeLessThanOrEqual(expected(auth_time));
  });

  test('does not accept an account that was linked when the session was no longer fresh', async () => {
    const browser = await signedIn(app);
    await linkWith(browser, 'lying');
    await putBack(browser, { session: 60, authentication: 60, link: 49 });
    lying.lies = { claims: { auth_time: now() } };
    const response = await travel(browser, '/auth/oauth/lying/reauthenticate', { callback_url: '/done' });
    expect(response.headers.location).toBe('/done?error=reauthentication_required');
    expect(await isFresh(browser)).toBe(false);
  });

  test('accepts an account that was linked soon after the sign-in', async () => {
    const browser = await signedIn(app);
    await linkWith(browser, 'lying');
    await putBack(browser, { session: 60, authentication: 60, link: 51 });
    lying.lies = { claims: { auth_time: now() } };
    await travel(browser, '/auth/oauth/lying/reauthenticate');
    expect(await isFresh(browser)).toBe(true);
  });

  test.each([
    ['in', 1, false],
    ['before', 3, true],
  ])(
    'of an account that was linked %s a session whose user never authenticated',
    async (_when, link, counts) => {
      const browser = await signedIn(app);
      await linkWith(browser, 'lying');
      await putBack(browser, { session: 2, authentication: Infinity, link });
      lying.lies = { claims: { auth_time: now() } };
      const response = await travel(browser, '/auth/oauth/lying/reauthenticate', { callback_url: '/done' });
      expect(response.headers.location).toBe(counts ? '/done' : '/done?error=reauthentication_required');
      expect(await isFresh(browser)).toBe(counts);
    },
  );

  test('never makes a session less fresh', async () => {
    const browser = app.browser();
    await signInWith(browser, 'lying');
    const before = await authenticatedAt(browser);
    lying.lies = { claims: { auth_time: before - 3 } };
    await travel(browser, '/auth/oauth/lying/reauthenticate');
    expect(await authenticatedAt(browser)).toBe(before);
  });

  test('says what can be done if the provider supports only OAuth 2.0', async () => {
    lying.lies = { userinfo: { sub: 'ada' } };
    const browser = app.browser();
    await signInWith(browser, 'plain');
    const response = await browser.get('/auth/oauth/plain/reauthenticate');
    const { detail } = expectProblem(response, 403, 'reauthentication_required');
    expect(detail).toMatch(/does not report when you signed in there\. Confirm your password/);
    expect(response.headers['set-cookie']).toBeUndefined();
  });

  test('must be completed in the session that started it, which must not have ended', async () => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    const back = pathOf(await visitProvider(await begin(browser, REAUTHENTICATE)));
    await signInWith(browser, 'oidc');
    await age(browser);
    expectProblem(await browser.get(back), 400, 'invalid_flow');
    expect(await isFresh(browser)).toBe(false);
  });

  test('does not sign in, and a sign-in does not reauthenticate', async () => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    const back = pathOf(await visitProvider(await begin(browser, REAUTHENTICATE)));
    await browser.post('/auth/signout').expect(204);
    expectProblem(await browser.get(back), 400, 'invalid_flow');
    expectProblem(await browser.get('/auth/me'), 401, 'unauthenticated');
  });
});

describe('a session begun by a provider', () => {
  test.each([
    ['is as fresh as its auth_time', () => now() - 3600, false],
    ['is fresh if the user has just authenticated there', () => now() - 20, true],
    ['is fresh if the provider does not say when', () => undefined, true],
    ['is not fresher than now if the clock of the provider is ahead', () => now() + 86_400, true],
  ])('%s', async (_what, authTime, fresh) => {
    const auth_time = authTime();
    lying.lies = { claims: { auth_time } };
    const browser = app.browser();
    await signInWith(browser, 'lying');
    expect(await isFresh(browser)).toBe(fresh);
    expect(await authenticatedAt(browser)).toBeLessThanOrEqual(Math.min(auth_time ?? now(), now()));
  });
});
