// A pool of latchkey's own sends its statements to the driver. A lookup on its own is a prepared statement.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { QueryTypes, Sequelize, Transaction } from 'sequelize';
import { internalsOf } from '../../lib/auth.js';
import { connectByUrl, connectionManagerOf } from '../../lib/database/connect.js';
import type { Database } from '../../lib/database/database.js';
import { createAuth } from '../../lib/index.js';
import { sqlite } from '../../lib/sqlite.js';
import { ada, password, SECRET } from '../support/app.js';
import { createDatabase, createOnServer, dialect, rows, type SpecDatabase } from '../support/database.js';
import { startMysql } from '../support/servers.mjs';

const fields = {
  name: { type: 'string' },
  newsletter: { type: 'boolean' },
  bornAt: { type: 'date' },
  score: { type: 'number' },
  level: { type: 'integer' },
  settings: { type: 'json' },
} as const;
const FULL = {
  name: 'Ada\'s 名前 \u{1f600} \\ "',
  newsletter: true,
  bornAt: new Date('1815-12-10T00:00:00.123Z'),
  score: 0.1,
  level: -2_147_483_648,
  settings: { darkMode: true, list: [1, null, 'x'] },
};
const FAR = {
  ...FULL,
  newsletter: false,
  bornAt: new Date('9999-12-31T23:59:59.999Z'),
  score: -1e300,
  level: 0,
};

const POOL = 10;
let database: SpecDatabase;
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const authOn = (where: string | Sequelize) => {
  const auth = createAuth({
    database: where,
    secret: SECRET,
    rateLimit: false,
    user: { fields },
    plugins: [password()],
  });
  ends.push(() => auth.close());
  return auth;
};
type SpecAuth = ReturnType<typeof authOn>;

async function open(created = createDatabase()): Promise<SpecAuth> {
  database = await created;
  ends.push(() => database.drop());
  const auth = authOn(database.url);
  await auth.migrate();
  return auth;
}

async function headersOf(auth: SpecAuth, email: string, more: object = {}) {
  await auth.credential.signUp({ ...ada, email, fields: more });
  const { token } = await auth.credential.signIn({ credential: email, password: ada.password });
  return { headers: { cookie: `latchkey=${token}` } };
}

const statementsPrepared = async () =>
  Number((await rows<{ Value: string }>(database, "SHOW GLOBAL STATUS LIKE 'Com_stmt_execute'"))[0]?.Value);

test('a session is the same looked up alone, in a batch, and through an instance of the app', async () => {
  const auth = await open();
  const people = [
    await headersOf(auth, 'full@example.com', FULL),
    await headersOf(auth, 'far@example.com', FAR),
    await headersOf(auth, 'empty@example.com'),
  ];
  const alone = [];
  for (const one of people) alone.push(await auth.getSession(one));
  expect(alone[0]?.user).toMatchObject({ email: 'full@example.com', ...FULL });
  expect(alone[1]?.user).toMatchObject(FAR);
  expect(alone[2]?.user).toMatchObject({ name: null, newsletter: null, bornAt: null, settings: null });
  expect(await Promise.all(people.map((one) => auth.getSession(one)))).toEqual(alone);

  const own = connectByUrl(database.url) as Sequelize;
  ends.push(() => own.close());
  const other = authOn(own);
  for (const [index, one] of people.entries()) expect(await other.getSession(one)).toEqual(alone[index]);
});

