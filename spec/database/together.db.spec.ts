// Reads that are sent as one statement return what each of them returns alone.
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Sequelize } from 'sequelize';
import { internalsOf } from '../../lib/auth.js';
import type { Database } from '../../lib/database/database.js';
import type { Value } from '../../lib/database/literal.js';
import { AuthError } from '../../lib/errors.js';
import { createAuth } from '../../lib/index.js';
import { SECRET } from '../support/app.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';
import { loggingSequelize } from '../support/statements.js';

const TYPES = {
  mysql: {
    id: 'INT PRIMARY KEY',
    long_text: 'LONGTEXT',
    exact_text: 'VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin',
    bytes: 'LONGBLOB',
    made_at: 'DATETIME(3)',
    is_on: 'TINYINT(1)',
    big: 'BIGINT',
    fraction: 'DOUBLE',
    amount: 'DECIMAL(20, 6)',
    document: 'JSON',
  },
  postgres: {
    id: 'INTEGER PRIMARY KEY',
    long_text: 'TEXT',
    exact_text: 'VARCHAR(255) COLLATE "C"',
    bytes: 'BYTEA',
    made_at: 'TIMESTAMPTZ(3)',
    is_on: 'BOOLEAN',
    big: 'BIGINT',
    fraction: 'DOUBLE PRECISION',
    amount: 'NUMERIC(20, 6)',
    document: 'JSONB',
  },
  sqlite: {
    id: 'INTEGER PRIMARY KEY',
    long_text: 'TEXT',
    exact_text: 'VARCHAR(255)',
    bytes: 'BLOB',
    made_at: 'DATETIME',
    is_on: 'TINYINT(1)',
    big: 'BIGINT',
    fraction: 'DOUBLE',
    amount: 'DECIMAL(20, 6)',
    document: 'JSON',
  },
}[dialect];
const COLUMNS = Object.keys(TYPES);

const TEXTS = [
  '',
  ' ',
  'null',
  `it's "quoted" \`here\``,
  'back\\slash \\\\ \\n \\u0041',
  ':id and ::latchkey::name and ::text',
  'a\r\n\t\u2028\u202e\u0001b',
  'Ω é e\u0301 名前 \u{1f600}\u{10ffff}\ufffd',
  '{"a":[1,"\\u0000"]}',
  "' LIMIT 1",
  '-- /* ; */ #',
  'x'.repeat(70_000),
  // PostgreSQL stores no text with NUL.
  ...(dialect === 'postgres' ? [] : ['\0', 'a\0b\0']),
];
const NUMBERS = [0, -1, 0.1, 1 / 3, -1e300, 5e-324, Number.MAX_SAFE_INTEGER, 1.7976931348623157e308];
const TIMES = ['1970-01-01T00:00:00.001Z', '2024-02-29T23:59:59.999Z', '9999-12-31T00:00:00.120Z'];
const BYTES = [Buffer.alloc(0), Buffer.from([0, 255, 39, 92, 128]), Buffer.alloc(2000, 254)];

const at = <T>(list: readonly T[], index: number) => list[index % list.length] as T;
const HOSTILE: readonly (readonly Value[])[] = [
  ...TEXTS.map((text, index) => [
    index,
    text,
    /^[\x20-\x7e]{0,255}$/.test(text) ? text : null,
    at(BYTES, index),
    new Date(at(TIMES, index)),
    index % 2 === 0,
    at([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0], index),
    at(NUMBERS, index),
    '-12345678.000001',
    JSON.stringify({ text: text.replaceAll('\0', ''), list: [null, true, 1.5] }),
  ]),
  [TEXTS.length, ...COLUMNS.slice(1).map(() => null)],
];
const MANY = 300;

