import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { isUnsafe } from '../../lib/sessions/origin.js';
import { type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { allSent } from '../support/mail-app.js';
import { sendSlowly } from '../support/slow-request.js';

const ROOT = 'root@example.com';
const OTHER = 'other@example.com';
const plugins = [
  ...everyPlugin({ sendsEmails: true, admin: { adminEmails: [ROOT, OTHER] } }),
  fixedProvider(),
] as const;
const HOUR_MS = 60 * 60_000;

let app: SpecApp<typeof plugins>;
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: { baseUrl: 'http://app.example.com', email: { send: () => undefined } },
  });
});
beforeEach(() => rows(app.database, 'DELETE FROM users'));
afterAll(() => app.stop());

interface Scene {
  readonly adminId: string;
  readonly token: string;
  readonly userId: string;
  readonly sessionId: string;
}

async function scene(): Promise<Scene> {
  const { users } = app.auth;
  const { id: adminId } = await users.create({ email: ROOT, emailVerified: true });
  const { id: userId } = await users.create({
    email: 'ada@example.com',
    emailVerified: true,
    password: 'a bird in a teapot',
  });
  const { token } = await app.auth.createSession(adminId);
  const { session } = await app.auth.createSession(userId);
  return { adminId, token, userId, sessionId: session.id };
}

/** The bodies of the routes that require one. */
const BODIES: Readonly<Record<string, object>> = {
  'POST /admin/users': { email: 'grace@example.com' },
  'PATCH /admin/users/:id': { username: 'eve' },
  'PUT /admin/users/:id/roles': { roles: ['editor'] },
  'POST /admin/users/:id/act': { reason: 'ticket 7' },
};

/** What can happen to an administrator before the body of the request arrives, and the problem of the next request. */
const EVENTS: Readonly<Record<string, { change(scene: Scene): Promise<unknown>; code: string }>> = {
  'the address is no longer verified': {
    change: ({ adminId }) =>
      rows(app.database, 'UPDATE users SET email_verified_at = NULL, email_proof = 0 WHERE id = :adminId', {
        adminId,
      }),
    code: 'admin_required',
  },
  'the session is revoked': {
    change: ({ adminId }) => app.auth.revokeAllSessions(adminId),
    code: 'invalid_session',
  },
  'the account is suspended': {
    change: ({ adminId }) => app.auth.suspension.suspend(adminId),
    code: 'invalid_session',
  },
  'the account is deleted': {
    change: ({ adminId }) => app.auth.users.delete(adminId),
    code: 'invalid_session',
  },
};

/** Form equivalents are left out, because a form is read before its session is looked up. */
const unsafe = () =>
  internalsOf(app.auth)
    .routes()
    .filter(
      ({ access, method, forms }) => access === 'admin' && forms !== 'only' && isUnsafe(method.toUpperCase()),
    )
    .map(({ method, path }) => `${method.toUpperCase()} ${path}`);

/**
 * Sends the request, and runs `meanwhile` before its body arrives. The row of a link is written when its email is sent,
 * which follows the response.
 */
async function send(name: string, { token, userId, sessionId }: Scene, meanwhile: () => Promise<unknown>) {
  const [method = '', path = ''] = name.split(' ');
  const target = `/auth${path.replace(':id', userId).replace(':sessionId', sessionId)}`;
  const answer = await sendSlowly(app, { method, path: target, token, body: BODIES[name] ?? {} }, meanwhile);
  await allSent(app.auth);
  return answer;
}

/** What administrators can change. */
async function contents({ adminId }: Scene): Promise<unknown> {
  const read = (sql: string) => rows(app.database, sql, { adminId });
  return {
    users: await read('SELECT * FROM users WHERE id <> :adminId ORDER BY id'),
    sessions: await read('SELECT id FROM sessions WHERE user_id <> :adminId ORDER BY id'),
    links: await read('SELECT user_id FROM one_time_tokens ORDER BY user_id'),
  };
}

describe('every route of administrators that changes something', () => {
  test('is one of many', () => expect(unsafe().length).toBeGreaterThan(8));

  test('changes something if nothing happens before the body arrives', async () => {
    const outcomes: unknown[] = [];
    for (const name of unsafe()) {
      await rows(app.database, 'DELETE FROM users');
      const made = await scene();
      if (name.endsWith('/reinstate')) await app.auth.suspension.suspend(made.userId);
      if (name.endsWith('/disable-second-factor'))
        await rows(app.database, 'UPDATE users SET second_factor_at = created_at WHERE id = :userId', {
          userId: made.userId,
        });
      const before = await contents(made);
      const { status } = await send(name, made, async () => undefined);
      const hasChanged = JSON.stringify(await contents(made)) !== JSON.stringify(before);
      if (status >= 300 || !hasChanged) outcomes.push([name, status, hasChanged]);
    }
    expect(outcomes).toEqual([]);
  });

  test.each(Object.entries(EVENTS))('changes nothing if, meanwhile, %s', async (_name, { change, code }) => {
    const outcomes: unknown[] = [];
    for (const name of unsafe()) {
      await rows(app.database, 'DELETE FROM users');
      const made = await scene();
      let before: unknown;
      const answer = await send(name, made, async () => {
        await change(made);
        before = await contents(made);
      });
      const after = await contents(made);
      if (answer.code !== code || JSON.stringify(after) !== JSON.stringify(before))
        outcomes.push([name, answer]);
    }
    expect(outcomes).toEqual([]);
  });
});

test('a sign-in that becomes too old before the body arrives is not recent', async () => {
  const made = await scene();
  const answer = await send('DELETE /admin/users/:id', made, () =>
    rows(app.database, 'UPDATE sessions SET authenticated_at = :longAgo WHERE user_id = :adminId', {
      adminId: made.adminId,
      longAgo: new Date(Date.now() - HOUR_MS),
    }),
  );
  expect(answer).toEqual({ status: 403, code: 'reauthentication_required' });
});

test('two administrators who suspend each other at the same time: one of them does it', async () => {
  for (let round = 0; round < 4; round++) {
    await rows(app.database, 'DELETE FROM users');
    const admins = await Promise.all(
      [ROOT, OTHER].map(async (email) => {
        const { id } = await app.auth.users.create({ email, emailVerified: true });
        return { id, cookie: `latchkey=${(await app.auth.createSession(id)).token}` };
      }),
    );
    const answers = await Promise.all(
      admins.map(({ cookie }, at) =>
        app.http
          .post(`/auth/admin/users/${admins[1 - at]?.id}/suspend`)
          .set({ cookie })
          .send({}),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  }
});
