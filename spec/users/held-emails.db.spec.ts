import { afterEach, describe, expect, test } from '@jest/globals';
import { admin } from '../../lib/index.js';
import { ada, password, type SpecApp, signedIn, startApp } from '../support/app.js';
import { byUser } from '../support/changes.js';
import { rows } from '../support/database.js';
import { proveMailbox } from '../support/email-proof.js';
import { importUsers } from '../support/import-users.js';
import { mailbox } from '../support/mailbox.js';
import { expectProblem } from '../support/problem.js';

const plugins = (options = {}) => [password(options), admin({ adminEmails: ['owner@example.com'] })] as const;

let app: SpecApp<ReturnType<typeof plugins>>;
let mails: ReturnType<typeof mailbox>;
afterEach(() => app.stop());

const BOB = { email: 'bob@example.com', password: ada.password };

/** Ada's account has another address, and an undo would give hers back. @returns the token of the notice */
const start = async (options = {}, config = {}) => {
  mails = mailbox();
  app = await startApp({
    plugins: plugins(options),
    config: { baseUrl: 'http://app.example.com', email: { send: mails.send }, ...config },
  });
  const { id } = await app.auth.users.create(ada);
  await proveMailbox(app.auth, id);
  return { id };
};
/** Like auth.users.changeEmail, but by the user. */
const changed = (id: string, email: string, auth = app.auth) =>
  byUser(auth, id, (own) => auth.users.changeEmail(id, email, own));
const move = async (id: string) =>
  (await mails.mailOf(ada.email, 'email-changed', () => changed(id, 'new@example.com'))).token;
const emails = async () =>
  (await rows<{ email: string }>(app.database, 'SELECT email FROM users ORDER BY email')).map(
    ({ email }) => email,
  );

describe('an address that an undo would give back', () => {
  test('counts as taken, whoever wants it', async () => {
    const { id } = await start();
    await move(id);
    const { id: bob } = await app.auth.users.create(BOB);
    const taken = { code: 'email_taken' };
    expectProblem(await app.http.post('/auth/signup/credential').send(ada), 409, 'email_taken');
    await expect(app.auth.users.create(ada)).rejects.toMatchObject(taken);
    await expect(app.auth.users.changeEmail(bob, ada.email)).rejects.toMatchObject(taken);
    await expect(app.auth.admin.createUser({ email: ada.email })).rejects.toMatchObject(taken);
    const imported = await importUsers(app.auth, [
      { email: 'first@example.com' },
      { email: ada.email },
      { email: 'last@example.com' },
    ]);
    expect(imported).toMatchObject({ skipped: [{ code: 'email_taken' }] });
    expect(await emails()).toEqual([
      'bob@example.com',
      'first@example.com',
      'last@example.com',
      'new@example.com',
    ]);
  });

  test('is refused when a change to it is confirmed', async () => {
    const { id } = await start();
    await move(id);
    const bob = await signedIn(app, BOB);
    const { token } = await mails.mailOf(ada.email, 'verify-new-email', () =>
      bob.post('/auth/email-changes').send({ new_email: ada.email }).expect(202),
    );
    expectProblem(await bob.post('/auth/email-changes/confirm').send({ token }), 409, 'email_taken');
    await bob.get('/auth/me').expect(200);
  });

  test('can be had again by its account', async () => {
    const { id } = await start();
    await move(id);
    await app.auth.users.changeEmail(id, ada.email);
    expect(await emails()).toEqual([ada.email]);
  });

  test('is free once the undo is done, or has expired, or the account is gone', async () => {
    const { id } = await start();
    await app.auth.undoChange(await move(id), { trusted: true });
    await app.auth.users.create({ email: 'new@example.com' });
    await changed(id, 'third@example.com');
    await expect(app.auth.users.create(ada)).rejects.toMatchObject({ code: 'email_taken' });
    await rows(app.database, 'UPDATE account_changes SET expires_at = :at', {
      at: new Date(Date.now() - 1000),
    });
    const { id: next } = await app.auth.users.create(ada);
    await app.auth.users.changeEmail(next, 'fourth@example.com');
    await app.auth.users.delete(next);
    await app.auth.users.create(ada);
  });

  test('is told to nobody with concealExistingEmails', async () => {
    const { id } = await start({ concealExistingEmails: true });
    await move(id);
    const held = await app.http.post('/auth/signup/credential').send(ada);
    const free = await app.http.post('/auth/signup/credential').send({ ...ada, email: 'free@example.com' });
    expect([held.status, held.body]).toEqual([free.status, free.body]);
    expect(held.status).toBe(202);
    expect(await emails()).toEqual(['free@example.com', 'new@example.com']);
  });

  test('goes to nobody who signs up at the moment of the change', async () => {
    const { id } = await start();
    const results = await Promise.allSettled([
      ...Array.from({ length: 8 }, () => app.auth.users.create(ada)),
      changed(id, 'new@example.com'),
      ...Array.from({ length: 8 }, () => app.auth.users.create(ada)),
    ]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await emails()).toEqual(['new@example.com']);
  });
});

test('an address for which nobody has vouched is not held, so that nobody can block it for its owner', async () => {
  await start();
  const stranger = await app.auth.users.create({ email: 'owner@elsewhere.example' });
  await changed(stranger.id, 'new@example.com');
  await app.auth.users.create({ email: 'owner@elsewhere.example' });
});

test('an address for which the app has vouched is held', async () => {
  await start();
  const user = await app.auth.users.create({ email: 'user@elsewhere.example', emailVerified: true });
  await changed(user.id, 'new@example.com');
  const again = app.auth.users.create({ email: 'user@elsewhere.example' });
  await expect(again).rejects.toMatchObject({ code: 'email_taken' });
});

test('without notices, nothing is held', async () => {
  const { id } = await start({}, { email: { send: () => undefined, notices: false } });
  await changed(id, 'new@example.com');
  await app.auth.users.create(ada);
});
