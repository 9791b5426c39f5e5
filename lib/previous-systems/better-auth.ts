import { createHash } from 'node:crypto';
import type { Sequelize } from 'sequelize';
import { type SourceRow, TableReader } from './read-table.js';
import type { SourceUser } from './source-user.js';
import { flagOf, linksOf, type ProviderNames, textOf, timeOf, uuidOf } from './values.js';
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
} as const;
const TABLES = { user: 'user', account: 'account', twoFactor: 'twoFactor' } as const;
// The names of latchkey's providers are better-auth's, except for these.
const PROVIDERS: ProviderNames = { twitter: 'x' };

type Names<T> = { readonly [K in keyof T]?: string };

/** Options of {@link fromBetterAuth}. */
export interface BetterAuthOptions {
  /**
   * The secret of better-auth, with which it encrypts the secrets of its `twoFactor()` plugin. A list, if it was rotated.
   * @default none; required if a user has a second factor
   */
  readonly secret?: string | readonly string[];
  /** The tables, if their names were changed (`modelName`). A schema stands before a dot. @default better-auth's names */
  readonly tables?: Names<typeof TABLES>;
  /** The columns, if their names were changed (`fields`). @default better-auth's names */
  readonly columns?: { readonly [T in keyof typeof COLUMNS]?: Names<(typeof COLUMNS)[T]> };
  /**
   * The app's providers by the ids that better-auth has for them; null leaves a provider's accounts out.
   * @default the same ids, with `x` for `twitter`
   */
  readonly providers?: ProviderNames;
  /** Reads the values of the app's fields from a row of `user`. @default none */
  readonly fields?: (user: SourceRow) => Readonly<Record<string, unknown>>;
}

/**
 * Reads the users of better-auth 1, for `auth.importUsers`: with passwords, accounts at providers, usernames, bans, and the
 * secrets and backup codes of its `twoFactor()` plugin. `ref` is better-auth's id, and `id` too if that is a UUID.
 *
 * @example
 * await auth.importUsers(fromBetterAuth(sequelize, { secret: process.env.BETTER_AUTH_SECRET }));
 *
 * @param sequelize an instance on the database of better-auth; it is only read
 * @throws TypeError if `secret` is missing or not the one that encrypted a user's second factor
 */
export async function* fromBetterAuth(
  sequelize: Sequelize,
  options: BetterAuthOptions = {},
): AsyncGenerator<SourceUser, void, undefined> {
  const reader = new TableReader(sequelize, 'fromBetterAuth');
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
        ref: id,
        id: uuidOf(id),
        email: textOf(one[user.email]),
        emailVerified: flagOf(one[user.emailVerified]),
        username: textOf(one[user.username]),
        passwordHash: textOf(credential?.[account.password]),
        createdAt: timeOf(one[user.createdAt]),
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

/** A ban that is over is none. */
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
      `latchkey: fromBetterAuth: the second factor of user ${id} cannot be decrypted: set secret to that of better-auth, or to the list of its secrets`,
    );
  return {
    totpSecret: secretOf(opened),
    recoveryCodes: codesOf(String(row[columns.backupCodes] ?? ''), secret),
  };
}

/** Its codes come from the text itself, or from base32 if it was imported from elsewhere. */
function secretOf(opened: string): string {
  return opened.startsWith('base32:') ? opened.slice('base32:'.length) : base32(Buffer.from(opened));
}

/** Encrypted by default; `storeBackupCodes: 'plain'` stores JSON. Codes in a form of the app's own are left out. */
function codesOf(stored: string, secret: BetterAuthOptions['secret']): string[] {
  try {
    const codes: unknown = JSON.parse(open(stored, secret) ?? stored);
    return Array.isArray(codes) ? codes.map(String) : [];
  } catch {
    return [];
  }
}

/** Opens what better-auth has encrypted: hexadecimal digits, after a version if it has several secrets. */
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

/** RFC 4648, without padding. */
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
