import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { organization } from 'better-auth/plugins';
import { organizations } from '../../../lib/index.js';
import {
  type BetterAuthOrganizationsOptions,
  fromBetterAuth,
  type ImportOrganizationRow,
  movingIn,
  organizationsFromBetterAuth,
} from '../../../lib/moving-in.js';
import { password, type SpecApp, startApp } from '../../support/app.js';
import { startBetterAuth } from '../../support/better-auth.js';
import { CookieJar } from '../../support/cookie-jar.js';
import { dialect, rows } from '../../support/database.js';
import { loggingSequelize } from '../../support/statements.js';

// The tables are those of the real better-auth, in the database of the app.
const plugins = [password(), organizations(), movingIn()] as const;

let app: SpecApp<typeof plugins>;
let old: Awaited<ReturnType<typeof startBetterAuth>>;
let jars: Readonly<Record<'ada' | 'bob' | 'cy', CookieJar>>;
beforeAll(async () => {
  app = await startApp({ plugins });
  old = await startBetterAuth(app.database, { plugins: [organization()] });
  jars = { ada: new CookieJar(), bob: new CookieJar(), cy: new CookieJar() };
  for (const [name, jar] of Object.entries(jars))
    await post(jar, '/sign-up/email', {
      email: `${name}@example.com`,
      password: 'a difference engine',
      name,
    });
});
beforeEach(async () => {
  for (const table of ['organizations', 'users', 'imported_users'])
    await rows(app.database, `DELETE FROM ${table}`);
  await rows(app.database, `DELETE FROM ${quoted('organization')}`);
});
afterAll(async () => {
  await old.stop();
  await app.stop();
});

const quoted = (name: string) => (dialect === 'mysql' ? `\`${name}\`` : `"${name}"`);

async function post(jar: CookieJar, path: string, body: object) {
  const headers = { origin: old.origin };
  const seen = await jar.visit(`${old.origin}/api/auth${path}`, { method: 'POST', body, headers });
  expect([path, seen.status]).toEqual([path, 200]);
  return seen.body as unknown as { readonly id: string };
}

/** Creates an organization there, whose owner is Ada. */
const found = (name: string, slug: string) => post(jars.ada, '/organization/create', { name, slug });

async function addMember(organizationId: string, email: string, role: string | string[]): Promise<void> {
  const [user] = await rows<{ id: string }>(
    app.database,
    `SELECT id FROM ${quoted('user')} WHERE email = :email`,
    { email },
  );
  const body = { userId: user?.id ?? '', organizationId, role: role as 'member' };
  await (old.auth.api as never as AddsMembers).addMember({ body });
}

interface AddsMembers {
  addMember(input: { readonly body: object }): Promise<unknown>;
}

const role: BetterAuthOrganizationsOptions['role'] = (names) =>
  ['owner', 'admin'].find((name) => names.includes(name)) ?? 'member';

async function moveUsers(): Promise<void> {
  const source = fromBetterAuth(app.database.sequelize);
  const { skipped } = await app.auth.movingIn.importUsers(withoutHashes(source), { source: source.source });
  expect(skipped).toEqual([]);
}

/** The passwords here are not hashed, so that the spec is quick. */
async function* withoutHashes(source: ReturnType<typeof fromBetterAuth>) {
  for await (const { passwordHash: _, ...row } of source) yield row;
}

const move = (sequelize = app.database.sequelize) =>
  app.auth.movingIn.importOrganizations(organizationsFromBetterAuth(sequelize, { role }));
const emailsOf = async (slug: string) => {
  const { id = '' } = (await app.auth.organizations.get(slug)) ?? {};
  const { members } = await app.auth.organizations.members(id);
  return members.map(({ user, role }) => `${user.email} ${role}`).sort();
};

