import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Sequelize } from 'sequelize';
import { CallContext } from '../../lib/context/call.js';
import { dialectOf } from '../../lib/database/connect.js';
import { Database } from '../../lib/database/database.js';
import { createTable } from '../../lib/migrations/create.js';
import { columnTypes } from '../../lib/migrations/migration.js';
import { column, LAST_TIME } from '../../lib/tables/column.js';
import { modelsOf } from '../../lib/tables/model.js';
import { declareTable, Table } from '../../lib/tables/table.js';
import { createDatabase, rows, type SpecDatabase } from '../support/database.js';
import { loggingSequelize } from '../support/statements.js';

const things = declareTable({
  name: 'things',
  exported: 'It belongs to a spec.',
  columns: {
    id: column.uuid(),
    ownerId: column.uuid().nullable(),
    name: column.text(40),
    story: column.longText().nullable(),
    labels: column.words(),
    details: column.json(),
    fingerprint: column.digest().internal(),
    key: column.text(40).secret().named('locked_with').nullable(),
    size: column.integer(),
    isOpen: column.boolean(),
    madeAt: column.time(),
    endsAt: column.time().nullable(),
  },
});

const owners = declareTable({
  name: 'owners',
  exported: 'It belongs to a spec.',
  columns: { id: column.uuid(), name: column.text(40), madeAt: column.time() },
});

const ids = ['01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000002'] as const;
const ADA = '01900000-0000-7000-8000-00000000000a';
const thing = {
  id: ids[0],
  ownerId: ADA,
  name: "it's :name ? $1 \\ \u{1F511}",
  story: null,
  labels: ['a', 'b:c'],
  details: { answer: 42, list: ['x'] },
  fingerprint: Buffer.from("\0'\\\xff".padEnd(32, 'x'), 'latin1'),
  key: 'top secret',
  size: -7,
  isOpen: true,
  madeAt: new Date('2026-03-29T01:30:00.123Z'),
  endsAt: null,
};

let database: SpecDatabase;
let sequelize: Sequelize;
let statements: string[];
let things_: Table<typeof things.columns>;
let owners_: Table<typeof owners.columns>;

beforeAll(async () => {
  database = await createDatabase();
  ({ sequelize, statements } = loggingSequelize(database));
  const dialect = dialectOf(sequelize) ?? 'sqlite';
  const [{ version } = { version: '' }] =
    dialect === 'mysql' ? await rows<{ version: string }>(database, 'SELECT version() AS version') : [];
  const types = columnTypes(dialect, version);
  const ours = new Database({ sequelize, dialect, isOwnPool: false }, '', new CallContext());
  await sequelize.transaction(async (transaction) => {
    const run = async (sql: string) => void (await sequelize.query(sql, { transaction }));
    const context = { database: ours, types, run, change: async () => undefined };
    for (const table of [things, owners]) await createTable(table, context);
  });
  things_ = new Table(ours, things);
  owners_ = new Table(ours, owners);
});

afterAll(async () => {
  await sequelize.close();
  await database.drop();
});

beforeEach(async () => {
  await rows(database, 'DELETE FROM things');
  await rows(database, 'DELETE FROM owners');
  await things_.insert(thing);
  await owners_.insert({ id: ADA, name: 'Ada', madeAt: new Date(0) });
  statements.length = 0;
});

