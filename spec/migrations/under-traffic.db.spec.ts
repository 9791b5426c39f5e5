import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { ConnectionError, Sequelize, Transaction } from 'sequelize';
import { createAuth } from '../../lib/index.js';
import {
  addColumns,
  changeRows,
  createIndexes,
  createTable,
  dropColumns,
  dropIndexes,
  dropTable,
} from '../../lib/migrations/create.js';
import { definePlugin } from '../../lib/plugin.js';
import { column } from '../../lib/tables/column.js';
import { accountChanges, devices, users } from '../../lib/tables/core.js';
import { declareTable } from '../../lib/tables/table.js';
import { ada, memoryLogger, password, SECRET } from '../support/app.js';
import { createDatabase, createSqlite, dialect, rows, type SpecDatabase } from '../support/database.js';
import { type DatabaseProxy, startProxy } from '../support/proxy.js';

// Short columns, because MariaDB counts dropped columns toward the maximum size of a row until the table is rebuilt.
const number = column.integer().nullable();
const ADDED = [
  { table: users, columns: { score: number, level: number } },
  { table: devices, columns: { score: number, level: number, isOld: column.boolean().nullable() } },
  { table: accountChanges, columns: { score: number, level: number } },
] as const;
const byScore = {
  ...accountChanges,
  columns: { ...accountChanges.columns, score: number },
  indexes: { score: ['score', 'expiresAt'] },
} as const;
const deviceNotes = declareTable({
  name: 'device_notes',
  exported: 'It belongs to a spec.',
  columns: { id: column.uuid(), deviceId: column.uuid() },
  foreignKeys: { deviceId: devices },
  indexes: { deviceId: ['deviceId'] },
});

/**
 * Migrations as of a later version of latchkey, which change the core's tables in every way that there is. Meanwhile, an
 * app uses the tables by its own statements, which work before and after the migrations.
 */
const later = definePlugin({
  name: 'later',
  setup: () => ({
    api: null,
    migrations: [
      {
        name: '0001-later',
        up: (context) => addColumns(users, { points: number }, context),
        down: (context) => dropColumns(users, { points: number }, context),
      },
      {
        name: '0002-later',
        async up(context) {
          for (const { table, columns } of ADDED) await addColumns(table, columns, context);
          await createIndexes(byScore, byScore.indexes, context);
          await createTable(deviceNotes, context);
          await changeRows(devices, 'is_old = TRUE', 'forgotten_at IS NOT NULL', context);
        },
        async down(context) {
          await dropTable(deviceNotes, context);
          await dropIndexes(byScore, byScore.indexes, context);
          for (const { table, columns } of ADDED) await dropColumns(table, columns, context);
        },
      },
    ],
  }),
});
const LATER = ['0001-later', '0002-later'];

const USERS = 40;
const DEVICES_EACH = 15;
const onServers = dialect === 'sqlite' ? describe.skip : describe;

let database: SpecDatabase;
/** The app's connections, without the time limits of latchkey's. */
let app: Sequelize;
let proxy: DatabaseProxy;

const open = (config: object = {}) =>
  createAuth({
    database: database?.url,
    secret: SECRET,
    rateLimit: false,
    logger: memoryLogger(),
    outbox: { interval: false },
    plugins: [password(), later],
    ...config,
  });
