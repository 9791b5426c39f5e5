import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { admin, createAuth, emailSignIn, suspension } from '../../../../lib/index.js';
import { ada, password, SECRET, type SpecApp, sessionCookie, startApp } from '../../../support/app.js';
import { rows } from '../../../support/database.js';
import { mailbox } from '../../../support/mailbox.js';
import { expectProblem } from '../../../support/problem.js';
import { ago, settled } from '../../../support/sessions.js';

const plugins = [
  password(),
  emailSignIn(),
  suspension(),
  admin({ adminEmails: ['admin@example.com'] }),
] as const;
const BASE = 'http://app.example.com';
let app: SpecApp<typeof plugins>;
let mails: ReturnType<typeof mailbox>;
let id: string;

beforeEach(async () => {
  mails = mailbox();
  app = await startApp({
    plugins,
    config: { baseUrl: BASE, bearerEnabled: true, email: { send: mails.send } },
  });
  ({ id } = await app.auth.users.create({ ...ada, emailVerified: true }));
  const proof = { emailProof: 'mailbox', mailboxProvedAt: new Date() } as const;
  await app.auth.models.User.update(proof, { where: { id } });
});
afterEach(() => app.stop());

type Browser = ReturnType<typeof app.browser>;
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0';

const ask = (browser: Browser, email: string = ada.email, more: object = {}) =>
  browser
    .post('/auth/signin/email')
    .set('user-agent', FIREFOX)
    .send({ email, ...more });
const mailFor = (browser: Browser, email: string = ada.email, more: object = {}) =>
  mails.mailOf(email, 'sign-in-code', () => ask(browser, email, more).expect(202));
const confirm = (browser: Browser, body: object) => browser.post('/auth/signin/email/confirm').send(body);
const other = (code: string) => `${code.slice(0, -1)}${code.endsWith('2') ? '3' : '2'}`;
const kinds = async () => {
  await settled(app.auth);
  return mails.mails.map(({ kind }) => kind);
};
const pendingOf = (answer: Parameters<typeof sessionCookie>[0]) => sessionCookie(answer, 'latchkey-pending');

