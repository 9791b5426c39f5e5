import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { admin, apiKeys, credentialPassword, emailSignIn, suspension } from '../../../lib/index.js';
import { ada, type SpecApp, sessionCookie, signedIn, startApp } from '../../support/app.js';
import { advance } from '../../support/clock.js';
import { rows } from '../../support/database.js';
import { mailbox } from '../../support/mailbox.js';
import { expectProblem } from '../../support/problem.js';
import { settled } from '../../support/sessions.js';

/** A reset with a code that is typed in the browser that asked for it. */
const plugins = [
  credentialPassword({ resetBy: 'code', username: true, bcryptCost: 4 }),
  emailSignIn(),
  apiKeys(),
  admin({ adminEmails: ['admin@example.com'] }),
  suspension(),
] as const;
const NEW_PASSWORD = 'a difference engine';
const grace = { email: 'grace@example.com', password: 'a nanosecond of wire' };

let app: SpecApp<typeof plugins>;
let mails: ReturnType<typeof mailbox>;
let id: string;
beforeEach(async () => {
  mails = mailbox();
  app = await startApp({
    plugins,
    config: { baseUrl: 'http://app.example.com', email: { send: mails.send } },
  });
  ({ id } = await app.auth.users.create({ ...ada, username: 'ada.lovelace', emailVerified: true }));
});
afterEach(() => app.stop());

type Browser = ReturnType<typeof app.browser>;
const ask = (browser: Browser, email: string = ada.email) =>
  browser.post('/auth/passwords/request-reset').send({ email });
const mailFor = (browser: Browser, email: string = ada.email) =>
  mails.mailOf(email, 'reset-code', () => ask(browser, email).expect(202));
const reset = (browser: Browser, code: string, new_password = NEW_PASSWORD) =>
  browser.post('/auth/passwords/reset').send({ code, new_password });
const signIn = (credential: string, given: string) =>
  app.http.post('/auth/signin/credential').send({ credential, password: given });
const other = (code: string) => code.replace(/.$/, (last) => String((Number(last) + 1) % 10));
const tries = async () =>
  (await rows<{ tries: number }>(app.database, 'SELECT tries FROM code_requests')).map((row) => row.tries);

