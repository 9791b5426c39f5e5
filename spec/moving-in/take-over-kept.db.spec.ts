import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Model, ModelStatic, Sequelize } from 'sequelize';
import { internalsOf } from '../../lib/auth.js';
import { connectByUrl } from '../../lib/database/connect.js';
import { authRouter, optionalSession, requireSession } from '../../lib/index.js';
import { hashOfOld } from '../../lib/moving-in/linked-sessions.js';
import { TakenOverSessions } from '../../lib/moving-in/taken-over.js';
import { expressSession, movingIn } from '../../lib/moving-in.js';
import { caught, logEveryLine, password, type SpecApp, startApp } from '../support/app.js';
import { CookieJar } from '../support/cookie-jar.js';
import { dialect, rows } from '../support/database.js';
import { OLD_SECRET, type OldStore, sessionStore, startOldApp } from '../support/old-app.js';
import { startProcess } from '../support/processes.js';
import { withoutWaiting } from '../support/timers.js';
import { afterPause, withClockAhead } from '../support/wrong-clock.js';

// Sessions of a previous system that is still running: `keepOld`, on those of express-session.
type Plugins = readonly [ReturnType<typeof password>, ReturnType<typeof movingIn>];
const PASSWORD = 'an analytical engine';
const HOUR = 3_600_000;
const NAME = 'bridges.express-session';

let app: SpecApp<Plugins>;
let old: Awaited<ReturnType<typeof startOldApp>>;
let store: OldStore;
let sequelize: Sequelize;
let person: { id: string; email: string };
let jar: CookieJar;
let count = 0;
let until: Date | null;
/** What `endAll` was called with, and what it does. */
let ended: string[];
let endAll: ((userId: string) => unknown) | null;
let isKept = true;
let fault: Error | null;
let reads: number;
/** The `ref` of each user, if the bridge names users by it. */
let refs: Map<string, number> | null;

beforeAll(async () => {
  app = await startApp({
    // The app's own instance, for its transactions.
    async config(database) {
      sequelize = connectByUrl(database.url) as Sequelize;
      return { database: sequelize };
    },
    plugins(database): Plugins {
      store = sessionStore(database);
      const bridge = expressSession({
        store: {
          get(id, done) {
            reads++;
            if (fault) done(fault);
            else store.get(id, done as never);
          },
          destroy: (id, done) => store.destroy(id, done as never),
        },
        secret: OLD_SECRET,
        userId: ({ passport }) => (refs ? { ref: refs.get(String(passport?.user)) ?? 0 } : passport?.user),
        keepOld: { endAll: (userId) => endAll?.(userId) },
      });
      const { keepOld } = bridge;
      Object.defineProperties(bridge, {
        until: { get: () => until },
        keepOld: { get: () => (isKept ? (endAll ? keepOld : { endAll: null }) : null) },
      });
      return [password(), movingIn({ bridges: [bridge] })];
    },
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.all('/page', requireSession(auth), (req, res) => void res.json({ user: req.auth.user }));
      express.get('/home', optionalSession(auth), (req, res) => {
        res.json({ user: req.auth?.user ?? null });
      });
      express.get(
        '/get-session',
        caught(async (req, res) => void res.json({ user: (await auth.getSession(req)).user })),
      );
      express.post(
        '/logout',
        caught(async (req, res) => void res.json({ ended: await auth.endSession(req, res) })),
      );
    },
  });
  logEveryLine(app.auth);
  old = await startOldApp(store);
});
afterAll(async () => {
  await old.stop();
  await app.stop();
});
beforeEach(async () => {
  [until, fault, ended, isKept, refs] = [null, null, [], true, null];
  endAll = (userId) => void ended.push(userId);
  jar = new CookieJar();
  person = await newPerson();
  await signInThere();
  reads = 0;
});

async function newPerson() {
  const email = `person${++count}@example.com`;
  const { id } = await app.auth.users.create({ email, emailVerified: true, password: PASSWORD });
  return { id, email };
}

