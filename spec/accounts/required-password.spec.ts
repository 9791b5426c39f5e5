import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { admin, apiKeys, authRouter, optionalSession, requireSession, suspension } from '../../lib/index.js';
import { ada, password, type SpecApp, sessionCookie, signedIn, startApp } from '../support/app.js';
import { beforeChange } from '../support/changes.js';
import { mailbox } from '../support/mailbox.js';
import { expectProblem } from '../support/problem.js';
import { settled } from '../support/sessions.js';

const OTHER = 'a difference engine';
const root = { email: 'root@example.com', password: 'a root of all admins' };
const plugins = [
  password({ username: true }),
  apiKeys(),
  admin({ adminEmails: [root.email] }),
  suspension(),
] as const;
const mails = mailbox();

const start = (config: object) =>
  startApp({
    plugins,
    config: { baseUrl: 'http://app.example.com', ...config },
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.get('/guarded', requireSession(auth), (_req, res) => void res.json({}));
      express.get('/optional', optionalSession(auth), (req, res) => void res.json(Boolean(req.auth)));
    },
  });

let app: SpecApp<typeof plugins>;
let withoutMail: SpecApp<typeof plugins>;
beforeAll(async () => {
  app = await start({ email: { send: mails.send } });
  withoutMail = await start({});
});
afterAll(async () => {
  await app.stop();
  await withoutMail.stop();
});

let browser: ReturnType<typeof app.browser>;
let id: string;
beforeEach(async () => {
  for (const one of [app, withoutMail]) await one.auth.models.User.destroy({ where: {} });
  browser = await signedIn(app);
  id = (await browser.get('/auth/me')).body.user.id;
  await settled(app.auth);
  mails.mails.length = 0;
});
const signIn = (given = ada.password, on = app) =>
  on.http.post('/auth/signin/credential').send({ credential: ada.email, password: given });

describe('of an account with a verified address, where mail is on, the old password', () => {
  beforeEach(async () => {
    await app.auth.markEmailVerified(id);
    await app.auth.users.requireNewPassword(id);
  });

  test('begins no session, and a sign-in with it mails a link to choose another one', async () => {
    await browser.get('/guarded').expect(401);
    expectProblem(await signIn('not the password'), 401, 'invalid_credentials');
    await settled(app.auth);
    expect(mails.mails.map(({ kind }) => kind)).toEqual(['new-password-required']);
    const [notice] = mails.mails;
    expect(notice?.text).toContain('Sign in with your current password one last time. Then choose a new one');
    const { token, text } = await mails.mailOf(ada.email, 'reset-password', async () =>
      expectProblem(await signIn(), 403, 'new_password_required'),
    );
    expect(text).toContain('You entered your password, and your account needs a new one. Choose it here:');
    expect(text).toContain(
      'If it was not you, someone knows your password: choose a new one with this link.',
    );
    expect(text).not.toMatch(/Someone requested|ignore this email/);
    const reset = (new_password: string) =>
      app.http.post('/auth/passwords/reset').send({ token, new_password });
    const same = await reset(ada.password).expect(422);
    expect(same.body.errors).toEqual([
      expect.objectContaining({ pointer: '/new_password', code: 'same_password' }),
    ]);
    await reset(OTHER).expect(204);
    await signIn(OTHER).expect(200);
    // Also again, from then on.
    await app.auth.users.setPassword(id, ada.password);
    await signIn().expect(200);
  });

  test('mails ten links an hour, and is refused as ever', async () => {
    const limited = await start({
      email: { send: mails.send },
      rateLimit: { signIn: false, account: false, mailAddress: undefined },
    });
    const { id: own } = await limited.auth.users.create({ ...ada, emailVerified: true });
    await limited.auth.users.requireNewPassword(own);
    await settled(limited.auth);
    mails.mails.length = 0;
    for (let count = 0; count < 12; count++)
      expectProblem(await signIn(ada.password, limited), 403, 'new_password_required');
    await settled(limited.auth);
    expect(mails.mails).toHaveLength(10);
    await limited.stop();
  });

  test('stands for nothing in a session that began otherwise, which has no task', async () => {
    const { token } = await app.auth.createSession(id, { authenticatedAt: new Date(Date.now() - 3_600_000) });
    const send = (method: 'get' | 'post' | 'delete', path: string, body: object = {}) =>
      app.http[method](path).set('cookie', `latchkey=${token}`).send(body);
    await send('get', '/guarded').expect(200);
    expect((await send('get', '/auth/me').expect(200)).body.session.tasks).toBeUndefined();
    const proof = { password: ada.password };
    for (const answer of [
      await send('post', '/auth/reauthenticate', proof),
      await send('post', '/auth/email-changes', { new_email: 'new@example.com', ...proof }),
      await send('post', '/auth/passwords/change', { current_password: ada.password, new_password: OTHER }),
    ])
      expectProblem(answer, 403, 'new_password_required');
    await settled(app.auth);
    // Whoever would change it gets the link.
    expect(mails.mails.map(({ kind }) => kind)).toEqual(['new-password-required', 'reset-password']);
  });

  test('opens nothing after the address has become another one that is not verified', async () => {
    await app.auth.users.changeEmail(id, 'new@example.com');
    const body = { credential: 'new@example.com', password: ada.password };
    expectProblem(await app.http.post('/auth/signin/credential').send(body), 401, 'invalid_credentials');
  });

  test('is not accepted for a new one on a page of the app, and a suspension is told first', async () => {
    const { session } = await app.auth.createSession(id);
    const own = { sessionId: session.id };
    await expect(app.auth.users.setPassword(id, ada.password, own)).rejects.toMatchObject({
      errors: [expect.objectContaining({ code: 'same_password' })],
    });
    await app.auth.suspension.suspend(id);
    await settled(app.auth);
    mails.mails.length = 0;
    expectProblem(await signIn(), 403, 'account_suspended');
    await settled(app.auth);
    expect(mails.mails.filter(({ kind }) => kind === 'reset-password')).toEqual([]);
  });

  test('is no proof beside a mailed token', async () => {
    await app.auth.models.User.update({ emailVerifiedAt: null, emailProof: 'none' }, { where: { id } });
    const { token } = await mails.mailOf(ada.email, 'verify-email', () =>
      app.auth.credential.sendVerification({ userId: id }),
    );
    await app.auth.models.User.update({ emailVerifiedAt: new Date(), emailProof: 'app' }, { where: { id } });
    const answer = await app.http.post('/auth/verify-email').send({ token, password: ada.password });
    expectProblem(answer, 403, 'new_password_required');
  });
});