describe('a code', () => {
  test('signs in in the browser that asked, and is typed in any case', async () => {
    const browser = app.browser();
    const mail = await mailFor(browser);
    expect(mail.code).toMatch(/^\d{8}$/);
    expect(mail.subject).not.toContain(mail.code);
    expect(mail.details).toMatchObject({ device: 'Firefox on Windows', ip: '127.0.0.1' });
    expect(mail.user).toMatchObject({ id });
    for (const text of [mail.text, mail.html])
      for (const part of [mail.code, mail.url, 'Firefox on Windows', 'works for 10 minutes, until '])
        expect(text).toContain(part);
    const answer = await confirm(browser, { code: ` ${mail.code.toLowerCase().replace('-', ' ')}` }).expect(
      200,
    );
    expect(answer.body).toMatchObject({ user: { id }, session: {} });
    // The cookie of the sign-in that waited is cleared, and the session is not remembered.
    expect(pendingOf(answer)?.value).toBe('');
    expect(sessionCookie(answer)?.attributes.join()).not.toMatch(/Max-Age/);
    await browser.get('/auth/me').expect(200);
    const [session] = await app.auth.listSessions(id);
    expect(session).toMatchObject({ aal: 1, amr: ['email'] });
  });

  test('works once, and not elsewhere', async () => {
    const browser = app.browser();
    const { code } = await mailFor(browser);
    expectProblem(await confirm(app.browser(), { code }), 401, 'sign_in_expired');
    const elsewhere = app.browser();
    await mailFor(elsewhere);
    expectProblem(await confirm(elsewhere, { code }), 401, 'invalid_code');
    await confirm(browser, { code }).expect(200);
    expectProblem(await confirm(browser, { code }), 401, 'sign_in_expired');
  });

  test('that is wrong five times ends the request, and pauses nothing else', async () => {
    const browser = app.browser();
    const { code } = await mailFor(browser);
    const failed: unknown[] = [];
    app.auth.on('sign_in.failed', (event) => failed.push(event));
    for (let time = 1; time < 5; time++)
      expectProblem(await confirm(browser, { code: other(code) }), 401, 'invalid_code');
    expectProblem(await confirm(browser, { code: other(code) }), 401, 'sign_in_expired');
    expectProblem(await confirm(browser, { code }), 401, 'sign_in_expired');
    expect(failed).toHaveLength(5);
    expect(failed[0]).toMatchObject({ userId: id, method: 'email' });
    const again = await mailFor(browser);
    expect(again.code).not.toBe(code);
    await confirm(browser, { code: again.code }).expect(200);
  });

  test('that is right after four wrong ones works', async () => {
    const browser = app.browser();
    const { code } = await mailFor(browser);
    for (let time = 1; time < 5; time++) await confirm(browser, { code: other(code) }).expect(401);
    await confirm(browser, { code }).expect(200);
  });

  test('is not right before it was mailed', async () => {
    const browser = app.browser();
    const { code } = await mailFor(browser);
    await app.auth.models.EmailedSignIn.update({ sentAt: null }, { where: {} });
    expectProblem(await confirm(browser, { code }), 401, 'invalid_code');
  });

  test.each<[string, (browser: Browser) => PromiseLike<unknown>]>([
    ['a revoke-all', () => app.auth.revokeAllSessions(id)],
    ['a new password', () => app.auth.users.setPassword(id, 'a difference engine')],
    ['its account', () => app.auth.users.delete(id)],
    ['signing out in that browser', (browser) => browser.post('/auth/signout').expect(204)],
    ['asking for another address there', (browser) => ask(browser, 'grace@example.com').expect(202)],
    ['ten minutes', () => app.auth.models.EmailedSignIn.update({ expiresAt: ago(1000) }, { where: {} })],
  ])('ends with %s', async (_what, end) => {
    const browser = app.browser();
    const { code } = await mailFor(browser);
    await end(browser);
    expect(['sign_in_expired', 'invalid_code']).toContain(
      (await confirm(browser, { code }).expect(401)).body.code,
    );
    expect(await app.auth.models.Session.count()).toBe(0);
  });

  test('ends with a suspension, and one of a suspended account is refused once it is right', async () => {
    const browser = app.browser();
    const { code } = await mailFor(browser);
    await app.auth.suspension.suspend(id);
    expectProblem(await confirm(browser, { code }), 401, 'sign_in_expired');
    const later = app.browser();
    const mail = await mailFor(later);
    expectProblem(await confirm(later, { code: other(mail.code) }), 401, 'invalid_code');
    expectProblem(await confirm(later, { code: mail.code }), 403, 'account_suspended');
  });

  test('opens no account whose email is another one since', async () => {
    const browser = app.browser();
    const { code } = await mailFor(browser);
    await app.auth.models.User.update({ email: 'other@example.com' }, { where: { id } });
    expectProblem(await confirm(browser, { code }), 401, 'sign_in_expired');
  });

  test('keeps the session with remember_me, also if only the second request says so', async () => {
    const browser = app.browser();
    await mailFor(browser);
    const { code } = await mailFor(browser, ada.email, { remember_me: true });
    const answer = await confirm(browser, { code }).expect(200);
    expect(sessionCookie(answer)?.attributes.join()).toMatch(/Max-Age/);
  });
});

