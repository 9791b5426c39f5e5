import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { checkSchema, tablesOf as expectedTables } from '../../lib/cli/checks/database.js';
import {
  type Auth,
  admin,
  apiKeys,
  auditLog,
  createAuth,
  oauth,
  passkeys,
  suspension,
  twoFactor,
} from '../../lib/index.js';
import { ada, memoryLogger, password, SECRET } from '../support/app.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { tablesOf } from '../support/plans.js';
import { startProxy } from '../support/proxy.js';
import { schemaOf } from '../support/schema.js';

/**
 * Databases that the commit f379456 has migrated, the last one with a migration for each change of the tables. The files
 * before-squash.*.sql contain such a database, with every plugin, with fields, and with rows in every table.
 */
let database: SpecDatabase;
beforeEach(async () => {
  database = await createDatabase();
  await load();
});
afterEach(() => database.drop());

const NAMES = [
  '0001-apiKeys',
  '0001-auditLog',
  '0001-core',
  '0001-oauth',
  '0001-passkeys',
  '0001-suspension',
  '0001-twoFactor',
  '0002-core',
  '0003-core',
  '0004-core',
  '0005-core',
  '0006-core',
  '0007-core',
  '0008-core',
  '0002-passkeys',
  '0002-twoFactor',
].sort();
/** What has been added since the migrations were squashed. */
const ADDED = [
  '0002-core',
  '0003-core',
  '0004-core',
  '0005-core',
  '0006-core',
  '0007-core',
  '0008-core',
  '0002-passkeys',
  '0002-twoFactor',
];
const JOURNAL = 'latchkey_migrations';

const allPlugins = () => [
  password({ username: true }),
  oauth(),
  fixedProvider(),
  apiKeys(),
  auditLog(),
  admin({ adminEmails: ['owner@example.com'] }),
  suspension(),
  twoFactor(),
  passkeys(),
];
const open = ({ url }: { url: string } = database, config: object = {}) =>
  createAuth({
    database: url,
    secret: SECRET,
    baseUrl: 'http://localhost:3000',
    rateLimit: false,
    outbox: { interval: false },
    logger: memoryLogger(),
    accountDeletion: { graceDays: 30 },
    user: {
      fields: {
        plan: { type: 'string', default: 'free' },
        level: { type: 'integer', default: -3 },
        ratio: { type: 'number', default: 0.5 },
        newsletter: { type: 'boolean', default: false },
        since: { type: 'date', default: new Date('0999-12-31T23:59:59.123Z') },
        settings: { type: 'json' },
        bio: { type: 'string', maxLength: 4000 },
        nickname: { type: 'string', maxLength: 40 },
      },
    },
    plugins: allPlugins() as unknown as [ReturnType<typeof password>, ReturnType<typeof apiKeys>],
    ...config,
  });

async function load(): Promise<void> {
  const file = new URL(`./before-squash.${dialect}.sql`, import.meta.url);
  const [server] = dialect === 'mysql' ? await rows<{ v: string }>(database, 'SELECT version() AS v') : [];
  const sql = await readFile(file, 'utf8');
  // MariaDB has made the file, and MySQL calls the collation differently.
  const own = server?.v.includes('MariaDB') ? sql : sql.replaceAll('utf8mb4_nopad_bin', 'utf8mb4_0900_bin');
  for (const statement of own.split(/;\n/)) if (statement.trim()) await database.sequelize.query(statement);
}

async function recorded(): Promise<string[]> {
  const names = await rows<{ name: string }>(database, `SELECT name FROM ${JOURNAL} ORDER BY name`);
  return names.map(({ name }) => name);
}

/** Every row of every table but the journal's. */
async function allRows(): Promise<Record<string, unknown[]>> {
  const tables = (await tablesOf(database)).filter((table) => table !== JOURNAL).sort();
  const all = tables.map(async (table) => [table, await rows(database, `SELECT * FROM ${table}`)] as const);
  return Object.fromEntries(await Promise.all(all));
}

async function findingsOf(auth: ReturnType<typeof open>) {
  const { database } = internalsOf(auth).core;
  const findings = checkSchema(auth as unknown as Auth, database, expectedTables(auth as unknown as Auth));
  const all = [];
  for await (const { status, detail } of findings) all.push(`${status}: ${detail}`);
  return all;
}

