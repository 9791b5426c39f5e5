import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type AuthEventName, apiKeys } from '../../lib/index.js';
import { ada, password } from '../support/app.js';
import { type MailApp, startMailApp } from '../support/mail-app.js';

const plugins = [password({ signInOnSignUp: false }), apiKeys()] as const;
const BROWSER = { ip: '127.0.0.1', userAgent: 'a browser' };

let app: MailApp<typeof plugins>;
let userId: string;
let events: [name: string, ip: string | null, userAgent: string | null][];
const stops: (() => void)[] = [];

beforeAll(async () => {
  app = await startMailApp({ plugins, config: { rateLimit: { signIn: { limit: 3, window: 600 } } } });
  userId = (await app.auth.credential.signUp(ada))!.user.id;
});
afterAll(() => app.stop());

beforeEach(() => {
  events = [];
  const names: AuthEventName[] = [
    'session.created',
    'session.revoked',
    'password.changed',
    'password.reset',
    'user.email_verified',
    'api_key.created',
  ];
  for (const name of names) {
    stops.push(app.auth.on(name, ({ ip, userAgent }) => events.push([name, ip, userAgent])));
  }
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

const told = (...names: string[]) => names.map((name) => [name, BROWSER.ip, BROWSER.userAgent]);
const sorted = () => [...events].sort(([a], [b]) => (a < b ? -1 : 1));
const signIn = (more: object = {}) =>
  app.auth.credential.signIn({ credential: ada.email, password: ada.password, ...more });

describe('the client of a request', () => {
  test('is told by every event that the request causes', async () => {
    const browser = await signedInBrowser();
    events.length = 0;
    const { token } = await app.mailOf(() =>
      app.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202),
    );
    await app.http
      .post('/auth/passwords/reset')
      .set('user-agent', BROWSER.userAgent)
      .send({ token, new_password: ada.password })
      .expect(204);
    expect(sorted()).toEqual(told('password.reset', 'session.revoked', 'user.email_verified'));
    await browser.get('/auth/me').expect(401);
  });

  test('is the client of the request itself, even with two requests at once', async () => {
    const [one, other] = [await signIn(), await signIn()];
    events.length = 0;
    await Promise.all(
      [one, other].map(({ token }, index) =>
        app.http
          .post('/auth/signout')
          .set('cookie', `latchkey=${token}`)
          .set('user-agent', `browser ${index}`)
          .expect(204),
      ),
    );
    expect(events.map(([, , userAgent]) => userAgent).sort()).toEqual(['browser 0', 'browser 1']);
  });

  async function signedInBrowser() {
    const browser = app.browser();
    await browser
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: ada.password })
      .expect(200);
    return browser;
  }
});

describe('a listener', () => {
  test('makes calls of its own: not for the client of the event, whose session goes on', async () => {
    const browser = app.browser();
    await browser
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: ada.password })
      .expect(200);
    let issued: ReturnType<typeof signIn> | undefined;
    const stop = app.auth.on('user.created', () => {
      issued = signIn();
    });
    await browser
      .post('/auth/signup/credential')
      .send({ email: 'visitor@example.com', password: ada.password })
      .expect(201);
    stop();
    expect((await issued)?.session).toMatchObject({ ipAddress: null, userAgent: null });
    await browser.get('/auth/me').expect(200);
  });
});

describe('the client of a call by the app’s code', () => {
  test('is nobody unless the call names one, and then limits by address do not apply', async () => {
    for (let index = 0; index < 4; index++) await signIn();
    expect(events).toEqual(Array(4).fill(['session.created', null, null]));
  });

  test('is what the call names, for every event that it causes', async () => {
    const { session } = await signIn();
    const client = { ip: '192.0.2.1', userAgent: 'a program' };
    await signIn();
    events.length = 0;
    await app.auth.credential.changePassword({
      userId,
      sessionId: session.id,
      currentPassword: ada.password,
      newPassword: ada.password,
      ...client,
    });
    expect(new Set(events.map(([, ip, userAgent]) => `${ip} ${userAgent}`))).toEqual(
      new Set(['192.0.2.1 a program']),
    );
    expect(events.map(([name]) => name)).toContain('session.revoked');
    await app.auth.apiKeys.create(userId, { name: 'program', ...client });
    expect(events.at(-1)).toEqual(['api_key.created', '192.0.2.1', 'a program']);
  });

  test('can be named by a request, whose sessions a sign-in ends', async () => {
    const before = await signIn();
    const headers = { cookie: `latchkey=${before.token}`, 'user-agent': 'the browser' };
    events.length = 0;
    const after = await signIn({ request: { headers, ip: '::ffff:192.0.2.2' } });
    expect(after.session).toMatchObject({ ipAddress: '192.0.2.2', userAgent: 'the browser' });
    expect(await app.auth.revokeSession(before.token)).toBe(false);
    expect(sorted()).toEqual([
      ['session.created', '192.0.2.2', 'the browser'],
      ['session.revoked', '192.0.2.2', 'the browser'],
    ]);
  });

  test('can be named by a Fetch request, and in part by hand', async () => {
    const headers = new Headers({ 'user-agent': 'the browser' });
    const { session } = await signIn({ request: { headers }, ip: '192.0.2.3' });
    expect(session).toMatchObject({ ipAddress: '192.0.2.3', userAgent: 'the browser' });
  });

  test('counts for limits by address', async () => {
    const ip = '192.0.2.4';
    await signIn({ ip });
    await signIn({ request: { headers: {}, ip } });
    await signIn({ ip: `::ffff:${ip}` });
    await expect(signIn({ ip })).rejects.toMatchObject({ code: 'rate_limited' });
    // An address that is not known is limited too.
    await signIn({ ip: null });
    await signIn({ request: { headers: {} } });
    await signIn({ ip: null });
    await expect(signIn({ ip: null })).rejects.toMatchObject({ code: 'rate_limited' });
  });

  test('must be a request, or an object with headers', async () => {
    for (const request of [null, 'x', {}]) {
      await expect(signIn({ request })).rejects.toThrow(/latchkey: .*request/);
    }
    for (const wrong of [{ ip: 5 }, { userAgent: ['x'] }])
      await expect(signIn(wrong)).rejects.toThrow('must be a string or null');
  });
});
