import { Database } from '../database/database.js';
import type { Session } from './session.js';

/** The columns of a session `s` that may be shown. */
export const SESSION_COLUMNS =
  's.id, s.user_id, s.created_at, s.authenticated_at, s.last_active_at, s.expires_at, s.ip_address, s.user_agent';

/** Those columns in a row, as the drivers give them, and the database's time. */
export interface SessionColumns {
  id: string;
  user_id: string;
  created_at: Date | string;
  authenticated_at: Date | string;
  last_active_at: Date | string;
  expires_at: Date | string;
  ip_address: string | null;
  user_agent: string | null;
  db_now: number | string;
}

/** A session of a row. */
export function toSession(row: SessionColumns): Session {
  return {
    id: row.id,
    userId: row.user_id,
    createdAt: Database.toDate(row.created_at),
    authenticatedAt: Database.toDate(row.authenticated_at),
    lastActiveAt: Database.toDate(row.last_active_at),
    expiresAt: Database.toDate(row.expires_at),
    ipAddress: row.ip_address,
    userAgent: row.user_agent,
  };
}
