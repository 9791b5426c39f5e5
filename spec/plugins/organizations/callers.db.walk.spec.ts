import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../../lib/auth.js';
import { admin, apiKeys, organizations } from '../../../lib/index.js';
import { password } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { type MailApp, startMailApp } from '../../support/mail-app.js';
import { type Person, person } from '../../support/organizations.js';

const plugins = [
  password(),
  apiKeys(),
  admin({ adminEmails: ['root@example.com'], actAs: {} }),
  organizations(),
] as const;
const UNKNOWN = '00000000-0000-7000-8000-000000000000';
const PASSWORD = 'a bird in a teapot';

let app: MailApp<typeof plugins>;
beforeAll(async () => {
  app = await startMailApp({ plugins });
});
beforeEach(empty);
afterAll(() => app.stop());

async function empty(): Promise<void> {
  await rows(app.database, 'DELETE FROM organizations');
  await rows(app.database, 'DELETE FROM users');
}

/** Who calls. `none` has no session. */
const CALLERS = [
  'none',
  'stranger',
  'member',
  'admin',
  'owner',
  'owner of another',
  'administrator',
  'acting as the owner',
  'key of the owner',
  'key of the owner with scopes',
] as const;
type Caller = (typeof CALLERS)[number];

interface Scene {
  readonly id: string;
  readonly otherId: string;
  /** A member of the organization. */
  readonly target: string;
  readonly invitationId: string;
  /** The token of an invitation. */
  readonly token: string;
  readonly headers: Readonly<Record<Caller, Readonly<Record<string, string>>>>;
  readonly ids: Readonly<Record<'member' | 'admin' | 'owner', string>>;
}

async function scene(): Promise<Scene> {
  const names = ['owner', 'admin', 'member', 'target', 'stranger', 'other', 'root'] as const;
  const people = {} as Record<(typeof names)[number], Person>;
  for (const name of names) people[name] = await person(app, name);
  const { owner, other, root } = people;
  const { organizations: orgs, apiKeys: keys } = app.auth;
  const { id } = await orgs.create({ name: 'Acme', slug: 'acme', ownerId: owner.id });
  const { id: otherId } = await orgs.create({ name: 'Other', slug: 'other', ownerId: other.id });
  await orgs.addMember(id, people.admin.id, 'admin');
  await orgs.addMember(id, people.member.id, 'member');
  await orgs.addMember(id, people.target.id, 'member');
  const mail = await app.mailOf(
    () => orgs.invite(id, { email: 'grace@example.com', role: 'member' }),
    'organization-invitation',
  );
  const [invitation] = (await orgs.invitations(id)).invitations;
  const key = async (scopes: string[]) => {
    const { key } = await keys.create(owner.id, { name: 'k', scopes });
    return { 'x-service-api-key': key };
  };
  const acting = await root.send('post', `/admin/users/${owner.id}/act`, { reason: 'ticket 7' });
  const cookie = /latchkey=[^;]+/.exec(String(acting.headers['set-cookie']))?.[0] ?? '';
  const { token: ofRoot } = await app.auth.createSession(root.id);
  return {
    id,
    otherId,
    target: people.target.id,
    invitationId: invitation?.id ?? '',
    token: mail.token,
    ids: { owner: owner.id, admin: people.admin.id, member: people.member.id },
    headers: {
      none: {},
      stranger: people.stranger.headers,
      member: people.member.headers,
      admin: people.admin.headers,
      owner: owner.headers,
      'owner of another': other.headers,
      administrator: { cookie: `latchkey=${ofRoot}` },
      'acting as the owner': { cookie },
      'key of the owner': await key([]),
      'key of the owner with scopes': await key(['organization:update']),
    },
  };
}

type Outcome = number | string;
type Row = Readonly<Record<Caller, Outcome>>;

const OUT = {
  none: 'unauthenticated',
  'acting as the owner': 'acting_session',
  'key of the owner': 'session_required',
  'key of the owner with scopes': 'session_required',
} as const;
const NO_MEMBER = {
  ...OUT,
  stranger: 'organization_not_found',
  'owner of another': 'organization_not_found',
  administrator: 'organization_not_found',
} as const;
const allow = (status: number, ...roles: readonly Caller[]): Row => {
  const outcome = (role: Caller) => (roles.includes(role) ? status : 'permission_required');
  return {
    ...NO_MEMBER,
    member: outcome('member'),
    admin: outcome('admin'),
    owner: outcome('owner'),
    ...(roles.includes('acting as the owner') && { 'acting as the owner': status }),
  };
};
const anyone = (status: number): Row => ({
  ...OUT,
  stranger: status,
  member: status,
  admin: status,
  owner: status,
  'owner of another': status,
  administrator: status,
});

