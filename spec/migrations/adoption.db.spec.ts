import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { apiKeys, createAuth, type Plugin } from '../../lib/index.js';
import { definePlugin } from '../../lib/plugin.js';
import { ada, password, SECRET } from '../support/app.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';

let database: SpecDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

const open = (config: object = {}, plugins: readonly Plugin[] = []) =>
  createAuth({
    database: database.url,
    secret: SECRET,
    rateLimit: false,
    plugins: [password(), ...plugins] as [ReturnType<typeof password>],
    ...config,
  });
const idType = {
  sqlite: 'CHAR(36)',
  postgres: 'UUID',
  mysql: 'CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
};
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: Error) => error,
  );

describe('tables of the app that refer to latchkey’s', () => {
  const refer = (table: string, action: string) =>
    rows(
      database,
      `CREATE TABLE ${table} (user_id ${idType[dialect]} NOT NULL,
        CONSTRAINT ${table}_fk FOREIGN KEY (user_id) REFERENCES users (id) ${action})`,
    );

  test.each(['', 'ON DELETE CASCADE', 'ON DELETE RESTRICT'])(
    'stop an undo before anything is changed (%s)',
    async (action) => {
      const auth = open();
      await auth.migrate();
      const { user } = (await auth.credential.signUp(ada))!;
      const { token } = await auth.credential.signIn({ credential: ada.email, password: ada.password });
      await refer('reports', action);
      await refer('invoices', action);
      await rows(database, 'INSERT INTO reports (user_id) VALUES (:id)', { id: user.id });
      const failure = await failureOf(auth.migrate({ undo: 'all' }));
      expect(failure?.message).toMatch(/^latchkey: migrate: undo would drop tables that others refer to: /);
      expect(failure?.message).toMatch(/reports \(to users\)/);
      expect(failure?.message).toMatch(/invoices \(to users\)/);
      // A plain call has nothing to go on with.
      expect(await auth.migrate()).toEqual([]);
      await auth.getSession({ headers: { cookie: `latchkey=${token}` } });
      expect(await rows(database, 'SELECT user_id FROM reports')).toHaveLength(1);
      await rows(database, 'DROP TABLE reports');
      await rows(database, 'DROP TABLE invoices');
      expect(await auth.migrate({ undo: 'all' })).toEqual(['0003-core', '0002-core', '0001-core']);
      await auth.close();
    },
  );

  // On SQLite, and on MySQL where it ignores case, these would be latchkey's own tables.
  const exact = (table: string) => (dialect === 'mysql' ? `\`${table}\`` : `"${table}"`);
  (dialect === 'sqlite' ? test.skip : test)(
    'are told from latchkey’s by the case of their names',
    async () => {
      const auth = open();
      await auth.migrate();
      await rows(database, `CREATE TABLE ${exact('Users')} (id ${idType[dialect]} NOT NULL PRIMARY KEY)`);
      const refer = (table: string, target: string) =>
        rows(
          database,
          `CREATE TABLE ${exact(table)} (user_id ${idType[dialect]} NOT NULL,
          CONSTRAINT ${table}_app_fk FOREIGN KEY (user_id) REFERENCES ${exact(target)} (id))`,
        );
      await refer('Sessions', 'users');
      await refer('orders', 'Users');
      const failure = await failureOf(auth.migrate({ undo: 'all' }));
      expect(failure?.message).toMatch(/refer to: "?Sessions"? \(to users\)\. Nothing has been changed/);
      expect(await auth.migrate()).toEqual([]);
      await rows(database, `DROP TABLE ${exact('Sessions')}`);
      // The app's own table `Users` is another one, so what refers to it is in nobody's way.
      expect(await auth.migrate({ undo: 'all' })).toEqual(['0003-core', '0002-core', '0001-core']);
      await auth.close();
    },
  );

  test('do not stop an undo that leaves the table they refer to', async () => {
    const auth = open({}, [apiKeys()]);
    const ran = await auth.migrate();
    await refer('reports', '');
    expect(await auth.migrate({ undo: 1 })).toEqual(ran.slice(-1));
    await auth.close();
  });
});

describe('tables with latchkey’s names that exist already', () => {
  const name = dialect === 'sqlite' ? 'Sessions' : 'sessions';

  test('are named, with tablePrefix as the remedy, and nothing is changed', async () => {
    await rows(database, `CREATE TABLE ${name} (sid VARCHAR(36))`);
    await rows(database, `INSERT INTO ${name} (sid) VALUES ('of the app')`);
    const auth = open();
    const failure = await failureOf(auth.migrate());
    expect(failure?.message).toMatch(
      new RegExp(
        `^latchkey: migrate: the table ${name} exists already, and it is not latchkey's.*tablePrefix`,
      ),
    );
    await expect(rows(database, 'SELECT id FROM users')).rejects.toThrow();
    expect(await rows(database, `SELECT sid FROM ${name}`)).toEqual([{ sid: 'of the app' }]);
    await auth.close();
    const prefixed = open({ tablePrefix: 'auth_' });
    await prefixed.migrate();
    await prefixed.credential.signUp(ada);
    expect(await prefixed.migrate()).toEqual([]);
    await prefixed.close();
  });
});

test('the error of a failed migration is short', async () => {
  const broken = definePlugin({
    name: 'broken',
    setup: () => ({
      api: null,
      migrations: [
        {
          name: '0001-broken',
          up: ({ run }) => run(`CREATE TABLE broken (,${'x '.repeat(5000)})`),
          down: ({ run }) => run('DROP TABLE broken'),
        },
      ],
    }),
  });
  const auth = open({}, [broken]);
  const failure = await failureOf(auth.migrate());
  expect(failure?.message).toMatch(/^latchkey: migrate: CREATE TABLE broken failed: /);
  expect(inspect({ ...failure, stack: undefined, cause: failure?.cause }).split('\n').length).toBeLessThan(6);
  expect(inspect(failure).split('\n').length).toBeLessThan(30);
  await auth.close();
});

if (dialect !== 'sqlite') {
  test('a migration may take longer than a statement, and than a connection may be silent', async () => {
    const slow = definePlugin({
      name: 'slow',
      setup: () => ({
        api: null,
        migrations: [
          {
            name: '0001-slow',
            up: ({ run }) => run(dialect === 'mysql' ? 'DO SLEEP(13)' : 'SELECT pg_sleep(13)'),
            down: async () => undefined,
          },
        ],
      }),
    });
    const auth = open({}, [slow]);
    expect(await auth.migrate()).toContain('0001-slow');
    await auth.credential.signUp(ada);
    await auth.close();
  }, 180_000);
}
