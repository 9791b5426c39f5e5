import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { emailSignIn, organizations } from '../../../lib/index.js';
import { password } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { type MailApp, startMailApp } from '../../support/mail-app.js';
import { type Person, person } from '../../support/organizations.js';
import { expectProblem } from '../../support/problem.js';
import { settled } from '../../support/sessions.js';

const plugins = [
  password({ username: true }),
  emailSignIn({ signUp: true }),
  organizations({ maxMembers: 20 }),
] as const;
const PASSWORD = 'a bird in a teapot';
const EMAIL = 'grace@example.com';

let app: MailApp<typeof plugins>;
beforeAll(async () => {
  app = await startMailApp({
    plugins,
    config: { rateLimit: { signIn: false, signUp: false, mailAddress: false } },
  });
});
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM organizations');
  await rows(app.database, 'DELETE FROM users');
  await rows(app.database, 'DELETE FROM rate_limits');
  await settled(app.auth);
  app.mails.length = 0;
});
afterAll(() => app.stop());

interface Scene {
  readonly ada: Person;
  readonly id: string;
}

async function scene(): Promise<Scene> {
  const ada = await person(app, 'ada');
  const { id } = await app.auth.organizations.create({ name: 'Acme', slug: 'acme', ownerId: ada.id });
  return { ada, id };
}

/** Invites, and returns the token in the email. */
async function invited({ ada, id }: Scene, email = EMAIL, role = 'member'): Promise<string> {
  const before = app.mails.length;
  const answer = await ada.send('post', `/organizations/${id}/invitations`, { email, role });
  expect(answer.status).toBe(201);
  await settled(app.auth);
  const mail = app.mails.slice(before).find(({ kind }) => kind === 'organization-invitation');
  return mail?.token ?? '';
}

const accept = (body: object) => app.http.post('/auth/invitations/accept').send(body);
const lookUp = (token: string) => app.http.post('/auth/invitations/lookup').send({ token });

