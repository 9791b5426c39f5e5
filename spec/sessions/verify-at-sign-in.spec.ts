import { afterEach, describe, expect, test } from '@jest/globals';
import type request from 'supertest';
import {
  type AuthConfig,
  type CookieOptions,
  type CredentialPasswordOptions,
  credentialPassword,
  emailSignIn,
  passkeys,
  twoFactor,
} from '../../lib/index.js';
import { ada, type SpecApp, startApp } from '../support/app.js';
import { advance } from '../support/clock.js';
import { rows } from '../support/database.js';
import { mailbox } from '../support/mailbox.js';
import { addPasskey, authenticator, PAGE, signInWith } from '../support/passkeys.js';
import { expectProblem } from '../support/problem.js';
import { settled } from '../support/sessions.js';
import { codeOf, enroll, forgetSteps } from '../support/two-factor.js';

/** `requireVerifiedEmail` with a code that completes the sign-in of a user whose email is not verified. */
const pluginsWith = (options: CredentialPasswordOptions = {}) =>
  [
    credentialPassword({ verifyEmailBy: 'code', requireVerifiedEmail: true, bcryptCost: 4, ...options }),
    twoFactor(),
    passkeys(),
    emailSignIn(),
  ] as const;

let app: SpecApp<ReturnType<typeof pluginsWith>>;
let mails: ReturnType<typeof mailbox>;
let id: string;
afterEach(() => app.stop());

async function open(
  options: CredentialPasswordOptions = {},
  config: Pick<AuthConfig, 'session'> & { baseUrl?: string } = {},
) {
  mails = mailbox();
  app = await startApp({
    plugins: pluginsWith(options),
    config: { baseUrl: PAGE, bearerEnabled: true, email: { send: mails.send }, ...config },
  });
  ({ id } = await app.auth.users.create(ada));
}
type Browser = ReturnType<typeof app.browser>;
const credentials = { credential: ada.email, password: ada.password };
const signIn = (browser: Browser) => browser.post('/auth/signin/credential').send(credentials);
const mailFor = (work: () => PromiseLike<unknown>) => mails.mailOf(ada.email, 'verification-code', work);
const complete = (browser: Browser, code: string) =>
  browser.post('/auth/signin/second-factor').send({ method: 'email_code', code });
const other = (code: string) => code.replace(/.$/, (last) => String((Number(last) + 1) % 10));
const proofOf = async () => {
  const [row] = await rows<{ email_proof: string; email_verified_at: unknown; password_hash: unknown }>(
    app.database,
    'SELECT email_proof, email_verified_at, password_hash FROM users WHERE id = :id',
    { id },
  );
  return [row?.email_proof, row?.email_verified_at !== null, row?.password_hash !== null];
};

