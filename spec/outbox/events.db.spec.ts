import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Sequelize } from 'sequelize';
import { internalsOf } from '../../lib/auth.js';
import { digestToken } from '../../lib/crypto/token.js';
import { type AuthConfig, type AuthEventName, apiKeys } from '../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { connectAsApp } from '../support/app-database.js';
import { BASE_URL } from '../support/mail-app.js';
import { outboxOf, withoutOutbox } from '../support/outbox.js';
import { startReceiver } from '../support/receiver.js';
import { settled } from '../support/sessions.js';

const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const plugins = () => [password(), apiKeys()] as const;
type Plugins = ReturnType<typeof plugins>;

let receiver: Awaited<ReturnType<typeof startReceiver>>;
let app: SpecApp<Plugins>;
let own: Sequelize;
/** The statements that latchkey sends, with the secret ones. */
let statements: string[];
let told: AuthEventName[];
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await app.stop();
  await receiver.stop();
});

async function start(events?: string[], config: Partial<AuthConfig<Plugins>> = {}) {
  app = await startApp({
    plugins: plugins(),
    tables: {},
    async config(database) {
      own = connectAsApp(database);
      const webhooks = [{ url: `${receiver.origin}/hooks`, secret: KEY, ...(events && { events }) }];
      return { database: own, webhooks, ...config };
    },
  });
  const query = own.query.bind(own) as (...args: unknown[]) => Promise<unknown>;
  own.query = (async (...args: unknown[]) => {
    statements.push(String(args[0]).trim());
    return query(...args);
  }) as Sequelize['query'];
  told = [];
  statements = [];
  internalsOf(app.auth).core.events.onAny((name) => told.push(name));
}

const kinds = async () => (await outboxOf(app.database)).map(({ kind }) => kind).sort();
const matching = (pattern: RegExp) => statements.filter((one) => pattern.test(one));
const INSERT = /^INSERT INTO outbox/;
const COMMIT = /^COMMIT/;
const BEGIN = /^(START|BEGIN)/;