describe('a database whose tables were made in many steps', () => {
  test('gets the names of the migrations of today, and keeps every row as it was', async () => {
    const before = await allRows();
    expect(Object.keys(before)).toHaveLength(18);
    expect(Object.entries(before).filter(([, rows]) => rows.length === 0)).toEqual([]);
    const names = await recorded();
    const auth = open();
    // Only what has been added since is pending.
    expect(await auth.health()).toMatchObject({ ok: false, degraded: expect.arrayContaining(['schema']) });
    expect(await auth.migrate({ dryRun: true })).toEqual(ADDED);
    expect(await recorded()).toEqual(names);
    for (const due of [ADDED, []]) {
      expect(await auth.migrate()).toEqual(due);
      expect(await recorded()).toEqual(NAMES);
    }
    expect(await allRows()).toMatchObject(before);
    expect(await auth.health()).toMatchObject({ ok: true, degraded: [] });
    expect(await findingsOf(auth)).toEqual(['ok: all migrations have run']);
    await auth.close();
  });

  test('has the schema that a new database gets', async () => {
    const auth = open();
    await auth.migrate();
    await auth.close();
    const existing = await schemaOf(database);
    const fresh = await createDatabase();
    try {
      const other = open(fresh);
      await other.migrate();
      await other.close();
      const schema = await schemaOf(fresh);
      expect(Object.keys(schema)).toHaveLength(25);
      expect(Object.values(schema).flat().length).toBeGreaterThan(200);
      if (dialect === 'sqlite') widenColumns(existing);
      expect(inAnyOrder(existing)).toEqual(inAnyOrder(schema));
    } finally {
      await fresh.drop();
    }
  });

  /** An added column is the last one of its table, and stands elsewhere in a new table. */
  const inAnyOrder = (schema: Record<string, string[]>) =>
    Object.fromEntries(Object.entries(schema).map(([table, lines]) => [table, lines.toSorted()]));

  // SQLite does not limit the length of text, so that the earlier migrations had nothing to widen there.
  function widenColumns({ users = [] }: Record<string, string[]>): void {
    const widened = [
      ['username VARCHAR(30) ', 'username VARCHAR(100) '],
      ['password_hash VARCHAR(255) ', 'password_hash VARCHAR(1024) '],
    ] as const;
    for (const [from, to] of widened) {
      const index = users.findIndex((line) => line.startsWith(from));
      users[index] = String(users[index]).replace(from, to);
    }
  }

  test('works as before', async () => {
    const auth = open();
    await auth.migrate();
    const { user, token } = await auth.credential.signIn({ credential: 'ada', password: ada.password });
    expect(user).toMatchObject({ email: ada.email, nickname: 'é ü €', level: -3, plan: 'free' });
    expect(await auth.getSession({ headers: { cookie: `latchkey=${token}` } })).toMatchObject({
      user: { id: user.id },
    });
    expect(await auth.listSessions(user.id)).not.toHaveLength(0);
    expect(await auth.apiKeys.list(user.id)).toMatchObject([{ name: 'program', scopes: ['read'] }]);
    const bob = auth.credential.signIn({ credential: 'bob@example.com', password: ada.password });
    await expect(bob).rejects.toMatchObject({ code: 'account_suspended' });
    // What refers to a user goes with it.
    await rows(database, 'DELETE FROM users');
    const left = Object.entries(await allRows()).filter(([, rows]) => rows.length > 0);
    const kept = [
      'audit_events',
      'carried_sessions',
      'oauth_flows',
      'one_time_tokens',
      'outbox',
      'rate_limits',
    ];
    expect(left.map(([table]) => table)).toEqual(kept);
    await auth.close();
  });

  test.each([true, false])('can be undone like one of today (first migrated: %j)', async (isMigrated) => {
    const auth = open();
    const names = isMigrated ? NAMES : NAMES.filter((name) => !ADDED.includes(name));
    if (isMigrated) await auth.migrate();
    const last = isMigrated ? ['0002-twoFactor', '0002-passkeys'] : ['0001-twoFactor', '0001-suspension'];
    expect(await auth.migrate({ undo: 2 })).toEqual(last);
    expect(await recorded()).toEqual(names.filter((name) => !last.includes(name)));
    expect(await auth.migrate({ undo: 'all' })).toHaveLength(names.length - 2);
    expect(await tablesOf(database)).toEqual([]);
    expect((await auth.migrate()).filter((name) => !name.startsWith('users.')).sort()).toEqual(NAMES);
    await auth.close();
  });

  test('gets the tables of a plugin that it did not have, and the columns of new fields', async () => {
    await rows(database, 'DROP TABLE api_keys');
    await rows(database, `DELETE FROM ${JOURNAL} WHERE name = '0003-api-keys'`);
    const user = { fields: { nickname: { type: 'string' }, motto: { type: 'string' } } };
    const auth = open(database, { user });
    const due = ['0001-apiKeys', 'users.motto'];
    expect(await auth.migrate({ dryRun: true })).toEqual(expect.arrayContaining(due));
    expect(await auth.migrate()).toEqual(expect.arrayContaining(due));
    expect(await recorded()).toEqual(NAMES);
    await auth.close();
  });

  test('gets the names of plugins that have left the config too, which an undo asks for', async () => {
    const auth = open(database, { plugins: [password()] });
    const ofPlugins = ADDED.filter((name) => !name.endsWith('-core'));
    expect(await auth.migrate()).toEqual(ADDED.filter((name) => !ofPlugins.includes(name)));
    expect(await recorded()).toEqual(NAMES.filter((name) => !ofPlugins.includes(name)));
    await expect(auth.migrate({ undo: 'all' })).rejects.toThrow(
      'add apiKeys() (0001-apiKeys), auditLog() (0001-auditLog), oauth() (0001-oauth), passkeys() (0001-passkeys), ' +
        'suspension() (0001-suspension), and twoFactor() (0001-twoFactor) to plugins first',
    );
    await auth.close();
  });

  test.each([
    ['0025-carried-sessions is missing', "DELETE FROM JOURNAL WHERE name = '0025-carried-sessions'"],
    [
      '0001-users-and-sessions and 0019-large-tables are missing',
      "DELETE FROM JOURNAL WHERE name IN ('0001-users-and-sessions', '0019-large-tables')",
    ],
    [
      '0017-two-factor is missing',
      "UPDATE JOURNAL SET name = '0017-two-factor up 3' WHERE name = '0017-two-factor'",
    ],
    [
      '0017-two-factor is missing',
      "UPDATE JOURNAL SET name = '0017-two-factor down 2' WHERE name = '0018-passkeys'",
    ],
  ])('is left alone if it was not migrated completely: %s', async (what, sql) => {
    await rows(database, sql.replace('JOURNAL', JOURNAL));
    const [before, names] = [await allRows(), await recorded()];
    const auth = open();
    const message = `${what} or unfinished. Nothing has been changed. Call auth.migrate() with the commit f379456 first`;
    for (const options of [{}, { dryRun: true }, { undo: 'all' }] as const)
      await expect(auth.migrate(options)).rejects.toThrow(message);
    expect((await auth.health()).degraded).toContain('schema');
    expect(await findingsOf(auth)).toEqual([expect.stringContaining(message)]);
    expect(await recorded()).toEqual(names);
    expect(await allRows()).toEqual(before);
    await auth.close();
  });
});

if (dialect !== 'sqlite') {
  test.each(['INSERT', 'DELETE'].flatMap((verb) => [`before ${verb}`, `after ${verb}`]))(
    'what a process has left that ended %s is completed by the next one',
    async (moment) => {
      const proxy = await startProxy(database.url);
      const [when, verb] = moment.split(' ') as ['before' | 'after', string];
      const broken = open({ url: proxy.url });
      const isCut = proxy.cutAt(new RegExp(`${verb}.*${JOURNAL}`), when, 2);
      await expect(broken.migrate()).rejects.toThrow();
      expect(isCut()).toBe(true);
      await broken.close();
      await proxy.drained();
      const auth = open();
      expect(ADDED).toEqual(expect.arrayContaining(await auth.migrate()));
      expect(await recorded()).toEqual(NAMES);
      await auth.close();
      await proxy.stop();
    },
  );
}
