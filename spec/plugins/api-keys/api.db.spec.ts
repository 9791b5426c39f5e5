import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { apiKeys, requireSession } from '../../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../../support/app.js';
import { advance, resetTime } from '../../support/clock.js';
import { rows } from '../../support/database.js';
import { settled } from '../../support/sessions.js';
import { loggingSequelize } from '../../support/statements.js';

const plugins = [password(), apiKeys()] as const;

let app: SpecApp<typeof plugins>;
let statements: string[] = [];
let userId: string;
const crowd: (() => void)[] = [];
beforeAll(async () => {
  app = await startApp({
    plugins,
    tables: {},
    async config(database) {
      const own = loggingSequelize(database);
      statements = own.statements;
      return { database: own.sequelize };
    },
    mount(express, auth) {
      // Lets requests through only when 30 have arrived, to simulate a busy server.
      express.use('/crowd', (_req, _res, next) => {
        crowd.push(next);
        if (crowd.length === 30) for (const go of crowd.splice(0)) go();
      });
      express.get('/work', requireSession(auth, { scopes: ['work'] }), (_req, res) => void res.json({}));
      express.get(['/crowd', '/any'], requireSession(auth), (_req, res) => void res.json({}));
    },
  });
  const made = await app.auth.credential.signUp(ada);
  userId = made?.user.id as string;
});
afterAll(() => app.stop());

const get = (key: string, path = '/any') => app.http.get(path).set('x-service-api-key', key);
const sent = () =>
  statements.filter(
    (line) =>
      /^Executed/.test(line) &&
      /\b(SELECT|INSERT|UPDATE|DELETE)\b/.test(line) &&
      !/VERSION\(\)|SHOW SERVER_VERSION/i.test(line),
  );

describe('auth.apiKeys', () => {
  test('creates a key for a service account without a password and an email', async () => {
    const id = '01900000-0000-7000-8000-000000000001';
    await app.auth.models.User.create({
      id,
      email: null,
      username: null,
      emailVerifiedAt: null,
      passwordHash: null,
      authEpoch: 0,
      createdAt: new Date(),
      updatedAt: new Date(),
    });
    const { apiKey, key } = await app.auth.apiKeys.create(id, { name: 'a robot', scopes: ['work'] });
    expect(apiKey).toEqual({
      id: expect.any(String),
      userId: id,
      name: 'a robot',
      start: key.slice(0, 12),
      scopes: ['work'],
      createdAt: expect.any(Date),
      expiresAt: null,
      lastUsedAt: null,
    });
    await get(key, '/work').expect(200);
    await settled(app.auth);
    const [listed, ...others] = await app.auth.apiKeys.list(id);
    expect(listed).toEqual({ ...apiKey, lastUsedAt: expect.any(Date) });
    expect(others).toEqual([]);
    expect(await app.auth.apiKeys.revoke(id, apiKey.id)).toBe(true);
    expect(await app.auth.apiKeys.revoke(id, apiKey.id)).toBe(false);
    await get(key).expect(401);
  });

  test('finds nothing for invalid ids', async () => {
    for (const id of ['', 'junk', "' OR '1'='1", '01900000-0000-7000-8000-00000000ffff']) {
      await expect(app.auth.apiKeys.create(id, { name: 'x' })).rejects.toMatchObject({
        status: 404,
        code: 'user_not_found',
      });
      expect(await app.auth.apiKeys.list(id)).toEqual([]);
      expect(await app.auth.apiKeys.revoke(id, id)).toBe(false);
      expect(await app.auth.apiKeys.revoke(userId, id)).toBe(false);
    }
  });

  test.each([
    { name: 'x', expiresAt: new Date(Number.NaN) },
    { name: 'x', expiresAt: new Date(0) },
    { name: 'x', expiresAt: 'tomorrow' },
    { name: undefined },
    { name: 'x', scopes: 'read' },
    { name: 'x', scopes: [null] },
  ])('create() rejects %j', async (input) => {
    await expect(app.auth.apiKeys.create(userId, input as never)).rejects.toMatchObject({
      status: 422,
      code: 'validation_failed',
    });
  });
});

describe('an API key', () => {
  let key: string;
  let id: string;
  beforeEach(async () => {
    const made = await app.auth.apiKeys.create(userId, { name: 'a program' });
    [key, id] = [made.key, made.apiKey.id];
  });
  const lastUse = async () =>
    (await app.auth.apiKeys.list(userId)).find((one) => one.id === id)?.lastUsedAt ?? null;

  test('expires at its expiry time', async () => {
    const short = await app.auth.apiKeys.create(userId, {
      name: 'short',
      expiresAt: new Date(Date.now() + 60_000),
    });
    await get(short.key).expect(200);
    advance(app.auth, 60);
    await get(short.key).expect(401);
    resetTime(app.auth);
    // It is still listed, so that its owner can see why it is rejected.
    expect((await app.auth.apiKeys.list(userId)).map((one) => one.id)).toContain(short.apiKey.id);
  });

  test('records its last use at most once a minute', async () => {
    expect(await lastUse()).toBeNull();
    await Promise.all(Array.from({ length: 5 }, () => get(key).expect(200)));
    await settled(app.auth);
    const first = await lastUse();
    expect(Math.abs(Number(first) - Date.now())).toBeLessThan(5000);
    statements.length = 0;
    await get(key).expect(200);
    await settled(app.auth);
    expect(sent().filter((sql) => /UPDATE/.test(sql))).toEqual([]);
    expect(await lastUse()).toEqual(first);
    const before = (seconds: number) =>
      new Date(Date.now() - seconds * 1000).toISOString().replace('T', ' ').replace('Z', '');
    const setUse = (time: string) =>
      rows(app.database, 'UPDATE api_keys SET last_used_at = :time WHERE id = :id', { time, id });
    await setUse(before(55));
    await get(key).expect(200);
    await settled(app.auth);
    expect(Date.now() - Number(await lastUse())).toBeGreaterThan(50_000);
    await setUse(before(61));
    await get(key).expect(200);
    await settled(app.auth);
    expect(Date.now() - Number(await lastUse())).toBeLessThan(5000);
  });

  test('costs one statement, none if it is malformed, and concurrent requests share one', async () => {
    await get(key).expect(200);
    await settled(app.auth);
    statements.length = 0;
    await get(key).expect(200);
    expect(sent()).toHaveLength(1);
    statements.length = 0;
    for (const junk of ['junk', `lkk_${'A'.repeat(48)}`, `${key}x`]) await get(junk).expect(401);
    expect(sent()).toEqual([]);
    // The first request of the first crowd is sent on its own, because the last request was alone.
    for (const expected of [2, 1]) {
      statements.length = 0;
      await Promise.all(Array.from({ length: 30 }, () => get(key, '/crowd').expect(200)));
      expect(sent()).toHaveLength(expected);
    }
  });

  test('is not logged', async () => {
    statements.length = 0;
    const made = await app.auth.apiKeys.create(userId, { name: 'logged' });
    await get(made.key).expect(200);
    expect(statements.join()).not.toContain(made.key.slice(12));
    expect(app.log.join()).not.toContain(made.key.slice(12));
  });
});
