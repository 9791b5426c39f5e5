import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { admin, authRouter, oauth, requireAdmin, requireSession, twoFactor } from '../../lib/index.js';
import { ada, password, type SpecApp, sessionCookie, signedIn, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { startLyingProvider } from '../support/lying-provider.js';
import { oidcPlugin, startOAuthApp } from '../support/oauth-app.js';
import { expectProblem } from '../support/problem.js';
import { codeOf, forgetSteps, type Protected, withSecondFactor, wrongCode } from '../support/two-factor.js';

const plugins = [password(), twoFactor(), admin({ adminEmails: [ada.email] })] as const;
let app: SpecApp<typeof plugins>;
let who: Protected;
let sessionId: string;
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: { bearerEnabled: true, rateLimit: {} },
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.get('/strong', requireSession(auth, { aal: 2 }), (_req, res) => void res.json({}));
      express.get('/fresh', requireSession(auth, { freshWithin: 60 }), (_req, res) => void res.json({}));
      express.get('/ops', requireAdmin(auth, { aal: 2 }), (_req, res) => void res.json({}));
    },
  });
});
afterAll(() => app.stop());
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  await rows(app.database, 'DELETE FROM rate_limits');
  who = await withSecondFactor(app);
  // As administrators must have.
  await rows(app.database, 'UPDATE users SET email_verified_at = created_at');
  sessionId = (await who.browser.get('/auth/me')).body.session.id;
  await weaken();
});

/** The session has been one of one factor for an hour. */
async function weaken() {
  const authenticatedAt = new Date(Date.now() - 3_600_000);
  await app.auth.models.Session.update({ aal: 1, authenticatedAt }, { where: { id: sessionId } });
  await rows(app.database, "UPDATE sessions SET amr = 'pwd' WHERE id = :sessionId", { sessionId });
}
const reauthenticate = (body: object) => who.browser.post('/auth/reauthenticate').send(body);

