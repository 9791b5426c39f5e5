// Figure 3: one request at a time, which no other one can share a statement with.
import { alternating, candidates, disturbance } from '../support/guarded.mjs';
import { fixed, goal, median, quartiles, ratios, table } from '../support/numbers.mjs';
import { FULL, SMALL } from '../support/people.mjs';

export const title = 'One request alone';

const SERVERS = ['bare', 'hand-written', 'latchkey-cookie', 'latchkey-instance'];
const NAMES = { mysql: 'MySQL', postgres: 'PostgreSQL', sqlite: 'SQLite' };

/** @param {import('../support/options.mjs').Options} options */
export async function measure({ quick, dialects, databases, log }) {
  const size = quick ? SMALL : FULL;
  const timing = quick
    ? { rounds: 1, turns: 2, seconds: 1, warmUp: 1 }
    : { rounds: 5, turns: 5, seconds: 1, warmUp: 4 };
  const rows = [];
  const goals = [];
  const disturbances = [];
  for (const dialect of dialects) {
    const all = await candidates(dialect, { size, names: SERVERS, databases, log });
    const options = { ...timing, awake: [true, false], connections: 1, patient: !quick, databases, log };
    const results = await alternating(all, options);
    disturbances.push(disturbance(results, NAMES[dialect]));
    const turnsOf = (name, isAwake = true) => results.get(name).filter((turn) => turn.isAwake === isAwake);
    const ratiosOf = (name, isAwake) =>
      ratios(turnsOf(name, isAwake), turnsOf('hand-written', isAwake), 'p50');
    const ratioOf = (name) => median(ratiosOf(name));
    const of = (name, key, isAwake) => median(turnsOf(name, isAwake).map((turn) => turn[key]));
    for (const { name, label } of all) {
      rows.push([
        `${NAMES[dialect]}: ${label}`,
        ...[true, false].flatMap((isAwake) => [
          fixed(of(name, 'p50', isAwake), 3),
          fixed(median(ratiosOf(name, isAwake)), 2),
          quartiles(ratiosOf(name, isAwake), 2),
        ]),
        fixed(of(name, 'p99'), 3),
        fixed(of(name, 'cpu'), 3),
        dialect === 'sqlite' ? '–' : fixed(of(name, 'selects'), 2),
      ]);
    }
    for (const name of ['latchkey-cookie', 'latchkey-instance'])
      goals.push(
        goal(`p50 of ${name} on ${NAMES[dialect]}, times hand-written`, ratioOf(name), 'at most', 1.3),
      );
    if (dialect !== 'sqlite')
      goals.push(
        goal(`SELECTs a request on ${NAMES[dialect]}`, of('latchkey-cookie', 'selects'), 'at most', 1.01),
      );
  }
  return [
    `The same page, but one connection that sends the next request when it has the response to the last one. The servers of a database
are started side by side. Each is warmed up for ${timing.warmUp} s at 50 connections and for ${timing.warmUp} s at one, and then they are measured in alternating
turns of ${timing.seconds} s: ${timing.turns} each with cores that are kept awake, and ${timing.turns} each with cores that can sleep. Rounds with new processes: ${timing.rounds}. The goals
apply to the cores that are kept awake. The columns "asleep" are about the others: bench/README.md says how the two differ.`,
    table(
      [
        ...['server', 'p50 ms', 'of hand-written', 'middle half', 'p99 ms', 'CPU ms', 'SELECTs'],
        ...['asleep: p50 ms', 'of hand-written', 'middle half'],
      ],
      rows,
    ),
    disturbances.filter(Boolean).join(' '),
    goals.join('\n'),
  ]
    .filter(Boolean)
    .join('\n\n');
}
