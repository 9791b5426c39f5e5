// The seeded database of each library. Every function returns the header lines that the load sends, and one with a
// well-formed credential that nobody has.
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { createClient } from 'redis';
import { authJs } from '../servers/auth-js-models.mjs';
import { betterAuthOptions } from '../servers/better-auth-options.mjs';
import { expressSessionModels } from '../servers/express-session-models.mjs';
import { latchkeyAuth } from '../servers/latchkey-auth.mjs';
import { connectTo, insertRows } from './insert.mjs';
import {
  betterAuthCookie,
  digestOf,
  emailOf,
  expressSessionCookie,
  hotSessions,
  hotUsers,
  IP,
  latchkeyToken,
  ORGANIZATION,
  times,
  tokenOf,
  USER_AGENT,
  userOf,
  uuidOf,
} from './people.mjs';
import { startServer } from './processes.mjs';

/** @typedef {import('./people.mjs').Size} Size */

const NO_PASSWORD = `$2b$12$${'x'.repeat(53)}`;

/**
 * Creates the tables by the library's own migrations, and fills them.
 *
 * @param {string} url
 * @param {Size} size
 */
export async function seedLatchkey(url, size) {
  const auth = latchkeyAuth(url, true);
  await auth.migrate();
  await auth.close();
  const { created, active, monthAhead } = times;
  const connection = await connectTo(url);
  await insertRows(
    connection,
    'users',
    ['id', 'email', 'email_verified_at', 'password_hash', 'auth_epoch', 'created_at', 'updated_at'],
    size.users,
    (user) => [uuidOf('user', user), emailOf(user), created, NO_PASSWORD, 0, created, created],
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
      ...[uuidOf('session', session), uuidOf('user', userOf(session, size))],
      ...[digestOf(latchkeyToken('lks_', session)), 0, true, created, created],
      ...[active, monthAhead, IP, USER_AGENT, 1, 'pwd'],
    ],
  );
  await insertRows(
    connection,
    'api_keys',
    ['id', 'user_id', 'name', 'start', 'key_hash', 'scopes', 'created_at', 'last_used_at'],
    size.users,
    (user) => {
      const key = latchkeyToken('lkk_', user);
      const id = uuidOf('key', user);
      return [id, uuidOf('user', user), 'bench', key.slice(0, 12), digestOf(key), '', created, active];
    },
  );
  await insertRows(connection, 'organizations', ['id', 'name', 'slug', 'created_at', 'updated_at'], 1, () => [
    ORGANIZATION.id,
    'Bench',
    ORGANIZATION.slug,
    created,
    created,
  ]);
  await insertRows(
    connection,
    'organization_members',
    ['id', 'user_id', 'organization_id', 'role', 'created_at'],
    size.users,
    (user) => [uuidOf('member', user), uuidOf('user', user), ORGANIZATION.id, 'member', created],
  );
  const filled = ['users', 'sessions', 'api_keys', 'organizations', 'organization_members'];
  await analyze(connection, filled);
  await connection.close();
  const bySession = (before) => credentials(size, (session) => before + latchkeyToken('lks_', session));
  const keyOf = (user) => `X-Service-API-Key: ${latchkeyToken('lkk_', user)}`;
  return {
    cookie: bySession('Cookie: __Host-latchkey='),
    bearer: bySession('Authorization: Bearer '),
    apiKey: { lines: hotUsers(size).map(keyOf), unknown: keyOf(size.users + 1) },
  };
}

/** @param {string} url @param {Size} size */
export async function seedBetterAuth(url, size) {
  const { pool, options } = betterAuthOptions(url, 'plain');
  const { runMigrations } = await getMigrations(betterAuth(options).options);
  await runMigrations();
  await pool.end();
  const { created, weekAhead } = times;
  const connection = await connectTo(url);
  await insertRows(
    connection,
    'user',
    ['id', 'name', 'email', 'emailVerified', 'createdAt', 'updatedAt'],
    size.users,
    (user) => [uuidOf('user', user), `User ${user}`, emailOf(user), true, created, created],
  );
  await insertRows(
    connection,
    'session',
    ['id', 'token', 'userId', 'expiresAt', 'createdAt', 'updatedAt', 'ipAddress', 'userAgent'],
    size.sessions,
    (session) => [
      ...[uuidOf('session', session), tokenOf(session), uuidOf('user', userOf(session, size)), weekAhead],
      ...[created, created, IP, USER_AGENT],
    ],
  );
  await analyze(connection, ['user', 'session']);
  await connection.close();
  return credentials(size, (session) => `Cookie: ${betterAuthCookie(tokenOf(session))}`);
}