const there = (path: string, method = 'POST') => jar.visit(`${old.origin}${path}`, { method });
const signInThere = (id = person.id) => there(`/login/${id}`);
const here = (path: string, method = 'GET', body?: unknown) =>
  jar.visit(`${app.origin}${path}`, { method, body });
const signInHere = ({ email } = person) =>
  here('/auth/signin/credential', 'POST', { credential: email, password: PASSWORD });
const userThere = async (one = jar) => (await one.visit(`${old.origin}/me`)).body.user?.id;
const userHere = async () => {
  const { status, body } = await here('/page');
  return status === 200 ? body.user?.id : status;
};
const sessionsOf = (userId = person.id) => app.auth.listSessions(userId);
const names = () => [...jar.cookies.keys()].sort();
const copyOf = (one: CookieJar) => Object.assign(new CookieJar(), { cookies: new Map(one.cookies) });
const degraded = async () => (await app.auth.health()).degraded;
const lapse = (column: string, id: string | undefined) =>
  rows(app.database, `UPDATE sessions SET ${column} = :ago WHERE id = :id`, {
    id,
    ago: new Date(Date.now() - 30 * 24 * HOUR),
  });

test('the old session stays, and the browser goes back and forth between the apps', async () => {
  for (let turn = 0; turn < 3; turn++) {
    expect(await userHere()).toBe(person.id);
    expect(await userThere()).toBe(person.id);
  }
  expect(names()).toEqual(['connect.sid', 'latchkey']);
  expect(await sessionsOf()).toHaveLength(1);
  const [row] = await rows(app.database, 'SELECT * FROM carried_sessions ORDER BY created_at DESC');
  expect(row?.sealed_token).toBeNull();
  expect(JSON.stringify(row)).not.toContain(
    decodeURIComponent(jar.cookies.get('connect.sid') ?? '').slice(2, 20),
  );
});

test('16 requests at once in two processes make one session, and all are signed in', async () => {
  const task = { database: app.database.url, cookie: jar.header, times: 8, keepOld: true };
  const all = await Promise.all([1, 2].map(() => startProcess<number[]>('take-over', task)));
  const statuses = await Promise.all(all.map((one) => one.go()));
  expect(statuses.flat()).toEqual(Array(16).fill(200));
  expect(await sessionsOf()).toHaveLength(1);
  expect(await userThere()).toBe(person.id);
});

describe('a sign-out here', () => {
  test.each(['/auth/signout', '/logout'])('by %s ends both, whichever request comes first', async (path) => {
    for (const isFirst of [true, false]) {
      const thief = copyOf(jar);
      if (!isFirst) await userHere();
      expect((await here(path, 'POST')).status).toBeLessThan(300);
      expect(names()).toEqual([]);
      expect(await userThere(thief)).toBeUndefined();
      expect((await thief.visit(`${app.origin}/page`)).status).toBe(401);
      await signInThere();
    }
  });

  test('ends both even if the old cookie is not sent along, such as because of its path', async () => {
    await userHere();
    const thief = copyOf(jar);
    jar.cookies.delete('connect.sid');
    await here('/auth/signout', 'POST');
    expect(await userThere(thief)).toBeUndefined();
  });

  test('from another device ends both', async () => {
    await userHere();
    const [session] = await sessionsOf();
    const other = app.browser();
    await other.post('/auth/signin/credential').send({ credential: person.email, password: PASSWORD });
    await other.delete(`/auth/sessions/${session?.id}`).expect(204);
    expect(await userThere()).toBeUndefined();
    expect(await userHere()).toBe(401);
  });
});

