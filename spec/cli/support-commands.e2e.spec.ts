import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { admin, apiKeys, createAuth, roles, suspension, twoFactor } from '../../lib/index.js';
import { password, SECRET } from '../support/app.js';
import { type CliProject, startProject } from '../support/cli.js';
import { createDatabase, rows, type SpecDatabase } from '../support/database.js';

const CONFIG = `import { admin, apiKeys, createAuth, credentialPassword, roles, suspension, twoFactor } from 'latchkey';
  const plugins = [
    credentialPassword({ username: true, bcryptCost: 4 }),
    admin({ adminEmails: ['owner@example.com'] }),
    ...(process.env.BARE ? [] : [apiKeys(), roles({ roles: { editor: ['posts:write'], owner: ['*'] } }), suspension(), twoFactor()]),
  ];
  export const auth = createAuth({
    database: process.env.DATABASE_URL,
    secret: '${SECRET}',
    baseUrl: 'http://localhost:3000',
    accountDeletion: { graceDays: 30 },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    email: { send: ({ kind, to }) => {
      if (process.env.MAIL_FAILS) throw new RangeError('no');
      console.error(kind, 'to', to);
    } },
    webhooks: process.env.BARE ? [] : [{ url: 'https://127.0.0.1:1/hook?token=hunter2', secret: 'whsec_' + 'A'.repeat(44), events: ['user.suspended'] }],
    plugins,
  });`;

let project: CliProject;
let database: SpecDatabase;
const make = () =>
  createAuth({
    database: database.url,
    secret: SECRET,
    baseUrl: 'http://localhost:3000',
    accountDeletion: { graceDays: 30 },
    plugins: [
      password({ username: true }),
      admin({ adminEmails: ['owner@example.com'] }),
      apiKeys(),
      roles({ roles: { editor: ['posts:write'], owner: ['*'] } }),
      suspension(),
      twoFactor(),
    ],
  });
let auth: ReturnType<typeof make>;
const ada = 'ada@example.com';
let id: string;
beforeAll(async () => {
  [project, database] = await Promise.all([startProject(), createDatabase()]);
  await project.write({ 'package.json': '{ "type": "module" }', 'latchkey.config.mjs': CONFIG });
  auth = make();
  await auth.migrate();
  ({ id } = await auth.users.create({ email: ada, emailVerified: true, password: 'an analytical engine' }));
}, 180_000);
afterAll(async () => {
  await auth.close();
  await project.remove();
  await database.drop();
});

const latchkey = (args: readonly string[], environment: NodeJS.ProcessEnv = {}) =>
  project.call(args, { DATABASE_URL: database.url, ...environment });
const json = async (...args: string[]) => JSON.parse((await latchkey([...args, '--json'])).stdout);
const countSessions = async () => (await auth.listSessions(id)).length;

test.each([
  [
    ['users', 'suspend', ada],
    /^latchkey: add suspension\(\) and admin\(\{ … \}\) to plugins in the config first\n$/,
  ],
  [['users', 'reinstate', ada], /^latchkey: add suspension\(\)/],
  [['users', 'roles', ada], /^latchkey: add roles\(\{ … \}\) to plugins/],
  [['users', 'disable-second-factor', ada], /^latchkey: add twoFactor\(\) to plugins/],
  [['keys', 'list', ada], /^latchkey: add apiKeys\(\) to plugins/],
  [['keys', 'revoke', ada, 'x'], /^latchkey: add apiKeys\(\) to plugins/],
  [['organizations', 'list'], /^latchkey: add organizations\(\) to plugins/],
  [['import', '-'], /^latchkey: add movingIn\(\) to plugins/],
])('%j without the plugin says what to add', async (args, message) => {
  const { code, stdout, stderr } = await latchkey(args, { BARE: '1' });
  expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(message)]);
});

