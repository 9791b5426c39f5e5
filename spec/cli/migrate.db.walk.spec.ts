import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAuth } from '../../lib/index.js';
import { SECRET } from '../support/app.js';
import { type CliProject, startProject } from '../support/cli.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';

/** With LATER, the config has the migrations of a later version. */
const CONFIG = `import { admin, apiKeys, createAuth, credentialPassword, suspension, twoFactor } from 'latchkey';
  const later = {
    name: '0002-later',
    async up({ run, change }) {
      await run('ALTER TABLE users ADD COLUMN town VARCHAR(40) NULL');
      await run('CREATE INDEX users_town ON users (town)');
      await change({ table: 'users', key: 'id', set: "town = 'London'", where: 'town IS NULL' });
    },
    async down({ run }) {
      await run('DROP INDEX users_town${dialect === 'mysql' ? ' ON users' : ''}');
      await run('ALTER TABLE users DROP COLUMN town');
    },
  };
  export const auth = createAuth({
    database: process.env.DATABASE_URL,
    secret: '${SECRET}',
    plugins: [
      credentialPassword({ username: true }),
      admin({ adminEmails: ['owner@example.com'] }),
      apiKeys(),
      suspension(),
      twoFactor(),
      { name: 'later', setup: () => ({ api: null, migrations: process.env.LATER ? [later] : [] }) },
    ],
    user: { fields: { plan: { type: 'string', default: 'free; or not' } } },
  });`;

let project: CliProject;
let database: SpecDatabase;
beforeAll(async () => {
  [project, database] = await Promise.all([startProject(), createDatabase()]);
  await project.write({ 'package.json': '{ "type": "module" }', 'latchkey.config.mjs': CONFIG });
}, 180_000);
afterAll(async () => {
  await project.remove();
  await database.drop();
});

let later = '';
const migrate = (...args: string[]) =>
  project.call(['migrate', ...args], { DATABASE_URL: database.url, LATER: later });
const parts = async () => JSON.parse((await migrate('--sql', '--json')).stdout).parts as readonly Part[];

interface Part {
  readonly name: string;
  readonly statements: readonly { readonly sql: string; readonly note: string | null }[];
}

async function runAll(script: readonly Part[]) {
  for (const { sql } of script.flatMap(({ statements }) => statements)) await database.sequelize.query(sql);
}

/** The columns and indexes of all tables, with their types and defaults. */
async function schema() {
  const queries = database.sequelize.getQueryInterface();
  const names = (await queries.showAllTables()).map(String).sort();
  const tables = names.map(async (name) => [
    name,
    await queries.describeTable(name),
    ((await queries.showIndex(name)) as { name: string }[]).map((index) => index.name).sort(),
  ]);
  return Promise.all(tables);
}

describe('latchkey migrate --status', () => {
  test('lists what is pending, with the exit code 1', async () => {
    const { code, stdout } = await migrate('--status');
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^pending {2}0001-core\n/)]);
    expect(stdout).toMatch(/\npending {2}users\.plan\nTo apply them: npx latchkey migrate\n$/);
    expect(await database.sequelize.getQueryInterface().showAllTables()).toEqual([]);
  });

  test.each([
    ['--status', '--sql'],
    ['--status', '--dry-run'],
    ['--sql', '--undo'],
  ])('%s and %s are a wrong call', async (one, other) => {
    const { code, stderr } = await migrate(one, other, ...(other === '--undo' ? ['1'] : []));
    expect([code, stderr]).toEqual([2, expect.stringContaining('cannot be used with option')]);
  });
});

describe('latchkey migrate --sql', () => {
  test('prints a script, and changes nothing', async () => {
    const { code, stdout } = await migrate('--sql');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^-- The pending migrations of latchkey\. /)]);
    const [first] = await parts();
    expect(first?.name).toBe('latchkey_migrations');
    for (const { name, statements } of await parts()) {
      expect(stdout).toContain(`\n-- ${name}\n`);
      for (const { sql } of statements) expect(stdout).toContain(`${sql.trim()};`);
    }
    expect(await database.sequelize.getQueryInterface().showAllTables()).toEqual([]);
  });

  test('creates the tables that migrate creates', async () => {
    await runAll(await parts());
    const { code, stdout } = await migrate('--status', '--json');
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { done: expect.arrayContaining(['0001-core']), pending: [] },
    ]);
    expect((await migrate()).stdout).toBe('The tables are up to date.\n');
    const created = await schema();
    await migrate('--undo', 'all', '--yes');
    await database.sequelize.query('DROP TABLE IF EXISTS latchkey_migrations');
    expect((await migrate()).stdout).toMatch(/^Applied:/);
    expect(created).toEqual(await schema());
    const empty = await migrate('--sql');
    expect(empty.stdout).toBe('-- The tables are up to date.\n');
  });

  test('changes tables and rows of an earlier version as migrate does', async () => {
    const auth = createAuth({ database: database.url, secret: SECRET });
    await auth.users.create({ email: 'ada@example.com' });
    await auth.close();
    later = '1';
    const script = await parts();
    const [, index, update] = script.flatMap(({ statements }) => statements);
    const isConcurrent = dialect === 'postgres';
    expect(index).toEqual({
      sql: `CREATE INDEX ${isConcurrent ? 'CONCURRENTLY ' : ''}users_town ON users (town)`,
      note: isConcurrent ? 'This statement cannot run in a transaction.' : null,
    });
    expect(update).toEqual({
      sql: "UPDATE users SET town = 'London' WHERE town IS NULL",
      note: expect.stringContaining('in batches'),
    });
    await runAll(script);
    expect((await migrate('--status')).code).toBe(0);
    const found = async () => [await schema(), await rows(database, 'SELECT email, town FROM users')];
    const changed = await found();
    await migrate('--undo', '1', '--yes');
    expect((await migrate()).stdout).toBe('Applied:\n  0002-later\n');
    expect(await found()).toEqual(changed);
  });

  test('leaves an interrupted migration to migrate', async () => {
    await rows(database, "UPDATE latchkey_migrations SET name = '0002-later up 1' WHERE name = '0002-later'");
    const { code, stdout, stderr } = await migrate('--sql');
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      'latchkey: migrate: 0002-later has been interrupted, and only auth.migrate() can complete it\n',
    ]);
    const status = JSON.parse((await migrate('--status', '--json')).stdout);
    expect(status.pending).toEqual(['0002-later']);
  });
});
