import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { ada, sessionCookie, signedIn } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { proveMailbox } from '../../support/email-proof.js';
import { type LyingProvider, startLyingProvider } from '../../support/lying-provider.js';
import {
  begin,
  countRows,
  linkWith,
  type OAuthApp,
  oidcPlugin,
  pathOf,
  signInWith,
  startOAuthApp,
} from '../../support/oauth-app.js';
import { visitProvider } from '../../support/oidc.js';

let app: OAuthApp;
let joining: OAuthApp;
let provider: LyingProvider;
let other: LyingProvider;

beforeAll(async () => {
  [provider, other] = await Promise.all([startLyingProvider(), startLyingProvider()]);
  const providers = () => [
    oidcPlugin(provider),
    oidcPlugin(other, { id: 'other' }),
    oidcPlugin(provider, { id: 'doubted', trustEmailVerified: false }),
  ];
  app = await startOAuthApp({ providers });
  joining = await startOAuthApp({ providers, options: { linkByVerifiedEmail: true } });
});
afterEach(async () => {
  provider.lies = {};
  other.lies = {};
  for (const { database } of [app, joining]) await rows(database, 'DELETE FROM users');
});
afterAll(async () => {
  await Promise.all([app.stop(), joining.stop()]);
  await Promise.all([provider.stop(), other.stop()]);
});

async function meOf(browser: ReturnType<OAuthApp['browser']>) {
  return (await browser.get('/auth/me').expect(200)).body.user;
}

describe('a sign-in with an unknown subject', () => {
  test('creates a user with the verified email', async () => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    expect(await meOf(browser)).toMatchObject({ email: ada.email, email_verified_at: expect.any(String) });
    expect(await countRows(app.database)).toEqual({ users: 1, accounts: 1, sessions: 1 });
  });

  test('stores the email in its canonical form', async () => {
    provider.lies = { claims: { email: ' Ada@EXAMPLE.com ' } };
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    expect((await meOf(browser)).email).toBe(ada.email);
  });

  test.each([
    ['is not verified', 'oidc', { email_verified: false }],
    ['has no verification status', 'oidc', { email_verified: undefined }],
    ['is verified only as another string', 'oidc', { email_verified: 'TRUE' }],
    ['is verified by a provider that is not trusted', 'doubted', {}],
    ['is invalid', 'oidc', { email: 'ada' }],
    ['is a list', 'oidc', { email: ['ada@example.com'] }],
    ['is missing', 'oidc', { email: null }],
  ])('creates a user without an email if the address %s', async (_what, id, claims) => {
    provider.lies = { claims };
    const browser = app.browser();
    await signInWith(browser, id);
    expect(await meOf(browser)).toMatchObject({ email: null, email_verified_at: null });
    expect(await rows(app.database, 'SELECT email FROM users')).toEqual([{ email: null }]);
    // Two users without an email are two different users.
    provider.lies = { claims: { ...claims, sub: 'grace' } };
    const second = app.browser();
    await signInWith(second, id);
    expect((await meOf(second)).id).not.toBe((await meOf(browser)).id);
  });

  test('creates another user for the same subject at another issuer', async () => {
    other.lies = { claims: { email: undefined }, userinfo: { email: undefined } };
    const [one, two] = [app.browser(), app.browser()];
    await signInWith(one, 'oidc');
    await signInWith(two, 'other');
    expect((await meOf(one)).id).not.toBe((await meOf(two)).id);
  });

  test('creates another user if the subject differs in case or by a trailing space', async () => {
    const ids = new Set<string>();
    for (const sub of ['ada', 'Ada', 'ada ', 'adá']) {
      provider.lies = { claims: { sub, email: null } };
      const browser = app.browser();
      await signInWith(browser, 'oidc');
      ids.add((await meOf(browser)).id);
    }
    expect(ids.size).toBe(4);
  });

  test('creates one user for 20 concurrent first sign-ins, and signs in all of them', async () => {
    for (const email of [ada.email, null]) {
      provider.lies = { claims: { sub: `racer ${email}`, email } };
      const before = await countRows(app.database);
      const browsers = Array.from({ length: 20 }, () => app.browser());
      const backs = await Promise.all(
        browsers.map(async (one) =>
          pathOf(await visitProvider(await begin(one, '/auth/oauth/oidc/authorize'))),
        ),
      );
      const responses = await Promise.all(browsers.map((one, n) => one.get(backs[n] ?? '')));
      expect(new Set(responses.map(({ headers }) => headers.location))).toEqual(new Set(['/']));
      expect(responses.every((response) => sessionCookie(response))).toBe(true);
      const after = await countRows(app.database);
      expect([after.users - before.users, after.accounts - before.accounts]).toEqual([1, 1]);
      const users = await Promise.all(browsers.map(meOf));
      expect(new Set(users.map(({ id }) => id)).size).toBe(1);
    }
  });
});