describe('POST /reauthenticate for an account with a second factor', () => {
  test.each(['code', 'recovery_code'])(
    'takes a %s: the session is fresh, of aal 2, with a new token',
    async (field) => {
      await who.browser.get('/strong').expect(403);
      const old = await app.auth.listSessions(who.userId);
      const value = field === 'code' ? codeOf(who.secret) : who.recoveryCodes[0];
      const before = (await who.browser.get('/auth/me')).body.session;
      const answer = await reauthenticate({ [field]: value }).expect(204);
      const token = sessionCookie(answer)?.value;
      expect(token).toMatch(/^lks_/);
      expect(answer.headers['set-auth-token']).toBe(token);
      expect(sessionCookie(answer, 'latchkey-device')).toBeUndefined();
      for (const path of ['/strong', '/fresh', '/ops']) await who.browser.get(path).expect(200);
      const { session } = (await who.browser.get('/auth/me')).body;
      expect(session).toMatchObject({ id: sessionId, aal: 2, expires_at: before.expires_at });
      expect(session.amr).toEqual(['pwd', 'otp', 'mfa']);
      expect((await app.auth.listSessions(who.userId)).length).toBe(old.length);
    },
  );

  test('ends the old token', async () => {
    const { token } = await app.auth.createSession(who.userId);
    const cookie = `latchkey=${token}`;
    await app.http
      .post('/auth/reauthenticate')
      .set({ cookie })
      .send({ code: codeOf(who.secret) })
      .expect(204);
    expectProblem(await app.http.get('/auth/me').set({ cookie }), 401, 'invalid_session');
  });

  test('refuses a password before it looks at it, right or wrong', async () => {
    for (const typed of [ada.password, 'not the password']) {
      for (let n = 0; n < 8; n++) {
        const answer = await reauthenticate({ password: typed });
        expectProblem(answer, 403, 'second_factor_required');
        expect(answer.headers['set-cookie']).toBeUndefined();
      }
    }
    expect(
      (await rows<{ hits: number }>(app.database, 'SELECT hits FROM rate_limits')).map(({ hits }) => hits),
    ).not.toContain(8);
    await who.browser.get('/fresh').expect(403);
    const named = { userId: who.userId, sessionId, password: ada.password };
    await expect(app.auth.credential.reauthenticate(named)).rejects.toMatchObject({
      status: 403,
      code: 'second_factor_required',
    });
    await who.browser.get('/fresh').expect(403);
  });

  test('refuses a wrong code, and keeps the session as it is', async () => {
    const answer = await reauthenticate({ code: wrongCode(who.secret) });
    expectProblem(answer, 401, 'invalid_code');
    expect(answer.headers['set-cookie']).toBeUndefined();
    await who.browser.get('/strong').expect(403);
  });

  test('takes a code once, however often it comes at the same time', async () => {
    const { token } = await app.auth.createSession(who.userId);
    const { token: other } = await app.auth.createSession(who.userId);
    const code = codeOf(who.secret);
    const answers = await Promise.all(
      [token, other, token, other].map((one) =>
        app.http.post('/auth/reauthenticate').set('authorization', `Bearer ${one}`).send({ code }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses[0]).toBe(204);
    expect(statuses.filter((status) => status === 204)).toHaveLength(1);
    await forgetSteps(app);
  });

  test.each([
    {},
    { password: ada.password, code: '123456' },
    { code: '123456', recovery_code: 'x' },
    { passkey: {} },
  ])('wants exactly one of its fields, unlike %j', async (body) => {
    const { errors } = expectProblem(await reauthenticate(body), 422, 'validation_failed');
    expect(errors?.length).toBeGreaterThan(0);
  });

  test('takes a form', async () => {
    const form = { code: codeOf(who.secret), redirect_to: '/danger' };
    const answer = await who.browser.post('/auth/reauthenticate').type('form').send(form).expect(303);
    expect([answer.headers.location, typeof sessionCookie(answer)?.value]).toEqual(['/danger', 'string']);
    await who.browser.get('/strong').expect(200);
    const wrong = { password: ada.password, error_to: '/again' };
    const refused = await who.browser.post('/auth/reauthenticate').type('form').send(wrong).expect(303);
    expect(refused.headers.location).toBe('/again?error=second_factor_required');
  });

  test('needs a session that is still there', async () => {
    await app.auth.revokeAllSessions(who.userId);
    expectProblem(await reauthenticate({ code: codeOf(who.secret) }), 401, 'invalid_session');
  });
});

test('an account without a second factor gives its password, and keeps its token', async () => {
  const eve = { email: 'eve@example.com', password: 'eavesdropping all day' };
  const browser = await signedIn(app, eve);
  const answer = await browser.post('/auth/reauthenticate').send({ password: eve.password }).expect(204);
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect((await browser.get('/auth/me')).body.session).toMatchObject({ aal: 1, amr: ['pwd'] });
  const { errors } = expectProblem(
    await browser.post('/auth/reauthenticate').send({}),
    422,
    'validation_failed',
  );
  expect(errors).toHaveLength(1);
  expectProblem(await browser.post('/auth/reauthenticate').send({ code: '123456' }), 401, 'invalid_code');
});

test('a password makes no session of another user fresh', async () => {
  const eve = { email: 'eve@example.com', password: ada.password };
  const { user } = (await (await signedIn(app, eve)).get('/auth/me')).body;
  const told: string[] = [];
  app.auth.on('session.reauthenticated', (event) => told.push(event.sessionId));
  await app.auth.credential.reauthenticate({ userId: user.id, sessionId, password: eve.password });
  expect(told).toEqual([]);
  await who.browser.get('/fresh').expect(403);
});

describe('requireAdmin() and requireSession() with aal: 2', () => {
  test('admit nobody who has not shown two factors', async () => {
    await app.http.get('/ops').expect(401);
    expectProblem(await who.browser.get('/ops'), 403, 'second_factor_required');
    const eve = await signedIn(app, { email: 'eve@example.com', password: 'eavesdropping all day' });
    expectProblem(await eve.get('/ops'), 403, 'admin_required');
    await reauthenticate({ code: codeOf(who.secret) }).expect(204);
    await who.browser.get('/ops').expect(200);
  });

  test.each([0, 3, '2', null])('refuse the level %j', (aal) => {
    const options = { aal: aal as never };
    expect(() => requireAdmin(app.auth, options)).toThrow("requireAdmin's aal must be 1 or 2");
    expect(() => requireSession(app.auth, options)).toThrow("requireSession's aal must be 1 or 2");
  });
});

test('there is no such route if no plugin takes a proof', async () => {
  const provider = await startLyingProvider();
  const bare = await startOAuthApp({
    providers: () => [],
    config: { plugins: [oauth(), oidcPlugin(provider)] as never },
  });
  expect(Object.keys(bare.auth.openapi().paths)).not.toContain('/reauthenticate');
  await bare.stop();
  await provider.stop();
});
