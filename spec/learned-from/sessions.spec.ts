import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Response } from 'supertest';
import { admin, apiKeys, createAuth, oauth, suspension } from '../../lib/index.js';
import { ada, password, SECRET, type SpecApp, sessionCookie, signedIn, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { mailbox } from '../support/mailbox.js';
import { expectProblem } from '../support/problem.js';
import { ago, changeSession, DAY, SECOND, settled } from '../support/sessions.js';
import { loggingSequelize } from '../support/statements.js';

// What contributing/learned-from.md says of sessions.
const ROOT = { email: 'root@example.com', password: 'a root of all admins' };
const plugins = [
  password(),
  oauth(),
  fixedProvider(),
  admin({ adminEmails: [ROOT.email] }),
  apiKeys(),
  suspension(),
] as const;

const mail = mailbox();
let app: SpecApp<typeof plugins>;
let root: Awaited<ReturnType<typeof signedIn>>;
beforeAll(async () => {
  const config = { bearerEnabled: true, baseUrl: 'http://app.example.com', email: { send: mail.send } };
  app = await startApp({ plugins, config });
  root = await signedIn(app, ROOT);
  const { id } = (await root.get('/auth/me').expect(200)).body.user;
  await app.auth.markEmailVerified(id);
});
afterAll(() => app.stop());

let people = 0;
/** A user of their own for each test, with a session and its token. */
async function person() {
  const account = { email: `person-${++people}@example.com`, password: ada.password };
  await app.http.post('/auth/signup/credential').send(account).expect(201);
  const signIn = (more = {}) =>
    app.http
      .post('/auth/signin/credential')
      .send({ credential: account.email, password: account.password, ...more })
      .expect(200);
  const { body, headers } = await signIn();
  const token = String(headers['set-auth-token']);
  return { ...account, id: body.user.id as string, sessionId: body.session.id as string, token, signIn };
}
const me = (token: string) => app.http.get('/auth/me').set('cookie', `latchkey=${token}`);
const isDead = async (token: string) => {
  expectProblem(await me(token), 401, 'invalid_session');
  expectProblem(
    await app.http.get('/auth/me').set('authorization', `Bearer ${token}`),
    401,
    'invalid_session',
  );
};

describe('a sign-in begins a session of its own, and a sign-out ends it', () => {
  test('CVE-2022-25896, CVE-2024-7341: the session that came with a sign-in is not continued, and opens nothing after', async () => {
    const mallory = await person();
    const victim = await person();
    // The attacker has put a session of their own, whose token they know, into the victim's browser.
    const answer = await victim.signIn().set('cookie', `latchkey=${mallory.token}`);
    const cookie = sessionCookie(answer)?.value ?? '';
    expect(cookie).not.toBe(mallory.token);
    expect((await me(cookie).expect(200)).body.user.id).toBe(victim.id);
    await isDead(mallory.token);
  });

  test('CVE-2022-25896: a token that no sign-in gave out is not taken over by one', async () => {
    const victim = await person();
    const chosen = `lks_${'A'.repeat(48)}`;
    const answer = await victim.signIn().set('cookie', `latchkey=${chosen}`);
    expect(sessionCookie(answer)?.value).not.toBe(chosen);
    await isDead(chosen);
  });

  test('CVE-2024-31999: the cookie of a session that was signed out opens nothing, wherever it was kept', async () => {
    const { token } = await person();
    await app.http.post('/auth/signout').set('cookie', `latchkey=${token}`).expect(204);
    await isDead(token);
  });

  test('CVE-2015-8314: every browser that is remembered has a token of its own, which ends by itself', async () => {
    const { token, signIn } = await person();
    const answers = [await signIn({ remember_me: true }), await signIn({ remember_me: true })];
    const tokens = answers.map((answer) => sessionCookie(answer)?.value ?? '');
    expect(new Set([token, ...tokens]).size).toBe(3);
    for (const { body } of answers) {
      const lifetime = Date.parse(body.session.expires_at) - Date.parse(body.session.created_at);
      expect(lifetime).toBeLessThanOrEqual(30 * DAY);
    }
    const [lost = '', kept = ''] = tokens;
    await app.http
      .delete(`/auth/sessions/${answers[0]?.body.session.id}`)
      .set('cookie', `latchkey=${kept}`)
      .expect(204);
    await isDead(lost);
    await me(kept).expect(200);
  });

  test('CVE-2024-35220: a session ends at its time, and using it does not move the end', async () => {
    const { token, sessionId, signIn } = await person();
    const before = (await me(token).expect(200)).body.session.expires_at;
    await changeSession(app, sessionId, { lastActiveAt: ago(DAY / 2) });
    await me(token).expect(200);
    await settled(app.auth);
    expect((await me(token).expect(200)).body.session.expires_at).toBe(before);
    await changeSession(app, sessionId, { expiresAt: ago(SECOND) });
    await isDead(token);
    // A remembered one, too.
    const { body, headers } = await signIn({ remember_me: true });
    await changeSession(app, body.session.id, { expiresAt: ago(SECOND) });
    await isDead(String(headers['set-auth-token']));
  });
});

describe('what was revoked stays revoked', () => {
  test('CVE-2025-29928: a session that an administrator deletes is dead on the next request', async () => {
    const { id, sessionId, token, signIn } = await person();
    const second = await signIn();
    await root.delete(`/auth/admin/users/${id}/sessions/${sessionId}`).expect(204);
    await isDead(token);
    await me(String(second.headers['set-auth-token'])).expect(200);
    await root.post(`/auth/admin/users/${id}/revoke-sessions`).expect(200);
    await isDead(String(second.headers['set-auth-token']));
  });

  test('CVE-2025-46336: a request that is under way does not bring a revoked session back', async () => {
    const { id, sessionId, token } = await person();
    await changeSession(app, sessionId, { lastActiveAt: ago(DAY / 2) });
    // Another process, whose write of the last activity waits until the session is revoked.
    const { sequelize } = loggingSequelize(app.database);
    let waiting: () => void = () => {};
    const reached = new Promise<void>((resolve) => {
      waiting = resolve;
    });
    let go: () => void = () => {};
    const revoked = new Promise<void>((resolve) => {
      go = resolve;
    });
    const query = sequelize.query.bind(sequelize) as (...args: unknown[]) => Promise<unknown>;
    Object.assign(sequelize, {
      async query(sql: string | { query: string }, ...rest: unknown[]) {
        const text = typeof sql === 'string' ? sql : sql.query;
        if (/^UPDATE .?sessions/.test(text)) {
          waiting();
          await revoked;
        }
        return query(sql, ...rest);
      },
    });
    const other = createAuth({
      database: sequelize,
      secret: SECRET,
      plugins: [password()],
      rateLimit: false,
    });
    await other.getSession({ headers: { cookie: `latchkey=${token}` } });
    await reached;
    expect(await app.auth.revokeAllSessions(id)).toBe(1);
    go();
    await settled(other);
    await isDead(token);
    expect(await rows(app.database, 'SELECT id FROM sessions WHERE user_id = :id', { id })).toEqual([]);
    await other.close();
    await sequelize.close();
  });

  test('GHSA-2vg6-77g8-24mp: with the user go all sessions, whoever deletes the user', async () => {
    const [self, other] = [await person(), await person()];
    await app.http.delete('/auth/me').set('cookie', `latchkey=${self.token}`).expect(204);
    await root.delete(`/auth/admin/users/${other.id}`).expect(204);
    for (const { id, token } of [self, other]) {
      await isDead(token);
      expect(await rows(app.database, 'SELECT id FROM sessions WHERE user_id = :id', { id })).toEqual([]);
    }
  });

  test('CVE-2025-65430: what a suspended user was given before is refused: session, Bearer token and API key', async () => {
    const { id, token, email } = await person();
    const { key } = await app.auth.apiKeys.create(id, { name: 'program' });
    const withKey = () => app.http.get('/auth/me').set('x-service-api-key', key);
    await withKey().expect(200);
    await root.post(`/auth/admin/users/${id}/suspend`).send({}).expect(200);
    await isDead(token);
    expectProblem(await withKey(), 403, 'account_suspended');
    const signIn = { credential: email, password: ada.password };
    expectProblem(await app.http.post('/auth/signin/credential').send(signIn), 403, 'account_suspended');
  });

  test('GHSA-wmjr-v86c-m9jj: a sign-out ends the session whose token came in the cookie, and no other', async () => {
    const [mallory, victim] = [await person(), await person()];
    const forged = [
      `latchkey=${victim.sessionId}`,
      `latchkey=${mallory.token}; latchkey=${victim.token}`,
      `latchkey=${mallory.token}; latchkey_multi-1=${victim.token}.fake`,
      `latchkey=${victim.token}.fake`,
    ];
    const answers: Response[] = [];
    for (const cookie of forged) {
      answers.push(await app.http.post('/auth/signout').set('cookie', cookie));
      await me(victim.token).expect(200);
    }
    expect(answers.map(({ status }) => status)).toEqual([204, 401, 204, 204]);
  });
});

describe('only a session is a session', () => {
  test('CVE-2023-48309: what a flow with a provider put into a cookie opens nothing as a session', async () => {
    const { headers } = await app.http.get('/auth/oauth/fixed/authorize').expect(302);
    const state = new URL(String(headers.location)).searchParams.get('state') ?? '';
    const cookies = (headers['set-cookie'] as unknown as string[]).map((line) => line.split(';')[0] ?? '');
    expect(cookies.length).toBeGreaterThan(0);
    for (const value of [state, ...cookies.map((cookie) => cookie.slice(cookie.indexOf('=') + 1))]) {
      expect(value.length).toBeGreaterThan(20);
      await isDead(value);
    }
  });

  test('CVE-2021-21241: no GET request gives out a token', async () => {
    const { token } = await person();
    expectProblem(
      await app.http.get('/auth/signin/credential').set('cookie', `latchkey=${token}`),
      405,
      'method_not_allowed',
    );
    for (const path of ['/auth/me', '/auth/sessions', '/auth/sign-in-methods', '/auth/oauth/accounts']) {
      const answer = await app.http.get(path).set('cookie', `latchkey=${token}`).expect(200);
      expect(answer.headers['set-auth-token']).toBeUndefined();
      expect(answer.text).not.toContain(token.slice(4));
    }
  });

  test.each(['a; Domain=evil.example', 'a=<script>; Max-Age=2592000; b', 'a\r\nSet-Cookie: b', 'a b'])(
    'CVE-2024-47764: a cookie name that would set other attributes is a mistake in the config: %j',
    (name) => {
      for (const cookie of [{ name }, { domain: name }, { path: `/${name}` }]) {
        const config = { database: 'sqlite::memory:', secret: SECRET, session: { cookie } };
        expect(() => createAuth({ ...config, plugins: [password()] })).toThrow(/session\.cookie/);
      }
    },
  );
});