describe('a sign-out there', () => {
  test.each(['/logout', '/logout?clears'])('by %s is seen at the next request', async (path) => {
    await userHere();
    await there(path);
    expect(names()).toEqual(path === '/logout' ? ['connect.sid', 'latchkey'] : ['latchkey']);
    expect((await here('/get-session')).status).toBe(401);
    expect(await sessionsOf()).toEqual([]);
    const home = await here('/home');
    expect(home).toMatchObject({ status: 200, body: { user: null } });
    expect(jar.cookies.has('latchkey')).toBe(false);
  });

  test('is seen although the browser has renewed its session here', async () => {
    await userHere();
    await here('/auth/reauthenticate', 'POST', { password: PASSWORD });
    await there('/logout');
    expect(await userHere()).toBe(401);
  });

  test('is seen although the account has changed so that other old sessions are invalid', async () => {
    await userHere();
    await app.auth.users.changeEmail(person.id, `new.${person.email}`, { verified: true });
    expect(await userHere()).toBe(person.id);
    await there('/logout');
    expect(await userHere()).toBe(401);
  });

  test('is seen by a browser that has signed in at both', async () => {
    jar = new CookieJar();
    await signInHere();
    await signInThere();
    expect([await userHere(), await userThere()]).toEqual([person.id, person.id]);
    await there('/logout?clears');
    expect(await userHere()).toBe(401);
  });

  test('is seen by a client that only ever sends the old cookie', async () => {
    const client = () => Object.assign(copyOf(jar), { keep: () => undefined });
    for (let request = 0; request < 2; request++)
      expect((await client().visit(`${app.origin}/page`)).status).toBe(200);
    await there('/logout');
    expect(await client().visit(`${app.origin}/page`)).toMatchObject({ status: 401, cookies: [] });
    expect(await sessionsOf()).toEqual([]);
  });

  test('is not what an old session has that merely expires, if the user has signed in here too', async () => {
    const [row] = (await rows(app.database, 'SELECT * FROM old_sessions')).filter(({ data }) =>
      String(data).includes(person.id),
    );
    const data = JSON.parse(String(row?.data));
    const end = new Date(Date.now() + 60_000);
    data.cookie.expires = end.toISOString();
    const { Session } = app.database.sequelize.models as Record<string, ModelStatic<Model>>;
    await Session?.update({ data: JSON.stringify(data) }, { where: { sid: row?.sid } });
    await signInHere();
    expect(await userHere()).toBe(person.id);
    await withClockAhead(60_001, async () => {
      expect(await userHere()).toBe(person.id);
      expect(await userHere()).toBe(person.id);
    });
  });

  test.each(['/login', '/switch'])(
    'and a sign-in of somebody else by %s changes the user here too',
    async (path) => {
      const other = await newPerson();
      await userHere();
      if (path === '/login') await there('/logout');
      await there(`${path}/${other.id}`);
      expect([await userHere(), await userThere()]).toEqual([other.id, other.id]);
      expect(await sessionsOf()).toEqual([]);
      expect(await userHere()).toBe(other.id);
    },
  );

  test('and another user in the same session, whom the bridge names by ref, changes the user here too', async () => {
    const { users } = await app.auth.movingIn.importUsers(
      [1, 2].map((ref) => ({ ref, email: `ref${ref}@example.com` })),
    );
    const [first, second] = users.map(({ id }) => id) as [string, string];
    refs = new Map(users.map(({ id, ref }) => [id, Number(ref)]));
    await signInThere(first);
    expect(await userHere()).toBe(first);
    await there(`/switch/${second}`);
    expect([await userHere(), await userThere()]).toEqual([second, second]);
  });

  test('and a sign-in again is taken over again', async () => {
    await userHere();
    await there('/logout');
    await signInThere();
    expect(await userHere()).toBe(person.id);
    expect(await sessionsOf()).toHaveLength(1);
  });

  test('is not needed once `keepOld` is taken out: the old session ends at the next request', async () => {
    await userHere();
    const thief = copyOf(jar);
    isKept = false;
    expect(await userHere()).toBe(person.id);
    expect(names()).toEqual(['latchkey']);
    expect(await userThere(thief)).toBeUndefined();
    expect(await userHere()).toBe(person.id);
  });

  test('is not looked for after `until`', async () => {
    await userHere();
    await there('/logout');
    until = new Date(Date.now() - 1000);
    expect(await userHere()).toBe(person.id);
    expect(reads).toBe(1);
  });
});