test('a lookup sees at once what another connection has changed, columns too', async () => {
  const auth = await open();
  const request = await headersOf(auth, 'ada@example.com');
  const { user } = await auth.getSession(request);
  for (const level of [1, 2, 3]) {
    await rows(database, 'UPDATE users SET level = :level', { level });
    expect((await auth.getSession(request)).user).toMatchObject({ level });
  }
  await rows(database, 'ALTER TABLE users ADD COLUMN nickname VARCHAR(20) DEFAULT NULL');
  expect((await auth.getSession(request)).user.id).toBe(user.id);
  await rows(database, 'DELETE FROM sessions');
  await expect(auth.getSession(request)).rejects.toMatchObject({ code: 'invalid_session' });
  await rows(database, 'ALTER TABLE sessions RENAME TO old_sessions');
  await expect(auth.getSession(request)).rejects.toMatchObject({
    code: 'unavailable',
    cause: { message: expect.stringMatching(/sessions.*run auth\.migrate\(\)/) },
  });
});

(dialect === 'mysql' ? test : test.skip)('a server that prepares no statements is sent text', async () => {
  const server = await startMysql();
  if (!server) throw new Error('there is no MariaDB or MySQL server on this machine');
  ends.push(() => server.stop());
  const auth = await open(createOnServer('mysql', server.url));
  const request = await headersOf(auth, 'ada@example.com');
  await auth.getSession(request);
  const prepared = await statementsPrepared();
  expect(prepared).toBeGreaterThan(0);

  await rows(database, 'SET GLOBAL max_prepared_stmt_count = 0');
  const restarted = authOn(database.url);
  for (let attempt = 0; attempt < 3; attempt++)
    expect((await restarted.getSession(request)).user.email).toBe('ada@example.com');
  expect(await statementsPrepared()).toBe(prepared);
});

/** On the connection that was used last. */
const prepared = async (pool: Sequelize): Promise<string[]> => {
  const sql =
    dialect === 'mysql'
      ? "SHOW SESSION STATUS LIKE 'Com_stmt_execute'"
      : "SELECT name FROM pg_prepared_statements WHERE name LIKE 'latchkey%'";
  const found = await pool.query<{ name?: string; Value?: string }>(sql, { type: QueryTypes.SELECT });
  return found.map(({ name, Value }) => name ?? Value ?? '').filter((one) => one !== '0');
};

