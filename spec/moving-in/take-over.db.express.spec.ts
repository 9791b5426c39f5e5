import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import type { Model, ModelStatic } from 'sequelize';
import { internalsOf } from '../../lib/auth.js';
import { runChores } from '../../lib/database/chores.js';
import {
  admin,
  authRouter,
  createAuth,
  optionalSession,
  requireSession,
  suspension,
  twoFactor,
} from '../../lib/index.js';
import { expressSession, movingIn } from '../../lib/moving-in.js';
import { caught, password, SECRET, type SpecApp, startApp } from '../support/app.js';
import { CookieJar } from '../support/cookie-jar.js';
import { rows } from '../support/database.js';
import { mailbox } from '../support/mailbox.js';
import { listening, OLD_SECRET, type OldStore, sessionStore, startOldApp } from '../support/old-app.js';
import { startProcess } from '../support/processes.js';
import { overdue } from '../support/timers.js';
import { enroll, forgetSteps } from '../support/two-factor.js';

// What holds for the sessions of every older system, on those of express-session.
const plugins = [
  password(),
  twoFactor(),
  admin({ adminEmails: ['boss@example.com'] }),
  suspension(),
] as const;
type Plugins = readonly [...typeof plugins, ReturnType<typeof movingIn>];
const PASSWORD = 'an analytical engine';
const HOUR = 3_600_000;

let app: SpecApp<Plugins>;
let old: Awaited<ReturnType<typeof startOldApp>>;
let store: OldStore;
let until: Date | undefined;
let events: string[];
let person: { id: string; email: string };
let jar: CookieJar;
let count = 0;

/** The store, which can be made to fail as that of an older system can. */
const fault: { get: Error | 'hangs' | null; destroy: Error | null } = { get: null, destroy: null };
/** Reads of the store wait for one another, until there are as many. */
let together = 1;
const waiting: (() => void)[] = [];
/** What happens before and after the next read of the store. */
let around: { before?: () => Promise<unknown>; after?: () => Promise<unknown> } | null = null;

beforeAll(async () => {
  app = await startApp({
    plugins(database): Plugins {
      store = sessionStore(database);
      const bridge = expressSession({
        store: {
          get: (id, done) => {
            if (fault.get === 'hangs') return void overdue(3000);
            if (around) {
              const { before, after } = around;
              around = null;
              const read = () => new Promise<unknown[]>((read) => store.get(id, (...found) => read(found)));
              void Promise.resolve(before?.())
                .then(read)
                .then(async (found) => {
                  await after?.();
                  done(...(found as Parameters<typeof done>));
                });
              return;
            }
            if (fault.get) done(fault.get);
            else waiting.push(() => store.get(id, done as never));
            if (waiting.length >= together) for (const read of waiting.splice(0)) read();
          },
          destroy: (id, done) => {
            if (fault.destroy) done(fault.destroy);
            else store.destroy(id, done as never);
          },
        },
        secret: OLD_SECRET,
        userId: (data) => data.passport?.user,
      });
      const bridges = [
        {
          ...bridge,
          get until() {
            return until ?? null;
          },
        },
      ];
      return [...plugins, movingIn({ bridges })];
    },
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.all('/page', requireSession(auth), (req, res) => void res.json({ user: req.auth.user }));
      express.get('/home', optionalSession(auth), (req, res) => {
        res.set('Cache-Control', 'public, max-age=60').json({ user: req.auth?.user ?? null });
      });
      express.get(
        '/get-session',
        caught(async (req, res) => {
          const code = await auth.getSession(req).then(
            () => 'signed in',
            (error) => error.code,
          );
          res.json({ code });
        }),
      );
      express.post(
        '/logout',
        caught(async (req, res) => void res.json({ ended: await auth.endSession(req, res) })),
      );
    },
  });
  old = await startOldApp(store);
  for (const name of ['session.created', 'session.revoked'] as const)
    app.auth.on(name, ({ userId }) => events.push(`${name} ${userId}`));
});
afterAll(async () => {
  await old.stop();
  await app.stop();
});
beforeEach(async () => {
  Object.assign(fault, { get: null, destroy: null });
  until = undefined;
  together = 1;
  waiting.length = 0;
  events = [];
  jar = new CookieJar();
  person = await newPerson();
});

