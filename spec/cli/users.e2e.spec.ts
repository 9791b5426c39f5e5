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
    user: { fields: { plan: { type: 'string', enum: ['free', 'pro'], input: 'none' }, level: { type: 'integer' }, nickname: { type: 'string' } } },
  });`;

let project: CliProject;
let database: SpecDatabase;
beforeAll(async () => {
  [project, database] = await Promise.all([startProject(), createDatabase()]);
  await project.write({ 'package.json': '{ "type": "module" }', 'latchkey.config.mjs': CONFIG });
  await latchkey(['migrate']);
}, 180_000);
afterAll(async () => {
  await project.remove();
  await database.drop();
});

const latchkey = (args: readonly string[], input?: string, secrets = SECRET) =>
  project.call(args, { DATABASE_URL: database.url, SECRETS: secrets }, input);
const count = async (table: string) =>
  Number((await rows<{ n: number }>(database, `SELECT COUNT(*) AS n FROM ${table}`))[0]?.n);

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

  test.each([
    [['create', '--email', ada], 1, /^latchkey: An account with this email already exists/],
    [['create', '--email', 'nonsense'], 1, /^latchkey: email must be an email address/],
    [['create'], 2, /^latchkey: pass --email or --username/],
    [['create', '--email', 'b@example.com', '--field', 'nope=1'], 2, /has the fields plan, level/],
    [['create', '--email', 'b@example.com', '--field', 'level=x'], 2, /must be JSON/],
    [['create', '--email', 'b@example.com', '--field', 'plan=gold'], 1, /^latchkey: plan must be/],
    [['find', 'nobody@example.com'], 1, /^latchkey: no account has .* nobody@example\.com\n$/],
    [['delete', ada], 2, /add --yes/],
  ])('%j is refused', async (args, code, message) => {
    const ended = await latchkey(['users', ...args]);
    expect(ended).toEqual({ code, stdout: '', stderr: expect.stringMatching(message) });
    expect(ended.stderr).not.toMatch(/\n {4}at /);
  });

  test('list prints a page', async () => {
    await latchkey(['users', 'create', '--username', 'grace']);
    const { stdout } = await latchkey(['users', 'list', '--limit', '1']);
    const [line, more = ''] = stdout.split('\n');
    expect(line).toMatch(/^[\w-]{36} {2}\S+Z {2}- {2}grace$/);
    const cursor = more.replace('More: --cursor ', '');
    const next = await latchkey(['users', 'list', '--cursor', cursor, '--json']);
    expect(JSON.parse(next.stdout).users.map(({ email }: { email: string }) => email)).toEqual([ada]);
    // A search finds accounts by their email or username. `users find` finds them by their id, too.
    expect((await latchkey(['users', 'list', '--search', 'grac'])).stdout).toBe(`${line}\n`);
    const { stdout: byId } = await latchkey(['users', 'list', '--search', String(line).slice(0, 36)]);
    expect(byId).toBe('No accounts found.\n');
  });

  test('export prints everything about a user, in a form that no text of theirs can change', async () => {
    const nickname = 'red\u001b[31m\u009b\u202e';
    await latchkey(['users', 'create', '--username', 'mallory', '--field', `nickname=${nickname}`]);
    const { code, stdout } = await latchkey(['users', 'export', 'mallory']);
    expect(code).toBe(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them must be there
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    const { exported_at, ...data } = JSON.parse(stdout);
    expect(data).toMatchObject({ user: { username: 'mallory', nickname }, sessions: [] });
    const other = await latchkey(['users', 'export', 'mallory', '--json']);
    expect(JSON.parse(other.stdout)).toEqual({ ...data, exported_at: expect.any(String) });
    expect((await latchkey(['users', 'export', 'stranger'])).code).toBe(1);
    await latchkey(['users', 'delete', 'mallory', '--yes']);
  });

  test('set-password reads it from stdin, and tells the user', async () => {
    const short = await latchkey(['users', 'set-password', ada, '--dry-run'], 'short\n');
    expect([short.code, short.stderr]).toEqual([1, 'latchkey: password must have at least 8 characters\n']);
    expect((await latchkey(['users', 'set-password', ada], '')).stderr).toContain(
      'stdin contained no password',
    );
    const password = 'a difference engine';
    const dry = await latchkey(['users', 'set-password', ada, '--dry-run'], password);
    expect(dry).toEqual({ code: 0, stdout: 'The password would be accepted.\n', stderr: '' });
    const set = await latchkey(['users', 'set-password', ada], `${password}\n`);
    expect(set.stdout).toBe('The password is set.\n');
    expect(set.stderr).toMatch(/password-\w+ to ada@example\.com\n/);
    expect(set.stdout + set.stderr).not.toContain(password);
  });

  test('require-new-password, which tells the user', async () => {
    const command = ['users', 'require-new-password', ada];
    const dry = await latchkey([...command, '--dry-run']);
    expect(dry).toEqual({ code: 0, stdout: 'A new password would be required.\n', stderr: '' });
    expect((await find(ada)).newPasswordRequiredAt).toBeNull();
    const { stdout, stderr } = await latchkey(command);
    expect(stdout).toBe('A new password is required.\n');
    expect(stderr).toContain('new-password-required to ada@example.com');
    expect((await find(ada)).newPasswordRequiredAt).not.toBeNull();
  });

  test('verify-email and sign-out', async () => {
    await latchkey(['users', 'create', '--email', 'owner@example.com']);
    const verify = ['users', 'verify-email', 'owner@example.com'];
    await latchkey([...verify, '--dry-run']);
    expect((await find('owner@example.com')).emailVerifiedAt).toBeNull();
    expect((await latchkey(verify)).stdout).toBe('owner@example.com is verified.\n');
    expect((await find('owner@example.com')).emailVerifiedAt).not.toBeNull();
    expect((await latchkey(['users', 'sign-out', 'owner@example.com'])).stdout).toBe('0 sessions ended.\n');
  });

  test('delete', async () => {
    const before = await count('users');
    await latchkey(['users', 'delete', 'grace', '--dry-run']);
    expect(await count('users')).toBe(before);
    const { code, stdout } = await latchkey(['users', 'delete', 'grace', '--yes']);
    expect([code, stdout]).toEqual([0, 'The account is deleted.\n']);
    expect(await count('users')).toBe(before - 1);
  });
});
