import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Sequelize } from 'sequelize';
import { createAuth } from '../../lib/index.js';
import { ada, password, SECRET } from '../support/app.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';
import { ago, HOUR, settled } from '../support/sessions.js';

let database: SpecDatabase;
let own: Sequelize | null;
beforeEach(async () => {
  own = null;
  database = await createDatabase();
});
afterEach(async () => {
  await own?.close();
  await database.drop();
});

/** Settings of a connection that change what SQL means, each as statements that the app runs on every new connection. */
const SETTINGS: Record<typeof dialect, [name: string, statement: string, options?: object][]> = {
  sqlite: [],
  mysql: [
    ['NO_BACKSLASH_ESCAPES', "SET SESSION sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES')"],
    ['ANSI_QUOTES and PIPES_AS_CONCAT', "SET SESSION sql_mode = 'ANSI'"],
    [
      'every mode that changes expressions',
      "SET SESSION sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES,HIGH_NOT_PRECEDENCE'",
    ],
    ['no strict mode', "SET SESSION sql_mode = ''"],
    ['the character set GBK', 'SET NAMES gbk'],
    ['the character set SJIS', 'SET NAMES sjis'],
    ['SQL_AUTO_IS_NULL', 'SET SESSION sql_auto_is_null = 1'],
    ['a time zone', "SET SESSION time_zone = '-07:00'"],
  ],
  postgres: [
    ['standard_conforming_strings off', 'SET standard_conforming_strings = off'],
    ['transform_null_equals', 'SET transform_null_equals = on'],
    ['a time zone and date style', "SET TIME ZONE 'America/St_Johns'"],
  ],
};

/** The app's own instance, whose connections all run this statement first. */
function instanceWith(statement: string, options: object = {}) {
  const instance = new Sequelize(database.url, { logging: false, ...options });
  instance.addHook('afterConnect', async (connection: unknown) => {
    const it = connection as { query(sql: string, done: (error: Error | null) => void): void };
    await new Promise<void>((resolve, reject) =>
      it.query(statement, (error) => (error ? reject(error) : resolve())),
    );
  });
  own = instance;
  return instance;
}

const open = (of: string | Sequelize) =>
  createAuth({ database: of, secret: SECRET, plugins: [password({ username: true })] });

/** Values that end a string early under some setting, each with what it would then do. */
const ATTACKS = [
  String.raw`\', NULL, NULL, 0, NULL, NULL) -- `,
  String.raw`\\' OR 1=1 -- `,
  `'; DELETE FROM users; -- `,
  `\\'; DELETE FROM users; -- `,
  // The last byte of each is the first of a two-byte character in GBK or SJIS, which would take the backslash with it.
  "\u00bf\\' OR 1=1 -- ",
  "\u00bf' OR 1=1 -- ",
  '\u8868\\',
  'quotes " and ` and \u{1f600} \u00e9\r\n\t\x1a%_',
  ':credential :email $1 ?',
  `${'x'.repeat(254)}\\`,
];

async function resists(auth: ReturnType<typeof open>) {
  await auth.migrate();
  const { user } = (await auth.credential.signUp({ ...ada, username: 'ada' }))!;
  for (const [index, userAgent] of ATTACKS.entries()) {
    const signIn = auth.credential.signIn({
      credential: ada.email,
      password: ada.password,
      ip: `192.0.2.${index}`,
      userAgent,
    });
    const { token, session } = await signIn;
    expect(await auth.listSessions(user.id)).toHaveLength(index + 1);
    expect(session.userAgent).toBe(userAgent.slice(0, 255));
    await auth.getSession({ headers: { cookie: `latchkey=${token}` } });
    const stored = await rows(database, 'SELECT user_agent FROM sessions WHERE id = :id', { id: session.id });
    expect(stored).toEqual([{ user_agent: userAgent.slice(0, 255) }]);
    for (const credential of [userAgent, `ada${userAgent}`])
      await expect(
        auth.credential.signIn({ credential, password: ada.password, ip: `198.51.100.${index}` }),
      ).rejects.toMatchObject({ code: 'invalid_credentials' });
  }
  expect(await rows(database, 'SELECT id FROM users')).toHaveLength(1);
  await savesLastActivity(auth, user.id);
  expect(await auth.revokeAllSessions(user.id)).toBe(ATTACKS.length);
  expect(await auth.prune()).toBe(0);
}

/** Sessions would end although they are in use if their last activity could not be saved. */
async function savesLastActivity(auth: ReturnType<typeof open>, userId: string) {
  const signIns = ['203.0.113.1', '203.0.113.2'].map((ip) =>
    auth.credential.signIn({ credential: ada.email, password: ada.password, ip }),
  );
  const issued = await Promise.all(signIns);
  await database.sequelize.query('UPDATE sessions SET last_active_at = :at', {
    replacements: { at: ago(HOUR) },
  });
  for (const { token } of issued) await auth.getSession({ headers: { cookie: `latchkey=${token}` } });
  await settled(auth);
  const ids = issued.map(({ session }) => session.id);
  for (const { id, lastActiveAt } of await auth.listSessions(userId))
    expect([id, lastActiveAt.getTime() > Date.now() - HOUR / 2]).toEqual([id, ids.includes(id)]);
  for (const { token } of issued) await auth.revokeSession(token);
}

describe('text from clients is stored as it is and never executed', () => {
  test('with a connection pool of latchkey’s own', async () => {
    const auth = open(database.url);
    await resists(auth);
    await auth.close();
  });

  for (const [name, statement, options] of SETTINGS[dialect]) {
    test(`with an instance of the app’s own that sets ${name}`, async () => {
      await resists(open(instanceWith(statement, options)));
    });
  }

  if (dialect === 'mysql') {
    test('with safe updates, once the tables are there', async () => {
      const first = open(database.url);
      await first.migrate();
      await first.close();
      await resists(open(instanceWith('SET SESSION sql_safe_updates = 1')));
    });
  }

  if (dialect === 'postgres') {
    test('with Sequelize’s standardConformingStrings off', async () => {
      const options = { standardConformingStrings: false };
      await resists(open(instanceWith('SET standard_conforming_strings = off', options)));
    });
  }
});

if (dialect === 'mysql') {
  test('the pool of latchkey’s own does not take the server’s sql_mode, so queries with auth.models are safe too', async () => {
    // A connection of the server’s default mode; the server’s own setting would affect other specs.
    const auth = open(`${database.url}?flags=-CONNECT_ATTRS`);
    await auth.migrate();
    const [[mode]] = (await auth.models.User.sequelize!.query('SELECT @@sql_mode AS mode')) as [
      { mode: string }[],
      unknown,
    ];
    expect(mode?.mode.split(',').sort()).toEqual(['NO_ENGINE_SUBSTITUTION', 'STRICT_ALL_TABLES']);
    await auth.close();
  });
}
