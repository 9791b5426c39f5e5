import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { admin, apiKeys, auditLog, createAuth, type Plugin } from '../../lib/index.js';
import { coreMigrations } from '../../lib/migrations/core.js';
import { addColumns } from '../../lib/migrations/create.js';
import { definePlugin } from '../../lib/plugin.js';
import { column } from '../../lib/tables/column.js';
import { users } from '../../lib/tables/core.js';
import { declareTable } from '../../lib/tables/table.js';
import { ada, password, SECRET } from '../support/app.js';
import { createDatabase, rows, type SpecDatabase } from '../support/database.js';

let database: SpecDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

const all = [password(), apiKeys(), admin({ adminEmails: [ada.email] }), auditLog()] as const;
const open = <const P extends readonly Plugin[]>(...plugins: P) =>
  createAuth({ database: database.url, secret: SECRET, plugins });
const recorded = async () =>
  (await rows<{ name: string }>(database, 'SELECT name FROM latchkey_migrations ORDER BY name')).map(
    ({ name }) => name,
  );
const OF_CORE = ['0001-core', ...coreMigrations.map(({ name }) => name)];
const OF_PLUGINS = ['0001-apiKeys', '0001-auditLog'];
const EVERYTHING = [...OF_CORE, ...OF_PLUGINS];

/** A plugin of the app itself, with a table that references a table of the core. */
const reports = definePlugin({
  name: 'reports',
  setup: () => ({ api: null, tables: { Report: reportsTable } }),
});
const reportsTable = declareTable({
  name: 'reports',
  exported: 'It belongs to a spec.',
  columns: { id: column.uuid(), userId: column.uuid() },
  foreignKeys: { userId: users },
  indexes: { userId: ['userId'] },
});

/** A later version of it, with another column. */
const laterReports = definePlugin({
  name: 'reports',
  setup: () => ({
    api: null,
    tables: { Report: { ...reportsTable, columns: { ...reportsTable.columns, ...note } } },
    migrations: [
      {
        name: '0002-reports',
        up: (context) => addColumns(reportsTable, note, context),
        down: ({ run }) => run('ALTER TABLE reports DROP COLUMN note'),
      },
    ],
  }),
});
const note = { note: column.text(40).nullable() };

