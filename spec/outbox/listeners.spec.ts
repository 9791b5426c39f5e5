import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type AuthEventName, admin, apiKeys, auditLog, createAuth } from '../../lib/index.js';
import { ada, memoryLogger, password, SECRET, type signedIn } from '../support/app.js';
import { rows } from '../support/database.js';
import { type MailApp, startMailApp } from '../support/mail-app.js';
import { settled } from '../support/sessions.js';

const plugins = [
  password({ sendVerificationOnSignUp: true }),
  apiKeys(),
  admin({ adminEmails: ['root@example.com'] }),
  auditLog(),
] as const;
// The events of provider accounts are tested in the specs of oauth.
const NAMES = [
  'user.created',
  'user.email_verified',
  'session.created',
  'session.revoked',
  'sign_in.failed',
  'sign_in.throttled',
  'password.changed',
  'password.reset',
  'api_key.created',
  'api_key.revoked',
  'admin.sessions_revoked',
] as const satisfies AuthEventName[];
const FROM = { ip: '127.0.0.1', userAgent: 'a browser' };

let app: MailApp<typeof plugins>;
const seen: [name: string, event: object][] = [];
beforeAll(async () => {
  app = await startMailApp({
    plugins,
    config: {
      rateLimit: {
        signIn: false,
        signUp: false,
        mail: false,
        account: { failures: 1, firstPause: 60, maxPause: 60 },
      },
    },
  });
  for (const name of NAMES) app.auth.on(name, (event) => void seen.push([name, event]));
});
afterAll(() => app.stop());

const happened = async () => {
  await settled(app.auth);
  return seen.splice(0).sort(([a], [b]) => (a < b ? -1 : 1));
};
const everything: unknown[] = [];
const secrets: string[] = [];

let people = 0;
let person: typeof ada;
let browser: Awaited<ReturnType<typeof signedIn>>;
let userId: string;
beforeEach(async () => {
  person = { email: `person-${++people}@example.com`, password: ada.password };
  browser = app.browser();
  browser.set('user-agent', FROM.userAgent);
  const { body } = await browser.post('/auth/signup/credential').send(person).expect(201);
  userId = body.user.id;
  const answer = await browser
    .post('/auth/signin/credential')
    .send({ credential: person.email, password: person.password })
    .expect(200);
  secrets.push(String(answer.headers['set-cookie']).slice(9, 60), ada.password);
  everything.push(...(await happened()));
});

