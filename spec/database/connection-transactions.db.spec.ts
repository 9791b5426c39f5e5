import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Hooks } from '../../lib/config/hooks.js';
import { apiKeys, createAuth, type MailMessage, type OutboxOptions } from '../../lib/index.js';
import { memoryLogger, password, SECRET } from '../support/app.js';
import { type AppConnection, connectByDriver } from '../support/app-connection.js';
import { connectAsApp } from '../support/app-database.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';
import { databaseFor } from '../support/migrated.js';
import { until } from '../support/until.js';

const person = (name: string) => ({ email: `${name}@example.com`, password: 'an analytical engine' });

const plugins = [password({ sendVerificationOnSignUp: true }), apiKeys()] as const;

let database: SpecDatabase;
let app: AppConnection;
let opened: AppConnection[];
let afterCreateUser: Hooks['afterCreateUser'];
let mails: string[];
let events: string[];
let auth: ReturnType<typeof open>;

function open(given: Parameters<typeof createAuth>[0]['database'], outbox: OutboxOptions = {}) {
  return createAuth({
    database: given,
    secret: SECRET,
    baseUrl: 'http://localhost',
    logger: memoryLogger(),
    // With limits, which are counted beside the transactions.
    rateLimit: { signUp: { limit: 100, window: 60 }, signIn: { limit: 100, window: 60 } },
    hooks: { afterCreateUser: (...given) => afterCreateUser?.(...given) },
    email: { send: ({ to }: MailMessage) => void mails.push(nameIn(to)) },
    outbox: { interval: false, ...outbox },
    plugins,
  });
}

const nameIn = (email: string) => email.replace(/@.*/, '');

async function connect(options?: object): Promise<AppConnection> {
  const connection = await connectByDriver(database, options);
  opened.push(connection);
  return connection;
}

beforeEach(async () => {
  const created = await databaseFor({ plugins });
  database = created.database;
  auth = open(database.url);
  await created.migrate(auth);
  [mails, events, opened, afterCreateUser] = [[], [], [], undefined];
  auth.on('user.created', async ({ userId }) => {
    events.push(nameIn((await auth.users.get(userId))?.email ?? 'nobody'));
  });
  app = await connect();
});
afterEach(async () => {
  await auth.close();
  for (const one of opened) await one.close().catch(() => undefined);
  await database.drop();
});

const signUp = (name: string, { connection }: Pick<AppConnection, 'connection'> = app) =>
  auth.credential.signUp({ ...person(name), ip: '192.0.2.1', transaction: { connection } });

/** Signs somebody up, and waits until the listener and the email are done. */
async function signUpAndWait(name: string): Promise<void> {
  await app.begin();
  await signUp(name);
  await app.send('COMMIT');
  await until(() => events.includes(name) && mails.includes(name));
}

async function stored(): Promise<string> {
  const users = await rows<{ email: string }>(database, 'SELECT email FROM users ORDER BY email');
  return users.map(({ email }) => nameIn(email)).join(' ');
}

const OURS = ['users', 'sessions', 'one_time_tokens', 'outbox', 'api_keys'];

async function everything(): Promise<string> {
  const all = await Promise.all(OURS.map((table) => rows(database, `SELECT * FROM ${table}`)));
  return JSON.stringify(all);
}