async function newPerson() {
  const email = `person${++count}@example.com`;
  const { id } = await app.auth.users.create({ email, emailVerified: true, password: PASSWORD });
  await jar.visit(`${old.origin}/login/${id}`, { method: 'POST' });
  expect(jar.cookies.has('connect.sid')).toBe(true);
  return { id, email };
}

const page = (init: Parameters<CookieJar['visit']>[1] = {}) => jar.visit(`${app.origin}/page`, init);
const sessionsOf = (userId = person.id) => app.auth.listSessions(userId);
const sessionModel = () => app.database.sequelize.models.Session as ModelStatic<Model>;
const oldRows = () => rows(app.database, 'SELECT * FROM old_sessions');
const copyOf = (one: CookieJar) => Object.assign(new CookieJar(), { cookies: new Map(one.cookies) });

describe('a request with the cookie of an active older session', () => {
  test('goes on signed in, and gets a session that is neither fresh nor longer than the older one', async () => {
    const before = Date.now();
    const seen = await page({ headers: { 'user-agent': 'a browser' } });
    expect(seen).toMatchObject({ status: 200, body: { user: { id: person.id } } });
    expect(seen.headers.get('cache-control')).toBe('no-store');
    const [session] = await sessionsOf();
    expect(session).toMatchObject({ aal: 1, amr: [], userAgent: 'a browser', ipAddress: '127.0.0.1' });
    expect(session?.authenticatedAt.getTime()).toBe(0);
    expect(session?.expiresAt.getTime()).toBeLessThanOrEqual(before + HOUR + 5000);
    expect(session?.expiresAt.getTime()).toBeGreaterThan(before + HOUR - 60_000);
    const line = seen.cookies.find((one) => one.startsWith('latchkey='));
    expect(line).toMatch(/; Max-Age=3[56]\d\d; Path=\/; Expires=.*; HttpOnly; SameSite=Lax$/);
    expect(seen.cookies.filter((one) => /device/.test(one))).toEqual([]);
    expect(events).toEqual([`session.created ${person.id}`]);
  });

  test('ends that one in its own store, and the next request clears its cookie', async () => {
    await page();
    expect((await jar.visit(`${old.origin}/me`)).body.user).toBeNull();
    expect([...jar.cookies.keys()].sort()).toEqual(['connect.sid', 'latchkey']);
    const next = await page();
    expect(next.cookies).toEqual([
      expect.stringMatching(/^connect\.sid=; Path=\/; Expires=Thu, 01 Jan 1970/),
    ]);
    expect([...jar.cookies.keys()]).toEqual(['latchkey']);
    expect((await page()).cookies).toEqual([]);
    expect(await sessionsOf()).toHaveLength(1);
  });

  test('works on the routes of latchkey, and with optionalSession', async () => {
    expect((await jar.visit(`${app.origin}/auth/me`)).body.user?.id).toBe(person.id);
    jar = new CookieJar();
    person = await newPerson();
    const home = await jar.visit(`${app.origin}/home`);
    expect(home.body.user?.id).toBe(person.id);
    expect(home.headers.get('cache-control')).toBe('no-store');
    expect(jar.cookies.has('latchkey')).toBe(true);
  });

  test('16 at once make one session, and all are signed in', async () => {
    together = 16;
    const seen = await Promise.all(Array.from({ length: 16 }, () => page()));
    expect(seen.map(({ status }) => status)).toEqual(Array(16).fill(200));
    expect(await sessionsOf()).toHaveLength(1);
    expect(events).toEqual([`session.created ${person.id}`]);
    const given = seen.flatMap(({ cookies }) => cookies.filter((one) => one.startsWith('latchkey=')));
    expect(new Set(given.map((one) => one.split(';')[0])).size).toBe(1);
    expect((await page()).status).toBe(200);
  });

  test('16 at once in two processes are signed in, although one has ended it before the other looks', async () => {
    const task = { database: app.database.url, cookie: jar.header, times: 8 };
    const [first, second] = await Promise.all([
      startProcess<number[]>('take-over', task),
      startProcess<unknown>('take-over', { ...task, waits: true }),
    ]);
    expect(await second.go()).toBe('reading');
    expect(await first.go()).toEqual(Array(8).fill(200));
    expect((await jar.visit(`${old.origin}/me`)).body.user).toBeNull();
    expect(await second.go()).toEqual(Array(8).fill(200));
    expect(await sessionsOf()).toHaveLength(1);
  });

  test('a lost response does not sign out, however often', async () => {
    for (let lost = 0; lost < 3; lost++) expect((await page({ keeps: false })).status).toBe(200);
    expect((await page()).status).toBe(200);
    expect(jar.cookies.get('latchkey')).toMatch(/^lks_/);
    expect(await sessionsOf()).toHaveLength(1);
    expect((await page()).status).toBe(200);
  });

  test('the old cookie opens nothing once the new one has been sent, except for requests on their way', async () => {
    const thief = copyOf(jar);
    await page();
    await page();
    const late = await thief.visit(`${app.origin}/page`);
    expect([late.status, late.cookies]).toEqual([200, []]);
    await rows(app.database, 'UPDATE carried_sessions SET used_at = :ago', {
      ago: new Date(Date.now() - 120_000),
    });
    expect((await thief.visit(`${app.origin}/page`)).status).toBe(401);
  });

  test('its token is stored as a hash, and encrypted until the browser has sent it', async () => {
    await page();
    const token = jar.cookies.get('latchkey') ?? '';
    const stored = JSON.stringify(await rows(app.database, 'SELECT * FROM carried_sessions'));
    expect(stored).not.toContain(token);
    await page();
    const [row] = await rows(
      app.database,
      'SELECT * FROM carried_sessions WHERE used_at IS NOT NULL ORDER BY used_at DESC',
    );
    expect(row?.sealed_token).toBeNull();
  });
});

