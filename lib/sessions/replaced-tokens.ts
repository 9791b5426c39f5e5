import { digestToken, isWellFormedToken, SESSION_TOKEN_PREFIX } from '../crypto/token.js';
import type { Database } from '../database/database.js';
import { sessions } from '../tables/session.js';

// How long a request with the old cookie can be on its way while the browser already has the new one.
const REPLACEMENT_MS = 60_000;

/**
 * Whether one of these tokens was replaced by another less than a minute ago: by a renewal of its session, or by a
 * sign-in of the browser that sent it.
 */
export async function wereJustReplaced(database: Database, tokens: readonly string[]): Promise<boolean> {
  const digests = tokens.filter((one) => isWellFormedToken(SESSION_TOKEN_PREFIX, one)).map(digestToken);
  if (digests.length === 0) return false;
  const rows = await database.select<{ issued_at: Date | string; db_now: number | string }>(
    `SELECT s.token_issued_at AS issued_at, ${database.nowSql} AS db_now
     FROM ${database.table(sessions.name)} s WHERE s.replaced_token_hash IN (:digests)`,
    { digests },
  );
  return rows.some(
    ({ issued_at, db_now }) =>
      database.clock.at(db_now) - database.statements.toDate(issued_at).getTime() < REPLACEMENT_MS,
  );
}
