import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SECRET } from '../support/app.js';
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
  [project, database] = await Promise.all([startProject(), createDatabase()]);
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
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^Would apply:\n {2}0001-users-and-sessions\n/),
    ]);
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

describe('latchkey users', () => {
  const ada = 'ada@example.com';
  const find = async (who: string) =>
    JSON.parse((await latchkey(['users', 'find', who, '--json'])).stdout).user;

  test('create --dry-run creates nobody', async () => {
    const { code, stdout } = await latchkey(['users', 'create', '--email', ada, '--dry-run']);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`Would create an account:\n  id: `)]);
    expect(await count('users')).toBe(0);
  });

  test('create makes an account, with fields and a password from stdin', async () => {
    const fields = ['--field', 'plan=pro', '--field', 'level=3'];
    const args = [
      'users',
      'create',
      '--email',
      'Ada@Example.com',
      '--username',
      'ada',
      '--verified',
      ...fields,
    ];
    const { code, stdout } = await latchkey(
      [...args, '--password-stdin', '--json'],
      'an analytical engine\n',
    );
    expect(code).toBe(0);
    const { user } = JSON.parse(stdout);
    expect(user).toMatchObject({ email: ada, username: 'ada', plan: 'pro', level: 3 });
    expect(user.emailVerifiedAt).not.toBeNull();
    expect(await find(user.id)).toEqual(user);
    expect(await find(ada)).toEqual(user);
    expect(await find('ADA')).toEqual(user);
  });

  test('delete', async () => {
    await latchkey(['users', 'create', '--username', 'grace']);
    const before = await count('users');
    await latchkey(['users', 'delete', 'grace', '--dry-run']);
    expect(await count('users')).toBe(before);
    const { code, stdout } = await latchkey(['users', 'delete', 'grace', '--yes']);
    expect([code, stdout]).toEqual([0, 'The account is deleted.\n']);
    expect(await count('users')).toBe(before - 1);
  });
});

test('latchkey prune and rotate say how many rows they have treated', async () => {
  // What it takes to undo that is encrypted.
  await latchkey(['users', 'set-password', 'ada'], 'a difference engine');
  expect(await latchkey(['prune', '--json'])).toEqual({ code: 0, stdout: '{"rows":0}\n', stderr: '' });
  const rotated = await latchkey(['rotate', '--json'], '', `${SECRET} and a newer one|${SECRET}`);
  expect(rotated).toEqual({ code: 0, stdout: expect.stringMatching(/^\{"rows":[1-9]\d*\}\n$/), stderr: '' });
  const again = await latchkey(['rotate'], '', `${SECRET} and a newer one|${SECRET}`);
  expect(again.stdout).toMatch(/^0 rows encrypted again/);
});
