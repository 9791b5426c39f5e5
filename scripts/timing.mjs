// How far the time of an answer tells accounts apart: node --import tsx scripts/timing.mjs [cost] [tries]
//
// Medians of interleaved tries, 200 by default, at the default cost of a hash, 12. More than 5 % apart is a failure. Run
// it on a machine that does nothing else: no spec asserts a time.
import {
  hashesAbove,
  hashesBelow,
  hashesOfArgon2,
  measureEmailSignIns,
  measureResetRequests,
  measureSignIns,
  spread,
} from '../spec/support/timing.ts';

const cost = Number(process.argv[2] ?? 12);
const tries = Number(process.argv[3] ?? 200);

report(
  `failed sign-ins, bcrypt cost ${cost}`,
  await measureSignIns(tries, { bcryptCost: cost }, await hashesBelow(cost)),
);
report(
  `failed sign-ins, bcrypt cost lowered to ${cost - 1}`,
  await measureSignIns(tries, { bcryptCost: cost - 1 }, await hashesAbove(cost - 1)),
);
const argon2 = { hash: 'argon2id' };
const { 'own hash': own } = await hashesOfArgon2(cost);
report('failed sign-ins, argon2id', await measureSignIns(tries, argon2, { 'own hash': own }));
report(
  `failed sign-ins, argon2id after bcrypt cost ${cost}`,
  await measureSignIns(tries, argon2, await hashesOfArgon2(cost)),
);
const [requests, followed] = await measureResetRequests(tries);
report('requests for a reset, with mails that take 250 ms', requests);
report('the next request on the same connection', followed);
report('requests for an emailed sign-in code', await measureEmailSignIns(tries));

function report(what, medians) {
  const percent = spread(medians) * 100;
  console.log(`${what}: ${percent.toFixed(1)} % apart`);
  for (const [name, median] of Object.entries(medians))
    console.log(`  ${name.padEnd(36)} ${median.toFixed(2)} ms`);
  if (percent > 5) process.exitCode = 1;
}
