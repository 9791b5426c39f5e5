import { afterEach, describe, expect, test } from '@jest/globals';
import type { FieldsOptions } from '../../lib/config/user.js';
import { admin, createAuth, type Plugin, suspension, twoFactor } from '../../lib/index.js';
import { pages } from '../../lib/pages.js';
import { definePlugin } from '../../lib/plugin.js';
import { column } from '../../lib/tables/column.js';
import { ada, password, SECRET, type SpecApp, startApp } from '../support/app.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';

const PLUGINS = [password(), admin({ adminEmails: [ada.email] })];

const open = (fields: FieldsOptions, plugins: readonly Plugin[], url = 'sqlite::memory:') =>
  createAuth({
    database: url,
    secret: SECRET,
    plugins: [...PLUGINS, ...plugins],
    user: { fields },
  });

const trial = (userColumns: Parameters<typeof definePlugin>[0]['userColumns'] = {}, name = 'trial') =>
  definePlugin({ name, userColumns, setup: () => ({ api: null }) });

const time = () => column.time().nullable().exported();

describe('a field with the name of a column that a plugin adds to users', () => {
  const message = (field: string, call: string, name: string) =>
    `user.fields.${field} and ${call} both define the column ${name} of users: rename the field`;

  test.each<[string, FieldsOptions, Plugin]>([
    ['the same type', { suspendedAt: { type: 'date' } }, suspension()],
    ['another type', { suspendedAt: { type: 'string' } }, suspension()],
    ['no type in the database', { suspendedAt: { type: 'json', output: 'none' } }, suspension()],
  ])('is refused by createAuth with %s', (_type, fields, plugin) => {
    expect(() => open(fields, [plugin])).toThrow(
      new TypeError(`latchkey: ${message('suspendedAt', 'suspension()', 'suspended_at')}`),
    );
  });

  test('is named together with all others', () => {
    const text = { type: 'string' } as const;
    const fields = { name: text, passkeyFactor: text, suspensionReason: text, secondFactorAt: text };
    expect(() => open(fields, [twoFactor(), suspension()])).toThrow(
      new TypeError(
        `latchkey: ${[
          message('suspensionReason', 'suspension()', 'suspension_reason'),
          message('secondFactorAt', 'twoFactor()', 'second_factor_at'),
          message('passkeyFactor', 'twoFactor()', 'passkey_factor'),
        ].join('; ')}`,
      ),
    );
  });

  test.each<[string, Plugin]>([
    ['the name in code', trial({ lastKeyAt: time().named('key_used') })],
    ['the name in the database', trial({ usedAt: time().named('last_key_at') })],
    [
      'the name in the database, whose case MySQL and SQLite ignore',
      trial({ usedAt: time().named('Last_Key_AT') }),
    ],
  ])('is refused if only %s is the same', (_what, plugin) => {
    expect(() => open({ lastKeyAt: { type: 'date' } }, [plugin])).toThrow(
      /^latchkey: user\.fields\.lastKeyAt and trial\(\) both define the column last_key_at of users: rename the field$/i,
    );
  });

  test('is refused in the app’s own rows too, because both are properties of a user', async () => {
    const { Sequelize, DataTypes } = await import('sequelize');
    const sequelize = new Sequelize({ dialect: 'mysql', logging: false });
    const model = sequelize.define('AppUser', { authId: DataTypes.UUID, suspendedAt: DataTypes.DATE });
    const user = { model, foreignKey: 'authId', fields: { suspendedAt: { type: 'date' } } } as const;
    const plugins = [...PLUGINS, suspension()];
    expect(() => createAuth({ database: sequelize, secret: SECRET, plugins, user })).toThrow(
      new TypeError(`latchkey: ${message('suspendedAt', 'suspension()', 'suspended_at')}`),
    );
  });
});

