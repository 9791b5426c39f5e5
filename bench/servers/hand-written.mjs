// The least that a guard can be: a cookie, its SHA-256, and one prepared SELECT by the driver, in latchkey's tables.
import { hash } from 'node:crypto';
import { createPool } from 'mysql2';
import pg from 'pg';
import { newApp, serve } from '../support/serve.mjs';
import { openSqlite } from '../support/sqlite.mjs';
import { page } from './page.mjs';

const POOL = 10;
const NAME = '__Host-latchkey=';
const SELECT = `SELECT u.id AS user_id, u.email, u.email_verified_at, u.created_at AS user_created_at, u.updated_at,
    s.id, s.created_at, s.expires_at, s.ip_address, s.user_agent
  FROM sessions s JOIN users u ON u.id = s.user_id AND u.auth_epoch = s.auth_epoch WHERE s.token_hash = `;

const url = process.env.BENCH_URL;
const find = await { mysql: onMysql, postgres: onPostgres, sqlite: onSqlite }[url.split(':')[0]]();

const app = newApp();
app.get('/me', guard, (req, res) => {
  res.json(page(req.user, req.session));
});
serve(app);

function guard(req, res, next) {
  const token = tokenOf(req.headers.cookie);
  if (!token) return res.status(401).end();
  find(hash('sha256', token, 'buffer'), (error, row) => {
    if (error) return next(error);
    if (!row) return res.status(401).end();
    req.user = {
      id: row.user_id,
      email: row.email,
      emailVerified: row.email_verified_at !== null,
      createdAt: row.user_created_at,
      updatedAt: row.updated_at,
    };
    req.session = {
      id: row.id,
      userId: row.user_id,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      ipAddress: row.ip_address,
      userAgent: row.user_agent,
    };
    next();
  });
}

function tokenOf(header) {
  const at = header?.indexOf(NAME) ?? -1;
  if (at < 0) return null;
  const end = header.indexOf(';', at);
  return end < 0 ? header.slice(at + NAME.length) : header.slice(at + NAME.length, end);
}

function onMysql() {
  const pool = createPool({ uri: url, connectionLimit: POOL, timezone: 'Z' });
  const sql = `${SELECT}? AND s.expires_at > UTC_TIMESTAMP(3)`;
  return (digest, done) => pool.execute(sql, [digest], (error, rows) => done(error, rows?.[0]));
}

function onPostgres() {
  const pool = new pg.Pool({ connectionString: url, max: POOL });
  const text = `${SELECT}$1 AND s.expires_at > now()`;
  return (digest, done) =>
    pool.query({ name: 'session', text, values: [digest] }, (error, result) => done(error, result?.rows[0]));
}

async function onSqlite() {
  const file = await openSqlite(url.replace(/^sqlite:/, ''));
  const statement = file.prepare(`${SELECT}? AND s.expires_at > strftime('%Y-%m-%d %H:%M:%f', 'now')`);
  const times = ['user_created_at', 'updated_at', 'created_at', 'expires_at'];
  return (digest, done) => {
    const row = statement.get(digest);
    if (row) for (const time of times) row[time] = new Date(row[time]);
    done(null, row);
  };
}
