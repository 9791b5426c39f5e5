import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Auth } from '../../lib/auth.js';
import { drizzleSource } from '../../lib/cli/schema/drizzle.js';
import { sqlSource } from '../../lib/cli/schema/sql.js';
import { schemaOf as shownSchemaOf } from '../../lib/cli/schema/tables.js';
import { createAuth } from '../../lib/index.js';
import { google } from '../../lib/providers.js';
import { SECRET } from '../support/app.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';
import { drizzleApp, FilesOfApp } from '../support/drizzle-app.js';
import { everyPlugin } from '../support/every-plugin.js';
import { schemaOf } from '../support/schema.js';

const authOn = ({ url }: SpecDatabase) =>
  createAuth({
    database: url,
    secret: SECRET,
    baseUrl: 'http://localhost:3000',
    email: { send: () => undefined },
    outbox: { interval: false },
    tablePrefix: 'auth_',
    plugins: [...everyPlugin(), google({ clientId: 'app', clientSecret: 'secret' })],
    user: {
      fields: {
        newsletter: { type: 'boolean', default: true },
        order: { type: 'integer' },
        score: { type: 'number' },
        motto: { type: 'string', maxLength: 4000, default: "it's free; or not" },
        bornAt: { type: 'date' },
        settings: { type: 'json', default: { theme: 'dark' } },
      },
    },
  });

let database: SpecDatabase;
let auth: ReturnType<typeof authOn>;
beforeAll(async () => {
  database = await createDatabase();
  auth = authOn(database);
  await auth.migrate();
});
afterAll(async () => {
  await auth.close();
  await database.drop();
});

/** Runs the SQL for an Auth in a database, one statement at a time. */
async function runSql(of: unknown, { sequelize }: SpecDatabase) {
  const source = await sqlSource(of as Auth, shownSchemaOf(of as Auth));
  const statements = source.replace(/^--.*\n/gm, '').split(/;\n/);
  for (const sql of statements) if (sql.trim() !== '') await sequelize.query(sql);
}

describe('the SQL', () => {
  let other: SpecDatabase;
  beforeEach(async () => {
    other = await createDatabase();
  });
  afterEach(() => other.drop());

  test('creates the tables that auth.migrate() creates', async () => {
    await runSql(auth, other);
    expect(await schemaOf(other)).toEqual(await schemaOf(database));
  });

  (dialect === 'postgres' ? test : test.skip)('creates them in the schema of the connections', async () => {
    const own = authOn({ ...database, url: `${database.url}?options=-csearch_path%3Daccounts` });
    // All statements need the same connection, because they set its schema.
    const source = await sqlSource(own as unknown as Auth, shownSchemaOf(own as unknown as Auth));
    await other.sequelize.query(source);
    await own.close();
    const found = await rows(
      other,
      "SELECT table_schema, COUNT(*) AS tables FROM information_schema.tables WHERE table_name LIKE 'auth%' GROUP BY 1",
    );
    expect(found).toEqual([
      { table_schema: 'accounts', tables: String(shownSchemaOf(auth as unknown as Auth).tables.length) },
    ]);
  });
});

/** The type of a foreign key to a user. */
const ID = { mysql: 'CHAR(36) COLLATE utf8mb4_bin', postgres: 'UUID', sqlite: 'CHAR(36)' }[dialect];

test('Drizzle reads the rows that latchkey has written, joined with own rows', async () => {
  const values = { newsletter: false, order: 7, score: 0.1, bornAt: new Date('1815-12-10T01:02:03.004Z') };
  const created = await auth.users.create({
    email: 'ada@example.com',
    username: 'Ada',
    emailVerified: true,
    fields: values,
  });
  await auth.createSession(created.id, { ip: '192.0.2.1', userAgent: 'spec' } as object);
  const ended = await auth.createSession(created.id);
  await auth.revokeSession(ended.token);
  const { query } = database.sequelize;
  const own = (sql: string) => query.call(database.sequelize, sql);
  await own(
    `CREATE TABLE projects (id ${ID} PRIMARY KEY, owner_id ${ID} NOT NULL, title VARCHAR(40) NOT NULL,
      CONSTRAINT projects_owner FOREIGN KEY (owner_id) REFERENCES auth_users (id) ON DELETE CASCADE)`,
  );
  await own(`INSERT INTO projects VALUES ('${randomUUID()}', '${created.id}', 'Engine')`);
  const files = await FilesOfApp.create();
  try {
    await files.write({
      'latchkey.ts': drizzleSource(shownSchemaOf(auth as unknown as Auth), false),
      ...drizzleApp(dialect),
    });
    const { read, readProject } = await import(pathToFileURL(join(files.folder, 'queries.ts')).href);
    const user = await auth.users.get(created.id);
    const [session] = await auth.listSessions(created.id);
    const found = await read(database.url, created.id, session?.expiresAt);
    expect(user).toMatchObject(values);
    // Each value of the API has the same value in the row. JSON and lists of words are stored as text.
    const row = { ...user, settings: JSON.stringify({ theme: 'dark' }), roles: '' };
    expect(found.user).toMatchObject(row);
    expect(found.joined).toEqual([{ title: 'Engine', email: 'ada@example.com', since: user?.createdAt }]);
    expect(found.ending).toEqual([expect.objectContaining({ ...session, amr: session?.amr.join(' ') })]);
    const related = { ...found.user, sessions: found.ending };
    expect(found.related).toEqual(related);
    expect(Object.keys(found.user)).not.toContain('passwordHash');
    // MariaDB has no lateral joins, which Drizzle uses for single rows.
    if (dialect !== 'mysql')
      expect(await readProject(database.url)).toMatchObject({
        title: 'Engine',
        owner: { ...related, totpSecret: null },
      });
  } finally {
    await files.remove();
  }
});
