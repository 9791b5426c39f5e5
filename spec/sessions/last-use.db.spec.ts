import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { QueryTypes, type Sequelize } from 'sequelize';
import { internalsOf } from '../../lib/auth.js';
import { uuidv7 } from '../../lib/crypto/uuid.js';
import { apiKeys, authRouter, createAuth, optionalSession, requireSession } from '../../lib/index.js';
import { Log } from '../../lib/logger.js';
import { LastUse } from '../../lib/sessions/last-use.js';
import { ada, memoryLogger, password, SECRET, type SpecApp, startApp } from '../support/app.js';
import { dialect } from '../support/database.js';
import { ago, changeSession, DAY, HOUR, SECOND, settled, signIn } from '../support/sessions.js';
import { loggingSequelize } from '../support/statements.js';
import { type HeldTimers, holdTimers } from '../support/timers.js';
import { until } from '../support/until.js';

const plugins = [password(), apiKeys()] as const;
const IDLE = 7 * DAY;

let app: SpecApp<typeof plugins>;
let own: Sequelize;
let statements: string[];
/** Those that write the last activity after a second. */
let timers: HeldTimers;
let userId: string;
beforeEach(async () => {
  timers = holdTimers(SECOND);
  app = await startApp({
    plugins,
    tables: {},
    async config(database) {
      ({ sequelize: own, statements } = loggingSequelize(database));
      return { database: own, bearerEnabled: true };
    },
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.get('/guarded', requireSession(auth), (_req, res) => void res.json({}));
      express.get('/polled', requireSession(auth, { touch: false }), (_req, res) => void res.json({}));
      express.get('/seen', optionalSession(auth, { touch: false }), (_req, res) => void res.json({}));
      const both = [requireSession(auth, { touch: false }), requireSession(auth)];
      express.get('/both', ...both, (_req, res) => void res.json({}));
    },
  });
  userId = (await app.auth.credential.signUp(ada))?.user.id as string;
});
afterEach(async () => {
  timers.release();
  await app.stop();
});

/** A session whose last activity is to be written at the next request. */
async function stale(since = HOUR) {
  const session = await signIn(app, true);
  await changeSession(app, session.id, { lastActiveAt: ago(since) });
  return session;
}

type Signed = Awaited<ReturnType<typeof signIn>>;

const request = ({ headers }: Pick<Signed, 'headers'>) => app.http.get('/guarded').set(headers).expect(200);
const stored = async (): Promise<Map<string, Date>> => {
  const rows = await app.auth.models.Session.findAll({ logging: false });
  return new Map(rows.map((row) => [row.get('id') as string, row.get('lastActiveAt') as Date]));
};
const isWritten = async ({ id }: Signed) => Number((await stored()).get(id)) > Date.now() - HOUR / 2;
const updates = (table = 'sessions') =>
  statements.filter((line) =>
    new RegExp(`^Executed[^:]*: (/\\*M!.*?\\*/ )?UPDATE [^"]*\\b${table}\\b`).test(line),
  );

/** Makes the database refuse the next updates of sessions. */
function refuse(times: number): void {
  own.addHook('beforeQuery', 'refuse', (options: object) => {
    if ((options as { type?: string }).type !== QueryTypes.BULKUPDATE || times-- <= 0) return;
    throw new Error('refused');
  });
}

test('a guard with touch: false neither updates the last activity nor keeps the session from expiring', async () => {
  const session = await stale();
  statements.length = 0;
  const bearer = { authorization: `Bearer ${/=(\S+)/.exec(String(session.headers.cookie))?.[1]}` };
  for (const path of ['/polled', '/seen']) {
    await app.http.get(path).set(session.headers).expect(200);
    await app.http.get('/polled').set(bearer).expect(200);
  }
  await settled(app.auth);
  expect(updates()).toEqual([]);
  expect(await isWritten(session)).toBe(false);
  // The second guard counts the request.
  await app.http.get('/both').set(session.headers).expect(200);
  await settled(app.auth);
  expect(await isWritten(session)).toBe(true);
  await changeSession(app, session.id, { lastActiveAt: ago(IDLE - 60 * SECOND) });
  await app.http.get('/polled').set(session.headers).expect(200);
  await settled(app.auth);
  await changeSession(app, session.id, { lastActiveAt: ago(IDLE + SECOND) });
  await app.http.get('/polled').set(session.headers).expect(401);
  expect(() => requireSession(app.auth, { touch: 'no' } as never)).toThrow(/touch must be true or false/);
});

