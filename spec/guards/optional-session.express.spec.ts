import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Request, Response } from 'express';
import { apiKeys, authRouter, optionalSession } from '../../lib/index.js';
import { ada, password, type SpecApp, sessionCookie, startApp } from '../support/app.js';
import { expectProblem } from '../support/problem.js';
import { ago, changeSession, HOUR, SECOND, signIn } from '../support/sessions.js';
import { afterPause } from '../support/wrong-clock.js';

const plugins = [password(), apiKeys()] as const;
const CLEARED = ['Path=/', 'Expires=Thu, 01 Jan 1970 00:00:00 GMT', 'HttpOnly', 'SameSite=Lax'];
const JUNK = `lks_${'A'.repeat(48)}`;
const credentials = { credential: ada.email, password: ada.password };

const late: (() => void)[] = [];
const reached = new EventEmitter();

let app: SpecApp<typeof plugins>;
let userId: string;
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: { bearerEnabled: true },
    mount(express, auth) {
      // In front of everything, so nothing may be unreachable with an old cookie.
      express.use(optionalSession(auth));
      express.use('/auth', authRouter(auth));
      const seen = (req: Request, res: Response) => void res.json(req.auth?.user.email ?? null);
      express.all('/', seen);
      express.get('/twice', optionalSession(auth), seen);
      express.get('/public', (_req, res) => void res.set('Cache-Control', 'public, max-age=60').send('page'));
      express.get(
        '/other-cookies',
        (_req, res) => void res.cookie('theme', 'dark').cookie('a', 'b').send(''),
      );
      express.get('/own-cookie', (_req, res) => void res.cookie('latchkey', 'of the app').send(''));
      express.get('/head', (_req, res) => {
        res.writeHead(201, { 'Set-Cookie': 'latchkey=head' });
        res.write('first');
        res.end('last');
      });
      const forms: Record<string, unknown> = {
        object: { 'Cache-Control': 'public', 'Set-Cookie': ['theme=dark', 'a=b'] },
        turns: ['Cache-Control', 'public', 'Set-Cookie', 'theme=dark', 'Set-Cookie', 'a=b'],
        pairs: [
          ['Cache-Control', 'public'],
          ['Set-Cookie', ['theme=dark', 'a=b']],
        ],
      };
      express.get('/head/:form', (req, res) => {
        res.removeHeader('X-Powered-By');
        res.writeHead(200, 'Fine', forms[req.params.form] as never).end();
      });
      express.get('/late', (_req, res) => {
        late.push(() => res.send('late'));
        reached.emit('late');
      });
      express.get('/stream', (_req, res) => {
        res.write('first');
        res.end('last');
      });
      express.get('/down', (_req, res) => void res.status(503).send('down'));
    },
  });
  const made = (await app.auth.credential.signUp(ada)) as { user: { id: string } };
  userId = made.user.id;
});
afterAll(() => app.stop());

const get = (cookie: string, path = '/') => app.http.get(path).set('cookie', cookie);
const revoked = async () => {
  const { token } = await signIn(app);
  await app.auth.revokeSession(token);
  return `latchkey=${token}`;
};

describe('optionalSession and a cookie that opens nothing', () => {
  const dead: [string, () => Promise<string>][] = [
    ['was revoked', revoked],
    [
      'has expired',
      async () => {
        const { id, headers } = await signIn(app);
        await changeSession(app, id, { expiresAt: ago(SECOND) });
        return headers.cookie;
      },
    ],
    [
      'was idle for too long',
      async () => {
        const { id, headers } = await signIn(app);
        await changeSession(app, id, { lastActiveAt: ago(30 * 24 * HOUR) });
        return headers.cookie;
      },
    ],
    ['is junk', async () => 'latchkey=junk'],
    ['never existed', async () => `latchkey=${JUNK}`],
    [
      'has two different values',
      async () => {
        const [one, two] = [await signIn(app), await signIn(app)];
        return `latchkey=${one.token}; latchkey=${two.token}`;
      },
    ],
  ];

  test.each(dead)('goes on without a session, and clears it, if it %s', async (_why, make) => {
    const cookie = await make();
    const answer = await get(cookie).expect(200);
    expect(answer.body).toBeNull();
    expect(sessionCookie(answer)).toEqual({ value: '', attributes: CLEARED });
    expect((await get(cookie, '/twice').expect(200)).headers['set-cookie']).toHaveLength(1);
  });

  test.each(dead)('lets a user sign in and sign up if it %s', async (_why, make) => {
    const cookie = await make();
    const up = { email: `${Math.random()}@example.com`, password: ada.password };
    await app.http.post('/auth/signup/credential').set('cookie', cookie).send(up).expect(201);
    const answer = await app.http.post('/auth/signin/credential').set('cookie', cookie).send(credentials);
    expect(answer.status).toBe(200);
    // Only the new cookie, and not the clearing of the old one.
    const set = [answer.headers['set-cookie'] ?? []].flat();
    expect(set.filter((one) => one.startsWith('latchkey='))).toHaveLength(1);
    await get(`latchkey=${sessionCookie(answer)?.value}`).expect(200, `"${ada.email}"`);
    expectProblem(await get(cookie, '/auth/me'), 401, 'invalid_session');
  });

  test('lets unsafe requests of other sites through, since it authenticates nobody', async () => {
    const cookie = await revoked();
    await app.http.post('/').set({ cookie, origin: 'https://evil.example' }).expect(200, 'null');
  });

  test('keeps the app’s cookies, also its own session cookie', async () => {
    const cookie = await revoked();
    const { headers } = await get(cookie, '/other-cookies').expect(200);
    expect(headers['set-cookie']).toEqual([
      'theme=dark; Path=/',
      'a=b; Path=/',
      `latchkey=; ${CLEARED.join('; ')}`,
    ]);
    const own = await get(cookie, '/own-cookie').expect(200);
    expect(own.headers['set-cookie']).toEqual(['latchkey=of%20the%20app; Path=/']);
    const head = await get(cookie, '/head').expect(201);
    expect([head.headers['set-cookie'], head.text]).toEqual([['latchkey=head'], 'firstlast']);
  });

  test('clears it in a stream, and in the response to a HEAD request', async () => {
    const cookie = await revoked();
    expect(sessionCookie(await get(cookie, '/stream'))?.value).toBe('');
    expect(sessionCookie(await app.http.head('/').set('cookie', cookie))?.value).toBe('');
  });

  test('does not let a cache keep the response', async () => {
    expect((await get(await revoked(), '/public')).headers['cache-control']).toBe('no-store');
    expect((await get('', '/public')).headers['cache-control']).toBe('public, max-age=60');
  });

  test.each(['object', 'turns', 'pairs'])(
    'does not let a cache keep the response if its headers are given to writeHead (%s)',
    async (form) => {
      const { headers } = await get(await revoked(), `/head/${form}`).expect(200);
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['set-cookie']).toEqual(['theme=dark', 'a=b', `latchkey=; ${CLEARED.join('; ')}`]);
    },
  );

  test('clears nothing in a response that comes late, since the browser may have signed in meanwhile', async () => {
    const cookie = await revoked();
    const begun = once(reached, 'late');
    const answer = get(cookie, '/late').then((response) => response);
    await begun;
    await app.http.post('/auth/signin/credential').set('cookie', cookie).send(credentials).expect(200);
    await afterPause(1100, async () => {
      late.pop()?.();
      expect((await answer).headers['set-cookie']).toBeUndefined();
    });
  });

  test('clears nothing during an outage', async () => {
    const answer = await get(await revoked(), '/down').expect(503);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });
});

