import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DataTypes, Sequelize, Transaction } from 'sequelize';
import type { Hooks } from '../../lib/config/hooks.js';
import { uuidv7 } from '../../lib/crypto/uuid.js';
import { apiKeys, createAuth, type MailMessage, passkeys } from '../../lib/index.js';
import { memoryLogger, password, SECRET } from '../support/app.js';
import { connectAsApp } from '../support/app-database.js';
import { dialect, rows, type SpecDatabase } from '../support/database.js';
import { databaseFor } from '../support/migrated.js';
import { settled } from '../support/sessions.js';

const person = (name: string) => ({ email: `${name}@example.com`, password: 'an analytical engine' });
const undone = new Error('the app undoes it');

const plugins = [password({ sendVerificationOnSignUp: true }), apiKeys(), passkeys()] as const;

let database: SpecDatabase;
let own: Sequelize;
let afterCreateUser: Hooks['afterCreateUser'];
let mails: string[];
let events: string[];
let auth: ReturnType<typeof open>;

function open(given: Sequelize | string) {
  return createAuth({
    database: given,
    secret: SECRET,
    baseUrl: 'http://localhost',
    rateLimit: false,
    logger: memoryLogger(),
    hooks: { afterCreateUser: (...given) => afterCreateUser?.(...given) },
    email: { send: ({ to }: MailMessage) => void mails.push(to) },
    plugins,
  });
}

beforeEach(async () => {
  const created = await databaseFor({ plugins });
  database = created.database;
  own = connectAsApp(database);
  auth = open(own);
  await created.migrate(auth);
  afterCreateUser = undefined;
  [mails, events] = [[], []];
  auth.on('user.created', () => events.push('user.created'));
  auth.on('api_key.created', () => events.push('api_key.created'));
});
afterEach(async () => {
  await auth.close();
  await own.close();
  await database.drop();
});

const signUp = (name: string, transaction?: Transaction | null) =>
  auth.credential.signUp({ ...person(name), transaction });

async function names(): Promise<string> {
  const users = await rows<{ email: string }>(database, 'SELECT email FROM users ORDER BY email');
  return users.map(({ email }) => email.replace(/@.*/, '')).join(' ');
}

/** What has become known of the users, and who is stored. */
async function outcome() {
  await settled(auth);
  const told = mails.map((to) => to.replace(/@.*/, '')).sort();
  return { stored: await names(), told: told.join(' '), events: events.length };
}

describe('events and emails', () => {
  test('go out after the commit', async () => {
    await own.transaction(async (transaction) => {
      await signUp('ada', transaction);
      expect(await outcome()).toEqual({ stored: '', told: '', events: 0 });
    });
    expect(await outcome()).toEqual({ stored: 'ada', told: 'ada', events: 1 });
  });

  test('go out after the commit of a transaction that the app ends itself', async () => {
    const transaction = await own.transaction();
    await signUp('ada', transaction);
    expect(await outcome()).toEqual({ stored: '', told: '', events: 0 });
    await transaction.commit();
    expect(await outcome()).toEqual({ stored: 'ada', told: 'ada', events: 1 });
  });

  test('do not go out after a rollback', async () => {
    const transaction = await own.transaction();
    await signUp('ada', transaction);
    await transaction.rollback();
    expect(await outcome()).toEqual({ stored: '', told: '', events: 0 });
  });

  test('of a nested transaction go out after the commit of the outer one', async () => {
    await own.transaction(async (outer) => {
      await own.transaction({ transaction: outer }, (inner) => signUp('ada', inner));
      expect(await outcome()).toEqual({ stored: '', told: '', events: 0 });
    });
    expect(await outcome()).toEqual({ stored: 'ada', told: 'ada', events: 1 });
  });

  test('of a nested transaction that was rolled back do not go out, and those around it do', async () => {
    await own.transaction(async (outer) => {
      await signUp('ada', outer);
      const inner = own.transaction({ transaction: outer }, async (inner) => {
        await signUp('bob', inner);
        // In the outer one, but after the savepoint.
        await signUp('eve', outer);
        throw undone;
      });
      await expect(inner).rejects.toBe(undone);
      await signUp('zoe', outer);
    });
    expect(await outcome()).toEqual({ stored: 'ada zoe', told: 'ada zoe', events: 2 });
  });

  test('do not go out if the commit fails', async () => {
    if (dialect === 'mysql') return; // It has no constraints that are checked at the commit.
    await own.query('CREATE TABLE parents (id INTEGER PRIMARY KEY)');
    await own.query(
      'CREATE TABLE children (parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)',
    );
    const { warn } = console;
    console.warn = () => undefined;
    const work = own.transaction(async (transaction) => {
      await signUp('ada', transaction);
      await own.query('INSERT INTO children VALUES (1)', { transaction });
    });
    await expect(work).rejects.toThrow();
    console.warn = warn;
    expect(await outcome()).toEqual({ stored: '', told: '', events: 0 });
  });

  test('do not go out if the database has rolled the transaction back without a word', async () => {
    if (dialect === 'sqlite') return; // It does not.
    await own.transaction(async (transaction) => {
      await signUp('ada', transaction);
      await (dialect === 'mysql' ? own.query('ROLLBACK', { transaction }) : failIn(transaction));
    });
    expect(await outcome()).toEqual({ stored: '', told: '', events: 0 });
  });

  /** PostgreSQL then takes COMMIT for ROLLBACK, and reports no error. */
  const failIn = (transaction: Transaction) =>
    own.query('SELECT * FROM nothing', { transaction }).catch(() => undefined);
});

