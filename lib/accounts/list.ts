import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import type { TransactionOption } from '../sessions/request.js';
import { cutPage, encodeCursor, type PageOptions, readPage } from '../tables/pages.js';
import { performance } from '../timers.js';
import { canonicalEmail } from '../users/canonical.js';
import type { UserForAdmins } from '../users/record.js';
import type { AppRows } from '../users/rows.js';

/** Filters and pages a list of users. */
export interface ListUsersOptions extends PageOptions, TransactionOption {
  /**
   * Part of an email or username, case-insensitive. The complete email of a user finds only this user. @default all
   * users
   */
  search?: string;
}

/** The keys of {@link ListUsersOptions}. */
export const KEYS_OF_LIST = ['search', 'limit', 'cursor'];

/** One page of users. */
export interface UserPage {
  /** Newest first. */
  readonly users: readonly UserForAdmins[];
  /**
   * Pass it as `cursor` to get the next page. Null on the last page. A search that has not found enough users within a
   * second returns a shorter page, which might be empty, and continues with the next page.
   */
  readonly nextCursor: string | null;
}

/** Lists users page by page, newest first. @throws AuthError `invalid_request` for an invalid limit or cursor */
export async function listUsers(
  core: Core,
  { search = '', ...page }: ListUsersOptions = {},
): Promise<UserPage> {
  const { limit, before } = readPage(page);
  if (typeof search !== 'string')
    throw new AuthError('invalid_request', { detail: 'search must be a string.' });
  if (search)
    return (await findByEmail(core, search, before)) ?? searchUsers(core, search, { limit, before });
  const older = before === null ? '' : 'WHERE u.id < :before';
  const rows = await core.users.selections.forAdmins.select(
    `${older} ORDER BY u.id DESC LIMIT ${limit + 1}`,
    {
      before,
    },
  );
  const { page: users, nextCursor } = cutPage(rows, limit);
  return { users, nextCursor };
}

/** Returns a page with the user who has this email. Null if there is no such user. */
async function findByEmail(core: Core, search: string, before: string | null): Promise<UserPage | null> {
  const email = canonicalEmail(search);
  if (email === null) return null;
  const [user] = await core.users.selections.forAdmins.select('WHERE u.email = :email', { email });
  return user ? { users: before === null || user.id < before ? [user] : [], nextCursor: null } : null;
}

/** The number of users that the first step compares. If they fill the page, the search is cheap. */
const FIRST_STEP = 10_000;
const LARGEST_STEP = 200_000;

/** After this time, a page starts no further step, because a request can wait at most four seconds for the database. */
const ENOUGH_MS = 1000;

interface Found {
  readonly id: string;
}

/**
 * Finds users by a part of their email or username, newest first.
 *
 * It compares the users one by one, along an index that contains nothing else, and stops when the page is full. No kind
 * of index for parts of words exists in every database, and an index that latchkey maintained would be many times
 * larger than the users. So finding a rare string takes longer if there are more users. The time per request does not
 * grow, because a search that takes longer continues with the next page.
 */
export async function searchUsers(
  core: Core,
  search: string,
  { limit, before }: { readonly limit: number; readonly before: string | null },
  enoughMs = ENOUGH_MS,
): Promise<{ users: readonly UserForAdmins[]; nextCursor: string | null }> {
  const begun = performance.now();
  const found: Found[] = [];
  let end = before;
  for (let step = FIRST_STEP; ; step = Math.min(step * 2, LARGEST_STEP)) {
    const start = await startOfStep(core, end, step);
    found.push(...(await matching(core, search, { start, end }, limit + 1 - found.length)));
    const { page, nextCursor } = cutPage(found, limit);
    if (nextCursor !== null || start === null) return { users: await usersOf(core, page), nextCursor };
    if (performance.now() - begun >= enoughMs)
      return { users: await usersOf(core, page), nextCursor: encodeCursor(start) };
    end = start;
  }
}

/** Returns the id of the oldest user of a step. Null if there are fewer users left. */
async function startOfStep(core: Core, end: string | null, step: number): Promise<string | null> {
  const older = end === null ? '' : 'WHERE u.id < :end';
  const [row] = await core.database.select<Found>(
    `SELECT u.id AS id FROM ${searched(core)} ${older} ORDER BY u.id DESC LIMIT 1 OFFSET ${step - 1}`,
    { end },
  );
  return row?.id ?? null;
}

function matching(
  core: Core,
  search: string,
  { start, end }: { readonly start: string | null; readonly end: string | null },
  limit: number,
): Promise<Found[]> {
  const conditions = ["(u.email LIKE :pattern ESCAPE '|' OR u.username LIKE :pattern ESCAPE '|')"];
  if (start !== null) conditions.push('u.id >= :start');
  if (end !== null) conditions.push('u.id < :end');
  const pattern = `%${search.trim().normalize('NFKC').toLowerCase().replace(/[|%_]/g, '|$&')}%`;
  return core.database.select<Found>(
    `SELECT u.id AS id FROM ${searched(core)} WHERE ${conditions.join(' AND ')} ORDER BY u.id DESC LIMIT ${limit}`,
    { pattern, start, end },
  );
}

/** Names the index for MySQL, which would otherwise read whole rows. The other databases choose the smaller index. */
function searched({ database, users }: Core): string {
  const { name } = users.table;
  return database.dialect === 'mysql' ? `${name} u FORCE INDEX (${name}_search)` : `${name} u`;
}

function usersOf(core: Core, found: readonly Found[]): Promise<readonly UserForAdmins[]> {
  if (found.length === 0) return Promise.resolve([]);
  const ids = found.map(({ id }) => id);
  return core.users.selections.forAdmins.select('WHERE u.id IN (:ids) ORDER BY u.id DESC', { ids });
}

/** An account that has no row in the app's table. */
export interface Orphan {
  readonly id: string;
  readonly email: string | null;
  readonly username: string | null;
}

/**
 * Returns accounts that have no row in the table of `user.model`, in the order of their ids. An account has a row even
 * if the row is outside the model's scope or marked as deleted.
 *
 * @param after the id of the last account of the previous page; null for the first page
 */
export async function orphans(
  { database, users }: Core,
  rows: AppRows,
  after: string | null,
  limit: number,
): Promise<Orphan[]> {
  await rows.ready();
  const isLater = after === null ? '' : 'u.id > :after AND';
  return database.select<Orphan>(
    `SELECT u.id AS id, u.email AS email, u.username AS username FROM ${users.table.name} u
     WHERE ${isLater} NOT EXISTS (SELECT 1 FROM ${rows.table} r WHERE r.${rows.column} = u.id)
     ORDER BY u.id LIMIT ${limit}`,
    { after },
  );
}
