// What a number of users costs, by a formula: node bench/cost.mjs. The flags are its assumptions.
import { parseArgs } from 'node:util';
import { fixed, table } from './support/numbers.mjs';

const { values: flags } = parseArgs({
  options: {
    /** CPU milliseconds of a guarded request: see bench/RESULTS.md. */
    'guard-ms': { type: 'string', default: '0.15' },
    /** CPU milliseconds of a password hash: bcrypt with cost 12. */
    'hash-ms': { type: 'string', default: '250' },
    /** Bytes of a user with two sessions, with indexes. */
    'user-bytes': { type: 'string', default: '2000' },
  },
});
const [guardMs, hashMs, userBytes] = ['guard-ms', 'hash-ms', 'user-bytes'].map((flag) => Number(flags[flag]));

const ACTIVE_A_DAY = 0.1;
const REQUESTS_A_DAY = 50;
const SIGN_INS_A_DAY = 0.1;
const BUSIEST_HOUR = 0.15;
const LOAD = 0.5;

const rows = [10_000, 1_000_000, 100_000_000].map((users) => {
  const inBusiestSecond = (users * ACTIVE_A_DAY * BUSIEST_HOUR) / 3600;
  const requests = inBusiestSecond * REQUESTS_A_DAY;
  const signIns = inBusiestSecond * SIGN_INS_A_DAY;
  const guard = (requests * guardMs) / 1000 / LOAD;
  const hashes = (signIns * hashMs) / 1000 / LOAD;
  return [
    fixed(users),
    fixed(requests, requests < 10 ? 1 : 0),
    fixed(signIns, signIns < 10 ? 3 : 0),
    fixed(guard, 3),
    fixed(hashes, 3),
    `${fixed((users * userBytes) / 1e9, users < 1e6 ? 2 : 0)} GB`,
  ];
});
console.log(
  table(
    [
      'users',
      'guarded requests a second',
      'sign-ins a second',
      'cores for requests',
      'cores for hashes',
      'rows',
    ],
    rows,
  ),
);
