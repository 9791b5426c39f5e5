// Figures 1 and 2: one page behind a guard, under load.
import { alternating, candidates, disturbance } from '../support/guarded.mjs';
import { fixed, goal, median, quartiles, ratios, table } from '../support/numbers.mjs';
import { FULL, SMALL } from '../support/people.mjs';

export const title = 'A guarded page';

const CONNECTIONS = 50;
const NAMES = { mysql: 'MySQL', postgres: 'PostgreSQL', sqlite: 'SQLite' };

/** @param {import('../support/options.mjs').Options} options */
export async function measure({ quick, dialects, servers, databases, log }) {
  const size = quick ? SMALL : FULL;
  const timing = quick
    ? { rounds: 1, turns: 2, seconds: 1, warmUp: 1 }
    : { rounds: 5, turns: 6, seconds: 1, warmUp: 10 };
  const parts = [
    `One small JSON page with the user and the session. ${fixed(size.users)} users, ${fixed(size.sessions)} sessions, of which ${fixed(size.hot)} send requests
over ${CONNECTIONS} connections. The servers of a database are started side by side. Each is warmed up for ${timing.warmUp} s, and then they are measured in
alternating turns of ${timing.seconds} s, ${timing.turns} each. Rounds with new processes: ${timing.rounds}. The numbers are medians of all turns, with the middle half in brackets.
A ratio ("of …") is the median of the ratios of paired turns. CPU is the server's time per request.`,
  ];
  for (const dialect of dialects) {
    const all = await candidates(dialect, { size, names: servers, databases, log });
    if (all.length === 0) continue;
    const options = { ...timing, connections: CONNECTIONS, patient: !quick, databases, log };
    const results = await alternating(all, options);
    parts.push(
      ...[`### ${NAMES[dialect]}`, tableOf(dialect, all, results)],
      ...[disturbance(results, NAMES[dialect]), goalsOf(dialect, results)],
    );
  }
  if (parts.length === 1) throw new Error(`no server here is called ${servers?.join(' or ')}`);
  return parts.filter(Boolean).join('\n\n');
}

function tableOf(dialect, all, results) {
  const of = (name, key) => medianOf(results, name, key);
  const bases = ['bare', 'hand-written', 'better-auth'].filter((name) => results.has(name));
  return table(
    [
      ...['server', 'a second', ...bases.map((name) => `of ${name}`), 'CPU ms', 'database CPU ms'],
      ...['busy', 'p50 ms', 'p99 ms', 'SELECTs', 'writes', 'memory MB'],
    ],
    all.map(({ name, label }) => {
      const turns = results.get(name);
      const bad = turns.reduce((sum, turn) => sum + turn.bad, 0);
      const speeds = turns.map(({ perSecond }) => perSecond);
      return [
        `${label}${bad > 0 ? ` (${bad} bad responses)` : ''}`,
        `${fixed(median(speeds))} (${quartiles(speeds)})`,
        ...bases.map((base) => {
          const all = ratios(turns, results.get(base), 'perSecond');
          return name === base ? '1.00' : `${fixed(median(all), 2)} (${quartiles(all, 2)})`;
        }),
        fixed(of(name, 'cpu'), 3),
        fixed(of(name, 'databaseCpu'), 3),
        `${fixed(of(name, 'busy') * 100)} %`,
        fixed(of(name, 'p50'), 1),
        fixed(of(name, 'p99'), 1),
        dialect === 'sqlite' ? '–' : fixed(of(name, 'selects'), 2),
        dialect === 'sqlite' ? '–' : fixed(of(name, 'writes'), 4),
        fixed(of(name, 'memory')),
      ];
    }),
  );
}

/** What is to be reached, as far as the servers for it were measured. */
function goalsOf(dialect, results) {
  const has = (...names) => names.every((name) => results.has(name));
  const ratio = (name, base) => median(ratios(results.get(name), results.get(base), 'perSecond'));
  const lines = [];
  const add = (needed, what, value, relation, wanted, digits) => {
    if (has(...needed)) lines.push(goal(what, value(), relation, wanted, digits));
  };
  const ofBare = (name, wanted) =>
    add(['bare', name], `${name}, of bare Express`, () => ratio(name, 'bare'), 'at least', wanted);
  const times = (base, wanted) =>
    add(
      ['latchkey-cookie', base],
      `latchkey-cookie, times ${base}`,
      () => ratio('latchkey-cookie', base),
      'at least',
      wanted,
    );
  add(
    ['latchkey-member', 'latchkey-cookie'],
    'CPU a request of latchkey-member, times latchkey-cookie',
    () => median(ratios(results.get('latchkey-member'), results.get('latchkey-cookie'), 'cpu')),
    'at most',
    1.15,
  );
  if (dialect === 'mysql') {
    times('hand-written', 1.2);
    ofBare('latchkey-cookie', 0.85);
    ofBare('hand-written', 0.8);
    add(
      ['latchkey-cookie', 'bare'],
      'CPU ms a request that the guard adds to bare Express',
      () => {
        const bare = results.get('bare');
        return median(results.get('latchkey-cookie').map(({ cpu }, turn) => cpu - bare[turn].cpu));
      },
      'at most',
      0.04,
      3,
    );
    times('better-auth', 5);
    times('better-auth-cookie-cache', 3);
    times('express-session-sequelize', 6);
    const selects = () => medianOf(results, 'latchkey-cookie', 'selects');
    add(['latchkey-cookie'], 'SELECTs a request', selects, 'at most', 0.1);
    ofBare('latchkey-bearer', 0.8);
    ofBare('latchkey-api-key', 0.8);
  } else ofBare('latchkey-cookie', dialect === 'sqlite' ? 0.6 : 0.8);
  return lines.join('\n');
}

function medianOf(results, name, key) {
  return median(results.get(name).map((turn) => turn[key]));
}
