import type { Sequelize } from 'sequelize';
import * as z from 'zod';
import type { OldSession, SessionBridge } from '../config/bridge.js';
import { readOptions } from '../config/options.js';
import {
  type BridgeOptions,
  type FoundUser,
  secretsOption,
  secureName,
  sequelizeOption,
  sharedOptions,
  tableName,
  userFunction,
  userOf,
  userOfRow,
} from './bridge-options.js';
import { flagOf, type OldRow, OldTables, timeOf } from './old-tables.js';
import { isSigned, splitSigned } from './signature.js';

/** Options of {@link betterAuthSessions}. */
export interface BetterAuthSessionsOptions extends BridgeOptions {
  /** A Sequelize instance on the database that better-auth uses. @default none, required */
  sequelize: Sequelize;
  /** better-auth's `secret`, with which it signs its cookies; a list if it was changed. @default none, required */
  secret: string | readonly string[] | undefined;
  /** The tables, if better-auth's `modelName` names others. @default { session: 'session', user: 'user' } */
  tables?: { session?: string; user?: string } | undefined;
  /**
   * The account of a session: its id, or with `user.model` the primary key of its row, or `{ id, email, emailVerified }`;
   * null for none. It gets the rows of the session and of the user.
   * @default the account with the user's id, if that is a UUID, or that `fromBetterAuth` has imported; else the one with the
   *   email, if both have verified it
   */
  userId?: ((session: OldRow, user: OldRow) => FoundUser | Promise<FoundUser>) | undefined;
}

const NAME = 'better-auth';
const COOKIE = 'better-auth.session_token';
const REMEMBER_COOKIE = 'better-auth.dont_remember';

const schema = () =>
  z.strictObject({
    ...sharedOptions,
    sequelize: sequelizeOption,
    secret: secretsOption("must be better-auth's secret, or a list of its secrets"),
    tables: z
      .strictObject({ session: tableName.default('session'), user: tableName.default('user') })
      .prefault({}),
    userId: userFunction.optional(),
  });

/**
 * Takes over the sessions of better-auth 1 that are in its database. Those that are only in its secondary storage are not
 * found, and its cookie cache is not believed, since it opens sessions that have been revoked. Neither are sessions in
 * which an administrator impersonates the user, nor those of banned users.
 *
 * @example
 * createAuth({
 *   database: sequelize,
 *   secret: process.env.AUTH_SECRET,
 *   bridges: [betterAuthSessions({ sequelize, secret: process.env.BETTER_AUTH_SECRET })],
 * });
 *
 * @throws TypeError naming every mistake in the options
 */
export function betterAuthSessions(options: BetterAuthSessionsOptions): SessionBridge {
  const { sequelize, secret, tables, ...read } = readOptions('betterAuthSessions', schema, options);
  const old = new OldTables(sequelize);
  const { userId = defaultUser, cookieName, until = null } = read;
  const signed = (value: string) => {
    const parts = splitSigned(value);
    return parts && isSigned(parts.value, parts.signature, secret) ? parts.value : null;
  };
  return {
    name: NAME,
    until,
    cookieNames: (isSecure) => [cookieName ?? secureName(COOKIE, isSecure)],
    idIn: signed,
    async find(token, cookies, isSecure): Promise<OldSession | null> {
      const session = await old.find(tables.session, 'token', token);
      const endsAt = timeOf(session?.expiresAt);
      if (!session || !endsAt || (session.impersonatedBy ?? null) !== null) return null;
      const user = await old.find(tables.user, 'id', session.userId);
      if (!user || flagOf(user.banned)) return null;
      const found = userOf(await userId(session as never, user as never), 'betterAuthSessions');
      const forgotten = cookies(secureName(REMEMBER_COOKIE, isSecure)).some((one) => signed(one) === 'true');
      return found === null ? null : { user: found, endsAt, remembered: !forgotten };
    },
    end: (token) => old.delete(tables.session, 'token', token),
  };
}

/** As `fromBetterAuth` reads it. */
function defaultUser(_session: OldRow, { id, email, emailVerified, username, createdAt }: OldRow): FoundUser {
  const imported = { username: username ? String(username) : null, createdAt: timeOf(createdAt) };
  return userOfRow(id, email, flagOf(emailVerified), imported);
}