describe('the last activity of many sessions', () => {
  test('is written by one statement, for each session its own time', async () => {
    const sessions = await Promise.all(Array.from({ length: 50 }, () => stale()));
    const fresh = await signIn(app);
    const before = await stored();
    statements.length = 0;
    await Promise.all(sessions.slice(0, 25).map(({ headers }) => app.auth.getSession({ headers })));
    // The database's clock has moved on.
    const [first] = await Promise.all([own.query('SELECT 1'), pause(5)]).then(() => [Date.now()]);
    await Promise.all(sessions.slice(25).map(({ headers }) => app.auth.getSession({ headers })));
    await app.auth.getSession({ headers: fresh.headers });
    await settled(app.auth);
    expect(updates()).toHaveLength(1);
    const after = await stored();
    for (const [index, { id }] of sessions.entries()) {
      expect(after.get(id)?.getTime()).toBeGreaterThan(Number(before.get(id)));
      if (index < 25) expect(after.get(id)?.getTime()).toBeLessThanOrEqual(Number(first));
      else expect(after.get(id)?.getTime()).toBeGreaterThan(Number(after.get(sessions[0]?.id as string)));
    }
    expect(after.get(fresh.id)).toEqual(before.get(fresh.id));
  });

  test('is written without being asked to, and at close', async () => {
    const [one, other] = [await stale(), await stale()];
    await request(one);
    timers.expire();
    await until(() => isWritten(one));
    const second = createAuth({
      database: app.database.url,
      secret: SECRET,
      plugins: [password()],
      logger: memoryLogger(),
    });
    await second.getSession({ headers: other.headers });
    await second.close();
    expect(await isWritten(other)).toBe(true);
  });

  test('is in lists of this process before it is written', async () => {
    const session = await stale();
    const { key, apiKey } = await app.auth.apiKeys.create(userId, { name: 'used' });
    const before = Date.now() - 1000;
    await request(session);
    await app.http.get('/guarded').set('x-service-api-key', key).expect(200);
    const listed = (await app.auth.listSessions(userId)).find(({ id }) => id === session.id);
    expect(listed?.lastActiveAt.getTime()).toBeGreaterThan(before);
    const used = (await app.auth.apiKeys.list(userId)).find(({ id }) => id === apiKey.id);
    expect(used?.lastUsedAt?.getTime()).toBeGreaterThan(before);
  });

  test('is not earlier in lists than what has been written in the meantime', async () => {
    const session = await stale();
    await request(session);
    const later = new Date(Date.now() + 30 * SECOND);
    await changeSession(app, session.id, { lastActiveAt: later });
    const [listed] = await app.auth.listSessions(userId);
    expect(listed?.lastActiveAt).toEqual(later);
  });

  test('does not bring back a session or an API key that was revoked in the meantime', async () => {
    const [revoked, live] = [await stale(), await stale()];
    const [gone, used] = await Promise.all(
      ['gone', 'used'].map((name) => app.auth.apiKeys.create(userId, { name })),
    );
    await Promise.all([revoked, live].map(({ headers }) => app.auth.getSession({ headers })));
    for (const key of [gone?.key, used?.key])
      await app.auth.getSession({ headers: { 'x-service-api-key': key as string } });
    await app.auth.revokeSession(revoked.token);
    await app.auth.apiKeys.revoke(userId, gone?.apiKey.id as string);
    await settled(app.auth);
    expect([...(await stored()).keys()]).toEqual([live.id]);
    expect(await isWritten(live)).toBe(true);
    const keys = await app.auth.apiKeys.list(userId);
    expect(keys).toEqual([{ ...used?.apiKey, lastUsedAt: expect.any(Date) }]);
    expect(updates('api_keys')).toHaveLength(1);
  });

  test('does not change a session that has got a new token or another time in the meantime', async () => {
    const [renewed, ended] = [await stale(), await stale()];
    await Promise.all([renewed, ended].map(request));
    const later = new Date(Date.now() + 10 * SECOND);
    await changeSession(app, renewed.id, { lastActiveAt: later });
    await changeSession(app, ended.id, { lastActiveAt: ago(IDLE + SECOND) });
    await settled(app.auth);
    expect((await stored()).get(renewed.id)).toEqual(later);
    await app.http.get('/guarded').set(ended.headers).expect(401);
  });

  test('keeps the latest of several requests', async () => {
    const session = await stale();
    await request(session);
    const between = Date.now();
    await pause(5);
    await request(session);
    await settled(app.auth);
    expect(Number((await stored()).get(session.id))).toBeGreaterThanOrEqual(between);
  });

  test('of a session that would soon be idle is written before those that can wait', async () => {
    const [patient, urgent] = [await stale(), await stale(IDLE - 3 * SECOND)];
    const other = createAuth({
      database: own,
      secret: SECRET,
      plugins: [password()],
      logger: memoryLogger(),
    });
    await app.auth.getSession({ headers: patient.headers });
    await other.getSession({ headers: urgent.headers });
    statements.length = 0;
    await until(() => updates().length > 0);
    timers.expire();
    await until(() => updates().length === 2);
    expect(updates().map((sql) => [patient, urgent].findIndex(({ id }) => sql.includes(id)))).toEqual([1, 0]);
    await other.close();
  });
});

