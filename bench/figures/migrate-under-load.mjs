// Figure 8: how long statements of an app wait while `auth.migrate()` upgrades large tables.
import { createAuth } from 'latchkey';
import { newDatabase } from '../support/guarded.mjs';
import { connectTo, insertRows } from '../support/insert.mjs';
import { bench, serverCores } from '../support/machine.mjs';
import { fixed, goal, median, percentile, table } from '../support/numbers.mjs';
import {
  digestOf,
  emailOf,
  IP,
  latchkeyToken,
  SECRET,
  times,
  USER_AGENT,
  userOf,
  uuidOf,
} from '../support/people.mjs';
import { sleep, start } from '../support/processes.mjs';

export const title = 'Migrating under load';

const NAMES = { mysql: 'MySQL', postgres: 'PostgreSQL', sqlite: 'SQLite' };
const FULL = 1_000_000;
const QUICK = 20_000;
const REST_MS = 5000;
const READERS = 4;
const WRITERS = 2;
/** One of so many devices has been forgotten, so an upgrade changes its row. */
const FORGOTTEN = 10;
const NOW = { mysql: 'NOW(3)', postgres: 'NOW()', sqlite: "strftime('%Y-%m-%d %H:%M:%f +00:00')" };

/** @param {import('../support/options.mjs').Options} options */
export async function measure({ quick, dialects, databases, log, sessions = quick ? QUICK : FULL }) {
  const size = { sessions, users: Math.ceil(sessions / 2) };
  const rows = [];
  const goals = [];
  for (const dialect of dialects) {
    const url = await newDatabase(dialect, 'migrate_under_load', databases);
    const begun = performance.now();
    await fill(url, size);
    log(`${NAMES[dialect]}: ${sessions} sessions in ${fixed((performance.now() - begun) / 1000)} s`);
    const { rest, meanwhile, seconds, errors } = await measured(url, size);
    for (const [kind, label] of [
      ['reads', 'a lookup'],
      ['writes', 'a transaction'],
    ]) {
      const name = `${NAMES[dialect]}: ${label}`;
      rows.push([name, ...of(rest[kind]), ...of(meanwhile[kind]), fixed(seconds, 1), errors.length]);
      goals.push(goal(`${name}, ms of the longest`, Math.max(...meanwhile[kind]), 'at most', 1000, 0));
    }
    goals.push(goal(`${NAMES[dialect]}: statements of the app that failed`, errors.length, 'at most', 0, 0));
    for (const error of new Set(errors)) log(error);
  }
  const head = ['', ...['at rest, p50 ms', 'p99', 'longest'], ...['migrating, p50 ms', 'p99', 'longest']];
  return [
    `An upgrade that adds columns to \`users\`, \`known_devices\` and \`account_changes\`, an index and a table, and changes a
tenth of the known devices: ${fixed(size.users)} users, ${fixed(sessions)} sessions, and as many known devices and changes of accounts as
users. ${READERS} connections look sessions up without pause, and ${WRITERS} run transactions (on SQLite one each).`,
    table([...head, 'upgrade, s', 'failed'], rows),
    goals.join('\n'),
  ].join('\n\n');
}

const of = (values) =>
  [median(values), percentile(values, 0.99), Math.max(...values)].map((value) => fixed(value, 1));

/** Makes the tables and fills them. */
async function fill(url, size) {
  const auth = createAuth({ database: url, secret: SECRET });
  await auth.migrate();
  await auth.close();
  const connection = await connectTo(url);
  if (connection.dialect === 'mysql') await connection.run('SET unique_checks = 0, foreign_key_checks = 0');
  const { created, active, monthAhead } = times;
  const longAgo = new Date(created.getTime() - 60 * 86_400_000);
  await insertRows(
    connection,
    'users',
    ['id', 'email', 'email_verified_at', 'auth_epoch', 'created_at', 'updated_at'],
    size.users,
    (user) => [uuidOf('user', user), emailOf(user), created, 0, created, created],
  );
  await insertRows(
    connection,
    'sessions',
    [
      ...['id', 'user_id', 'token_hash', 'auth_epoch', 'remembered', 'created_at', 'authenticated_at'],
      ...['last_active_at', 'expires_at', 'ip_address', 'user_agent', 'aal', 'amr'],
    ],
    size.sessions,
    (session) => [
      ...[uuidOf('session', session), uuidOf('user', userOf(session, size)), tokenHash(session)],
      ...[0, true, created, created, active, monthAhead, IP, USER_AGENT, 1, 'pwd'],
    ],
  );
  await insertRows(
    connection,
    'known_devices',
    ['id', 'user_id', 'token_hash', 'created_at', 'last_used_at', 'forgotten_at'],
    size.users,
    (user) => [
      ...[uuidOf('device', user), uuidOf('user', user), digestOf(`device ${user}`), longAgo, active],
      user % FORGOTTEN === 0 ? created : null,
    ],
  );
  await insertRows(
    connection,
    'account_changes',
    ['id', 'user_id', 'kind', 'created_at', 'expires_at'],
    size.users,
    (user) => [uuidOf('change', user), uuidOf('user', user), 'new-device', created, monthAhead],
  );
  for (const name of ['users', 'sessions', 'known_devices', 'account_changes'])
    await connection.run(
      { mysql: `ANALYZE TABLE ${name}`, postgres: `VACUUM ANALYZE ${name}`, sqlite: `ANALYZE ${name}` }[
        connection.dialect
      ],
    );
  await connection.close();
}

