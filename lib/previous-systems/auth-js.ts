import type { Sequelize } from 'sequelize';
import * as z from 'zod';
import type { OldSession, SessionBridge } from '../config/bridge.js';
import { readOptions, schemaOf } from '../config/options.js';
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
import { type OldRow, OldTables, oldTimeOf } from './old-tables.js';
import { type SourceRow, TableReader } from './read-table.js';
import { flagOf, linksOf, type ProviderNames, type SourceUser, textOf, timeOf, uuidOf } from './values.js';

const COLUMNS = {
  user: { id: 'id', email: 'email', emailVerified: 'email_verified' },
  account: { userId: 'user_id', provider: 'provider', providerAccountId: 'provider_account_id' },
} as const;
const TABLES = { user: 'users', account: 'accounts' } as const;
const PROVIDERS: ProviderNames = {
  twitter: 'x',
  'azure-ad': 'microsoft',
  'microsoft-entra-id': 'microsoft',
  // What its links by email are called. They say no more than the address.
  email: null,
  nodemailer: null,
};

/** Options of {@link fromAuthJs}. */
export interface AuthJsOptions {
  /** The tables, if their names were changed. A schema stands before a dot. @default those of the Sequelize adapter */
  readonly tables?: { readonly user?: string; readonly account?: string };
  /**
   * The columns, if their names were changed, and those that the app has added to the users: `passwordHash`, `username`,
   * `createdAt`.
   * @default those of the Sequelize adapter, and no others
   */
  readonly columns?: {
    readonly user?: {
      readonly [K in keyof typeof COLUMNS.user | 'passwordHash' | 'username' | 'createdAt']?: string;
    };
    readonly account?: { readonly [K in keyof typeof COLUMNS.account]?: string };
  };
  /**
   * The app's providers by the ids that Auth.js has for them; null leaves a provider's accounts out.
   * @default the same ids, with `x` for `twitter`, and `microsoft` for `azure-ad` and `microsoft-entra-id`
   */
  readonly providers?: ProviderNames;
  /** Reads the values of the app's fields from a row of the users. @default none */
  readonly fields?: (user: SourceRow) => Readonly<Record<string, unknown>>;
}

/**
 * Reads the users of Auth.js (NextAuth) with its Sequelize adapter, for `auth.importUsers`: with their accounts at providers.
 * `ref` is the id of Auth.js, and `id` too if that is a UUID, as it is by default.
 *
 * @example
 * await auth.importUsers(fromAuthJs(sequelize));
 *
 * @param sequelize an instance on the database of Auth.js; it is only read
 */
export async function* fromAuthJs(
  sequelize: Sequelize,
  options: AuthJsOptions = {},
): AsyncGenerator<SourceUser, void, undefined> {
  const reader = new TableReader(sequelize, 'fromAuthJs');
  const tables = { ...TABLES, ...options.tables };
  const { passwordHash, username, createdAt, ...user } = {
    ...COLUMNS.user,
    ...options.columns?.user,
  } as Record<keyof typeof COLUMNS.user, string> &
    Partial<Record<'passwordHash' | 'username' | 'createdAt', string>>;
  const account = { ...COLUMNS.account, ...options.columns?.account };
  const providers = { ...PROVIDERS, ...options.providers };
  for await (const users of reader.batches(tables.user, user.id)) {
    const accounts = await reader.by(
      tables.account,
      account.userId,
      users.map((one) => one[user.id]),
    );
    for (const one of users) {
      const linked = accounts.get(String(one[user.id])) ?? [];
      yield {
        ref: String(one[user.id]),
        id: uuidOf(one[user.id]),
        email: textOf(one[user.email]),
        emailVerified: flagOf(one[user.emailVerified]),
        username: username === undefined ? null : textOf(one[username]),
        passwordHash: passwordHash === undefined ? null : textOf(one[passwordHash]),
        createdAt: createdAt === undefined ? null : timeOf(one[createdAt]),
        accounts: linksOf(
          linked.map((link) => ({
            provider: link[account.provider],
            subject: link[account.providerAccountId],
          })),
          providers,
        ),
        ...(options.fields && { fields: options.fields(one) }),
      };
    }
  }
}

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

/** @internal */
export const schema = () =>
  schemaOf<AuthJsSessionsOptions>()({
    ...sharedOptions,
    sequelize: sequelizeOption,
    tables: z
      .strictObject({ session: tableName.default('sessions'), user: tableName.default('users') })
      .prefault({}),
    userId: userFunction<[session: OldRow, user: OldRow]>().optional(),
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
      const endsAt = oldTimeOf(session?.expires);
      if (!session || !endsAt) return null;
      const user = await old.find(tables.user, 'id', session.user_id);
      const found = user && userOf(await userId(session, user), 'authJsSessions');
      return found === null ? null : { user: found, endsAt, remembered: true };
    },
    end: (token) => old.delete(tables.session, 'session_token', token),
  };
}

function defaultUser(_session: OldRow, { id, email, email_verified: verifiedAt }: OldRow): FoundUser {
  return userOfRow(id, email, oldTimeOf(verifiedAt) !== null);
}