describe('events and emails', () => {
  test('follow the commit', async () => {
    await app.begin();
    await signUp('ada');
    expect([await stored(), mails, events]).toEqual(['', [], []]);
    await app.send('COMMIT');
    await until(() => events.length > 0 && mails.length > 0);
    expect([await stored(), mails, events]).toEqual(['ada', ['ada'], ['ada']]);
    await until(async () => (await auth.outbox.list({ state: 'sent' })).entries.length === 1);
    await until(
      async () => (await rows(database, "SELECT id FROM outbox WHERE lane = 'commit'")).length === 0,
    );
  });

  test.each([
    ['a rollback', () => app.send('ROLLBACK')],
    ['the end of the process', () => app.cut()],
  ])('do not follow %s, of which nothing is left', async (_what, end) => {
    const before = await everything();
    await app.begin();
    await signUp('ada');
    await end();
    await until(async () => (await everything()) === before);
    app = await connect();
    await signUpAndWait('bob');
    expect([await stored(), mails, events]).toEqual(['bob', ['bob'], ['bob']]);
  });

  test('follow a commit only if their savepoint was kept', async () => {
    await app.begin();
    await signUp('ada');
    await app.send('SAVEPOINT of_app');
    await signUp('bob');
    await app.send('ROLLBACK TO SAVEPOINT of_app');
    await signUp('eve');
    await app.send('COMMIT');
    await until(() => events.length > 1 && mails.length > 1);
    await signUpAndWait('zoe');
    expect(await stored()).toBe('ada eve zoe');
    expect([mails.sort(), events.sort()]).toEqual([
      ['ada', 'eve', 'zoe'],
      ['ada', 'eve', 'zoe'],
    ]);
  });

  test('follow a commit just before auth.close()', async () => {
    await app.begin();
    await signUp('ada');
    await app.send('COMMIT');
    await auth.close();
    expect([mails, events.length]).toEqual([['ada'], 1]);
  });

  test.each(['COMMIT', 'ROLLBACK'])(
    'and the wait for them are announced to the platform until %s',
    async (end) => {
      const announced: Promise<void>[] = [];
      const other = open(database.url, { waitUntil: (work) => announced.push(work) });
      let created = 0;
      other.on('user.created', () => created++);
      await app.begin();
      await other.credential.signUp({ ...person('ada'), transaction: app });
      await app.send(end);
      for (let seen = 0; seen < announced.length; ) {
        seen = announced.length;
        await Promise.all(announced);
      }
      expect([created, mails]).toEqual(end === 'COMMIT' ? [1, ['ada']] : [0, []]);
      await other.close();
    },
  );

  if (dialect === 'sqlite')
    test('follow the commit even if its row cannot be deleted', async () => {
      await app.send("CREATE TRIGGER kept BEFORE DELETE ON outbox BEGIN SELECT RAISE(ABORT, 'kept'); END");
      await app.begin();
      await signUp('ada');
      await app.send('COMMIT');
      await until(() => events.length > 0);
    });

  test('show no trace of latchkey’s own in the list of the outbox', async () => {
    await app.begin();
    await signUp('ada');
    await app.send('COMMIT');
    await until(() => mails.length > 0);
    expect((await auth.outbox.list()).entries.map(({ kind }) => kind)).toEqual(['verify-email']);
  });
});

test('16 transactions at once are each kept or left', async () => {
  const all = await Promise.all(Array.from({ length: 16 }, () => connect()));
  await Promise.all(
    all.map(async (one, index) => {
      const { connection } = one;
      // By default, InnoDB locks the gaps between rows, in which others then cannot insert.
      if (dialect === 'mysql') await one.send('SET TRANSACTION ISOLATION LEVEL READ COMMITTED');
      await one.begin();
      const { email, password } = person(`user-${index}`);
      const { user } = (await signUp(`user-${index}`, one))!;
      const signedIn = await auth.credential.signIn({
        credential: email,
        password,
        ip: '192.0.2.1',
        transaction: { connection },
      });
      expect(await auth.revokeSession(signedIn.token, { transaction: { connection } })).toBe(true);
      await auth.apiKeys.create(user.id, { name: 'a program', transaction: { connection } });
      await one.send(index % 2 ? 'COMMIT' : 'ROLLBACK');
    }),
  );
  const kept = all.flatMap((_, index) => (index % 2 ? `user-${index}` : [])).sort();
  await until(() => events.length >= kept.length && new Set(mails).size >= kept.length);
  await signUpAndWait('zoe');
  // Each gets an email about the sign-in too.
  expect([events.sort(), [...new Set(mails)].sort()]).toEqual([
    [...kept, 'zoe'],
    [...kept, 'zoe'],
  ]);
  expect(await rows(database, 'SELECT id FROM api_keys')).toHaveLength(kept.length);
});

