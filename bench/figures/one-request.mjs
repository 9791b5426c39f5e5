// Figure 3: one request at a time, which no other one can share a statement with.
import { candidates, interleaved } from '../support/guarded.mjs';
import { fixed, goal, median, spread, table } from '../support/numbers.mjs';
import { FULL, SMALL } from '../support/people.mjs';

export const title = 'One request alone';

const SERVERS = ['bare', 'hand-written', 'latchkey-cookie', 'latchkey-instance'];
const NAMES = { mysql: 'MySQL', postgres: 'PostgreSQL', sqlite: 'SQLite' };

/** @param {import('../support/options.mjs').Options} options */
export async function measure({ quick, dialects, databases, log }) {
  const size = quick ? SMALL : FULL;
  const timing = quick ? { rounds: 1, seconds: 1, warmUp: 1 } : { rounds: 5, seconds: 2, warmUp: 5 };
  const rows = [];
  const goals = [];
  for (const dialect of dialects) {
    const all = await candidates(dialect, { size, names: SERVERS, databases, log });
    const options = { ...timing, connections: 1, patient: !quick, databases, log };
    const results = await interleaved(all, options);
    // Of the ratios in each round, since the speed of a machine changes from round to round.
    const ratioOf = (name) =>
      median(results.get(name).map(({ p50 }, round) => p50 / results.get('hand-written')[round].p50));
    const of = (name, key) => median(results.get(name).map((round) => round[key]));
    for (const { name, label } of all) {
      const rounds = results.get(name);
      const disturbed = rounds.some((round) => round.disturbed) ? ' (disturbed)' : '';
      rows.push([
        `${NAMES[dialect]}: ${label}${disturbed}`,
        fixed(of(name, 'p50'), 3),
        spread(
          rounds.map(({ p50 }) => p50),
          3,
        ),
        fixed(ratioOf(name), 2),
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
    `The same page, but one connection that sends the next request when it has the answer to the last. ${timing.rounds} interleaved
rounds of ${timing.seconds} s, after ${timing.warmUp} s of warm-up at 50 connections and as much at one.`,
    table(['server', 'p50 ms', 'lowest–highest', 'of hand-written', 'p99 ms', 'CPU ms', 'SELECTs'], rows),
    goals.join('\n'),
  ].join('\n\n');
}