describe('a link', () => {
  test('signs in in the browser that asked', async () => {
    const browser = app.browser();
    const { token, url } = await mailFor(browser);
    expect(url).toBe(`${BASE}/sign-in/email?token=${token}`);
    await confirm(browser, { token }).expect(200);
    expectProblem(await confirm(browser, { token }), 401, 'sign_in_expired');
  });

  test('uses nothing up elsewhere', async () => {
    const browser = app.browser();
    const { token } = await mailFor(browser);
    for (let time = 0; time < 6; time++)
      expectProblem(await confirm(app.browser(), { token }), 403, 'other_browser');
    const elsewhere = app.browser();
    const own = await mailFor(elsewhere);
    for (let time = 0; time < 6; time++)
      expectProblem(await confirm(elsewhere, { token }), 403, 'other_browser');
    await confirm(elsewhere, { code: own.code }).expect(200);
    await confirm(browser, { token }).expect(200);
    expectProblem(await confirm(app.browser(), { token }), 401, 'sign_in_expired');
  });

  test('that is made up is no other one', async () => {
    const browser = app.browser();
    await mailFor(browser);
    for (const token of ['x', `lkl_${'A'.repeat(48)}`])
      expectProblem(await confirm(browser, { token }), 401, 'sign_in_expired');
    expectProblem(await confirm(browser, { token: 'x', code: 'y' }), 422, 'validation_failed');
    expectProblem(await confirm(browser, {}), 422, 'validation_failed');
  });
});

describe('asking again', () => {
  test('mails the same code and link, three times, and moves nothing', async () => {
    const browser = app.browser();
    const first = await ask(browser).expect(202);
    const { code, token } = await mailFor(browser);
    for (let time = 2; time <= 3; time++) {
      const mail = await mailFor(browser);
      expect([mail.code, mail.token]).toEqual([code, token]);
    }
    const count = (await kinds()).length;
    const last = await ask(browser).expect(202);
    expect(last.body).toEqual(first.body);
    expect(pendingOf(last)?.value).toBe(pendingOf(first)?.value);
    expect(await kinds()).toHaveLength(count);
    await confirm(browser, { code }).expect(200);
  });

  test('moves the counter of wrong codes as little', async () => {
    const browser = app.browser();
    const { code } = await mailFor(browser);
    for (let time = 1; time < 5; time++) await confirm(browser, { code: other(code) }).expect(401);
    await mailFor(browser);
    expectProblem(await confirm(browser, { code: other(code) }), 401, 'sign_in_expired');
  });

  test('begins a new one if less than two minutes are left', async () => {
    const browser = app.browser();
    const { code } = await mailFor(browser);
    await app.auth.models.EmailedSignIn.update({ expiresAt: new Date(Date.now() + 110_000) }, { where: {} });
    const mail = await mailFor(browser);
    expect(mail.code).not.toBe(code);
    expectProblem(await confirm(browser, { code }), 401, 'invalid_code');
    await confirm(browser, { code: mail.code }).expect(200);
    expect(await app.auth.models.EmailedSignIn.count()).toBe(0);
  });
});

describe('what is answered', () => {
  test.each(['nobody@example.com', 'not an address', 'x'.repeat(320)])('to %j is the same', async (email) => {
    const known = await ask(app.browser()).expect(202);
    const unknown = await ask(app.browser(), email).expect(202);
    expect(Object.keys(unknown.body)).toEqual(Object.keys(known.body));
    expect(Object.keys(unknown.headers).sort()).toEqual(Object.keys(known.headers).sort());
    expect(pendingOf(unknown)?.value).toBe(unknown.body.pending_token);
    expect(pendingOf(unknown)?.value).toHaveLength(pendingOf(known)?.value.length ?? 0);
  });

  test('to an address without an account is a mail that says so', async () => {
    const to = 'nobody@example.com';
    const browser = app.browser();
    const mail = await mails.mailOf(to, 'no-account', () => ask(browser, to).expect(202));
    expect(mail).toMatchObject({ user: null, code: '', token: '', url: `${BASE}/sign-up` });
    expect(mail.text).toContain('Firefox on Windows');
    for (let time = 1; time < 5; time++)
      expectProblem(await confirm(browser, { code: 'BCDF-2345' }), 401, 'invalid_code');
    expectProblem(await confirm(browser, { code: 'BCDF-2345' }), 401, 'sign_in_expired');
  });

  test('to a client without cookies contains the token', async () => {
    let pending = '';
    const { code } = await mails.mailOf(ada.email, 'sign-in-code', async () => {
      const { body } = await app.http.post('/auth/signin/email').send({ email: ada.email }).expect(202);
      pending = body.pending_token;
    });
    const body = { code, pending_token: pending };
    const answer = await app.http.post('/auth/signin/email/confirm').send(body).expect(200);
    expect(answer.headers['set-auth-token']).toMatch(/^lks_/);
  });

  test('in code is the same', async () => {
    let pendingToken = '';
    const { code, token } = await mails.mailOf(ada.email, 'sign-in-code', async () => {
      ({ pendingToken } = await app.auth.emailSignIn.request({ email: ada.email, rememberMe: true }));
    });
    await expect(app.auth.emailSignIn.confirm({ pendingToken })).rejects.toThrow(TypeError);
    await expect(app.auth.emailSignIn.confirm({ token })).rejects.toMatchObject({ code: 'other_browser' });
    const issued = await app.auth.emailSignIn.confirm({ code, pendingToken });
    expect(issued).toMatchObject({ user: { id }, remembered: true });
  });
});