describe('events contain ids, the address and the user agent', () => {
  const expectEvents = async (...expected: [string, object][]) => {
    const events = await happened();
    everything.push(...events);
    expect(events).toEqual(expected.map(([name, event]) => [name, { ...FROM, userId, ...event }]));
  };

  test('for a sign-up and a sign-in', async () => {
    const other = { email: `other-${people}@example.com`, password: ada.password };
    const { body } = await browser.post('/auth/signup/credential').send(other).expect(201);
    await expectEvents(['user.created', { userId: body.user.id }]);
    const fresh = app.browser().set('user-agent', FROM.userAgent);
    const signedIn = await fresh
      .post('/auth/signin/credential')
      .send({ credential: person.email, password: person.password });
    await expectEvents(['session.created', { sessionId: signedIn.body.session.id }]);
  });

  test('for a failed and a throttled sign-in', async () => {
    const signIn = (credential: string) =>
      browser.post('/auth/signin/credential').send({ credential, password: 'a wrong password' });
    await signIn(person.email).expect(401);
    await expectEvents(['sign_in.failed', {}]);
    await signIn(person.email).expect(429);
    await expectEvents(['sign_in.throttled', {}]);
    await signIn(`nobody-${people}@example.com`).expect(401);
    await signIn(`nobody-${people}@example.com`).expect(429);
    await expectEvents(['sign_in.failed', { userId: null }], ['sign_in.throttled', { userId: null }]);
  });

  test('for sessions that end', async () => {
    const { body } = await browser.get('/auth/me');
    await browser.post('/auth/signout').expect(204);
    await expectEvents(['session.revoked', { sessionId: body.session.id }]);
    await browser
      .post('/auth/signin/credential')
      .send({ credential: person.email, password: person.password });
    const { session } = (await browser.get('/auth/me')).body;
    const elsewhere = await app.auth.credential.signIn({
      credential: person.email,
      password: person.password,
    });
    await happened();
    await browser.post('/auth/revoke-sessions').expect(200);
    await expectEvents(
      ...[session.id, elsewhere.session.id].map((sessionId): [string, object] => [
        'session.revoked',
        { sessionId },
      ]),
    );
    expect(await app.auth.revokeAllSessions(userId)).toBe(0);
    expect(await happened()).toEqual([]);
  });

  test('for an email verification and a password reset', async () => {
    const { token } = await app.mailOf(() => browser.post('/auth/email-verifications').expect(202));
    await browser.post('/auth/verify-email').send({ token, password: person.password }).expect(200);
    await expectEvents(['user.email_verified', {}]);
    const lost = await app.mailOf(() =>
      browser.post('/auth/passwords/request-reset').send({ email: person.email }),
    );
    secrets.push(token, lost.token, 'a difference engine');
    await browser
      .post('/auth/passwords/reset')
      .send({ token: lost.token, new_password: 'a difference engine' })
      .expect(204);
    await expectEvents(['password.reset', {}], ['session.revoked', { sessionId: expect.any(String) }]);
  });

  test('for a password change', async () => {
    await browser
      .post('/auth/passwords/change')
      .send({ current_password: person.password, new_password: 'a difference engine' })
      .expect(200);
    await expectEvents(['password.changed', {}]);
  });

  test('for API keys', async () => {
    const { body } = await browser.post('/auth/api-keys').send({ name: 'a program' }).expect(201);
    secrets.push(body.key.slice(12));
    await expectEvents(['api_key.created', { apiKeyId: body.api_key.id }]);
    await browser.delete(`/auth/api-keys/${body.api_key.id}`).expect(204);
    await browser.delete(`/auth/api-keys/${body.api_key.id}`).expect(404);
    await expectEvents(['api_key.revoked', { apiKeyId: body.api_key.id }]);
  });

  test('for an administrator’s action', async () => {
    const root = app.browser().set('user-agent', FROM.userAgent);
    const credentials = { email: 'root@example.com', password: ada.password };
    const { body } = await root.post('/auth/signup/credential').send(credentials).expect(201);
    await app.auth.markEmailVerified(body.user.id);
    await root
      .post('/auth/signin/credential')
      .send({ credential: credentials.email, password: credentials.password });
    await happened();
    await root.post(`/auth/admin/users/${userId}/revoke-sessions`).expect(200);
    await expectEvents(
      ['admin.sessions_revoked', { adminId: body.user.id }],
      ['session.revoked', { sessionId: expect.any(String) }],
    );
  });

  test('with null as address and user agent if the app itself calls an operation', async () => {
    await app.auth.markEmailVerified(userId);
    await app.auth.revokeAllSessions(userId);
    const nowhere = { ip: null, userAgent: null };
    await expectEvents(
      ['session.revoked', { sessionId: expect.any(String), ...nowhere }],
      ['user.email_verified', nowhere],
    );
    await app.auth.credential.signIn({
      credential: person.email,
      password: person.password,
      ip: '192.0.2.1',
    });
    await expectEvents([
      'session.created',
      { sessionId: expect.any(String), ip: '192.0.2.1', userAgent: null },
    ]);
  });

  test('with the correct user agent for each of several concurrent requests', async () => {
    const agents = Array.from({ length: 10 }, (_, index) => `agent ${index}`);
    await Promise.all(
      agents.map((agent) =>
        app.http
          .post('/auth/signin/credential')
          .set('user-agent', agent)
          .send({ credential: `${agent.replace(' ', '-')}-${people}@example.com`, password: 'wrong' }),
      ),
    );
    const told = (await happened()).map(([, event]) => (event as { userAgent: string }).userAgent);
    expect(told.sort()).toEqual(agents);
  });

  test('and never contain a secret', async () => {
    const audit = await rows(app.database, 'SELECT * FROM audit_events');
    expect(everything.length).toBeGreaterThan(15);
    expect(audit.length).toBeGreaterThan(15);
    expect(secrets.length).toBeGreaterThan(10);
    const told = JSON.stringify([everything, audit]);
    for (const secret of [...secrets, 'a wrong password', 'lks_', 'lkk_', 'lkm_', 'bcrypt'])
      expect(told).not.toContain(secret);
  });
});