describe('an invitation', () => {
  test('is emailed, and neither the response nor a list contains its token', async () => {
    const made = await scene();
    const answer = await made.ada.send('post', `/organizations/${made.id}/invitations`, {
      email: ' Grace@Example.com',
      role: 'member',
    });
    expect(answer.body).toEqual({
      invitation: {
        id: expect.any(String),
        email: EMAIL,
        role: 'member',
        invited_by: made.ada.id,
        created_at: expect.any(String),
        expires_at: expect.any(String),
      },
    });
    await settled(app.auth);
    const [mail] = app.mails;
    expect(mail).toMatchObject({ kind: 'organization-invitation', to: EMAIL, user: null });
    expect(mail?.url).toContain(`/join?token=${mail?.token}`);
    expect(mail?.text).toContain('ada@ example. com invites you to join Acme.');
    // In HTML, the breaks are invisible.
    expect(mail?.html).toContain('ada@\u200Bexample.\u200Bcom invites you to join Acme.');
    const list = await made.ada.send('get', `/organizations/${made.id}/invitations`);
    expect(list.body).toEqual({
      invitations: [{ ...answer.body.invitation, expires_at: expect.any(String) }],
      next_cursor: null,
    });
  });

  test('can be looked up without using it up', async () => {
    const made = await scene();
    const token = await invited(made);
    for (const _ of [1, 2])
      expect((await lookUp(token)).body).toEqual({
        organization: expect.objectContaining({ id: made.id, slug: 'acme' }),
        email: EMAIL,
        role: 'member',
        invited_by: made.ada.email,
        expires_at: expect.any(String),
        account: false,
      });
  });

  test('creates the account of its address, with the mailbox proven, and a session', async () => {
    const made = await scene();
    const token = await invited(made);
    const answer = await accept({ token, password: PASSWORD, username: 'Grace' });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        organization: expect.objectContaining({ id: made.id }),
        membership: { role: 'member', created_at: expect.any(String) },
        user: expect.objectContaining({ email: EMAIL, username: 'grace' }),
        session: expect.any(Object),
      },
    ]);
    const [user] = await rows(app.database, `SELECT email_proof FROM users WHERE email = '${EMAIL}'`);
    expect(user).toEqual({ email_proof: 'mailbox' });
    expectProblem(await accept({ token, password: PASSWORD }), 400, 'invalid_token');
    const signedIn = await app.http
      .post('/auth/signin/credential')
      .send({ credential: EMAIL, password: PASSWORD });
    expect(signedIn.status).toBe(200);
  });

  test('requires a password for a new account, and is not used up without one', async () => {
    const token = await invited(await scene());
    const answer = await accept({ token });
    expectProblem(answer, 422, 'validation_failed');
    expect(answer.body.errors).toEqual([expect.objectContaining({ pointer: '/password', code: 'required' })]);
    expect((await accept({ token, password: PASSWORD })).status).toBe(200);
  });

  test('of an address that has an account requires its session', async () => {
    const made = await scene();
    const grace = await person(app, 'grace');
    const token = await invited(made);
    expect((await lookUp(token)).body.account).toBe(true);
    expectProblem(await accept({ token, password: PASSWORD }), 409, 'account_exists');
    const other = await person(app, 'eve');
    expectProblem(
      await other.send('post', '/invitations/accept', { token }),
      403,
      'invitation_for_other_email',
    );
    const answer = await grace.send('post', '/invitations/accept', { token });
    expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['organization', 'membership']]);
    expectProblem(await grace.send('post', '/invitations/accept', { token }), 400, 'invalid_token');
  });

  test('proves the mailbox of the session, and drops nothing', async () => {
    const made = await scene();
    const { id } = await app.auth.users.create({ email: EMAIL, password: PASSWORD });
    const { token: session } = await app.auth.createSession(id);
    const token = await invited(made);
    const answer = await app.http
      .post('/auth/invitations/accept')
      .set('cookie', `latchkey=${session}`)
      .send({ token });
    expect(answer.status).toBe(200);
    const [user] = await rows(
      app.database,
      `SELECT email_proof, password_hash FROM users WHERE email = '${EMAIL}'`,
    );
    expect(user).toEqual({ email_proof: 'mailbox', password_hash: expect.any(String) });
  });

  test('that is replaced no longer works', async () => {
    const made = await scene();
    const first = await invited(made);
    const second = await invited(made, EMAIL, 'admin');
    expectProblem(await lookUp(first), 400, 'invalid_token');
    expect((await lookUp(second)).body.role).toBe('admin');
  });

  test('that the limit of the mailbox leaves out keeps its token, with the new role', async () => {
    const made = await scene();
    let token = '';
    for (let sent = 0; sent < 10; sent++) token = (await invited(made)) || token;
    const answer = await made.ada.send('post', `/organizations/${made.id}/invitations`, {
      email: EMAIL,
      role: 'admin',
    });
    expect(answer.status).toBe(201);
    await settled(app.auth);
    expect(app.mails).toHaveLength(10);
    expect((await lookUp(token)).body.role).toBe('admin');
  });

  test('is no longer valid if the inviter can no longer give the role', async () => {
    const made = await scene();
    const bob = await person(app, 'bob');
    await app.auth.organizations.addMember(made.id, bob.id, 'admin');
    const token = await invited({ ...made, ada: bob });
    await app.auth.organizations.setRole(made.id, bob.id, 'member');
    expectProblem(await lookUp(token), 400, 'invalid_token');
    const list = await app.auth.organizations.invitations(made.id);
    expect(list.invitations).toEqual([]);
  });

  test('cannot give a role that the inviter lacks', async () => {
    const made = await scene();
    const bob = await person(app, 'bob');
    await app.auth.organizations.addMember(made.id, bob.id, 'admin');
    const path = `/organizations/${made.id}/invitations`;
    expectProblem(await bob.send('post', path, { email: EMAIL, role: 'owner' }), 403, 'permission_required');
    const answer = await bob.send('post', path, { email: EMAIL, role: 'boss' });
    expect(answer.body.errors).toEqual([expect.objectContaining({ pointer: '/role', code: 'unknown_role' })]);
    expectProblem(
      await bob.send('post', path, { email: made.ada.email, role: 'member' }),
      409,
      'already_member',
    );
  });

  test.each(['credential', 'session'] as const)(
    'of 16 acceptances at once by %s, one succeeds',
    async (how) => {
      const made = await scene();
      const grace = how === 'session' ? await person(app, 'grace') : null;
      const token = await invited(made);
      const answers = await Promise.all(
        Array.from({ length: 16 }, () =>
          grace
            ? grace.send('post', '/invitations/accept', { token })
            : accept({ token, password: PASSWORD }),
        ),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const { members } = await app.auth.organizations.members(made.id);
      expect(members).toHaveLength(2);
      expect(await rows(app.database, 'SELECT id FROM users')).toHaveLength(2);
    },
  );
});

describe('limits on invitations', () => {
  test('a member invites 20 in an hour, of which refused ones do not count', async () => {
    const made = await scene();
    const path = `/organizations/${made.id}/invitations`;
    const eve = await person(app, 'eve');
    const invite = (index: number) =>
      made.ada.send('post', path, { email: `guest-${index}@example.com`, role: 'member' });
    for (let index = 0; index < 5; index++) {
      expectProblem(
        await made.ada.send('post', path, { email: 'x', role: 'member' }),
        422,
        'validation_failed',
      );
      expectProblem(
        await eve.send('post', path, { email: 'a@example.com', role: 'member' }),
        404,
        'organization_not_found',
      );
    }
    for (let index = 0; index < 20; index++) expect((await invite(index)).status).toBe(201);
    const refused = await invite(20);
    expectProblem(refused, 429, 'rate_limited');
    expect(refused.headers['ratelimit-policy']).toContain('"invitation";q=20;w=3600');
  });

  test('an organization has at most 200 pending ones, which can be replaced', async () => {
    const made = await scene();
    await app.auth.organizations.invite(made.id, { email: EMAIL, role: 'member' });
    for (let index = 1; index < 200; index++)
      await app.auth.models.OrganizationInvitation.unscoped().create({
        id: `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`,
        organizationId: made.id,
        email: `guest-${index}@example.com`,
        role: 'member',
        tokenHash: Buffer.alloc(32, index),
        createdAt: new Date(),
        expiresAt: new Date(Date.now() + 60_000),
      } as never);
    await expect(
      app.auth.organizations.invite(made.id, { email: 'one-more@example.com', role: 'member' }),
    ).rejects.toMatchObject({ code: 'too_many_invitations' });
    await app.auth.organizations.invite(made.id, { email: EMAIL, role: 'admin' });
  });
});
