import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { AuthError, createAuth, organizations } from '../../lib/index.js';
import { type ImportOrganizationRow, movingIn } from '../../lib/moving-in.js';
import { password, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { person } from '../support/organizations.js';

const plugins = [password(), organizations({ maxMembers: 3 }), movingIn()] as const;
const SINCE = new Date('2021-03-04T05:06:07.890Z');

let app: SpecApp<typeof plugins>;
let hook: ((name: string, ownerId: string) => unknown) | undefined;
const events: string[] = [];
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: {
      email: { send: () => void events.push('mail') },
      accountDeletion: { graceDays: 30 },
      hooks: { createOrganization: ({ name }, { ownerId }) => hook?.(name, ownerId) },
    },
  });
  app.auth.on('organization.created', () => void events.push('event'));
  app.auth.on('organization.member_added', () => void events.push('event'));
});
beforeEach(async () => {
  hook = undefined;
  events.length = 0;
  for (const table of ['organizations', 'users', 'imported_users'])
    await rows(app.database, `DELETE FROM ${table}`);
});
afterAll(() => app.stop());

/** Imports users whose refs are 1 and so on. @returns their ids */
async function importPeople(...names: readonly string[]): Promise<readonly string[]> {
  const given = names.map((name, index) => ({ ref: index + 1, email: `${name}@example.com` }));
  const { users } = await app.auth.movingIn.importUsers(given);
  return users.map(({ id }) => id);
}

const importAll = (given: unknown, options = {}) =>
  app.auth.movingIn.importOrganizations(given as ImportOrganizationRow[], options);
const owner = { userRef: 1, role: 'owner' };
const acme = { ref: 'a', name: 'Acme', slug: 'acme', members: [owner] };
const membersOf = async (id: string) =>
  (await app.auth.organizations.members(id)).members.map(({ user, role }) => [user.id, role]).sort();
const stored = async () => {
  const counts: number[] = [];
  for (const table of ['organizations', 'organization_members'])
    counts.push((await rows(app.database, `SELECT id FROM ${table}`)).length);
  return counts;
};

test('an organization moves in with its members, and nobody hears of it', async () => {
  const [ada = '', bob = ''] = await importPeople('ada', 'bob');
  const report = await importAll([
    { ...acme, createdAt: SINCE, members: [owner, { userRef: '2', role: 'member' }] },
  ]);
  expect(report).toEqual({ organizations: [{ ref: 'a', id: expect.any(String) }], skipped: [] });
  const id = report.organizations[0]?.id ?? '';
  expect(await app.auth.organizations.get('acme')).toMatchObject({ id, name: 'Acme', createdAt: SINCE });
  expect(await membersOf(id)).toEqual(
    [
      [ada, 'owner'],
      [bob, 'member'],
    ].sort(),
  );
  await app.auth.outbox.deliver();
  expect(events).toEqual([]);
});

describe('a rerun', () => {
  test('finds every organization, and changes nothing, whatever became of it', async () => {
    const [ada = '', bob = ''] = await importPeople('ada', 'bob');
    const given = [
      acme,
      { ...acme, ref: 'b', slug: 'bolt', members: [owner, { userRef: 2, role: 'admin' }] },
    ];
    const report = await importAll(given);
    const [one, two] = report.organizations.map(({ id }) => id) as [string, string];
    await app.auth.organizations.update(one, { slug: 'acme-corp' });
    await app.auth.organizations.setRole(two, bob, 'member');
    expect(await importAll(given)).toEqual(report);
    expect(await stored()).toEqual([2, 3]);
    expect(await app.auth.organizations.get(one)).toMatchObject({ slug: 'acme-corp' });
    expect(await membersOf(two)).toEqual(
      [
        [ada, 'owner'],
        [bob, 'member'],
      ].sort(),
    );
    // A member whose account is gone, and a row that has become invalid.
    await app.auth.users.delete(bob, { atOnce: true });
    expect(await importAll([given[0], { ...given[1], slug: 'No', members: [] }])).toEqual(report);
  });

  test('does not create again what was deleted here', async () => {
    await importPeople('ada');
    const { organizations } = await importAll([acme]);
    await app.auth.organizations.delete(organizations[0]?.id ?? '');
    const detail = 'it was deleted here, and is not re-created';
    const skipped = [{ ref: 'a', code: 'organization_deleted', detail }];
    expect(await importAll([acme])).toEqual({ organizations: [], skipped });
    expect(await stored()).toEqual([0, 0]);
    // Another system can have the same ref, and so can a user.
    await app.auth.movingIn.importUsers([{ ref: 'a', email: 'a@example.com' }]);
    await app.auth.movingIn.importUsers([{ ref: 1, email: 'other@example.com' }], { source: 'other' });
    expect((await importAll([acme], { source: 'other' })).organizations).toHaveLength(1);
  });

  test('resumes an import that broke off', async () => {
    await importPeople('ada');
    const given = ['a', 'b', 'c', 'd'].map((ref) => ({ ...acme, ref, slug: `slug-${ref}` }));
    hook = (_, ownerId) => {
      if (hook && ++calls === 3) throw new Error(`the process of ${ownerId} ends`);
    };
    let calls = 0;
    await expect(importAll(given)).rejects.toThrow('the process of');
    expect(await stored()).toEqual([2, 2]);
    const { organizations, skipped } = await importAll(given);
    expect([organizations.map(({ ref }) => ref), skipped]).toEqual([['a', 'b', 'c', 'd'], []]);
    expect(await stored()).toEqual([4, 4]);
    // The hook has seen each of them once, and the one that was rolled back twice.
    expect(calls).toBe(5);
  });
});