describe('optionalSession and a token that was replaced', () => {
  /** Goes on without a session, and leaves the cookie. */
  const expectKept = async (cookie: string) => {
    const answer = await get(cookie).expect(200, 'null');
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.headers['cache-control']).toBeUndefined();
  };
  const expectCleared = async (cookie: string) =>
    expect(sessionCookie(await get(cookie).expect(200, 'null'))?.value).toBe('');

  test('by a password change keeps the cookie for a minute', async () => {
    const { id, token, headers } = await signIn(app);
    const changed = await app.auth.credential.changePassword({
      userId,
      sessionId: id,
      currentPassword: ada.password,
      newPassword: ada.password,
    });
    expect(changed.token).not.toBe(token);
    await expectKept(headers.cookie);
    await get(`latchkey=${changed.token}`).expect(200, `"${ada.email}"`);
    await changeSession(app, id, { tokenIssuedAt: ago(61 * SECOND) });
    await expectCleared(headers.cookie);
  });

  test('by a sign-in keeps the cookie for a minute, whether or not it was valid', async () => {
    for (const old of [(await signIn(app)).headers.cookie, await revoked()]) {
      const answer = await app.http.post('/auth/signin/credential').set('cookie', old).send(credentials);
      const { id } = answer.body.session;
      await expectKept(old);
      await changeSession(app, id, { tokenIssuedAt: ago(61 * SECOND) });
      await expectCleared(old);
    }
  });

  test('clears the cookie of the other sessions that a password change ends', async () => {
    const [mine, another] = [await signIn(app), await signIn(app)];
    await app.auth.credential.changePassword({
      userId,
      sessionId: mine.id,
      currentPassword: ada.password,
      newPassword: ada.password,
    });
    await expectCleared(another.headers.cookie);
  });

  test('and whose session ended since then clears the cookie', async () => {
    const { id, headers } = await signIn(app);
    const { token } = await app.auth.credential.changePassword({
      userId,
      sessionId: id,
      currentPassword: ada.password,
      newPassword: ada.password,
    });
    await app.auth.revokeSession(token);
    await expectCleared(headers.cookie);
  });
});

describe('optionalSession', () => {
  test('leaves a live cookie, and sets none if there is none', async () => {
    const { headers } = await signIn(app);
    for (const cookie of [headers.cookie, '', 'other=1', 'latchkey=']) {
      const answer = await get(cookie).expect(200);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
  });

  test('refuses other credentials that open nothing, whatever the cookie, and clears nothing', async () => {
    const live = (await signIn(app)).headers.cookie;
    for (const cookie of ['', live, await revoked(), 'latchkey=junk']) {
      const answers = [
        [{ authorization: `Bearer ${JUNK}` }, 'invalid_session'],
        [{ authorization: 'Bearer ' }, 'invalid_session'],
        [{ authorization: 'ApiKey junk' }, 'invalid_api_key'],
        [{ 'x-service-api-key': 'junk' }, 'invalid_api_key'],
      ] as const;
      for (const [headers, code] of answers) {
        const answer = await get(cookie).set(headers);
        expectProblem(answer, 401, code);
        expect(answer.headers['set-cookie']).toBeUndefined();
      }
    }
  });
});
