import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Sequelize, Transaction } from 'sequelize';
import { createAuth, organizations } from '../../../lib/index.js';
import { memoryLogger, password, SECRET } from '../../support/app.js';
import { connectAsApp } from '../../support/app-database.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../../support/database.js';

let database: SpecDatabase;
let own: Sequelize;
let auth: ReturnType<typeof open>;

function open() {
  return createAuth({
    database: own,
    secret: SECRET,
    baseUrl: 'http://localhost',
    rateLimit: false,
    logger: memoryLogger(),
    email: { send: () => undefined },
    plugins: [password(), organizations({ maxMembers: 2 })],
  });
}

beforeAll(async () => {
  database = await createDatabase();
  own = connectAsApp(database);
  auth = open();
  await auth.migrate();
});
beforeEach(async () => {
  await rows(database, 'DELETE FROM organizations');
  await rows(database, 'DELETE FROM users');
});
afterAll(async () => {
  await auth.close();
  await own.close();
  await database.drop();
});

async function scene() {
  const [ada, bob, eve] = await Promise.all(
    ['ada', 'bob', 'eve'].map(async (name) => auth.users.create({ email: `${name}@example.com` })),
  );
  if (!ada || !bob || !eve) throw new Error('no users');
  const { id } = await auth.organizations.create({ name: 'Acme', slug: 'acme', ownerId: ada.id });
  return { id, ada: ada.id, bob: bob.id, eve: eve.id };
}

/** Runs `work` in a transaction of the app that sees the tables as they were before `meanwhile`. */
function behind(meanwhile: () => Promise<unknown>, work: (transaction: Transaction) => Promise<unknown>) {
  const isolationLevel = Transaction.ISOLATION_LEVELS.REPEATABLE_READ;
  return own.transaction({ isolationLevel }, async (transaction) => {
    await own.query('SELECT * FROM organization_members', { transaction });
    await meanwhile();
    return work(transaction);
  });
}

test('a transaction that has removed one of two owners cannot remove the other', async () => {
  const { id, ada, bob } = await scene();
  await auth.organizations.addMember(id, bob, 'owner');
  await own.transaction(async (transaction) => {
    await auth.organizations.removeMember(id, ada, { transaction });
    const last = auth.organizations.removeMember(id, bob, { transaction });
    await expect(last).rejects.toMatchObject({ code: 'last_owner' });
  });
  expect((await auth.organizations.members(id)).members).toMatchObject([{ user: { id: bob } }]);
});

// On SQLite, a transaction locks the whole database.
(dialect === 'sqlite' ? test.skip : test)(
  'the deletion of an account locks organizations in the order of their ids',
  async () => {
    const { id, ada, bob, eve } = await scene();
    const { id: later } = await auth.organizations.create({ name: 'Bcme', slug: 'bcme', ownerId: bob });
    await auth.organizations.addMember(later, eve, 'owner');
    await auth.organizations.addMember(id, bob, 'admin');
    await auth.organizations.invite(id, { email: 'x@example.com', role: 'member', invitedBy: bob });
    expect([id, later].sort()).toEqual([id, later]);
    const locked: string[] = [];
    const { options } = own as unknown as { options: { logging: false | ((sql: string) => void) } };
    options.logging = (sql) => {
      const [, one] = /FROM .?organizations.? .*o.{0,3}\.id.? = '([^']+)'.*FOR UPDATE/s.exec(sql) ?? [];
      if (one) locked.push(one);
    };
    await own.transaction((transaction) => auth.users.delete(bob, { transaction }));
    options.logging = false;
    expect([...new Set(locked)]).toEqual([id, later]);
    expect((await auth.organizations.members(id)).members).toMatchObject([{ user: { id: ada } }]);
  },
);

// On SQLite, no other connection can write while the transaction is open. On PostgreSQL, the app has asked for the state
// of the beginning, and the database refuses only changes of rows that others have changed.
const onMysql = dialect === 'mysql' ? test : test.skip;

onMysql('an account is not deleted with an organization that has got another member meanwhile', async () => {
  const { id, ada, bob } = await scene();
  const work = behind(
    () => auth.organizations.addMember(id, bob, 'member'),
    (transaction) => auth.users.delete(ada, { transaction }),
  );
  await expect(work).rejects.toMatchObject({ code: 'last_owner' });
  expect((await auth.organizations.members(id)).members).toHaveLength(2);
});

onMysql('members are counted as they are now', async () => {
  const { id, bob, eve } = await scene();
  const work = behind(
    () => auth.organizations.addMember(id, bob, 'member'),
    (transaction) => auth.organizations.addMember(id, eve, 'member', { transaction }),
  );
  await expect(work).rejects.toMatchObject({ code: 'organization_full' });
});

onMysql('an address that has become a member meanwhile is not invited', async () => {
  const { id, bob } = await scene();
  const work = behind(
    () => auth.organizations.addMember(id, bob, 'member'),
    (transaction) => auth.organizations.invite(id, { email: 'bob@example.com', role: 'member', transaction }),
  );
  await expect(work).rejects.toMatchObject({ code: 'already_member' });
});

onMysql('an invitation that its member has created meanwhile is revoked with the membership', async () => {
  const { id, bob } = await scene();
  await auth.organizations.addMember(id, bob, 'admin');
  await behind(
    () => auth.organizations.invite(id, { email: 'x@example.com', role: 'member', invitedBy: bob }),
    (transaction) => auth.organizations.removeMember(id, bob, { transaction }),
  );
  expect((await auth.organizations.invitations(id)).invitations).toEqual([]);
});

onMysql('an invitation that was created meanwhile can be replaced and revoked', async () => {
  const { id } = await scene();
  const invite = (role: string, transaction: Transaction | null = null) =>
    auth.organizations.invite(id, { email: 'x@example.com', role, transaction });
  await behind(
    () => invite('member'),
    async (transaction) => {
      const { id: invitationId } = await invite('admin', transaction);
      await auth.organizations.revokeInvitation(id, invitationId, { transaction });
    },
  );
  expect((await auth.organizations.invitations(id)).invitations).toEqual([]);
  await behind(
    () => invite('member'),
    async (transaction) => {
      const [found] = (await auth.organizations.invitations(id)).invitations;
      await auth.organizations.revokeInvitation(id, found?.id ?? '', { transaction });
    },
  );
  expect((await auth.organizations.invitations(id)).invitations).toEqual([]);
});
