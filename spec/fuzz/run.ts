// Tries inputs on everything that parses, for a time: npm run fuzz -- --minutes 10 [--seed 1] [--only <part of a name>]
// Prints how many inputs each property was tried with, and the smallest one that violates it. Exits with 1 if one does.
import { parseArgs } from 'node:util';
import { ofFunctions, ofRoutes } from './all.js';
import { tryInputs } from './property.js';
import { World } from './world.js';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '1' }, seed: { type: 'string' }, only: { type: 'string' } },
});
const minutes = Number(values.minutes);
const seed = values.seed === undefined ? undefined : Number(values.seed);
if (!(minutes > 0) || (seed !== undefined && !Number.isInteger(seed))) {
  console.error('npm run fuzz -- [--minutes <number>] [--seed <whole number>] [--only <part of a name>]');
  process.exit(2);
}
// Those of a running app get half of the time: their inputs take longest, and reach the most code. Within a group, time is
// shared as the specs share their inputs.
const world = await World.start();
const isMeant = ({ name }: { name: string }) => name.includes(values.only ?? '');
const groups = [ofFunctions.filter(isMeant), ofRoutes(world).filter(isMeant)].filter(
  (group) => group.length > 0,
);
let inputs = 0;
let violations = 0;
for (const group of groups) {
  const sum = group.reduce((total, { runs }) => total + runs, 0);
  for (const one of group) {
    const ms = (minutes * 60_000 * one.runs) / groups.length / sum;
    const { inputs: tried, violation } = await tryInputs(one, { ms, ...(seed !== undefined && { seed }) });
    inputs += tried;
    if (violation !== null) violations++;
    console.log(
      `${String(tried).padStart(9)} inputs: ${one.name}${violation === null ? '' : `\n${violation}`}`,
    );
  }
}
await world.stop();
console.log(`The app had at most ${Math.round(world.memory / 1024 ** 2)} MB of memory.`);
console.log(`${inputs} inputs, ${violations} violations`);
process.exit(violations > 0 ? 1 : 0);
