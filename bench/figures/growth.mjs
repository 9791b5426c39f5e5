// Figure 5: what becomes slower with the number of users and sessions.
import { openAuth, PASSWORD, seedGrowth } from '../seed/growth.mjs';
import { newDatabase } from '../support/guarded.mjs';
import { fixed, goal, median, percentile, spread, table } from '../support/numbers.mjs';
import { emailOf, latchkeyToken, userOf, uuidOf } from '../support/people.mjs';
import { sleep } from '../support/processes.mjs';
import { undisturbed } from '../support/quiet.mjs';

export const title = 'Growth';

const NAMES = { mysql: 'MySQL', postgres: 'PostgreSQL', sqlite: 'SQLite' };
const LARGE = { users: 1_000_000, sessions: 2_000_000 };
const SMALL = { users: 10_000, sessions: 20_000 };
const QUICK = { users: 20_000, sessions: 40_000 };
const QUICK_SMALL = { users: 1000, sessions: 2000 };
const PAGE = 50;

/** What is measured at both sizes: how often a round does it, and what it is. */
const ACTS = [
  // Each of them once a round, so that from the second round on all of them are in use.
  [
    'session by its token, of 2,000 in use',
    2000,
    ({ auth, size }, turn) => lookUp(auth, hotLive(size, turn)),
  ],
  ['session by its token, of all', 200, ({ auth, size }) => lookUp(auth, anyLive(size))],
  ["list one user's sessions", 100, ({ auth, size }) => auth.listSessions(uuidOf('user', anyUser(size)))],
  [
    "revoke all of one user's sessions",
    50,
    ({ auth, size }) => auth.revokeAllSessions(uuidOf('user', anyUser(size))),
  ],
  [
    'sign-in (bcrypt cost 4)',
    30,
    ({ auth, size }) => auth.credential.signIn({ credential: emailOf(anyUser(size)), password: PASSWORD }),
  ],
  ['import, one of 500 users', 1, (place) => importMany(place), 500],
  ['admin: page 1', 200, ({ auth }) => auth.admin.listUsers({ limit: PAGE })],
  [
    'admin: page 10,000, or the last',
    200,
    ({ auth, size }) => auth.admin.listUsers({ limit: PAGE, cursor: deepCursor(size) }),
  ],
  ['search: a whole email', 20, ({ auth }) => found(auth, emailOf(12), 1)],
  ['search: what all emails end with', 20, ({ auth }) => found(auth, '@example.test', PAGE)],
  ['search: the beginning of an old email', 1, ({ auth }) => found(auth, 'user12@ex', 1)],
  ['search: the middle of an old email', 1, ({ auth }) => found(auth, 'er12@ex', 1)],
];

/** @param {import('../support/options.mjs').Options} options */
export async function measure({ quick, dialects, databases, log }) {
  const sizes = quick ? [QUICK_SMALL, QUICK] : [SMALL, LARGE];
  const rounds = quick ? 2 : 7;
  const parts = [];
  // Filling all three takes a quarter of an hour: the others only if they are asked for.
  for (const dialect of dialects.length === 3 ? ['mysql'] : dialects) {
    const places = [];
    for (const size of sizes) places.push(await seeded(dialect, size, databases, log));
    const pids = (await databases.running()).map(({ pid }) => pid);
    log(`${NAMES[dialect]}: ${rounds} rounds`);
    const times = await atBothSizes(places, rounds, (round) =>
      undisturbed(round, pids, { patient: !quick, tries: 2, log }),
    );
    log(`${NAMES[dialect]}: pruning`);
    // Once, because the expired rows are gone then.
    const options = { patient: !quick, tries: 1 };
    const pruned = await undisturbed(() => prunedBesideSignIns(places[1]), pids, options);
    for (const { auth } of places) await auth.close();
    parts.push(report(dialect, sizes, times, pruned));
  }
  return parts.join('\n\n');
}

async function seeded(dialect, size, databases, log) {
  const begun = performance.now();
  const url = await newDatabase(dialect, `growth_${size.users}`, databases);
  await seedGrowth(url, size);
  log(`${NAMES[dialect]}: ${size.users} users in ${fixed((performance.now() - begun) / 1000)} s`);
  return { auth: openAuth(url), size };
}

/** Milliseconds of one act, by act, size and round. @param alone runs a round, again if it was disturbed */
async function atBothSizes(places, rounds, alone) {
  const times = ACTS.map(() => places.map(() => []));
  for (let round = 0; round <= rounds; round++) {
    const { each } = await alone(async () => ({ each: await oneRound(places, round) }));
    // The first one warms up.
    if (round === 0) continue;
    for (const [act, ofPlaces] of each.entries())
      for (const [place, ms] of ofPlaces.entries()) times[act][place].push(ms);
  }
  return times;
}

/** Milliseconds of one act, by act and size. */
async function oneRound(places, round) {
  const each = ACTS.map(() => []);
  for (const [act, [, count, work, share = 1]] of ACTS.entries()) {
    // In turn which size is first.
    for (const place of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const begun = performance.now();
      for (let done = 0; done < count; done++) await work(places[place], done);
      each[act][place] = (performance.now() - begun) / count / share;
    }
  }
  return each;
}

