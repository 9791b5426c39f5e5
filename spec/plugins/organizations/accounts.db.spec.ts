import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { admin, apiKeys, emailSignIn, organizations, suspension } from '../../../lib/index.js';
import { password } from '../../support/app.js';
import { advance } from '../../support/clock.js';
import { rows } from '../../support/database.js';
import { type MailApp, startMailApp } from '../../support/mail-app.js';
import { type Person, person } from '../../support/organizations.js';
import { expectProblem } from '../../support/problem.js';

const plugins = [
  password(),
  apiKeys(),
  admin({ adminEmails: ['root@example.com'] }),
  suspension(),
  emailSignIn({ signUp: true }),
  organizations({ signUp: true }),
] as const;
const DAY_S = 24 * 60 * 60;
const PASSWORD = 'a bird in a teapot';

/** What the hooks of the app have been told. */
const told: unknown[] = [];
let app: MailApp<typeof plugins>;
beforeAll(async () => {
  app = await startMailApp({
    plugins,
    config: {
      signUp: 'closed',
      accountDeletion: { graceDays: 7 },
      hooks: {
        createOrganization: ({ slug }, { ownerId }) => void told.push(['created', slug, ownerId]),
        deleteOrganization: ({ slug }) => void told.push(['deleted', slug]),
        beforeCreateUser: ({ via }) => void told.push(['user', via]),
      },
    },
  });
});
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM organizations');
  await rows(app.database, 'DELETE FROM users');
  told.length = 0;
});
afterAll(() => app.stop());

const create = (owner: Person, slug = 'acme') =>
  app.auth.organizations.create({ name: 'Acme', slug, ownerId: owner.id });
const invite = async (id: string, email: string, invitedBy: string | null = null) =>
  app.mailOf(
    () => app.auth.organizations.invite(id, { email, role: 'member', invitedBy }),
    'organization-invitation',
  );
const exists = async (id: string) => (await app.auth.organizations.get(id)) !== null;

describe('an owner who closes the account', () => {
  test('cannot, if no active owner would be left for the other members', async () => {
    const [ada, bob] = [await person(app, 'ada'), await person(app, 'bob')];
    const { id } = await create(ada);
    await app.auth.organizations.addMember(id, bob.id, 'admin');
    expectProblem(await ada.send('delete', '/me'), 409, 'last_owner');
    await expect(app.auth.users.delete(ada.id)).rejects.toMatchObject({ code: 'last_owner' });
    await app.auth.organizations.setRole(id, bob.id, 'owner');
    expect((await ada.send('delete', '/me')).status).toBe(204);
    // A closed account is no active owner.
    expectProblem(await bob.send('delete', `/organizations/${id}/members/${bob.id}`), 409, 'last_owner');
    expectProblem(await bob.send('delete', '/me'), 409, 'last_owner');
    // It stays a member until the deletion is permanent.
    expect((await app.auth.organizations.members(id)).members).toHaveLength(2);
    advance(app.auth, 8 * DAY_S);
    await app.auth.prune();
    expect((await app.auth.organizations.members(id)).members).toHaveLength(1);
  });

  test('as the only member, revokes its invitations, and deletes it with the account', async () => {
    const ada = await person(app, 'ada');
    const { id } = await create(ada);
    const { token } = await invite(id, 'grace@example.com');
    expect((await ada.send('delete', '/me')).status).toBe(204);
    expectProblem(await app.http.post('/auth/invitations/lookup').send({ token }), 400, 'invalid_token');
    expect(await rows(app.database, 'SELECT id FROM organization_invitations')).toEqual([]);
    expect(await exists(id)).toBe(true);
    await app.auth.users.restore(ada.id);
    expect((await app.auth.organizations.ofUser(ada.id)).organizations).toHaveLength(1);
    const { token: session } = await app.auth.createSession(ada.id);
    await app.http.delete('/auth/me').set('cookie', `latchkey=${session}`).expect(204);
    told.length = 0;
    advance(app.auth, 8 * DAY_S);
    await app.auth.prune();
    expect(await exists(id)).toBe(false);
    expect(told).toContainEqual(['deleted', 'acme']);
  });
});

test('a suspended owner stays an owner, but nobody can accept what the owner has sent', async () => {
  const [ada, bob] = [await person(app, 'ada'), await person(app, 'bob')];
  const { id } = await create(ada);
  await app.auth.organizations.addMember(id, bob.id, 'owner');
  const { token } = await invite(id, 'grace@example.com', ada.id);
  await app.auth.suspension.suspend(ada.id);
  expectProblem(await app.http.post('/auth/invitations/lookup').send({ token }), 400, 'invalid_token');
  await app.auth.suspension.reinstate(ada.id);
  expect((await app.http.post('/auth/invitations/lookup').send({ token })).status).toBe(200);
});