/** Every route of the plugin: what it is sent, and what each caller gets. */
const TABLE: Readonly<Record<string, { readonly body?: (scene: Scene) => object; readonly row: Row }>> = {
  'POST /organizations': { body: () => ({ name: 'New', slug: 'new' }), row: anyone(201) },
  'GET /organizations': { row: { ...anyone(200), 'acting as the owner': 200 } },
  'GET /organizations/:id': { row: allow(200, 'member', 'admin', 'owner', 'acting as the owner') },
  'PATCH /organizations/:id': { body: () => ({ name: 'Acme 2' }), row: allow(200, 'admin', 'owner') },
  'DELETE /organizations/:id': { row: allow(204, 'owner') },
  'GET /organizations/:id/members': { row: allow(200, 'member', 'admin', 'owner') },
  'PATCH /organizations/:id/members/:userId': {
    body: () => ({ role: 'admin' }),
    row: allow(200, 'admin', 'owner'),
  },
  'DELETE /organizations/:id/members/:userId': { row: allow(204, 'admin', 'owner') },
  'POST /organizations/:id/invitations': {
    body: () => ({ email: 'new@example.com', role: 'member' }),
    row: allow(201, 'admin', 'owner'),
  },
  'GET /organizations/:id/invitations': { row: allow(200, 'admin', 'owner') },
  'DELETE /organizations/:id/invitations/:invitationId': { row: allow(204, 'admin', 'owner') },
  'POST /invitations/lookup': {
    body: ({ token }) => ({ token }),
    row: sameForAll(200),
  },
  'POST /invitations/accept': {
    body: ({ token }) => ({ token, password: PASSWORD }),
    row: {
      ...anyone(403),
      ...asOther('invitation_for_other_email'),
      // No session: a new account. An acting session is ignored.
      none: 200,
      'acting as the owner': 200,
      'key of the owner': 'session_required',
      'key of the owner with scopes': 'session_required',
    },
  },
};

function sameForAll(status: number): Row {
  return Object.fromEntries(CALLERS.map((caller) => [caller, status])) as Row;
}

function asOther(code: string): Partial<Row> {
  const callers: readonly Caller[] = [
    'stranger',
    'member',
    'admin',
    'owner',
    'owner of another',
    'administrator',
  ];
  return Object.fromEntries(callers.map((caller) => [caller, code]));
}

const routes = () =>
  internalsOf(app.auth)
    .routes()
    .filter(({ plugin, forms }) => plugin === 'organizations' && forms !== 'only');

async function call(name: string, made: Scene, caller: Caller, ids: Partial<Scene> = {}) {
  const [method = '', path = ''] = name.split(' ');
  const { id, target, invitationId } = { ...made, ...ids };
  const address = path.replace(':id', id).replace(':userId', target).replace(':invitationId', invitationId);
  const body = TABLE[name]?.body?.(made);
  const request = app.http[method.toLowerCase() as 'get'](`/auth${address}`).set(made.headers[caller]);
  return body ? request.send(body) : request;
}

/** Everything that routes of organizations can change. */
const contents = async () =>
  JSON.stringify([
    await rows(app.database, 'SELECT * FROM organizations ORDER BY id'),
    await rows(app.database, 'SELECT * FROM organization_members ORDER BY id'),
    await rows(app.database, 'SELECT id, role, invited_by FROM organization_invitations ORDER BY id'),
  ]);

test('every route has a row', () => {
  const names = routes().map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(names.sort()).toEqual(Object.keys(TABLE).sort());
});

describe('each caller gets what the table says', () => {
  test.each(Object.entries(TABLE))('%s', async (name, { row }) => {
    const wrong: unknown[] = [];
    let made: Scene | null = null;
    for (const caller of CALLERS) {
      if (!made) await empty();
      made ??= await scene();
      const before = await contents();
      const answer = await call(name, made, caller);
      const expected = row[caller];
      const got = typeof expected === 'number' ? answer.status : answer.body.code;
      if (got !== expected) wrong.push([caller, expected, answer.status, answer.body]);
      const hasChanged = (await contents()) !== before;
      if (typeof expected === 'string' && hasChanged) wrong.push([caller, 'changed']);
      if (hasChanged) made = null;
    }
    expect(wrong).toEqual([]);
  });
});

describe('ids of another organization, malformed and unknown ids change nothing, and look the same', () => {
  const inOrganization = Object.keys(TABLE).filter((name) => name.includes('/:id'));

  test.each(inOrganization)('%s', async (name) => {
    const made = await scene();
    const before = await contents();
    const answers = [];
    for (const id of [made.otherId, UNKNOWN, 'acme', 'x', "'", '%00', '..%2f']) {
      const { status, body } = await call(name, made, 'owner', { id });
      answers.push([status, body]);
    }
    const [first] = answers;
    expect(first).toEqual([404, expect.objectContaining({ code: 'organization_not_found' })]);
    expect(answers).toEqual(answers.map(() => first));
    expect(await contents()).toBe(before);
  });

  test.each([
    ['PATCH /organizations/:id/members/:userId', 'member_not_found'],
    ['DELETE /organizations/:id/members/:userId', 'member_not_found'],
    ['DELETE /organizations/:id/invitations/:invitationId', 'invitation_not_found'],
  ])('%s with rows of another organization', async (name, code) => {
    const made = await scene();
    const other = await app.auth.organizations.members(made.otherId);
    await app.auth.organizations.invite(made.otherId, { email: 'x@example.com', role: 'member' });
    const [invitation] = (await app.auth.organizations.invitations(made.otherId)).invitations;
    const before = await contents();
    for (const [target, invitationId] of [
      [other.members[0]?.user.id, invitation?.id],
      [UNKNOWN, UNKNOWN],
      ['x', 'x'],
    ]) {
      const { status, body } = await call(name, made, 'owner', {
        target: target ?? '',
        invitationId: invitationId ?? '',
      });
      expect([status, body.code]).toEqual([404, code]);
    }
    expect(await contents()).toBe(before);
  });
});

test('an admin can neither demote nor remove an owner, nor make one', async () => {
  const made = await scene();
  const { owner, member } = made.ids;
  for (const [name, target, body] of [
    ['PATCH', owner, { role: 'member' }],
    ['DELETE', owner, undefined],
    ['PATCH', member, { role: 'owner' }],
  ] as const) {
    const request = app.http[name.toLowerCase() as 'patch'](
      `/auth/organizations/${made.id}/members/${target}`,
    ).set(made.headers.admin);
    const { body: problem } = await (body ? request.send(body) : request);
    expect(problem.code).toBe('permission_required');
  }
});