describe('a broken row is reported, and the others are imported', () => {
  test.each<[object, string, string]>([
    [{ ref: undefined }, 'missing_ref', 'ref is missing: it identifies the organization in a rerun'],
    [{ ref: true }, 'invalid_ref', 'ref must be a string or a number'],
    [{ colour: 'red' }, 'unknown_key', 'the row has an unknown key, colour: check its spelling'],
    [{ name: ' ' }, 'invalid_name', 'name must be 1 to 100 visible characters long'],
    [{ name: undefined }, 'invalid_name', 'name must be 1 to 100 visible characters long'],
    [{ slug: 'Acme_1' }, 'invalid_slug', 'slug must have 2 to 63'],
    [{ slug: 7 }, 'invalid_slug', 'slug must have 2 to 63'],
    [{ slug: 'taken' }, 'slug_taken', 'slug is taken by another organization'],
    [{ createdAt: 'yesterday' }, 'invalid_created_at', 'createdAt must be a time between 1970 and now'],
    [{ members: undefined }, 'invalid_members', 'members must be a list'],
    [{ members: [null] }, 'invalid_members', 'members[0] must be an object'],
    [{ members: [owner, { role: 'member' }] }, 'invalid_members', 'members[1].userRef is missing'],
    [{ members: [{ ...owner, id: 1 }] }, 'unknown_key', 'members[0] has an unknown key, id'],
    [
      { members: [owner, { userRef: 2, role: 'chief' }] },
      'unknown_role',
      'members[1].role must be one of owner, admin, member',
    ],
    [
      { members: [owner, { userRef: 9, role: 'member' }] },
      'unknown_user',
      'members[1].userRef is not a user that was imported',
    ],
    [
      { members: [owner, { userRef: 4, role: 'member' }] },
      'unknown_user',
      'members[1].userRef is a user whose account was deleted here',
    ],
    [
      { members: [owner, { userRef: '1', role: 'admin' }] },
      'already_member',
      'members[1].userRef is the user',
    ],
    [{ members: [] }, 'missing_owner', 'members has no owner'],
    [{ members: [{ userRef: 2, role: 'admin' }] }, 'missing_owner', 'members has no owner'],
    [
      {
        members: [
          { userRef: 3, role: 'owner' },
          { userRef: 2, role: 'member' },
        ],
      },
      'missing_owner',
      'members has no owner whose account is active',
    ],
    [
      { members: [owner, ...[2, 3, 5].map((userRef) => ({ userRef, role: 'member' }))] },
      'organization_full',
      'members has more than 3 members',
    ],
  ])('%j: %s', async (broken, code, detail) => {
    const [ada = '', , closed = '', gone = ''] = await importPeople('ada', 'bob', 'cy', 'dan', 'eve');
    await app.auth.organizations.create({ name: 'Taken', slug: 'taken', ownerId: ada });
    await app.auth.users.delete(closed);
    await app.auth.users.delete(gone, { atOnce: true });
    const before = await stored();
    const given = { ...acme, ref: 'b', slug: 'bolt', ...broken };
    const { organizations, skipped } = await importAll([given, acme]);
    expect(organizations.map(({ ref }) => ref)).toEqual(['a']);
    expect(skipped).toEqual([
      { ref: code.endsWith('_ref') ? 0 : 'b', code, detail: expect.stringContaining(detail) },
    ]);
    expect(await stored()).toEqual(before.map((count) => count + 1));
    // Once it is mended, it is imported too.
    const mended = { ...given, ...acme, ref: 'b', slug: 'bolt', colour: undefined, createdAt: SINCE };
    expect((await importAll([mended, acme])).organizations).toHaveLength(2);
  });

  test('something that is no row, and two rows with the same ref or slug', async () => {
    await importPeople('ada');
    for (const options of [{ dryRun: true }, {}]) {
      const { organizations, skipped } = await importAll(
        [null, acme, acme, { ...acme, ref: 'b' }, { ...acme, ref: 'c', slug: 'cog' }],
        options,
      );
      expect(organizations.map(({ ref }) => ref)).toEqual(['a', 'c']);
      expect(skipped.map(({ ref, code }) => `${ref} ${code}`)).toEqual([
        ...['0 invalid_row', 'a duplicate_row', 'b slug_taken'],
      ]);
      expect(await stored()).toEqual(options.dryRun ? [0, 0] : [2, 2]);
    }
  });

  test('an owner whose account is closed is a member if there is another owner', async () => {
    const [, bob = ''] = await importPeople('ada', 'bob');
    await app.auth.users.delete(bob);
    const owners: string[] = [];
    hook = (_, ownerId) => owners.push(ownerId);
    const { organizations } = await importAll([{ ...acme, members: [{ userRef: 2, role: 'owner' }, owner] }]);
    expect(await membersOf(organizations[0]?.id ?? '')).toHaveLength(2);
    expect(owners).not.toContain(bob);
  });

  test('one that the hook refuses', async () => {
    await importPeople('ada');
    hook = (name) => {
      if (name === 'Bolt') throw new AuthError('organization_full');
    };
    const { organizations, skipped } = await importAll([
      { ...acme, ref: 'b', name: 'Bolt', slug: 'bolt' },
      acme,
    ]);
    expect([organizations.length, skipped[0]?.code]).toEqual([1, 'organization_full']);
    hook = undefined;
    expect((await importAll([{ ...acme, ref: 'b', name: 'Bolt', slug: 'bolt' }])).skipped).toEqual([]);
  });
});

