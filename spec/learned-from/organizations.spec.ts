import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { admin, authRouter, organizations, requireMember } from '../../lib/index.js';
import { password } from '../support/app.js';
import { rows } from '../support/database.js';
import { type MailApp, startMailApp } from '../support/mail-app.js';
import { type Person, person } from '../support/organizations.js';
import { expectProblem } from '../support/problem.js';
import { settled } from '../support/sessions.js';

// What contributing/learned-from.md says of organizations.
const ROOT = 'root@example.com';
const plugins = [
  password(),
  organizations({ roles: { editor: ['projects:write'] } }),
  admin({ adminEmails: [ROOT] }),
] as const;

let app: MailApp<typeof plugins>;
beforeAll(async () => {
  app = await startMailApp({
    plugins,
    config: { rateLimit: { signIn: false, signUp: false, mailAddress: false } },
    mount(server, auth) {
      const byHeader = requireMember(auth, { organization: (req) => req.get('X-Organization') });
      const writes = requireMember(auth, { permission: 'projects:write' });
      server.use('/auth', authRouter(auth));
      server.get('/by-header', byHeader, (req, res) => void res.json(req.auth.organization));
      server.get('/teams/:organization/projects', writes, (_req, res) => void res.json([]));
    },
  });
});
afterAll(() => app.stop());

interface Team {
  readonly id: string;
  readonly slug: string;
  readonly owner: Person;
}

let teams = 0;
/** Creates an organization with its owner. */
async function team(): Promise<Team> {
  const slug = `team-${++teams}`;
  const owner = await person(app, `owner-of-${slug}`);
  const { id } = await app.auth.organizations.create({ name: slug, slug, ownerId: owner.id });
  return { id, slug, owner };
}

/** Adds a new user to an organization. */
async function member({ id, slug }: Team, role: string): Promise<Person> {
  const one = await person(app, `${role}-${slug}-${++teams}`);
  await app.auth.organizations.addMember(id, one.id, role);
  return one;
}

/** Invites an address. Returns the token in the email, and the id of the invitation. */
async function invited({ id, owner }: Team, email: string, by = owner) {
  app.mails.length = 0;
  const body = { email, role: 'member' };
  const answer = await by.send('post', `/organizations/${id}/invitations`, body).expect(201);
  await settled(app.auth);
  return { token: String(app.mails[0]?.token), id: answer.body.invitation.id as string };
}

describe('an organization that the request names is one of its user', () => {
  test('bigcapitalhq/bigcapital#990: a header names only organizations of its user', async () => {
    const [own, other] = [await team(), await team()];
    const ask = (name: string) =>
      app.http.get('/by-header').set({ ...own.owner.headers, 'X-Organization': name });
    expect((await ask(own.slug).expect(200)).body.id).toBe(own.id);
    for (const name of [other.id, other.slug, 'none', ''])
      expectProblem(await ask(name), 404, 'organization_not_found');
    expectProblem(await app.http.get('/by-header').set(own.owner.headers), 404, 'organization_not_found');
  });

  test('imuniqueshiv/MeetOnMemory#2571: the role in one organization allows nothing in another', async () => {
    const [own, other] = [await team(), await team()];
    const editor = await member(own, 'editor');
    await app.auth.organizations.addMember(other.id, editor.id, 'member');
    const ask = (name: string, by: Person) => app.http.get(`/teams/${name}/projects`).set(by.headers);
    await ask(own.slug, editor).expect(200);
    expectProblem(await ask(other.slug, editor), 403, 'permission_required');
    expectProblem(await ask(other.slug, own.owner), 404, 'organization_not_found');
  });
});

describe('an id of another organization', () => {
  test('first-tree-ai/first-tree#964: a member of another organization can be neither removed nor changed', async () => {
    const [own, other] = [await team(), await team()];
    const victim = await member(other, 'member');
    const path = `/organizations/${own.id}/members/${victim.id}`;
    expectProblem(await own.owner.send('delete', path), 404, 'member_not_found');
    expectProblem(await own.owner.send('patch', path, { role: 'admin' }), 404, 'member_not_found');
    const { members } = await app.auth.organizations.members(other.id);
    expect(members.find(({ user }) => user.id === victim.id)?.role).toBe('member');
  });

  test('DalgoT4D/DDP_backend#1334: an invitation of another organization cannot be revoked', async () => {
    const [own, other] = [await team(), await team()];
    const { id, token } = await invited(other, 'grace@example.com');
    const path = `/organizations/${own.id}/invitations/${id}`;
    expectProblem(await own.owner.send('delete', path), 404, 'invitation_not_found');
    await app.http.post('/auth/invitations/lookup').send({ token }).expect(200);
  });
});

