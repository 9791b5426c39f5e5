import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DataTypes, Sequelize } from 'sequelize';
import { connectByUrl } from '../../lib/database/connect.js';
import { apiKeys, createAuth } from '../../lib/index.js';
import { ada, password, SECRET } from '../support/app.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';
import { ago, HOUR, SECOND, settled } from '../support/sessions.js';

let database: SpecDatabase;
let own: Sequelize;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  await own.close();
  await database.drop();
});

/** Opens the database as an app might, with options that latchkey would not choose. */
function open(options: object) {
  own =
    dialect === 'sqlite'
      ? (connectByUrl(database.url) as Sequelize)
      : new Sequelize(database.url, { logging: false, ...options });
  // Without the version that other specs let an instance know.
  Object.assign((own as unknown as { options: object }).options, { databaseVersion: 0, ...options });
  return createAuth({
    database: own,
    secret: SECRET,
    rateLimit: false,
    plugins: [password({ username: true }), apiKeys()],
  });
}

test('an instance that names the version of its database is used like any other', async () => {
  const databaseVersion = { mysql: '10.11.0', postgres: '15.0.0', sqlite: '3.45.0' }[dialect];
  await roundTrip(open({ databaseVersion }));
});

/** Uses every column: sign-up, sign-in, lookup, touch, list, revoke, prune. */
async function roundTrip(auth: ReturnType<typeof open>) {
  await auth.migrate();
  const person = { ...ada, username: 'ada' };
  const { user } = (await auth.credential.signUp(person))!;
  const { token, session } = await auth.credential.signIn({
    credential: 'ada',
    password: ada.password,
    rememberMe: true,
  });
  const headers = { cookie: `latchkey=${token}` };
  const found = await auth.getSession({ headers });
  expect(found.user).toEqual(user);
  expect(found.session?.expiresAt).toEqual(session.expiresAt);
  expect(found.session?.lastActiveAt).toEqual(session.lastActiveAt);
  expect((await auth.listSessions(user.id))[0]?.createdAt).toEqual(session.createdAt);
  expect((await auth.markEmailVerified(user.id)).emailVerifiedAt?.getTime()).toBeGreaterThan(
    Date.now() - 10_000,
  );
  const { apiKey, key } = await auth.apiKeys.create(user.id, { name: 'a program', scopes: ['read'] });
  expect(await auth.apiKeys.list(user.id)).toEqual([apiKey]);
  expect((await auth.getSession({ headers: { authorization: `ApiKey ${key}` } })).apiKey).toEqual(apiKey);
  expect(await auth.prune()).toBe(0);
  const plain = (found: unknown) => JSON.parse(JSON.stringify(found));
  expect(plain(await auth.models.User.findByPk(user.id))).toMatchObject({ email: ada.email });
  await auth.models.RateLimit.create({ keyHash: Buffer.alloc(32), hits: 7, expiresAt: new Date() } as never);
  expect(plain(await auth.models.RateLimit.findOne())).toMatchObject({ hits: 7 });
  await auth.models.Session.update({ lastActiveAt: ago(HOUR) }, { where: {} });
  await auth.getSession({ headers });
  await settled(auth);
  const [active] = await auth.listSessions(user.id);
  const [used] = await auth.apiKeys.list(user.id);
  for (const time of [active?.lastActiveAt, used?.lastUsedAt])
    expect(Math.abs(Number(time) - Date.now())).toBeLessThan(60 * SECOND);
  expect(await auth.revokeAllSessions(user.id)).toBe(1);
  await expect(auth.getSession({ headers })).rejects.toMatchObject({ code: 'invalid_session' });
  await auth.close();
}

test.each([{ schema: 'elsewhere' }, { define: { schema: 'elsewhere' } }])(
  'an instance with the option %j is refused, because statements would go to other tables',
  (options) => {
    expect(() => open(options)).toThrow(
      /^latchkey: database is a Sequelize instance with the option schema: 'elsewhere'/,
    );
  },
);

(dialect === 'postgres' ? test : test.skip)(
  'an instance has the schema that its connections use',
  async () => {
    await rows(database, 'CREATE SCHEMA accounts');
    const dialectOptions = { options: '-c search_path=accounts' };
    await roundTrip(open({ schema: 'accounts', dialectOptions }));
    const tables = "SELECT table_schema FROM information_schema.tables WHERE table_name = 'users'";
    expect(await rows(database, tables)).toEqual([{ table_schema: 'accounts' }]);
    await own.close();
    await roundTrip(open({ schema: 'public' }));
  },
);

describe('the app’s own Sequelize instance', () => {
  test.each<[name: string, options: object]>([
    ['with default options', {}],
    [
      'with its own model defaults',
      {
        define: {
          timestamps: true,
          paranoid: true,
          underscored: false,
          freezeTableName: false,
          version: true,
        },
      },
    ],
    ['with upper-case names', { define: { underscored: false, name: { singular: 'X', plural: 'XS' } } }],
    ['with getters of its own', { define: { getterMethods: { email: () => 'x', hits: () => -1 } } }],
    ['with omitNull', { omitNull: true }],
    ['with raw queries', { query: { raw: true } }],
    ...(dialect === 'sqlite'
      ? []
      : ([['in another time zone', { timezone: '+05:30' }]] as [string, object][])),
    ...(dialect === 'mysql'
      ? ([
          ['with dates as strings', { dialectOptions: { dateStrings: true, typeCast: true } }],
          [
            'with dates as strings in another time zone',
            { timezone: '-03:30', dialectOptions: { dateStrings: true, typeCast: true } },
          ],
          [
            'with big numbers as strings',
            { dialectOptions: { supportBigNumbers: true, bigNumberStrings: true } },
          ],
        ] as [string, object][])
      : []),
  ])('works %s', async (_name, options) => {
    await roundTrip(open(options));
  });

  test('stays open and keeps its own models, even with the same names as latchkey’s models', async () => {
    const auth = open({});
    const User = own.define('User', { name: DataTypes.STRING }, { tableName: 'people', timestamps: false });
    const later = createAuth({ database: own, secret: SECRET, tablePrefix: 'x_', plugins: [password()] });
    await roundTrip(auth);
    expect(own.models.User).toBe(User);
    await own.sync();
    await User.create({ name: 'of the app' });
    expect(await rows(database, 'SELECT name FROM people')).toEqual([{ name: 'of the app' }]);
    await auth.close();
    await later.close();
    expect(await User.count()).toBe(1);
  });
});

if (dialect === 'mysql') {
  test.each([[['FOUND_ROWS']], [['-CONNECT_ATTRS']]])(
    'rate limits are exact if connections count affected rows differently: flags %j',
    async (flags) => {
      own = new Sequelize(database.url, { logging: false, dialectOptions: { flags } });
      const auth = createAuth({ database: own, secret: SECRET, plugins: [password()] });
      await auth.migrate();
      const tries = Array.from({ length: 25 }, () =>
        auth.credential
          .signIn({ credential: 'ada@example.com', password: 'a wrong password', ip: '192.0.2.1' })
          .catch((error) => error.code),
      );
      const codes = await Promise.all(tries);
      expect(codes.filter((code) => code === 'invalid_credentials')).toHaveLength(5);
      expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(20);
    },
  );
}
