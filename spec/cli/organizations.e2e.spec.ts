import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createAuth, organizations } from '../../lib/index.js';
import { movingIn } from '../../lib/moving-in.js';
import { password, SECRET } from '../support/app.js';
import { type CliProject, startProject } from '../support/cli.js';
import { createDatabase, rows, type SpecDatabase } from '../support/database.js';

const CONFIG = `import { createAuth, credentialPassword, organizations } from 'latchkey';
  import { movingIn } from 'latchkey/moving-in';
  export const auth = createAuth({
    database: process.env.DATABASE_URL,
    secret: '${SECRET}',
    plugins: [credentialPassword({ username: true }), movingIn(), ...(process.env.BARE ? [] : [organizations()])],
  });`;

let project: CliProject;
let database: SpecDatabase;
const make = () =>
  createAuth({
    database: database.url,
    secret: SECRET,
    plugins: [password({ username: true }), organizations(), movingIn()],
  });
let auth: ReturnType<typeof make>;
let ada: string;
let bob: string;
let id: string;
beforeAll(async () => {
  [project, database] = await Promise.all([startProject(), createDatabase()]);
  await project.write({ 'package.json': '{ "type": "module" }', 'latchkey.config.mjs': CONFIG });
  auth = make();
  await auth.migrate();
}, 180_000);
beforeEach(async () => {
  for (const table of ['organizations', 'users', 'imported_users'])
    await rows(database, `DELETE FROM ${table}`);
  ({ id: ada } = await auth.users.create({ email: 'ada@example.com' }));
  ({ id: bob } = await auth.users.create({ username: 'bob' }));
  ({ id } = await auth.organizations.create({ name: 'Acme', slug: 'acme', ownerId: ada }));
  await auth.organizations.addMember(id, bob, 'member');
});
afterAll(async () => {
  await auth.close();
  await project.remove();
  await database.drop();
});

const latchkey = (args: readonly string[], environment: NodeJS.ProcessEnv = {}, input?: string) =>
  project.call(args, { DATABASE_URL: database.url, ...environment }, input);
const call = (...args: readonly string[]) => latchkey(['organizations', ...args]);
const json = async (...args: string[]) => JSON.parse((await call(...args, '--json')).stdout);
const roles = async () =>
  (await auth.organizations.members(id)).members.map(({ user, role }) => `${user.id} ${role}`).sort();

test.each([
  [['organizations', 'list']],
  [['organizations', 'members', 'acme']],
  [['organizations', 'set-role', 'acme', 'bob', 'admin']],
  [['organizations', 'remove-member', 'acme', 'bob']],
  [['import', '-', '--organizations']],
])('%j without the plugin says what to add', async (args) => {
  const { code, stdout, stderr } = await latchkey(args, { BARE: '1' }, '');
  expect([code, stdout, stderr]).toEqual([
    1,
    '',
    'latchkey: add organizations() to plugins in the config first\n',
  ]);
});

test('list prints organizations page by page, newest first', async () => {
  const { id: newer } = await auth.organizations.create({ name: 'Bolt & Co.', slug: 'bolt', ownerId: bob });
  const { code, stdout } = await call('list');
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(
      new RegExp(`^${newer}  [-\\dT:.]+Z  bolt  Bolt & Co\\.\\n${id}  [-\\dT:.]+Z  acme  Acme\\n$`),
    ),
  ]);
  const first = await json('list', '--limit', '1');
  expect(first).toMatchObject({
    organizations: [{ id: newer, slug: 'bolt' }],
    nextCursor: expect.any(String),
  });
  expect((await call('list', '--limit', '1')).stdout).toContain(`\nMore: --cursor ${first.nextCursor}\n`);
  expect(await json('list', '--cursor', first.nextCursor)).toMatchObject({
    organizations: [{ id }],
    nextCursor: null,
  });
  for (const one of [newer, id]) await auth.organizations.delete(one);
  expect((await call('list')).stdout).toBe('No organizations found.\n');
});

test('members prints the members of an organization, by its slug or id', async () => {
  const { stdout } = await call('members', 'acme');
  expect(stdout.trimEnd().split('\n')).toEqual([
    expect.stringMatching(new RegExp(`^${bob}  [-\\dT:.]+Z  member  -  bob$`)),
    expect.stringMatching(new RegExp(`^${ada}  [-\\dT:.]+Z  owner  ada@example\\.com$`)),
  ]);
  const { members, nextCursor } = await json('members', id, '--limit', '1');
  expect(members).toMatchObject([{ user: { id: bob }, role: 'member' }]);
  expect(await json('members', id, '--cursor', nextCursor)).toMatchObject({
    id,
    members: [{ user: { id: ada }, role: 'owner' }],
    nextCursor: null,
  });
});

