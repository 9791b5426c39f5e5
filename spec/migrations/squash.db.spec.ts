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
  emailSignIn,
  oauth,
  passkeys,
  suspension,
  twoFactor,
} from '../../lib/index.js';
import { ada, memoryLogger, password, SECRET } from '../support/app.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { tablesOf } from '../support/plans.js';
import { schemaOf } from '../support/schema.js';

/**
 * A database that the commit c080a4b1 has migrated, the last one with several migrations for an owner. The files
 * squash.*.sql contain such a database, with every plugin, with fields, and with rows in every table. It is older than
 * the commit: its tables were created with fewer columns, so that most migrations have changed tables in it.
 */
let database: SpecDatabase;
beforeEach(async () => {
  database = await createDatabase();
  await load();
});
afterEach(() => database.drop());

const JOURNAL = 'latchkey_migrations';
const FIRST = [
  ...['0001-apiKeys', '0001-auditLog', '0001-core', '0001-emailSignIn', '0001-oauth', '0001-passkeys'],
  ...['0001-suspension', '0001-twoFactor'],
];
/** The migrations that today's first ones include. */
const LATER: Readonly<Record<string, readonly string[]>> = {
  '0001-core': ['0002', '0003', '0004', '0005', '0006', '0007', '0008'].map((number) => `${number}-core`),
  '0001-emailSignIn': ['0002-emailSignIn'],
  '0001-passkeys': ['0002-passkeys'],
  '0001-twoFactor': ['0002-twoFactor'],
};

/**
 * The one step from c080a4b1. Only sign-ins of even earlier commits were in the table `pending_sign_ins`, and they
 * expired within minutes.
 *
 * @throws Error before anything is changed, if a migration is missing or was interrupted
 */
async function squash(): Promise<void> {
  const journal = await recorded();
  const missing = Object.entries(LATER).flatMap(([first, later]) =>
    journal.includes(first) ? later.filter((name) => !journal.includes(name)) : [],
  );
  const unfinished = journal.filter((name) => name.includes(' '));
  if (missing.length + unfinished.length > 0)
    throw new Error(`migrate with c080a4b1 first: ${[...missing, ...unfinished].join(', ')}`);
  await rows(database, 'DROP TABLE IF EXISTS pending_sign_ins');
  await rows(database, `DELETE FROM ${JOURNAL} WHERE name IN (:later)`, {
    later: Object.values(LATER).flat(),
  });
}

const open = ({ url }: { url: string } = database, config: object = {}) =>
  createAuth({
    database: url,
    secret: SECRET,
    baseUrl: 'http://localhost:3000',
    rateLimit: false,
    outbox: { interval: false },
    logger: memoryLogger(),
    email: { send: () => undefined },
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
    plugins: [
      password({ username: true }),
      oauth(),
      fixedProvider(),
      apiKeys(),
      auditLog(),
      admin({ adminEmails: ['owner@example.com'] }),
      suspension(),
      twoFactor(),
      passkeys(),
      emailSignIn({ signUp: true }),
    ] as unknown as [ReturnType<typeof password>, ReturnType<typeof apiKeys>],
    ...config,
  });

async function load(): Promise<void> {
  const sql = await readFile(new URL(`./squash.${dialect}.sql`, import.meta.url), 'utf8');
  const [server] = dialect === 'mysql' ? await rows<{ v: string }>(database, 'SELECT version() AS v') : [];
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

describe('a database of the commit c080a4b1', () => {
  test('has today’s journal after the step, and every row as it was', async () => {
    const { pending_sign_ins: pending, ...before } = await allRows();
    expect(pending).toHaveLength(1);
    expect(Object.keys(before)).toHaveLength(24);
    expect(Object.entries(before).filter(([, rows]) => rows.length === 0)).toEqual([]);
    await squash();
    expect(await recorded()).toEqual(FIRST);
    expect(await allRows()).toEqual(before);
    const auth = open();
    expect(await auth.migrate({ dryRun: true })).toEqual([]);
    expect(await auth.migrate()).toEqual([]);
    expect(await auth.health()).toMatchObject({ ok: true, degraded: [] });
    expect(await findingsOf(auth)).toEqual(['ok: all migrations have run']);
    expect(await recorded()).toEqual(FIRST);
    expect(await allRows()).toEqual(before);
    await auth.close();
  });

  test('has the tables that a new database gets', async () => {
    await squash();
    const existing = await schemaOf(database);
    const empty = await createDatabase();
    try {
      const auth = open(empty);
      await auth.migrate();
      await auth.close();
      const schema = await schemaOf(empty);
      expect(Object.keys(schema)).toHaveLength(25);
      expect(Object.values(schema).flat().length).toBeGreaterThan(200);
      if (dialect === 'sqlite') widenColumns(existing);
      expect(inAnyOrder(existing)).toEqual(inAnyOrder(schema));
    } finally {
      await empty.drop();
    }
  });

  /** An added column is the last one of its table, and stands elsewhere in a new table. */
  const inAnyOrder = (schema: Record<string, string[]>) =>
    Object.fromEntries(Object.entries(schema).map(([table, lines]) => [table, lines.toSorted()]));

  // SQLite does not limit the length of text, so that earlier migrations had nothing to widen there.
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

  test('works as before, foreign keys included', async () => {
    await squash();
    const auth = open();
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
    expect(left.map(([table]) => table)).toEqual([
      ...['audit_events', 'carried_sessions', 'emailed_sign_ins', 'import_keys', 'imported_users'],
      ...['oauth_flows', 'one_time_tokens', 'outbox', 'rate_limits'],
    ]);
    await auth.close();
  });

  test('can be undone like one of today, and gets the tables of new plugins', async () => {
    await rows(database, 'DROP TABLE api_keys');
    await rows(database, `DELETE FROM ${JOURNAL} WHERE name = '0001-apiKeys'`);
    await squash();
    const auth = open();
    expect(await auth.migrate()).toEqual(['0001-apiKeys']);
    expect(await auth.migrate({ undo: 2 })).toEqual(['0001-twoFactor', '0001-suspension']);
    expect(await auth.migrate({ undo: 'all' })).toHaveLength(FIRST.length - 2);
    expect(await tablesOf(database)).toEqual([]);
    const created = await auth.migrate();
    expect(created.filter((name) => !name.startsWith('users.')).sort()).toEqual(FIRST);
    await auth.close();
  });

  test.each([
    ['0005-core', `DELETE FROM ${JOURNAL} WHERE name = '0005-core'`],
    ['0002-passkeys', `UPDATE ${JOURNAL} SET name = '0002-passkeys up 1' WHERE name = '0002-passkeys'`],
    ['0001-twoFactor down 2', `INSERT INTO ${JOURNAL} (name) VALUES ('0001-twoFactor down 2')`],
  ])('is left alone if it was not migrated completely: %s', async (what, sql) => {
    await rows(database, sql);
    const [before, names] = [await allRows(), await recorded()];
    await expect(squash()).rejects.toThrow(`migrate with c080a4b1 first: ${what}`);
    expect(await recorded()).toEqual(names);
    expect(await allRows()).toEqual(before);
  });
});