describe('a sign-in here', () => {
  test('of the same user keeps the old session, which stands beside the new one', async () => {
    await userHere();
    expect((await signInHere()).status).toBe(200);
    expect([await userHere(), await userThere()]).toEqual([person.id, person.id]);
    expect(await sessionsOf()).toHaveLength(1);
    await there('/logout');
    expect(await userHere()).toBe(401);
  });

  test('of another user ends the old session', async () => {
    const other = await newPerson();
    const thief = copyOf(jar);
    await userHere();
    await signInHere(other);
    expect(await userHere()).toBe(other.id);
    expect(jar.cookies.has('connect.sid')).toBe(false);
    expect(await userThere(thief)).toBeUndefined();
  });
});

describe('a session here that has ended by time', () => {
  test.each([
    ['last_active_at', false],
    ['last_active_at', true],
    ['expires_at', false],
    ['expires_at', true],
  ])('by %s goes on as the old one does (pruned: %s)', async (column, isPruned) => {
    await userHere();
    await userHere();
    const [session] = await sessionsOf();
    await lapse(column, session?.id);
    if (isPruned) expect(await app.auth.prune()).toBeGreaterThan(0);
    const seen = await Promise.all([1, 2, 3].map(() => here('/page')));
    expect(seen.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await sessionsOf()).toHaveLength(1);
    expect(await userHere()).toBe(person.id);
  });

  test('does not go on if it was revoked, if all were, or if the old one has ended too', async () => {
    for (const end of [
      async (id = '') => void (await app.auth.revokeSessionById(person.id, id)),
      async () => void (await app.auth.revokeAllSessions(person.id)),
      async (id = '') => {
        await lapse('expires_at', id);
        await there('/logout');
      },
    ]) {
      person = await newPerson();
      jar = new CookieJar();
      await signInThere();
      await userHere();
      await end((await sessionsOf())[0]?.id);
      expect(await userHere()).toBe(401);
      await app.auth.prune();
      expect(await userHere()).toBe(401);
    }
  });
});

test('a sign-out ends the session that another request puts in place of one that has lapsed', async () => {
  await userHere();
  await userHere();
  const [session] = await sessionsOf();
  await lapse('last_active_at', session?.id);
  const { database, box, sessions } = internalsOf(app.auth).core;
  const takenOver = new TakenOverSessions(database, box, sessions);
  const id = decodeURIComponent(jar.cookies.get('connect.sid') ?? '')
    .slice(2)
    .split('.')[0] as string;
  const oldHash = hashOfOld('express-session', id);
  // What the sign-out has read before the other request.
  const before = await takenOver.find(oldHash);
  const other = copyOf(jar);
  other.cookies.delete('latchkey');
  expect((await other.visit(`${app.origin}/page`)).status).toBe(200);
  const [begun] = await sessionsOf();
  expect(begun?.id).not.toBe(session?.id);
  expect((await takenOver.retire(oldHash, before))?.session.id).toBe(begun?.id);
});

// On SQLite, nothing else is written while such a transaction is open.
(dialect === 'sqlite' ? test.skip : test)(
  'a sign-out in a transaction of the app ends what others have begun since its first read',
  async () => {
    await sequelize.transaction(async (transaction) => {
      await sequelize.query('SELECT id FROM users', { transaction });
      const other = copyOf(jar);
      expect((await other.visit(`${app.origin}/page`)).status).toBe(200);
      const response = new ServerResponse(new IncomingMessage(new Socket()));
      const req = { headers: { cookie: jar.header }, method: 'GET' };
      await app.auth.endSession(req, response, { transaction });
    });
    expect(await sessionsOf()).toEqual([]);
  },
);