test('organizations of better-auth move in with their members and roles', async () => {
  const acme = await found('Acme, Inc.', 'acme');
  await addMember(acme.id, 'bob@example.com', ['member', 'admin']);
  await addMember(acme.id, 'cy@example.com', 'member');
  const bolt = await found('Bolt', 'bolt');
  await post(jars.ada, '/organization/invite-member', {
    ...{ organizationId: bolt.id, email: 'dan@example.com', role: 'member' },
  });
  await moveUsers();
  const report = await move();
  expect(report.skipped).toEqual([]);
  expect(report.organizations.map(({ ref }) => ref).sort()).toEqual([acme.id, bolt.id].sort());
  expect(await emailsOf('acme')).toEqual([
    ...['ada@example.com owner', 'bob@example.com admin', 'cy@example.com member'],
  ]);
  expect(await emailsOf('bolt')).toEqual(['ada@example.com owner']);
  const moved = await app.auth.organizations.get('acme');
  expect(moved?.name).toBe('Acme, Inc.');
  const [{ createdAt }] = (await rows(
    app.database,
    `SELECT ${quoted('createdAt')} FROM ${quoted('organization')} WHERE id = :id`,
    { id: acme.id },
  )) as [{ createdAt: string | Date }];
  expect(moved?.createdAt).toEqual(new Date(createdAt));
  expect(await rows(app.database, 'SELECT id FROM organization_invitations')).toEqual([]);
  expect(await move()).toEqual(report);
});

test('one whose member has no account here is skipped, and moves in once the member has', async () => {
  const acme = await found('Acme', 'acme');
  await found('Bolt', 'bolt');
  await addMember(acme.id, 'bob@example.com', 'member');
  const everyone = fromBetterAuth(app.database.sequelize);
  async function* withoutBob() {
    for await (const row of withoutHashes(everyone)) if (row.email !== 'bob@example.com') yield row;
  }
  await app.auth.movingIn.importUsers(withoutBob(), { source: 'better-auth' });
  const { organizations, skipped } = await move();
  expect([organizations.length, skipped.map(({ ref, code }) => [ref, code])]).toEqual([
    1,
    [[acme.id, 'unknown_user']],
  ]);
  await moveUsers();
  expect((await move()).organizations).toHaveLength(2);
  expect(await emailsOf('acme')).toEqual(['ada@example.com owner', 'bob@example.com member']);
});

test('they are read in batches, whose number of statements does not depend on the members', async () => {
  for (let index = 0; index < 3; index++) {
    const { id } = await found(`Acme ${index}`, `acme-${index}`);
    for (const name of ['bob', 'cy']) await addMember(id, `${name}@example.com`, 'member');
  }
  const [{ columns = '' } = {}] = await rows<{ columns: string }>(
    app.database,
    `SELECT '${['id', 'name', 'slug', 'createdAt'].map(quoted).join(', ')}' AS columns`,
  );
  const more = Array.from(
    { length: 250 },
    (_, index) => `('more-${String(index).padStart(3, '0')}', 'More', 'more-${index}', :at)`,
  );
  const at = dialect === 'sqlite' ? new Date().toISOString() : new Date();
  await rows(app.database, `INSERT INTO ${quoted('organization')} (${columns}) VALUES ${more.join(', ')}`, {
    at,
  });
  const { sequelize, statements } = loggingSequelize(app.database);
  const read: ImportOrganizationRow[] = [];
  for await (const row of organizationsFromBetterAuth(sequelize, { role })) read.push(row);
  await sequelize.close();
  expect(read).toHaveLength(253);
  expect(read.filter(({ members }) => members.length === 3)).toHaveLength(3);
  const selects = (table: string) =>
    statements.filter((sql) => new RegExp(`FROM [\`"]${table}[\`"]`).test(sql)).length;
  expect([selects('organization'), selects('member')]).toEqual([3, 3]);
});

describe('mistakes of the call', () => {
  const read = async (options: unknown, sequelize: unknown = app.database.sequelize) => {
    for await (const _ of organizationsFromBetterAuth(sequelize as never, options as never));
  };
  test.each<[unknown, RegExp]>([
    [undefined, /organizationsFromBetterAuth: role must be a function/],
    [{ role: 'member' }, /organizationsFromBetterAuth: role must be a function/],
    [{ role, tables: { member: 'people' } }, /organizationsFromBetterAuth: there is no table people/],
    [{ role, columns: { member: { role: 'rank' } } }, /member has no column rank/],
  ])('%j', async (options, message) => {
    await expect(read(options)).rejects.toThrow(message);
  });
  test('no Sequelize instance', async () => {
    await expect(read({ role }, {})).rejects.toThrow(/organizationsFromBetterAuth: the first argument/);
  });
});
