import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { MemoryLimitStore } from '../../lib/limits/memory-store.js';
import type { LimitStore, PausePolicy } from '../../lib/limits/store.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { expectProblem } from '../support/problem.js';

const REDIS_URL = process.env.LATCHKEY_SPEC_REDIS ?? '';

/** The store of an app: the counters in its database, or in Redis. */
async function storeOf(redis: boolean) {
  const app: SpecApp<readonly [ReturnType<typeof password>]> = await startApp({
    config: { rateLimit: redis ? { store: REDIS_URL } : {} },
  });
  return { store: internalsOf(app.auth).core.limits as LimitStore, stop: () => app.stop() };
}

const stores: [string, () => Promise<{ store: LimitStore; stop(): Promise<void> }>][] = [
  ['the memory', async () => ({ store: new MemoryLimitStore(), stop: async () => {} })],
  ['the database', () => storeOf(false)],
  ...(REDIS_URL ? ([['Redis', () => storeOf(true)]] as [string, () => ReturnType<typeof storeOf>][]) : []),
];

const MINUTE = 60_000;
const policy: PausePolicy = { failures: 3, firstPauseMs: MINUTE, maxPauseMs: 8 * MINUTE };

describe.each(stores)('an attempt that is given back, with counters in %s', (_where, open) => {
  let store: LimitStore;
  let stop: () => Promise<void>;
  let key: string;
  beforeAll(async () => {
    ({ store, stop } = await open());
  });
  afterAll(() => stop());

  const fresh = () => {
    key = `spec ${randomBytes(6).toString('hex')}`;
  };
  const reserve = async () => (await store.reserve(key, policy))?.leftMs ?? null;
  const attempts = async (count: number) => {
    for (let n = 0; n < count; n++) expect(await reserve()).toBeNull();
  };

  test('does not count, and those before it do', async () => {
    fresh();
    await attempts(2);
    for (let n = 0; n < 5; n++) {
      await attempts(1);
      await store.giveBack(key);
    }
    await attempts(1);
    expect(await reserve()).toBeGreaterThan(MINUTE - 10_000);
  });

  test('of a window, frees its place, and those that were refused take none', async () => {
    fresh();
    const hit = () => store.hit(key, { limit: 2, windowMs: MINUTE });
    expect([await hit(), await hit()]).toEqual([null, null]);
    for (let n = 0; n < 3; n++) expect(await hit()).toBeGreaterThan(MINUTE - 10_000);
    await store.takeBack(key);
    expect(await hit()).toBeNull();
    expect(await hit()).toBeGreaterThan(MINUTE - 10_000);
  });

  test('ends the pause that it began, and none before it', async () => {
    fresh();
    await attempts(3);
    expect(await reserve()).toBeGreaterThan(0);
    await store.giveBack(key);
    await attempts(1);
    expect(await reserve()).toBeGreaterThan(0);
  });

  test('is one of several at the same time', async () => {
    fresh();
    await attempts(2);
    await Promise.all([store.giveBack(key), store.giveBack(key)]);
    await attempts(3);
    expect(await reserve()).toBeGreaterThan(0);
  });

  test('never makes up for attempts to come', async () => {
    fresh();
    for (let n = 0; n < 4; n++) await store.giveBack(key);
    await attempts(1);
    for (let n = 0; n < 4; n++) await store.giveBack(key);
    await attempts(3);
    expect(await reserve()).toBeGreaterThan(0);
  });

  test('leaves the next pause as long as it would have been', async () => {
    fresh();
    const short: PausePolicy = { failures: 1, firstPauseMs: MINUTE, maxPauseMs: 8 * MINUTE };
    await store.reserve(key, short);
    await store.giveBack(key);
    expect(await store.reserve(key, short)).toBeNull();
    const left = (await store.reserve(key, short))?.leftMs ?? 0;
    expect(left).toBeLessThanOrEqual(MINUTE);
    expect(left).toBeGreaterThan(MINUTE - 10_000);
  });
});

test('a right password that is refused for another reason gets that answer if its attempt cannot be given back', async () => {
  const app = await startApp({
    plugins: [password({ requireVerifiedEmail: true })],
    config: { baseUrl: 'http://app.example.com', email: { send: () => undefined }, rateLimit: {} },
  });
  await app.http.post('/auth/signup/credential').send(ada);
  const { limiter } = internalsOf(app.auth).core;
  let asked = 0;
  limiter.giveBack = async () => {
    asked++;
    throw new Error('the store of the limits is gone');
  };
  const { email: credential, password: given } = ada;
  const answer = await app.http.post('/auth/signin/credential').send({ credential, password: given });
  expectProblem(answer, 403, 'email_not_verified');
  expect(asked).toBe(1);
  await app.stop();
});
