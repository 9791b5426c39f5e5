import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import { cutPage, type PageOptions, readPage } from '../../tables/pages.js';
import { canonicalEmail } from '../../users/canonical.js';
import type { UserForAdmins } from '../../users/user-record.js';
import { searchUsers } from './users.js';

/** Filters and pages a list of users. */
export interface ListUsersOptions extends PageOptions {
  /**
   * Part of an email or username, case-insensitive. The whole email of a user finds this user alone. @default all users
   */
  search?: string;
}

/** One page of users. */
export interface UserPage {
  /** Newest first. */
  readonly users: readonly UserForAdmins[];
  /**
   * Pass it as `cursor` to get the next page. Null on the last page. A search that has not found enough users within a
   * second returns a shorter page, perhaps an empty one, and goes on with the next.
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
  if (search) return (await findByEmail(core, search, before)) ?? searchUsers(core, search, limit, before);
  const older = before === null ? '' : 'WHERE u.id < :before';
  const rows = await core.selections.forAdmins.select(`${older} ORDER BY u.id DESC LIMIT ${limit + 1}`, {
    before,
  });
  const { page: users, nextCursor } = cutPage(rows, limit);
  return { users, nextCursor };
}

/** Null if nobody has this email. */
async function findByEmail(core: Core, search: string, before: string | null): Promise<UserPage | null> {
  const email = canonicalEmail(search);
  if (email === null) return null;
  const [user] = await core.selections.forAdmins.select('WHERE u.email = :email', { email });
  return user ? { users: before === null || user.id < before ? [user] : [], nextCursor: null } : null;
}