describe('a lookup on its own', () => {
  const withServer = dialect === 'sqlite' ? test.skip : test;
  const inPostgres = dialect === 'postgres' ? test : test.skip;
  const inMysql = dialect === 'mysql' ? test : test.skip;
  const inSqlite = dialect === 'sqlite' ? test : test.skip;

  /** An instance of the app, whose only connection has looked up a session. */
  async function lookedUp(url: string, request: { headers: { cookie: string } }, options: object = {}) {
    const own = new Sequelize(url, { logging: false, ...options, pool: { max: 1 } });
    ends.push(() => own.close());
    const auth = authOn(own);
    const look = async () => (await auth.getSession(request)).user.email;
    expect(await look()).toBe('ada@example.com');
    return { own, look };
  }

  withServer(
    'is a prepared statement, unless the app would see it, or has times in its own zone',
    async () => {
      const auth = await open();
      const request = await headersOf(auth, 'ada@example.com');
      await auth.getSession(request);
      expect(await prepared(auth.models.User.sequelize as Sequelize)).toHaveLength(1);
      const { own } = await lookedUp(database.url, request);
      expect(await prepared(own)).toHaveLength(1);
      for (const options of [
        { logging: () => undefined },
        { hooks: { afterQuery: () => undefined } },
        { hooks: { beforeQuery: () => undefined } },
        ...(dialect === 'mysql' ? [{ timezone: '+02:00' }] : []),
      ])
        expect(await prepared((await lookedUp(database.url, request, options)).own)).toEqual([]);
    },
  );

  inSqlite('is answered immediately by the connection, unless the app would see it', async () => {
    const auth = await open();
    const request = await headersOf(auth, 'ada@example.com');
    const look = async (given: SpecAuth) => (await given.getSession(request)).user.email;
    /** Counts what the connection finds. If `isBroken`, it fails instead. */
    const counted = async (pool: Sequelize) => {
      const { connectionManager } = pool as unknown as {
        connectionManager: {
          getConnection(options: object): Promise<{ find(sql: string, value: Buffer): object }>;
        };
      };
      const connection = await connectionManager.getConnection({ uuid: 'default' });
      const count = { found: 0, isBroken: false };
      const { find } = connection;
      connection.find = (sql, value) => {
        count.found++;
        if (count.isBroken) throw new Error('broken');
        return find.call(connection, sql, value);
      };
      return { count, connection };
    };
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    await look(auth);
    const { count, connection } = await counted(auth.models.User.sequelize as Sequelize);
    for (const calls of [1, 2]) {
      await turn();
      const found = look(auth);
      expect(count.found).toBe(calls);
      expect(await found).toBe('ada@example.com');
      expect(count.found).toBe(calls);
    }
    await turn();
    // The lookup is then tried in the usual way, which reports errors and retries.
    count.isBroken = true;
    await expect(auth.getSession(request)).rejects.toMatchObject({ code: 'unavailable' });
    expect(count.found).toBeGreaterThan(3);
    connection.find = undefined as never;
    expect(await look(auth)).toBe('ada@example.com');

    for (const [options, calls] of [
      [{}, 2],
      [{ logging: () => undefined }, 0],
      [{ hooks: { afterQuery: () => undefined } }, 0],
      [{ hooks: { beforeQuery: () => undefined } }, 0],
    ] as const) {
      const own = new Sequelize({
        ...sqlite(database.url.replace(/^sqlite:/, '')),
        logging: false,
        ...options,
      });
      ends.push(() => own.close());
      const onOwn = authOn(own);
      await look(onOwn);
      const { count } = await counted(own);
      for (let looks = 0; looks < 2; looks++) expect(await look(onOwn)).toBe('ada@example.com');
      expect(count.found).toBe(calls);
    }
  });

  inMysql('is prepared again if the app has prepared too many statements on its connection', async () => {
    const auth = await open();
    const request = await headersOf(auth, 'ada@example.com');
    const { own, look } = await lookedUp(database.url, request, {
      dialectOptions: { maxPreparedStatements: 1 },
    });
    const count = async () => {
      const sql = "SHOW SESSION STATUS WHERE Variable_name IN ('Com_stmt_prepare', 'Com_stmt_execute')";
      const found = await own.query<{ Value: string }>(sql, { type: QueryTypes.SELECT });
      return Object.fromEntries(found.map((row) => Object.values(row)));
    };
    expect(await look()).toBe('ada@example.com');
    expect(await count()).toEqual({ Com_stmt_prepare: '1', Com_stmt_execute: '2' });
    // With a bind parameter, Sequelize prepares the statement.
    expect(await own.query('SELECT $1 AS x', { bind: ['x'], type: QueryTypes.SELECT })).toEqual([{ x: 'x' }]);
    for (let time = 0; time < 2; time++) expect(await look()).toBe('ada@example.com');
    // The server does not count the execution of a statement that has been closed.
    expect(await count()).toEqual({ Com_stmt_prepare: '3', Com_stmt_execute: '5' });
  });

  inMysql("leaves Sequelize's conversions to the app's own statements", async () => {
    const auth = await open();
    const request = await headersOf(auth, 'ada@example.com');
    const { own, look } = await lookedUp(database.url, request);
    const values = () =>
      own.query("SELECT DATE '2026-01-02' AS day, POINT(1, 2) AS place", { type: QueryTypes.SELECT });
    const converted = [{ day: '2026-01-02', place: { type: 'Point', coordinates: [1, 2] } }];
    expect(await values()).toEqual(converted);
    await rows(database, 'ALTER TABLE sessions RENAME TO old_sessions');
    await expect(look()).rejects.toMatchObject({ code: 'unavailable' });
    expect(await values()).toEqual(converted);
    await rows(database, 'ALTER TABLE old_sessions RENAME TO sessions');
    expect(await look()).toBe('ada@example.com');
    expect(await values()).toEqual(converted);
  });

  inPostgres('is text from then on if a pooler has lost the statement, or has it already', async () => {
    const auth = await open();
    const request = await headersOf(auth, 'ada@example.com');
    const { own, look } = await lookedUp(database.url, request);
    const [name] = await prepared(own);
    // A pooler sends each transaction on any of its connections.
    await own.query('DEALLOCATE ALL');
    for (let time = 0; time < 2; time++) expect(await look()).toBe('ada@example.com');
    expect(await prepared(own)).toEqual([]);

    const other = new Sequelize(database.url, { logging: false, pool: { max: 1 } });
    ends.push(() => other.close());
    await other.query(`PREPARE ${name} (bytea) AS SELECT 1`);
    expect((await authOn(other).getSession(request)).user.email).toBe('ada@example.com');
  });

  inPostgres('works after a column has got another type', async () => {
    const auth = await open();
    const request = await headersOf(auth, 'ada@example.com');
    await auth.getSession(request);
    await rows(database, 'ALTER TABLE sessions ALTER COLUMN ip_address TYPE VARCHAR(60)');
    expect((await auth.getSession(request)).user.email).toBe('ada@example.com');
  });
});

