import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { admin, createAuth, twoFactor } from '../../lib/index.js';
import { password, SECRET } from '../support/app.js';
import { type CliProject, startProject } from '../support/cli.js';
import { createDatabase, rows, type SpecDatabase } from '../support/database.js';

const CONFIG = `import { admin, createAuth, credentialPassword, twoFactor } from 'latchkey';
  export const auth = createAuth({
    database: process.env.DATABASE_URL,
    secret: process.env.SECRETS.split('|'),
    baseUrl: 'http://localhost:3000',
    email: { send: ({ kind, to }) => console.error(kind, 'to', to) },
    plugins: [
      credentialPassword({ username: true, bcryptCost: 4 }),
      admin({ adminEmails: ['owner@example.com'] }),
      twoFactor(),
    ],
    user: { fields: { plan: { type: 'string', enum: ['free', 'pro'], input: 'none' }, level: { type: 'integer' } } },
  });`;

let project: CliProject;
let database: SpecDatabase;
beforeAll(async () => {
  [project, database] = await Promise.all([startProject('sequelize'), createDatabase()]);
  await project.write({ 'package.json': '{ "type": "module" }', 'latchkey.config.mjs': CONFIG });
}, 180_000);
afterAll(async () => {
  await project.remove();
  await database.drop();
});

const latchkey = (args: readonly string[], input?: string, secrets = SECRET) =>
  project.run(args, { DATABASE_URL: database.url, SECRETS: secrets }, input);
const count = async (table: string) =>
  Number((await rows<{ n: number }>(database, `SELECT COUNT(*) AS n FROM ${table}`))[0]?.n);

describe('latchkey migrate', () => {
  test('--dry-run says what is pending, and changes nothing', async () => {
    const { code, stdout } = await latchkey(['migrate', '--dry-run']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Would apply:\n {2}0001-core\n/)]);
    expect(stdout).toContain('users.plan');
    expect(await database.sequelize.getQueryInterface().showAllTables()).toEqual([]);
  });

  test('creates the tables, and then has nothing to do', async () => {
    const first = await latchkey(['migrate', '--json']);
    expect(JSON.parse(first.stdout)).toMatchObject({ dryRun: false });
    expect(JSON.parse(first.stdout).migrations).toContain('users.plan');
    expect(await latchkey(['migrate'])).toEqual({
      code: 0,
      stdout: 'The tables are up to date.\n',
      stderr: '',
    });
  });

  test('--undo wants to be confirmed', async () => {
    const { code, stderr } = await latchkey(['migrate', '--undo', 'all']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('add --yes')]);
    const dry = await latchkey(['migrate', '--undo', '1', '--dry-run']);
    expect([dry.code, dry.stdout]).toEqual([0, expect.stringMatching(/^Would undo:\n {2}\S+\n$/)]);
    expect((await latchkey(['migrate', '--dry-run'])).stdout).toBe('The tables are up to date.\n');
    const undone = await latchkey(['migrate', '--undo', '1', '--yes']);
    expect([undone.code, undone.stdout]).toEqual([0, dry.stdout.replace('Would undo', 'Undone')]);
    expect((await latchkey(['migrate'])).stdout).toMatch(/^Applied:\n {2}\S+\n$/);
  });
});

test('latchkey prune says how many rows of which tables it deletes; with --dry-run, would delete', async () => {
  const expired = "(x'01', 1, '2020-01-01 00:00:00'), (x'02', 1, '2020-01-01 00:00:00')";
  await rows(database, `INSERT INTO rate_limits (key_hash, hits, expires_at) VALUES ${expired}`);
  const dry = await latchkey(['prune', '--dry-run']);
  expect(dry).toEqual({ code: 0, stdout: '  rate_limits: 2\n2 rows would be deleted.\n', stderr: '' });
  const json = JSON.parse((await latchkey(['prune', '--dry-run', '--json'])).stdout);
  expect(json).toMatchObject({ dryRun: true, rows: 2, tables: { rate_limits: 2, sessions: 0, users: 0 } });
  expect(await count('rate_limits')).toBe(2);
  const real = await latchkey(['prune', '--json']);
  expect([real.code, JSON.parse(real.stdout)]).toEqual([0, { ...json, dryRun: false }]);
  expect(await count('rate_limits')).toBe(0);
  expect(await latchkey(['prune'])).toEqual({ code: 0, stdout: '0 rows deleted.\n', stderr: '' });
});

