import { isUuid } from '../crypto/uuid.js';
import { AuthError } from '../errors.js';

const MAX_PAGE = 200;
const DEFAULT_PAGE = 50;

/** Selects a page of a list, newest first. */
export interface PageOptions {
  /** The maximum number of items, from 1 to 200. @default 50 */
  limit?: number;
  /** The `nextCursor` of the previous page. @default the first page */
  cursor?: string;
}

/**
 * Validates page options. Lists use keyset pagination on time-ordered ids, so that every page costs the same.
 *
 * @returns the number of rows, and the id below which the page starts
 * @throws AuthError `invalid_request`
 */
export function readPage({ limit = DEFAULT_PAGE, cursor }: PageOptions): {
  limit: number;
  before: string | null;
} {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw new AuthError('invalid_request', { detail: `limit must be a whole number from 1 to ${MAX_PAGE}.` });
  }
  return { limit, before: cursor === undefined ? null : decodeCursor(cursor) };
}

/**
 * Returns a page and the cursor of the next page.
 *
 * @param rows up to `limit + 1` rows: the extra one shows that more exist
 */
export function cutPage<Row extends { id: string }>(rows: readonly Row[], limit: number) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, nextCursor: last && rows.length > limit ? encodeCursor(last.id) : null };
}

/** Returns the cursor of a page that starts below an id. */
export function encodeCursor(id: string): string {
  return Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
}

function decodeCursor(cursor: string): string {
  const hex = /^[\w-]{22}$/.test(cursor) ? Buffer.from(cursor, 'base64url').toString('hex') : '';
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  if (!isUuid(id) || encodeCursor(id) !== cursor) {
    throw new AuthError('invalid_request', {
      detail: 'cursor must be the next_cursor of the previous page.',
    });
  }
  return id;
}