/** Signs in again and again, at rest and while expired sessions are deleted. */
async function prunedBesideSignIns({ auth, size }) {
  const signIns = async (isOver) => {
    const waits = [];
    while (!isOver(waits)) {
      const begun = performance.now();
      await auth.credential.signIn({ credential: emailOf(anyUser(size)), password: PASSWORD });
      waits.push(performance.now() - begun);
      await sleep(5);
    }
    return waits;
  };
  await signIns((waits) => waits.length >= 200);
  const rest = await signIns((waits) => waits.length >= 2000);
  const begun = performance.now();
  let deleted = null;
  const pruning = auth.prune().then((count) => {
    deleted = count;
  });
  const waits = await signIns(() => deleted !== null);
  await pruning;
  return { rest, waits, deleted, seconds: (performance.now() - begun) / 1000 };
}

function report(dialect, [small, large], times, { rest, waits, deleted, seconds, disturbed }) {
  const rows = ACTS.map(([name], act) => {
    const [few, many] = times[act];
    const ratio = fixed(median(many) / median(few), 2);
    return [name, fixed(median(few), 3), spread(few, 3), fixed(median(many), 3), spread(many, 3), ratio];
  });
  const [few, many] = times[0].map(median);
  const [firstPage, deepPage] = [6, 7].map((act) => median(times[act][1]));
  const longer = Math.max(...waits) - Math.max(...rest);
  const of = (values) =>
    [median(values), percentile(values, 0.99), Math.max(...values)]
      .map((value) => fixed(value, 1))
      .join(' / ');
  return [
    `### ${NAMES[dialect]}`,
    `Milliseconds of one call, alone, among ${fixed(small.users)} users with ${fixed(small.sessions)} sessions and among
${fixed(large.users)} with ${fixed(large.sessions)}.`,
    table(['call', 'few', 'lowest–highest', 'many', 'lowest–highest', 'ratio'], rows),
    `\`auth.prune()\` deleted ${fixed(deleted)} rows in ${fixed(seconds)} s. A sign-in beside it, one after the other, took ${of(waits)}
ms (median, p99, longest of ${fixed(waits.length)}), and at rest ${of(rest)} ms (of ${fixed(rest.length)})${disturbed ? '; other processes disturbed this' : ''}.`,
    [
      goal('a session in use among many, times among few', many / few, 'at most', 1.2),
      goal('admin: page 10,000, times page 1', deepPage / firstPage, 'at most', 1.2),
      goal('the longest sign-in beside prune(), ms more than the longest at rest', longer, 'at most', 100, 0),
    ].join('\n'),
  ].join('\n\n');
}

function cookieOf(session) {
  return `__Host-latchkey=${latchkeyToken('lks_', session)}; latchkey=${latchkeyToken('lks_', session)}`;
}

// The second quarter of users loses its sessions here, so those of the others are still there.
function anyUser({ users }) {
  return Math.floor(users / 4 + (Math.random() * users) / 4) + 1;
}

/** A session that has not expired, of a user who is not revoked. */
function anyLive(size) {
  for (;;) {
    const session = size.sessions / 2 + Math.floor((Math.random() * size.sessions) / 2) + 1;
    const user = userOf(session, size);
    if (user <= size.users / 4 || user > size.users / 2 + 1) return session;
  }
}

/** The given one of 2,000 such sessions, spread over the table. */
function hotLive(size, turn) {
  for (let session = size.sessions / 2 + Math.floor(turn * (size.sessions / 4000)) + 1; ; session++) {
    const user = userOf(session, size);
    if (user <= size.users / 4 || user > size.users / 2 + 1) return session;
  }
}

async function lookUp(auth, session) {
  if (!(await auth.getSession({ headers: { cookie: cookieOf(session) } }))) throw new Error('no session');
}

function deepCursor({ users }) {
  const last = Math.max(users - 9999 * PAGE, PAGE);
  return Buffer.from(uuidOf('user', last).replaceAll('-', ''), 'hex').toString('base64url');
}

let imported = 0;

async function importMany({ auth }) {
  const list = Array.from({ length: 500 }, () => ({
    email: `imported${imported++}@example.test`,
    // Page 1 has them, and page 10,000 those of the seed: their rows have the same values.
    emailVerified: true,
  }));
  const { users } = await auth.movingIn.importUsers(list);
  if (users.length !== list.length) throw new Error(`${users.length} users imported`);
}

/** A search that must find what it is measured with. A page that looked for a second ends early, and names the next. */
async function found(auth, search, count) {
  const ids = [];
  let cursor;
  do {
    const page = await auth.admin.listUsers({ search, limit: PAGE, ...(cursor && { cursor }) });
    ids.push(...page.users);
    cursor = page.nextCursor;
  } while (cursor && ids.length < count);
  if (ids.length < count) throw new Error(`${search}: ${ids.length} users`);
}
