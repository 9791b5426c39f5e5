import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type AuthWith, oauth, type Plugin, twoFactor } from '../../../lib/index.js';
import type { CallbackResult } from '../../../lib/plugins/oauth/complete-flow.js';
import type { SignedIn } from '../../../lib/sessions/signed-in.js';
import { ada, password, sessionCookie, signedIn } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { proveMailbox } from '../../support/email-proof.js';
import { type LyingProvider, startLyingProvider } from '../../support/lying-provider.js';
import {
  type Browser,
  linkWith,
  type OAuthApp,
  oidcPlugin,
  signInWith,
  startOAuthApp,
  travel,
} from '../../support/oauth-app.js';
import { visitProvider } from '../../support/oidc.js';
import { codeOf, enroll, forgetSteps, secondStep } from '../../support/two-factor.js';

let plain: LyingProvider;
let trusted: LyingProvider;
const pluginsOf = () =>
  [
    password(),
    oauth({ linkByVerifiedEmail: true }),
    oidcPlugin(plain, { id: 'plain' }),
    oidcPlugin(trusted, { id: 'trusted' }),
    twoFactor({ trustProviders: ['trusted'] }),
  ] as const;

let app: OAuthApp & { readonly auth: AuthWith<ReturnType<typeof pluginsOf>> };
beforeAll(async () => {
  [plain, trusted] = [await startLyingProvider(), await startLyingProvider()];
  const config = { plugins: pluginsOf() as readonly Plugin[] };
  app = (await startOAuthApp({ providers: () => [], config: config as never })) as never;
});
afterAll(async () => {
  await app.stop();
  await plain.stop();
  await trusted.stop();
});

let browser: Browser;
let secret: string;
let userId: string;
let sessionId: string;
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  for (const one of [plain, trusted]) one.lies = { claims: { sub: 'ada' } };
  browser = await signedIn(app);
});

/** Links both providers, and switches the second factor on. */
async function protect() {
  for (const id of ['plain', 'trusted'])
    expect((await linkWith(browser, id)).headers.location).toBe('/linked');
  ({ secret, userId } = await enroll(browser));
  await forgetSteps(app);
  sessionId = (await browser.get('/auth/me')).body.session.id;
}
const openSessions = async () => (await app.auth.listSessions(userId)).map(({ id }) => id);
const weaken = () =>
  app.auth.models.Session.update(
    { aal: 1, authenticatedAt: new Date(Date.now() - 3_600_000) },
    { where: { id: sessionId } },
  );

describe('a sign-in at a provider, of an account with a second factor', () => {
  beforeEach(protect);

  test.each([
    ['/done', '/done?second_factor=required'],
    ['/done?tab=1#top', '/done?tab=1&second_factor=required#top'],
    ['/done?second_factor=no', '/done?second_factor=required'],
  ])('that was to end at %s ends at %s, and waits', async (page, location) => {
    const other = app.browser();
    const answer = await signInWith(other, 'plain', page);
    expect([answer.status, answer.headers.location]).toEqual([303, location]);
    expect(sessionCookie(answer, 'latchkey-pending')?.value).toMatch(/^lkp_/);
    expect(sessionCookie(answer)).toBeUndefined();
    expect(sessionCookie(answer, 'latchkey-device')).toBeUndefined();
    expect(await openSessions()).toEqual([sessionId]);
    const { body } = await secondStep(other, { method: 'totp', code: codeOf(secret) }).expect(200);
    expect(body.session).toMatchObject({ aal: 2, amr: ['fed', 'otp', 'mfa'] });
  });

  test('ends the session that the browser had only when it is complete', async () => {
    await signInWith(browser, 'plain');
    await browser.get('/auth/me').expect(200);
    expect(await openSessions()).toEqual([sessionId]);
    const { body } = await secondStep(browser, { method: 'totp', code: codeOf(secret) }).expect(200);
    expect(await openSessions()).toEqual([body.session.id]);
    expect(body.session.id).not.toBe(sessionId);
  });

  test('in code, resolves to the demand', async () => {
    const { url, browser: value } = await app.auth.oauth.authorizeUrl('plain', { callbackUrl: '/done' });
    const { searchParams: parameters } = new URL(await visitProvider(url));
    const input = { provider: 'plain', parameters, browser: value };
    const { issued, callbackUrl } = (await app.auth.oauth.callback(input)) as CallbackResult<SignedIn>;
    expect(callbackUrl).toBe('/done?second_factor=required');
    if (!issued || !('secondFactor' in issued)) throw new Error('a session was begun');
    expect(issued.secondFactor).toMatchObject({ methods: expect.arrayContaining(['totp']) });
  });

  test('needs no other one where the provider is trusted with it', async () => {
    const other = app.browser();
    const answer = await signInWith(other, 'trusted');
    expect(answer.headers.location).toBe('/done');
    expect((await other.get('/auth/me').expect(200)).body.session).toMatchObject({
      aal: 2,
      amr: ['fed', 'mfa'],
    });
  });
});

