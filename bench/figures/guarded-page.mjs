// Figures 1 and 2: one page behind a guard, under load.
import { candidates, interleaved } from '../support/guarded.mjs';
import { fixed, goal, median, spread, table } from '../support/numbers.mjs';
import { FULL, SMALL } from '../support/people.mjs';

export const title = 'A guarded page';

const CONNECTIONS = 50;
const NAMES = { mysql: 'MySQL', postgres: 'PostgreSQL', sqlite: 'SQLite' };
// Their distance to the others is larger than any noise.
const FEWER_ROUNDS = ['better-auth-joins', 'express-session-redis', 'auth-js'];

/** @param {import('../support/options.mjs').Options} options */
export async function measure({ quick, dialects, servers, databases, log }) {
  const size = quick ? SMALL : FULL;
  const timing = quick ? { rounds: 1, seconds: 1, warmUp: 1 } : { rounds: 5, seconds: 4, warmUp: 10 };
  const parts = [
    `One small JSON page with the user and the session. ${fixed(size.users)} users, ${fixed(size.sessions)} sessions, of which ${fixed(size.hot)} send requests;
${CONNECTIONS} connections; ${timing.rounds} interleaved rounds of ${timing.seconds} s after ${timing.warmUp} s of warm-up. CPU is the server's time a request.`,
  ];
  for (const dialect of dialects) {
    const all = await candidates(dialect, { size, names: servers, databases, log });
    if (all.length === 0) continue;
    for (const one of all) if (FEWER_ROUNDS.includes(one.name)) one.rounds = Math.min(3, timing.rounds);
    const results = await interleaved(all, {
      ...timing,
      connections: CONNECTIONS,
      patient: !quick,
      databases,
      log,
    });
    parts.push(`### ${NAMES[dialect]}`, tableOf(dialect, all, results), goalsOf(dialect, results));
  }
  if (parts.length === 1) throw new Error(`no server here is called ${servers?.join(' or ')}`);
  return parts.filter(Boolean).join('\n\n');
}

function tableOf(dialect, all, results) {
  const of = (name, key) => medianOf(results, name, key);
  const bases = ['bare', 'hand-written', 'better-auth'].filter((name) => results.has(name));
  return table(
    [
      ...[
        'server',
        'a second',
        'lowest–highest',
        ...bases.map((name) => `of ${name}`),
        'CPU ms',
        'database CPU ms',
      ],
      ...['busy', 'p50 ms', 'p99 ms', 'SELECTs', 'writes', 'memory MB'],
    ],
    all.map(({ name, label }) => {
      const rounds = results.get(name);
      const marks = rounds.some(({ disturbed }) => disturbed) ? ' (disturbed)' : '';
      const bad = rounds.reduce((sum, round) => sum + round.bad, 0);
      return [
        `${label}${marks}${bad > 0 ? ` (${bad} bad responses)` : ''}`,
        fixed(of(name, 'perSecond')),
        spread(rounds.map(({ perSecond }) => perSecond)),
        ...bases.map((base) => fixed(ratioOf(results, name, base), 2)),
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
  const of = (name, key) => medianOf(results, name, key);
  const ratio = (name, base) => ratioOf(results, name, base);
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
  if (dialect === 'mysql') {
    times('hand-written', 1.2);
    ofBare('latchkey-cookie', 0.85);
    ofBare('hand-written', 0.8);
    add(
      ['latchkey-cookie', 'bare'],
      'CPU ms a request that the guard adds to bare Express',
      () => median(paired(results, 'latchkey-cookie', 'bare').map(([one, base]) => one.cpu - base.cpu)),
      'at most',
      0.04,
      3,
    );
    times('better-auth', 5);
    times('better-auth-cookie-cache', 3);
    times('express-session-sequelize', 6);
    add(['latchkey-cookie'], 'SELECTs a request', () => of('latchkey-cookie', 'selects'), 'at most', 0.1);
    ofBare('latchkey-bearer', 0.8);
    ofBare('latchkey-api-key', 0.8);
  } else ofBare('latchkey-cookie', dialect === 'sqlite' ? 0.6 : 0.8);
  return lines.join('\n');
}

/** Of the ratios in each round, since the speed of a machine changes from round to round. */
function ratioOf(results, name, base) {
  return median(paired(results, name, base).map(([one, other]) => one.perSecond / other.perSecond));
}

function paired(results, name, base) {
  const others = results.get(base);
  return results
    .get(name)
    .slice(0, others.length)
    .map((round, index) => [round, others[index]]);
}

function medianOf(results, name, key) {
  return median(results.get(name).map((round) => round[key]));
}