describe('a code for a new password', () => {
  test('is mailed without a link, and resets the password in that browser', async () => {
    const session = app.browser();
    await session
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: ada.password })
      .expect(200);
    const browser = app.browser();
    let asked: Awaited<ReturnType<typeof ask>> | undefined;
    const mail = await mails.mailOf(ada.email, 'reset-code', async () => {
      asked = await ask(browser).set('user-agent', 'Firefox/1').expect(202);
    });
    expect(Object.keys(asked?.body)).toEqual(['expires_at']);
    expect(new Date(asked?.body.expires_at).getTime() - Date.now()).toBeGreaterThan(590_000);
    const cookie = sessionCookie(asked as never, 'latchkey-reset');
    expect(cookie?.attributes).toEqual(expect.arrayContaining(['Path=/', 'HttpOnly', 'SameSite=Lax']));
    expect(mail).toMatchObject({ code: /^\d{8}$/.exec(mail.code)?.[0], token: '', url: '' });
    expect(mail.text).toContain(mail.code);
    expect(`${mail.text}${mail.html}`).not.toMatch(/https?:|href/);
    expect(mail.subject).not.toContain(mail.code);
    const answer = await reset(browser, ` ${mail.code.slice(0, 4)}-${mail.code.slice(4)} `).expect(204);
    expect(sessionCookie(answer, 'latchkey-reset')?.value).toBe('');
    expect(sessionCookie(answer)).toBeUndefined();
    expectProblem(await session.get('/auth/me'), 401, 'invalid_session');
    expectProblem(await signIn(ada.email, ada.password), 401, 'invalid_credentials');
    await signIn(ada.email, NEW_PASSWORD).expect(200);
    expectProblem(await reset(browser, mail.code), 401, 'code_expired');
    await settled(app.auth);
    expect(mails.mails.map(({ kind }) => kind)).toEqual(['reset-code', 'password-changed']);
  });

  test('is expired in another browser, and without a request', async () => {
    const browser = app.browser();
    const { code } = await mailFor(browser);
    expectProblem(await reset(app.browser(), code), 401, 'code_expired');
    const elsewhere = app.browser();
    await mailFor(elsewhere);
    expectProblem(await reset(elsewhere, code), 401, 'invalid_code');
    expectProblem(
      await app.http.post('/auth/passwords/reset').send({ code, new_password: NEW_PASSWORD }),
      401,
      'code_expired',
    );
    await reset(browser, code).expect(204);
  });

  test('ends with the fifth wrong one, which moves no counter of the account', async () => {
    const browser = app.browser();
    const { code } = await mailFor(browser);
    for (let time = 1; time < 5; time++)
      expectProblem(await reset(browser, other(code)), 401, 'invalid_code');
    expectProblem(await reset(browser, other(code)), 401, 'code_expired');
    expectProblem(await reset(browser, code), 401, 'code_expired');
    await signIn(ada.email, ada.password).expect(200);
    const again = await mailFor(browser);
    expect(again.code).not.toBe(code);
    await reset(browser, again.code).expect(204);
  });

  test('ends after ten minutes', async () => {
    const browser = app.browser();
    const { code } = await mailFor(browser);
    advance(app.auth, 601);
    expectProblem(await reset(browser, code), 401, 'code_expired');
    expect(await app.auth.prune()).toBeGreaterThan(0);
    expect(await app.auth.models.CodeRequest.count()).toBe(0);
  });

  test('is not right before it was mailed', async () => {
    const browser = app.browser();
    const { code } = await mailFor(browser);
    await app.auth.models.CodeRequest.update({ sentAt: null }, { where: {} });
    expectProblem(await reset(browser, code), 401, 'invalid_code');
  });

  test('stays the same when it is asked for again, at most three times', async () => {
    const browser = app.browser();
    const first = await ask(browser).expect(202);
    for (let time = 1; time < 5; time++) {
      const { status, body } = await ask(browser);
      expect([status, body]).toEqual([202, first.body]);
    }
    await settled(app.auth);
    const codes = mails.mails.filter(({ kind }) => kind === 'reset-code').map(({ code }) => code);
    expect(codes).toHaveLength(4);
    expect(new Set(codes).size).toBe(1);
    // With less than two minutes left, another request begins.
    advance(app.auth, 481);
    const later = await mailFor(browser);
    expect(later.code).not.toBe(codes[0]);
    await reset(browser, later.code).expect(204);
  });

  test('ends when the browser asks for another address, or for something that is not an address', async () => {
    await app.auth.users.create(grace);
    for (const email of [grace.email, 'ada@']) {
      const browser = app.browser();
      const { code } = await mailFor(browser);
      await ask(browser, email).expect(202);
      await settled(app.auth);
      expect(['invalid_code', 'code_expired']).toContain((await reset(browser, code).expect(401)).body.code);
    }
    await signIn(ada.email, ada.password).expect(200);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['a new password', () => app.auth.users.setPassword(id, 'another password of hers')],
    ['a new email', () => app.auth.users.changeEmail(id, 'moved@example.com', { verified: true })],
    ['its account', () => app.auth.users.delete(id)],
  ])('ends with %s', async (_what, end) => {
    const browser = app.browser();
    const { code } = await mailFor(browser);
    await end();
    expectProblem(await reset(browser, code), 401, 'invalid_code');
  });

  test.each<[string, () => Promise<unknown>]>([
    ['a new password', () => app.auth.users.setPassword(id, 'another password of hers')],
    [
      'a reset in another browser',
      async () => {
        const other = app.browser();
        await reset(other, (await mailFor(other)).code, 'another password of hers').expect(204);
      },
    ],
    [
      'a new owner of the address',
      async () => {
        await app.auth.users.changeEmail(id, 'moved@example.com', { verified: true });
        await app.auth.users.create({ ...grace, email: ada.email });
      },
    ],
  ])('stays wrong after %s when it is asked for again, and another one is mailed', async (_what, end) => {
    const browser = app.browser();
    const { code } = await mailFor(browser);
    await end();
    const again = await mailFor(browser);
    expect(again.code).not.toBe(code);
    expectProblem(await reset(browser, code), 401, 'invalid_code');
    await reset(browser, again.code).expect(204);
  });

  test('shows no end to the browser that asks again', async () => {
    const seen = async (email: string, end?: () => Promise<unknown>) => {
      const browser = app.browser();
      const first = await ask(browser, email).expect(202);
      await settled(app.auth);
      await end?.();
      const { status, body } = await ask(browser, email);
      await settled(app.auth);
      const wrong = await reset(browser, '0');
      return [status, body.expires_at === first.body.expires_at, wrong.status, wrong.body.code];
    };
    const known = await seen(ada.email, () => app.auth.users.setPassword(id, 'another password of hers'));
    expect(known).toEqual([202, true, 401, 'invalid_code']);
    expect(await seen('nobody@example.com')).toEqual(known);
  });

  test('does not open an account that has taken the address since', async () => {
    const browser = app.browser();
    const { code } = await mailFor(browser);
    await app.auth.users.changeEmail(id, 'moved@example.com', { verified: true });
    await app.auth.users.create({ ...grace, email: ada.email });
    expectProblem(await reset(browser, code), 401, 'invalid_code');
    await signIn(ada.email, grace.password).expect(200);
  });

  test('survives a revoke-all, as a link does', async () => {
    const browser = app.browser();
    const { code } = await mailFor(browser);
    await app.auth.revokeAllSessions(id);
    await reset(browser, code).expect(204);
  });

  test('a reset in one browser ends the codes in others', async () => {
    const [one, two] = [app.browser(), app.browser()];
    const [first, second] = [await mailFor(one), await mailFor(two)];
    await reset(one, first.code).expect(204);
    expectProblem(await reset(two, second.code), 401, 'invalid_code');
  });

  test('proves the mailbox, and removes what a stranger has attached before the first proof', async () => {
    const stranger = await signedIn(app, grace);
    const { body } = await stranger.post('/auth/api-keys').send({ name: 'a way back in' }).expect(201);
    const browser = app.browser();
    const { code } = await mailFor(browser, grace.email);
    await reset(browser, code).expect(204);
    await app.http.get('/auth/me').set('x-service-api-key', body.key).expect(401);
    const user = await app.auth.users.find({ email: grace.email });
    expect(user?.emailVerifiedAt).toBeInstanceOf(Date);
  });
});