describe('forms', () => {
  const form = (browser: Browser, path: string, fields: Record<string, string>) =>
    browser.post(`/auth${path}`).type('form').send(fields);

  test('lead to the page for the code, and then on', async () => {
    const browser = app.browser();
    const { code } = await mails.mailOf(ada.email, 'sign-in-code', async () => {
      const answer = await form(browser, '/signin/email', { email: ada.email }).expect(303);
      expect(answer.headers.location).toBe('/sign-in/email');
      expect(pendingOf(answer)?.value).toMatch(/^lkp_/);
    });
    const to = await form(browser, '/signin/email', { email: ada.email, confirm_to: '/code?x=1' });
    expect(to.headers.location).toBe('/code?x=1');
    const evil = { email: ada.email, confirm_to: 'https://evil.example/' };
    expectProblem(await form(browser, '/signin/email', evil), 400, 'invalid_callback_url');
    const wrong = await form(browser, '/signin/email/confirm', { code: other(code), error_to: '/code' });
    expect(wrong.headers.location).toBe('/code?error=invalid_code');
    const right = await form(browser, '/signin/email/confirm', { code, redirect_to: '/home' });
    expect([right.status, right.headers.location]).toEqual([303, '/home']);
    await browser.get('/auth/me').expect(200);
  });
});