test('set-role changes a role', async () => {
  const command = ['set-role', 'acme', 'bob', 'owner'];
  expect((await call(...command, '--dry-run')).stdout).toBe('The role of the member would be owner.\n');
  expect(await roles()).toContain(`${bob} member`);
  expect(await call(...command)).toEqual({
    code: 0,
    stdout: 'The role of the member is owner.\n',
    stderr: '',
  });
  expect(await roles()).toEqual([`${ada} owner`, `${bob} owner`].sort());
  expect(await json('set-role', id, 'ada@example.com', 'admin')).toEqual({
    ...{ id, user: ada, role: 'admin', dryRun: false },
  });
});

test('remove-member removes one', async () => {
  const command = ['remove-member', 'acme', bob];
  expect((await call(...command, '--dry-run')).stdout).toBe('The member would be removed.\n');
  expect(await roles()).toHaveLength(2);
  expect(await json(...command)).toEqual({ id, user: bob, dryRun: false });
  expect(await roles()).toEqual([`${ada} owner`]);
});

describe('errors', () => {
  test.each([
    [['members', 'other'], 1, 'organization_not_found', 'no organization has the id or slug other'],
    [['set-role', 'other', 'bob', 'admin'], 1, 'organization_not_found', 'no organization has'],
    [
      ['set-role', 'acme', 'eve', 'admin'],
      1,
      'user_not_found',
      'no account has the id, email or username eve',
    ],
    [
      ['set-role', 'acme', 'bob', 'chief'],
      1,
      'validation_failed',
      'role must be one of owner, admin, member',
    ],
    [['set-role', 'acme', 'ada@example.com', 'member'], 1, 'last_owner', 'without an owner'],
    [['remove-member', 'acme', 'ada@example.com'], 1, 'last_owner', 'without an owner'],
  ])('%j', async (args, code, error, message) => {
    const ended = await call(...args, '--json');
    expect([ended.code, JSON.parse(ended.stdout).error]).toEqual([
      code,
      { code: error, message: expect.stringContaining(message) },
    ]);
    expect(await roles()).toEqual([`${ada} owner`, `${bob} member`].sort());
  });

  test('a limit that is none', async () => {
    const ended = await call('list', '--limit', '0');
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('a whole number from 1 to 200')]);
  });

  test('an account that is not a member', async () => {
    await auth.users.create({ username: 'cyril' });
    for (const args of [
      ['set-role', 'acme', 'cyril', 'admin'],
      ['remove-member', 'acme', 'cyril'],
    ]) {
      const ended = await call(...args, '--json');
      expect([ended.code, JSON.parse(ended.stdout).error.code]).toEqual([1, 'member_not_found']);
    }
  });
});

describe('latchkey import --organizations', () => {
  const row = { ref: 3, name: 'Bolt', slug: 'bolt', members: [{ userRef: 7, role: 'owner' }] };
  const given = `${JSON.stringify(row)}\n${JSON.stringify({ ...row, ref: 4 })}\n`;
  const command = ['import', '-', '--organizations', '--source', 'crm'];

  test('imports organizations, and lists rows that it has skipped', async () => {
    await auth.movingIn.importUsers([{ ref: 7, email: 'cy@example.com' }], { source: 'crm' });
    const dry = await latchkey([...command, '--dry-run'], {}, given);
    const skipped = '  4: slug_taken: slug is taken by an';
    expect([dry.code, dry.stdout]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(`^${skipped}.*\\n1 organization would be imported, 1 row skipped\\.\\n$`),
      ),
    ]);
    expect(await auth.organizations.get('bolt')).toBeNull();
    const done = await latchkey([...command, '--json'], {}, given);
    const { id: bolt } = (await auth.organizations.get('bolt')) ?? {};
    expect([done.code, JSON.parse(done.stdout)]).toEqual([
      1,
      {
        dryRun: false,
        organizations: [{ ref: 3, id: bolt }],
        skipped: [{ ref: 4, code: 'slug_taken', detail: 'slug is taken by another organization' }],
      },
    ]);
    const again = await latchkey(command, {}, `${JSON.stringify(row)}\n`);
    expect([again.code, again.stdout]).toEqual([0, '1 organization imported, 0 rows skipped.\n']);
  });

  test('has nothing to update', async () => {
    const { code, stderr } = await latchkey([...command, '--update'], {}, given);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^latchkey: --update applies to accounts only/),
    ]);
  });
});