describe('a refused call', () => {
  test('leaves the transaction usable', async () => {
    await signUp('ada');
    await own.transaction(async (transaction) => {
      await signUp('bob', transaction);
      await expect(signUp('ada', transaction)).rejects.toMatchObject({ code: 'email_taken' });
      await signUp('eve', transaction);
    });
    expect(await outcome()).toEqual({ stored: 'ada bob eve', told: 'ada bob eve', events: 3 });
  });

  test('that is a single statement leaves the transaction usable', async () => {
    await own.transaction(async (transaction) => {
      const nobody = { userId: uuidv7(), sessionId: uuidv7(), transaction };
      await expect(auth.passkeys.reauthenticationOptions(nobody)).rejects.toMatchObject({
        code: 'user_not_found',
      });
      await signUp('ada', transaction);
    });
    expect(await names()).toBe('ada');
  });

  test('undoes only what it did itself, if another runs at the same time', async () => {
    await signUp('ada');
    await own.transaction(async (transaction) => {
      const calls = ['bob', 'ada', 'eve', 'ada', 'zoe'].map((name) => signUp(name, transaction));
      expect((await Promise.allSettled(calls)).map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
    });
    expect(await names()).toBe('ada bob eve zoe');
  });

  test('fails no other that reads at the same time', async () => {
    await signUp('ada');
    const ten = Array.from({ length: 10 });
    const { email: credential, password } = person('ada');
    await own.transaction(async (transaction) => {
      const refused = ten.map(() => expect(signUp('ada', transaction)).rejects.toThrow('email'));
      const reading = ten.map(async () => {
        for (const _ of ten) await auth.credential.signIn({ credential, password, transaction });
      });
      await Promise.all([...refused, ...reading]);
    });
  });
});

test('a call sees what the transaction has written before', async () => {
  await own.transaction(async (transaction) => {
    await signUp('ada', transaction);
    const { email: credential, password } = person('ada');
    const { token, user } = await auth.credential.signIn({ credential, password, transaction });
    await auth.apiKeys.create(user.id, { name: 'a program', transaction });
    expect(await auth.revokeSession(token, { transaction })).toBe(true);
    expect(await auth.revokeSession(token, { transaction })).toBe(false);
  });
  expect(await rows(database, 'SELECT id FROM api_keys')).toHaveLength(1);
  expect(await rows(database, 'SELECT id FROM sessions')).toEqual([]);
});

describe('a hook', () => {
  test('takes part in the transaction that it gets, whoever began it', async () => {
    afterCreateUser = async (user, { transaction }) => {
      await auth.apiKeys.create(user.id, { name: 'a program', transaction });
      await expect(auth.apiKeys.create(user.id, { name: '', transaction })).rejects.toMatchObject({
        code: 'validation_failed',
      });
      expect(events).toEqual([]);
    };
    await signUp('ada');
    expect(events).toEqual(['api_key.created', 'user.created']);
    events = [];
    await own.transaction((transaction) => signUp('bob', transaction));
    expect(events).toEqual(['api_key.created', 'user.created']);
    expect(await rows(database, 'SELECT id FROM api_keys')).toHaveLength(2);
  });

  test('takes part in the transaction that it gets with a URL, too', async () => {
    const byUrl = open(database.url);
    afterCreateUser = async (user, { transaction }) => {
      await byUrl.apiKeys.create(user.id, { name: 'a program', transaction });
    };
    await byUrl.credential.signUp(person('ada'));
    await byUrl.close();
    expect(await rows(database, 'SELECT id FROM api_keys')).toHaveLength(1);
  });

  test('takes part in no transaction that it does not name', async () => {
    const seen: unknown[] = [];
    afterCreateUser = async ({ id }) => seen.push(await auth.users.get(id));
    await own.transaction((transaction) => signUp('ada', transaction));
    expect(seen).toEqual([null]);
  });

  test('that throws undoes the account, and no more of the app’s transaction', async () => {
    await own.transaction(async (transaction) => {
      await signUp('ada', transaction);
      afterCreateUser = () => Promise.reject(undone);
      await expect(signUp('bob', transaction)).rejects.toBe(undone);
    });
    expect(await outcome()).toEqual({ stored: 'ada', told: 'ada', events: 1 });
  });

  test('runs once if another server that it uses has reached its limit of connections', async () => {
    const code = { mysql: 'ER_CON_COUNT_ERROR', postgres: '53300', sqlite: '53300' }[dialect];
    const refused = Object.assign(new Error('too many connections'), { parent: { code } });
    let runs = 0;
    afterCreateUser = () => {
      runs++;
      throw refused;
    };
    await expect(signUp('ada')).rejects.toBe(refused);
    expect(runs).toBe(1);
  });
});

describe('a transaction that cannot be joined is a TypeError', () => {
  test('because another Sequelize instance began it', async () => {
    const other = connectAsApp(database);
    const transaction = await other.transaction();
    await expect(signUp('ada', transaction)).rejects.toThrow(TypeError);
    await expect(signUp('ada', transaction)).rejects.toThrow(/another Sequelize instance.*database/);
    await transaction.rollback();
    await other.close();
    expect(await names()).toBe('');
  });

  test('because the config has a URL', async () => {
    const byUrl = open(database.url);
    const transaction = await own.transaction();
    const work = byUrl.credential.signUp({ ...person('ada'), transaction });
    await expect(work).rejects.toThrow(/If database is a URL, set it to your Sequelize instance instead/);
    await transaction.rollback();
    await byUrl.close();
  });

  test('because it has ended, or the one around it', async () => {
    const transaction = await own.transaction();
    const inner = await own.transaction({ transaction });
    await transaction.commit();
    await expect(signUp('ada', transaction)).rejects.toThrow(/already ended/);
    await expect(signUp('ada', inner)).rejects.toThrow(/already ended/);
  });

  test.each([{}, 'a transaction', 1, true])('because it is none: %j', async (transaction) => {
    await expect(signUp('ada', transaction as never)).rejects.toThrow(/must be a transaction of Sequelize/);
  });
});

test('null counts as none', async () => {
  await signUp('ada', null);
  expect(await outcome()).toEqual({ stored: 'ada', told: 'ada', events: 1 });
});

test('with Sequelize’s CLS, a call takes part only in the transaction that it names', async () => {
  const storage = new AsyncLocalStorage<Map<string, unknown>>();
  const cls = Sequelize as unknown as { _cls?: unknown; useCLS(namespace: object): void };
  cls.useCLS({
    get: (key: string) => storage.getStore()?.get(key),
    set: (key: string, value: unknown) => storage.getStore()?.set(key, value),
    run: (work: (store: unknown) => unknown) => storage.run(new Map(), () => work(storage.getStore())),
    bind: (work: unknown) => work,
  });
  // On SQLite, one that has not written anything holds nobody up.
  const work = own.transaction({ type: Transaction.TYPES.DEFERRED }, async (transaction) => {
    await signUp('ada');
    await signUp('bob', transaction);
    throw undone;
  });
  await expect(work).rejects.toBe(undone);
  cls._cls = undefined;
  expect(await outcome()).toEqual({ stored: 'ada', told: 'ada', events: 1 });
});

test('the app’s rows and latchkey’s live and die together', async () => {
  const Profile = own.define('Profile', { userId: DataTypes.UUID, name: DataTypes.STRING });
  await Profile.sync();
  const join = (name: string, error?: Error) =>
    own.transaction(async (transaction) => {
      const { user } = (await signUp(name, transaction))!;
      await Profile.create({ userId: user.id, name }, { transaction });
      if (error) throw error;
    });
  await join('ada');
  await expect(join('bob', undone)).rejects.toBe(undone);
  const joined = 'SELECT name FROM Profiles p JOIN users u ON u.id = p.userId';
  const sql =
    dialect === 'postgres' ? 'SELECT name FROM "Profiles" p JOIN users u ON u.id = p."userId"' : joined;
  expect(await rows(database, sql)).toEqual([{ name: 'ada' }]);
});