describe('after a sign-out', () => {
  test.each(['/auth/signout', '/logout'])('by %s, a replay of the old cookie opens nothing', async (path) => {
    const thief = copyOf(jar);
    await page();
    const left = await jar.visit(`${app.origin}${path}`, { method: 'POST' });
    expect(left.status).toBeLessThan(300);
    expect([...jar.cookies.keys()]).toEqual([]);
    expect((await thief.visit(`${app.origin}/page`)).status).toBe(401);
    expect(await sessionsOf()).toEqual([]);
  });

  test.each(['/auth/signout', '/logout'])(
    'by %s as the first request, the old session has ended',
    async (path) => {
      const thief = copyOf(jar);
      const left = await jar.visit(`${app.origin}${path}`, { method: 'POST' });
      expect(left.status).toBeLessThan(300);
      expect(jar.cookies.has('latchkey')).toBe(false);
      expect((await thief.visit(`${app.origin}/page`)).status).toBe(401);
      expect((await thief.visit(`${old.origin}/me`)).body.user).toBeNull();
    },
  );

  test.each(['before', 'after'] as const)(
    'a session that another request begins right %s the sign-out reads the old one has ended',
    async (when) => {
      const other = copyOf(jar);
      around = { [when]: async () => expect((await other.visit(`${app.origin}/page`)).status).toBe(200) };
      expect((await jar.visit(`${app.origin}/logout`, { method: 'POST' })).status).toBe(200);
      expect(other.cookies.has('latchkey')).toBe(true);
      expect((await other.visit(`${app.origin}/page`)).status).toBe(401);
      expect(await sessionsOf()).toEqual([]);
    },
  );

  test('it opens nothing although the older system has written its session again', async () => {
    const thief = copyOf(jar);
    const [row] = (await oldRows()).filter(({ data }) => String(data).includes(person.id));
    await page();
    await jar.visit(`${app.origin}/auth/signout`, { method: 'POST' });
    await sessionModel().create({ sid: row?.sid, data: row?.data, expires: new Date(Date.now() + HOUR) });
    expect((await thief.visit(`${old.origin}/me`)).body.user).toMatchObject({ id: person.id });
    expect((await thief.visit(`${app.origin}/page`)).status).toBe(401);
  });

  test('it opens nothing although the older store was down then', async () => {
    const thief = copyOf(jar);
    fault.destroy = new Error('the store is read-only');
    await page();
    await jar.visit(`${app.origin}/auth/signout`, { method: 'POST' });
    fault.destroy = null;
    expect((await thief.visit(`${app.origin}/page`)).status).toBe(401);
    expect(app.log.join('\n')).toContain('a session of express-session could not be ended there');
  });
});

