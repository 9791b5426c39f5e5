import type { Sequelize } from 'sequelize';
import { type SourceRow, TableReader } from './read-table.js';
import type { SourceUser } from './source-user.js';
import { flagOf, linksOf, type ProviderNames, textOf, timeOf, uuidOf } from './values.js';

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
