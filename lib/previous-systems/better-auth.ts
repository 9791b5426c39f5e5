import { createHash } from 'node:crypto';
import type { Sequelize } from 'sequelize';
import * as z from 'zod';
import type { OldSession, SessionBridge } from '../config/bridge.js';
import { readOptions, schemaOf } from '../config/options.js';
import {
  type BridgeOptions,
  columnsOption,
  type FoundUser,
  isSigned,
  keepOldOf,
  secretsOption,
  secureName,
  sequelizeOption,
  sharedOptions,
  splitSigned,
  tableName,
  userFunction,
  userOf,
  userOfRow,
} from './bridge-options.js';
import { PreviousTables, requireSequelize, type SourceRow } from './previous-tables.js';
import {
  endOf,
  flagOf,
  identityIn,
  linksOf,
  type ProviderNames,
  type SourceUser,
  textOf,
  timeOf,
} from './values.js';
import { openXChaCha20 } from './xchacha20.js';

const COLUMNS = {
  user: {
    id: 'id',
    email: 'email',
    emailVerified: 'emailVerified',
    createdAt: 'createdAt',
    username: 'username',
    twoFactorEnabled: 'twoFactorEnabled',
    banned: 'banned',
    banReason: 'banReason',
    banExpires: 'banExpires',
  },
  account: { userId: 'userId', providerId: 'providerId', accountId: 'accountId', password: 'password' },
  twoFactor: { userId: 'userId', secret: 'secret', backupCodes: 'backupCodes', verified: 'verified' },
  session: {
    token: 'token',
    userId: 'userId',
    createdAt: 'createdAt',
    expiresAt: 'expiresAt',
    impersonatedBy: 'impersonatedBy',
  },
} as const;
const TABLES = { user: 'user', account: 'account', twoFactor: 'twoFactor', session: 'session' } as const;
// The names of latchkey's providers are better-auth's, except for these.
const PROVIDERS: ProviderNames = { twitter: 'x' };

type Names<Own> = { readonly [K in keyof Own]?: string };
type Imported = 'user' | 'account' | 'twoFactor';

/** Options of {@link fromBetterAuth}. */
export interface BetterAuthOptions {
  /**
   * The secret that better-auth uses to encrypt the secrets of its `twoFactor()` plugin; a list if it was rotated.
   * @default none; required if a user has a second factor
   */
  readonly secret?: string | readonly string[];
  /**
   * The tables, if their names were changed (`modelName`). A name can include a schema, as in `auth.account`.
   * @default better-auth's names
   */
  readonly tables?: Names<Pick<typeof TABLES, Imported>>;
  /** The columns, if their names were changed (`fields`). @default better-auth's names */
  readonly columns?: { readonly [T in Imported]?: Names<(typeof COLUMNS)[T]> };
  /**
   * The ids of the app's providers, by the ids that better-auth uses for them. Null leaves a provider's accounts out.
   * @default the same ids, with `x` for `twitter`
   */
  readonly providers?: ProviderNames;
  /** Reads the values of the app's fields from a row of `user`. @default none */
  readonly fields?: (user: SourceRow) => Readonly<Record<string, unknown>>;
}

/**
 * Reads the users of better-auth 1 for `auth.importUsers`, with their passwords, accounts at providers, usernames,
 * bans, and the secrets and backup codes of its `twoFactor()` plugin. `ref` is the user's id in better-auth, and so is
 * `id` if it is a UUID.
 *
 * @example
 * await auth.importUsers(fromBetterAuth(sequelize, { secret: process.env.BETTER_AUTH_SECRET }));
 *
 * @param sequelize an instance on the database of better-auth, which is only read
 * @throws TypeError if `secret` is missing, or if it is not the secret that encrypted a user's second factor
 */