describe('a sign-up', () => {
  const options = [password(), emailSignIn({ signUp: true, link: false })] as const;
  const open = async (config: object = {}) => {
    const box = mailbox();
    const own = await startApp({
      plugins: options,
      config: {
        baseUrl: BASE,
        email: { send: box.send },
        user: { fields: { name: { type: 'string', required: true }, age: { type: 'integer' } } },
        ...config,
      },
    });
    return { own, box };
  };
  const grace = 'grace@example.com';

  test('makes the account with the right code, with its fields and hooks', async () => {
    const vias: unknown[] = [];
    const { own, box } = await open({
      hooks: {
        beforeCreateUser: ({ via, email }: object & Record<string, unknown>) => vias.push([via, email]),
      },
    });
    const browser = own.browser();
    const mail = await box.mailOf(grace, 'sign-in-code', () =>
      browser.post('/auth/signin/email').send({ email: ' Grace@Example.com' }).expect(202),
    );
    expect(mail).toMatchObject({ user: null, token: '', url: '' });
    const give = (body: object) =>
      browser.post('/auth/signin/email/confirm').send({ code: mail.code, ...body });
    // A right code without fields counts nothing, however often.
    for (let time = 0; time < 6; time++) {
      const { body } = await give({}).expect(422);
      expect(body.errors).toEqual([expect.objectContaining({ pointer: '/name', code: 'required' })]);
    }
    const wrong = await give({ name: 'Grace', age: 'old' }).expect(422);
    expect(wrong.body.errors).toEqual([expect.objectContaining({ pointer: '/age' })]);
    expect(await own.auth.users.find({ email: grace })).toBeNull();
    const { body } = await give({ name: 'Grace', age: 37 }).expect(200);
    expect(body.user).toMatchObject({ email: grace, name: 'Grace', age: 37 });
    expect(vias).toEqual([['email', grace]]);
    const user = await own.auth.users.find({ email: grace });
    expect(user).toMatchObject({ emailProof: 'mailbox' });
    // It is fresh, because the account has nothing else to reauthenticate with.
    await browser.put('/auth/passwords').send({ new_password: 'a moth in a relay' }).expect(204);
    await own.stop();
  });

  test('looks at no fields where the account exists', async () => {
    const { own, box } = await open();
    const { id: hers } = await own.auth.users.create({ email: grace, fields: { name: 'Grace' } });
    const browser = own.browser();
    const { code } = await box.mailOf(grace, 'sign-in-code', () =>
      browser.post('/auth/signin/email').send({ email: grace }).expect(202),
    );
    const { body } = await browser.post('/auth/signin/email/confirm').send({ code, age: 'old' }).expect(200);
    expect(body.user).toMatchObject({ id: hers, name: 'Grace', age: null });
    await own.stop();
  });

  test('is not there if sign-ups are closed, and the mail has no page for it', async () => {
    const { own, box } = await open({ signUp: 'closed' });
    const mail = await box.mailOf(grace, 'no-account', () =>
      own.http.post('/auth/signin/email').send({ email: grace }).expect(202),
    );
    expect(mail).toMatchObject({ user: null, code: '', url: '' });
    await own.stop();
  });

  test('can be refused by the app, and leaves nothing', async () => {
    const { AuthError } = await import('../../../../lib/index.js');
    const { own, box } = await open({
      hooks: {
        afterCreateUser: () => {
          throw new AuthError('sign_up_refused');
        },
      },
    });
    const browser = own.browser();
    const { code } = await box.mailOf(grace, 'sign-in-code', () =>
      browser.post('/auth/signin/email').send({ email: grace }).expect(202),
    );
    const answer = await browser.post('/auth/signin/email/confirm').send({ code, name: 'Grace' });
    expectProblem(answer, 403, 'sign_up_refused');
    expect(await rows(own.database, 'SELECT id FROM users')).toEqual([]);
    await own.stop();
  });
});

describe('the mail that there is no account', () => {
  test('goes out once a day, whatever part of the mailbox is named', async () => {
    const box = mailbox();
    const own = await startApp({
      plugins,
      config: { baseUrl: BASE, email: { send: box.send }, rateLimit: {} },
    });
    const at = (email: string) => own.http.post('/auth/signin/email').send({ email }).expect(202);
    for (const email of ['no@example.com', 'no@example.com', 'n.o+x@example.com']) await at(email);
    await settled(own.auth);
    expect(box.mails.map(({ kind }) => kind)).toEqual(['no-account']);
    await own.stop();
  });
});

describe('emailSignIn()', () => {
  const config = { database: 'sqlite::memory:', secret: SECRET, baseUrl: BASE };
  const send = () => {};

  test.each<[string, () => unknown, RegExp]>([
    ['without email', () => createAuth({ ...config, plugins: [emailSignIn()] }), /email: \{ send \}/],
    [
      'with sign-ups where accounts have a username only',
      () =>
        createAuth({
          ...config,
          email: { send },
          plugins: [password({ identifier: 'username' }), emailSignIn({ signUp: true })],
        }),
      /mutually exclusive/,
    ],
    [
      'with a field that the confirmation has',
      () =>
        createAuth({
          ...config,
          email: { send },
          user: { fields: { code: { type: 'string' } } },
          plugins: [emailSignIn({ signUp: true })],
        }),
      /user\.fields\.code/,
    ],
    ['with a lifetime that is too short', () => emailSignIn({ lifetime: 60 }), /lifetime/],
  ])('%s is a mistake in the config', (_what, make, message) => {
    expect(make).toThrow(message);
  });
});
