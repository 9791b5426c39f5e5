import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import session from 'express-session';
import { authRouter, requireSession } from '../../../lib/index.js';
import { expressSession, movingIn } from '../../../lib/moving-in.js';
import { password, type SpecApp, startApp } from '../../support/app.js';
import { CookieJar } from '../../support/cookie-jar.js';
import { OLD_SECRET, type OldStore, sessionStore, startOldApp } from '../../support/old-app.js';
import { ownRows } from '../../support/own-rows.js';

// Sessions that express-session and passport have made, in the same database.
const HOUR = 3_600_000;

describe('an app whose users have a table of their own', () => {
  let app: SpecApp<readonly ReturnType<typeof password>[]>;
  let old: Awaited<ReturnType<typeof startOldApp>>;
  let model: ReturnType<typeof ownRows>['model'];
  let jar: CookieJar;
  beforeAll(async () => {
    let store: OldStore | undefined;
    app = (await startApp({
      config: async (database) => {
        const own = ownRows(database);
        model = own.model;
        await model.sync();
        return own.config;
      },
      plugins: (database) => {
        store = sessionStore(database);
        const bridge = expressSession({
          store,
          secret: ['a newer secret', OLD_SECRET],
          userId: (data) => data.passport?.user,
        });
        return [password(), movingIn({ bridges: [bridge] })] as const;
      },
      mount(express, auth) {
        express.use('/auth', authRouter(auth));
        express.get('/page', requireSession(auth), ({ user }, res) => void res.json({ user }));
      },
    })) as never;
    old = await startOldApp(store as OldStore);
  });
  afterAll(async () => {
    await old.stop();
    await app.stop();
  });
  beforeEach(() => {
    jar = new CookieJar();
  });

  const page = () => jar.visit(`${app.origin}/page`);
  const signIn = (id: unknown) => jar.visit(`${old.origin}/login/${id}`, { method: 'POST' });

  test('the primary key in a session leads to its row and account', async () => {
    const accounts = [];
    for (const name of ['Ada', 'Grace'])
      accounts.push(await app.auth.users.create({ email: `${name}@example.com`, fields: { name } }));
    const [, grace] = accounts;
    const row = await model.findOne({ where: { authId: grace?.id ?? '' } });
    await signIn(row?.get('id'));
    expect((await jar.visit(`${old.origin}/me`)).body.user).toEqual({ id: String(row?.get('id')) });
    expect(await page()).toMatchObject({
      status: 200,
      body: { user: { id: row?.get('id'), name: 'Grace' } },
    });
    expect((await jar.visit(`${app.origin}/auth/me`)).body.user?.id).toBe(grace?.id);
    expect((await jar.visit(`${old.origin}/me`)).body.user).toBeNull();
  });

  test.each(['4711', '2nd', '1.0', '01', "1' OR 1=1 --", 'undefined'])(
    'the key %s, which no row has, leads nowhere',
    async (key) => {
      await signIn(encodeURIComponent(key));
      expect((await page()).status).toBe(401);
    },
  );

  test('a row that has no account yet leads nowhere', async () => {
    const row = await model.create({ name: 'Joan' });
    await signIn(row.get('id'));
    expect((await page()).status).toBe(401);
  });
});

describe('an app whose sessions', () => {
  let app: SpecApp<readonly ReturnType<typeof password>[]>;
  let old: Awaited<ReturnType<typeof startOldApp>>;
  let jar: CookieJar;
  afterEach(async () => {
    await old.stop();
    await app.stop();
  });

  async function start(
    cookie: session.CookieOptions,
    options: { rolling?: boolean; cookieName?: string } = {},
  ) {
    const store = new session.MemoryStore();
    app = (await startApp({
      plugins: [
        password(),
        movingIn({
          bridges: [
            expressSession({ store, secret: OLD_SECRET, userId: (data) => data.passport?.user, ...options }),
          ],
        }),
      ],
    })) as never;
    old = await startOldApp(Object.assign(store, { sync: async () => {} }) as never, cookie);
    jar = new CookieJar();
    const { id } = await app.auth.users.create({ email: 'ada@example.com' });
    await jar.visit(`${old.origin}/login/${id}`, { method: 'POST' });
    return { id, store };
  }

  const me = () => jar.visit(`${app.origin}/auth/me`);
  const hoursLeft = async (id: string) => {
    const [one] = await app.auth.listSessions(id);
    return ((one?.expiresAt.getTime() ?? 0) - Date.now()) / HOUR;
  };

  test('end with the browser get one that does too, for the short lifetime', async () => {
    const { id } = await start({});
    const { status, cookies } = await me();
    expect([status, cookies]).toEqual([
      200,
      [expect.stringMatching(/^latchkey=[^;]+; Path=\/; HttpOnly; SameSite=Lax$/)],
    ]);
    expect(await hoursLeft(id)).toBeCloseTo(24, 1);
  });

  test('would outlive those of latchkey end with these', async () => {
    const { id } = await start({ maxAge: 1000 * 24 * HOUR });
    await me();
    expect(await hoursLeft(id)).toBeCloseTo(30 * 24, 1);
  });

  test('are rolling get the time that a request has given them in the old app', async () => {
    const { id, store } = await start({ maxAge: 5 * HOUR }, { rolling: true });
    const sid = await onlySession(store);
    // As a store leaves it that is only touched.
    change(store, sid, (data) => Object.assign(data.cookie, { expires: new Date(Date.now() - HOUR) }));
    store.get = (_sid, done) =>
      done(
        null,
        JSON.parse((store as never as { sessions: Record<string, string> }).sessions[sid] ?? 'null'),
      );
    await me();
    expect(await hoursLeft(id)).toBeCloseTo(5, 1);
  });

  test('have a cookie with another name', async () => {
    const { store } = await start({}, { cookieName: 'sid' });
    expect((await me()).status).toBe(401);
    jar.cookies.set('sid', jar.cookies.get('connect.sid') ?? '');
    expect((await me()).status).toBe(200);
    expect(await onlySession(store)).toBe('');
  });
});

test('without the secret, the id alone counts, as documented', async () => {
  const store = new session.MemoryStore();
  const bridge = expressSession({ store, userId: () => null });
  expect(bridge.idIn('s:id.with.dots.signature')).toBe('id.with.dots');
  expect(['id.signature', 's:id', 's:.signature', ''].map((value) => bridge.idIn(value))).toEqual(
    Array(4).fill(null),
  );
});

async function onlySession(store: session.MemoryStore): Promise<string> {
  const all = await new Promise<object>((resolve) => store.all?.((_error, found) => resolve(found ?? {})));
  return Object.keys(all)[0] ?? '';
}

function change(store: session.MemoryStore, sid: string, act: (data: { cookie: object }) => void) {
  const { sessions } = store as never as { sessions: Record<string, string> };
  const data = JSON.parse(sessions[sid] ?? '');
  act(data);
  sessions[sid] = JSON.stringify(data);
}
