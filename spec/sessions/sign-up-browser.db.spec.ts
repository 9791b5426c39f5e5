import { afterEach, describe, expect, test } from '@jest/globals';
import { createAuth } from '../../lib/index.js';
import { ada, password, SECRET, type SpecApp, sessionCookie, startApp } from '../support/app.js';
import { mailbox } from '../support/mailbox.js';
import { expectProblem } from '../support/problem.js';
import { ago } from '../support/sessions.js';
import { firstStep } from '../support/two-factor.js';

// Verification by one click, in the browser in which the account was made.
/** The cookie of a browser, which only this host can set: see own-browser.walk.spec.ts. */
const DEVICE = '__Host-latchkey-device';

type Options = NonNullable<Parameters<typeof password>[0]>;
let app: SpecApp<readonly [ReturnType<typeof password>]>;
let mails: ReturnType<typeof mailbox>;
const start = async (options: Options = {}, config: object = {}) => {
  mails = mailbox();
  const credential = password({ verifyEmailBy: 'link', sendVerificationOnSignUp: true, ...options });
  app = await startApp({
    plugins: [credential] as const,
    config: { baseUrl: 'https://app.example.com', email: { send: mails.send }, ...config },
  });
};
afterEach(() => app.stop());

type Browser = ReturnType<typeof app.browser>;
const signUp = (browser: Browser, who = ada) => browser.post('/auth/signup/credential').send(who);
/** Signs up. @returns the token of the link that is mailed */
const tokenOf = async (browser: Browser, who = ada) =>
  (await mails.mailOf(who.email, 'verify-email', () => signUp(browser, who))).token;
const verify = (browser: Browser, token: string) => browser.post('/auth/verify-email').send({ token });
const userOf = async ({ email } = ada) => (await app.auth.users.find({ email }))!;
const grace = { email: 'grace@example.com', password: 'a moth in a relay' };

describe('a click on the link', () => {
  test('verifies in the browser of the sign-up, and signs nobody in', async () => {
    await start();
    const browser = app.browser();
    const answer = await verify(browser, await tokenOf(browser)).expect(200);
    expect(answer.body.user.email_verified_at).not.toBeNull();
    expect(sessionCookie(answer, '__Host-latchkey')).toBeUndefined();
    await browser.get('/auth/me').expect(401);
    // Nothing that was given at the sign-up is dropped.
    await firstStep(browser).expect(200);
  });

  test('wants the session or the password elsewhere', async () => {
    await start();
    const token = await tokenOf(app.browser());
    expectProblem(await verify(app.browser(), token), 401, 'unauthenticated');
    const elsewhere = app.browser();
    await elsewhere.post('/auth/verify-email').send({ token, password: ada.password }).expect(200);
  });

  test('never verifies the account that a stranger has made with the address', async () => {
    await start();
    const stranger = app.browser();
    const token = await tokenOf(stranger);
    // The owner of the mailbox has signed up here too, with another address.
    const owner = app.browser();
    await tokenOf(owner, grace);
    expectProblem(await verify(owner, token), 401, 'unauthenticated');
    expect((await userOf()).emailVerifiedAt).toBeNull();
  });

  test('wants the session or the password in a browser that has reset the password', async () => {
    await start({ sendVerificationOnSignUp: false });
    const { id } = await app.auth.users.create(ada);
    const browser = app.browser();
    const { token } = await mails.mailOf(ada.email, 'reset-password', () =>
      browser.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202),
    );
    await browser.post('/auth/passwords/reset').send({ token, new_password: ada.password }).expect(204);
    await app.auth.users.changeEmail(id, grace.email);
    const link = await mails.mailOf(grace.email, 'verify-email', () =>
      app.auth.credential.sendVerification({ userId: id }),
    );
    expectProblem(await verify(browser, link.token), 401, 'unauthenticated');
  });

  test('wants the session or the password after a day', async () => {
    await start();
    const browser = app.browser();
    const token = await tokenOf(browser);
    await app.auth.models.RecentBrowser.update({ expiresAt: ago(1000) }, { where: {} });
    expectProblem(await verify(browser, token), 401, 'unauthenticated');
  });

  test('is enough after a sign-in there has given the browser another value', async () => {
    await start();
    const browser = app.browser();
    const token = await tokenOf(browser);
    await tokenOf(browser, grace);
    await firstStep(browser, grace).expect(200);
    await browser.post('/auth/signout').expect(204);
    await verify(browser, token).expect(200);
  });

  test('is enough where the sign-up has begun a session that has ended', async () => {
    await start({ signInOnSignUp: true });
    const browser = app.browser();
    const token = await tokenOf(browser);
    await browser.post('/auth/signout').expect(204);
    await verify(browser, token).expect(200);
    expectProblem(await verify(app.browser(), token), 400, 'invalid_token');
  });

  test('without the option wants the session or the password there too', async () => {
    await start({ verifyEmailBy: 'password', unknownBrowser: 'code' });
    const browser = app.browser();
    expectProblem(await verify(browser, await tokenOf(browser)), 401, 'unauthenticated');
  });

  test('by code needs the request of that browser', async () => {
    await start();
    const answer = await signUp(app.browser()).expect(201);
    const cookie = `${DEVICE}=${sessionCookie(answer, DEVICE)?.value}`;
    const { token } = await mails.mailOf(ada.email, 'verify-email', async () =>
      app.auth.credential.sendVerification({ userId: (await userOf()).id }),
    );
    await expect(app.auth.credential.verifyEmail({ token })).rejects.toMatchObject({
      code: 'unauthenticated',
    });
    const request = { headers: { cookie } };
    expect((await app.auth.credential.verifyEmail({ token, request })).email).toBe(ada.email);
  });
});