describe('latchkey users', () => {
  test('suspend and reinstate', async () => {
    await auth.createSession(id);
    const command = ['users', 'suspend', ada, '--until', '2100-01-31', '--reason', 'spam'];
    const dry = await latchkey([...command, '--dry-run']);
    expect([dry.code, dry.stdout]).toEqual([
      0,
      'The account would be suspended until 2100-01-31T00:00:00.000Z, and its sessions would end.\n',
    ]);
    expect([await countSessions(), (await auth.users.get(id))?.suspendedAt]).toEqual([1, null]);
    const { code, stdout } = await latchkey(command);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^The account is suspended until 2100-01-31T.* Its sessions .* have ended\. .* still work\.\n$/,
      ),
    ]);
    expect(await auth.users.get(id)).toMatchObject({
      suspendedUntil: new Date('2100-01-31'),
      suspensionReason: 'spam',
    });
    expect(await countSessions()).toBe(0);
    await latchkey(['users', 'reinstate', ada, '--dry-run']);
    expect((await auth.users.get(id))?.suspendedAt).not.toBeNull();
    expect((await latchkey(['users', 'reinstate', ada])).stdout).toMatch(/^The suspension is lifted\./);
    expect((await auth.users.get(id))?.suspendedAt).toBeNull();
    expect((await latchkey(['users', 'reinstate', ada])).stdout).toBe('The account is not suspended.\n');
  });

  test.each([
    ['2100-02-31', 2, /a date, or a time with a time zone/],
    ['2100-01-31T18:00', 2, /a date, or a time with a time zone/],
    ['2020-01-31T18:00:00+01:00', 1, /^latchkey: until must be a time in the future/],
  ])('suspend --until %s is rejected', async (until, code, message) => {
    const ended = await latchkey(['users', 'suspend', ada, '--until', until]);
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(message)]);
    expect((await auth.users.get(id))?.suspendedAt).toBeNull();
  });

  test('roles prints the roles, gives and takes them', async () => {
    const command = ['users', 'roles', ada];
    expect((await latchkey(command)).stdout).toBe('The account has no roles.\n');
    const give = [...command, '--add', 'owner', '--add', 'editor'];
    expect((await latchkey([...give, '--dry-run'])).stdout).toBe('Would be: editor, owner\n');
    expect(await auth.roles.of(id)).toEqual([]);
    expect((await latchkey(give)).stdout).toBe('editor, owner\n');
    expect(await json(...command, '--remove', 'owner')).toEqual({ id, roles: ['editor'], dryRun: false });
    expect(await json(...command)).toEqual({ id, roles: ['editor'] });
    for (const [option, message] of [
      [['--add', 'edtor'], /^latchkey: roles\/1 must be one of editor, owner\n$/],
      [['--remove', 'owner'], /^latchkey: the account does not have the role owner\n$/],
    ] as const) {
      const { code, stderr } = await latchkey([...command, ...option]);
      expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
    }
    expect(await auth.roles.of(id)).toEqual(['editor']);
  });

  test('restore', async () => {
    expect((await latchkey(['users', 'restore', ada])).stdout).toBe('The account is not deleted.\n');
    await auth.users.delete(id);
    expect((await latchkey(['users', 'restore', ada, '--dry-run'])).stdout).toBe(
      'The account would be restored.\n',
    );
    expect((await auth.users.get(id))?.deletedAt).not.toBeNull();
    const { code, stdout } = await latchkey(['users', 'restore', ada]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^The account is restored, with its password\. /),
    ]);
    expect((await auth.users.get(id))?.deletedAt).toBeNull();
  });

  test('disable-second-factor says whether sessions have ended', async () => {
    const command = ['users', 'disable-second-factor', ada];
    await auth.createSession(id);
    expect((await latchkey(command)).stdout).toBe(
      'The account has no second factor, so its sessions continue. Its undo links no longer work.\n',
    );
    expect(await countSessions()).toBe(1);
    await rows(database, 'UPDATE users SET second_factor_at = :now WHERE id = :id', {
      now: '2026-01-01 00:00:00.000',
      id,
    });
    const dry = await latchkey([...command, '--dry-run']);
    expect(dry.stdout).toMatch(/^The second factor would be disabled\. /);
    expect(await countSessions()).toBe(1);
    expect((await latchkey(command)).stdout).toBe(
      'The second factor is disabled. The sessions of the account have ended, and its undo links no longer work.\n',
    );
    expect(await countSessions()).toBe(0);
  });
});

describe('latchkey sessions', () => {
  test('list prints no token', async () => {
    const issued = await auth.createSession(id, { ip: '203.0.113.9', userAgent: 'Browser' });
    const { stdout } = await latchkey(['sessions', 'list', ada]);
    expect(stdout).toMatch(
      new RegExp(`^${issued.session.id} {2}from .*Z {2}203\\.0\\.113\\.9 {2}Browser\\n$`),
    );
    const { sessions } = await json('sessions', 'list', ada);
    expect(sessions).toMatchObject([{ id: issued.session.id, ipAddress: '203.0.113.9' }]);
    const shown = stdout + JSON.stringify(sessions);
    expect([shown.includes(issued.token), /hash/i.test(shown)]).toEqual([false, false]);
  });

  test('revoke ends one session, or all', async () => {
    const { session } = await auth.createSession(id);
    await auth.createSession(id);
    const one = ['sessions', 'revoke', ada, session.id];
    expect((await latchkey([...one, '--dry-run'])).stdout).toBe('Would revoke 1 session.\n');
    expect(await countSessions()).toBe(3);
    expect((await latchkey(one)).stdout).toBe('1 session revoked.\n');
    expect((await auth.listSessions(id)).map((left) => left.id)).not.toContain(session.id);
    for (const gone of [session.id, 'nonsense']) {
      const again = await latchkey(['sessions', 'revoke', ada, gone, '--json']);
      expect([again.code, JSON.parse(again.stdout).error.code]).toEqual([1, 'session_not_found']);
    }
    const all = ['sessions', 'revoke', ada, '--all'];
    expect((await latchkey([...all, '--dry-run'])).stdout).toBe('Would revoke 2 sessions.\n');
    expect(await json(...all)).toEqual({ id, sessions: 2, dryRun: false });
    expect((await latchkey(['sessions', 'list', ada])).stdout).toBe('The account has no active sessions.\n');
    expect((await latchkey(all.slice(0, 3))).code).toBe(2);
    expect((await latchkey([...one, '--all'])).code).toBe(2);
  });
});

