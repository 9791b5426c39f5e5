import { afterEach, describe, expect, test } from '@jest/globals';
import { createAuth } from '../../lib/index.js';
import { ada, password, SECRET, sessionCookie } from '../support/app.js';
import { expectProblem } from '../support/problem.js';

import {
  app,
  DEVICE,
  grace,
  mails,
  type Options,
  signUp,
  start,
  tokenOf,
  userOf,
  verify,
} from '../support/sign-up-browser.js';

// Verification by one click, in the browser in which the account was made. How the browser is found is in
// sign-up-browser.db.spec.ts.
afterEach(() => app.stop());

describe('a click on the link', () => {
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