/** The cookies of better-auth with its cookie cache: it writes the second one at the first request. */
export async function withCookieCache(url, { lines, unknown }) {
  // Not as in production, where its routes have a rate limit.
  const env = { BENCH_URL: url, BENCH_MODE: 'cookie-cache', NODE_ENV: 'test' };
  const server = await startServer('servers/better-auth.mjs', env);
  const cached = [];
  for (const line of lines) {
    const response = await fetch(`${server.url}/api/auth/get-session`, {
      headers: { cookie: line.slice('Cookie: '.length) },
    });
    const data = response.headers.getSetCookie().map((cookie) => cookie.split(';')[0]);
    const dataOnly = data.filter((cookie) => cookie.includes('session_data'));
    if (dataOnly.length === 0) throw new Error(`better-auth sent no cookie with data: ${response.status}`);
    cached.push([line, ...dataOnly].join('; '));
  }
  await server.stop();
  return { lines: cached, unknown };
}

/** @param {string} url @param {Size} size */
export async function seedExpressSession(url, size) {
  const { sequelize, store } = await expressSessionModels(url);
  await sequelize.sync();
  store.stopExpiringSessions();
  await sequelize.close();
  const { created, weekAhead } = times;
  const connection = await connectTo(url);
  await insertRows(
    connection,
    'users',
    ['id', 'email', 'email_verified_at', 'password_hash', 'created_at', 'updated_at'],
    size.users,
    (user) => [uuidOf('user', user), emailOf(user), created, NO_PASSWORD, created, created],
  );
  await insertRows(
    connection,
    'Sessions',
    ['sid', 'expires', 'data', 'createdAt', 'updatedAt'],
    size.sessions,
    (session) => [tokenOf(session), weekAhead, JSON.stringify(dataOf(session, size)), created, created],
  );
  await analyze(connection, ['users', 'Sessions']);
  await connection.close();
  return credentials(size, (session) => `Cookie: ${expressSessionCookie(tokenOf(session))}`);
}

/** @param {string} url @param {Size} size */
export async function seedRedis(url, size) {
  const client = createClient({ url });
  await client.connect();
  for (let from = 1; from <= size.sessions; from += 1000) {
    const length = Math.min(1000, size.sessions - from + 1);
    const entries = Array.from({ length }, (_, index) => {
      const session = from + index;
      return client.set(`sess:${tokenOf(session)}`, JSON.stringify(dataOf(session, size)), {
        expiration: { type: 'EX', value: 7 * 86_400 },
      });
    });
    await Promise.all(entries);
  }
  await client.close();
}

/** What express-session stores, with what the page shows of a session. */
function dataOf(session, size) {
  return {
    cookie: { originalMaxAge: 604_800_000, expires: times.weekAhead, httpOnly: true, path: '/' },
    passport: { user: uuidOf('user', userOf(session, size)) },
    shown: { id: uuidOf('session', session), createdAt: times.created, ipAddress: IP, userAgent: USER_AGENT },
  };
}

/** @param {string} url @param {Size} size */
export async function seedAuthJs(url, size) {
  const { sequelize } = authJs(url);
  await sequelize.sync();
  await sequelize.close();
  const { created, monthAhead } = times;
  const connection = await connectTo(url);
  await insertRows(
    connection,
    'users',
    ['id', 'name', 'email', 'email_verified', 'created_at', 'updated_at'],
    size.users,
    (user) => [uuidOf('user', user), `User ${user}`, emailOf(user), created, created, created],
  );
  await insertRows(
    connection,
    'sessions',
    ['id', 'session_token', 'user_id', 'expires', 'created_at', 'ip_address', 'user_agent'],
    size.sessions,
    (session) => [
      ...[uuidOf('session', session), tokenOf(session), uuidOf('user', userOf(session, size)), monthAhead],
      ...[created, IP, USER_AGENT],
    ],
  );
  await analyze(connection, ['users', 'sessions']);
  await connection.close();
  return credentials(size, (session) => `Cookie: authjs.session-token=${tokenOf(session)}`);
}

function credentials(size, lineOf) {
  return { lines: hotSessions(size).map(lineOf), unknown: lineOf(size.sessions + 1) };
}

async function analyze({ dialect, run }, tables) {
  if (dialect === 'mysql') await run(`ANALYZE TABLE ${tables.map((table) => `\`${table}\``).join(', ')}`);
  else if (dialect === 'postgres') await run('VACUUM ANALYZE');
  else await run('ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)');
}