describe('what ends all sessions here', () => {
  test.each([
    ['revokeAllSessions', () => app.auth.revokeAllSessions(person.id)],
    ['a new password by code', () => app.auth.users.setPassword(person.id, `${PASSWORD}, too`)],
    ['a deletion', () => app.auth.users.delete(person.id)],
    ['POST /revoke-sessions', () => here('/auth/revoke-sessions', 'POST', { others: true })],
  ])('by %s calls endAll with the account, and waits for it', async (_what, act) => {
    await userHere();
    endAll = async (userId) => {
      await sleep(50);
      ended.push(userId);
    };
    await act();
    expect(ended).toEqual([person.id]);
  });

  test('calls it after the commit of the app, and not after a rollback', async () => {
    const transaction = await sequelize.transaction();
    await app.auth.revokeAllSessions(person.id, { transaction });
    expect(ended).toEqual([]);
    await transaction.rollback();
    await app.auth.listSessions(person.id);
    expect(ended).toEqual([]);
    await sequelize.transaction(async (transaction) => {
      await app.auth.revokeAllSessions(person.id, { transaction });
      expect(ended).toEqual([]);
    });
    expect(ended).toEqual([person.id]);
  });

  test('leaves the session that goes on, although the old one beside it has ended', async () => {
    await userHere();
    endAll = () => there('/logout');
    expect((await here('/auth/revoke-sessions', 'POST', { others: true })).status).toBe(200);
    expect(await userThere()).toBeUndefined();
    expect(await userHere()).toBe(person.id);
  });

  test.each([
    ['fails', () => Promise.reject(new Error('ECONNREFUSED'))],
    [
      'throws',
      () => {
        throw new Error('ECONNREFUSED');
      },
    ],
  ])('stands although endAll %s, which is logged, and told until it works again', async (_how, act) => {
    await userHere();
    endAll = act;
    await app.auth.revokeAllSessions(person.id);
    expect(await sessionsOf()).toEqual([]);
    expect(await degraded()).toEqual([`${NAME}.endAll`]);
    expect(app.log.at(-1)).toMatch(
      new RegExp(`^error latchkey: the sessions of user ${person.id} in express-session could not be ended`),
    );
    endAll = () => undefined;
    await app.auth.revokeAllSessions(person.id);
    expect(await degraded()).toEqual([]);
  });

  test('without endAll leaves the old ones, which open nothing here', async () => {
    endAll = null;
    await userHere();
    await app.auth.revokeAllSessions(person.id);
    expect(await userThere()).toBe(person.id);
    expect(await userHere()).toBe(401);
  });
});

test('while the old system does not answer, sessions here go on, and it is asked again after a while', async () => {
  const other = await newPerson();
  await userHere();
  fault = new Error('ECONNREFUSED');
  for (let request = 0; request < 3; request++) expect(await userHere()).toBe(person.id);
  expect(reads).toBe(2);
  expect(await degraded()).toEqual([NAME]);

  endAll = () => new Promise(() => undefined);
  await withoutWaiting(5000, () => app.auth.revokeAllSessions(other.id));
  expect(await degraded()).toEqual([NAME, `${NAME}.endAll`]);
  expect(app.log.at(-1)).toContain('no response within 5 s');

  fault = null;
  await there('/logout');
  await afterPause(5000, async () => expect(await userHere()).toBe(401));
  endAll = () => undefined;
  await app.auth.revokeAllSessions(other.id);
  expect(await degraded()).toEqual([]);
});

test('a session of which only the old app knows, and of nobody, stays as it is', async () => {
  jar = new CookieJar();
  await there('/cart');
  await signInHere();
  for (let request = 0; request < 2; request++) expect(await userHere()).toBe(person.id);
  expect(names()).toEqual(['connect.sid', 'latchkey', 'latchkey-device']);
});
