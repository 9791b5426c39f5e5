import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ada, password, type SpecApp, startApp } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { loggingSequelize } from '../../support/statements.js';

// htpasswd -nbB -C 5 ada "correct horse battery"
const HASH = '$2y$05$b4arMjmQm5Cghbd7RLH8rOmlm8QIxdxETXnBzWzGYMXNsDwA4U8Ae';
const WORDS = 'correct horse battery';

let app: SpecApp<readonly [ReturnType<typeof password>]>;
let statements: string[] = [];
beforeAll(async () => {
  app = await startApp({
    plugins: [password({ username: true })],
    async config(database) {
      const own = loggingSequelize(database);
      statements = own.statements;
      return { database: own.sequelize };
    },
  });
  await app.auth.credential.signUp({ ...ada, username: 'ada' });
});
afterAll(() => app.stop());

const importUsers = (users: object[]) => app.auth.credential.importUsers(users as never);
const count = async () =>
  Number((await rows<{ n: number }>(app.database, 'SELECT COUNT(*) AS n FROM users'))[0]?.n);

describe('importUsers', () => {
  test('imports 1,200 accounts in batches, and reports the accounts that it skips', async () => {
    const before = await count();
    const users: Record<string, unknown>[] = Array.from({ length: 1200 }, (_, index) => ({
      email: `Import-${index}@Example.com`,
      passwordHash: HASH,
    }));
    const wrong: [index: number, user: object, code: string][] = [
      [3, { email: 'no address' }, 'invalid_email'],
      [17, { email: ' ADA@example.com ' }, 'email_taken'],
      [18, { email: 'b@example.com', username: 'ADA' }, 'username_taken'],
      [400, { email: 'import-1@EXAMPLE.com' }, 'email_taken'],
      [700, { email: 'IMPORT-2@example.com' }, 'email_taken'],
      [701, { email: 'c@example.com', username: 'no username' }, 'invalid_username'],
      [702, { email: 'd@example.com', username: 'same' }, ''],
      [1100, { email: 'e@example.com', username: 'SAME' }, 'username_taken'],
      [1101, { passwordHash: '5f4dcc3b5aa765d61d8327deb882cf99' }, 'unknown_hash'],
      [1199, { passwordHash: WORDS }, 'unknown_hash'],
    ];
    for (const [index, user] of wrong) users[index] = { ...users[index], ...user };
    statements.length = 0;
    const result = await importUsers(users);
    const skipped = wrong
      .filter(([, , code]) => code)
      .map(([index, , code]) => ({ index, code, detail: expect.any(String) }));
    expect(result).toEqual({ imported: 1200 - skipped.length, skipped });
    expect(await count()).toBe(before + result.imported);
    // There is not one statement per account, and no hash in the log.
    expect(statements.length).toBeLessThan(40);
    expect(statements.join()).not.toContain('$2y$');
    // The second time, all accounts already exist.
    const again = await importUsers(users);
    expect(again.imported).toBe(0);
    expect(again.skipped).toHaveLength(1200);
  });

  test('creates accounts that work like any other account', async () => {
    const result = await importUsers([
      { email: 'GRACE@example.com', username: 'Grace', passwordHash: HASH, emailVerified: true },
      { email: 'none@example.com', passwordHash: null },
    ]);
    expect(result).toEqual({ imported: 2, skipped: [] });
    for (const credential of ['grace@example.com', 'GRACE']) {
      const { user } = await app.auth.credential.signIn({ credential, password: WORDS });
      expect(user).toMatchObject({ email: 'grace@example.com', username: 'grace' });
      expect(user.emailVerifiedAt).toBeInstanceOf(Date);
    }
    // Without a password, nobody can sign in with one.
    for (const given of ['', 'null', WORDS])
      await expect(
        app.auth.credential.signIn({ credential: 'none@example.com', password: given }),
      ).rejects.toMatchObject({ code: 'invalid_credentials' });
  });

  test.each([
    [{}, 'invalid_email', 'email must be'],
    [{ email: null, passwordHash: null }, 'invalid_email', 'email must be'],
    [{ email: ['x@example.com'], passwordHash: null }, 'invalid_email', 'email must be'],
    [{ email: 'k1@example.com' }, 'unknown_hash', 'passwordHash is missing; it must be null'],
    [{ email: 'k1@example.com', password_hash: null }, 'unknown_hash', 'passwordHash is missing'],
    [{ email: 'k2@example.com', passwordHash: 5 }, 'unknown_hash', 'in a supported format'],
    [{ email: 'k3@example.com', passwordHash: '' }, 'unknown_hash', 'in a supported format'],
    [
      { email: 'k4@example.com', passwordHash: null, username: 'a@example.com' },
      'invalid_username',
      'username must be 3 to 30 characters',
    ],
    [{ email: 'k5@example.com', passwordHash: null, username: 7 }, 'invalid_username', 'username must be'],
  ])('skips %j, and says why', async (user, code, detail) => {
    expect(await importUsers([user])).toEqual({
      imported: 0,
      skipped: [{ index: 0, code, detail: expect.stringContaining(detail) }],
    });
  });

  test('accepts null for an account without a password, whose owner can set one', async () => {
    const email = 'later@example.com';
    expect(await importUsers([{ email, passwordHash: null }])).toEqual({ imported: 1, skipped: [] });
    const row = await app.auth.models.User.findOne({ where: { email } });
    const userId = String(row?.get('id'));
    await app.auth.credential.setPassword({ userId, newPassword: ada.password });
    await app.auth.credential.signIn({ credential: email, password: ada.password });
  });

  test('accepts an empty list', async () => {
    expect(await importUsers([])).toEqual({ imported: 0, skipped: [] });
  });

  test('imports each account once, even with concurrent imports and sign-ups of the same accounts', async () => {
    for (let round = 0; round < 5; round++) {
      const users = Array.from({ length: 60 }, (_, index) => ({
        email: `race-${round}-${index}@example.com`,
        passwordHash: HASH,
      }));
      const before = await count();
      const [imports, signUps] = await Promise.all([
        Promise.all([users, [...users].reverse(), users.slice(30), users].map(importUsers)),
        Promise.all(
          users
            .slice(0, 5)
            .map(({ email }) =>
              app.http.post('/auth/signup/credential').send({ email, password: ada.password }),
            ),
        ),
      ]);
      for (const { status } of signUps) expect([201, 409]).toContain(status);
      const signedUp = signUps.filter(({ status }) => status === 201).length;
      expect(imports.reduce((sum, { imported }) => sum + imported, signedUp)).toBe(60);
      expect(await count()).toBe(before + 60);
    }
  });
});
