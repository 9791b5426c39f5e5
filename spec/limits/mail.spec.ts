import { afterEach, describe, expect, test } from '@jest/globals';
import { admin } from '../../lib/index.js';
import { ada, password, signedIn } from '../support/app.js';
import { proveMailbox } from '../support/email-proof.js';
import { type MailApp, startMailApp } from '../support/mail-app.js';
import { expectProblem } from '../support/problem.js';
import { settled } from '../support/sessions.js';

const plugins = (options: object) =>
  [password({ sendVerificationOnSignUp: true, ...options }), admin({ adminEmails: [ada.email] })] as const;

let app: MailApp<ReturnType<typeof plugins>>;
const start = async (rateLimit: object = {}, options: object = {}) => {
  app = (await startMailApp({
    plugins: plugins(options),
    config: { rateLimit: { signIn: false, signUp: false, ...rateLimit } },
  })) as typeof app;
};
afterEach(() => app.stop());

const reset = (email: string, browser = app.browser()) =>
  browser.post('/auth/passwords/request-reset').send({ email });
const mailsTo = async (to: string, kind: string) => {
  await settled(app.auth);
  return app.mails.filter((mail) => mail.to === to && mail.kind === kind).length;
};

describe('the limit on emails to a mailbox', () => {
  test('is 10 in an hour of all kinds, whoever asks; more are accepted, and not sent', async () => {
    await start();
    await app.http.post('/auth/signup/credential').send(ada).expect(201);
    for (let round = 0; round < 12; round++) await reset(ada.email).expect(202);
    expect(await mailsTo(ada.email, 'verify-email')).toBe(1);
    expect(await mailsTo(ada.email, 'reset-password')).toBe(9);
  });

  test('counts addresses that services deliver to one mailbox together', async () => {
    await start({ mailAddress: false });
    const addresses = ['ada.l@example.com', 'adal+shop@example.com', 'a.dal@example.com'];
    for (const email of addresses) await app.auth.users.create({ email, emailVerified: true });
    for (let round = 0; round < 5; round++) for (const email of addresses) await reset(email).expect(202);
    const sent = await Promise.all(addresses.map((email) => mailsTo(email, 'reset-password')));
    expect(sent.reduce((sum, count) => sum + count)).toBe(10);
  });

  test('leaves the owner a window of their own, in a session and in a browser that the account knows', async () => {
    await start();
    const browser = await signedIn(app);
    await proveMailbox(app.auth, (await browser.get('/auth/me')).body.user.id);
    for (let round = 0; round < 12; round++) await reset(ada.email).expect(202);
    const before = await mailsTo(ada.email, 'reset-password');
    // The sign-up's own email counts too.
    expect(before).toBe(9);
    for (let round = 0; round < 12; round++) await reset(ada.email, browser).expect(202);
    expect(await mailsTo(ada.email, 'reset-password')).toBe(before + 10);
  });

  test('lets no stranger keep the verification email from a newcomer', async () => {
    await start();
    const browser = await signedIn(app);
    for (let round = 0; round < 12; round++) await reset(ada.email).expect(202);
    expect(await mailsTo(ada.email, 'verify-email')).toBe(1);
    await browser.post('/auth/email-verifications').expect(202);
    expect(await mailsTo(ada.email, 'verify-email')).toBe(2);
  });

  test('gives all accounts that have not proven the mailbox one more window, at all variants of the address', async () => {
    await start();
    const variant = 'a.da+1@example.com';
    const stranger = await signedIn(app, { ...ada, email: variant });
    const another = await signedIn(app, { ...ada, email: 'ada+2@example.com' });
    const { id } = await app.auth.users.create(ada);
    await proveMailbox(app.auth, id);
    for (let round = 0; round < 12; round++) await stranger.post('/auth/email-verifications').expect(202);
    await another.post('/auth/email-verifications').expect(202);
    // The email of each sign-up counts with those that strangers request.
    expect(await mailsTo(variant, 'verify-email')).toBe(1 + 10);
    expect(await mailsTo('ada+2@example.com', 'verify-email')).toBe(1);
    const browser = app.browser();
    const credentials = { credential: ada.email, password: ada.password };
    await browser.post('/auth/signin/credential').send(credentials).expect(200);
    await reset(ada.email, browser).expect(202);
    expect(await mailsTo(ada.email, 'reset-password')).toBe(1);
  });

  test('is not used up by requests for an email that has no account', async () => {
    await start();
    for (let round = 0; round < 12; round++) await reset(ada.email).expect(202);
    await app.http.post('/auth/signup/credential').send(ada).expect(201);
    expect(await mailsTo(ada.email, 'verify-email')).toBe(1);
  });

  test('holds for changes of email to it, and for what they tell its owner', async () => {
    await start({ mail: { limit: 2, window: 3600 } });
    const browser = await signedIn(app);
    await app.auth.users.create({ email: 'taken@example.com' });
    for (const to of ['new@example.com', 'taken@example.com']) {
      for (let round = 0; round < 4; round++)
        await browser.post('/auth/email-changes').send({ new_email: to }).expect(202);
    }
    expect(await mailsTo('new@example.com', 'verify-new-email')).toBe(2);
    expect(await mailsTo('taken@example.com', 'email-change-conflict')).toBe(2);
    // Notices are no emails that someone asks for.
    expect(await mailsTo(ada.email, 'email-change-requested')).toBe(8);
  });

  test('is separate for what administrators send', async () => {
    await start({ mail: { limit: 2, window: 3600 } });
    const { id } = await app.auth.users.create({ email: 'bob@example.com' });
    for (let round = 0; round < 4; round++) await reset('bob@example.com').expect(202);
    for (let round = 0; round < 2; round++) await app.auth.admin.sendPasswordReset(id);
    await expect(app.auth.admin.sendPasswordReset(id)).rejects.toMatchObject({ code: 'rate_limited' });
    expect(await mailsTo('bob@example.com', 'reset-password')).toBe(4);
  });
});

describe('the limit on requests that can cause an email', () => {
  const limit = { mailAddress: { limit: 3, window: 3600 } };

  test('is 60 in an hour from one address, whether or not an email is sent', async () => {
    await start();
    for (let round = 0; round < 60; round++) await reset(`nobody-${round}@example.com`).expect(202);
    const refused = await reset('nobody@example.com');
    expectProblem(refused, 429, 'rate_limited');
    expect(refused.headers['ratelimit-policy']).toBe('"mailAddress";q=60;w=3600');
  });

  test('refuses a sign-up before anything is made', async () => {
    await start(limit);
    for (let round = 0; round < 3; round++) await reset('nobody@example.com').expect(202);
    expectProblem(await app.http.post('/auth/signup/credential').send(ada), 429, 'rate_limited');
    expect(await app.auth.users.find({ email: ada.email })).toBeNull();
  });

  test('counts requests of all kinds together', async () => {
    await start(limit);
    const browser = await signedIn(app);
    await browser.post('/auth/email-verifications').expect(202);
    await browser.post('/auth/email-changes').send({ new_email: 'new@example.com' }).expect(202);
    expectProblem(await reset(ada.email), 429, 'rate_limited');
    expectProblem(await browser.post('/auth/email-verifications'), 429, 'rate_limited');
  });

  test('does not count sign-ups that send nothing', async () => {
    await start(limit, { sendVerificationOnSignUp: false });
    for (let round = 0; round < 5; round++)
      await app.http
        .post('/auth/signup/credential')
        .send({ ...ada, email: `new-${round}@example.com` })
        .expect(201);
  });
});