describe('a transaction that ends while calls run', () => {
  /** Whether an account is stored with a promise that may be rejected. */
  const ended = (call: Promise<unknown>) => call.then(() => 'done', String);

  test('by an error of another call, keeps nothing of them', async () => {
    const before = await everything();
    await app.begin();
    const calls = ['ada', 'bob', 'eve'].map((name) => signUp(name));
    const invalid = auth.users.create({ email: 'no email', transaction: app });
    await expect(Promise.all([invalid, ...calls])).rejects.toThrow();
    await app.send('ROLLBACK');
    await Promise.all(calls.map(ended));
    expect([await everything(), mails, events]).toEqual([before, [], []]);
  });

  test('keeps nothing, whenever it is rolled back', async () => {
    const before = await everything();
    for (let turns = 0; turns < 24; turns += 2) {
      await app.begin();
      const call = signUp('ada');
      call.catch(() => undefined);
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      await app.send('ROLLBACK');
      await ended(call);
    }
    await signUpAndWait('bob');
    expect([await stored(), mails, events]).toEqual(['bob', ['bob'], ['bob']]);
    await auth.users.delete((await auth.users.find({ email: 'bob@example.com' }))?.id ?? '');
    await rows(database, 'DELETE FROM outbox');
    expect(await everything()).toBe(before);
  });

  test('is not ended by values that look like it', async () => {
    await app.begin();
    const { user } = (await auth.credential.signUp({
      ...person('ada'),
      userAgent: 'x; end',
      transaction: app,
    }))!;
    await auth.apiKeys.create(user.id, { name: "it's; COMMIT; begin", transaction: app });
    await app.send('COMMIT');
    expect(await rows(database, 'SELECT name FROM api_keys')).toEqual([{ name: "it's; COMMIT; begin" }]);
  });

  if (dialect !== 'sqlite') {
    test('lets nothing into the next one on the same connection', async () => {
      await app.begin();
      const call = ended(signUp('ada'));
      await new Promise((resolve) => setImmediate(resolve));
      await app.send('ROLLBACK');
      await app.begin();
      await signUp('bob');
      await app.send('COMMIT');
      await call;
      expect(await stored()).toBe('bob');
    });

    test('with a hook that never returns, does not hold up the next one', async () => {
      let isHanging = false;
      afterCreateUser = () => {
        isHanging = true;
        return new Promise(() => undefined);
      };
      await app.begin();
      void signUp('ada');
      await until(() => isHanging);
      await app.send('ROLLBACK');
      afterCreateUser = undefined;
      await signUpAndWait('bob');
      expect(await stored()).toBe('bob');
    });
  }
});

test('listeners run in the context of the call that has caused the event', async () => {
  const context = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  auth.on('user.created', () => seen.push(context.getStore()));
  const other = await connect();
  if (dialect === 'sqlite') return; // It has one writer at a time.
  await app.begin();
  await other.begin();
  await context.run('of ada', () => signUp('ada'));
  await context.run('of bob', () => signUp('bob', other));
  await app.send('COMMIT');
  await until(() => seen.length === 1);
  await other.send('COMMIT');
  await until(() => seen.length === 2);
  expect(seen).toEqual(['of ada', 'of bob']);
});

test('a refused call leaves the transaction usable, and calls at the same time do not disturb each other', async () => {
  await signUpAndWait('ada');
  await app.begin();
  const calls = await Promise.allSettled(['bob', 'ada', 'eve', 'ada', 'zoe'].map((name) => signUp(name)));
  expect(calls.map(({ status }) => status[0]).join('')).toBe('frfrf');
  await app.send('COMMIT');
  expect(await stored()).toBe('ada bob eve zoe');
});