describe('a provider whose verified email is that of an account with a second factor', () => {
  beforeEach(async () => {
    await proveMailbox(app.auth, (await browser.get('/auth/me')).body.user.id);
    ({ userId } = await enroll(browser));
    for (const one of [plain, trusted])
      one.lies = { claims: { sub: 'mallory', email: ada.email, email_verified: true } };
  });

  test('does not become a way in before the second factor is given', async () => {
    const answer = await signInWith(app.browser(), 'plain');
    expect(answer.headers.location).toBe('/done?error=account_exists');
    expect(await app.auth.oauth.accounts(userId)).toEqual([]);
  });

  test('does, if it is trusted with that', async () => {
    expect((await signInWith(app.browser(), 'trusted')).headers.location).toBe('/done');
    expect(await app.auth.oauth.accounts(userId)).toHaveLength(1);
  });
});

describe('a reauthentication at a provider, of an account with a second factor', () => {
  const REAUTHENTICATE = (id: string) => `/auth/oauth/${id}/reauthenticate`;
  const now = () => Math.floor(Date.now() / 1000);
  beforeEach(async () => {
    await protect();
    await weaken();
    for (const one of [plain, trusted]) one.lies = { claims: { sub: 'ada', auth_time: now() } };
  });
  const me = async () => (await browser.get('/auth/me').expect(200)).body.session;

  test('counts for nothing', async () => {
    const answer = await travel(browser, REAUTHENTICATE('plain'), { callback_url: '/danger' });
    expect(answer.headers.location).toBe('/danger?error=second_factor_required');
    expect(sessionCookie(answer)).toBeUndefined();
    expect((await me()).aal).toBe(1);
    expect((await browser.get('/auth/oauth/plain/link')).body.code).toBe('second_factor_required');
  });

  test('raises the session and gives it a new token, where the provider is trusted', async () => {
    const answer = await travel(browser, REAUTHENTICATE('trusted'), { callback_url: '/danger' });
    expect(answer.headers.location).toBe('/danger');
    expect(sessionCookie(answer)?.value).toMatch(/^lks_/);
    expect(await me()).toMatchObject({ id: sessionId, aal: 2 });
    expect(await openSessions()).toEqual([sessionId]);
    await browser
      .post('/auth/passwords/change')
      .send({
        current_password: ada.password,
        new_password: 'a difference engine',
      })
      .expect(200);
  });

  test('still needs a new sign-in there', async () => {
    trusted.lies = { claims: { sub: 'ada', auth_time: now() - 3600 } };
    const answer = await travel(browser, REAUTHENTICATE('trusted'), { callback_url: '/danger' });
    expect(answer.headers.location).toBe('/danger?error=reauthentication_required');
    expect((await me()).aal).toBe(1);
  });

  test('is as recent as the provider says', async () => {
    await travel(browser, REAUTHENTICATE('trusted'));
    const row = await app.auth.models.Session.findByPk(sessionId, { rejectOnEmpty: true });
    const at = (row.get('authenticatedAt') as Date).getTime();
    expect(at % 1000).toBe(0);
    expect(at).toBeLessThanOrEqual(Date.now());
  });
});
