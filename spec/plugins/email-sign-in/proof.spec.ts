import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { emailSignIn, twoFactor } from '../../../lib/index.js';
import { ada, password, type SpecApp, signedIn, startApp } from '../../support/app.js';
import { mailbox } from '../../support/mailbox.js';
import { expectProblem } from '../../support/problem.js';
import { settled } from '../../support/sessions.js';
import { codeOf, enroll, forgetSteps, secondStep } from '../../support/two-factor.js';

// What the first proof of a mailbox removes from its account, and when.
const plugins = [password(), emailSignIn(), twoFactor()] as const;
let app: SpecApp<typeof plugins>;
let mails: ReturnType<typeof mailbox>;
beforeEach(async () => {
  mails = mailbox();
  app = await startApp({
    plugins,
    config: { baseUrl: 'https://app.example.com', email: { send: mails.send } },
  });
});
afterEach(() => app.stop());

type Browser = ReturnType<typeof app.browser>;
const codeFor = async (browser: Browser) =>
  (
    await mails.mailOf(ada.email, 'sign-in-code', () =>
      browser.post('/auth/signin/email').send({ email: ada.email }).expect(202),
    )
  ).code;
const confirm = async (browser: Browser, body?: object) => {
  const given = body ?? { code: await codeFor(browser) };
  return browser.post('/auth/signin/email/confirm').send(given);
};
/** Signs up, and switches on the second factor, without a proof of the mailbox. */
async function withFactor(): Promise<string> {
  const browser = await signedIn(app);
  await app.auth.markEmailVerified((await app.auth.users.find({ email: ada.email }))!.id);
  return (await enroll(browser)).secret;
}
const hasPassword = async () =>
  (await app.http.post('/auth/signin/credential').send({ credential: ada.email, password: ada.password }))
    .status === 200;
const proof = async () => (await app.auth.users.find({ email: ada.email }))?.emailProof;

describe('the first proof of a mailbox', () => {
  test('removes what a stranger has attached, and tells so', async () => {
    const stranger = await signedIn(app);
    const browser = app.browser();
    const notice = await mails.mailOf(ada.email, 'password-removed', async () => {
      const { body } = await confirm(browser);
      expect(body).toMatchObject({ password_removed: true, session: {} });
    });
    expect(notice).toMatchObject({ url: '', token: '' });
    expect(await hasPassword()).toBe(false);
    expectProblem(await stranger.get('/auth/me'), 401, 'invalid_session');
    await browser.get('/auth/me').expect(200);
    expect(await proof()).toBe('mailbox');
    // The session is fresh, because nothing is left to reauthenticate with.
    await browser.put('/auth/passwords').send({ new_password: 'a difference engine' }).expect(204);
  });

  test('removes nothing in a browser that was signed in and still is', async () => {
    const browser = await signedIn(app);
    const { body } = await confirm(browser);
    expect(body).not.toHaveProperty('password_removed');
    expect(await hasPassword()).toBe(true);
    expect(await proof()).toBe('mailbox');
    // It is not fresh, because the account has a password.
    await browser.delete('/auth/passwords').expect(403);
  });

  test('removes nothing in the browser of the sign-up', async () => {
    const browser = app.browser();
    await browser.post('/auth/signup/credential').send(ada).expect(201);
    expect((await confirm(browser)).body).not.toHaveProperty('password_removed');
    expect(await hasPassword()).toBe(true);
  });

  test('removes the password where the browser was signed in only when it asked', async () => {
    const browser = await signedIn(app);
    await app.auth.models.RecentBrowser.destroy({ where: {} });
    const code = await codeFor(browser);
    const { id } = (await app.auth.users.find({ email: ada.email }))!;
    const [session] = await app.auth.listSessions(id);
    await app.auth.models.Session.destroy({ where: { id: session!.id } });
    expect((await confirm(browser, { code })).body).toMatchObject({ password_removed: true });
  });

  test('removes nothing later', async () => {
    await signedIn(app);
    await app.auth.models.User.update(
      { emailProof: 'mailbox', emailVerifiedAt: new Date(), mailboxProvedAt: new Date() },
      { where: {} },
    );
    expect((await confirm(app.browser())).body).not.toHaveProperty('password_removed');
    expect(await hasPassword()).toBe(true);
  });
});

describe('an account with a second factor', () => {
  test('is asked for it, and nothing is proven, removed or told before', async () => {
    const secret = await withFactor();
    const browser = app.browser();
    const { body } = await confirm(browser);
    expect(body.second_factor.methods).toEqual(['totp', 'recovery_code']);
    await settled(app.auth);
    expect(mails.mails.map(({ kind }) => kind)).not.toContain('password-removed');
    expect(await proof()).not.toBe('mailbox');
    expect(await app.auth.models.EmailedSignIn.count()).toBe(0);
    await forgetSteps(app);
    const done = await secondStep(browser, { method: 'totp', code: codeOf(secret) }).expect(200);
    expect(done.body).toMatchObject({ password_removed: true, session: { aal: 2 } });
    await browser.get('/auth/me').expect(200);
    expect(await proof()).toBe('mailbox');
    // The factor stays.
    expect((await confirm(app.browser())).body).toHaveProperty('second_factor');
  });

  test('whose email is another one since begins again', async () => {
    const secret = await withFactor();
    const browser = app.browser();
    await confirm(browser);
    await app.auth.models.User.update({ email: 'other@example.com' }, { where: {} });
    await forgetSteps(app);
    const answer = await secondStep(browser, { method: 'totp', code: codeOf(secret) });
    expectProblem(answer, 401, 'sign_in_expired');
  });
});
