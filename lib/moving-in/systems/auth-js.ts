import type { Sequelize } from 'sequelize';
import { readOptions, schemaOf } from '../../config/options.js';
import type { OldSession, SessionBridge } from '../bridge.js';
import {
  type BridgeOptions,
  columnsOption,
  type FoundUser,
  keepOldOf,
  secureName,
  sequelizeOption,
  sharedOptions,
  tablesOption,
  userFunction,
  userOf,
  userOfRow,
} from './bridge-options.js';
import {
  PreviousTables,
  remembered,
  requireSequelize,
  type SourceRow,
  type TableShape,
} from './previous-tables.js';
import {
  endOf,
  type ImportSource,
  identityIn,
  linksOf,
  named,
  type ProviderNames,
  type SourceUser,
  textOf,
} from './values.js';

const TABLES = {
  user: {
    table: 'users',
    columns: { id: 'id', email: 'email', emailVerified: 'email_verified' },
  },
  account: {
    table: 'accounts',
    columns: { userId: 'user_id', provider: 'provider', providerAccountId: 'provider_account_id' },
  },
  session: {
    table: 'sessions',
    columns: { sessionToken: 'session_token', userId: 'user_id', expires: 'expires' },
  },
} as const;
type Shapes = typeof TABLES;
type Names<T extends keyof Shapes> = { readonly [K in keyof Shapes[T]['columns']]?: string };

/** Returns the table of the users, with the columns that the app has added and whose names it has set. */
function usersWith(
  added: readonly string[],
  names: Readonly<Record<string, string | null | undefined>> = {},
) {
  const given = added.filter((name) => typeof names[name] === 'string');
  const columns = { ...TABLES.user.columns, ...Object.fromEntries(given.map((name) => [name, name])) };
  return { ...TABLES.user, columns } as TableShape<
    keyof Shapes['user']['columns'] | AddedColumns | 'passwordHash'
  >;
}

const NAME = 'fromAuthJs';
const BRIDGE = 'authJsSessions';
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
   * @default the adapters' names: `users`, `user` or `User`, and so on
   */
  readonly tables?: { readonly user?: string; readonly account?: string };
  /**
   * The columns, if their names were changed, and the columns that the app has added to the users: `passwordHash`,
   * `username`, `createdAt`.
   * @default the adapters' columns, in snake_case or camelCase, and no others
   */
  readonly columns?: {
    readonly user?: Names<'user'> & { readonly [K in AddedColumns | 'passwordHash']?: string };
    readonly account?: Names<'account'>;
  };
  /**
   * The ids of the app's providers, by the ids that Auth.js uses for them. Null excludes a provider's accounts.
   * @default the same ids, with `x` for `twitter`, and `microsoft` for `azure-ad` and `microsoft-entra-id`
   */
  readonly providers?: ProviderNames;
  /** Reads the values of the app's fields from a row of the users. @default none */
  readonly fields?: (user: SourceRow) => Readonly<Record<string, unknown>>;
}

/**
 * Reads the users of Auth.js (NextAuth) with an adapter for SQL, such as Sequelize's, Prisma's or Drizzle's, and their
 * accounts at providers, for `auth.movingIn.importUsers`. `ref` is the user's id in Auth.js. `id` is the same if it is a UUID,
 * as it is by default.
 *
 * @example
 * await auth.movingIn.importUsers(fromAuthJs(sequelize));
 *
 * @param sequelize an instance on the database of Auth.js, which is only read
 */
export function fromAuthJs(sequelize: Sequelize, options: AuthJsOptions = {}): ImportSource<SourceUser> {
  return named('auth-js', readUsers(sequelize, options));
}

async function* readUsers(
  sequelize: Sequelize,
  options: AuthJsOptions,
): AsyncGenerator<SourceUser, void, undefined> {
  requireSequelize(sequelize, NAME);
  const reader = new PreviousTables(sequelize);
  const added = ['passwordHash', 'username', 'createdAt'];
  const users = await reader.require(NAME, usersWith(added, options.columns?.user), {
    table: options.tables?.user,
    columns: options.columns?.user,
  });
  const accounts = await reader.require(NAME, TABLES.account, {
    table: options.tables?.account,
    columns: options.columns?.account,
  });
  const { passwordHash, ...user } = users.columns;
  const { columns: account } = accounts;
  const providers = { ...PROVIDERS, ...options.providers };
  for await (const batch of reader.batches(users.table, user.id)) {
    const linkedTo = await reader.by(
      accounts.table,
      account.userId,
      batch.map((one) => one[user.id]),
    );
    for (const one of batch) {
      const linked = linkedTo.get(String(one[user.id])) ?? [];
      yield {
        ...identityIn(one, user),
        passwordHash: textOf(one[passwordHash]),
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
  /**
   * The tables, if their names were changed.
   *
   * @default the adapters' names: `sessions`, `session` or `Session`, and so on
   */
  tables?: { session?: string; user?: string } | undefined;
  /**
   * The columns, if their names were changed. Include `username` and `createdAt` of the users if `fromAuthJs` has read
   * them, because the ids of the accounts are derived from them.
   * @default the adapters' columns, in snake_case or camelCase
   */
  columns?:
    | {
        readonly session?: Names<'session'> | undefined;
        readonly user?: (Names<'user'> & { readonly [K in AddedColumns]?: string }) | undefined;
      }
    | undefined;
  /**
   * Returns the account of a session: its id, or with `user.model` the primary key of its row, or
   * `{ id, email, emailVerified }`; null if there is no account. It gets the rows of the session and of the user.
   * @default the account with the user's id, or the account that `fromAuthJs` has imported; otherwise the imported
   *   account with the email, if both systems have verified it
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
    tables: tablesOption(),
    columns: columnsOption<AuthJsSessionsOptions['columns']>()({
      session: Object.keys(TABLES.session.columns),
      user: [...Object.keys(TABLES.user.columns), 'username', 'createdAt'],
    }),
    userId: userFunction<[session: SourceRow, user: SourceRow]>().optional(),
  });

/**
 * Takes over the sessions of Auth.js (or NextAuth.js 4) that an adapter for SQL has stored: `strategy: 'database'`.
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
  const { sequelize, tables, columns, ...read } = readOptions(BRIDGE, schema, options);
  const { cookieName, keepOld, until = null, userId } = read;
  const old = new PreviousTables(sequelize);
  const located = remembered(async () => ({
    session: await old.require(BRIDGE, TABLES.session, { table: tables.session, columns: columns?.session }),
    user: await old.require(BRIDGE, usersWith(['username', 'createdAt'], columns?.user), {
      table: tables.user,
      columns: columns?.user,
    }),
  }));
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
      const { session: sessions, user: users } = await located();
      const { columns: at } = sessions;
      const session = await old.find(sessions.table, at.sessionToken, token);
      const endsAt = endOf(session?.[at.expires]);
      if (!session || !endsAt) return null;
      const row = await old.find(users.table, users.columns.id, session[at.userId]);
      if (!row) return null;
      const user = userId ? await userId(session, row) : userOfRow(identityIn(row, users.columns));
      const found = userOf(user, BRIDGE);
      // The adapter does not store when a session started.
      return found === null ? null : { user: found, beganAt: null, endsAt, remembered: true };
    },
    async end(token) {
      const { table, columns: at } = (await located()).session;
      await old.delete(table, at.sessionToken, token);
    },
  };
}
