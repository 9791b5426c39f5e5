import type { Database } from '../../database/database.js';
import { type Finding, ok, warning } from './finding.js';

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/** Checks whether somebody deletes what has expired. */
export async function checkPruning(database: Database): Promise<Finding> {
  const rows = await database.select(
    `SELECT id FROM ${database.table('sessions')} WHERE expires_at < :end LIMIT 1`,
    { end: database.clock.date(-WEEK_MS) },
  );
  if (rows.length === 0) return ok('pruning', 'no session has expired for more than a week');
  return warning(
    'pruning',
    'there are sessions that expired more than a week ago, so the tables grow without end',
    'npx latchkey prune, every day',
  );
}
