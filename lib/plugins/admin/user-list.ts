import type { Core } from '../../core/core.js';
import { cutPage, type PageOptions, readPage } from '../../core/pagination.js';
import type { UserForAdmins } from '../../core/user-record.js';
import { AuthError } from '../../errors.js';

/** Filters and pages a list of users. */
export interface ListUsersOptions extends PageOptions {
  /** Part of an email or username, case-insensitive. @default all users */
  search?: string;
}

/** One page of users. */
export interface UserPage {
  /** Newest first. */
  readonly users: readonly UserForAdmins[];
  /** Pass it as `cursor` to get the next page. Null on the last page. */
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
  const conditions = ['1 = 1'];
  if (before !== null) conditions.push('u.id < :before');
  if (search) conditions.push("(u.email LIKE :pattern ESCAPE '|' OR u.username LIKE :pattern ESCAPE '|')");
  const rows = await core.selections.forAdmins.select(
    `WHERE ${conditions.join(' AND ')} ORDER BY u.id DESC LIMIT ${limit + 1}`,
    {
      before,
      pattern: `%${search.trim().normalize('NFKC').toLowerCase().replace(/[|%_]/g, '|$&')}%`,
    },
  );
  const { page: users, nextCursor } = cutPage(rows, limit);
  return { users, nextCursor };
}
