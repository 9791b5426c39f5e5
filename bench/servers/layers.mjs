// What latchkey's guard does, layer by layer, on top of Express: BENCH_LAYER names the last layer that is on. The query is
// latchkey's, with as many columns.
import { AsyncLocalStorage } from 'node:async_hooks';
import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import { crc32 } from 'node:zlib';
import { createPool } from 'mysql2';
import { Sequelize } from 'sequelize';
import { newApp, serve } from '../support/serve.mjs';
import { constant } from './constant.mjs';
import { LAYERS } from './layers-list.mjs';
import { page } from './page.mjs';

const NAME = '__Host-latchkey';
const BODY = /^[A-Za-z0-9_-]{48}$/;
const MAX_BATCH = 64;
const MAX_RUNNING = 2;
const DEADLINE_MS = 4000;
const COLUMNS = [
  ...['s.id AS s_id', 's.user_id AS s_user_id', 's.aal AS s_aal', 's.amr AS s_amr'],
  ...['s.created_at AS s_created_at', 's.authenticated_at AS s_authenticated_at'],
  ...['s.last_active_at AS s_last_active_at', 's.expires_at AS s_expires_at', 's.ip_address AS s_ip_address'],
  ...['s.user_agent AS s_user_agent', 'u.id AS u_id', 'u.email AS u_email', 'u.username AS u_username'],
  ...['u.email_verified_at AS u_email_verified_at', 'u.created_at AS u_created_at'],
  ...['u.updated_at AS u_updated_at'],
].join(', ');
const SELECT = `SELECT s.token_hash AS token_digest, ${COLUMNS},
    TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 AS db_now
  FROM sessions s JOIN users u ON u.id = s.user_id AND u.auth_epoch = s.auth_epoch WHERE s.token_hash IN (`;

const url = process.env.BENCH_URL;
const last = LAYERS.findIndex(({ name }) => name === process.env.BENCH_LAYER);
const has = (layer) => LAYERS.findIndex(({ name }) => name === layer) <= last;
const calls = new AsyncLocalStorage();
const text = JSON.stringify(constant);
const headers = {
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': Buffer.byteLength(text),
};

if (!has('express')) {
  const server = createServer((_req, res) => {
    res.writeHead(200, headers);
    res.end(text);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
} else {
  const app = newApp();
  const guards = has('promises') ? [guardWithPromises] : has('cookie') ? [guardAtOnce] : [];
  app.get('/me', ...guards, (req, res) => {
    if (!has('json')) return res.writeHead(200, headers).end(text);
    res.json(has('rows') ? page(req.auth.user, req.auth.session) : constant);
  });
  serve(app);
}

// Up to the digest, there is nothing to wait for.
function guardAtOnce(req, res, next) {
  req.auth = null;
  const [token] = cookieValues(req.headers.cookie, NAME);
  if (token === undefined) return res.status(401).end();
  if (has('form') && !isWellFormed(token)) return res.status(401).end();
  req.auth = has('digest') ? hash('sha256', token, 'hex') : token;
  next();
}

// The same as a chain of asynchronous functions, with one for each decision that another carrier or plugin may make.
async function guardWithPromises(req, res, next) {
  req.auth = null;
  try {
    req.auth = await admit(req);
  } catch (error) {
    return error === REFUSED ? res.status(401).end() : next(error);
  }
  next();
}

const REFUSED = new Error('refused');

async function admit(req) {
  const authentication = await authenticate(req);
  if (!authentication) throw REFUSED;
  return authentication;
}

async function authenticate(req) {
  for (const carrier of [fromCookie]) {
    const authentication = await carrier(req);
    if (authentication) return authentication;
  }
  return null;
}

async function fromCookie(req) {
  const [token] = cookieValues(req.headers.cookie, NAME);
  if (token === undefined) return null;
  const found = await findSession(token);
  if (!found) throw REFUSED;
  return { ...found, apiKey: null, via: 'cookie' };
}

async function findSession(token) {
  const found = await findToken(token);
  if (!found || (found.session && found.session.expiresAt <= Date.now())) return null;
  return found;
}

async function findToken(token) {
  if (!isWellFormed(token)) return null;
  const digest = hash('sha256', token, 'hex');
  if (has('context') && calls.getStore()) return null;
  const row = has('batch') ? await findInBatch(digest) : {};
  if (!row) return null;
  return has('rows') ? { user: readUser(row), session: readSession(row) } : { user: row, session: null };
}

function cookieValues(header, name) {
  const values = new Set();
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name) values.add(pair.slice(equals + 1).trim());
  }
  return [...values];
}

