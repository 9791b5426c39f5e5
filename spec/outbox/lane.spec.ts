import { expect, test } from '@jest/globals';
import { Lane } from '../../lib/outbox/lane.js';

const send = async () => 'sent' as const;
const destination = { lane: 'spec', what: 'a spec', atOnce: 2, timeoutMs: 1000, send };

test('a lane runs some work at once, keeps a limited amount for later, and forgets what is beyond', async () => {
  const lane = new Lane(destination);
  let running = 0;
  let most = 0;
  let done = 0;
  const work = async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    done++;
  };
  for (let index = 0; index < 1500; index++) lane.offer(work);
  expect(lane.isBusy).toBe(true);
  await lane.idle();
  expect([most, done]).toEqual([2, 1002]);
});

test('what a round takes from the table is all run, and its first failure is told', async () => {
  const lane = new Lane(destination);
  let done = 0;
  const works = Array.from({ length: 1500 }, (_, index) => async () => {
    done++;
    if (index === 3) throw new Error('the database is down');
  });
  await expect(lane.runAll(works)).rejects.toThrow('the database is down');
  await lane.idle();
  expect(done).toBe(1500);
});
