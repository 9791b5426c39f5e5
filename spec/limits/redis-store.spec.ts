import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { type AuthConfig, createAuth } from '../../lib/index.js';
import { ada, memoryLogger, password, SECRET, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { expectProblem } from '../support/problem.js';
import { settled } from '../support/sessions.js';

// The server that run.mjs found; empty if there is none.
const REDIS_URL = process.env.LATCHKEY_SPEC_REDIS ?? '';
const withRedis = REDIS_URL ? describe : describe.skip;

type Store = Exclude<Exclude<AuthConfig['rateLimit'], undefined | false>['store'], undefined>;

// Also runs after a failed test, because an open connection would keep Jest from exiting.
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** The ways to configure Redis. */
const ways: Record<string, () => Promise<Store>> = {
  'a URL': async () => REDIS_URL,
  'a client of ioredis': async () => ioredis(),
  'a client of redis': async () => {
    const client = createClient({ url: REDIS_URL });
    await client.connect();
    ends.push(() => client.close());
    return client;
  },
};

function ioredis() {
  const client = new Redis(REDIS_URL);
  ends.push(() => client.quit());
  return client;
}

/** Makes the counters this much older, because the clock of Redis cannot be moved. */
async function moveCounters(tablePrefix: string, seconds: number) {
  const redis = ioredis();
  for (const key of await redis.keys(`latchkey:${tablePrefix}*`)) {
    // Deletes those whose time is over.
    await redis.pexpire(key, (await redis.pttl(key)) - seconds * 1000);
    const isPaused = (await redis.type(key)) === 'hash' && (await redis.hexists(key, 'blocked_until'));
    if (isPaused) await redis.hincrby(key, 'blocked_until', -seconds * 1000);
  }
}

/** A key prefix for this run only. */
const freshPrefix = () => `spec_${randomBytes(6).toString('hex')}_`;

async function startWith(store: Store, rules: object = {}, tablePrefix = freshPrefix()) {
  const app = await startApp({
    plugins: [password()],
    config: { tablePrefix, rateLimit: { store, ...rules } },
  });
  ends.push(() => app.stop());
  await app.auth.credential.signUp(ada);
  const signIn = (given = 'a wrong password', credential = ada.email) =>
    app.http.post('/auth/signin/credential').send({ credential, password: given });
  return { app, signIn, tablePrefix };
}

withRedis.each(Object.entries(ways))('Redis as a store, configured with %s', (_way, connect) => {
  test('allows five of fifty concurrent wrong passwords, and the configured number of sign-ins per address', async () => {
    const store = await connect();
    const { app, signIn, tablePrefix } = await startWith(store, { signIn: { limit: 50, window: 60 } });
    const statuses = (await Promise.all(Array.from({ length: 50 }, () => signIn()))).map(
      ({ status }) => status,
    );
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(45);
    const refused = await signIn(ada.password, 'other@example.com');
    expectProblem(refused, 429, 'rate_limited');
    expect(refused.headers['ratelimit-policy']).toBe('"signIn";q=50;w=60');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(30);
    expect(await rows(app.database, `SELECT * FROM ${tablePrefix}rate_limits`)).toEqual([]);
  });

  test('lengthens the pauses, clears the counter after a success, and shares both with another process', async () => {
    const store = await connect();
    const rules = { account: { failures: 2, firstPause: 60, maxPause: 120 } };
    const { app, signIn, tablePrefix } = await startWith(store, rules);
    const other = createAuth({
      database: app.database.url,
      secret: SECRET,
      tablePrefix,
      plugins: [password()],
      rateLimit: { store: REDIS_URL, ...rules },
    });
    ends.push(() => other.close());
    await signIn().expect(401);
    const elsewhere = other.credential.signIn({ credential: ada.email, password: 'wrong' });
    await expect(elsewhere).rejects.toMatchObject({ code: 'invalid_credentials' });
    for (const seconds of [60, 120]) {
      const { headers } = await signIn(ada.password).expect(429);
      expect(headers['retry-after']).toBe(String(seconds));
      await moveCounters(tablePrefix, seconds);
      if (seconds === 60) await signIn().expect(401);
    }
    await signIn(ada.password).expect(200);
    await signIn().expect(401);
    await signIn(ada.password).expect(200);
  });

  test('starts a new window when one ends, and sets an expiry on its keys', async () => {
    const store = await connect();
    const { app, signIn, tablePrefix } = await startWith(store, {
      signIn: { limit: 1, window: 60 },
      account: { failures: 100, firstPause: 1, maxPause: 1 },
    });
    await signIn().expect(401);
    await signIn().expect(429);
    await moveCounters(tablePrefix, 60);
    await signIn().expect(401);
    const redis = ioredis();
    const keys = await redis.keys(`latchkey:${tablePrefix}*`);
    expect(keys).toHaveLength(2);
    // The keys contain no addresses and no emails.
    for (const key of keys) {
      expect(key).toMatch(/^latchkey:\w+:?[0-9a-f]{64}$/);
      expect(await redis.pttl(key)).toBeGreaterThan(0);
    }
    expect(await app.auth.prune()).toBe(0);
    await redis.del(keys);
  });
});

withRedis('the counters in Redis', () => {
  test('accept windows and pauses that are not a whole number of milliseconds', async () => {
    const { signIn } = await startWith(REDIS_URL, {
      signIn: { limit: 3, window: 100.00049 },
      account: { failures: 2, firstPause: 1.23456, maxPause: 1.99999 },
    });
    await signIn().expect(401);
    await signIn().expect(401);
    await signIn().expect(429);
    const { headers } = await signIn(ada.password, 'other@example.com').expect(429);
    expect(headers['ratelimit-policy']).toBe('"signIn";q=3;w=100');
  });

  test('are separated by the keyPrefix of ioredis, for a client and in a URL', async () => {
    const rules = { signIn: { limit: 1, window: 600 } };
    const keyPrefix = `${freshPrefix()}:`;
    const one = await startWith(`${REDIS_URL}?keyPrefix=${keyPrefix}`, rules, '');
    const other = await startWith(`${REDIS_URL}?keyPrefix=${freshPrefix()}:`, rules, '');
    const third = await startWith(new Redis(REDIS_URL, { keyPrefix }), rules, '');
    await one.signIn().expect(401);
    await other.signIn().expect(401);
    await third.signIn().expect(429);
    const redis = ioredis();
    const keys = await redis.keys(`${keyPrefix}*`);
    expect(keys).toHaveLength(2);
    for (const key of keys) expect(key.slice(keyPrefix.length)).toMatch(/^latchkey:[0-9a-f]{64}$/);
    await redis.del(keys);
  });

  test('live longer than the longest pause', async () => {
    const week = 7 * 24 * 3600;
    const { signIn, tablePrefix } = await startWith(REDIS_URL, {
      signIn: false,
      account: { failures: 1, firstPause: week, maxPause: week },
    });
    await signIn().expect(401);
    const { headers } = await signIn().expect(429);
    expect(Number(headers['retry-after'])).toBeGreaterThan(week - 60);
    const redis = ioredis();
    const [key = ''] = await redis.keys(`latchkey:${tablePrefix}*`);
    expect(await redis.pttl(key)).toBeGreaterThan(week * 1000 + 23 * 3600 * 1000);
    await redis.del(key);
  });

  test('report each pause once', async () => {
    const { app, signIn, tablePrefix } = await startWith(REDIS_URL, {
      signIn: false,
      account: { failures: 1, firstPause: 600, maxPause: 600 },
    });
    const events: unknown[] = [];
    app.auth.on('sign_in.throttled', (event) => events.push(event));
    const redis = ioredis();
    for (const pauses of [1, 2]) {
      await signIn().expect(401);
      await Promise.all(Array.from({ length: 20 }, () => signIn().expect(429)));
      await settled(app.auth);
      expect(events).toHaveLength(pauses);
      const [key = ''] = await redis.keys(`latchkey:${tablePrefix}*`);
      await redis.hset(key, 'blocked_until', 0);
    }
  });
});

describe('an unavailable Redis', () => {
  const silent = () =>
    new Promise<Server>((resolve) => {
      const server = createServer(() => undefined).listen(0, '127.0.0.1', () => resolve(server));
    });

  test.each(['refuses', 'hangs'])(
    'that %s causes a 503 for sign-ins, while other requests still work',
    async (how) => {
      const server = await silent();
      const { port } = server.address() as { port: number };
      const sockets: { destroy(): void }[] = [];
      server.on('connection', (socket) => sockets.push(socket));
      if (how === 'refuses') await new Promise((resolve) => server.close(resolve));
      const app = await startApp({
        plugins: [password()],
        config: { rateLimit: { store: `redis://127.0.0.1:${port}` } },
      });
      ends.push(
        () => how === 'refuses' || new Promise((resolve) => server.close(resolve)),
        () => {
          for (const socket of sockets) socket.destroy();
        },
        () => app.stop(),
      );
      const { token } = await signedUp(app.database.url);
      const started = performance.now();
      const answer = await app.http
        .post('/auth/signin/credential')
        .send({ credential: ada.email, password: ada.password });
      expectProblem(answer, 503, 'unavailable');
      expect(performance.now() - started).toBeLessThan(5000);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      expect(answer.headers['set-cookie']).toBeUndefined();
      expect(app.log.join()).toMatch(/error latchkey: The service is temporarily unavailable/);
      await app.http.get('/auth/me').set('cookie', `latchkey=${token}`).expect(200);
    },
  );

  async function signedUp(database: string) {
    const auth = createAuth({
      database,
      secret: SECRET,
      plugins: [password()],
      rateLimit: false,
      logger: memoryLogger(),
    });
    await auth.credential.signUp(ada);
    const session = await auth.credential.signIn({ credential: ada.email, password: ada.password });
    await auth.close();
    return session;
  }
});