describe('the browser of a sign-up', () => {
  test('gets a new value, by which it is known for what it was known for', async () => {
    await start({ sendVerificationOnSignUp: false });
    await app.auth.users.create({ ...grace, emailVerified: true });
    const first = await firstStep(app.browser(), grace).expect(200);
    const before = sessionCookie(first, DEVICE)?.value;
    const answer = await app.http
      .post('/auth/signup/credential')
      .set('cookie', `${DEVICE}=${before}`)
      .send(ada)
      .expect(201);
    const { value, attributes = [] } = sessionCookie(answer, DEVICE) ?? {};
    expect(value).toMatch(/^lkd_/);
    expect(value).not.toBe(before);
    expect(attributes).toEqual(expect.arrayContaining(['HttpOnly', 'SameSite=Lax', 'Path=/']));
    const again = await app.http
      .post('/auth/signin/credential')
      .set('cookie', `${DEVICE}=${value}`)
      .send({ credential: grace.email, password: grace.password })
      .expect(200);
    expect(sessionCookie(again, DEVICE)?.value).toBe(value);
    // The account that was made knows the browser for a day, and not as a device.
    expect(await app.auth.models.Device.count({ where: { userId: (await userOf()).id } })).toBe(0);
  });

  test('keeps what was attached when it resets the password of its account for the first time', async () => {
    await start();
    const browser = app.browser();
    await tokenOf(browser);
    const { id } = await userOf();
    const key = await app.auth.createSession(id);
    const { token } = await mails.mailOf(ada.email, 'reset-password', () =>
      browser.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202),
    );
    await browser.post('/auth/passwords/reset').send({ token, new_password: 'a difference engine' });
    const changes = await app.auth.models.AccountChange.count({
      where: { userId: id, kind: 'password-changed' },
    });
    expect(changes).toBe(1);
    expect(await app.auth.revokeSession(key.token)).toBe(false);
  });

  test('gets the value for a client that names its device', async () => {
    await start({}, { bearerEnabled: true });
    const { token } = await mails.mailOf(ada.email, 'verify-email', async () => {
      const { body, headers } = await app.http
        .post('/auth/signup/credential')
        .set('latchkey-device', 'new')
        .send(ada)
        .expect(201);
      expect(headers['set-cookie']).toBeUndefined();
      device = body.device_token;
    });
    expect(device).toMatch(/^lkd_/);
    const send = (value: string) =>
      app.http.post('/auth/verify-email').set('latchkey-device', value).send({ token });
    expectProblem(await send('new'), 401, 'unauthenticated');
    await send(device).expect(200);
  });
  let device = '';

  test('is not remembered without the options that need it', async () => {
    await start({ verifyEmailBy: 'password' });
    const answer = await signUp(app.browser()).expect(201);
    expect(sessionCookie(answer, DEVICE)).toBeUndefined();
    expect(await app.auth.models.RecentBrowser.count()).toBe(0);
  });

  test('is the same for a taken address that is concealed', async () => {
    await start({ concealExistingEmails: true });
    const made = await signUp(app.browser()).expect(202);
    const taken = await signUp(app.browser()).expect(202);
    const shape = (cookie: ReturnType<typeof sessionCookie>) => [cookie?.value.length, cookie?.attributes];
    expect(shape(sessionCookie(taken, DEVICE))).toEqual(shape(sessionCookie(made, DEVICE)));
    expect(taken.body).toEqual(made.body);
    expect(Object.keys(taken.headers).sort()).toEqual(Object.keys(made.headers).sort());
    expect(await app.auth.models.RecentBrowser.count()).toBe(2);
  });
});