describe('a table', () => {
  test('reads what it has written, of every kind of column', async () => {
    expect(await things_.whole('t').select('')).toEqual([thing]);
  });

  test('reads times to the millisecond, up to the last one', async () => {
    const times = [
      0,
      1,
      999,
      1_774_747_800_123,
      1_774_747_800_999,
      4_102_444_799_998,
      LAST_TIME - 1,
      LAST_TIME,
    ];
    for (let ms = 1; ms < 1000; ms += 37) times.push(1_795_000_000_000 + ms, LAST_TIME - 1000 + ms);
    for (const time of times) {
      await things_.update({ madeAt: new Date(time) }, { id: ids[0] });
      const [{ madeAt } = { madeAt: null }] = await things_.whole('t').select('');
      expect(madeAt).toEqual(new Date(time));
    }
  });

  test('shows neither internal nor secret columns', async () => {
    const [shown] = await things_.shown('t').select('');
    const { fingerprint, key, ...rest } = thing;
    expect(shown).toEqual(rest);
  });

  test('inserts many rows in one statement', async () => {
    await things_.insert([
      { ...thing, id: ids[1], isOpen: false },
      { ...thing, id: ADA, labels: [] },
    ]);
    expect(statements).toHaveLength(0);
    const all = await things_.whole('t').select('ORDER BY t.id');
    expect(all.map(({ id, isOpen, labels }) => [id, isOpen, labels])).toEqual([
      [ids[0], true, ['a', 'b:c']],
      [ids[1], false, ['a', 'b:c']],
      [ADA, true, []],
    ]);
  });

  test('updates the rows that match a condition, including NULL, and returns their number', async () => {
    await things_.insert({ ...thing, id: ids[1], endsAt: new Date(5) });
    expect(await things_.update({ size: 1, story: 'long' }, { name: thing.name, endsAt: null })).toBe(1);
    expect(await things_.update({ labels: ['new'] }, { fingerprint: thing.fingerprint })).toBe(2);
    const all = await things_.whole('t').select('ORDER BY t.id');
    expect(all.map(({ size, story, labels }) => [size, story, labels])).toEqual([
      [1, 'long', ['new']],
      [-7, null, ['new']],
    ]);
    expect(await things_.delete({ endsAt: new Date(5) })).toBe(1);
    expect(await things_.delete({ id: ids[1] })).toBe(0);
  });

  test('refuses a condition that would concern every row', async () => {
    expect(() => things_.delete({})).toThrow(TypeError);
    expect(() => things_.update({ size: 1 }, {})).toThrow(TypeError);
    expect(() => things_.delete({ id: undefined } as never)).toThrow('things: no value for id');
    expect(() => things_.update({ nonsense: 1 } as never, { id: ids[0] })).toThrow(TypeError);
    expect(await things_.whole('t').select('')).toHaveLength(1);
  });

  test('keeps statements that contain a secret out of the log, and no others', async () => {
    await things_.update({ key: 'another secret' }, { id: ids[0] });
    await things_.update({ size: 3 }, { key: 'another secret' });
    await things_.delete({ key: 'another secret' });
    await things_.insert(thing);
    expect(statements.join('\n')).not.toContain('secret');
    expect(statements).toEqual([]);
    await things_.update({ size: 3 }, { id: ids[0] });
    expect(statements).toHaveLength(1);
  });

  test('cannot be mixed up with another one that has columns of the same name', async () => {
    const [t, o] = [things_.shown('t'), owners_.shown('o')];
    const [raw] = await sequelize.query(
      `SELECT ${t.columns}, ${o.columns} FROM ${t.from} JOIN ${o.from} ON o.id = t.owner_id`,
    );
    const [row = {}] = raw as object[];
    expect(t.read(row)).toMatchObject({ id: ids[0], name: thing.name, madeAt: thing.madeAt });
    expect(o.read(row)).toEqual({ id: ADA, name: 'Ada', madeAt: new Date(0) });
  });

  test('has a model that leaves out what is internal, unless the app asks for all', async () => {
    const own = dialectOf(sequelize) ?? 'sqlite';
    const { Thing } = modelsOf(
      new Database({ sequelize, dialect: own, isOwnPool: false }, '', new CallContext()),
      { Thing: things },
    )();
    const found = (await Thing.findOne())?.get();
    expect(Object.keys(found ?? {}).sort()).toEqual(
      Object.keys(things.columns)
        .filter((name) => name !== 'fingerprint' && name !== 'key')
        .sort(),
    );
    expect((await Thing.unscoped().findOne())?.get()).toMatchObject({ key: thing.key, labels: 'a b:c' });
    expect(sequelize.models).not.toHaveProperty('Thing');
  });
});
