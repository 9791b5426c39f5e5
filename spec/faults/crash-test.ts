// Lets users do everything there is to do while processes, connections and the database fail, and checks that nothing
// that was acknowledged is lost, nothing that was revoked lives, and nothing is half done.
//   npm run crash-test -- --minutes 30 --dialect mysql --seed 1
// Or puts a fault into the code of the app, which must be found; `all` tries each of spec/support/crash/breaks.ts.
//   npm run crash-test -- --dialect mysql --break all
import { parseArgs } from 'node:util';
import { BREAKS, breakOf } from '../support/crash/breaks.js';
import { Storm } from '../support/crash/storm.js';

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string' },
    dialect: { type: 'string', default: 'sqlite' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    break: { type: 'string' },
  },
});
const [minutes, seed] = [Number(flags.minutes ?? (flags.break ? 2 : 10)), Number(flags.seed)];
const dialect = (['mysql', 'postgres', 'sqlite'] as const).find((one) => one === flags.dialect);
if (!dialect || !(minutes > 0) || !Number.isInteger(seed)) {
  console.error('--dialect takes mysql, postgres or sqlite; --minutes and --seed take numbers');
  process.exit(2);
}
const storm = { dialect, seed, seconds: minutes * 60 };
process.exit((await (flags.break ? findBreaks(flags.break) : run())) ? 0 : 1);

/** @returns whether nothing was violated */
async function run(): Promise<boolean> {
  console.log(`crash test on ${dialect}, ${minutes} minutes, seed ${seed}`);
  const { violation, ...figures } = await Storm.run({ ...storm, onRound: console.log });
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
  return violation === null;
}

/** @param name of a break, or `all` @returns whether each was found in time */
async function findBreaks(name: string): Promise<boolean> {
  let areFound = true;
  for (const broken of name === 'all' ? BREAKS : [breakOf(name)]) {
    const { violation, seconds, duels } = await Storm.run({ ...storm, broken });
    const [first] = violation?.split('\n') ?? [];
    const how = first ? `found after ${seconds} s: ${first}` : `NOT FOUND in ${seconds} s, ${duels} pairs`;
    console.log(`${broken.name}: ${how}`);
    areFound &&= violation !== null;
  }
  return areFound;
}
