import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { apiKeys, credentialPassword } from '../../../lib/index.js';
import { ada, type SpecApp, startApp } from '../../support/app.js';
import { advance } from '../../support/clock.js';
import { rows } from '../../support/database.js';
import { mailbox } from '../../support/mailbox.js';
import { expectProblem } from '../../support/problem.js';
import { settled } from '../../support/sessions.js';

/** The verification of an email by a code that is typed in the session that asked for it. */
const plugins = [
  credentialPassword({ verifyEmailBy: 'code', signInOnSignUp: true, bcryptCost: 4 }),
  apiKeys(),
] as const;

let app: SpecApp<typeof plugins>;
let mails: ReturnType<typeof mailbox>;
let browser: Browser;
let first: { code: string; text: string; html: string; url: string; token: string };
beforeEach(async () => {
  mails = mailbox();
  app = await startApp({
    plugins,
    config: { baseUrl: 'http://app.example.com', email: { send: mails.send } },
  });
  browser = app.browser();
  first = await mails.mailOf(ada.email, 'verification-code', () =>
    browser.post('/auth/signup/credential').send(ada).expect(201),
  );
});
afterEach(() => app.stop());

type Browser = ReturnType<typeof app.browser>;
const ask = (client = browser) => client.post('/auth/email-verifications').send();
const verify = (code: string, client = browser) => client.post('/auth/verify-email').send({ code });
const other = (code: string) => code.replace(/.$/, (last) => String((Number(last) + 1) % 10));
const signedInAgain = async () => {
  const client = app.browser();
  await client
    .post('/auth/signin/credential')
    .send({ credential: ada.email, password: ada.password })
    .expect(200);
  return client;
};
const idOf = async () => (await app.auth.users.find({ email: ada.email }))?.id ?? '';

describe('a code in a session', () => {
  test('is mailed for the session of a sign-up, without a link, and verifies the email there', async () => {
    expect([first.code, first.url, first.token]).toEqual([expect.stringMatching(/^\d{8}$/), '', '']);
    expect(`${first.text}${first.html}`).not.toMatch(/https?:|href/);
    const key = (await browser.post('/auth/api-keys').send({ name: 'stays' }).expect(201)).body.key;
    const { body } = await verify(`${first.code.slice(0, 4)} ${first.code.slice(4)}`).expect(200);
    expect(body.user.email_verified_at).toMatch(/^\d{4}-.*Z$/);
    expect((await app.auth.users.find({ email: ada.email }))?.emailProof).toBe('mailbox');
    // Nothing is dropped.
    await browser.get('/auth/me').expect(200);
    await app.http.get('/auth/me').set('x-service-api-key', key).expect(200);
    await signedInAgain();
    expectProblem(await verify(first.code), 401, 'code_expired');
  });

  test('is the same when it is asked for again, at most three times', async () => {
    const asked = [];
    for (let time = 0; time < 5; time++) asked.push((await ask().expect(202)).body);
    expect(new Set(asked.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(Object.keys(asked[0])).toEqual(['expires_at']);
    await settled(app.auth);
    expect(mails.mails.map(({ code }) => code)).toEqual(Array(4).fill(first.code));
  });

  test('is expired in another session of the user, and needs a session', async () => {
    const elsewhere = await signedInAgain();
    expectProblem(await verify(first.code, elsewhere), 401, 'code_expired');
    const theirs = await mails.mailOf(ada.email, 'verification-code', () => ask(elsewhere).expect(202));
    expect(theirs.code).not.toBe(first.code);
    expectProblem(await verify(first.code, elsewhere), 401, 'invalid_code');
    expectProblem(await verify(first.code, app.browser()), 401, 'unauthenticated');
    await verify(first.code).expect(200);
  });

  test('ends with the fifth wrong one, and after ten minutes', async () => {
    for (let time = 1; time < 5; time++) expectProblem(await verify(other(first.code)), 401, 'invalid_code');
    expectProblem(await verify(other(first.code)), 401, 'code_expired');
    expectProblem(await verify(first.code), 401, 'code_expired');
    const { code } = await mails.mailOf(ada.email, 'verification-code', () => ask().expect(202));
    advance(app.auth, 601);
    expectProblem(await verify(code), 401, 'code_expired');
  });

  test('is not right before it was mailed', async () => {
    await app.auth.models.CodeRequest.update({ sentAt: null }, { where: {} });
    expectProblem(await verify(first.code), 401, 'invalid_code');
  });

  test.each<[string, (id: string) => Promise<unknown>]>([
    ['by code', (id) => app.auth.users.changeEmail(id, 'moved@example.com')],
    [
      'past latchkey',
      () => rows(app.database, "UPDATE users SET email = 'moved@example.com'").catch(() => undefined),
    ],
  ])('is wrong after the address has changed %s', async (_how, change) => {
    await change(await idOf());
    expectProblem(await verify(first.code), 401, 'invalid_code');
  });

  test('is mailed to nobody for a proven address', async () => {
    await verify(first.code).expect(200);
    const { body } = await ask().expect(202);
    expect(Object.keys(body)).toEqual(['expires_at']);
    await settled(app.auth);
    expect(mails.mails).toHaveLength(1);
    expectProblem(await verify('00000000'), 401, 'invalid_code');
  });

  test('does not accept a token, and no link is mailed', async () => {
    const token = await browser.post('/auth/verify-email').send({ token: 'lkm_x', password: ada.password });
    expectProblem(token, 422, 'validation_failed');
    expect(mails.mails.map(({ kind }) => kind)).toEqual(['verification-code']);
  });

  test('can be asked for and redeemed by code', async () => {
    const userId = await idOf();
    const { session } = await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
    const own = { userId, sessionId: session.id };
    const { code } = await mails.mailOf(ada.email, 'verification-code', async () => {
      const { expiresAt } = await app.auth.credential.sendVerification(own);
      expect(expiresAt).toBeInstanceOf(Date);
    });
    await expect(app.auth.credential.verifyEmail({ ...own, code: other(code) })).rejects.toMatchObject({
      code: 'invalid_code',
    });
    const user = await app.auth.credential.verifyEmail({ ...own, code });
    expect(user.emailVerifiedAt).toBeInstanceOf(Date);
  });

  test('ends with its session', async () => {
    const userId = await idOf();
    const { session, token } = await app.auth.credential.signIn({
      credential: ada.email,
      password: ada.password,
    });
    const own = { userId, sessionId: session.id };
    const { code } = await mails.mailOf(ada.email, 'verification-code', () =>
      app.auth.credential.sendVerification(own),
    );
    await app.auth.revokeSession(token);
    await expect(app.auth.credential.verifyEmail({ ...own, code })).rejects.toMatchObject({
      code: 'invalid_session',
    });
  });
});
