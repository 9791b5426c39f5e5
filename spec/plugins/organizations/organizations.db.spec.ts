import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Transaction } from 'sequelize';
import { organizations } from '../../../lib/index.js';
import { password, type SpecApp, startApp } from '../../support/app.js';
import { dialect, rows } from '../../support/database.js';
import { person } from '../../support/organizations.js';
import { loggingSequelize } from '../../support/statements.js';

const plugins = [password(), organizations()] as const;

let app: SpecApp<typeof plugins>;
let statements: string[];
let hook: ((transaction: Transaction) => Promise<unknown>) | undefined;
beforeAll(async () => {
  app = await startApp({
    plugins,
    async config(given) {
      const { sequelize, ...logged } = loggingSequelize(given);
      statements = logged.statements;
      const createOrganization = async (_: unknown, { transaction }: { transaction: Transaction }) =>
        hook?.(transaction);
      return { database: sequelize, hooks: { createOrganization } };
    },
  });
});
beforeEach(async () => {
  hook = undefined;
  await rows(app.database, 'DELETE FROM organizations');
  await rows(app.database, 'DELETE FROM users');
});
afterAll(() => app.stop());

test('a user creates an organization, and is its owner', async () => {
  const ada = await person(app, 'ada');
  const created = await ada.send('post', '/organizations', { name: 'Acme', slug: 'acme' });
  expect([created.status, created.body]).toEqual([
    201,
    {
      organization: { id: expect.any(String), name: 'Acme', slug: 'acme', created_at: expect.any(String) },
      membership: { role: 'owner', created_at: expect.any(String) },
    },
  ]);
  const listed = await ada.send('get', '/organizations');
  expect(listed.body).toEqual({
    organizations: [{ ...created.body.organization, role: 'owner' }],
    next_cursor: null,
  });
  const one = await ada.send('get', `/organizations/${created.body.organization.id}`);
  expect(one.body).toEqual(created.body);
});

test('the membership is read together with the session', async () => {
  const ada = await person(app, 'ada');
  const { id } = await app.auth.organizations.create({ name: 'Acme', slug: 'acme', ownerId: ada.id });
  const counts: Record<string, number> = {};
  for (const path of [`/organizations/${id}`, '/organizations/acme', `/organizations/${id}/members`]) {
    await ada.send('get', path);
    statements.length = 0;
    await ada.send('get', path);
    counts[path] = statements.filter((line) => line.startsWith('Executed')).length;
  }
  expect(Object.values(counts)).toEqual([1, 1, 2]);
});

describe('someone who is not a member', () => {
  test.each(['get', 'patch', 'delete'] as const)('gets 404 from %s, as for an unknown id', async (method) => {
    const [ada, eve] = [await person(app, 'ada'), await person(app, 'eve')];
    const { id } = await app.auth.organizations.create({ name: 'Acme', slug: 'acme', ownerId: ada.id });
    const answers = [];
    for (const one of [id, 'acme', 'none', '00000000-0000-7000-8000-000000000000'])
      answers.push(
        (await eve.send(method, `/organizations/${one}`, method === 'patch' ? {} : undefined)).body,
      );
    expect(answers).toEqual(Array(4).fill(answers[0]));
    expect(answers[0]).toMatchObject({ status: 404, code: 'organization_not_found' });
  });
});

test('rows of the app that refer to a membership are deleted with it', async () => {
  const [ada, bob] = [await person(app, 'ada'), await person(app, 'bob')];
  const { id } = await app.auth.organizations.create({ name: 'Acme', slug: 'acme', ownerId: ada.id });
  await app.auth.organizations.addMember(id, bob.id, 'member');
  const ID = {
    sqlite: 'TEXT',
    mysql: 'CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
    postgres: 'UUID',
  };
  await rows(
    app.database,
    `CREATE TABLE team_seats (user_id ${ID[dialect]}, organization_id ${ID[dialect]},
       FOREIGN KEY (user_id, organization_id) REFERENCES organization_members (user_id, organization_id) ON DELETE CASCADE)`,
  );
  try {
    for (const userId of [ada.id, bob.id])
      await rows(app.database, 'INSERT INTO team_seats VALUES (:userId, :id)', { userId, id });
    await app.auth.organizations.removeMember(id, bob.id);
    expect(await rows(app.database, 'SELECT user_id FROM team_seats')).toEqual([{ user_id: ada.id }]);
  } finally {
    await rows(app.database, 'DROP TABLE team_seats');
  }
});

test('the last owner can neither be demoted nor leave', async () => {
  const [ada, bob] = [await person(app, 'ada'), await person(app, 'bob')];
  const { id } = await app.auth.organizations.create({ name: 'Acme', slug: 'acme', ownerId: ada.id });
  await app.auth.organizations.addMember(id, bob.id, 'member');
  const demoted = await ada.send('patch', `/organizations/${id}/members/${ada.id}`, { role: 'member' });
  const left = await ada.send('delete', `/organizations/${id}/members/${ada.id}`);
  expect([demoted.body.code, left.body.code]).toEqual(['last_owner', 'last_owner']);
  const deleted = await ada.send('delete', '/me');
  expect(deleted.body.code).toBe('last_owner');
  const raised = await ada.send('patch', `/organizations/${id}/members/${bob.id}`, { role: 'owner' });
  expect(raised.body).toEqual({
    member: { user: { id: bob.id, email: 'bob@example.com' }, role: 'owner', created_at: expect.any(String) },
  });
  expect((await ada.send('delete', `/organizations/${id}/members/${ada.id}`)).status).toBe(204);
});

test('only the slug of another organization is taken, and not one in a table of the app', async () => {
  const ada = await person(app, 'ada');
  await rows(app.database, 'CREATE TABLE app_sites (slug VARCHAR(50) PRIMARY KEY)');
  const addSite = (transaction?: Transaction) =>
    app.auth.models.User.sequelize?.query("INSERT INTO app_sites VALUES ('slug')", {
      ...(transaction && { transaction }),
    }) ?? Promise.reject(new Error('no pool'));
  await addSite();
  hook = addSite;
  const create = (slug: string) => app.auth.organizations.create({ name: 'Acme', slug, ownerId: ada.id });
  await expect(create('acme')).rejects.toMatchObject({ name: 'SequelizeUniqueConstraintError' });
  hook = undefined;
  await create('acme');
  await expect(create('acme')).rejects.toMatchObject({ code: 'slug_taken' });
  const { id } = await create('bcme');
  const renamed = app.auth.organizations.update(id, { slug: 'acme' });
  await expect(renamed).rejects.toMatchObject({ code: 'slug_taken' });
  await rows(app.database, 'DROP TABLE app_sites');
});