function isWellFormed(token) {
  if (!token.startsWith('lks_')) return false;
  const body = token.slice(4);
  if (!BODY.test(body)) return false;
  const bytes = Buffer.from(body, 'base64url');
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(bytes.subarray(0, 32), crc32('lks_')));
  return checksum.equals(bytes.subarray(32));
}

const waiting = [];
let running = 0;
let isScheduled = false;

function findInBatch(digest) {
  return new Promise((resolve, reject) => {
    let batch = waiting.at(-1);
    if (!batch || batch.size >= MAX_BATCH) {
      batch = new Map();
      waiting.push(batch);
    }
    const waiters = batch.get(digest);
    if (waiters) waiters.push({ resolve, reject });
    else batch.set(digest, [{ resolve, reject }]);
    schedule();
  });
}

function schedule() {
  if (isScheduled || waiting.length === 0 || running >= MAX_RUNNING) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    const batch = waiting.shift();
    if (batch) void send(batch);
  });
}

async function send(batch) {
  running++;
  schedule();
  try {
    const rows = await fetchRows([...batch.keys()]);
    for (const [digest, waiters] of batch) {
      for (const { resolve } of waiters) resolve(rows.get(digest) ?? null);
    }
  } catch (error) {
    for (const { reject } of [...batch.values()].flat()) reject(error);
  } finally {
    running--;
    schedule();
  }
}

function fetchRows(digests) {
  const fetch = () => select(digests);
  const inTime = () => (has('deadline') ? withDeadline(fetch) : fetch());
  return has('context') ? calls.exit(inTime) : inTime();
}

async function withDeadline(work) {
  return raced(raced(work(), DEADLINE_MS / 2), DEADLINE_MS);
}

async function raced(work, ms) {
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('late')), ms);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

const query = has('sequelize') ? bySequelize() : has('query') ? byDriver() : null;

async function select(digests) {
  if (!query) return new Map(digests.map((digest) => [digest, {}]));
  // As latchkey does: prepared for a single one.
  const rows = await query((connection, done) => {
    if (digests.length === 1)
      return connection.execute(`${SELECT}?)`, [Buffer.from(digests[0], 'hex')], done);
    const list = digests.map((digest) => `x'${digest}'`).join(', ');
    connection.query(`${SELECT}${list})`, done);
  });
  return new Map(rows.map((row) => [row.token_digest.toString('hex'), row]));
}

function byDriver() {
  const pool = createPool({ uri: url, connectionLimit: 10, timezone: 'Z', dateStrings: !has('dates') });
  return (send) => answer(send, pool);
}

function bySequelize() {
  const pool = { max: 10, min: 0, idle: 10_000 };
  const { connectionManager } = new Sequelize(url, {
    logging: false,
    pool,
    dialectOptions: { typeCast: true },
  });
  return async (send) => {
    const connection = await connectionManager.getConnection({ type: 'SELECT', useMaster: true });
    try {
      return await answer(send, connection);
    } finally {
      connectionManager.releaseConnection(connection);
    }
  };
}

function answer(send, connection) {
  return new Promise((resolve, reject) => {
    send(connection, (error, rows) => (error ? reject(error) : resolve(rows)));
  });
}

function readUser(row) {
  return {
    id: row.u_id,
    email: row.u_email,
    username: row.u_username,
    emailVerifiedAt: row.u_email_verified_at,
    createdAt: row.u_created_at,
    updatedAt: row.u_updated_at,
  };
}

function readSession(row) {
  return {
    id: row.s_id,
    userId: row.s_user_id,
    aal: Number(row.s_aal),
    amr: row.s_amr.split(' '),
    createdAt: row.s_created_at,
    authenticatedAt: row.s_authenticated_at,
    lastActiveAt: row.s_last_active_at,
    expiresAt: row.s_expires_at,
    ipAddress: row.s_ip_address,
    userAgent: row.s_user_agent,
  };
}
