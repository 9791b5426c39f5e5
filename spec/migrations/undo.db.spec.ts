import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { admin, apiKeys, auditLog, createAuth, type Plugin } from '../../lib/index.js';
import { ada, password, SECRET } from '../support/app.js';
import { createDatabase, rows, type SpecDatabase } from '../support/database.js';
import { reports } from '../support/later-plugin.js';

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
const EVERYTHING = ['0001-core', '0002-core', '0003-core', '0001-apiKeys', '0001-auditLog'];

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
      expect(await recorded()).toEqual(['0001-core', '0002-core', '0003-core']);
      expect(await auth.migrate()).toEqual(['0001-apiKeys', '0001-auditLog']);
      expect(await auth.migrate({ undo: 99 })).toEqual(EVERYTHING.toReversed());
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