(dialect === 'postgres' ? test : test.skip)(
  'a connection whose statement pg has given up waiting for is not used again',
  async () => {
    await open();
    const { database: own } = internalsOf(authOn(`${database.url}?query_timeout=500`)).core;
    await own.ready();
    await database.sequelize.transaction(async (transaction) => {
      await database.sequelize.query('LOCK TABLE users', { transaction });
      await expect(own.select('SELECT id FROM users')).rejects.toMatchObject({ code: 'unavailable' });
      expect(await own.select('SELECT id FROM sessions')).toEqual([]);
    });
  },
);

describe('transactions that an app begins in that pool', () => {
  const { READ_COMMITTED, REPEATABLE_READ } = Transaction.ISOLATION_LEVELS;
  let auth: SpecAuth;
  let pool: Sequelize;
  beforeEach(async () => {
    auth = await open();
    pool = auth.models.User.sequelize as Sequelize;
  });
  const emails = async (transaction?: Transaction) => {
    const sql = 'SELECT email FROM users ORDER BY email';
    const found = await pool.query<{ email: string }>(sql, { type: QueryTypes.SELECT, transaction });
    return found.map(({ email }) => email);
  };
  const signUp = (email: string, transaction: Transaction | null = null) =>
    auth.credential.signUp({ ...ada, email, transaction });

  test('are stored by their commit, and savepoints in them can be undone', async () => {
    const after: string[] = [];
    await pool.transaction(async (transaction) => {
      transaction.afterCommit(() => void after.push('committed'));
      await signUp('first@example.com', transaction);
      const undone = pool.transaction({ transaction }, async (savepoint) => {
        await signUp('second@example.com', savepoint);
        throw new Error('undone');
      });
      await expect(undone).rejects.toThrow('undone');
      await signUp('third@example.com', transaction);
      expect([...(await emails()), ...after]).toEqual([]);
    });
    expect(after).toEqual(['committed']);
    expect(await emails()).toEqual(['first@example.com', 'third@example.com']);
    const begun = await pool.transaction();
    await signUp('fourth@example.com', begun);
    await begun.rollback();
    expect(await emails()).toHaveLength(2);
  });

  (dialect === 'sqlite' ? test : test.skip)('wait for the lock of another writer', async () => {
    const other = await database.sequelize.transaction();
    const written = pool.transaction({ type: Transaction.TYPES.DEFERRED }, (transaction) =>
      signUp('first@example.com', transaction),
    );
    setTimeout(() => void other.rollback(), 50);
    await written;
    expect(await emails()).toEqual(['first@example.com']);
  });

  // SQLite has one isolation level.
  (dialect === 'sqlite' ? test.skip : test)(
    'are at READ COMMITTED, unless they ask for another level',
    async () => {
      if (dialect === 'postgres') {
        const name = database.sequelize.getDatabaseName();
        await rows(database, `ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
      }
      // Its connections begin with that default; MySQL's is REPEATABLE READ.
      auth = authOn(database.url);
      pool = auth.models.User.sequelize as Sequelize;
      const seen = async (options: { isolationLevel?: Transaction.ISOLATION_LEVELS }, email: string) =>
        pool.transaction(options, async (transaction) => {
          const before = await emails(transaction);
          await signUp(email);
          return (await emails(transaction)).length - before.length;
        });
      expect(await seen({}, 'first@example.com')).toBe(1);
      expect(await seen({ isolationLevel: READ_COMMITTED }, 'second@example.com')).toBe(1);
      expect(await seen({ isolationLevel: REPEATABLE_READ }, 'third@example.com')).toBe(0);
      // The next transaction on that connection is as it was.
      expect(await seen({}, 'fourth@example.com')).toBe(1);
    },
  );
});

describe('a statement that must not take effect', () => {
  let own: Database;
  beforeEach(async () => {
    const auth = await open();
    for (const email of ['first@example.com', 'second@example.com'])
      await auth.credential.signUp({ ...ada, email });
    own = internalsOf(auth).core.database;
  });
  const deleteAll = (transaction?: Transaction) =>
    own.change('DELETE FROM users', undefined, { transaction });
  afterEach(async () => {
    expect(await rows(database, 'SELECT email FROM users')).toHaveLength(2);
  });

  test('since its transaction has ended', async () => {
    const ended = await own.transaction(async (transaction) => transaction);
    await expect(deleteAll(ended)).rejects.toMatchObject({ code: 'unavailable' });
  });

  // SQLite has no pool.
  (dialect === 'sqlite' ? test.skip : test)(
    'since its caller was told meanwhile that it is late',
    async () => {
      const manager = connectionManagerOf(own.sequelize);
      const takeAll = () => Promise.all(Array.from({ length: POOL }, () => manager.getConnection({})));
      const release = (taken: object[]) => {
        for (const connection of taken) manager.releaseConnection(connection);
      };
      // Many times: a timer may ring shortly before the clock says so.
      for (let round = 0; round < 50; round++) {
        const taken = await takeAll();
        const late = own.context.forRequest(own.context.client, 20, () => deleteAll());
        const outcome = await late.catch((error) => error).finally(() => release(taken));
        expect(outcome).toMatchObject({ code: 'unavailable' });
        // It was first in the line for the connections that these get.
        release(await takeAll());
      }
    },
  );

  // PostgreSQL refuses what follows itself.
  (dialect === 'mysql' ? test : test.skip)(
    'since MySQL has ended its transaction to end a deadlock',
    async () => {
      await rows(database, 'CREATE TABLE ballast (number INTEGER NOT NULL)');
      const touch = (email: string) =>
        `UPDATE users SET updated_at = updated_at + INTERVAL 1 SECOND WHERE email = '${email}'`;
      const outcome = own.transaction(async (transaction) => {
        await own.change(touch('first@example.com'), undefined, { transaction });
        const other = await database.sequelize.transaction();
        const run = (sql: string) => database.sequelize.query(sql, { transaction: other });
        // The one that has changed fewer rows is ended.
        await run(`INSERT INTO ballast VALUES ${Array(300).fill('(1)')}`);
        await run(touch('second@example.com'));
        const others = run(touch('first@example.com'));
        await expect(
          own.change(touch('second@example.com'), undefined, { transaction }),
        ).rejects.toMatchObject({
          parent: { code: 'ER_LOCK_DEADLOCK' },
        });
        await others;
        await other.commit();
        await expect(deleteAll(transaction)).rejects.toMatchObject({ code: 'unavailable' });
      });
      await expect(outcome).rejects.toMatchObject({ code: 'unavailable' });
    },
  );
});
