// The people of the seeded databases: the same users, sessions and tokens in every run and for every server.
import { createHash, createHmac } from 'node:crypto';
import { crc32 } from 'node:zlib';

export const SECRET = 'a secret of the bench, which protects nothing';
export const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
export const IP = '127.0.0.1';
const DAY_MS = 86_400_000;

/**
 * @typedef {object} Size
 * @property {number} users
 * @property {number} sessions
 * @property {number} hot the number of different tokens that the load sends
 */

/** @type {Size} */
export const FULL = { users: 10_000, sessions: 100_000, hot: 2000 };

/** @type {Size} */
export const SMALL = { users: 500, sessions: 5000, hot: 200 };

/** The times in the rows, from when this module was loaded. */
export const times = {
  created: new Date(Date.now() - 60_000),
  active: new Date(),
  // Within seven days, so that no library renews what it thinks is about to end.
  weekAhead: new Date(Date.now() + 7 * DAY_MS - 3_600_000),
  monthAhead: new Date(Date.now() + 30 * DAY_MS - 3_600_000),
};

/** The user of a session, both counted from 1. */
export function userOf(session, { users }) {
  return ((session * 7919) % users) + 1;
}

/** The sessions whose tokens the load sends: spread over the whole table. */
export function hotSessions({ sessions, hot }) {
  return Array.from({ length: hot }, (_, index) => Math.floor((index * sessions) / hot) + 1);
}

/** The users whose API keys the load sends. There is one key per user. */
export function hotUsers({ users, hot }) {
  const count = Math.min(users, hot);
  return Array.from({ length: count }, (_, index) => Math.floor((index * users) / count) + 1);
}

export function emailOf(user) {
  return `user${user}@example.test`;
}

/** A UUID, version 7, in the order of creation. */
export function uuidOf(kind, index) {
  const hex = createHash('sha256').update(`${kind} ${index}`).digest('hex');
  const time = (1_790_000_000_000 + index * 1000).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex.slice(0, 3)}-a${hex.slice(3, 6)}-${hex.slice(6, 18)}`;
}

/** The organization that all users are members of. */
export const ORGANIZATION = { id: uuidOf('organization', 0), slug: 'bench' };

/** 32 characters that stand for random ones, for libraries other than latchkey. */
export function tokenOf(session) {
  return createHash('sha256').update(`token ${session}`).digest('base64url').slice(0, 32);
}

/** A token of latchkey: the prefix, 32 bytes that stand for random ones, and their CRC-32. */
export function latchkeyToken(prefix, index) {
  const random = createHash('sha256').update(`${prefix} ${index}`).digest();
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(random, crc32(prefix)));
  return prefix + Buffer.concat([random, checksum]).toString('base64url');
}

export function digestOf(token) {
  return createHash('sha256').update(token).digest();
}

/** The cookie of express-session for an id. */
export function expressSessionCookie(id) {
  const signature = createHmac('sha256', SECRET).update(id).digest('base64').replace(/=+$/, '');
  return `connect.sid=${encodeURIComponent(`s:${id}.${signature}`)}`;
}

/** The cookie of better-auth for a token. */
export function betterAuthCookie(token) {
  const signature = createHmac('sha256', SECRET).update(token).digest('base64');
  return `better-auth.session_token=${encodeURIComponent(`${token}.${signature}`)}`;
}
