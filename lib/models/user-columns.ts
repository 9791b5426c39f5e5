import { Database } from '../database/database.js';
import type { User } from './user.js';

/** The columns of a user who may be shown. */
export const USER_COLUMNS = 'id, email, username, email_verified_at, created_at, updated_at';

/** Those columns in a row, as the drivers give them. */
export interface UserColumns {
  id: string;
  email: string | null;
  username: string | null;
  email_verified_at: Date | string | null;
  created_at: Date | string;
  updated_at: Date | string;
}

/** A user of a row. */
export function toUser(row: UserColumns): User {
  return {
    id: row.id,
    email: row.email,
    username: row.username,
    emailVerifiedAt: row.email_verified_at === null ? null : Database.toDate(row.email_verified_at),
    createdAt: Database.toDate(row.created_at),
    updatedAt: Database.toDate(row.updated_at),
  };
}

/** The columns of a user `u` in a row of something that belongs to them. */
export const JOINED_USER_COLUMNS = `u.id AS user_id, u.email, u.username, u.email_verified_at,
  u.created_at AS user_created_at, u.updated_at AS user_updated_at`;

export interface JoinedUserRow {
  user_id: string;
  email: string | null;
  username: string | null;
  email_verified_at: Date | string | null;
  user_created_at: Date | string;
  user_updated_at: Date | string;
}

export function joinedUser(row: JoinedUserRow): User {
  const { user_id: id, user_created_at: created_at, user_updated_at: updated_at } = row;
  return toUser({ ...row, id, created_at, updated_at });
}