test('latchkey keys lists and revokes API keys, and prints no key', async () => {
  const { apiKey, key } = await auth.apiKeys.create(id, { name: 'Builds', scopes: ['builds:read'] });
  const { stdout } = await latchkey(['keys', 'list', ada]);
  expect(stdout).toMatch(
    new RegExp(`^${apiKey.id} {2}${apiKey.start}… .*used never .*until revoked {2}builds:read {2}Builds\\n$`),
  );
  const { keys } = await json('keys', 'list', ada);
  expect(keys).toMatchObject([{ id: apiKey.id, name: 'Builds' }]);
  const shown = stdout + JSON.stringify(keys);
  expect([shown.includes(key), /hash/i.test(shown)]).toEqual([false, false]);
  const revoke = ['keys', 'revoke', ada, apiKey.id];
  expect((await latchkey([...revoke, '--dry-run'])).stdout).toBe('The key would be revoked.\n');
  expect(await auth.apiKeys.list(id)).toHaveLength(1);
  expect(await json(...revoke)).toEqual({ id, key: apiKey.id, dryRun: false });
  expect(await auth.apiKeys.list(id)).toEqual([]);
  const again = await latchkey(revoke);
  expect([again.code, again.stderr]).toEqual([
    1,
    expect.stringMatching(/^latchkey: the account has no API key /),
  ]);
});

describe('latchkey outbox', () => {
  test('list prints masked recipients, and nothing else of an email', async () => {
    await rows(database, 'DELETE FROM outbox');
    await latchkey(['users', 'suspend', ada]);
    await latchkey(['users', 'reinstate', ada]);
    await latchkey(['users', 'disable-second-factor', ada]);
    await latchkey(['users', 'require-new-password', ada], { MAIL_FAILS: '1' });
    const { stdout } = await latchkey(['outbox', 'list']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(
      /Z {2}waiting {2}new-password-required {2}a…@example\.com {2}1 attempt {2}RangeError {2}next /,
    );
    expect(lines[1]).toMatch(
      / {2}waiting {2}user\.suspended {2}https:\/\/127\.0\.0\.1:1\/hook {2}1 attempt {2}/,
    );
    const listed = await json('outbox', 'list', '--limit', '1');
    expect(listed).toMatchObject({ entries: [{ recipient: 'a…@example.com', endpoint: null }] });
    const next = await json('outbox', 'list', '--cursor', listed.nextCursor);
    expect(next).toMatchObject({ entries: [{ recipient: null, endpoint: 'https://127.0.0.1:1/hook' }] });
    expect(stdout + JSON.stringify([listed, next])).not.toMatch(/hunter|ada@|token|content|localhost/);
    expect((await latchkey(['outbox', 'list', '--failed'])).stdout).toBe('No emails or webhooks found.\n');
  });

  test('retry sends one, or all that have failed', async () => {
    const { entries } = await json('outbox', 'list');
    const mail = entries.find((entry: { channel: string }) => entry.channel === 'email').id;
    const stillFails = await latchkey(['outbox', 'retry', mail], { MAIL_FAILS: '1' });
    expect([stillFails.code, stillFails.stdout]).toEqual([
      1,
      '1 email or webhook retried: 0 sent, 1 failed again, 0 left to processes of the app.\n',
    ]);
    const sent = await latchkey(['outbox', 'retry', mail]);
    expect([sent.code, sent.stdout]).toEqual([
      0,
      '1 email or webhook retried: 1 sent, 0 failed again, 0 left to processes of the app.\n',
    ]);
    expect(sent.stderr).toContain(`new-password-required to ${ada}`);
    for (const gone of [mail, 'nonsense']) {
      const again = await latchkey(['outbox', 'retry', gone, '--json']);
      expect([again.code, JSON.parse(again.stdout).error.code]).toEqual([1, 'entry_not_found']);
    }
    expect((await latchkey(['outbox', 'retry'])).code).toBe(2);
    expect((await latchkey(['outbox', 'retry', mail, '--all-failed'])).code).toBe(2);
    expect(await json('outbox', 'retry', '--all-failed')).toEqual({
      retried: 0,
      sent: 0,
      failed: 0,
      waiting: 0,
    });
    await rows(database, "UPDATE outbox SET state = 'failed', due_at = NULL WHERE state = 'waiting'");
    expect((await json('outbox', 'list', '--failed')).entries).toHaveLength(1);
    expect(await json('outbox', 'retry', '--all-failed')).toEqual({
      retried: 1,
      sent: 0,
      failed: 1,
      waiting: 0,
    });
    expect((await json('outbox', 'list', '--failed')).entries).toHaveLength(0);
  });
});
