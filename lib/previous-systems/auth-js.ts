import type { Sequelize } from 'sequelize';
import * as z from 'zod';
import type { OldSession, SessionBridge } from '../config/bridge.js';
import { readOptions, schemaOf } from '../config/options.js';
import {
  type BridgeOptions,
  columnsOption,
  type FoundUser,
  keepOldOf,
  secureName,
  sequelizeOption,
  sharedOptions,
  tableName,
  userFunction,
  userOf,
  userOfRow,
} from './bridge-options.js';
import { PreviousTables, requireSequelize, type SourceRow } from './previous-tables.js';
import { endOf, identityIn, linksOf, type ProviderNames, type SourceUser, textOf } from './values.js';

const COLUMNS = {
  user: { id: 'id', email: 'email', emailVerified: 'email_verified' },
  account: { userId: 'user_id', provider: 'provider', providerAccountId: 'provider_account_id' },
  session: { sessionToken: 'session_token', userId: 'user_id', expires: 'expires' },
} as const;
const TABLES = { user: 'users', account: 'accounts', session: 'sessions' } as const;

type Names<Own> = { readonly [K in keyof Own]?: string };
/** Columns of the users that Auth.js itself does not have, but that apps might have added. */
type AddedColumns = 'username' | 'createdAt';
const PROVIDERS: ProviderNames = {
  twitter: 'x',
  'azure-ad': 'microsoft',
  'microsoft-entra-id': 'microsoft',
  // The ids of sign-in by email. Their accounts contain only the address.
  email: null,
  nodemailer: null,
};

/** Options of {@link fromAuthJs}. */
export interface AuthJsOptions {
  /**
   * The tables, if their names were changed. A name can include a schema, as in `auth.account`.
   * @default those of the Sequelize adapter
   */
  readonly tables?: Names<Pick<typeof TABLES, 'user' | 'account'>>;
  /**
   * The columns, if their names were changed, and the columns that the app has added to the users: `passwordHash`,
   * `username`, `createdAt`.
   * @default those of the Sequelize adapter, and no others
   */
  readonly columns?: {
    readonly user?: Names<typeof COLUMNS.user> & { readonly [K in AddedColumns | 'passwordHash']?: string };
    readonly account?: Names<typeof COLUMNS.account>;
  };
  /**
   * The ids of the app's providers, by the ids that Auth.js uses for them. Null leaves a provider's accounts out.
   * @default the same ids, with `x` for `twitter`, and `microsoft` for `azure-ad` and `microsoft-entra-id`
   */
  readonly providers?: ProviderNames;
  /** Reads the values of the app's fields from a row of the users. @default none */
  readonly fields?: (user: SourceRow) => Readonly<Record<string, unknown>>;
}

/**
 * Reads the users of Auth.js (NextAuth) with its Sequelize adapter, and their accounts at providers, for
 * `auth.importUsers`. `ref` is the user's id in Auth.js, and so is `id` if it is a UUID, as it is by default.
 *
 * @example
 * await auth.importUsers(fromAuthJs(sequelize));
 *
 * @param sequelize an instance on the database of Auth.js, which is only read
 */
export async function* fromAuthJs(
  sequelize: Sequelize,
  options: AuthJsOptions = {},
): AsyncGenerator<SourceUser, void, undefined> {
  requireSequelize(sequelize, 'fromAuthJs');
  const reader = new PreviousTables(sequelize);
  const tables = { ...TABLES, ...options.tables };
  const { passwordHash, ...user } = { ...COLUMNS.user, ...options.columns?.user };
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
        ...identityIn(one, user),
        passwordHash: passwordHash === undefined ? null : textOf(one[passwordHash]),
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
  /** The Sequelize instance of Auth.js's adapter, or another one on the same database. @default none, required */
  sequelize: Sequelize;
  /** The adapter's tables. @default { session: 'sessions', user: 'users' } */
  tables?: { session?: string; user?: string } | undefined;
  /**
   * The columns, if their names were changed. Include `username` and `createdAt` of the users if `fromAuthJs` has read
   * them, because the ids of the accounts are derived from them.
   * @default those of the Sequelize adapter
   */
  columns?:
    | {
        readonly session?: Names<typeof COLUMNS.session> | undefined;
        readonly user?: (Names<typeof COLUMNS.user> & { readonly [K in AddedColumns]?: string }) | undefined;
      }
    | undefined;
  /**
   * Returns the account of a session: its id, or with `user.model` the primary key of its row, or
   * `{ id, email, emailVerified }`; null if there is no account. It gets the rows of the session and of the user.
   * @default the account with the user's id, or that `fromAuthJs` has imported; else the imported one with the email, if
   *   both have verified it
   */
  userId?: ((session: SourceRow, user: SourceRow) => FoundUser | Promise<FoundUser>) | undefined;
}

// The tokens are not signed. Values of another kind, such as a JWT, are not looked up.
const TOKEN = /^[\w~+/=-]{16,255}$/;

/** @internal */
export const schema = () =>
  schemaOf<AuthJsSessionsOptions>()({
    ...sharedOptions,
    sequelize: sequelizeOption,
    tables: z
      .strictObject({ session: tableName.default(TABLES.session), user: tableName.default(TABLES.user) })
      .prefault({}),
    columns: columnsOption<AuthJsSessionsOptions['columns']>()({
      session: COLUMNS.session,
      user: { ...COLUMNS.user, username: undefined, createdAt: undefined },
    }),
    userId: userFunction<[session: SourceRow, user: SourceRow]>().optional(),
  });

/**
 * Takes over the sessions of Auth.js (or NextAuth.js 4) that its Sequelize adapter has stored: `strategy: 'database'`.
 * Sessions with `strategy: 'jwt'` are not stored, so they cannot be ended, and are not taken over.
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
  const { sequelize, tables, columns, ...read } = readOptions('authJsSessions', schema, options);
  const { session: at, user } = columns;
  const { cookieName, keepOld, until = null } = read;
  const { userId = (_session: SourceRow, row: SourceRow) => userOfRow(identityIn(row, user)) } = read;
  const old = new PreviousTables(sequelize);
  return {
    name: 'authjs',
    until,
    keepOld: keepOldOf(keepOld),
    cookieNames: (isSecure) =>
      cookieName === undefined
        ? ['authjs.session-token', 'next-auth.session-token'].map((name) => secureName(name, isSecure))
        : [cookieName],
    idIn: (value) => (TOKEN.test(value) ? value : null),
    async find(token): Promise<OldSession | null> {
      const session = await old.find(tables.session, at.sessionToken, token);
      const endsAt = endOf(session?.[at.expires]);
      if (!session || !endsAt) return null;
      const row = await old.find(tables.user, user.id, session[at.userId]);
      const found = row && userOf(await userId(session, row), 'authJsSessions');
      // The adapter does not store when a session began.
      return found === null ? null : { user: found, beganAt: null, endsAt, remembered: true };
    },
    end: (token) => old.delete(tables.session, at.sessionToken, token),
  };
}
