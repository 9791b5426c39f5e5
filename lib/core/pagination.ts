import { isUuid } from '../crypto/uuid.js';
import { AuthError } from '../errors.js';

const MAX_PAGE = 200;
const DEFAULT_PAGE = 50;

/** Which page of a list, the newest first. */
export interface PageOptions {
  /** @default 50; at most 200 */
  limit?: number;
  /** The `nextCursor` of the page before. @default the first page */
  cursor?: string;
}

/**
 * Reads a page's options. Lists go by key set: ids begin with the time, and a page costs the same however far down.
 *
 * @returns how many rows, and the id below which they lie
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

/** The page, and the cursor of the next one. @param rows one more than the page holds, if there are so many */
export function cutPage<Row extends { id: string }>(rows: readonly Row[], limit: number) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, nextCursor: last && rows.length > limit ? encodeCursor(last.id) : null };
}

function encodeCursor(id: string): string {
  return Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
}

function decodeCursor(cursor: string): string {
  const hex = /^[\w-]{22}$/.test(cursor) ? Buffer.from(cursor, 'base64url').toString('hex') : '';
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  if (!isUuid(id) || encodeCursor(id) !== cursor) {
    throw new AuthError('invalid_request', { detail: 'cursor must be the next_cursor of the page before.' });
  }
  return id;
}
