import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AuthEvents, authRouter } from '../../../../lib/index.js';
import { ada, password, type SpecApp, sessionCookie, startApp } from '../../../support/app.js';
import { importUsers } from '../../../support/import-users.js';
import { expectProblem } from '../../../support/problem.js';
import { settled } from '../../../support/sessions.js';

describe('POST /signin/credential', () => {
  let app: SpecApp<readonly [ReturnType<typeof password>]>;
  let userId: string;
  beforeAll(async () => {
    app = await startApp({ plugins: [password({ username: true })] });
    const { body } = await app.http
      .post('/auth/signup/credential')
      .send({ ...ada, username: 'Ada_L' })
      .expect(201);
    userId = body.user.id;
    // An account without a password, as after a sign-up with a provider.
    const { id } = (await app.auth.credential.signUp({ ...ada, email: 'none@example.com' }))!.user;
    await app.auth.models.User.update({ passwordHash: null }, { where: { id } });
  });
  afterAll(() => app.stop());

  const signIn = (body: object) => app.http.post('/auth/signin/credential').send(body);

  test('returns the user and the session, and sets the cookie', async () => {
    const answer = await signIn({ credential: ada.email, password: ada.password }).set(
      'user-agent',
      'a browser',
    );
    expect(answer.status).toBe(200);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(answer.body).toEqual({
      user: {
        id: userId,
        email: ada.email,
        username: 'ada_l',
        username_display: 'Ada_L',
        email_verified_at: null,
        created_at: time,
        updated_at: time,
      },
      session: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        user_id: userId,
        created_at: time,
        last_active_at: answer.body.session.created_at,
        expires_at: time,
        ip_address: '127.0.0.1',
        user_agent: 'a browser',
      },
    });
    expect(sessionCookie(answer)?.attributes).toEqual(['Path=/', 'HttpOnly', 'SameSite=Lax']);
    expect(answer.text).not.toContain(sessionCookie(answer)?.value);
    expect(answer.headers['set-auth-token']).toBeUndefined();
  });

  test.each(['ada@example.com', ' ADA@Example.COM ', 'ada_l', 'ADA_L'])(
    'accepts %j as the credential',
    async (credential) => {
      const { body } = await signIn({ credential, password: ada.password }).expect(200);
      expect(body.user.id).toBe(userId);
    },
  );

  test.each([
    'ada_l ',
    'ada_',
    'ada%',
    '%',
    "' OR 1=1 --",
    'ada@example.co',
    'ada＠example.com',
    'ada@example.com\u200b',
  ])('rejects %j as the credential', async (credential) => {
    expectProblem(await signIn({ credential, password: ada.password }), 401, 'invalid_credentials');
  });

  test('responds in the same way to a wrong password, an unknown account and an account without a password', async () => {
    const wrong = [
      await signIn({ credential: ada.email, password: 'not her password' }),
      await signIn({ credential: ada.email, password: ada.password.toUpperCase() }),
      await signIn({ credential: ada.email, password: 'x' }),
      await signIn({ credential: 'nobody@example.com', password: ada.password }),
      await signIn({ credential: 'nobody', password: ada.password }),
      await signIn({ credential: 'no address, no username', password: ada.password }),
      await signIn({ credential: 'none@example.com', password: ada.password }),
      await signIn({ credential: 'none@example.com', password: 'null' }),
    ];
    const [first, ...others] = wrong.map(({ text, headers: { date, ...headers } }) => ({ text, headers }));
    expectProblem(wrong[0]!, 401, 'invalid_credentials');
    for (const other of others) expect(other).toEqual(first);
    expect(first?.headers['set-cookie']).toBeUndefined();
  });

  test.each([
    ['too long', 'x'.repeat(1025)],
    ['empty', ''],
    ['with a NUL', 'before\0after'],
    ['malformed Unicode', '\ud800'],
    ['a decomposed accent in 1,024 characters', `${'x'.repeat(1022)}e\u0301`],
  ])('refuses a password that is %s in the same way for every account', async (_what, given) => {
    const bcryptHash = `$2b$04$${'.'.repeat(53)}`;
    await importUsers(app.auth, [{ email: 'imported@example.com', passwordHash: bcryptHash }]);
    const answers = [];
    for (const credential of [ada.email, 'none@example.com', 'imported@example.com', 'nobody@example.com']) {
      const { status, text } = await signIn({ credential, password: given });
      answers.push(`${status} ${text}`);
    }
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toMatch(given.length === 1024 ? /^401 / : /^422 /);
  });

  test('emits events for failed and successful sign-ins, without secrets', async () => {
    const events: unknown[] = [];
    const offs = (['sign_in.failed', 'session.created', 'session.revoked'] as (keyof AuthEvents)[]).map(
      (name) => app.auth.on(name, (event) => events.push([name, event])),
    );
    await signIn({ credential: 'nobody@example.com', password: 'wrong password' });
    await signIn({ credential: 'ada_l', password: 'wrong password' });
    const { body } = await signIn({ credential: 'ada_l', password: ada.password });
    await settled(app.auth);
    expect(events).toEqual([
      ['sign_in.failed', expect.objectContaining({ userId: null, ip: '127.0.0.1' })],
      ['sign_in.failed', expect.objectContaining({ userId, ip: '127.0.0.1' })],
      ['session.created', expect.objectContaining({ userId, sessionId: body.session.id })],
    ]);
    expect(JSON.stringify(events)).not.toMatch(/wrong password|lks_|engine/);
    for (const off of offs) off();
  });

  test('is not affected by a listener that throws, rejects or hangs', async () => {
    const offs = [
      () => {
        throw new Error('thrown by a listener');
      },
      () => Promise.reject(new Error('rejected by a listener')),
      () => new Promise(() => {}),
    ].map((listener) => app.auth.on('session.created', listener));
    await signIn({ credential: ada.email, password: ada.password }).expect(200);
    await settled(app.auth);
    expect(
      app.log.filter((line) => line.startsWith("error latchkey: a listener for 'session.created'")),
    ).toHaveLength(2);
    for (const off of offs) off();
    app.log.length = 0;
  });

  test('matches no password if the stored hash has an unknown format', async () => {
    const { id } = (await app.auth.credential.signUp({ ...ada, email: 'odd@example.com' }))!.user;
    for (const passwordHash of [
      '',
      'junk',
      '$bcrypt-hmac-sha384',
      '$bcrypt-hmac-sha384$2b$04$short',
      `$2b$04$${'.'.repeat(53)}`,
    ]) {
      await app.auth.models.User.update({ passwordHash }, { where: { id } });
      for (const password of [ada.password, passwordHash || 'empty'])
        expectProblem(await signIn({ credential: 'odd@example.com', password }), 401, 'invalid_credentials');
    }
  });

  test('responds with 503 to some of a large number of sign-ins, and guarded pages stay fast', async () => {
    const crowd: (() => void)[] = [];
    let isFlooded = false;
    const slow = await startApp({
      plugins: [password({ bcryptCost: 9 })],
      mount(express, auth) {
        // Lets sign-ins through only when all have arrived, so that they meet, however fast the machine is.
        express.use('/auth/signin', (_req, _res, next) => {
          if (!isFlooded) return next();
          crowd.push(next);
          if (crowd.length === 120) for (const go of crowd) go();
        });
        express.use('/auth', authRouter(auth));
      },
    });
    await slow.auth.credential.signUp(ada);
    const browser = slow.browser();
    const credentials = { credential: ada.email, password: ada.password };
    await browser.post('/auth/signin/credential').send(credentials).expect(200);
    isFlooded = true;
    let signedIn = 0;
    const flood = Array.from({ length: 120 }, async () => {
      const answer = await slow.http.post('/auth/signin/credential').send(credentials);
      if (answer.status === 200) signedIn++;
      return answer;
    });
    // The queue is full when the first request is rejected.
    await Promise.race(flood.map(async (one) => (await one).status === 503 || new Promise(() => {})));
    await browser.get('/auth/me').expect(200);
    // Most queued sign-ins are still in the queue.
    expect(signedIn).toBeLessThan(40);
    const answers = await Promise.all(flood);
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(0);
    expect(answers.filter(({ status }) => status === 200).length).toBe(120 - refused.length);
    for (const answer of refused) {
      expectProblem(answer, 503, 'unavailable');
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
    await slow.stop();
  });
});