test('columns of two plugins, or of a plugin and the core, with one name are refused by createAuth', () => {
  expect(() => open({}, [trial({ lastKeyAt: time() }), trial({ lastKeyAt: time() }, 'other')])).toThrow(
    new TypeError(
      'latchkey: other() and trial() both define the column last_key_at of users: remove one of them from plugins',
    ),
  );
  expect(() => open({}, [trial({ mailbox: time().named('email') })])).toThrow(
    new TypeError(
      'latchkey: the core and trial() both define the column email of users: remove trial() from plugins',
    ),
  );
});

describe('an app with a field suspendedAt of its own', () => {
  const fields = { suspendedAt: { type: 'date' } } as const;
  const suspendedAt = '2026-01-31T12:00:00.000Z';
  let app: SpecApp<typeof PLUGINS> | undefined;
  let database: SpecDatabase | undefined;
  afterEach(async () => {
    await app?.stop();
    await database?.drop();
    app = undefined;
    database = undefined;
  });

  test('can use it as long as suspension() is not in plugins', async () => {
    const plugins = [...PLUGINS, pages()];
    const config = { baseUrl: 'http://app.example.com', user: { fields } };
    app = (await startApp({ plugins, config })) as unknown as SpecApp<typeof PLUGINS>;
    const user = { ...ada, emailVerified: true, fields: { suspendedAt: new Date(suspendedAt) } };
    await app.auth.users.create(user);
    const browser = app.browser();
    const credentials = { credential: ada.email, password: ada.password };
    const { body } = await browser.post('/auth/signin/credential').send(credentials).expect(200);
    expect(body.user.suspended_at).toBe(suspendedAt);
    const { text } = await browser.get('/auth/administration/users').accept('html').expect(200);
    expect(text).toContain(ada.email);
    expect(text).not.toContain('>suspended<');
  });

  test('gets an error when it adds suspension(), and keeps its values in a renamed column', async () => {
    database = await createDatabase();
    const { url } = database;
    const before = open(fields, [], url);
    await before.migrate();
    await before.users.create({ email: ada.email, fields: { suspendedAt: new Date(suspendedAt) } });
    await before.close();

    expect(() => open(fields, [suspension()], url)).toThrow(
      /^latchkey: user\.fields\.suspendedAt and suspension\(\)/,
    );

    const renamed = { pausedAt: { type: 'date' } } as const;
    const after = open(renamed, [suspension()], url);
    const refused =
      /^latchkey: migrate: the column users\.suspended_at exists already, and it is not latchkey's\. If your app needs it, rename it\./;
    for (const options of [{}, { dryRun: true }, {}])
      await expect(after.migrate(options)).rejects.toThrow(refused);
    // Nothing has been changed.
    expect(await rows(database, 'SELECT suspended_at FROM users')).toHaveLength(1);
    await expect(rows(database, 'SELECT suspended_until FROM users')).rejects.toThrow();
    await expect(rows(database, 'SELECT paused_at FROM users')).rejects.toThrow();

    await rows(database, 'ALTER TABLE users RENAME COLUMN suspended_at TO paused_at');
    expect(await after.migrate()).toEqual(['0001-suspension']);
    expect(await after.users.find(ada)).toMatchObject({ pausedAt: new Date(suspendedAt), suspendedAt: null });
    await after.close();
  });
});

if (dialect !== 'postgres') {
  test('migrate() finds a column whose name only differs in case, as the database does', async () => {
    const database = await createDatabase();
    try {
      const before = open({}, [], database.url);
      await before.migrate();
      await before.close();
      await rows(database, 'ALTER TABLE users ADD COLUMN Suspended_At VARCHAR(9)');
      const after = open({}, [suspension()], database.url);
      await expect(after.migrate()).rejects.toThrow(/the column users\.Suspended_At exists already/);
      await after.close();
    } finally {
      await database.drop();
    }
  });
}

test('a field returnTo is refused with pages(), whose forms have that input', () => {
  const fields = { returnTo: { type: 'string' } } as const;
  open(fields, []);
  expect(() => open(fields, [pages()])).toThrow(
    new TypeError(
      'latchkey: user.fields.returnTo is the name of an input in the forms of pages(): rename the field',
    ),
  );
});