describe('an invitation', () => {
  test('better-auth/better-auth#9577: an unverified account with the address of someone else sees and accepts none', async () => {
    const acme = await team();
    const email = 'invited@example.com';
    const { id, token } = await invited(acme, email);
    const squatter = await app.auth.users.create({ email, password: 'a bird in a teapot' });
    const cookie = `latchkey=${(await app.auth.createSession(squatter.id)).token}`;
    const accept = (given: string) =>
      app.http.post('/auth/invitations/accept').set('cookie', cookie).send({ token: given });
    // The id is known to everyone who can invite, and no route lists the invitations of a user.
    expectProblem(await accept(id), 400, 'invalid_token');
    const organizations = await app.http.get('/auth/organizations').set('cookie', cookie).expect(200);
    expect(organizations.body.organizations).toEqual([]);
    expect(JSON.stringify(app.auth.openapi().paths)).not.toMatch(/"\/invitations(\/\{\w+\})?"/);
    await app.http.post('/auth/invitations/lookup').send({ token }).expect(200);
  });

  test('rapidpro/rapidpro#615: each has its own link, even for the same address and organization', async () => {
    const acme = await team();
    const email = 'again@example.com';
    const first = await invited(acme, email);
    const body = { token: first.token, password: 'a bird in a teapot' };
    const joined = await app.http.post('/auth/invitations/accept').send(body).expect(200);
    await app.auth.organizations.removeMember(acme.id, joined.body.user.id);
    const second = await invited(acme, email);
    expect(second.token).not.toBe(first.token);
    expectProblem(
      await app.http.post('/auth/invitations/lookup').send({ token: first.token }),
      400,
      'invalid_token',
    );
  });

  test('getsentry/sentry#75630: those of a member who is removed end', async () => {
    const acme = await team();
    const by = await member(acme, 'admin');
    const { token } = await invited(acme, 'later@example.com', by);
    await acme.owner.send('delete', `/organizations/${acme.id}/members/${by.id}`).expect(204);
    expectProblem(await app.http.post('/auth/invitations/lookup').send({ token }), 400, 'invalid_token');
    expect((await app.auth.organizations.invitations(acme.id)).invitations).toEqual([]);
    // If the member comes back, the invitation does not.
    await app.auth.organizations.addMember(acme.id, by.id, 'admin');
    expectProblem(await app.http.post('/auth/invitations/lookup').send({ token }), 400, 'invalid_token');
  });
});

describe('owners', () => {
  test('better-auth/better-auth#1518: an admin can neither demote nor remove one, nor become one', async () => {
    const acme = await team();
    const by = await member(acme, 'admin');
    const path = `/organizations/${acme.id}/members`;
    const answers = [
      await by.send('patch', `${path}/${acme.owner.id}`, { role: 'member' }),
      await by.send('delete', `${path}/${acme.owner.id}`),
      await by.send('patch', `${path}/${by.id}`, { role: 'owner' }),
    ];
    for (const answer of answers) expectProblem(answer, 403, 'permission_required');
  });

  test('superset-sh/superset#4295: of two who leave or are demoted at the same time, one stays', async () => {
    for (const method of ['patch', 'delete'] as const) {
      const acme = await team();
      const other = await member(acme, 'owner');
      const answers = await Promise.all(
        [acme.owner, other].map((one) =>
          one.send(
            method,
            `/organizations/${acme.id}/members/${one.id}`,
            method === 'patch' ? { role: 'member' } : undefined,
          ),
        ),
      );
      expect(answers.map(({ body }) => body.code ?? 'done').sort()).toEqual(['done', 'last_owner']);
      const { members } = await app.auth.organizations.members(acme.id);
      expect(members.filter(({ role }) => role === 'owner')).toHaveLength(1);
    }
  });

  test('langfuse/langfuse#13530: the account of the last one cannot be deleted while there are others', async () => {
    const acme = await team();
    await member(acme, 'admin');
    const root = await app.auth.users.ensure({ email: ROOT, emailVerified: true });
    const cookie = `latchkey=${(await app.auth.createSession(root.user.id)).token}`;
    expectProblem(await acme.owner.send('delete', '/me'), 409, 'last_owner');
    expectProblem(
      await app.http.delete(`/auth/admin/users/${acme.owner.id}`).set('cookie', cookie),
      409,
      'last_owner',
    );
    await expect(app.auth.users.delete(acme.owner.id)).rejects.toMatchObject({ code: 'last_owner' });
  });

  test('CVE-2026-22640: one who removes an administrator of the app removes a membership, and no account', async () => {
    const acme = await team();
    const { user } = await app.auth.users.ensure({ email: ROOT, emailVerified: true });
    await app.auth.organizations.addMember(acme.id, user.id, 'member');
    await acme.owner.send('delete', `/organizations/${acme.id}/members/${user.id}`).expect(204);
    expect(await rows(app.database, `SELECT email FROM users WHERE id = '${user.id}'`)).toEqual([
      { email: ROOT },
    ]);
    expectProblem(await acme.owner.send('delete', `/admin/users/${user.id}`), 403, 'admin_required');
  });
});
