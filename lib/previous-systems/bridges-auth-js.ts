import type { Sequelize } from 'sequelize';
import * as z from 'zod';
import type { OldSession, SessionBridge } from '../config/bridge.js';
import { readOptions } from '../config/options.js';
import {
  type BridgeOptions,
  type FoundUser,
  secureName,
  sequelizeOption,
  sharedOptions,
  tableName,
  userFunction,
  userOf,
  userOfRow,
} from './bridge-options.js';
import { type OldRow, OldTables, timeOf } from './old-tables.js';

/** Options of {@link authJsSessions}. */
export interface AuthJsSessionsOptions extends BridgeOptions {
  /** The Sequelize instance of Auth.js' adapter, or another one on the same database. @default none, required */
  sequelize: Sequelize;
  /** The adapter's tables. @default { session: 'sessions', user: 'users' } */
  tables?: { session?: string; user?: string } | undefined;
  /**
   * The account of a session: its id, or with `user.model` the primary key of its row, or `{ id, email, emailVerified }`;
   * null for none. It gets the rows of the session and of the user.
   * @default the account with the user's id, or that `fromAuthJs` has imported; else the one with the email, if both have
   *   verified it
   */
  userId?: ((session: OldRow, user: OldRow) => FoundUser | Promise<FoundUser>) | undefined;
}

// The tokens are not signed. What looks like another kind of value, such as a JWT, is not looked up.
const TOKEN = /^[\w~+/=-]{16,255}$/;

const schema = () =>
  z.strictObject({
    ...sharedOptions,
    sequelize: sequelizeOption,
    tables: z
      .strictObject({ session: tableName.default('sessions'), user: tableName.default('users') })
      .prefault({}),
    userId: userFunction.optional(),
  });

/**
 * Takes over the sessions of Auth.js (or NextAuth.js 4) that its Sequelize adapter has stored: `strategy: 'database'`. With
 * the strategy `jwt` there are none that could be ended, so they are not taken over.
 *
 * @example
 * createAuth({
 *   database: sequelize,
 *   secret: process.env.AUTH_SECRET,
 *   bridges: [authJsSessions({ sequelize })],
 * });
 *
 * @throws TypeError naming every mistake in the options
 */
export function authJsSessions(options: AuthJsSessionsOptions): SessionBridge {
  const { sequelize, tables, ...read } = readOptions('authJsSessions', schema, options);
  const { userId = defaultUser, cookieName, until = null } = read;
  const old = new OldTables(sequelize);
  return {
    name: 'authjs',
    until,
    cookieNames: (isSecure) =>
      cookieName === undefined
        ? ['authjs.session-token', 'next-auth.session-token'].map((name) => secureName(name, isSecure))
        : [cookieName],
    idIn: (value) => (TOKEN.test(value) ? value : null),
    async find(token): Promise<OldSession | null> {
      const session = await old.find(tables.session, 'session_token', token);
      const endsAt = timeOf(session?.expires);
      if (!session || !endsAt) return null;
      const user = await old.find(tables.user, 'id', session.user_id);
      const found = user && userOf(await userId(session as never, user as never), 'authJsSessions');
      return found === null ? null : { user: found, endsAt, remembered: true };
    },
    end: (token) => old.delete(tables.session, 'session_token', token),
  };
}

function defaultUser(_session: OldRow, { id, email, email_verified: verifiedAt }: OldRow): FoundUser {
  return userOfRow(id, email, timeOf(verifiedAt) !== null);
}