describe('a refused password', () => {
  test('uses nothing up and counts nothing, before the code and after it', async () => {
    const browser = app.browser();
    const { code } = await mailFor(browser);
    for (const bad of ['short', 'password1', ada.email, 'x'.repeat(257)])
      for (const given of [code, other(code)]) {
        const { errors } = expectProblem(await reset(browser, given, bad), 422, 'validation_failed');
        expect(errors?.map(({ pointer }) => pointer)).toEqual(['/new_password']);
      }
    // This rule needs the account, so a wrong code does not reveal it.
    expectProblem(await reset(browser, other(code), 'ada.lovelace'), 401, 'invalid_code');
    for (let time = 0; time < 6; time++)
      expectProblem(await reset(browser, code, 'Ada.Lovelace'), 422, 'validation_failed');
    expect(await tries()).toEqual([1]);
    await reset(browser, code).expect(204);
  });

  test('of an account that needs a new password must be another one', async () => {
    await app.auth.users.requireNewPassword(id);
    const browser = app.browser();
    const { code } = await mailFor(browser);
    const { errors } = expectProblem(await reset(browser, code, ada.password), 422, 'validation_failed');
    expect(errors?.[0]?.code).toBe('same_password');
    expect(await tries()).toEqual([0]);
    await reset(browser, code).expect(204);
  });
});

