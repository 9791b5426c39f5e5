// Figure 3: one request at a time, which no other one can share a statement with.
import { alternating, candidates } from '../support/guarded.mjs';
import { fixed, goal, median, quartiles, table } from '../support/numbers.mjs';
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
  for (const dialect of dialects) {
    const all = await candidates(dialect, { size, names: SERVERS, databases, log });
    const options = { ...timing, connections: 1, patient: !quick, databases, log };
    const results = await alternating(all, options);
    const turnsOf = (name, isAwake = true) => results.get(name).filter((turn) => turn.isAwake === isAwake);
    // Of the ratios in each turn, since the speed of a machine changes from turn to turn.
    const ratiosOf = (name, isAwake) => {
      const handWritten = turnsOf('hand-written', isAwake);
      return turnsOf(name, isAwake).map(({ p50 }, turn) => p50 / handWritten[turn].p50);
    };
    const ratioOf = (name) => median(ratiosOf(name));
    const of = (name, key, isAwake) => median(turnsOf(name, isAwake).map((turn) => turn[key]));
    for (const { name, label } of all) {
      const disturbed = results.get(name).some((turn) => turn.disturbed) ? ' (disturbed)' : '';
      rows.push([
        `${NAMES[dialect]}: ${label}${disturbed}`,
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
    `The same page, but one connection that sends the next request when it has the answer to the last. ${timing.rounds} rounds, each
with processes of its own, which run beside each other and are measured in ${timing.turns} alternating turns of ${timing.seconds} s, after ${timing.warmUp} s of
warm-up at 50 connections and as much at one. In half of the turns, the cores are kept awake, and the goals apply to these. The
columns "asleep" are of the turns in which the cores could sleep: bench/README.md says how the two differ.`,
    table(
      [
        ...['server', 'p50 ms', 'of hand-written', 'middle half', 'p99 ms', 'CPU ms', 'SELECTs'],
        ...['asleep: p50 ms', 'of hand-written', 'middle half'],
      ],
      rows,
    ),
    goals.join('\n'),
  ].join('\n\n');
}