describe('within a transaction of the app, the last activity', () => {
  const find = (token: string, transaction: Awaited<ReturnType<Sequelize['transaction']>>) => {
    const { core } = internalsOf(app.auth);
    return core.inTransaction(transaction, () => core.sessions.find(token));
  };

  test('is written after the commit', async () => {
    const session = await stale();
    statements.length = 0;
    await own.transaction(async (transaction) => {
      expect(await find(session.token, transaction)).not.toBeNull();
      await settled(app.auth);
      expect(updates()).toEqual([]);
    });
    await settled(app.auth);
    expect(updates()).toHaveLength(1);
    expect(await isWritten(session)).toBe(true);
  });

  test('is not written after a rollback', async () => {
    const session = await stale();
    statements.length = 0;
    const transaction = await own.transaction();
    await find(session.token, transaction);
    await transaction.rollback();
    await settled(app.auth);
    expect(updates()).toEqual([]);
  });

  test('of other sessions does not wait for the rows that it has locked', async () => {
    if (dialect === 'sqlite') return; // Locks the whole file.
    const [locked, free] = [await stale(), await stale()];
    await own.transaction(async (transaction) => {
      const sql = 'SELECT id FROM sessions WHERE id = :id FOR UPDATE';
      await own.query(sql, { replacements: { id: locked.id }, transaction });
      await Promise.all([locked, free].map(request));
      await settled(app.auth);
      expect([await isWritten(locked), await isWritten(free)]).toEqual([false, true]);
    });
    await request(locked);
    await settled(app.auth);
    expect(await isWritten(locked)).toBe(true);
    expect(app.log).toEqual([]);
  });
});

describe('a last activity that cannot be written', () => {
  test('is logged and written later', async () => {
    const session = await stale();
    refuse(2);
    timers.expire();
    await request(session);
    await until(() => isWritten(session));
    expect(app.log).toEqual([
      expect.stringMatching(/^warn .*last activity could not be saved for 1 rows: it will be retried.*/),
    ]);
  });

  test('is written later even if the logger throws', async () => {
    const lines = jest.spyOn(console, 'error').mockImplementation(() => {});
    const session = await stale();
    app.log.push = () => {
      throw new Error('the disk is full');
    };
    refuse(2);
    timers.expire();
    await request(session);
    await until(() => isWritten(session));
    expect(lines.mock.calls).toEqual([
      [expect.stringMatching(/^latchkey: the logger failed: Error: the disk is full.* saved for 1 rows/)],
    ]);
    lines.mockRestore();
  });

  test('is given up after three times, and the next request records it again', async () => {
    const session = await stale();
    refuse(3);
    timers.expire();
    await request(session);
    await until(() => app.log.length === 2);
    expect(app.log[1]).toContain('could not be saved for 1 rows: it is lost for 1');
    await settled(app.auth);
    expect(await isWritten(session)).toBe(false);
    await request(session);
    await settled(app.auth);
    expect(await isWritten(session)).toBe(true);
  });

  test('is logged as lost at close', async () => {
    await request(await stale());
    refuse(1);
    await settled(app.auth);
    expect(app.log.join()).toContain('it is lost for 1');
  });

  test('is dropped and logged if 10,000 others are waiting', async () => {
    const { database } = internalsOf(app.auth).core;
    const { lines, ...logger } = memoryLogger();
    const uses = new LastUse(database, new Log(logger), {
      table: 'sessions',
      column: 'last_active_at',
      what: 'it',
    });
    const session = await stale();
    const seen = (await stored()).get(session.id) as Date;
    const now = Date.now();
    uses.record(session.id, seen, now);
    for (let index = 0; index < 10_049; index++) uses.record(uuidv7(now), seen, now);
    // It is waiting already.
    uses.record(session.id, seen, now + 1);
    statements.length = 0;
    await uses.settle();
    expect(lines).toEqual([
      'warn latchkey: it was not recorded for 50 requests: 10000 rows were waiting already',
    ]);
    expect(updates()).toHaveLength(50);
    expect((await stored()).get(session.id)).toEqual(new Date(now + 1));
  });
});