describe('a hook', () => {
  const PROJECTS = `CREATE TABLE projects (title VARCHAR(20), owner ${dialect === 'postgres' ? 'UUID' : 'CHAR(36)'}
    ${dialect === 'mysql' ? 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin' : ''} NOT NULL,
    FOREIGN KEY (owner) REFERENCES users (id) ON DELETE CASCADE)`;
  const insertFor = (id: string) => `INSERT INTO projects (title, owner) VALUES ('first', '${id}')`;

  /** Sends a statement on the connection that a hook gets. */
  async function sendOn(connection: unknown, sql: string): Promise<void> {
    if (dialect === 'sqlite') return (connection as { exec(sql: string): void }).exec(sql);
    const { query } = connection as { query(sql: string, done: (error: unknown) => void): void };
    await new Promise<void>((resolve, reject) => {
      query.call(connection, sql, (error) => (error ? reject(error) : resolve()));
    });
  }

  test('inserts rows that refer to the new account on the connection that it gets', async () => {
    await app.send(PROJECTS);
    afterCreateUser = async ({ id }, { connection }) => {
      await sendOn(connection, insertFor(id));
      if (events.length > 0) throw new Error('no more');
    };
    await auth.credential.signUp(person('ada'));
    await until(() => events.length > 0);
    await expect(auth.credential.signUp(person('bob'))).rejects.toThrow('no more');
    expect([await stored(), await rows(database, 'SELECT title FROM projects')]).toEqual([
      'ada',
      [{ title: 'first' }],
    ]);
  });

  test('gets the connection that the app has passed, and can pass it on', async () => {
    const seen: unknown[] = [];
    afterCreateUser = async ({ id }, { connection, transaction }) => {
      seen.push(connection);
      await auth.apiKeys.create(id, {
        name: 'by connection',
        transaction: { connection: connection as object },
      });
      await auth.apiKeys.create(id, { name: 'by transaction', transaction });
      const keys = await auth.models.ApiKey.count({ where: { userId: id }, transaction });
      seen.push(keys);
      await expect(transaction.commit()).rejects.toThrow('end it there');
    };
    await app.begin();
    await signUp('ada');
    // The connections of mysql2/promise wrap the one that hooks get.
    const { connection: inner } = app.connection as { connection?: object };
    expect(seen).toEqual([dialect === 'mysql' ? inner : app.connection, 2]);
    expect(await rows(database, 'SELECT id FROM api_keys')).toEqual([]);
    await app.send('COMMIT');
    expect(await rows(database, 'SELECT id FROM api_keys')).toHaveLength(2);
  });
});

describe('a hook with a connection', () => {
  const codes = { mysql: 'ER_LOCK_DEADLOCK', postgres: '40P01', sqlite: 'SQLITE_BUSY' };

  test.each(['as it is', 'wrapped'])('runs again if its own library reports a deadlock %s', async (how) => {
    const deadlock = Object.assign(new Error('deadlock'), { code: codes[dialect] });
    let runs = 0;
    afterCreateUser = () => {
      if (++runs === 1) throw how === 'wrapped' ? new Error('failed', { cause: deadlock }) : deadlock;
    };
    await auth.credential.signUp(person('ada'));
    expect([runs, await stored()]).toEqual([2, 'ada']);
  });

  if (dialect === 'mysql')
    test('that hides that the database has rolled back keeps nothing', async () => {
      const before = await everything();
      afterCreateUser = (_user, { connection }) =>
        new Promise((resolve) => {
          (connection as { query(sql: string, done: () => void): void }).query('ROLLBACK', () =>
            resolve(null),
          );
        });
      await expect(auth.credential.signUp(person('ada'))).rejects.toThrow();
      await app.begin();
      await expect(signUp('bob')).rejects.toThrow();
      await app.send('ROLLBACK');
      expect(await everything()).toBe(before);
    });
});