describe('auth.migrate({ undo })', () => {
  test.each([
    [{ undo: -1 }, /undo must be 'all' or the number of migrations to undo: 0, 1, 2 …$/],
    [{ undo: 1.5 }, /undo must be 'all' or/],
    [{ undo: null }, /undo must be 'all' or/],
    [{ undo: Number.NaN }, /undo must be 'all' or/],
    [{ undo: Number.POSITIVE_INFINITY }, /undo must be 'all' or/],
    [{ undo: '1' }, /undo must be 'all' or/],
    [{ undo: 'last' }, /undo must be 'all' or/],
    [{ undo: true }, /undo must be 'all' or/],
    [{ redo: 1 }, /redo is not an option: check the spelling \(did you mean undo\?\)$/],
    [null, /the options must be an object$/],
    [1, /the options must be an object$/],
  ])('rejects %j before it does anything', async (options, message) => {
    const auth = open(...all);
    const refused = expect(auth.migrate(options as never)).rejects;
    await refused.toThrow(TypeError);
    await expect(auth.migrate(options as never)).rejects.toThrow(message);
    await expect(auth.migrate(options as never)).rejects.toThrow(/^latchkey: migrate: /);
    await expect(recorded()).rejects.toThrow();
    await auth.close();
  });

  test('applies migrations if undo is 0 or undefined', async () => {
    const auth = open(...all);
    expect(await auth.migrate({ undo: 0 })).toEqual(EVERYTHING);
    for (const options of [{}, undefined, { undo: undefined }] as never[])
      expect(await auth.migrate(options)).toEqual([]);
    await auth.close();
  });

  test('reverts the highest name of a plugin first, regardless of the order in which plugins were listed or applied', async () => {
    const before = open(password());
    await before.migrate();
    await before.close();
    for (const plugins of [all, all.toReversed()]) {
      const auth = open(...plugins);
      await auth.migrate();
      expect(await auth.migrate({ undo: 2 })).toEqual(['0001-auditLog', '0001-apiKeys']);
      expect(await auth.migrate({ undo: 1 })).toEqual(OF_CORE.slice(-1));
      expect(await recorded()).toEqual(OF_CORE.slice(0, -1));
      expect(await auth.migrate()).toEqual([...OF_CORE.slice(-1), ...OF_PLUGINS]);
      expect(await auth.migrate({ undo: 99 })).toEqual([...EVERYTHING].reverse());
      await auth.close();
    }
  });

  test('is rejected if a migration was applied that the config does not know', async () => {
    const full = open(...all, reports);
    await full.migrate();
    await full.credential.signUp(ada);
    const fewer = open(password(), admin({ adminEmails: [ada.email] }));
    for (const undo of ['all', 1] as const) {
      await expect(fewer.migrate({ undo })).rejects.toThrow(
        'latchkey: migrate: undo requires every plugin that was migrated: add ' +
          'apiKeys() (0001-apiKeys), auditLog() (0001-auditLog), and reports() (0001-reports) to plugins first',
      );
    }
    expect(await recorded()).toEqual([...EVERYTHING, '0001-reports'].sort());
    expect(await rows(database, 'SELECT email FROM users')).toEqual([{ email: ada.email }]);
    // Without undo, a plugin may be missing.
    expect(await fewer.migrate()).toEqual([]);
    await fewer.close();
    const ordered = [...EVERYTHING, '0001-reports'];
    expect(await full.migrate({ undo: 'all' })).toEqual(ordered.toReversed());
    expect(await full.migrate()).toEqual(ordered);
    await full.close();
  });

  test.each([
    ['0001-oauth', 'oauth'],
    ['0001-apiKeys up 1', 'apiKeys'],
    ['0001-auditLog', 'auditLog'],
  ])(
    'is rejected if %s is recorded but its plugin is missing, and the error names %s()',
    async (row, plugin) => {
      const auth = open();
      await auth.migrate();
      await rows(database, 'INSERT INTO latchkey_migrations (name) VALUES (:row)', { row });
      const name = row.split(' ')[0];
      await expect(auth.migrate({ undo: 'all' })).rejects.toThrow(
        `: add ${plugin}() (${name}) to plugins first`,
      );
      expect(await rows(database, 'SELECT email FROM users')).toEqual([]);
      await auth.close();
    },
  );
});

describe('a later migration of a plugin', () => {
  const notes = () => rows(database, 'SELECT note FROM reports');

  test('changes the tables that an earlier version has created', async () => {
    const earlier = open(password(), reports);
    await earlier.migrate();
    await earlier.close();
    await expect(notes()).rejects.toThrow();
    const auth = open(password(), laterReports);
    expect(await auth.migrate()).toEqual(['0002-reports']);
    expect(await notes()).toEqual([]);
    await auth.close();
  });

  test('is only recorded where the tables are new, and can be undone there too', async () => {
    const auth = open(password(), laterReports);
    expect(await auth.migrate({ dryRun: true })).toEqual([...OF_CORE, '0001-reports', '0002-reports']);
    expect(await auth.migrate()).toEqual([...OF_CORE, '0001-reports', '0002-reports']);
    expect(await notes()).toEqual([]);
    expect(await auth.migrate()).toEqual([]);
    expect(await auth.migrate({ undo: 1 })).toEqual(['0002-reports']);
    await expect(notes()).rejects.toThrow();
    expect(await auth.migrate()).toEqual(['0002-reports']);
    expect(await notes()).toEqual([]);
    expect(await auth.migrate({ undo: 'all' })).toEqual([
      '0002-reports',
      '0001-reports',
      ...OF_CORE.toReversed(),
    ]);
    await auth.close();
  });
});