export async function* fromBetterAuth(
  sequelize: Sequelize,
  options: BetterAuthOptions = {},
): AsyncGenerator<SourceUser, void, undefined> {
  requireSequelize(sequelize, 'fromBetterAuth');
  const reader = new PreviousTables(sequelize);
  const tables = { ...TABLES, ...options.tables };
  const user = { ...COLUMNS.user, ...options.columns?.user };
  const account = { ...COLUMNS.account, ...options.columns?.account };
  const factor = { ...COLUMNS.twoFactor, ...options.columns?.twoFactor };
  const providers = { ...PROVIDERS, ...options.providers };
  for await (const users of reader.batches(tables.user, user.id)) {
    const ids = users.map((one) => one[user.id]);
    const withFactor = users.filter((one) => flagOf(one[user.twoFactorEnabled])).map((one) => one[user.id]);
    const accounts = await reader.by(tables.account, account.userId, ids);
    const factors = await reader.by(tables.twoFactor, factor.userId, withFactor);
    for (const one of users) {
      const id = String(one[user.id]);
      const linked = accounts.get(id) ?? [];
      const credential = linked.find((link) => link[account.providerId] === 'credential');
      const others = linked.filter((link) => link[account.providerId] !== 'credential');
      const verified = factors
        .get(id)
        ?.find((row) => row[factor.verified] == null || flagOf(row[factor.verified]));
      yield {
        ...identityIn(one, user),
        passwordHash: textOf(credential?.[account.password]),
        accounts: linksOf(
          others.map((link) => ({ provider: link[account.providerId], subject: link[account.accountId] })),
          providers,
        ),
        ...(options.fields && { fields: options.fields(one) }),
        ...(verified && factorOf(verified, factor, id, options.secret)),
        suspended: banOf(one, user),
      };
    }
  }
}

/** Reads the ban of a user, for the importer and the bridge. Null if there is no ban, or if it has expired. */
function banOf(user: SourceRow, columns: Record<'banned' | 'banReason' | 'banExpires', string>) {
  if (!flagOf(user[columns.banned])) return null;
  const until = timeOf(user[columns.banExpires]);
  if (until !== null && until.getTime() <= Date.now()) return null;
  return { reason: textOf(user[columns.banReason])?.slice(0, 255) ?? null, until };
}

function factorOf(
  row: SourceRow,
  columns: Record<'secret' | 'backupCodes', string>,
  id: string,
  secret: BetterAuthOptions['secret'],
): Pick<SourceUser, 'totpSecret' | 'recoveryCodes'> {
  const opened = open(String(row[columns.secret]), secret);
  if (opened === null)
    throw new TypeError(
      `latchkey: fromBetterAuth: the second factor of user ${id} cannot be decrypted: set secret to better-auth's secret, or to the list of its secrets`,
    );
  return {
    totpSecret: secretOf(opened),
    recoveryCodes: codesOf(String(row[columns.backupCodes] ?? ''), secret),
  };
}

/** Converts a secret to base32: better-auth uses the bytes of the string itself, unless it was imported as base32. */
function secretOf(opened: string): string {
  return opened.startsWith('base32:') ? opened.slice('base32:'.length) : base32(Buffer.from(opened));
}

/**
 * Reads backup codes: encrypted, or JSON with `storeBackupCodes: 'plain'`. Codes in the app's own format are left out.
 */
function codesOf(stored: string, secret: BetterAuthOptions['secret']): string[] {
  try {
    const codes: unknown = JSON.parse(open(stored, secret) ?? stored);
    return Array.isArray(codes) ? codes.map(String) : [];
  } catch {
    return [];
  }
}

/** Decrypts a value of better-auth: hexadecimal digits, after a version if better-auth has several secrets. */
function open(sealed: string, secret: BetterAuthOptions['secret'] = []): string | null {
  const [, hex] = /^(?:\$ba\$\d+\$)?((?:[\da-f]{2})+)$/i.exec(sealed) ?? [];
  if (hex === undefined) return null;
  for (const one of [secret].flat()) {
    const key = createHash('sha256').update(one).digest();
    const opened = openXChaCha20(key, Buffer.from(hex, 'hex'));
    if (opened !== null) return opened;
  }
  return null;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Encodes bytes as base32 (RFC 4648), without padding. */
function base32(bytes: Buffer): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(value >>> (bits - 5)) & 31];
  }
  return bits > 0 ? text + ALPHABET[(value << (5 - bits)) & 31] : text;
}

