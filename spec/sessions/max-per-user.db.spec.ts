import { afterEach, describe, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { internalsOf } from '../../lib/auth.js';
import {
  AuthError,
  authRouter,
  createAuth,
  requireSession,
  type SessionOptions,
  twoFactor,
} from '../../lib/index.js';
import { expressSession, jwtSessions, movingIn } from '../../lib/moving-in.js';
import { ada, password, SECRET, type SpecApp, sessionCookie, startApp } from '../support/app.js';
import { advance } from '../support/clock.js';
import { CookieJar } from '../support/cookie-jar.js';
import { rows } from '../support/database.js';
import { OLD_SECRET, sessionStore, startOldApp } from '../support/old-app.js';
import { ago, changeSession, DAY, HOUR, SECOND } from '../support/sessions.js';
import { codeOf, firstStep, secondStep, withSecondFactor } from '../support/two-factor.js';

// The number of sessions that a user can have. Every way in is in spec/ways-in/max-per-user.walk.spec.ts.
const plugins = [password(), twoFactor()] as const;
let app: SpecApp<typeof plugins>;
let userId: string;
let told: { sessionId: string; reason?: string }[];
const start = async (session: SessionOptions) => {
  app = await startApp({ plugins, config: { session } });
  ({ id: userId } = await app.auth.users.create(ada));
  told = [];
  app.auth.on('session.revoked', ({ sessionId, reason }) =>
    told.push({ sessionId, ...(reason && { reason }) }),
  );
};
afterEach(() => app.stop());

const byLimit = (...ids: string[]) => ids.map((sessionId) => ({ sessionId, reason: 'limit' }));
/** The ids of the rows, whether the sessions are active or not, oldest first. */
const stored = async () =>
  (await rows<{ id: string }>(app.database, 'SELECT id FROM sessions ORDER BY id')).map(({ id }) => id);
/** Creates a session, a second after the last one. */
const create = async () => {
  advance(app.auth, 1);
  return (await app.auth.createSession(userId)).session.id;
};
const several = async (count: number) => {
  const ids: string[] = [];
  while (ids.length < count) ids.push(await create());
  return ids;
};

test.each([1, 3])(
  'of 16 sign-ins at once, as many sessions are left as a user can have: %i',
  async (maxPerUser) => {
    await start({ maxPerUser });
    const other = createAuth({
      database: app.database.url,
      secret: SECRET,
      plugins: [password()],
      session: { maxPerUser },
    });
    // To a browser that the account knows, a sign-in adds no device, which would lock the user too.
    const device = sessionCookie(await firstStep(app.browser()).expect(200), 'latchkey-device')?.value;
    const signIns = Array.from({ length: 8 }, async (_, index) => {
      const browser = app.browser();
      if (index % 2) browser.set('cookie', `latchkey-device=${device}`);
      const both = [firstStep(browser).expect(200), other.createSession(userId)] as const;
      const [{ body }, issued] = await Promise.all(both);
      return [body.session.id as string, issued.session.id];
    });
    const begun = (await Promise.all(signIns)).flat();
    await other.close();
    const left = await stored();
    expect(left).toHaveLength(maxPerUser);
    expect(begun).toEqual(expect.arrayContaining(left));
  },
);

test('the sessions with the earliest stored activity end first, and of equal ones that with the lower id', async () => {
  await start({ maxPerUser: 4 });
  const [first, second, third, fourth] = (await several(4)) as [string, string, string, string];
  const at = (lastActiveAt: Date, ...ids: string[]) =>
    Promise.all(ids.map((id) => changeSession(app as never, id, { lastActiveAt })));
  await at(ago(HOUR), third, second, fourth);
  const fifth = await create();
  expect(told).toEqual(byLimit(second));
  const sixth = await create();
  expect(told).toEqual(byLimit(second, third));
  expect(await stored()).toEqual([first, fourth, fifth, sixth]);
});

test('the new session stays, even if another process has stored later activity of the others', async () => {
  await start({ maxPerUser: 2 });
  const [first, second] = await several(2);
  await changeSession(app as never, first as string, { lastActiveAt: ago(-60 * SECOND) });
  await changeSession(app as never, second as string, { lastActiveAt: ago(-30 * SECOND) });
  const third = await create();
  expect(await stored()).toEqual([first, third]);
});

test.each<[string, (id: string) => Promise<unknown>]>([
  ['has expired', (id) => changeSession(app as never, id, { expiresAt: ago(SECOND) })],
  ['was unused for too long', (id) => changeSession(app as never, id, { lastActiveAt: ago(8 * DAY) })],
  ['is of an earlier epoch', () => rows(app.database, 'UPDATE users SET auth_epoch = auth_epoch + 1')],
])('a session that %s does not count, and is left to prune', async (_what, end) => {
  await start({ maxPerUser: 2 });
  const first = await create();
  await end(first);
  const [second, third] = await several(2);
  expect(await stored()).toEqual([first, second, third]);
  expect(told).toEqual([]);
  await create();
  expect(told).toEqual(byLimit(second as string));
});

test('a sign-in that an end of all sessions overtakes ends no session', async () => {
  await start({ maxPerUser: 1 });
  const { core } = internalsOf(app.auth);
  const record = await core.users.require(userId);
  const checked = await core.checkSignIn({ ...record, amr: ['pwd'] });
  await app.auth.revokeAllSessions(userId);
  const present = await create();
  await checked.begin(record);
  expect(told).toEqual([]);
  expect((await app.auth.listSessions(userId)).map(({ id }) => id)).toEqual([present]);
});

test('a browser that signs in again replaces its own session, and ends no other', async () => {
  await start({ maxPerUser: 2 });
  const other = await create();
  const browser = app.browser();
  const first = (await firstStep(browser).expect(200)).body.session.id;
  const second = (await firstStep(browser).expect(200)).body.session.id;
  expect(told).toEqual([{ sessionId: first }]);
  expect(await stored()).toEqual([other, second]);
});

test('other users keep their sessions, and without the option there is no limit', async () => {
  await start({ maxPerUser: 1 });
  const eve = await app.auth.users.create({ email: 'eve@example.com' });
  await app.auth.createSession(eve.id);
  await several(2);
  expect(await app.auth.listSessions(eve.id)).toHaveLength(1);
  await app.stop();
  await start({});
  await several(5);
  expect(await stored()).toHaveLength(5);
  expect(told).toEqual([]);
});

test('a sign-in that waits for the second factor ends nothing until it is complete', async () => {
  await start({ maxPerUser: 2 });
  const eve = { email: 'eve@example.com', password: ada.password };
  const { browser, secret } = await withSecondFactor(app, eve);
  const { session, user } = (await browser.get('/auth/me').expect(200)).body;
  const other = await app.auth.createSession(user.id);
  await changeSession(app as never, session.id, { lastActiveAt: ago(HOUR) });
  told = [];
  const elsewhere = app.browser();
  await firstStep(elsewhere, eve).expect(200);
  await browser.get('/auth/me').expect(200);
  expect(told).toEqual([]);
  await changeSession(app as never, session.id, { lastActiveAt: ago(HOUR) });
  const { body } = await secondStep(elsewhere, { method: 'totp', code: codeOf(secret) }).expect(200);
  expect(told).toEqual(byLimit(session.id));
  expect(await stored()).toEqual([other.session.id, body.session.id]);
});

test('a lower limit takes effect at the next sign-in, however many sessions there are', async () => {
  await start({});
  const ids = await several(230);
  const limited = createAuth({
    database: app.database.url,
    secret: SECRET,
    plugins: [password()],
    session: { maxPerUser: 3 },
  });
  const ended: string[] = [];
  limited.on('session.revoked', ({ sessionId }) => ended.push(sessionId));
  const { session } = await limited.createSession(userId);
  await limited.close();
  // By the clock of this process, the new session is the earliest.
  expect(await stored()).toEqual([session.id, ...ids.slice(-2)]);
  expect(ended.sort()).toEqual(ids.slice(0, -2));
});

test('if the transaction of a sign-in is rolled back, no session ends', async () => {
  await start({ maxPerUser: 1 });
  const first = await create();
  const { core } = internalsOf(app.auth);
  const record = await core.users.require(userId);
  const checked = await core.checkSignIn({ ...record, amr: [] });
  const work = core.database.transaction(async (transaction) => {
    await checked.begin(record, transaction);
    throw new AuthError('invalid_token');
  });
  await expect(work).rejects.toMatchObject({ code: 'invalid_token' });
  expect([await stored(), told]).toEqual([[first], []]);
});

describe('sessions of a previous system', () => {
  const OLD_KEY = 'a key of the old app, of 32 bytes and more';
  let moved: SpecApp<readonly [ReturnType<typeof password>, ReturnType<typeof movingIn>]>;
  let old: Awaited<ReturnType<typeof startOldApp>>;
  let jar: CookieJar;
  const startBoth = async (keepOld: boolean) => {
    await start({});
    moved = await startApp({
      plugins(database) {
        const store = sessionStore(database);
        const bridge = expressSession({
          store,
          secret: OLD_SECRET,
          userId: ({ passport }) => passport?.user,
          ...(keepOld && { keepOld: { endAll() {} } }),
        });
        const until = new Date(Date.now() + DAY);
        const userIdOf = ({ sub }: { sub?: string }) => sub ?? null;
        const jwt = jwtSessions({ keys: OLD_KEY, algorithms: ['HS256'], userId: userIdOf, until });
        return [password(), movingIn({ bridges: [bridge, jwt] })] as const;
      },
      config: { session: { maxPerUser: 1 } },
      mount(express, auth) {
        express.get('/page', requireSession(auth), (_req, res) => void res.json({}));
        express.use('/auth', authRouter(auth));
      },
    });
    ({ id: userId } = await moved.auth.users.create({ ...ada, emailVerified: true }));
    old = await startOldApp(sessionStore(moved.database));
    jar = new CookieJar();
    await jar.visit(`${old.origin}/login/${userId}`, { method: 'POST' });
  };
  afterEach(async () => {
    await old.stop();
    await moved.stop();
  });
  const visit = async () => (await jar.visit(`${moved.origin}/page`)).status;
  const isSignedInThere = async () => Boolean((await jar.visit(`${old.origin}/me`)).body.user);
  const sessionIds = async () => (await moved.auth.listSessions(userId)).map(({ id }) => id);

  test.each([false, true])('are taken over and ended as others, keepOld: %s', async (keepOld) => {
    await startBoth(keepOld);
    const { session } = await moved.auth.createSession(userId);
    const ended: object[] = [];
    moved.auth.on('session.revoked', ({ sessionId, reason }) => ended.push({ sessionId, reason }));
    expect(await visit()).toBe(200);
    const [takenOver] = (await sessionIds()) as [string];
    expect(ended).toEqual(byLimit(session.id));
    expect(await isSignedInThere()).toBe(keepOld);

    await moved.auth.createSession(userId);
    expect(ended).toEqual(byLimit(session.id, takenOver));
    // With the cookies of both systems, and with the old one alone.
    expect(await visit()).toBe(401);
    jar.cookies.delete('latchkey');
    expect(await visit()).toBe(401);
    expect(await isSignedInThere()).toBe(false);
  });

  test('and a token whose session was ended stays invalid', async () => {
    await startBoth(false);
    const claims = { sub: userId, exp: Math.floor(Date.now() / 1000) + 3600 };
    const token = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(OLD_KEY));
    const send = () => moved.http.get('/page').set('authorization', `Bearer ${token}`);
    const { session } = await moved.auth.createSession(userId);
    await send().expect(200);
    expect(await sessionIds()).not.toContain(session.id);
    const next = await moved.auth.createSession(userId);
    await send().expect(401);
    await send().expect(401);
    expect(await sessionIds()).toEqual([next.session.id]);
  });
});