describe('a connection that cannot be used is a TypeError', () => {
  test('because it is passed as the transaction itself', async () => {
    await app.begin();
    const direct = auth.credential.signUp({ ...person('ada'), transaction: app.connection as never });
    await expect(direct).rejects.toThrow(/^latchkey: transaction must be .* or \{ connection \}/);
    await app.send('ROLLBACK');
  });

  if (dialect === 'postgres')
    test('because its search_path leads to another table', async () => {
      await app.send('CREATE SCHEMA other');
      await app.send('CREATE TABLE other.api_keys (id UUID)');
      await app.begin();
      await app.send('SET LOCAL search_path = other, public');
      await expect(signUp('ada')).rejects.toThrow('search_path leads to other tables');
      await app.send('ROLLBACK');
    });

  if (dialect === 'sqlite')
    test('and the check undoes nothing that others write on it', async () => {
      await app.send('CREATE TABLE notes (note INTEGER)');
      for (let note = 0; note < 50; note++) {
        const refused = expect(signUp('ada')).rejects.toThrow('not in a transaction');
        await app.send(`INSERT INTO notes VALUES (${note})`);
        await refused;
      }
      expect(await rows(database, 'SELECT note FROM notes')).toHaveLength(50);
    });

  test('because it is in no transaction, and stays so', async () => {
    await expect(signUp('ada')).rejects.toThrow(TypeError);
    await expect(signUp('ada')).rejects.toThrow('not in a transaction: begin one on it');
    await app.begin();
    await signUp('bob');
    await app.send('COMMIT');
    await expect(signUp('ada')).rejects.toThrow('not in a transaction');
    expect(await stored()).toBe('bob');
  });

  test('because it is connected to another database, with the same tables or without', async () => {
    const other = await createDatabase();
    const elsewhere = await connectByDriver(other);
    const tryThere = async () => {
      await elsewhere.begin();
      await expect(signUp('ada', elsewhere)).rejects.toThrow(/TypeError|another database/);
      await elsewhere.send('ROLLBACK');
    };
    await tryThere();
    const itsAuth = open(other.url);
    await itsAuth.migrate();
    await itsAuth.close();
    await tryThere();
    await elsewhere.close();
    await other.drop();
  });

  test.each([{}, 'a connection', null, () => undefined])('because it is none: %j', async (connection) => {
    await expect(signUp('ada', { connection: connection as never })).rejects.toThrow(
      /^latchkey: transaction\.connection must be a/,
    );
  });

  if (dialect === 'sqlite')
    test('because it is a client of libsql, or a database whose statements are asynchronous', async () => {
      const { createClient } = await import('@libsql/client');
      const client = createClient({ url: database.url.replace('sqlite:', 'file:') });
      const asynchronous = { prepare() {}, exec() {}, each() {} };
      for (const connection of [client, asynchronous])
        await expect(signUp('ada', { connection })).rejects.toThrow('transaction.connection must be');
      client.close();
    });

  if (dialect !== 'sqlite')
    test('because it is a pool', async () => {
      const pool = await poolOf(database.url);
      await expect(signUp('ada', { connection: pool })).rejects.toThrow('It is a pool: take a connection');
      await pool.end();
    });

  if (dialect === 'postgres')
    test('because a statement of the transaction has failed', async () => {
      await app.begin();
      await app.send('SELECT nothing').catch(() => undefined);
      await expect(signUp('ada')).rejects.toThrow('has failed: roll it back');
      await app.send('ROLLBACK');
    });
});

async function poolOf(url: string): Promise<{ end(): Promise<unknown> }> {
  if (dialect === 'mysql') return (await import('mysql2/promise')).createPool(url);
  return new (await import('pg')).default.Pool({ connectionString: url });
}

test('an Auth on a Sequelize instance of the app joins a connection too', async () => {
  const own = connectAsApp(database);
  const other = open(own);
  await app.begin();
  const transaction = { connection: app.connection };
  const { user } = (await other.credential.signUp({ ...person('ada'), transaction }))!;
  const { createdAt } = (await other.users.get(user.id, { transaction })) ?? {};
  expect(createdAt).toEqual(user.createdAt);
  expect(await other.users.get(user.id)).toBeNull();
  await app.send('COMMIT');
  expect((await auth.users.get(user.id))?.createdAt).toEqual(user.createdAt);
  await until(() => mails.includes('ada'));
  await other.close();
  await own.close();
});