describe('beside a session of latchkey', () => {
  const signIn = (email = person.email) =>
    jar.visit(`${app.origin}/auth/signin/credential`, {
      method: 'POST',
      body: { credential: email, password: PASSWORD },
    });

  test('a sign-in ends the older session, so that a sign-out is one', async () => {
    const thief = copyOf(jar);
    expect((await signIn()).status).toBe(200);
    expect([...jar.cookies.keys()].sort()).toEqual(['latchkey', 'latchkey-device']);
    await jar.visit(`${app.origin}/auth/signout`, { method: 'POST' });
    expect((await thief.visit(`${app.origin}/page`)).status).toBe(401);
    expect((await thief.visit(`${old.origin}/me`)).body.user).toBeNull();
  });

  test('a sign-in after a lost response ends the session that nobody has', async () => {
    await page({ keeps: false });
    await signIn();
    expect(await sessionsOf()).toHaveLength(1);
  });

  test('a session of the older system in which nobody is signed in stays', async () => {
    jar = new CookieJar();
    await jar.visit(`${old.origin}/cart`, { method: 'POST' });
    const sid = jar.cookies.get('connect.sid');
    await signIn();
    expect((await page()).cookies).toEqual([]);
    expect(jar.cookies.get('connect.sid')).toBe(sid);
    expect(JSON.stringify(await oldRows())).toContain('a book');
  });

  test('what ended all sessions of the user here has ended the older ones too', async () => {
    const other = copyOf(jar);
    await app.auth.revokeAllSessions(person.id);
    expect((await other.visit(`${app.origin}/page`)).status).toBe(401);
    expect(await sessionsOf()).toEqual([]);
  });
});

describe('is not taken over', () => {
  test.each([
    ['a forged signature', (value: string) => `${value.slice(0, -3)}abc`],
    ['no signature', (value: string) => decodeURIComponent(value).slice(2).split('.')[0] ?? ''],
    ['an empty value', () => ''],
    ['junk', () => '%00%ff"'],
  ])('a cookie with %s', async (_what, forge) => {
    jar.cookies.set('connect.sid', forge(jar.cookies.get('connect.sid') ?? ''));
    expect((await page()).status).toBe(401);
    expect(await sessionsOf()).toEqual([]);
  });

  test('one of two different cookies', async () => {
    const value = jar.cookies.get('connect.sid');
    await newPerson();
    const headers = { cookie: `${jar.header}; connect.sid=${value}` };
    expect((await new CookieJar().visit(`${app.origin}/page`, { headers })).status).toBe(401);
  });

  test('a session that has ended', async () => {
    const [row] = (await oldRows()).filter(({ data }) => String(data).includes(person.id));
    const data = JSON.parse(String(row?.data));
    data.cookie.expires = new Date(Date.now() - 1000).toISOString();
    await sessionModel().update({ data: JSON.stringify(data) }, { where: { sid: row?.sid } });
    expect((await page()).status).toBe(401);
  });

  test.each([
    ['a suspended account', async () => void (await app.auth.suspension.suspend(person.id, {}))],
    ['an account that is gone', async () => void (await app.auth.users.delete(person.id))],
  ])('the session of %s', async (_what, make) => {
    await make();
    expect(await page()).toMatchObject({ status: 401, body: { code: 'unauthenticated' }, cookies: [] });
    expect((await jar.visit(`${app.origin}/home`)).body.user).toBeNull();
  });

  test('that of an account with a second factor', async () => {
    const browser = app.browser();
    await browser
      .post('/auth/signin/credential')
      .send({ credential: person.email, password: PASSWORD })
      .expect(200);
    await enroll(browser);
    await forgetSteps(app);
    // Switching it on has raised the epoch, which would be enough.
    await rows(app.database, 'UPDATE users SET auth_epoch = 0 WHERE id = :id', { id: person.id });
    expect((await page()).status).toBe(401);
  });

  test('that of an account whose email must be verified first, which gets no email for each request', async () => {
    const { id } = await app.auth.users.create({ email: `person${++count}@example.com` });
    await jar.visit(`${old.origin}/login/${id}`, { method: 'POST' });
    const mails = mailbox();
    const bridge = expressSession({ store, secret: OLD_SECRET, userId: (data) => data.passport?.user });
    const strict = createAuth({
      database: app.database.url,
      secret: SECRET,
      plugins: [password({ requireVerifiedEmail: true }), movingIn({ bridges: [bridge] })],
      email: { send: mails.send },
    });
    const guarded = express().get('/page', requireSession(strict), (_req, res) => void res.json({}));
    const { origin, stop } = await listening(guarded);
    for (const _ of [1, 2, 3]) expect((await jar.visit(`${origin}/page`)).status).toBe(401);
    await strict.close();
    await stop();
    expect(mails.mails).toEqual([]);
  });

  test('any session after `until`', async () => {
    until = new Date(Date.now() - 1000);
    expect((await page()).status).toBe(401);
    until = new Date(Date.now() + HOUR);
    expect((await page()).status).toBe(200);
  });

  test('by auth.getSession, which could not send a cookie', async () => {
    expect((await jar.visit(`${app.origin}/get-session`)).body.code).toBe('unauthenticated');
    expect(await sessionsOf()).toEqual([]);
    expect((await page()).status).toBe(200);
  });

  test('for a request that carries a credential of latchkey, good or bad', async () => {
    jar.cookies.set('latchkey', 'junk');
    expect(await page()).toMatchObject({ status: 401, body: { code: 'invalid_session' } });
    expect(await sessionsOf()).toEqual([]);
  });
});

