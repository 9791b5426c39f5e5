import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type CreateUserInput, createAuth } from '../../lib/index.js';
import { password, SECRET, signedIn } from '../support/app.js';
import { rows } from '../support/database.js';
import { importUsers } from '../support/import-users.js';
import { type MailApp, startMailApp } from '../support/mail-app.js';
import { expectProblem } from '../support/problem.js';

const OWNER = { email: 'Owner@Example.com', emailVerified: true, password: 'the seed of an owner' };
const owner = { email: 'owner@example.com', password: OWNER.password };

const plugins = () => [password({ username: true })] as const;
let app: MailApp<ReturnType<typeof plugins>>;
beforeAll(async () => {
  app = await startMailApp({
    plugins: plugins(),
    config: { accountDeletion: { graceDays: 30 } },
  });
});
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  await rows(app.database, 'DELETE FROM imported_users');
});
afterAll(() => app.stop());

const ensure = (input: CreateUserInput) => app.auth.users.ensure(input);
const count = async () =>
  Number((await rows<{ n: number }>(app.database, 'SELECT COUNT(*) AS n FROM users'))[0]?.n);

describe('auth.users.ensure', () => {
  test('of ten at once, by two Auths, one makes the account, and the others find it', async () => {
    const other = createAuth({
      database: app.database.url,
      secret: SECRET,
      baseUrl: 'http://app.example.com',
      plugins: plugins(),
    });
    for (const given of [
      OWNER,
      { ...OWNER, email: 'b@example.com', emailVerified: false },
      { username: 'Owner' },
    ]) {
      const all = await Promise.all(
        Array.from({ length: 10 }, (_, n) => (n % 2 ? app.auth : other).users.ensure(given)),
      );
      expect(all.filter(({ created }) => created)).toHaveLength(1);
      expect(new Set(all.map(({ user }) => user.id)).size).toBe(1);
    }
    await other.close();
    expect(await count()).toBe(3);
    await app.http
      .post('/auth/signin/credential')
      .send({ credential: owner.email, password: owner.password })
      .expect(200);
  });

  test('finds what it made before, whatever has changed since, and changes nothing', async () => {
    const { user } = await ensure({ ...OWNER, username: 'owner' });
    await app.auth.users.changeEmail(user.id, 'new@example.com');
    await app.auth.users.update(user.id, { username: 'renamed' });
    const before = await app.auth.users.get(user.id);
    expect(await ensure({ ...OWNER, username: 'owner', password: 'another password' })).toEqual({
      user: before,
      created: false,
    });
    expect(await count()).toBe(1);
  });

  test('finds an account that the app or its mailbox has proven, without changing it', async () => {
    const user = await app.auth.users.create({ email: owner.email, emailVerified: true });
    expect(await ensure({ ...OWNER, username: 'owner' })).toEqual({ user, created: false });
    expect(await app.auth.users.get(user.id)).toEqual(user);
    expect(await rows(app.database, 'SELECT * FROM imported_users')).toEqual([]);
  });

  test('never takes an account that a stranger may have made before', async () => {
    await signedIn(app, owner);
    await expect(ensure(OWNER)).rejects.toMatchObject({ status: 409, code: 'email_unproven' });
    await app.auth.users.create({ username: 'root' });
    await expect(ensure({ username: 'Root' })).rejects.toMatchObject({ status: 409, code: 'username_taken' });
    await expect(ensure({ email: 'root@example.com', username: 'root' })).rejects.toMatchObject({
      status: 409,
      code: 'username_taken',
    });
    expect(await count()).toBe(2);
  });

  test('makes an account anew that was deleted, once its address is free', async () => {
    const first = await ensure(OWNER);
    await app.auth.users.delete(first.user.id);
    await expect(ensure(OWNER)).rejects.toMatchObject({ status: 409, code: 'email_taken' });
    await app.auth.users.delete(first.user.id, { atOnce: true });
    const second = await ensure(OWNER);
    expect(second).toMatchObject({ created: true, user: { email: owner.email } });
    expect(second.user.id).not.toBe(first.user.id);
    expect(await ensure(OWNER)).toEqual({ ...second, created: false });
  });

  test('refuses what no account can have, and what nobody knows', async () => {
    await expect(ensure({})).rejects.toMatchObject({ errors: [{ code: 'missing_identifier' }] });
    await expect(ensure({ email: 'nobody' })).rejects.toMatchObject({ errors: [{ code: 'invalid_email' }] });
    await expect(ensure({ ...OWNER, role: 'admin' } as never)).rejects.toThrow('auth.users.ensure');
    await expect(ensure({ ...OWNER, password: 'short' })).rejects.toMatchObject({
      code: 'validation_failed',
    });
    expect(await count()).toBe(0);
  });

  test('takes part in a transaction of the app', async () => {
    const { sequelize } = app.database;
    const own = createAuth({ database: sequelize, secret: SECRET, plugins: [password({ username: true })] });
    const undone = sequelize.transaction(async (transaction) => {
      expect(await own.users.ensure({ ...OWNER, transaction })).toMatchObject({ created: true });
      expect(await own.users.ensure({ ...OWNER, transaction })).toMatchObject({ created: false });
      throw new Error('the app undoes it');
    });
    await expect(undone).rejects.toThrow('the app undoes it');
    expect(await count()).toBe(0);
    expect(await own.users.ensure(OWNER)).toMatchObject({ created: true });
    await own.close();
  });
});

test('internationalized addresses are refused with that word, everywhere alike', async () => {
  const email = 'dörte@example.com';
  const fault = { code: 'invalid_email', detail: expect.stringContaining('is an internationalized address') };
  const refused = { errors: [expect.objectContaining(fault)] };
  for (const call of [
    () => ensure({ email }),
    () => app.auth.users.create({ email }),
    () => app.auth.credential.signUp({ email, password: owner.password }),
  ])
    await expect(call()).rejects.toMatchObject(refused);
  const browser = await signedIn(app, owner);
  for (const answer of [
    await app.http.post('/auth/signup/credential').send({ email, password: owner.password }),
    await browser.post('/auth/email-changes').send({ new_email: email, password: owner.password }),
  ]) {
    expectProblem(answer, 422, 'validation_failed');
    expect(answer.body).toMatchObject(refused);
  }
  const { user } = await ensure({ email: 'a@example.com' });
  await expect(app.auth.users.changeEmail(user.id, email)).rejects.toMatchObject(refused);
  expect((await importUsers(app.auth, [{ ref: 1, email }])).skipped).toEqual([
    { ref: 1, code: 'invalid_email', detail: expect.stringContaining('is an internationalized address') },
  ]);
  // The domain can be, since it has a form in ASCII.
  expect(await app.auth.users.create({ email: 'ada@BÜCHER.example' })).toMatchObject({
    email: 'ada@xn--bcher-kva.example',
  });
});