describe('what a change causes', () => {
  test('is written by one statement, the last one before its commit', async () => {
    await start(undefined, { baseUrl: BASE_URL, email: { send: () => {} } });
    const { id } = await app.auth.users.create({ ...ada, emailVerified: true });
    await app.auth.createSession(id);
    await app.auth.createSession(id);
    statements = [];
    await app.auth.users.setPassword(id, 'a difference engine');
    const inserts = statements.flatMap((one, index) => (INSERT.test(one) ? [index] : []));
    expect(inserts).toHaveLength(1);
    expect(statements[(inserts[0] ?? 0) + 1]).toMatch(COMMIT);
    // The notice, and the events.
    expect((await kinds()).filter((kind) => !/created/.test(kind))).toEqual([
      'password-changed',
      'password.changed',
      'session.revoked',
      'session.revoked',
    ]);
  });

  test('is written for hundreds of events', async () => {
    await start(['session.revoked']);
    const { id } = await app.auth.users.create(ada);
    for (let count = 0; count < 101; count++) await app.auth.createSession(id);
    statements = [];
    expect(await app.auth.revokeAllSessions(id)).toBe(101);
    expect(await kinds()).toHaveLength(101);
    expect(matching(INSERT)).toHaveLength(2);
  });

  test('is done in time however many events there are: only the first 500 are part of it', async () => {
    await start(['session.revoked']);
    const { id } = await app.auth.users.create(ada);
    await app.auth.createSession(id);
    const { Session } = app.auth.models;
    const template = (await Session.unscoped().findOne())!.get({ plain: true });
    const others = Array.from({ length: 700 }, (_, index) => ({
      ...template,
      id: `01900000-0000-7000-8000-${String(index).padStart(12, '0')}`,
      tokenHash: digestToken(`session ${index}`),
    }));
    await Session.bulkCreate(others);
    statements = [];
    expect(await app.auth.revokeAllSessions(id)).toBe(701);
    const committed = statements.findIndex((one) => COMMIT.test(one));
    expect(statements.slice(0, committed).filter((one) => INSERT.test(one))).toHaveLength(5);
    await settled(app.auth);
    expect(await kinds()).toHaveLength(701);
    expect(told.filter((name) => name === 'session.revoked')).toHaveLength(701);
  });

  test('is one with what the hooks of the app do in its transaction', async () => {
    const refused = new Error('the app refuses');
    let fails = true;
    await start(undefined, {
      hooks: {
        async afterCreateUser({ id }, { transaction }) {
          await app.auth.apiKeys.create(id, { name: 'of every account', transaction });
          if (fails) throw refused;
        },
      },
    });
    await expect(app.auth.users.create(ada)).rejects.toBe(refused);
    expect([await kinds(), told]).toEqual([[], []]);
    fails = false;
    statements = [];
    await app.auth.users.create(ada);
    const all = ['api_key.created', 'user.created'];
    expect([await kinds(), [...told].sort()]).toEqual([all, all]);
    expect(matching(INSERT)).toHaveLength(1);
  });

  test('is undone with a savepoint of the app', async () => {
    await start();
    await own.transaction(async (transaction) => {
      const inner = own.transaction({ transaction }, async (savepoint) => {
        await app.auth.users.create({ ...ada, transaction: savepoint });
        throw new Error('the app undoes it');
      });
      await expect(inner).rejects.toThrow('the app undoes it');
      await app.auth.users.create({ email: 'second@example.com', transaction });
      expect(told).toEqual([]);
    });
    expect([await kinds(), told]).toEqual([['user.created'], ['user.created']]);
  });

  test('is forgotten when its transaction is run again', async () => {
    await start();
    const { database, events } = internalsOf(app.auth).core;
    const code = { mysql: 'ER_LOCK_DEADLOCK', postgres: '40P01', sqlite: 'SQLITE_LOCKED' }[database.dialect];
    let attempts = 0;
    await database.transaction(async (transaction) => {
      events.emit('user.deleted', { userId: `attempt ${++attempts}` }, transaction);
      if (attempts === 1) throw Object.assign(new Error('deadlock'), { parent: { code } });
    });
    expect(attempts).toBe(2);
    expect([await kinds(), told]).toEqual([['user.deleted'], ['user.deleted']]);
    const [hook] = await receiver.arrived('/hooks', 1);
    expect(JSON.parse(hook?.body ?? '')).toMatchObject({ data: { user_id: 'attempt 2' } });
  });

  test('is part of it: if it cannot be written, the answer is 503, and nothing has changed', async () => {
    await start(['password.changed']);
    const { id } = await app.auth.users.create(ada);
    const set = () => app.auth.users.setPassword(id, 'a difference engine');
    told = [];
    const refusal = await withoutOutbox(app.database, () => set().catch((error) => error));
    expect(refusal).toMatchObject({ code: 'unavailable', status: 503 });
    expect(told).toEqual([]);
    const signIn = (password: string) => app.auth.credential.signIn({ credential: ada.email, password });
    await signIn(ada.password);
    await set();
    await signIn('a difference engine');
    expect(await kinds()).toEqual(['password.changed']);
  });
});

describe('a change of one statement', () => {
  const CHANGES: Record<string, (id: string) => Promise<() => Promise<unknown>>> = {
    'session.revoked': async (id) => {
      const { session } = await app.auth.createSession(id);
      return () => app.auth.revokeSessionById(id, session.id);
    },
    'api_key.revoked': async (id) => {
      const { apiKey } = await app.auth.apiKeys.create(id, { name: 'a program' });
      return () => app.auth.apiKeys.revoke(id, apiKey.id);
    },
    'session.reauthenticated': async (userId) => {
      const authenticatedAt = new Date(Date.now() - 3_600_000);
      const { session } = await app.auth.createSession(userId, { authenticatedAt });
      return () =>
        app.auth.credential.reauthenticate({ userId, sessionId: session.id, password: ada.password });
    },
  };

  test.each(Object.keys(CHANGES))('has a transaction only if a webhook takes %s', async (name) => {
    for (const event of ['user.deleted', name]) {
      await start([event]);
      const { id } = await app.auth.users.create(ada);
      const change = await CHANGES[name]?.(id);
      [told, statements] = [[], []];
      await change?.();
      const isTaken = event === name;
      expect(told).toEqual([name]);
      expect(await kinds()).toEqual(isTaken ? [name] : []);
      for (const one of [BEGIN, INSERT, COMMIT]) expect(matching(one)).toHaveLength(isTaken ? 1 : 0);
      if (event !== name) await app.stop();
    }
  });
});

test('an event that changes nothing is written before the answer, and its loss is only logged', async () => {
  await start(['sign_in.failed']);
  const fail = () =>
    app.http.post('/auth/signin/credential').send({ credential: ada.email, password: 'wrong' }).expect(401);
  await fail();
  expect(await kinds()).toEqual(['sign_in.failed']);
  await withoutOutbox(app.database, fail);
  expect(app.log.join()).toMatch(
    /error latchkey: webhooks could not be saved, and are lost: sign_in\.failed/,
  );
});
