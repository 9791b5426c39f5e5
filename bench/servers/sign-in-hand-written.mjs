// The least that such a sign-in can be: the statements of latchkey's, by mysql2, in latchkey's tables, without a hash. No
// second factor, no notice, no event; and no check of its input but that there is a user.
import { hash, randomBytes, randomUUID } from 'node:crypto';
import express from 'express';
import { createPool } from 'mysql2/promise';
import { newApp, serve } from '../support/serve.mjs';

const DAY_MS = 86_400_000;
const USER =
  'SELECT id, email, email_verified_at, auth_epoch, created_at, updated_at FROM users WHERE email = ?';
const LOCK = `SELECT u.auth_epoch, d.id FROM users u LEFT JOIN known_devices d ON d.user_id = u.id WHERE u.id = ?
  ORDER BY d.last_used_at DESC, d.id DESC LIMIT 250 FOR UPDATE`;
const SESSION = `INSERT INTO sessions (id, user_id, token_hash, token_issued_at, auth_epoch, remembered, aal, amr,
    created_at, authenticated_at, last_active_at, expires_at, ip_address, user_agent)
  VALUES (?, ?, ?, ?, ?, false, 1, 'pwd', ?, ?, ?, ?, ?, ?)`;
const DEVICE = `INSERT IGNORE INTO known_devices (id, user_id, token_hash, created_at, last_used_at)
  VALUES (?, ?, ?, ?, ?)`;

const pool = createPool({ uri: process.env.BENCH_URL, connectionLimit: 10, timezone: 'Z' });
// As latchkey's transactions. At MySQL's default, many of these would end in a deadlock.
pool.on('connection', (connection) => {
  connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
});
const app = newApp();
app.post('/auth/signin/credential', express.json(), async (req, res) => {
  const [[user]] = await pool.execute(USER, [req.body.credential]);
  if (!user) return res.status(401).end();
  const now = new Date();
  const ends = new Date(now.getTime() + DAY_MS);
  const [token, device] = [newToken(), newToken()];
  const session = randomUUID();
  const connection = await pool.getConnection();
  try {
    await connection.query('START TRANSACTION');
    await connection.execute(LOCK, [user.id]);
    const client = [req.ip, req.get('user-agent') ?? null];
    const times = [now, now, now, ends];
    const row = [session, user.id, digestOf(token), now, user.auth_epoch, ...times, ...client];
    await connection.execute(SESSION, row);
    await connection.execute(DEVICE, [randomUUID(), user.id, digestOf(device), now, now]);
    await connection.query('COMMIT');
    connection.release();
  } catch (error) {
    connection.destroy();
    throw error;
  }
  const options = { secure: true, httpOnly: true, sameSite: 'lax' };
  res.cookie('__Host-latchkey', token, options);
  res.cookie('__Host-latchkey-device', device, { ...options, maxAge: 90 * DAY_MS });
  res.set('cache-control', 'no-store');
  res.json({ user, session: { id: session, user_id: user.id, created_at: now, expires_at: ends } });
});
serve(app);

function newToken() {
  return randomBytes(32).toString('base64url');
}

function digestOf(token) {
  return hash('sha256', token, 'buffer');
}