describe('a sign-in of a user whose email is not verified', () => {
  test('waits for a code, which verifies the email and drops nothing', async () => {
    await open();
    expect(
      (await app.http.post('/auth/signup/credential').send({ ...ada, email: 'b@example.com' })).status,
    ).toBe(201);
    await settled(app.auth);
    // The sign-up mails nothing.
    expect(mails.mails).toEqual([]);
    const browser = app.browser();
    const mail = await mailFor(async () => {
      const { body } = await signIn(browser).expect(200);
      expect(body).toEqual({
        second_factor: {
          methods: ['email_code'],
          expires_at: expect.any(String),
          pending_token: expect.any(String),
        },
      });
    });
    expect([mail.url, mail.token]).toEqual(['', '']);
    expect(`${mail.text}${mail.html}`).not.toMatch(/https?:|href/);
    await browser.get('/auth/me').expect(401);
    expect(await proofOf()).toEqual(['none', false, true]);
    expectProblem(await complete(browser, other(mail.code)), 401, 'invalid_code');
    const { body } = await complete(browser, mail.code).expect(200);
    expect(body.user.email_verified_at).toMatch(/Z$/);
    expect(body.session).toMatchObject({ aal: 1, amr: ['pwd', 'email'] });
    expect(await proofOf()).toEqual(['mailbox', true, true]);
    await browser.get('/auth/me').expect(200);
    await signIn(app.browser()).expect(200, /session/);
    expect(mails.mails.map(({ kind }) => kind)).not.toContain('verify-email');
  });

  test.each<[string, CookieOptions, planted: string]>([
    ['a domain', { domain: 'example.com' }, '__Secure-latchkey-pending'],
    ['another path', { path: '/auth' }, '__Secure-latchkey-pending'],
    ['a name', { name: 'sid' }, 'sid-pending'],
  ])('cannot be planted by another host if the session cookie has %s', async (_what, cookie, planted) => {
    await open({}, { baseUrl: 'https://app.example.com', session: { cookie } });
    const secure = (path: string) => app.http.post(path).set('x-forwarded-proto', 'https');
    let answer: request.Response | undefined;
    // A stranger has signed up with the address, knows the password, and plants the cookie in the owner's browser.
    const { code } = await mailFor(async () => {
      answer = await secure('/auth/signin/credential').send(credentials).expect(200);
    });
    const lines = [answer?.headers['set-cookie']].flat().map(String);
    const set = lines.filter((line) => line.includes('-pending='));
    expect(set).toEqual([
      expect.stringMatching(/^__Host-[^;]*; Path=\/; [^;]*; HttpOnly; Secure; SameSite=Lax$/),
    ]);
    const typed = (name: string) =>
      secure('/auth/signin/second-factor')
        .set('cookie', `${name}=${answer?.body.second_factor.pending_token}`)
        .send({ method: 'email_code', code });
    expectProblem(await typed(planted), 401, 'sign_in_expired');
    expect(await proofOf()).toEqual(['none', false, true]);
    await typed(set[0]?.split('=')[0] ?? '').expect(200);
    expect(await proofOf()).toEqual(['mailbox', true, true]);
  });

  test('by a wrong password reveals nothing, and mails nothing', async () => {
    await open();
    const wrong = await app.http.post('/auth/signin/credential').send({ ...credentials, password: 'wrong' });
    expectProblem(wrong, 401, 'invalid_credentials');
    await settled(app.auth);
    expect(mails.mails).toEqual([]);
  });

  test('ends with the fifth wrong code, and after ten minutes', async () => {
    await open();
    for (const end of ['codes', 'time']) {
      const browser = app.browser();
      const { code } = await mailFor(() => signIn(browser).expect(200));
      if (end === 'time') advance(app.auth, 601);
      else {
        for (let time = 1; time < 5; time++)
          expectProblem(await complete(browser, other(code)), 401, 'invalid_code');
        expectProblem(await complete(browser, other(code)), 401, 'sign_in_expired');
      }
      expectProblem(await complete(browser, code), 401, 'sign_in_expired');
    }
    expect(await proofOf()).toEqual(['none', false, true]);
  });

  test('mails the same code again, three times', async () => {
    await open();
    const browser = app.browser();
    const { code } = await mailFor(() => signIn(browser).expect(200));
    for (let time = 0; time < 3; time++)
      await browser.post('/auth/signin/second-factor/send').send({}).expect(202);
    await browser.post('/auth/signin/second-factor/send').send({}).expect(429);
    await settled(app.auth);
    expect(mails.mails.map((mail) => [mail.kind, mail.code])).toEqual(
      Array(4).fill(['verification-code', code]),
    );
  });

  test('mails at most ten codes an hour to an account, and a code that was not mailed is wrong', async () => {
    await open();
    await app.stop();
    mails = mailbox();
    app = await startApp({
      plugins: pluginsWith(),
      config: {
        baseUrl: PAGE,
        email: { send: mails.send },
        rateLimit: { signIn: false, mailAddress: false },
      },
    });
    ({ id } = await app.auth.users.create(ada));
    for (let time = 0; time < 12; time++) await signIn(app.browser()).expect(200);
    await settled(app.auth);
    expect(mails.mails).toHaveLength(10);
  });

  test('does not complete after the address has changed', async () => {
    await open();
    const browser = app.browser();
    const { code } = await mailFor(() => signIn(browser).expect(200));
    await app.auth.users.changeEmail(id, 'moved@example.com');
    const { status, body } = await complete(browser, code);
    expect([status, ['sign_in_expired', 'invalid_code'].includes(body.code)]).toEqual([401, true]);
    expect(await proofOf()).toEqual(['none', false, true]);
  });
});