describe('a sign-in with the email of an existing account', () => {
  async function expectAccountExists(at: OAuthApp, id = 'oidc') {
    const before = await countRows(at.database);
    const response = await signInWith(at.browser(), id);
    expect(response.headers.location).toBe('/done?error=account_exists');
    expect(sessionCookie(response)).toBeUndefined();
    expect(await countRows(at.database)).toEqual(before);
  }

  test('is rejected with account_exists, verified or not', async () => {
    const browser = await signedIn(app);
    await expectAccountExists(app);
    await proveMailbox(app.auth, (await meOf(browser)).id);
    await expectAccountExists(app);
  });

  test('is rejected with account_exists if the account was created by another provider', async () => {
    await signInWith(app.browser(), 'oidc');
    await expectAccountExists(app, 'other');
  });

  test('works after the owner has linked the account', async () => {
    const browser = await signedIn(app);
    expect((await linkWith(browser, 'oidc')).headers.location).toBe('/linked');
    const again = app.browser();
    await signInWith(again, 'oidc');
    expect((await meOf(again)).id).toBe((await meOf(browser)).id);
    // A link does not verify the email.
    expect((await meOf(again)).email_verified_at).toBeNull();
  });

  test('is linked with linkByVerifiedEmail if both sides are verified', async () => {
    const owner = await signedIn(joining);
    await proveMailbox(joining.auth, (await meOf(owner)).id);
    const browser = joining.browser();
    await signInWith(browser, 'oidc');
    expect((await meOf(browser)).id).toBe((await meOf(owner)).id);
    const third = joining.browser();
    await signInWith(third, 'other');
    expect((await meOf(third)).id).toBe((await meOf(owner)).id);
  });

  test('is rejected if the account’s own email is not verified, because an attacker may have created it', async () => {
    await signedIn(joining);
    await expectAccountExists(joining);
  });

  test.each([
    ['is not verified', 'oidc', { email_verified: false }],
    ['is verified by a provider that is not trusted', 'doubted', {}],
  ])('does not reveal that the account exists if the email %s', async (_what, id, claims) => {
    for (const at of [app, joining]) {
      const owner = await signedIn(at);
      await proveMailbox(at.auth, (await meOf(owner)).id);
      provider.lies = { claims };
      const browser = at.browser();
      expect((await signInWith(browser, id)).headers.location).toBe('/done');
      const stranger = await meOf(browser);
      expect(stranger).toMatchObject({ email: null, email_verified_at: null });
      expect(stranger.id).not.toBe((await meOf(owner)).id);
    }
  });

  test('does not link a second account of the same provider', async () => {
    await signInWith(joining.browser(), 'oidc');
    provider.lies = { claims: { sub: 'the next holder of the address' } };
    const before = await countRows(joining.database);
    const response = await signInWith(joining.browser(), 'oidc');
    expect(response.headers.location).toBe('/done?error=provider_already_linked');
    expect(await countRows(joining.database)).toEqual(before);
  });

  test('does not change the account if the email changes at the provider', async () => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    const before = await meOf(browser);
    provider.lies = { claims: { email: 'owner@example.com' } };
    await signInWith(browser, 'oidc');
    expect(await meOf(browser)).toEqual(before);
  });
});