if (dialect === 'postgres')
  test('with a schema in the URL, latchkey’s tables are there, and a connection has to find them', async () => {
    await app.send('CREATE SCHEMA accounts');
    const other = open(`${database.url}?options=-csearch_path%3Daccounts`);
    await other.migrate();
    await app.begin();
    const join = () => other.credential.signUp({ ...person('ada'), transaction: app });
    await expect(join()).rejects.toThrow('its search_path leads to other tables');
    await app.send('SET LOCAL search_path = accounts');
    await join();
    await app.send('COMMIT');
    expect([await stored(), await rows(database, 'SELECT email FROM accounts.users')]).toEqual([
      '',
      [{ email: 'ada@example.com' }],
    ]);
    await other.close();
  });

if (dialect === 'mysql')
  test('options of the app’s connection change no result', async () => {
    const odd = {
      rowsAsArray: true,
      dateStrings: true,
      bigNumberStrings: true,
      supportBigNumbers: true,
      timezone: '+09:00',
      typeCast: () => 'nonsense',
    };
    app = await connect(odd);
    await app.begin();
    const { user } = (await signUp('ada'))!;
    const transaction = { connection: app.connection };
    expect(await auth.users.get(user.id, { transaction })).toEqual(user);
    await app.send('COMMIT');
    expect(await auth.users.get(user.id)).toEqual(user);
  });

if (dialect !== 'sqlite')
  test('a deadlock is thrown as Sequelize’s error, and the connection can begin again', async () => {
    const ids = [(await auth.users.create(person('ada'))).id, (await auth.users.create(person('bob'))).id];
    const two = [app, await connect()];
    for (const one of two) await one.begin();
    const revoke = (at: number, id = '') =>
      auth.revokeAllSessions(id, { transaction: { connection: two[at]!.connection } });
    await revoke(0, ids[0]);
    await revoke(1, ids[1]);
    let failed = 0;
    const tryToRevoke = (at: number, id = '') =>
      revoke(at, id).catch(async (error) => {
        failed = at;
        if (dialect === 'mysql') await expect(revoke(at, id)).rejects.toThrow('not in a transaction');
        await two[at]!.send('ROLLBACK');
        throw error;
      });
    const outcomes = await Promise.allSettled([tryToRevoke(0, ids[1]), tryToRevoke(1, ids[0])]);
    const { reason } = outcomes[failed] as PromiseRejectedResult;
    expect(reason.parent.code).toMatch(/^(ER_LOCK_DEADLOCK|40P01)$/);
    await two[1 - failed]!.send('ROLLBACK');
    await two[failed]!.begin();
    await revoke(failed, ids[0]);
    await two[failed]!.send('COMMIT');
    const epochs = await rows<{ auth_epoch: number }>(
      database,
      'SELECT auth_epoch FROM users ORDER BY auth_epoch',
    );
    expect(epochs.map(({ auth_epoch }) => auth_epoch)).toEqual([0, 1]);
  });

if (dialect === 'sqlite')
  test('a transaction of libsql is joined, and refused when it has ended', async () => {
    const { createClient } = await import('@libsql/client');
    const client = createClient({ url: database.url.replace('sqlite:', 'file:') });
    const connection = await client.transaction('write');
    const { user } = (await signUp('ada', { connection }))!;
    await expect(signUp('ada', { connection })).rejects.toMatchObject({ code: 'email_taken' });
    afterCreateUser = async (_user, { transaction }) => {
      await auth.models.User.update(
        { email: 'eve@example.com' },
        { where: { email: 'bob@example.com' }, transaction },
      );
    };
    await signUp('bob', { connection });
    expect(await auth.users.get(user.id, { transaction: { connection } })).toEqual(user);
    await connection.commit();
    await until(() => events.length === 2);
    expect(await stored()).toBe('ada eve');
    await expect(signUp('zoe', { connection })).rejects.toThrow('not in a transaction');
    client.close();
  });
