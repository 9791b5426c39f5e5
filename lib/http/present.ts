import { z } from 'zod';
import type { ApiKey } from '../models/api-key.js';
import type { Session } from '../models/session.js';
import type { User } from '../models/user.js';
import { id, time } from './schemas.js';

/**
 * What goes on the wire. Every answer is built here, field by field, and then held against the schema that its route
 * declares: what neither names, nobody sees.
 */

const userFields = {
  id,
  email: z.string().meta({ format: 'email' }).nullable(),
  email_verified_at: time.nullable(),
  created_at: time,
  updated_at: time,
};
const plainUserSchema = z.object(userFields);
const userWithUsernameSchema = z.object({ ...userFields, username: z.string().nullable() });

/** A user; with a username where the app has them. */
export function userSchema({ usernames }: { usernames: boolean }) {
  return usernames ? userWithUsernameSchema : plainUserSchema;
}

export function presentUser(user: User) {
  return {
    id: user.id,
    email: user.email,
    username: user.username,
    email_verified_at: user.emailVerifiedAt?.toISOString() ?? null,
    created_at: user.createdAt.toISOString(),
    updated_at: user.updatedAt.toISOString(),
  };
}

const sessionFields = {
  id,
  user_id: id,
  created_at: time,
  last_active_at: time,
  expires_at: time.describe('The absolute end; the session ends earlier when it is idle for too long.'),
  ip_address: z.string().nullable(),
  user_agent: z.string().nullable(),
};

export const sessionSchema = z.object(sessionFields);

/** A session in a list, which tells the one that asks. */
export const listedSessionSchema = z.object({ ...sessionFields, current: z.boolean() });

export function presentSession(session: Session) {
  return {
    id: session.id,
    user_id: session.userId,
    created_at: session.createdAt.toISOString(),
    last_active_at: session.lastActiveAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
    ip_address: session.ipAddress,
    user_agent: session.userAgent,
  };
}

export const apiKeySchema = z.object({
  id,
  name: z.string(),
  start: z.string().describe('The first characters of the key, to tell keys apart'),
  scopes: z.array(z.string()),
  created_at: time,
  expires_at: time.nullable(),
  last_used_at: time.nullable(),
});

export function presentApiKey(apiKey: ApiKey) {
  return {
    id: apiKey.id,
    name: apiKey.name,
    start: apiKey.start,
    scopes: apiKey.scopes,
    created_at: apiKey.createdAt.toISOString(),
    expires_at: apiKey.expiresAt?.toISOString() ?? null,
    last_used_at: apiKey.lastUsedAt?.toISOString() ?? null,
  };
}