describe('the config', () => {
  const make = (options: Options, config: object = {}) =>
    createAuth({
      database: 'sqlite::memory:',
      secret: SECRET,
      baseUrl: 'http://app.example.com',
      email: { send: () => {} },
      ...config,
      plugins: [password(options)],
    });

  test('says what verification by a click and codes need', async () => {
    await start();
    expect(() => make({ verifyEmailBy: 'link' }, { email: undefined })).toThrow(
      "credentialPassword: verifyEmailBy: 'link' requires email: { send } in the config",
    );
    expect(() => make({ unknownBrowser: 'code' }, { email: undefined })).toThrow(
      "credentialPassword: unknownBrowser: 'code' requires email: { send } in the config",
    );
    const domain = { session: { cookie: { domain: 'example.com' } } };
    expect(() => make({ verifyEmailBy: 'link' }, domain)).toThrow(/session\.cookie\.domain are mutually/);
    expect(() => make({ unknownBrowser: 'code' }, domain)).not.toThrow();
    expect(() => make({ verifyEmailBy: 'click' as never })).toThrow("must be 'password', 'link' or 'code'");
    expect(() => make({ unknownBrowser: 'ask' as never })).toThrow("must be 'notify' or 'code'");
  });

  test('without https leaves the browsers of sign-ups out, because another host could set their cookie', async () => {
    await start({}, { baseUrl: 'http://app.example.com' });
    const browser = app.browser();
    const { token } = await mails.mailOf(ada.email, 'verify-email', async () => {
      const answer = await signUp(browser).expect(201);
      expect(sessionCookie(answer, 'latchkey-device')).toBeUndefined();
    });
    expect(await app.auth.models.RecentBrowser.count()).toBe(0);
    expectProblem(await verify(browser, token), 401, 'unauthenticated');
    await browser.post('/auth/verify-email').send({ token, password: ada.password }).expect(200);
  });

  test('with a cookie for a domain remembers the browsers of sign-ups, by a cookie of this host', async () => {
    const domain = { session: { cookie: { domain: 'example.com' } } };
    await start({ verifyEmailBy: 'password', unknownBrowser: 'code' }, domain);
    const answer = await signUp(app.browser()).expect(201);
    expect(sessionCookie(answer, DEVICE)?.attributes).toEqual(expect.arrayContaining(['Path=/', 'Secure']));
    expect(await app.auth.models.RecentBrowser.count()).toBe(1);
  });
});
