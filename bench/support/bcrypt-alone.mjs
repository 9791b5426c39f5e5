// bcrypt in a process of its own, with as many comparisons under way as given: node bcrypt-alone.mjs <cost> <parallel>
// <seconds>. Prints `JSON {"perSecond": …}`.
import bcrypt from 'bcrypt';

const [cost, parallel, seconds] = process.argv.slice(2).map(Number);
const hash = await bcrypt.hash('a password', cost);
const started = performance.now();
let done = 0;
let last = started;
await Promise.all(
  Array.from({ length: parallel }, async () => {
    while (performance.now() - started < seconds * 1000) {
      await bcrypt.compare('a password', hash);
      done++;
      last = performance.now();
    }
  }),
);
console.log(`JSON ${JSON.stringify({ perSecond: done / ((last - started) / 1000) })}`);