describe.each(['without a verified address', 'without mail'])(
  'of an account %s, the old password',
  (what) => {
    test('begins a session that can choose another one, and do nothing else', async () => {
      const on = what === 'without mail' ? withoutMail : app;
      if (on === withoutMail) id = (await on.auth.users.create({ ...ada, emailVerified: true })).id;
      await on.auth.users.requireNewPassword(id);
      const answer = await signIn(ada.password, on).expect(200);
      expect(answer.body.session.tasks).toEqual(['choose_password']);
      const cookie = `latchkey=${sessionCookie(answer)?.value}`;
      const send = (method: 'get' | 'post', path: string, body: object = {}) =>
        on.http[method](path).set('cookie', cookie).send(body);
      const refused = await send('get', '/guarded');
      expectProblem(refused, 403, 'task_required');
      expect(refused.body.task).toBe('choose_password');
      expect((await send('get', '/optional').expect(200)).body).toBe(false);
      expectProblem(await send('get', '/auth/devices'), 403, 'task_required');
      await send('get', '/auth/me').expect(200);
      const change = (new_password: string) =>
        send('post', '/auth/passwords/change', { current_password: ada.password, new_password });
      const same = await change(ada.password).expect(422);
      expect(same.body.errors).toEqual([expect.objectContaining({ code: 'same_password' })]);
      const done = await change(OTHER).expect(200);
      expect(done.body.session.tasks).toBeUndefined();
      const renewed = `latchkey=${sessionCookie(done)?.value}`;
      await on.http.get('/guarded').set('cookie', renewed).expect(200);
      await signIn(OTHER, on).expect(200);
    });
  },
);

test('of an account without a verified address, the old password proves nothing in other sessions', async () => {
  await app.auth.users.requireNewPassword(id);
  const { token } = await app.auth.createSession(id, { authenticatedAt: new Date(0) });
  const send = (path: string, body: object) =>
    app.http.post(path).set('cookie', `latchkey=${token}`).send(body);
  const proof = { password: ada.password };
  for (const answer of [
    await send('/auth/reauthenticate', proof),
    await send('/auth/email-changes', { new_email: 'new@example.com', ...proof }),
  ])
    expectProblem(answer, 403, 'new_password_required');
});

