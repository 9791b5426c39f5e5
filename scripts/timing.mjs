// How far the time of an answer tells accounts apart: node --import tsx scripts/timing.mjs
//
// Medians of 200 interleaved tries, at the default cost of a hash. More than 5 % apart is a failure. Run it on a machine
// that does nothing else: no spec asserts a time.
import { measureResetRequests, measureSignIns, spread } from '../spec/support/timing.ts';

const TRIES = 200;
const COST = Number(process.argv[2] ?? 12);

for (const [what, medians] of [
  [`failed sign-ins, bcrypt cost ${COST}`, await measureSignIns(TRIES, COST)],
  ['requests for a reset, with mails that take 250 ms', await measureResetRequests(TRIES)],
]) {
  const percent = spread(medians) * 100;
  console.log(`${what}: ${percent.toFixed(1)} % apart`);
  for (const [name, median] of Object.entries(medians))
    console.log(`  ${name.padEnd(12)} ${median.toFixed(2)} ms`);
  if (percent > 5) process.exitCode = 1;
}