test('one code is for the address and for an unknown browser', async () => {
  await open({ unknownBrowser: 'code' });
  const browser = app.browser();
  const { code } = await mailFor(() => signIn(browser).expect(200));
  await complete(browser, code).expect(200);
  await settled(app.auth);
  expect(mails.mails.map(({ kind }) => kind)).toEqual(['verification-code']);
});

test('an account with a second factor provides it afterwards, and proves the mailbox then', async () => {
  await open();
  const owner = app.browser();
  await complete(owner, (await mailFor(() => signIn(owner).expect(200))).code).expect(200);
  const { secret } = await enroll(owner as never);
  await app.auth.users.changeEmail(id, 'new@example.com');
  await app.auth.users.changeEmail(id, ada.email);
  expect((await proofOf())[1]).toBe(false);
  await forgetSteps(app as never);
  const browser = app.browser();
  const { code } = await mailFor(async () => {
    const { body } = await signIn(browser).expect(200);
    expect(body.second_factor.methods).toEqual(['email_code']);
  });
  const { body } = await complete(browser, code).expect(200);
  expect(body.second_factor.methods).toContain('totp');
  expect(body.session).toBeUndefined();
  expect((await proofOf())[1]).toBe(false);
  expectProblem(await complete(browser, code), 401, 'invalid_code');
  const totp = { method: 'totp', code: codeOf(secret) };
  const done = await browser.post('/auth/signin/second-factor').send(totp).expect(200);
  expect(done.body.session).toMatchObject({ aal: 2 });
  expect((await proofOf())[1]).toBe(true);
});

test('a passkey waits for a code too, and stays two factors', async () => {
  await open();
  const owner = app.browser();
  await complete(owner, (await mailFor(() => signIn(owner).expect(200))).code).expect(200);
  const device = authenticator();
  await addPasskey(owner, device);
  await app.auth.users.changeEmail(id, 'new@example.com');
  await app.auth.users.changeEmail(id, ada.email);
  const browser = app.browser();
  const { code } = await mailFor(async () => {
    const answer = await signInWith(browser, device);
    expect(answer.body.second_factor.methods).toEqual(['email_code']);
  });
  const { body } = await complete(browser, code).expect(200);
  expect(body.session.aal).toBe(2);
});

test('an emailed sign-in proves the mailbox itself', async () => {
  await open();
  const browser = app.browser();
  const { code } = await mails.mailOf(ada.email, 'sign-in-code', () =>
    browser.post('/auth/signin/email').send({ email: ada.email }).expect(202),
  );
  await browser
    .post('/auth/signin/email/confirm')
    .send({ code })
    .expect(200, /session/);
});

test('a session that the app creates cannot have a second step, and no link is mailed', async () => {
  await open();
  await expect(app.auth.createSession(id)).rejects.toMatchObject({ code: 'email_not_verified' });
  await settled(app.auth);
  expect(mails.mails).toEqual([]);
});

test('code can complete it', async () => {
  await open();
  let pendingToken = '';
  const { code } = await mailFor(async () => {
    const signedIn = await app.auth.credential.signIn(credentials);
    pendingToken = 'secondFactor' in signedIn ? signedIn.secondFactor.pendingToken : '';
  });
  const signedIn = await app.auth.completeSignIn({ pendingToken, method: 'email_code', code });
  expect('session' in signedIn && signedIn.session.amr).toEqual(['pwd', 'email']);
});