const all = (rest: string) => `SELECT ${COLUMNS.join(', ')} FROM hostile ${rest}`;
interface Read {
  readonly sql: string;
  readonly columns: readonly string[];
  readonly values?: Readonly<Record<string, Value | readonly Value[]>>;
}
const READS: Readonly<Record<string, Read>> = {
  'hostile values': { sql: all('ORDER BY id'), columns: COLUMNS },
  'the same, the other way round': { sql: all('ORDER BY id DESC'), columns: COLUMNS },
  'a value that looks like a placeholder': {
    sql: all('WHERE long_text = :text'),
    columns: COLUMNS,
    values: { text: ':id and ::latchkey::name and ::text' },
  },
  'nothing but null': { sql: all('WHERE bytes IS NULL'), columns: COLUMNS },
  'no rows': { sql: all('WHERE id < 0 ORDER BY id'), columns: COLUMNS },
  'many rows, by text and backwards': {
    sql: 'SELECT m.name AS m_name, m.id AS id FROM many m ORDER BY m.name DESC, m.id',
    columns: ['m_name', 'id'],
  },
  'some of many rows': {
    sql: 'SELECT id, name FROM many ORDER BY name, id LIMIT 7',
    columns: ['id', 'name'],
  },
  'a text at the end that looks like an order': {
    sql: "SELECT id FROM many WHERE id = 299 AND name <> 'ORDER BY id LIMIT 5'",
    columns: ['id'],
  },
  'distinct rows': { sql: 'SELECT DISTINCT name FROM many WHERE id < 250', columns: ['name'] },
  'an order that is an expression': {
    sql: 'SELECT id FROM many ORDER BY ABS(id - 150), id DESC LIMIT 20',
    columns: ['id'],
  },
  'expressions and a join': {
    sql: `SELECT h.id AS id, COUNT(m.id) AS found, CASE WHEN h.is_on = TRUE THEN 1 ELSE 0 END AS is_on,
        (SELECT COUNT(*) FROM many) AS total, NULL AS none
      FROM hostile h LEFT JOIN many m ON m.id = h.id + 295 WHERE h.id IN (:ids) GROUP BY h.id, h.is_on ORDER BY h.id`,
    columns: ['id', 'found', 'is_on', 'total', 'none'],
    values: { ids: [1, 4, 6] },
  },
};

/** The reads whose order cannot be seen in their SQL, or that have one row for several of a table. */
const UNNUMBERED = [
  'distinct rows',
  'an order that is an expression',
  'a text at the end that looks like an order',
];

interface Connection {
  query(sql: string, done: (error: Error | null) => void): unknown;
}

let spec: SpecDatabase;
let own: ReturnType<typeof loggingSequelize>;
const closes: (() => Promise<unknown>)[] = [];

const databaseOn = (where: Sequelize | string): Database => {
  const auth = createAuth({ database: where, secret: SECRET, rateLimit: false });
  closes.push(() => auth.close());
  return internalsOf(auth).core.database;
};
let ofApp: Database;
let ofUrl: Database;

beforeAll(async () => {
  spec = await createDatabase();
  own = loggingSequelize(spec);
  closes.push(() => own.sequelize.close());
  ofApp = databaseOn(own.sequelize);
  ofUrl = databaseOn(spec.url);
  const columns = Object.entries(TYPES).map(([name, type]) => `${name} ${type}`);
  await rows(spec, `CREATE TABLE hostile (${columns.join(', ')})`);
  await rows(spec, 'CREATE TABLE many (id INTEGER PRIMARY KEY, name VARCHAR(40))');
  for (const values of HOSTILE)
    await ofUrl.change(`INSERT INTO hostile (${COLUMNS.join(', ')}) VALUES (:values)`, { values });
  const tuples = Array.from({ length: MANY }, (_none, id) => `(${id}, 'name ${(id * 7919) % 100}')`);
  await ofUrl.change(`INSERT INTO many (id, name) VALUES ${tuples.join(', ')}`);
});
afterAll(async () => {
  for (const close of closes.reverse()) await close();
  await spec.drop();
});
beforeEach(() => void own.statements.splice(0));

const sent = () =>
  own.statements.filter((line) => /^Executed.*\bSELECT\b/.test(line) && !/VERSION/.test(line));
const read = (database: Database, { sql, columns, values }: Read) =>
  database.read<object>(sql, columns, values);