/** Options of {@link betterAuthSessions}. */
export interface BetterAuthSessionsOptions extends BridgeOptions {
  /** A Sequelize instance on the database that better-auth uses. @default none, required */
  sequelize: Sequelize;
  /** The `secret` that better-auth signs its cookies with; a list if it was changed. @default none, required */
  secret: string | readonly string[] | undefined;
  /** The tables, if better-auth's `modelName` changes their names. @default { session: 'session', user: 'user' } */
  tables?: { session?: string; user?: string } | undefined;
  /**
   * The columns, if better-auth's `fields` changes their names. For users, the same as in `fromBetterAuth`.
   * @default better-auth's
   */
  columns?:
    | {
        readonly session?: Names<typeof COLUMNS.session> | undefined;
        readonly user?: Names<typeof COLUMNS.user> | undefined;
      }
    | undefined;
  /**
   * Returns the account of a session: its id, or with `user.model` the primary key of its row, or
   * `{ id, email, emailVerified }`; null if there is no account. It gets the rows of the session and of the user.
   * @default the account with the user's id, if that is a UUID, or that `fromBetterAuth` has imported; else the one with the
   *   email, if both have verified it, and the account is older than the session or was imported
   */
  userId?: ((session: SourceRow, user: SourceRow) => FoundUser | Promise<FoundUser>) | undefined;
}

const NAME = 'better-auth';
const COOKIE = 'better-auth.session_token';
const REMEMBER_COOKIE = 'better-auth.dont_remember';

/** @internal */
export const schema = () =>
  schemaOf<BetterAuthSessionsOptions>()({
    ...sharedOptions,
    sequelize: sequelizeOption,
    secret: secretsOption("must be better-auth's secret, or a list of its secrets"),
    tables: z
      .strictObject({ session: tableName.default(TABLES.session), user: tableName.default(TABLES.user) })
      .prefault({}),
    columns: columnsOption<BetterAuthSessionsOptions['columns']>()({
      session: COLUMNS.session,
      user: COLUMNS.user,
    }),
    userId: userFunction<[session: SourceRow, user: SourceRow]>().optional(),
  });

/**
 * Takes over the sessions of better-auth 1 that are in its database. Sessions that are only in its secondary storage
 * are not found. Its cookie cache is not trusted, because it also accepts revoked sessions. Sessions of banned users,
 * and sessions in which an administrator impersonates a user, are not taken over.
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
  const { sequelize, secret, tables, columns, ...read } = readOptions('betterAuthSessions', schema, options);
  const { session: at, user } = columns;
  const { cookieName, keepOld, until = null } = read;
  const { userId = (_session: SourceRow, row: SourceRow) => userOfRow(identityIn(row, user)) } = read;
  const old = new PreviousTables(sequelize);
  const signed = (value: string) => {
    const parts = splitSigned(value);
    return parts && isSigned(parts.value, parts.signature, secret) ? parts.value : null;
  };
  return {
    name: NAME,
    until,
    keepOld: keepOldOf(keepOld),
    cookieNames: (isSecure) => [cookieName ?? secureName(COOKIE, isSecure)],
    idIn: signed,
    async find(token, cookies, isSecure): Promise<OldSession | null> {
      const session = await old.find(tables.session, at.token, token);
      const endsAt = endOf(session?.[at.expiresAt]);
      if (!session || !endsAt || (session[at.impersonatedBy] ?? null) !== null) return null;
      const row = await old.find(tables.user, user.id, session[at.userId]);
      if (!row || banOf(row, user)) return null;
      const found = userOf(await userId(session, row), 'betterAuthSessions');
      const forgotten = cookies(secureName(REMEMBER_COOKIE, isSecure)).some((one) => signed(one) === 'true');
      const beganAt = timeOf(session[at.createdAt]);
      return found === null ? null : { user: found, beganAt, endsAt, remembered: !forgotten };
    },
    end: (token) => old.delete(tables.session, at.token, token),
  };
}