test('latchkey rotate says how many rows of which tables it encrypts; with --dry-run, would encrypt', async () => {
  // What it takes to undo that is encrypted.
  const auth = createAuth({
    database: database.url,
    secret: SECRET,
    baseUrl: 'http://localhost:3000',
    email: { send: () => undefined },
    plugins: [password({ username: true }), admin({ adminEmails: ['owner@example.com'] }), twoFactor()],
  });
  const { id } = await auth.users.create({ email: 'ada@example.com' });
  await auth.users.update(id, { username: 'ada' });
  await auth.close();
  const rotate = (...args: string[]) =>
    latchkey(['rotate', ...args], '', `${SECRET} and a newer one|${SECRET}`);
  const dry = await rotate('--dry-run', '--json');
  const found = JSON.parse(dry.stdout);
  expect(found).toMatchObject({ dryRun: true, tables: { account_changes: 1, totp_secrets: 0 } });
  expect((await rotate('--dry-run')).stdout).toMatch(
    /^ {2}account_changes: 1\n.*would be re-encrypted\.\n$/s,
  );
  const real = await rotate('--json');
  expect([real.code, JSON.parse(real.stdout)]).toEqual([0, { ...found, dryRun: false }]);
  expect((await rotate()).stdout).toMatch(/^0 rows re-encrypted/);
});

describe('latchkey prune and rotate, interrupted', () => {
  /** A config that interrupts its own command: at a statement, or while it is loaded. */
  const INTERRUPTING = `import { createAuth, credentialPassword } from 'latchkey';
    import { sqlite } from 'latchkey/sqlite';
    import { Sequelize } from 'sequelize';
    const { STATEMENT, SIGNAL } = process.env;
    let spared = 2;
    const logging = (sql) => {
      if (STATEMENT && sql.includes(STATEMENT) && spared-- === 0) process.kill(process.pid, SIGNAL);
    };
    const file = process.env.DATABASE_URL.replace(/^sqlite:/, '');
    export const auth = createAuth({
      database: new Sequelize({ ...sqlite(file), logging }),
      secret: process.env.SECRETS,
      plugins: [credentialPassword()],
    });
    if (!STATEMENT)
      await new Promise((resolve) => {
        // Without a timer, nothing keeps the process alive until the signal comes.
        const timer = setInterval(() => undefined, 1000);
        process.once(SIGNAL, () => resolve(clearInterval(timer)));
        process.kill(process.pid, SIGNAL);
      });`;
  const interrupted = (args: readonly string[], signal: NodeJS.Signals, statement = '') =>
    project.run([...args, '--config', 'interrupting.mjs'], {
      DATABASE_URL: database.url,
      SECRETS: SECRET,
      SIGNAL: signal,
      STATEMENT: statement,
    });
  beforeAll(() => project.write({ 'interrupting.mjs': INTERRUPTING }));

  test('end after the batch in progress, and print the rows so far', async () => {
    const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)';
    const expired = `${numbers} SELECT randomblob(32), 1, '2020-01-01 00:00:00' FROM n`;
    await rows(database, `INSERT INTO rate_limits (key_hash, hits, expires_at) ${expired}`);
    const countExpired = () => count("rate_limits WHERE expires_at < '2021-01-01'");
    const json = await interrupted(['prune', '--json'], 'SIGINT', 'DELETE FROM rate_limits');
    const left = await countExpired();
    expect([json.code, json.stderr]).toEqual([130, '']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      dryRun: false,
      rows: 1000 - left,
      interrupted: true,
      tables: { sessions: 0, rate_limits: 1000 - left },
    });
    // It ends before the next table, and not in the middle of a batch.
    expect(JSON.parse(json.stdout).tables).not.toHaveProperty('users');
    expect([left % 100, left > 0, left < 1000]).toEqual([0, true, true]);
    const text = await interrupted(['prune'], 'SIGTERM', 'DELETE FROM rate_limits');
    const deleted = left - (await countExpired());
    expect(text).toEqual({
      code: 130,
      stdout: `  rate_limits: ${deleted}\n${deleted} rows deleted before the interruption. Run the command again for the other rows.\n`,
      stderr: 'Interrupted.\n',
    });
    expect((await latchkey(['prune'])).code).toBe(0);
  });

  test('print a result even if nothing has been done', async () => {
    const json = await interrupted(['rotate', '--json'], 'SIGTERM');
    const nothing = { dryRun: false, rows: 0, tables: {}, interrupted: true };
    expect([json.code, JSON.parse(json.stdout)]).toEqual([130, nothing]);
    const text = await interrupted(['rotate'], 'SIGINT');
    expect([text.code, text.stdout]).toEqual([130, expect.stringMatching(/^0 rows re-encrypted before/)]);
    expect(text.stdout).not.toContain('other secrets');
    const dry = await interrupted(['prune', '--dry-run', '--json'], 'SIGINT');
    expect([dry.code, JSON.parse(dry.stdout)]).toEqual([130, { ...nothing, dryRun: true }]);
  });
});