let auth: ReturnType<typeof open>;

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 12_000; !(await isSo()); ) {
    if (performance.now() > end) throw new Error('it has not happened');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const idOf = (kind: number, index: number) =>
  `01900000-0000-7000-8${String(kind).padStart(3, '0')}-${String(index).padStart(12, '0')}`;
const userId = (index: number) => idOf(0, index);
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const AT = new Date('2026-01-01T00:00:00.000Z');

async function fill(): Promise<void> {
  const table = (name: string, list: object[]) => app.getQueryInterface().bulkInsert(name, list);
  const times = { created_at: AT, updated_at: AT };
  await table(
    'users',
    numbers(USERS).map((index) => ({ id: userId(index), email: `${index}@x.co`, auth_epoch: 0, ...times })),
  );
  await table(
    'sessions',
    numbers(USERS).map((index) => ({
      id: idOf(1, index),
      user_id: userId(index),
      token_hash: Buffer.alloc(32, index),
      auth_epoch: 0,
      remembered: true,
      created_at: AT,
      authenticated_at: AT,
      last_active_at: AT,
      expires_at: AT,
    })),
  );
  await table(
    'known_devices',
    numbers(USERS * DEVICES_EACH).map((index) => {
      const token = Buffer.alloc(32);
      token.writeUInt32BE(index);
      const forgotten = { created_at: AT, last_used_at: AT, forgotten_at: AT };
      return { id: idOf(2, index), user_id: userId(index % USERS), token_hash: token, ...forgotten };
    }),
  );
}

beforeAll(async () => {
  if (dialect === 'sqlite') return;
  database = await createDatabase();
  proxy = await startProxy(database.url);
  app = new Sequelize(database.url, { logging: false, pool: { max: 12 } });
  auth = open();
  await auth.migrate();
  await fill();
  await auth.migrate({ undo: LATER.length });
});
afterAll(async () => {
  if (dialect === 'sqlite') return;
  await auth.close();
  await app.close();
  await proxy.stop();
  await database.drop();
});

/** The transactions that a test has left open, because it failed. */
const begun: Transaction[] = [];
async function begin(isolationLevel?: Transaction.ISOLATION_LEVELS): Promise<Transaction> {
  const transaction = await app.transaction(isolationLevel ? { isolationLevel } : {});
  begun.push(transaction);
  return transaction;
}
afterEach(async () => {
  for (const transaction of begun.splice(0)) await transaction.rollback().catch(() => undefined);
});

/** Makes the tables those of before again. */
const goBack = () => auth.migrate({ undo: LATER.length });

const run = (sql: string, transaction: Transaction | null = null) => app.query(sql, { transaction });
const progress = async () =>
  (await rows<{ name: string }>(database, 'SELECT name FROM latchkey_migrations')).map(({ name }) => name);

/** Whether `auth.migrate()` waits for a table. On MySQL, it says in the journal where it is. */
async function isStoppedAt(table: string, step: string): Promise<boolean> {
  if (dialect === 'mysql') return (await progress()).includes(step);
  const waiting = await rows(
    database,
    'SELECT 1 FROM pg_locks WHERE NOT granted AND relation = :table::regclass',
    {
      table,
    },
  );
  return waiting.length > 0;
}

const LOOKUP =
  'SELECT s.id, d.id AS device FROM sessions s JOIN users u ON u.id = s.user_id JOIN known_devices d ON d.user_id = u.id LEFT JOIN account_changes c ON c.user_id = u.id LIMIT 1';

onServers('auth.migrate() while the app uses the tables', () => {
  test.each([
    ['users', '0001-later up 1'],
    ['known_devices', '0002-later up 3'],
    ['account_changes', '0002-later up 6'],
  ])('waits for a transaction that has read %s, and no other one waits for it', async (table, step) => {
    const held = await begin();
    await run(`SELECT COUNT(*) FROM ${table}`, held);
    const migrating = auth.migrate();
    await until(() => isStoppedAt(table, step));
    expect((await run(LOOKUP))[0]).toHaveLength(1);
    // It writes to what it has read, and locks other tables in both orders.
    for (const other of [table, 'users', 'sessions', 'known_devices', 'account_changes', 'users'])
      await run(`DELETE FROM ${other} WHERE id = '${randomUUID()}'`, held);
    expect((await run(LOOKUP))[0]).toHaveLength(1);
    await held.commit();
    expect(await migrating).toEqual(LATER);
    await goBack();
  });

  test('changes the rows that are free, and waits for those that are locked without locking others', async () => {
    const [first, second] = [idOf(2, 0), idOf(2, 250)];
    const broken = open({ database: proxy.url });
    proxy.cutAt(/UPDATE known_devices SET is_old/, 'before');
    await expect(broken.migrate()).rejects.toThrow();
    await broken.close();
    await proxy.drained();
    const held = await begin();
    await run(`SELECT id FROM known_devices WHERE id = '${second}' FOR UPDATE`, held);
    const migrating = auth.migrate();
    const left = async () => {
      const sql = 'SELECT COUNT(*) AS n FROM known_devices WHERE is_old IS NULL';
      return Number((await rows<{ n: number | string }>(database, sql))[0]?.n);
    };
    // The batches before it are done, and its own batch but for this row.
    await until(async () => (await left()) === USERS * DEVICES_EACH - 299);
    await run(`UPDATE known_devices SET last_used_at = created_at WHERE id = '${first}'`, held);
    await held.commit();
    expect(await migrating).toEqual(['0002-later']);
    expect(await left()).toBe(0);
    await goBack();
  });

  test('no transaction of the app fails, whatever it locks in which order', async () => {
    const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    const work: ((id: string, transaction: Transaction) => Promise<unknown>)[] = [
      async (id, transaction) => {
        await run(`SELECT id FROM users WHERE id = '${id}' FOR UPDATE`, transaction);
        await run(`UPDATE sessions SET last_active_at = created_at WHERE user_id = '${id}'`, transaction);
        await run(`UPDATE known_devices SET last_used_at = created_at WHERE user_id = '${id}'`, transaction);
      },
      async (id, transaction) => {
        await run(`SELECT id FROM known_devices WHERE user_id = '${id}'`, transaction);
        await run(`SELECT id FROM users WHERE id = '${id}'`, transaction);
        await run(`UPDATE known_devices SET last_used_at = created_at WHERE user_id = '${id}'`, transaction);
        await run(`UPDATE users SET auth_epoch = auth_epoch + 1 WHERE id = '${id}'`, transaction);
      },
      async (id, transaction) => {
        await run(LOOKUP, transaction);
        const change = { id: randomUUID(), user_id: id, kind: 'spec', created_at: AT, expires_at: AT };
        await app.getQueryInterface().bulkInsert('account_changes', [change], { transaction });
        await run(`UPDATE sessions SET last_active_at = created_at WHERE user_id = '${id}'`, transaction);
        await run(`DELETE FROM account_changes WHERE user_id = '${id}'`, transaction);
      },
    ];
    let isOver = false;
    const rounds = work.map(() => 0);
    const loops = work.map(async (one, index) => {
      while (!isOver) {
        await app.transaction((transaction) => one(userId(index), transaction));
        rounds[index] = (rounds[index] ?? 0) + 1;
        await pause(10);
      }
    });
    const all = Promise.all(loops);
    await Promise.race([all, until(async () => rounds.every((count) => count > 0))]);
    const before = [...rounds];
    const ran = await Promise.race([auth.migrate(), all]);
    isOver = true;
    await all;
    expect(ran).toEqual(LATER);
    expect(rounds.every((count, index) => count > Number(before[index]))).toBe(true);
    await goBack();
  });
});

onServers('auth.migrate() that is interrupted between its steps', () => {
  test.each([
    ['before', /known_devices ADD COLUMN level/],
    ['before', /INDEX (CONCURRENTLY )?account_changes_score/],
    ['after', /INDEX (CONCURRENTLY )?account_changes_score/],
    ['after', /CREATE TABLE device_notes/],
    ['after', /UPDATE known_devices SET is_old/],
  ] as const)('(%s %s) keeps what was done, and continues there', async (moment, statement) => {
    const broken = open({ database: proxy.url });
    const isCut = proxy.cutAt(statement, moment);
    await expect(broken.migrate()).rejects.toThrow();
    expect(isCut()).toBe(true);
    await broken.close();
    await proxy.drained();
    const kept = (await progress()).filter((name) => name.startsWith('0002-later up '));
    expect(kept).toHaveLength(1);
    const ran = await auth.migrate();
    expect(ran).toEqual(['0002-later']);
    expect(await auth.migrate()).toEqual([]);
    expect(await rows(database, 'SELECT id FROM known_devices WHERE is_old IS NULL')).toEqual([]);
    await goBack();
  });
});

const onPostgres = dialect === 'postgres' ? describe : describe.skip;
onPostgres('an index of a table in use', () => {
  const stateOf = () =>
    rows<{ valid: boolean }>(
      database,
      "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('account_changes_score')",
    );
  /** A transaction with an older state of the database, which `CREATE INDEX CONCURRENTLY` waits for. */
  const olderState = async () => {
    const held = await begin(Transaction.ISOLATION_LEVELS.REPEATABLE_READ);
    await run('SELECT 1', held);
    return held;
  };

  test('that was left incomplete is created again', async () => {
    const held = await olderState();
    const refused = expect(auth.migrate()).rejects.toThrow(/^latchkey: migrate: /);
    await until(async () => (await stateOf())[0]?.valid === false);
    // Writers do not wait for it.
    await run(`DELETE FROM account_changes WHERE id = '${randomUUID()}'`);
    await rows(
      database,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'CREATE INDEX CONCURRENTLY%'",
    );
    await refused;
    expect(await stateOf()).toEqual([{ valid: false }]);
    await held.rollback();
    expect(await auth.migrate()).toEqual(['0002-later']);
    expect(await stateOf()).toEqual([{ valid: true }]);
    await goBack();
  });

  test.each(['rejects', 'ignores'])(
    'is created in a transaction behind a pooler that %s the settings of a connection',
    async (how) => {
      const sent: string[] = [];
      const logging = (sql: string) => void sent.push(sql);
      const own = new Sequelize(database.url, { logging, pool: { max: 1 } });
      own.addHook('beforeConnect', (config) => {
        const { options } = (config.dialectOptions ?? {}) as { options?: string };
        if (!options) return;
        const unsupported = Object.assign(new Error('unsupported startup parameter: options'), {
          code: '08P01',
        });
        if (how === 'rejects') throw new ConnectionError(unsupported);
        config.dialectOptions = { statement_timeout: 2000 } as object;
      });
      const behind = open({ database: own });
      expect(await behind.migrate()).toEqual(LATER);
      expect(sent.filter((sql) => /CREATE INDEX.* account_changes_score/.test(sql))).toEqual([
        expect.stringContaining('CREATE INDEX account_changes_score ON'),
      ]);
      expect(await stateOf()).toEqual([{ valid: true }]);
      await behind.close();
      await own.close();
      await goBack();
    },
  );

  test('is created without the time limits and in the schema of the app’s connections', async () => {
    const options = '-c search_path=elsewhere -c statement_timeout=1500';
    const own = new Sequelize(database.url, {
      logging: false,
      dialectOptions: { options, statement_timeout: 1500 },
    });
    await run('CREATE SCHEMA elsewhere');
    const there = open({ database: own });
    await there.migrate();
    await there.migrate({ undo: LATER.length });
    const held = await olderState();
    const migrating = there.migrate();
    const isBuilding = async () =>
      (
        await rows(
          database,
          "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'CREATE INDEX CONCURRENTLY%' AND now() - query_start > '1600 ms'",
        )
      ).length > 0;
    await until(isBuilding);
    await held.rollback();
    expect(await migrating).toEqual(LATER);
    await there.close();
    await own.close();
    await run('DROP SCHEMA elsewhere CASCADE');
  });
});

onServers('a database user who may not create tables', () => {
  const name = `spec_${randomUUID().slice(0, 8)}`;
  const administer = (sql: string[]) =>
    sql.reduce(async (before, one) => {
      await before;
      await run(one);
    }, Promise.resolve());
  const schema = () => (dialect === 'mysql' ? `\`${new URL(database.url).pathname.slice(1)}\`` : 'public');
  const all = () => (dialect === 'mysql' ? `${schema()}.*` : 'ALL TABLES IN SCHEMA public');
  const who = dialect === 'mysql' ? `'${name}'@'%'` : name;
  afterAll(() =>
    administer([...(dialect === 'postgres' ? [`DROP OWNED BY ${who}`] : []), `DROP USER ${who}`]),
  );

  test('can call auth.migrate() if nothing is pending, and gets the reason otherwise', async () => {
    await auth.migrate();
    await administer([
      dialect === 'mysql' ? `CREATE USER ${who} IDENTIFIED BY 'spec'` : `CREATE USER ${who} PASSWORD 'spec'`,
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ${all()} TO ${who}`,
    ]);
    const url = new URL(database.url);
    url.username = name;
    url.password = 'spec';
    const limited = open({ database: url.href });
    expect(await limited.migrate()).toEqual([]);
    expect(await limited.migrate({ dryRun: true })).toEqual([]);
    await limited.credential.signUp(ada);
    await limited.close();
    const more = open({ database: url.href, user: { fields: { plan: { type: 'string' } } } });
    await expect(more.migrate()).rejects.toThrow(
      /^latchkey: migrate: ALTER TABLE users failed: .*(denied|owner)/,
    );
    await more.close();
  });
});

test('a SQLite file that another process is writing to is only read if nothing is pending', async () => {
  const file = await createSqlite();
  const here = open({ database: file.url });
  await here.migrate();
  const held = await file.sequelize.transaction({ type: 'IMMEDIATE' as never });
  await file.sequelize.query('DELETE FROM users', { transaction: held });
  expect(await here.migrate()).toEqual([]);
  await held.rollback();
  await here.close();
  await file.drop();
});
