// A short form of crash-test.ts.
import { expect, test } from '@jest/globals';
import { Storm } from '../support/crash/storm.js';
import { dialect } from '../support/database.js';

const SECONDS = 6;
/** So many at least, on a machine that has something else to do too. */
const ROUNDS = 3;
const seed = Number(process.env.LATCHKEY_SPEC_SEED ?? Math.floor(Math.random() * 1e6));

test(`users do everything while processes and the database fail (LATCHKEY_SPEC_SEED=${seed})`, async () => {
  const { violation, rounds, operations, faults } = await Storm.run({
    dialect,
    seed,
    seconds: SECONDS,
    rounds: ROUNDS,
  });
  expect(violation).toBeNull();
  expect(rounds).toBeGreaterThanOrEqual(ROUNDS);
  // How many, depends on what else the machine has to do.
  expect(Object.values(operations).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  expect(Object.values(faults).reduce((sum, count) => sum + count, 0)).toBe(rounds);
}, 180_000);