test('a suspended account refuses a right code, which stays right', async () => {
  const browser = app.browser();
  const { code } = await mailFor(browser);
  await app.auth.suspension.suspend(id);
  for (let time = 0; time < 6; time++) expectProblem(await reset(browser, code), 403, 'account_suspended');
  expectProblem(await reset(browser, other(code)), 401, 'invalid_code');
  await app.auth.suspension.reinstate(id);
  await reset(browser, code).expect(204);
});

test('a reset and an emailed sign-in in one browser do not end each other', async () => {
  const browser = app.browser();
  const resetting = await mailFor(browser);
  const signingIn = await mails.mailOf(ada.email, 'sign-in-code', () =>
    browser.post('/auth/signin/email').send({ email: ada.email }).expect(202),
  );
  expect(signingIn.code).not.toBe(resetting.code);
  expectProblem(await reset(browser, signingIn.code), 401, 'invalid_code');
  await browser.post('/auth/signin/email/confirm').send({ code: signingIn.code }).expect(200);
  await browser.post('/auth/signout').expect(204);
  await reset(browser, resetting.code).expect(204);
});

test('mails that no browser has asked for keep their links', async () => {
  const invited = 'new@example.com';
  const mail = await mails.mailOf(invited, 'invitation', () => app.auth.admin.createUser({ email: invited }));
  expect([mail.code, mail.url]).toEqual(['', expect.stringContaining(mail.token)]);
  const chosen = { token: mail.token, new_password: NEW_PASSWORD };
  await app.http.post('/auth/passwords/reset').send(chosen).expect(204);
  const { token } = await mails.mailOf(ada.email, 'reset-password', () =>
    app.auth.admin.sendPasswordReset(id),
  );
  await app.auth.credential.resetPassword({ token, newPassword: NEW_PASSWORD });
  const invalid = await app.http
    .post('/auth/passwords/reset')
    .send({ token: 'x', new_password: NEW_PASSWORD });
  expectProblem(invalid, 400, 'invalid_token');
  for (const body of [{}, { token: 'x', code: 'y' }])
    expectProblem(
      await app.http.post('/auth/passwords/reset').send({ ...body, new_password: NEW_PASSWORD }),
      422,
      'validation_failed',
    );
});

test('a form leads to the page of the code, and then to its own page', async () => {
  const browser = app.browser();
  const asked = await browser
    .post('/auth/passwords/request-reset')
    .type('form')
    .send({ email: ada.email, redirect_to: '/home' })
    .expect(303);
  expect(asked.headers.location).toBe('/reset-password');
  const named = { email: ada.email, confirm_to: '/code' };
  const { code } = await mails.mailOf(ada.email, 'reset-code', async () => {
    const answer = await browser.post('/auth/passwords/request-reset').type('form').send(named);
    expect(answer.headers.location).toBe('/code');
  });
  const form = { code, new_password: NEW_PASSWORD, redirect_to: '/done' };
  const answer = await browser.post('/auth/passwords/reset').type('form').send(form).expect(303);
  expect(answer.headers.location).toBe('/done');
});

test('code can ask and reset, and neither the code nor the token is stored', async () => {
  let requested: { expiresAt: Date; pendingToken: string } | undefined;
  const { code } = await mails.mailOf(ada.email, 'reset-code', async () => {
    requested = await app.auth.credential.requestPasswordReset({ email: ada.email });
  });
  const { pendingToken = '' } = requested ?? {};
  const dump = JSON.stringify(await rows(app.database, 'SELECT * FROM code_requests'), (_key, value) =>
    value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
  );
  expect(dump).toContain(ada.email);
  expect(dump).not.toContain(code);
  expect(dump).not.toContain(pendingToken.slice(4));
  expect(app.log.join()).not.toContain(code);
  const input = { code, newPassword: NEW_PASSWORD };
  await expect(app.auth.credential.resetPassword(input)).rejects.toMatchObject({ code: 'code_expired' });
  await expect(app.auth.credential.resetPassword({ newPassword: NEW_PASSWORD })).rejects.toThrow(
    /either a code or a token/,
  );
  await app.auth.credential.resetPassword({ ...input, pendingToken });
  await signIn(ada.email, NEW_PASSWORD).expect(200);
});
