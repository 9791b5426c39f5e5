import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Sequelize, Transaction } from 'sequelize';
import { type AuthConfig, AuthError, createAuth } from '../../lib/index.js';
import { memoryLogger, password, SECRET } from '../support/app.js';
import { connectAsApp } from '../support/app-database.js';
import { dialect, rows, type SpecDatabase } from '../support/database.js';
import { importUsers } from '../support/import-users.js';
import { databaseFor } from '../support/migrated.js';

type BeforeCreateUser = NonNullable<NonNullable<AuthConfig['hooks']>['beforeCreateUser']>;

const plugins = [password()] as const;

let database: SpecDatabase;
let own: Sequelize;
let auth: ReturnType<typeof open>;
let beforeCreateUser: BeforeCreateUser;

const person = (name: string) => ({ email: `${name}@example.com`, password: 'an analytical engine' });
const open = (given: Sequelize | string) =>
  createAuth({
    database: given,
    secret: SECRET,
    rateLimit: false,
    logger: memoryLogger(),
    hooks: { beforeCreateUser: (...given) => beforeCreateUser(...given) },
    plugins,
  });

// A table of the app: invitations, of which each sign-up uses one up.
beforeEach(async () => {
  const created = await databaseFor({ plugins });
  database = created.database;
  own = connectAsApp(database);
  auth = open(own);
  await created.migrate(auth);
  await rows(database, 'CREATE TABLE invitations (id INTEGER NOT NULL PRIMARY KEY, uses INTEGER NOT NULL)');
  await rows(database, 'INSERT INTO invitations (id, uses) VALUES (1, 0), (2, 0)');
});
afterEach(async () => {
  await auth.close();
  await own.close();
  await database.drop();
});

const use = (id: number, transaction: Transaction) =>
  own.query('UPDATE invitations SET uses = uses + 1 WHERE id = :id', { replacements: { id }, transaction });
const uses = async () =>
  (await rows<{ uses: number }>(database, 'SELECT uses FROM invitations ORDER BY id')).map(
    ({ uses }) => uses,
  );
const emails = async () =>
  (await rows<{ email: string }>(database, 'SELECT email FROM users ORDER BY email')).map(
    ({ email }) => email,
  );

test('what a hook writes lives and dies with the account', async () => {
  beforeCreateUser = async ({ email }, { transaction }) => {
    await use(1, transaction);
    if (email?.startsWith('eve')) throw new AuthError('sign_up_refused');
  };
  await expect(auth.credential.signUp(person('eve'))).rejects.toMatchObject({ code: 'sign_up_refused' });
  expect([await uses(), await emails()]).toEqual([[0, 0], []]);
  await auth.credential.signUp(person('ada'));
  // Its email is taken only after the hook.
  await expect(auth.credential.signUp(person('ada'))).rejects.toMatchObject({ code: 'email_taken' });
  expect([await uses(), await emails()]).toEqual([[1, 0], ['ada@example.com']]);
});

test('an invitation for one is used once by twenty at a time', async () => {
  beforeCreateUser = async (_user, { transaction }) => {
    const [, changed] = await own.query('UPDATE invitations SET uses = 1 WHERE id = 1 AND uses = 0', {
      transaction,
      type: 'UPDATE' as never,
    });
    if (Number(changed) !== 1) throw new AuthError('sign_up_refused', { detail: 'It has been used.' });
  };
  const made = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) => auth.credential.signUp(person(`user${index}`))),
  );
  const refusals = made.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
  expect(refusals).toEqual(Array(19).fill('sign_up_refused'));
  expect(await emails()).toHaveLength(1);
});

test('an import within a transaction of the app undoes only what was refused, and all of it with the transaction', async () => {
  beforeCreateUser = async ({ email }, { transaction }) => {
    await use(1, transaction);
    if (email?.startsWith('eve')) throw new AuthError('sign_up_refused', { detail: 'No.' });
  };
  const users = ['ada', 'eve', 'joan'].map((name) => ({ email: `${name}@example.com` }));
  const transaction = await own.transaction();
  expect(await importUsers(auth, users, { transaction })).toMatchObject({
    users: [{ ref: 0 }, { ref: 2 }],
    skipped: [{ ref: 1, code: 'sign_up_refused', detail: 'No.' }],
  });
  await transaction.rollback();
  expect([await uses(), await emails()]).toEqual([[0, 0], []]);
  await own.transaction((transaction) => importUsers(auth, users, { transaction }));
  expect([await uses(), await emails()]).toEqual([
    [2, 0],
    ['ada@example.com', 'joan@example.com'],
  ]);
});

if (dialect !== 'sqlite') {
  test('a deadlock that hooks cause is tried again, hooks included', async () => {
    let runs = 0;
    let bothHaveOne: () => void;
    const both = new Promise<void>((resolve) => {
      bothHaveOne = resolve;
    });
    beforeCreateUser = async ({ email }, { transaction }) => {
      const order = email?.startsWith('ada') ? [1, 2] : [2, 1];
      await use(order[0] as number, transaction);
      if (++runs === 2) bothHaveOne();
      await both;
      await use(order[1] as number, transaction);
    };
    await Promise.all(['ada', 'bob'].map((name) => auth.credential.signUp(person(name))));
    expect(runs).toBe(3);
    expect(await uses()).toEqual([2, 2]);
    expect(await emails()).toEqual(['ada@example.com', 'bob@example.com']);
  });
}

test('a hook that never returns gives its connection back', async () => {
  beforeCreateUser = () => new Promise(() => {});
  const names = ['one', 'two', 'three', 'four', 'five'];
  const made = await Promise.allSettled(names.map((name) => auth.credential.signUp(person(name))));
  expect(made.map((one) => one.status === 'rejected' && one.reason.code)).toEqual(
    names.map(() => 'unavailable'),
  );
  beforeCreateUser = () => {};
  await auth.credential.signUp(person('ada'));
  expect(await emails()).toEqual(['ada@example.com']);
}, 20_000);
