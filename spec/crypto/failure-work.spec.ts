import { beforeEach, describe, expect, test } from '@jest/globals';
import { FailureWork, type Kind } from '../../lib/crypto/failure-work.js';

const COST = 12;
const WHOLE = 2 ** COST;

// A machine that computes ten rounds of bcrypt per millisecond, and counts them.
let computed = 0;
let now = 0;
const compute = async (rounds: number) => {
  computed += rounds;
  now += rounds / 10;
};
let work: FailureWork;
beforeEach(() => {
  now = 0;
  work = newWork({ cost: COST }, COST);
});

const newWork = (configured: Kind, bcryptCost: number) =>
  new FailureWork(
    configured,
    bcryptCost,
    (cost) => compute(2 ** cost),
    () => now,
  );

const takes = (rounds: number, matches: boolean) => async () => {
  await compute(rounds);
  return matches;
};
/** The rounds that a verification computes. */
const roundsOf = async (run: () => Promise<unknown>) => {
  computed = 0;
  await run();
  return computed;
};
const bcrypt = (cost: number, matches = false) =>
  roundsOf(() => work.verify({ cost }, takes(2 ** cost, matches)));
// Without a hash, the configured one is computed.
const unknown = () => bcrypt(COST);
const other = (rounds: number, parameters = `${rounds}`, matches = false) =>
  roundsOf(() => work.verify({ parameters }, takes(rounds, matches)));
const expectClose = (rounds: number, whole: number) => {
  // 1 %, or half a run of bcrypt's lowest cost.
  const tolerance = Math.max(0.015 * whole, 2 ** 3);
  expect(Math.abs(rounds - whole)).toBeLessThanOrEqual(tolerance);
};

describe('a failed verification computes the same', () => {
  test('without a hash', async () => {
    expect(await unknown()).toBe(WHOLE);
  });

  test.each([4, 5, 6, 8, 10, 11, 12])('with a bcrypt hash of cost %d', async (cost) => {
    expectClose(await bcrypt(cost), WHOLE);
  });

  test.each([0.001, 0.01, 0.1, 0.33, 0.5, 0.77, 0.95, 0.99, 1])(
    'with a hash of another kind that takes %d of the time',
    async (part) => {
      // The first one also measures bcrypt.
      await other(1);
      expectClose(await other(part * WHOLE), WHOLE);
    },
  );

  test.each([13, 14])('once a bcrypt hash of cost %d was seen', async (cost) => {
    expect(await bcrypt(cost)).toBe(2 ** cost);
    expect(await unknown()).toBe(2 ** cost);
    for (const lower of [4, 10, COST]) expectClose(await bcrypt(lower), 2 ** cost);
    expectClose(await other(0.4 * WHOLE), 2 ** cost);
  });

  test('once a hash of another kind was seen that takes longer', async () => {
    await other(1);
    const longer = 1.7 * WHOLE;
    expect(await other(longer)).toBe(longer);
    expectClose(await unknown(), longer);
    for (const cost of [4, 10, COST]) expectClose(await bcrypt(cost), longer);
    expectClose(await other(0.4 * WHOLE), longer);
  });

  test('if a costly hash was learned in advance', async () => {
    await work.learn({ cost: 13 }, takes(0, false));
    expect(await unknown()).toBe(2 * WHOLE);
    await work.learn({ parameters: 'costly' }, takes(3 * WHOLE, false));
    expectClose(await unknown(), 3 * WHOLE);
  });
});

test('a successful verification is not filled up, but teaches what its hash costs', async () => {
  expect(await bcrypt(10, true)).toBe(2 ** 10);
  expect(await bcrypt(13, true)).toBe(2 ** 13);
  expect(await unknown()).toBe(2 ** 13);
});

test('load during some verifications does not raise the work for good', async () => {
  await other(1);
  // As long as the others, more or less, and once ten times as long.
  const noise = [1.05, 0.95, 10, 1.02, 0.99, 1.04, 0.97, 1.03, 0.98, 1.01];
  for (let round = 0; round < 20; round++) {
    for (const factor of noise) await other(factor * WHOLE, 'about as long');
  }
  expectClose(await unknown(), 1.01 * WHOLE);
});

describe('if the configured hash is of another kind than bcrypt, a failed verification computes the same', () => {
  const OWN = 'argon2id';
  const ROUNDS = 300;
  // It takes a little longer or shorter each time.
  let noise = [1];
  const own = (matches = false) => {
    const factor = noise.shift() ?? 1;
    noise.push(factor);
    return other(factor * ROUNDS, OWN, matches);
  };
  beforeEach(async () => {
    noise = [1];
    work = newWork({ parameters: OWN }, 7);
    await work.learn({ parameters: OWN }, takes(ROUNDS, false));
  });

  test('without a hash and with a configured one, which is all that it computes', async () => {
    noise = [1, 0.97, 1.04, 1.01];
    const rounds: number[] = [];
    for (let round = 0; round < 8; round++) rounds.push(await own());
    expect(rounds).toEqual([1, 0.97, 1.04, 1.01, 1, 0.97, 1.04, 1.01].map((factor) => factor * ROUNDS));
  });

  test.each([0.01, 0.33, 0.5, 0.77, 0.95])(
    'with an imported hash that takes %d of the time',
    async (part) => {
      expectClose(await other(part * ROUNDS, 'imported'), ROUNDS);
      expect(await own()).toBe(ROUNDS);
    },
  );

  test('with a bcrypt hash that takes less', async () => {
    for (const cost of [4, 6, 8]) expectClose(await bcrypt(cost), ROUNDS);
    expect(await own()).toBe(ROUNDS);
  });

  test('with a bcrypt hash from before, once it was seen or learned', async () => {
    expect(await bcrypt(COST)).toBe(WHOLE);
    for (let round = 0; round < 3; round++) expectClose(await own(), WHOLE);
    expectClose(await other(0.4 * WHOLE, 'imported'), WHOLE);
    await work.learn({ cost: 13 }, takes(0, false));
    expectClose(await own(), 2 * WHOLE);
    expect(await bcrypt(13)).toBe(2 * WHOLE);
  });

  test('with an imported hash that takes longer, once it was seen', async () => {
    expect(await other(5 * ROUNDS, 'imported')).toBe(5 * ROUNDS);
    expectClose(await own(), 5 * ROUNDS);
  });

  test('and a success computes nothing more', async () => {
    await bcrypt(COST);
    expect(await own(true)).toBe(ROUNDS);
  });
});