const tokenHash = (session) => digestOf(latchkeyToken('lks_', session));
const anyOf = (count) => 1 + Math.floor(Math.random() * count);

/** Milliseconds of each lookup and transaction: at rest, and while another process upgrades the tables. */
async function measured(url, size) {
  const errors = [];
  let phase = { reads: [], writes: [] };
  let isOver = false;
  const isLocal = url.startsWith('sqlite:');
  const loop = async (kind, work) => {
    const connection = await connectTo(url);
    while (!isOver) {
      const begun = performance.now();
      const current = phase;
      try {
        await work(connection, size);
        current[kind].push(performance.now() - begun);
      } catch (error) {
        errors.push(`${error.code}: ${error.message}`);
        await connection.run('ROLLBACK');
      }
      // SQLite's driver is synchronous.
      await sleep(isLocal ? 1 : 0);
    }
    await connection.close();
  };
  const loops = [
    ...Array.from({ length: isLocal ? 1 : READERS }, () => loop('reads', lookUp)),
    ...Array.from({ length: isLocal ? 1 : WRITERS }, () => loop('writes', change)),
  ];
  await sleep(REST_MS);
  const rest = phase;
  phase = { reads: [], writes: [] };
  const begun = performance.now();
  const migrating = start(serverCores, process.execPath, [`${bench}support/migrate.mjs`, url], {
    cwd: bench,
  });
  const code = await migrating.ended;
  const seconds = (performance.now() - begun) / 1000;
  isOver = true;
  await Promise.all(loops);
  if (code !== 0) throw new Error(`auth.migrate() failed: ${migrating.output()}`);
  return { rest, meanwhile: phase, seconds, errors };
}

const hex = ({ dialect }, digest) =>
  dialect === 'postgres' ? `'\\x${digest.toString('hex')}'` : `x'${digest.toString('hex')}'`;

/** The statement of a guard, with columns that are there before and after the upgrade. */
async function lookUp(connection, { sessions }) {
  const sql = `SELECT s.id, s.expires_at, s.last_active_at, u.id AS user_id, u.email, u.auth_epoch
    FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.token_hash = ${hex(connection, tokenHash(anyOf(sessions)))}`;
  const found = await (connection.all ?? connection.run)(sql);
  if (found.length !== 1) throw new Error('no session');
}

/** A sign-in's statements, in the order in which latchkey sends them. */
async function change(connection, { users }) {
  const { dialect, run } = connection;
  const user = anyOf(users);
  const now = NOW[dialect];
  const [id, session] = [crypto.randomUUID(), crypto.randomUUID()];
  const userId = uuidOf('user', user);
  await run(dialect === 'sqlite' ? 'BEGIN IMMEDIATE' : 'BEGIN');
  await run(`SELECT id FROM users WHERE id = '${userId}' ${dialect === 'sqlite' ? '' : 'FOR UPDATE'}`);
  await run(`UPDATE users SET updated_at = ${now} WHERE id = '${userId}'`);
  await run(`INSERT INTO sessions (id, user_id, token_hash, auth_epoch, remembered, created_at, authenticated_at,
    last_active_at, expires_at) VALUES ('${session}', '${userId}', ${hex(connection, digestOf(session))}, 0, TRUE,
    ${now}, ${now}, ${now}, ${now})`);
  await run(`UPDATE known_devices SET last_used_at = ${now} WHERE id = '${uuidOf('device', user)}'`);
  await run(`INSERT INTO account_changes (id, user_id, kind, created_at, expires_at)
    VALUES ('${id}', '${userId}', 'new-device', ${now}, ${now})`);
  await run('COMMIT');
}