test("another site's request cannot use the old cookie", async () => {
  const headers = { 'sec-fetch-site': 'cross-site' };
  const refused = { status: 403, body: { code: 'origin_not_allowed' }, cookies: [] };
  expect(await page({ method: 'POST', headers })).toMatchObject(refused);
  expect(await sessionsOf()).toEqual([]);
  await page({ keeps: false });
  expect(await page({ method: 'POST', headers })).toMatchObject(refused);
  expect((await page({ method: 'POST', headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(200);
});

describe('while the older store is down', () => {
  test.each([new Error('ECONNREFUSED'), 'hangs' as const])(
    'the answer is 503, and the next one is right: %s',
    async (what) => {
      fault.get = what;
      for (const path of ['/page', '/home']) {
        const seen = await jar.visit(`${app.origin}${path}`);
        expect(seen).toMatchObject({ status: 503, cookies: [] });
        expect(seen.headers.get('retry-after')).not.toBeNull();
        if (what === 'hangs') break;
      }
      fault.get = null;
      expect((await page()).status).toBe(200);
      expect(app.log.join('\n')).toContain('the sessions of express-session could not be read');
    },
  );

  test('requests with a session of latchkey go on, and a sign-out is one', async () => {
    const thief = copyOf(jar);
    fault.get = new Error('ECONNREFUSED');
    const signIn = { credential: person.email, password: PASSWORD };
    const seen = await jar.visit(`${app.origin}/auth/signin/credential`, { method: 'POST', body: signIn });
    expect(seen.status).toBe(200);
    await jar.visit(`${app.origin}/auth/signout`, { method: 'POST' });
    fault.get = null;
    expect((await thief.visit(`${app.origin}/page`)).status).toBe(401);
  });
});

test('prune() forgets a session a year after it would have ended', async () => {
  await page();
  const stored = () => rows(app.database, 'SELECT old_hash FROM carried_sessions');
  const before = (await stored()).length;
  await app.auth.prune();
  expect(await stored()).toHaveLength(before);
  await rows(app.database, 'UPDATE carried_sessions SET expires_at = :now', {
    now: new Date(Date.now() - 1000),
  });
  await app.auth.prune();
  expect(await stored()).toEqual([]);
});

test('rotateSecrets() encrypts tokens anew that no browser has sent yet', async () => {
  await page({ keeps: false });
  const { core, chores } = internalsOf(app.auth);
  const { box } = core;
  const ofSessions = chores.sealed.filter(({ table }) => table === 'carried_sessions');
  const sealed = () =>
    rows<{ sealed_token: string }>(
      app.database,
      'SELECT sealed_token FROM carried_sessions WHERE sealed_token IS NOT NULL',
    );
  const rotate = async (dryRun: boolean) => (await runChores(ofSessions, dryRun)).rows;
  expect(await rotate(false)).toBe(0);
  const prefix = box.currentPrefix;
  Object.defineProperty(box, 'currentPrefix', { value: 'v1.another.', configurable: true });
  const before = await sealed();
  expect(await rotate(true)).toBe(before.length);
  expect(await rotate(false)).toBe(before.length);
  expect(before.length).toBeGreaterThan(0);
  for (const { sealed_token } of await sealed()) {
    expect(sealed_token.startsWith(prefix)).toBe(true);
    expect(before.map((one) => one.sealed_token)).not.toContain(sealed_token);
  }
  expect((await page()).cookies.join()).toContain('latchkey=');
});
