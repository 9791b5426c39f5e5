import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../../lib/auth.js';
import { admin, organizations, suspension } from '../../../lib/index.js';
import { isUnsafe } from '../../../lib/sessions/origin.js';
import { password } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { type MailApp, startMailApp } from '../../support/mail-app.js';
import { person } from '../../support/organizations.js';
import { sendSlowly } from '../../support/slow-request.js';

const plugins = [
  password(),
  admin({ adminEmails: ['root@example.com'] }),
  suspension(),
  organizations(),
] as const;
const HOUR_MS = 60 * 60_000;

let app: MailApp<typeof plugins>;
beforeAll(async () => {
  app = await startMailApp({ plugins, config: { rateLimit: false } });
});
beforeEach(empty);
afterAll(() => app.stop());

async function empty() {
  await rows(app.database, 'DELETE FROM organizations');
  await rows(app.database, 'DELETE FROM users');
}

interface Scene {
  readonly id: string;
  /** The owner who sends the request. */
  readonly callerId: string;
  readonly session: string;
  readonly targetId: string;
  readonly invitationId: string;
  /** The token of an invitation of the caller to another organization. */
  readonly token: string;
}

async function scene(): Promise<Scene> {
  const { organizations: orgs } = app.auth;
  const [ada, bob, eve] = [await person(app, 'ada'), await person(app, 'bob'), await person(app, 'eve')];
  const { id } = await orgs.create({ name: 'Acme', slug: 'acme', ownerId: bob.id });
  await orgs.addMember(id, ada.id, 'owner');
  await orgs.addMember(id, eve.id, 'member');
  await app.mailOf(
    () => orgs.invite(id, { email: 'x@example.com', role: 'member' }),
    'organization-invitation',
  );
  const [invitation] = (await orgs.invitations(id)).invitations;
  const { id: other } = await orgs.create({ name: 'Other', slug: 'other', ownerId: bob.id });
  const mail = await app.mailOf(
    () => orgs.invite(other, { email: ada.email, role: 'member' }),
    'organization-invitation',
  );
  const { token: session } = await app.auth.createSession(ada.id);
  return {
    id,
    callerId: ada.id,
    session,
    targetId: eve.id,
    invitationId: invitation?.id ?? '',
    token: mail.token ?? '',
  };
}

/** The bodies of the routes that require one. */
const BODIES: Readonly<Record<string, (scene: Scene) => object>> = {
  'POST /organizations': () => ({ name: 'New', slug: 'new' }),
  'PATCH /organizations/:id': () => ({ name: 'New' }),
  'PATCH /organizations/:id/members/:userId': () => ({ role: 'admin' }),
  'POST /organizations/:id/invitations': () => ({ email: 'new@example.com', role: 'member' }),
  'POST /invitations/accept': ({ token }) => ({ token }),
};
/** The routes that ask for no role. */
const WITHOUT_ROLE = new Set(['POST /organizations', 'POST /invitations/accept']);
/** The routes that the password or the session of the lookup opens, however old it gets. */
const FRESH = new Set(['DELETE /organizations/:id']);

interface Event {
  change(scene: Scene): Promise<unknown>;
  readonly code: string;
  concerns?(name: string): boolean;
}

/** What can happen to the caller before the body of the request arrives, and the problem of the next request. */
const EVENTS: Readonly<Record<string, Event>> = {
  'the caller is demoted': {
    change: ({ id, callerId }) => app.auth.organizations.setRole(id, callerId, 'member'),
    code: 'permission_required',
    concerns: (name) => !WITHOUT_ROLE.has(name),
  },
  'the caller is removed': {
    change: ({ id, callerId }) => app.auth.organizations.removeMember(id, callerId),
    code: 'organization_not_found',
    concerns: (name) => !WITHOUT_ROLE.has(name),
  },
  'the organization is deleted': {
    change: ({ id }) => app.auth.organizations.delete(id),
    code: 'organization_not_found',
    concerns: (name) => !WITHOUT_ROLE.has(name),
  },
  'the session is revoked': {
    change: ({ callerId }) => app.auth.revokeAllSessions(callerId),
    code: 'invalid_session',
  },
  'the account is suspended': {
    change: ({ callerId }) => app.auth.suspension.suspend(callerId),
    code: 'invalid_session',
  },
  'the account is deleted': {
    change: ({ callerId }) => app.auth.users.delete(callerId),
    code: 'invalid_session',
  },
  'the sign-in gets too old': {
    change: ({ callerId }) =>
      rows(app.database, 'UPDATE sessions SET authenticated_at = :longAgo WHERE user_id = :callerId', {
        callerId,
        longAgo: new Date(Date.now() - HOUR_MS),
      }),
    code: 'reauthentication_required',
    concerns: (name) => FRESH.has(name),
  },
};

const unsafe = () =>
  internalsOf(app.auth)
    .routes()
    .filter(
      ({ plugin, method, forms, access }) =>
        plugin === 'organizations' &&
        forms !== 'only' &&
        access !== 'public' &&
        isUnsafe(method.toUpperCase()),
    )
    .map(({ method, path }) => `${method.toUpperCase()} ${path}`);

/** Sends the request, and runs `meanwhile` before its body arrives. */
function send(name: string, made: Scene, meanwhile: () => Promise<unknown>) {
  const [method = '', path = ''] = name.split(' ');
  const { id, targetId, invitationId, session: token } = made;
  const target = path.replace(':id', id).replace(':userId', targetId).replace(':invitationId', invitationId);
  const body = BODIES[name]?.(made) ?? {};
  return sendSlowly(app, { method, path: `/auth${target}`, token, body }, meanwhile);
}

const contents = async () =>
  JSON.stringify([
    await rows(app.database, 'SELECT id, name FROM organizations ORDER BY id'),
    await rows(app.database, 'SELECT id, role FROM organization_members ORDER BY id'),
    await rows(app.database, 'SELECT id, role FROM organization_invitations ORDER BY id'),
  ]);

describe('every route that changes something', () => {
  test('does so if nothing happens before the body arrives', async () => {
    const outcomes: unknown[] = [];
    for (const name of unsafe()) {
      await empty();
      const made = await scene();
      const before = await contents();
      const { status } = await send(name, made, async () => undefined);
      if (status >= 300 || (await contents()) === before) outcomes.push([name, status]);
    }
    expect(unsafe().length).toBeGreaterThan(6);
    expect(outcomes).toEqual([]);
  });

  test.each(Object.entries(EVENTS))(
    'does not if, meanwhile, %s',
    async (_name, { change, code, concerns = () => true }) => {
      const outcomes: unknown[] = [];
      for (const name of unsafe().filter(concerns)) {
        await empty();
        const made = await scene();
        let before = '';
        const answer = await send(name, made, async () => {
          await change(made);
          before = await contents();
        });
        if (answer.code !== code || (await contents()) !== before) outcomes.push([name, answer]);
      }
      expect(outcomes).toEqual([]);
    },
  );
});