test('two imports at the same time import each organization once', async () => {
  await importPeople('ada');
  const given = Array.from({ length: 10 }, (_, ref) => ({ ...acme, ref, slug: `slug-${ref}` }));
  const [one, two] = await Promise.all([importAll(given), importAll(given)]);
  expect(one).toEqual(two);
  expect(one.skipped).toEqual([]);
  expect(await stored()).toEqual([10, 10]);
});

test('rows can come one by one, and the app is told how far the import is', async () => {
  await importPeople('ada');
  async function* stream() {
    for (let ref = 0; ref < 205; ref++) yield { ...acme, ref, slug: ref === 7 ? '' : `slug-${ref}` };
  }
  const progress: object[] = [];
  await importAll(Object.assign(stream(), { source: 'rows' }), {
    onProgress: (so: object) => progress.push(so),
  });
  expect(progress.at(-1)).toEqual({ rows: 205, imported: 204, skipped: 1 });
  expect(progress.length).toBeGreaterThan(1);
});

test('in a transaction of the app, everything is rolled back with it', async () => {
  await importPeople('ada');
  const { sequelize } = app.auth.models.User as never as { sequelize: typeof app.database.sequelize };
  const type = 'IMMEDIATE' as never;
  const transaction = await sequelize.transaction(sequelize.getDialect() === 'sqlite' ? { type } : {});
  const report = await importAll([{ ...acme, slug: 'X' }, acme, { ...acme, ref: 'b' }], { transaction });
  expect(report.skipped.map(({ code }) => code)).toEqual(['invalid_slug', 'slug_taken']);
  await transaction.rollback();
  expect(await stored()).toEqual([0, 0]);
  expect((await importAll([acme])).skipped).toEqual([]);
});

test('mistakes of the call', async () => {
  await expect(importAll('rows')).rejects.toThrow(/importOrganizations: rows must be a list/);
  await expect(importAll([], { update: true })).rejects.toThrow(/update/);
  const auth = createAuth({
    database: app.database.url,
    secret: 'a secret for specs, of 32 bytes and more',
    plugins: [password(), movingIn()],
  });
  await expect(auth.movingIn.importOrganizations([])).rejects.toThrow(
    new TypeError(
      'latchkey: auth.movingIn.importOrganizations requires organizations: add organizations() to plugins',
    ),
  );
  await auth.close();
});

test('a member of an imported organization uses its routes', async () => {
  const ada = await person(app, 'ada');
  await importPeople('ada');
  const { skipped } = await importAll([acme]);
  expect(skipped).toEqual([expect.objectContaining({ code: 'unknown_user' })]);
  await app.auth.users.delete(ada.id, { atOnce: true });
  const [id = ''] = await importPeople('ada');
  await importAll([acme]);
  const headers = { cookie: `latchkey=${(await app.auth.createSession(id)).token}` };
  const listed = await app.http.get('/auth/organizations').set(headers);
  expect(listed.body.organizations).toMatchObject([{ slug: 'acme', role: 'owner' }]);
});