test('whoever verifies the address meanwhile gets a link', async () => {
  await app.auth.users.requireNewPassword(id);
  const cookie = `latchkey=${sessionCookie(await signIn().expect(200))?.value}`;
  await app.auth.markEmailVerified(id);
  const change = { current_password: ada.password, new_password: OTHER };
  await mails.mailOf(ada.email, 'reset-password', async () =>
    expectProblem(
      await app.http.post('/auth/passwords/change').set('cookie', cookie).send(change),
      403,
      'new_password_required',
    ),
  );
});

test('tasks of the app do not keep anyone from choosing another one', async () => {
  const own = await start({ tasks: { terms: { open: () => true, page: '/terms' } } });
  const { id: hers } = await own.auth.users.create(ada);
  await own.auth.users.requireNewPassword(hers);
  const answer = await signIn(ada.password, own).expect(200);
  expect(answer.body.session.tasks).toEqual(['choose_password', 'terms']);
  const { body } = await own.http
    .post('/auth/passwords/change')
    .set('cookie', `latchkey=${sessionCookie(answer)?.value}`)
    .send({ current_password: ada.password, new_password: OTHER })
    .expect(200);
  expect(body.session.tasks).toEqual(['terms']);
  await own.stop();
});

test('an undo, which removes the password, leaves nothing to choose', async () => {
  await app.auth.markEmailVerified(id);
  const { key } = await app.auth.apiKeys.create(id, { name: 'program' });
  await app.auth.users.requireNewPassword(id);
  const token = await beforeChange(app.auth, id);
  await app.auth.undoChange(token, { trusted: true });
  await app.http.get('/guarded').set('x-service-api-key', key).expect(200);
});

test('API keys are held until there is a new password, and none can be made', async () => {
  const { key } = await app.auth.apiKeys.create(id, { name: 'program' });
  await app.auth.users.requireNewPassword(id);
  for (const path of ['/guarded', '/optional', '/auth/me'])
    expectProblem(await app.http.get(path).set('x-service-api-key', key), 403, 'task_required');
  await expect(app.auth.apiKeys.create(id, { name: 'another' })).rejects.toMatchObject({
    code: 'task_required',
  });
  await app.auth.users.setPassword(id, OTHER);
  await app.http.get('/guarded').set('x-service-api-key', key).expect(200);
});

test('what the old password could undo is final', async () => {
  await app.auth.markEmailVerified(id);
  const { token } = await mails.mailOf(ada.email, 'password-changed', () =>
    browser
      .post('/auth/passwords/change')
      .send({ current_password: ada.password, new_password: OTHER })
      .expect(200),
  );
  await app.auth.users.requireNewPassword(id);
  expectProblem(
    await browser.post('/auth/undo-change').send({ token, password: ada.password }),
    400,
    'invalid_token',
  );
});

describe('an administrator', () => {
  let admins: ReturnType<typeof app.browser>;
  let rootId: string;
  beforeEach(async () => {
    rootId = (await app.auth.users.create({ ...root, emailVerified: true })).id;
    admins = app.browser();
    await admins
      .post('/auth/signin/credential')
      .send({ credential: root.email, password: root.password })
      .expect(200);
  });
  const require = (userId: string) => admins.post(`/auth/admin/users/${userId}/require-new-password`);

  test('requires a new password of another user, which is told and recorded', async () => {
    const events: unknown[] = [];
    app.auth.on('password.new_required', (event) => events.push(event));
    await require(id).expect(204);
    expect(await app.auth.listSessions(id)).toEqual([]);
    await settled(app.auth);
    expect(events).toEqual([expect.objectContaining({ userId: id, adminId: rootId })]);
    const [mail] = mails.mails.filter(({ kind }) => kind === 'new-password-required');
    expect(mail?.text).toContain('needs a new password');
    expectProblem(await require(rootId), 409, 'own_account');
    expectProblem(await require('01900000-0000-7000-8000-000000000000'), 404, 'user_not_found');
  });

  test('changes nothing for an account without a password', async () => {
    const bare = await app.auth.users.create({ email: 'bare@example.com' });
    const { token } = await app.auth.createSession(bare.id);
    await require(bare.id).expect(204);
    await app.http.get('/guarded').set('cookie', `latchkey=${token}`).expect(200);
    await settled(app.auth);
    expect(mails.mails.filter(({ to }) => to === 'bare@example.com')).toEqual([]);
  });
});
