import { expect, test } from '@jest/globals';
import { queueHash } from '../../lib/crypto/hash-queue.js';

test('queueHash runs a few hashes in parallel, queues 64 and rejects the rest immediately', async () => {
  let running = 0;
  let most = 0;
  const order: number[] = [];
  const ends: (() => void)[] = [];
  const work = (index: number) => async () => {
    most = Math.max(most, ++running);
    order.push(index);
    await new Promise<void>((resolve) => ends.push(resolve));
    running--;
    if (index === 1) throw new Error('a hash failed');
    return index;
  };
  const all = Array.from({ length: 100 }, (_, index) => queueHash(work(index)));
  const settled = Promise.allSettled(all);
  const refused: unknown[] = [];
  for (const one of all) one.catch((error) => refused.push(error));
  await new Promise((resolve) => setImmediate(resolve));
  const places = running + 64;
  expect(running).toBeGreaterThan(0);
  // At least one of libuv's four threads stays free.
  expect(running).toBeLessThan(4);
  expect(refused).toHaveLength(100 - places);
  expect(refused[0]).toMatchObject({ status: 503, code: 'unavailable', retryAfter: expect.any(Number) });
  while (ends.length > 0) {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const results = await settled;
  expect(results[0]).toEqual({ status: 'fulfilled', value: 0 });
  expect(results[1]).toMatchObject({ status: 'rejected', reason: { message: 'a hash failed' } });
  expect(order).toEqual(Array.from({ length: places }, (_, index) => index));
  expect(most).toBeLessThan(4);
  // The queue is empty again: hashes that failed or were rejected do not occupy a place.
  const again = Array.from({ length: places }, (_, index) => queueHash(async () => index));
  expect(await Promise.all(again)).toHaveLength(places);
});

test('queueHash shares its limits with other copies of the package in the process', async () => {
  const file: string = '../../lib/crypto/hash-queue.js?copy';
  const copy: typeof import('../../lib/crypto/hash-queue.js') = await import(file);
  expect(copy.queueHash).not.toBe(queueHash);
  let running = 0;
  const ends: (() => void)[] = [];
  const work = () => {
    running++;
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const first = Array.from({ length: 40 }, () => queueHash(work));
  const mostOfOne = running;
  const second = Array.from({ length: 60 }, () => copy.queueHash(work));
  const settled = Promise.allSettled([...first, ...second]);
  expect(running).toBe(mostOfOne);
  // A slot that one copy frees passes to the work that waits in the other.
  while (ends.length > 0) {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const done = (await settled).filter(({ status }) => status === 'fulfilled');
  expect(done).toHaveLength(mostOfOne + 64);
});

test('clients take turns, and one that fills the queue gives way to others', async () => {
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const start = (client: string, times: number) =>
    Array.from({ length: times }, () =>
      queueHash(async () => {
        order.push(client);
        await new Promise<void>((resolve) => ends.push(resolve));
      }, client).then(
        () => 'hashed',
        (error: { code: string }) => error.code,
      ),
    );
  const flood = start('flood', 200);
  await new Promise((resolve) => setImmediate(resolve));
  const running = order.length;
  const strangers = [...start('one', 2), ...start('two', 1)];
  while (ends.length > 0) {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await Promise.all(strangers)).toEqual(['hashed', 'hashed', 'hashed']);
  // 64 places, of which three went to the others.
  const outcomes = await Promise.all(flood);
  expect(outcomes.filter((outcome) => outcome === 'hashed')).toHaveLength(running + 61);
  expect(outcomes.filter((outcome) => outcome === 'unavailable')).toHaveLength(200 - running - 61);
  expect(order.slice(running, running + 6)).toEqual(['flood', 'one', 'two', 'flood', 'one', 'flood']);
});

test('clients that wait equally long do not displace each other', async () => {
  const ends: (() => void)[] = [];
  const work = () => new Promise<void>((resolve) => ends.push(resolve));
  const start = (client: string) =>
    queueHash(work, client).then(
      () => 'hashed',
      (error: { code: string }) => error.code,
    );
  const many = Array.from({ length: 70 }, (_, index) => start(`client ${index}`));
  await new Promise((resolve) => setImmediate(resolve));
  while (ends.length > 0) {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const outcomes = await Promise.all(many);
  expect(outcomes.indexOf('unavailable')).toBeGreaterThanOrEqual(64);
  expect(outcomes.at(-1)).toBe('unavailable');
});
