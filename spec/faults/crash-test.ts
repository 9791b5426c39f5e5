// Lets users do everything there is to do while processes, connections and the database fail, and checks that nothing
// that was acknowledged is lost, nothing that was revoked lives, and nothing is half done.
//   npm run crash-test -- --minutes 30 --dialect mysql --seed 1
import { parseArgs } from 'node:util';
import { Storm } from '../support/crash/storm.js';

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    dialect: { type: 'string', default: 'sqlite' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const [minutes, seed] = [Number(flags.minutes), Number(flags.seed)];
const dialect = (['mysql', 'postgres', 'sqlite'] as const).find((one) => one === flags.dialect);
if (!dialect || !(minutes > 0) || !Number.isInteger(seed)) {
  console.error('--dialect takes mysql, postgres or sqlite; --minutes and --seed take numbers');
  process.exit(2);
}

console.log(`crash test on ${dialect}, ${minutes} minutes, seed ${seed}`);
const { violation, ...figures } = await Storm.run({
  dialect,
  seed,
  seconds: minutes * 60,
  onRound: console.log,
});
const { operations, faults } = figures;
const sum = (counts: object) =>
  Object.values(counts).reduce((total: number, count: number) => total + count, 0);
const list = (counts: object) =>
  Object.entries(counts)
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ');
console.log(
  `\nseed ${seed}: ${sum(operations)} operations in ${figures.requests} requests, ${figures.unanswered} not answered,`,
);
console.log(
  `${figures.duels} pairs of changes at the same time, ${figures.mails} emails, ${figures.events} events,`,
);
console.log(`${sum(faults)} faults; slowest answer ${figures.slowestMs} ms`);
console.log(list(operations));
console.log(list(faults));
console.log(violation === null ? '0 violations' : `VIOLATION: ${violation}`);
process.exit(violation === null ? 0 : 1);