describe.each(['a URL', 'an instance of the app'])('on %s', (kind) => {
  let database: Database;
  beforeAll(() => {
    database = kind === 'a URL' ? ofUrl : ofApp;
  });

  test('reads return the same together as alone', async () => {
    const alone: object[][] = [];
    for (const one of Object.values(READS)) alone.push(await read(database, one));
    const together = await database.together(() =>
      Promise.all(Object.values(READS).map((one) => read(database, one))),
    );
    expect(together).toEqual(alone);
    const lengths = Object.fromEntries(
      Object.keys(READS).map((name, index) => [name, together[index]?.length]),
    );
    expect(lengths).toMatchObject({
      'hostile values': HOSTILE.length,
      'a value that looks like a placeholder': 1,
      'nothing but null': 1,
      'no rows': 0,
      'many rows, by text and backwards': MANY,
      'some of many rows': 7,
    });
    // The values are what was stored, not only twice the same. SQLite's drivers end a text at NUL.
    const found = together[0]?.map((row) => (row as { long_text: unknown }).long_text);
    expect(found).toEqual(expect.arrayContaining(TEXTS.filter((text) => !text.includes('\0'))));
  });

  test.each(Object.keys(READS))('%s is the same beside any other read', async (name) => {
    const one = READS[name] as Read;
    const alone = await read(database, one);
    for (const other of Object.values(READS)) {
      const pair = () => Promise.all([read(database, other), read(database, one)]);
      expect((await database.together(pair))[1]).toEqual(alone);
    }
  });

  test('reads that no row can hold are sent alone', async () => {
    const columns = Array.from({ length: 900 }, (_none, index) => `c_${index}`);
    const wide = (id: number): Read => ({
      sql: `SELECT ${columns.map((name) => `id AS ${name}`).join(', ')} FROM many WHERE id = ${id}`,
      columns,
    });
    const found = await database.together(() =>
      Promise.all([1, 2, 3, 4, 5].map((id) => read(database, wide(id)))),
    );
    expect(found.map(([row]) => (row as Record<string, unknown>).c_899)).toEqual([1, 2, 3, 4, 5]);
  });

  test('a read that fails does so alone, with its own error', async () => {
    const wrong: Read = { sql: 'SELECT id FROM missing', columns: ['id'] };
    const failure = await read(database, wrong).catch((error) => error);
    const good = READS['some of many rows'] as Read;
    const [bad, fine] = await database.together(() =>
      Promise.allSettled([read(database, wrong), read(database, good)]),
    );
    expect(bad).toEqual({ status: 'rejected', reason: failure });
    expect(failure).toMatchObject({
      code: 'unavailable',
      cause: { message: expect.stringMatching(/table missing/) },
    });
    expect(fine).toEqual({ status: 'fulfilled', value: await read(database, good) });
  });
});

const [first, second] = [READS['some of many rows'], READS['no rows']] as [Read, Read];

test('reads are one statement if they start at the same time, however deep they are', async () => {
  const names = Object.keys(READS).filter((name) => !UNNUMBERED.includes(name));
  const later = async (one: Read) => {
    for (let step = 0; step < 5; step++) await null;
    return read(ofApp, one);
  };
  await ofApp.together(() =>
    Promise.all([...names.map((name) => read(ofApp, READS[name] as Read)), later(first)]),
  );
  expect(sent()).toHaveLength(1);
});

// MariaDB would number all rows of the table before it applies a limit at the same level.
test('a limit applies before rows are numbered', async () => {
  await ofApp.together(() => Promise.all([read(ofApp, first), read(ofApp, second)]));
  const numberedAfter =
    /ROW_NUMBER\(\) OVER \(ORDER BY name, id\) AS place, x\.\* FROM \(SELECT [^()]* LIMIT 7\) x/;
  expect(sent()[0]).toMatch(numberedAfter);
});

test('reads whose places cannot be numbered are sent alone', async () => {
  const names = [...UNNUMBERED, 'no rows', 'some of many rows'];
  await ofApp.together(() => Promise.all(names.map((name) => read(ofApp, READS[name] as Read))));
  expect(sent()).toHaveLength(UNNUMBERED.length + 1);
});

test('reads one after another are a statement each, which is the same as without', async () => {
  const work = async () => {
    await read(ofApp, first);
    await read(ofApp, second);
  };
  await work();
  const before = sent().splice(0);
  own.statements.splice(0);
  await ofApp.together(work);
  expect(before).toHaveLength(2);
  expect(sent()).toEqual(before);
});

