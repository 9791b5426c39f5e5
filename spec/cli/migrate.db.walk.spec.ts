import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAuth } from '../../lib/index.js';
import { SECRET } from '../support/app.js';
import { type CliProject, startProject } from '../support/cli.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';

const CONFIG = `import { admin, apiKeys, createAuth, credentialPassword, suspension, twoFactor } from 'latchkey';
  export const auth = createAuth({
    database: process.env.DATABASE_URL,
    secret: '${SECRET}',
    plugins: [
      credentialPassword({ username: true }),
      admin({ adminEmails: ['owner@example.com'] }),
      apiKeys(),
      suspension(),
      twoFactor(),
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

const migrate = (...args: string[]) => project.run(['migrate', ...args], { DATABASE_URL: database.url });
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
    const before = await schema();
    const { done } = JSON.parse((await migrate('--status', '--json')).stdout);
    await addForgottenBrowser();
    await migrate('--undo', String(done.length - 1), '--yes');
    const script = await parts();
    const indexes = script
      .flatMap(({ statements }) => statements)
      .filter(({ sql }) => /^CREATE INDEX/.test(sql));
    const concurrent = indexes.filter(({ sql }) => sql.startsWith('CREATE INDEX CONCURRENTLY'));
    expect(concurrent.length > 0).toBe(dialect === 'postgres');
    expect(concurrent.every(({ note }) => note === 'This statement cannot run in a transaction.')).toBe(true);
    const update = script.flatMap(({ statements }) => statements).find(({ sql }) => sql.startsWith('UPDATE'));
    expect(update?.note).toMatch(/in batches/);
    await runAll(script);
    expect((await migrate('--status')).code).toBe(0);
    expect(new Map(namedColumns(await schema()))).toEqual(new Map(namedColumns(before)));
    const [row] = await rows<{ dropped: unknown }>(database, 'SELECT dropped FROM known_devices');
    expect(Boolean(row?.dropped)).toBe(true);
  });

  test('leaves an interrupted migration to migrate', async () => {
    await rows(database, "UPDATE latchkey_migrations SET name = '0008-core up 1' WHERE name = '0008-core'");
    const { code, stdout, stderr } = await migrate('--sql');
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      'latchkey: migrate: 0008-core has been interrupted, and only auth.migrate() can complete it\n',
    ]);
    const status = JSON.parse((await migrate('--status', '--json')).stdout);
    expect(status.pending).toEqual(['0008-core']);
  });
});

/** An undo and a later migration put the columns at the end of their tables, so their order does not count. */
function namedColumns(tables: readonly unknown[][]): [string, unknown][] {
  return tables.map(([name, columns, indexes]) => [name as string, [columns, indexes]]);
}

async function addForgottenBrowser() {
  const auth = createAuth({ database: database.url, secret: SECRET });
  const { id: userId } = await auth.users.create({ email: 'ada@example.com' });
  const now = new Date();
  const times = { createdAt: now, lastUsedAt: now, forgottenAt: now };
  await auth.models.Device.create({ id: userId, userId, tokenHash: Buffer.alloc(32), ...times });
  await auth.close();
}
