import { afterEach, describe, expect, test } from '@jest/globals';
import { AuthError, admin, apiKeys } from '../../lib/index.js';
import { ada, password, type SpecApp, sessionCookie, signedIn, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { mailbox } from '../support/mailbox.js';
import { expectProblem } from '../support/problem.js';

const plugins = () => [password(), apiKeys(), admin({ adminEmails: ['owner@example.com'] })] as const;

let app: SpecApp<ReturnType<typeof plugins>>;
let mails: ReturnType<typeof mailbox>;
afterEach(() => app.stop());

const start = async (config = {}) => {
  mails = mailbox();
  app = await startApp({
    plugins: plugins(),
    config: {
      baseUrl: 'http://app.example.com',
      email: { send: mails.send },
      accountDeletion: { graceDays: 10 },
      ...config,
    },
  });
};
const idOf = async (browser: Awaited<ReturnType<typeof signedIn>>) =>
  (await browser.get('/auth/me').expect(200)).body.user.id as string;
const signIn = (typed = ada.password) =>
  app.http.post('/auth/signin/credential').send({ credential: ada.email, password: typed });
/** Lets days pass. */
const later = (days: number) =>
  rows(app.database, 'UPDATE users SET deleted_at = :at', { at: new Date(Date.now() - days * 86_400_000) });
const users = () => rows(app.database, 'SELECT id FROM users');

describe('a deleted account with a grace', () => {
  test('is shut at once, after the proof and never before it', async () => {
    await start();
    const browser = await signedIn(app);
    const id = await idOf(browser);
    const { key } = await app.auth.apiKeys.create(id, { name: 'program' });
    const events: string[] = [];
    for (const name of ['user.deleted', 'user.deletion_requested', 'session.revoked'] as const)
      app.auth.on(name, () => events.push(name));
    const answer = await browser.delete('/auth/me').expect(204);
    expect(sessionCookie(answer)?.value).toBe('');
    expect(events).toEqual(['session.revoked', 'user.deletion_requested']);
    await browser.get('/auth/me').expect(401);
    expectProblem(await signIn('wrong'), 401, 'invalid_credentials');
    expectProblem(await signIn(), 403, 'account_deleted');
    expectProblem(await app.http.get('/auth/me').set('x-service-api-key', key), 403, 'account_deleted');
    await expect(app.auth.createSession(id)).rejects.toMatchObject({ code: 'account_deleted' });
    expectProblem(await app.http.post('/auth/signup/credential').send(ada), 409, 'email_taken');
    await expect(app.auth.users.delete(id)).rejects.toMatchObject({ code: 'user_not_found' });
    expect(await app.auth.users.get(id)).toMatchObject({ deletedAt: expect.any(Date) });
  });

  test('is told about instead of a link to choose a password, as long as it can be restored', async () => {
    await start();
    const browser = await signedIn(app);
    const { id } = (await browser.get('/auth/me').expect(200)).body.user;
    const earlier = await mails.mailOf(ada.email, 'reset-password', () =>
      app.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202),
    );
    await browser.delete('/auth/me').expect(204);
    const choose = { token: earlier.token, new_password: 'a difference engine' };
    const late = await app.http.post('/auth/passwords/reset').send(choose);
    expect(late.body.code).toMatch(/^(account_deleted|invalid_token)$/);
    const tell = () =>
      mails.mailOf(ada.email, 'deleted-account', () =>
        app.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202),
      );
    const mail = await tell();
    expect(mail).toMatchObject({
      subject: expect.stringMatching(/^Your account was deleted/),
      token: '',
      url: '',
    });
    expect(mail.text).toMatch(
      /Your account was deleted on \d+ \w+ \d{4}\. Until \d+ \w+ \d{4}, it can be restored: with the link in our email about the deletion, or by the people who run this app\./,
    );
    await later(11);
    expect((await tell()).text).not.toContain('restored');
    await app.auth.users.restore(id);
    await mails.mailOf(ada.email, 'reset-password', () =>
      app.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202),
    );
  });

  test('comes back by the link of its notice, which lasts as long', async () => {
    await start();
    const browser = await signedIn(app);
    const id = await idOf(browser);
    const { token, text } = await mails.mailOf(ada.email, 'account-deleted', () =>
      browser.delete('/auth/me'),
    );
    expect(text).toContain('10 days');
    const [row] = await rows<{ created_at: string; expires_at: string }>(
      app.database,
      'SELECT created_at, expires_at FROM account_changes',
    );
    const lastsMs = new Date(row!.expires_at).getTime() - new Date(row!.created_at).getTime();
    expect(lastsMs).toBe(10 * 86_400_000);
    const undo = { token, password: ada.password };
    await browser.post('/auth/undo-change').send(undo).expect(200, { undone: 'account-deleted' });
    expect(await app.auth.users.get(id)).toMatchObject({ email: ada.email, deletedAt: null });
    expectProblem(await signIn(), 401, 'invalid_credentials');
    await app.auth.users.setPassword(id, ada.password);
    await signIn().expect(200);
  });

  test('does not come back after it, by the link of an earlier notice', async () => {
    await start({ accountDeletion: { graceDays: 1 } });
    const browser = await signedIn(app);
    const id = await idOf(browser);
    const change = { current_password: ada.password, new_password: 'a difference engine' };
    const { token } = await mails.mailOf(ada.email, 'password-changed', () =>
      browser.post('/auth/passwords/change').send(change).expect(200),
    );
    await browser.delete('/auth/me').expect(204);
    await later(2);
    const undo = () => browser.post('/auth/undo-change').send({ token, password: ada.password });
    expectProblem(await undo(), 400, 'invalid_token');
    expectProblem(await app.http.post('/auth/undo-change').send({ token }), 400, 'invalid_token');
    await expect(app.auth.undoChange(token, { trusted: true })).rejects.toMatchObject({
      code: 'invalid_token',
    });
    expect(await app.auth.users.get(id)).toMatchObject({ deletedAt: expect.any(Date) });
    await later(0.5);
    await undo().expect(200, { undone: 'password-changed' });
    expect(await app.auth.users.get(id)).toMatchObject({ deletedAt: null });
  });

  test('comes back, or goes for good, by code', async () => {
    await start();
    const { id } = await app.auth.users.create(ada);
    await app.auth.users.delete(id);
    expect(await app.auth.users.restore(id)).toMatchObject({ email: ada.email, deletedAt: null });
    await signIn().expect(200);
    await app.auth.users.delete(id, { atOnce: true });
    expect(await users()).toEqual([]);
    await expect(app.auth.users.restore(id)).rejects.toMatchObject({ code: 'user_not_found' });
  });

  test('goes for good after it, with all that a deletion does', async () => {
    const told: string[] = [];
    await start({ hooks: { beforeDeleteUser: (user: { email: string }) => told.push(user.email) } });
    const { id } = await app.auth.users.create(ada);
    const bob = await app.auth.users.create({ email: 'bob@example.com' });
    await app.auth.apiKeys.create(id, { name: 'program' });
    await app.auth.users.delete(id);
    const events: string[] = [];
    app.auth.on('user.deleted', ({ userId }) => events.push(userId));
    await app.auth.prune();
    await later(9);
    await rows(app.database, 'UPDATE users SET deleted_at = NULL WHERE id = :id', { id: bob.id });
    await app.auth.prune();
    expect(events).toEqual([]);
    told.length = 0;
    await rows(app.database, 'UPDATE users SET deleted_at = :at WHERE id = :id', {
      at: new Date(Date.now() - 11 * 86_400_000),
      id,
    });
    expect(await app.auth.prune()).toBeGreaterThanOrEqual(1);
    expect(events).toEqual([id]);
    expect(told).toEqual([ada.email]);
    expect(await users()).toEqual([{ id: bob.id }]);
    expect(await rows(app.database, 'SELECT id FROM api_keys')).toEqual([]);
    await app.auth.users.create(ada);
  });

  test('is not shut if the app refuses, and does not go before it agrees', async () => {
    let refuses = true;
    await start({
      hooks: {
        beforeDeleteUser() {
          if (refuses) throw new AuthError('account_in_use', { detail: 'Cancel your plan first.' });
        },
      },
    });
    const browser = await signedIn(app);
    expectProblem(await browser.delete('/auth/me'), 409, 'account_in_use');
    await browser.get('/auth/me').expect(200);
    refuses = false;
    await browser.delete('/auth/me').expect(204);
    refuses = true;
    await later(11);
    await app.auth.prune();
    expect(await users()).toHaveLength(1);
    expect(app.log.join()).toMatch(/could not be permanently deleted/);
    refuses = false;
    await app.auth.prune();
    expect(await users()).toEqual([]);
  });

  test('is seen by administrators, who delete likewise', async () => {
    await start();
    const owner = await signedIn(app, { email: 'owner@example.com', password: ada.password });
    await app.auth.markEmailVerified(await idOf(owner));
    const { id } = await app.auth.users.create(ada);
    await owner.delete(`/auth/admin/users/${id}`).expect(204);
    const { body } = await owner.get(`/auth/admin/users/${id}`).expect(200);
    expect(body.user).toMatchObject({ deleted_at: expect.any(String) });
    expectProblem(await signIn(), 403, 'account_deleted');
  });

  test('is shut once by 8 at once', async () => {
    await start();
    const browser = await signedIn(app);
    const answers = await Promise.all(Array.from({ length: 8 }, () => browser.delete('/auth/me')));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(7).fill(401)]);
  });
});

test('without a grace, an account that was shut before goes at the next prune', async () => {
  await start({ accountDeletion: {} });
  const { id } = await app.auth.users.create(ada);
  expect(await app.auth.users.get(id)).not.toHaveProperty('deletedAt');
  await later(0.001);
  expectProblem(await signIn(), 403, 'account_deleted');
  await app.auth.prune();
  expect(await users()).toEqual([]);
});

test.each([-1, 1.5, '7', 4000])('graceDays: %j is refused', async (graceDays) => {
  await start();
  await expect(startApp({ config: { accountDeletion: { graceDays: graceDays as number } } })).rejects.toThrow(
    /accountDeletion\.graceDays must be/,
  );
});