test('equal reads are sent once, and reads of other values are not equal', async () => {
  const byId = (id: number): Read => ({
    sql: 'SELECT name FROM many WHERE id = :id',
    columns: ['name'],
    values: { id },
  });
  const ids = [1, 2, 1, 2, 1];
  const found = await ofApp.together(() => Promise.all(ids.map((id) => read(ofApp, byId(id)))));
  expect(found.flat()).toEqual(ids.map((id) => ({ name: `name ${(id * 7919) % 100}` })));
  expect(sent()).toHaveLength(1);
  expect(sent()[0]?.match(/WHERE id = \d/g)).toEqual(['WHERE id = 1', 'WHERE id = 2']);
});

test('reads outside, and those of other work, are not collected', async () => {
  const pair = () => Promise.all([read(ofApp, first), read(ofApp, second)]);
  await pair();
  expect(sent()).toHaveLength(2);
  await Promise.all([ofApp.together(pair), ofApp.together(pair), ofApp.together(() => ofApp.share(pair))]);
  expect(sent()).toHaveLength(2 + 1 + 1 + 2);
});

test('reads in a transaction are sent in it', async () => {
  const count: Read = { sql: "SELECT COUNT(*) AS n FROM many WHERE name = 'new'", columns: ['n'] };
  const undone = new AuthError('user_not_found');
  const seen: unknown[] = [];
  const countIn = async (transaction?: Parameters<Database['read']>[3]) => {
    const [row] = await ofApp.read<{ n: unknown }>(count.sql, count.columns, {}, transaction);
    return row?.n;
  };
  const insert = "INSERT INTO many (id, name) VALUES (1000, 'new')";
  const work = ofApp.together(() =>
    ofApp.transaction(async (transaction) => {
      await ofApp.change(insert, {}, { transaction });
      seen.push(await countIn(transaction));
      throw undone;
    }),
  );
  await expect(work).rejects.toBe(undone);
  const transaction = await own.sequelize.transaction();
  await ofApp.together(() =>
    ofApp.join(transaction, async () => {
      await ofApp.change(insert);
      seen.push((await ofApp.together(() => Promise.all([countIn(), read(ofApp, first)])))[0]);
    }),
  );
  await transaction.rollback();
  seen.push(await ofApp.together(() => countIn()));
  expect(seen.map(Number)).toEqual([1, 1, 0]);
});

test('reads of the app within the call are not collected', async () => {
  const pair = () => Promise.all([read(ofApp, first), read(ofApp, second)]);
  await ofApp.together(() => ofApp.context.forApp(pair));
  expect(sent()).toHaveLength(2);
});

// SQLite has no limit on the time of a statement.
(dialect === 'sqlite' ? test.skip : test)('reads that take too long are not sent again', async () => {
  const slow = loggingSequelize(spec);
  closes.push(() => slow.sequelize.close());
  const [limit, sleep] =
    dialect === 'mysql'
      ? ['SET SESSION max_statement_time = 0.2', 'SLEEP(2)']
      : ["SET statement_timeout = '200ms'", 'pg_sleep(2)::text'];
  slow.sequelize.addHook('afterConnect', (connection) =>
    promisify((connection as unknown as Connection).query.bind(connection))(limit),
  );
  const database = databaseOn(slow.sequelize);
  const sleeping: Read = { sql: `SELECT ${sleep} AS slept FROM many WHERE id = 1`, columns: ['slept'] };
  const outcomes = await database.together(() =>
    Promise.allSettled([read(database, first), read(database, sleeping)]),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('reads of a request that has no time left are not sent', async () => {
  const client = { ip: null, userAgent: null, request: null };
  const pair = () => Promise.allSettled([read(ofApp, first), read(ofApp, second)]);
  const outcomes = await ofApp.context.forRequest(client, 0, () => ofApp.together(pair));
  const late = { status: 'rejected', reason: { code: 'unavailable' } };
  expect(outcomes).toMatchObject([late, late]);
  expect(sent()).toEqual([]);
});