test('a first proof of the mailbox revokes the invitations of an account, and no membership', async () => {
  const { id: ownerId } = await app.auth.users.create({ email: 'ada@example.com', password: PASSWORD });
  const { id } = await app.auth.organizations.create({ name: 'Acme', slug: 'acme', ownerId });
  const { token } = await invite(id, 'grace@example.com', ownerId);
  const browser = app.browser();
  const mail = await app.mailOf(() => browser.post('/auth/signin/email').send({ email: 'ada@example.com' }));
  await browser.post('/auth/signin/email/confirm').send({ code: mail.code }).expect(200);
  expectProblem(await app.http.post('/auth/invitations/lookup').send({ token }), 400, 'invalid_token');
  expect((await app.auth.organizations.members(id)).members).toHaveLength(1);
});

test('an undo revokes the invitations of an account', async () => {
  const ada = await person(app, 'ada');
  const { id } = await create(ada);
  await app.auth.users.setPassword(ada.id, PASSWORD);
  const browser = app.browser();
  await browser
    .post('/auth/signin/credential')
    .send({ credential: ada.email, password: PASSWORD })
    .expect(200);
  const { token: undo } = await app.mailOf(
    () =>
      browser
        .post('/auth/passwords/change')
        .send({ current_password: PASSWORD, new_password: 'a difference engine' }),
    'password-changed',
  );
  const { token } = await invite(id, 'grace@example.com', ada.id);
  await browser.post('/auth/undo-change').send({ token: undo, password: PASSWORD }).expect(200);
  expectProblem(await app.http.post('/auth/invitations/lookup').send({ token }), 400, 'invalid_token');
});

describe('although sign-ups are closed, an invited address', () => {
  const EMAIL = 'grace@example.com';

  test('creates its account with the invitation', async () => {
    const { id } = await create(await person(app, 'ada'));
    const { token } = await invite(id, EMAIL);
    told.length = 0;
    await app.http.post('/auth/invitations/accept').send({ token, password: PASSWORD }).expect(200);
    expect(told).toEqual([['user', 'invitation']]);
  });

  test('creates its account with an emailed code, and other addresses do not', async () => {
    const { id } = await create(await person(app, 'ada'));
    const { token } = await invite(id, EMAIL);
    const browser = app.browser();
    const mail = await app.mailOf(() => browser.post('/auth/signin/email').send({ email: EMAIL }));
    expect(mail.kind).toBe('sign-in-code');
    await browser.post('/auth/signin/email/confirm').send({ code: mail.code }).expect(200);
    expect((await browser.post('/auth/invitations/accept').send({ token })).status).toBe(200);
    const other = await app.mailOf(() =>
      app.browser().post('/auth/signin/email').send({ email: 'mallory@example.com' }),
    );
    expect(other.kind).toBe('no-account');
    // Its account has used the invitation up.
    expectProblem(
      await app.http.post('/auth/signup/credential').send({ email: 'x@example.com', password: PASSWORD }),
      403,
      'sign_up_refused',
    );
  });
});

describe('with 16 changes at once, an organization keeps an active owner', () => {
  test.each(['demoted', 'removed', 'leave', 'close their accounts'])('owners are or do: %s', async (how) => {
    const owners: Person[] = [];
    for (let index = 0; index < 16; index++) owners.push(await person(app, `owner-${index}`));
    const [first] = owners as [Person];
    const { id } = await create(first);
    for (const one of owners.slice(1)) await app.auth.organizations.addMember(id, one.id, 'owner');
    const next = (index: number) => owners[(index + 1) % owners.length] as Person;
    const answers = await Promise.all(
      owners.map((one, index) => {
        const path = `/organizations/${id}/members`;
        if (how === 'demoted') return one.send('patch', `${path}/${next(index).id}`, { role: 'member' });
        if (how === 'removed') return one.send('delete', `${path}/${next(index).id}`);
        if (how === 'leave') return one.send('delete', `${path}/${one.id}`);
        return one.send('delete', '/me');
      }),
    );
    const codes = answers.map(({ status, body }) => (status < 300 ? 'done' : body.code));
    expect(codes).toContain('done');
    expect(codes.filter((code) => !ALLOWED.has(code))).toEqual([]);
    const active = await rows(
      app.database,
      `SELECT m.user_id FROM organization_members m JOIN users u ON u.id = m.user_id
       WHERE m.role = 'owner' AND u.deleted_at IS NULL`,
    );
    expect(active.length).toBeGreaterThan(0);
  });
});

const ALLOWED = new Set([
  'done',
  'last_owner',
  'permission_required',
  'organization_not_found',
  'member_not_found',
]);