describe('a listener', () => {
  test('that throws, rejects or hangs does not affect the response, and its error is logged', async () => {
    const offs = [
      () => void JSON.parse('thrown by a listener'),
      () => Promise.reject(new Error('rejected by a listener')),
      () => new Promise(() => undefined),
    ].flatMap((listener) => NAMES.map((name) => app.auth.on(name, listener)));
    app.log.length = 0;
    await browser.post('/auth/api-keys').send({ name: 'x' }).expect(201);
    await browser.post('/auth/signout').expect(204);
    await settled(app.auth);
    for (const name of ['api_key.created', 'session.revoked'])
      expect(
        app.log.filter((line) => line.startsWith(`error latchkey: a listener for '${name}' failed`)),
      ).toHaveLength(2);
    for (const off of offs) off();
  });

  test('is not called after it was removed, and is called once if it was added twice', async () => {
    const heard: string[] = [];
    const listener = ({ userId }: { userId: string }) => heard.push(userId);
    const off = app.auth.on('session.revoked', listener);
    app.auth.on('session.revoked', listener);
    await app.auth.revokeAllSessions(userId);
    await settled(app.auth);
    expect(heard).toEqual([userId]);
    off();
    await app.auth.revokeAllSessions(userId);
    await settled(app.auth);
    expect(heard).toEqual([userId]);
  });

  test('has been called when the operation returns', async () => {
    const heard: string[] = [];
    const offs = NAMES.map((name) => app.auth.on(name, () => void heard.push(name)));
    const heardOf = async (work: () => Promise<unknown>) => {
      await work();
      return heard.splice(0);
    };
    const { auth } = app;
    const { email, password } = person;
    const other = { email: `early-${people}@example.com`, password };
    expect(await heardOf(() => auth.credential.signUp(other))).toEqual(['user.created']);
    const signIn = () => auth.credential.signIn({ credential: email, password });
    expect(await heardOf(signIn)).toEqual(['session.created']);
    expect(await heardOf(() => auth.markEmailVerified(userId))).toEqual(['user.email_verified']);
    const wrong = () => auth.credential.signIn({ credential: email, password: 'wrong' }).catch(() => null);
    expect(await heardOf(wrong)).toEqual(['sign_in.failed']);
    expect(await heardOf(wrong)).toEqual(['sign_in.throttled']);
    let id = '';
    const create = async () => {
      id = (await auth.apiKeys.create(userId, { name: 'x' })).apiKey.id;
    };
    expect(await heardOf(create)).toEqual(['api_key.created']);
    expect(await heardOf(() => auth.apiKeys.revoke(userId, id))).toEqual(['api_key.revoked']);
    const told = await heardOf(() => auth.admin.revokeUserSessions(userId));
    expect(new Set(told)).toEqual(new Set(['session.revoked', 'admin.sessions_revoked']));
    for (const off of offs) off();
  });

  test('cannot change the event that other listeners and the audit log get', async () => {
    const told: unknown[] = [];
    const offs = [
      app.auth.on('api_key.created', (event) => Object.assign(event, { userId: 'somebody else' })),
      app.auth.on('api_key.created', (event) => Reflect.set(event, 'ip', '192.0.2.66')),
      app.auth.on('api_key.created', (event) => Reflect.deleteProperty(event, 'apiKeyId')),
      app.auth.on('api_key.created', (event) => told.push(event)),
    ];
    app.log.length = 0;
    const { body } = await browser.post('/auth/api-keys').send({ name: 'x' }).expect(201);
    await settled(app.auth);
    expect(told).toEqual([{ ...FROM, userId, apiKeyId: body.api_key.id }]);
    expect(app.log).toEqual([
      expect.stringMatching(/a listener for 'api_key.created' failed TypeError: Cannot assign/),
    ]);
    const { events } = await app.auth.auditLog.listEvents({ userId, kind: 'api_key.created' });
    expect(events).toMatchObject([{ userId, ipAddress: FROM.ip, details: { apiKeyId: body.api_key.id } }]);
    for (const off of offs) off();
  });

  test.each<[said: RegExp, name: unknown, listener: unknown]>([
    [/there is no event 'nope'; listen to one of user\.created, .*, sign_in\.failed, /, 'nope', () => {}],
    [/there is no event 'user_created'/, 'user_created', () => {}],
    [/there is no event 'toString'/, 'toString', () => {}],
    [/there is no event undefined/, undefined, () => {}],
    [/auth\.on\('user\.created', …\): the listener must be a function, not 5/, 'user.created', 5],
    [/auth\.on\('user\.created', …\): the listener must be a function/, 'user.created', undefined],
    [/auth\.on\('user\.created', …\): the listener must be a function/, 'user.created', { handle() {} }],
  ])('is rejected: %s', (said, name, listener) => {
    const listen = () => app.auth.on(name as never, listener as never);
    expect(listen).toThrow(TypeError);
    expect(listen).toThrow(said);
  });

  test('gets only the events of its own process', async () => {
    const other = createAuth({
      database: app.database.url,
      secret: SECRET,
      logger: memoryLogger(),
      plugins: [password()],
    });
    await other.revokeAllSessions(userId);
    expect(await happened()).toEqual([]);
    await other.close();
  });
});
