import { createHash } from 'node:crypto';
import type { Sequelize } from 'sequelize';
import { readOptions, schemaOf } from '../../config/options.js';
import type { OldSession, SessionBridge } from '../bridge.js';
import type { ImportOrganizationRow } from '../import-organizations.js';
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
  tablesOption,
  userFunction,
  userOf,
  userOfRow,
} from './bridge-options.js';
import {
  type FoundTable,
  PreviousTables,
  remembered,
  requireSequelize,
  type SourceRow,
} from './previous-tables.js';
import {
  endOf,
  flagOf,
  type ImportSource,
  identityIn,
  linksOf,
  named,
  type ProviderNames,
  type SourcePasskey,
  type SourceUser,
  textOf,
  timeOf,
} from './values.js';
import { openXChaCha20 } from './xchacha20.js';

const TABLES = {
  user: {
    table: 'user',
    columns: {
      id: 'id',
      email: 'email',
      emailVerified: 'emailVerified',
      createdAt: 'createdAt',
      username: 'username',
      displayUsername: 'displayUsername',
      twoFactorEnabled: 'twoFactorEnabled',
      banned: 'banned',
      banReason: 'banReason',
      banExpires: 'banExpires',
    },
    optional: [
      'createdAt',
      'username',
      'displayUsername',
      'twoFactorEnabled',
      'banned',
      'banReason',
      'banExpires',
    ],
    hints: {
      twoFactorEnabled: /^(is_?|has_?)?(two_?factor|2fa|mfa|t?otp)/i,
      banned: /^(is_?)?(ban(ned)?|suspend(ed)?|block(ed)?)($|_|at|until|reason)/i,
    },
  },
  account: {
    table: 'account',
    columns: { userId: 'userId', providerId: 'providerId', accountId: 'accountId', password: 'password' },
  },
  twoFactor: {
    table: 'twoFactor',
    columns: { userId: 'userId', secret: 'secret', backupCodes: 'backupCodes', verified: 'verified' },
    // Earlier versions do not have this column.
    optional: ['verified'],
  },
  passkey: {
    table: 'passkey',
    columns: {
      userId: 'userId',
      credentialID: 'credentialID',
      publicKey: 'publicKey',
      counter: 'counter',
      deviceType: 'deviceType',
      backedUp: 'backedUp',
      name: 'name',
      transports: 'transports',
      createdAt: 'createdAt',
    },
    optional: ['name', 'transports', 'createdAt'],
  },
  session: {
    table: 'session',
    columns: {
      token: 'token',
      userId: 'userId',
      createdAt: 'createdAt',
      expiresAt: 'expiresAt',
      impersonatedBy: 'impersonatedBy',
    },
    optional: ['createdAt', 'impersonatedBy'],
    hints: { impersonatedBy: /imperson/i },
  },
  organization: {
    table: 'organization',
    columns: { id: 'id', name: 'name', slug: 'slug', createdAt: 'createdAt' },
    optional: ['createdAt'],
  },
  member: {
    table: 'member',
    columns: {
      id: 'id',
      organizationId: 'organizationId',
      userId: 'userId',
      role: 'role',
      createdAt: 'createdAt',
    },
    optional: ['createdAt'],
  },
} as const;
type Shapes = typeof TABLES;
const NAME = 'fromBetterAuth';
const BRIDGE = 'betterAuthSessions';
// The names of latchkey's providers are better-auth's, except for these.
const PROVIDERS: ProviderNames = { twitter: 'x' };

type Names<T extends keyof Shapes> = { readonly [K in keyof Shapes[T]['columns']]?: string | null };
type OfOrganizations = 'organization' | 'member';
type Imported = Exclude<keyof Shapes, 'session' | OfOrganizations>;

/** Options of {@link fromBetterAuth}. */
export interface BetterAuthOptions {
  /**
   * The secret that better-auth uses to encrypt the secrets of its `twoFactor()` plugin; a list if it was rotated.
   * @default none; required if a user has a second factor
   */
  readonly secret?: string | readonly string[];
  /**
   * The tables, if their names were changed (`modelName`). A name can include a schema, as in `auth.account`.
   * @default better-auth's names, or the same in snake_case, in the plural, or as Prisma writes them
   */
  readonly tables?: { readonly [T in Imported]?: string };
  /**
   * The columns, if their names were changed (`fields`). Use null for a column that the app does not have.
   * @default better-auth's names, or the same in snake_case
   */
  readonly columns?: { readonly [T in Imported]?: Names<T> };
  /**
   * The ids of the app's providers, by the ids that better-auth uses for them. Null excludes a provider's accounts.
   * @default the same ids, with `x` for `twitter`
   */
  readonly providers?: ProviderNames;
  /** Reads the values of the app's fields from a row of `user`. @default none */
  readonly fields?: (user: SourceRow) => Readonly<Record<string, unknown>>;
}

/**
 * Reads the users of better-auth 1 for `auth.movingIn.importUsers`, with their passwords, accounts at providers, usernames,
 * bans, and the secrets and backup codes of its `twoFactor()` plugin. `ref` is the user's id in better-auth. `id` is
 * the same if it is a UUID.
 *
 * @example
 * await auth.movingIn.importUsers(fromBetterAuth(sequelize, { secret: process.env.BETTER_AUTH_SECRET }));
 *
 * @param sequelize an instance on the database of better-auth, which is only read
 * @throws TypeError if `secret` is missing, or if it is not the secret that encrypted a user's second factor
 */
export function fromBetterAuth(
  sequelize: Sequelize,
  options: BetterAuthOptions = {},
): ImportSource<SourceUser> {
  return named('better-auth', readUsers(sequelize, options));
}

async function* readUsers(
  sequelize: Sequelize,
  options: BetterAuthOptions,
): AsyncGenerator<SourceUser, void, undefined> {
  requireSequelize(sequelize, NAME);
  const reader = new PreviousTables(sequelize);
  const given = (table: Imported) => ({
    table: options.tables?.[table],
    columns: options.columns?.[table],
  });
  const users = await reader.require(NAME, TABLES.user, given('user'));
  const accounts = await reader.require(NAME, TABLES.account, given('account'));
  const factors = await reader.locate(NAME, TABLES.twoFactor, given('twoFactor'));
  const passkeys = await reader.locate(NAME, TABLES.passkey, given('passkey'));
  const { columns: user } = users;
  const { columns: account } = accounts;
  if (factors && user.twoFactorEnabled === '' && options.columns?.user?.twoFactorEnabled !== null)
    throw new TypeError(
      `latchkey: ${NAME}: there is a table ${factors.table}, but ${users.table} has no column twoFactorEnabled: name it in columns`,
    );
  const providers = { ...PROVIDERS, ...options.providers };
  for await (const batch of reader.batches(users.table, user.id)) {
    const ids = batch.map((one) => one[user.id]);
    const withFactor = batch.filter((one) => flagOf(one[user.twoFactorEnabled])).map((one) => one[user.id]);
    const linkedTo = await reader.by(accounts.table, account.userId, ids);
    const factorsOf = await factorRows(reader, factors, withFactor);
    const passkeysOf = passkeys ? await reader.by(passkeys.table, passkeys.columns.userId, ids) : NO_ROWS;
    for (const one of batch) {
      const id = String(one[user.id]);
      const linked = linkedTo.get(id) ?? [];
      const credential = linked.find((link) => link[account.providerId] === 'credential');
      const others = linked.filter((link) => link[account.providerId] !== 'credential');
      const verified = factorsOf
        .get(id)
        ?.find(
          (row) =>
            row[factors?.columns.verified ?? ''] == null || flagOf(row[factors?.columns.verified ?? '']),
        );
      yield {
        ...identityIn(one, user),
        usernameDisplay: textOf(one[user.displayUsername]),
        passwordHash: textOf(credential?.[account.password]),
        accounts: linksOf(
          others.map((link) => ({ provider: link[account.providerId], subject: link[account.accountId] })),
          providers,
        ),
        passkeys: (passkeysOf.get(id) ?? []).map((row) => passkeyIn(row, passkeys as FoundPasskeys)),
        ...(options.fields && { fields: options.fields(one) }),
        ...(verified && factors ? factorOf(verified, factors.columns, id, options.secret) : NO_FACTOR),
        suspended: banOf(one, user),
      };
    }
  }
}

const NO_ROWS: ReadonlyMap<string, SourceRow[]> = new Map();

/** Reads the second factors of users. @throws TypeError if a user has one, but there is no table */
async function factorRows(
  reader: PreviousTables,
  factors: FoundTable<keyof Shapes['twoFactor']['columns']> | null,
  userIds: readonly unknown[],
): Promise<ReadonlyMap<string, SourceRow[]>> {
  if (userIds.length === 0) return NO_ROWS;
  if (factors) return reader.by(factors.table, factors.columns.userId, userIds);
  throw new TypeError(
    `latchkey: ${NAME}: the user ${userIds[0]} has a second factor, but there is no table twoFactor: name it in tables`,
  );
}

type FoundPasskeys = FoundTable<keyof Shapes['passkey']['columns']>;

/**
 * Reads a passkey. better-auth stores the id in base64url, and the key in base64. It does not store the user handle.
 */
function passkeyIn(row: SourceRow, { columns }: FoundPasskeys): SourcePasskey {
  const { credentialID, publicKey, counter, deviceType, backedUp, name, transports, createdAt } = columns;
  return {
    credentialId: base64url(row[credentialID]),
    publicKey: base64url(row[publicKey]),
    counter: Number(row[counter] ?? 0),
    deviceType: String(row[deviceType]) as SourcePasskey['deviceType'],
    backedUp: flagOf(row[backedUp]),
    name: textOf(row[name]),
    transports: (textOf(row[transports]) ?? '').split(',').filter(Boolean),
    createdAt: timeOf(row[createdAt]),
  };
}

function base64url(value: unknown): string {
  return (textOf(value) ?? '').replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

const NO_FACTOR = { totpSecret: null, recoveryCodes: [] };

/** Reads the ban of a user, for the importer and the bridge. Null if there is no ban, or if it has expired. */
function banOf(user: SourceRow, columns: Readonly<Record<'banned' | 'banReason' | 'banExpires', string>>) {
  if (!flagOf(user[columns.banned])) return null;
  const until = timeOf(user[columns.banExpires]);
  if (until !== null && until.getTime() <= Date.now()) return null;
  return { reason: textOf(user[columns.banReason])?.slice(0, 255) ?? null, until };
}

function factorOf(
  row: SourceRow,
  columns: Readonly<Record<'secret' | 'backupCodes', string>>,
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
 * Reads backup codes: encrypted, or JSON with `storeBackupCodes: 'plain'`. Codes in the app's own format are skipped.
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

const ORGANIZATIONS = 'organizationsFromBetterAuth';

/** Options of {@link organizationsFromBetterAuth}. */
export interface BetterAuthOrganizationsOptions {
  /**
   * Returns the role of a member here: one of those in the config of `organizations()`, or `owner`. It gets the member's
   * roles in better-auth, usually one. If it returns a role that is not configured, the organization is skipped.
   * @default none, required
   */
  readonly role: (names: readonly string[]) => string;
  /** The tables, if their names were changed (`modelName`). @default as in `fromBetterAuth` */
  readonly tables?: { readonly [T in OfOrganizations]?: string };
  /** The columns, if their names were changed (`fields`). @default as in `fromBetterAuth` */
  readonly columns?: { readonly [T in OfOrganizations]?: Names<T> };
}

/**
 * Reads the organizations of better-auth 1 and their members for `auth.movingIn.importOrganizations`, after
 * `auth.movingIn.importUsers` has imported its users with {@link fromBetterAuth}. `ref` is the organization's id in
 * better-auth. Pending invitations, teams, `logo` and `metadata` are left out.
 *
 * @example
 * await auth.movingIn.importOrganizations(
 *   organizationsFromBetterAuth(sequelize, { role: (names) => (names.includes('owner') ? 'owner' : 'member') }),
 * );
 *
 * @param sequelize an instance on the database of better-auth, which is only read
 * @throws TypeError if `role` is not a function, or if a table or column cannot be found
 */
export function organizationsFromBetterAuth(
  sequelize: Sequelize,
  options: BetterAuthOrganizationsOptions,
): ImportSource<ImportOrganizationRow> {
  return named('better-auth', readOrganizations(sequelize, options));
}

async function* readOrganizations(
  sequelize: Sequelize,
  options: BetterAuthOrganizationsOptions,
): AsyncGenerator<ImportOrganizationRow, void, undefined> {
  requireSequelize(sequelize, ORGANIZATIONS);
  const { role, tables, columns } = options ?? {};
  if (typeof role !== 'function')
    throw new TypeError(
      `latchkey: ${ORGANIZATIONS}: role must be a function from a list of roles to the role here, such as ([name]) => name`,
    );
  const reader = new PreviousTables(sequelize);
  const given = (table: OfOrganizations) => ({ table: tables?.[table], columns: columns?.[table] });
  const found = await reader.require(ORGANIZATIONS, TABLES.organization, given('organization'));
  const { table: organizations, columns: one } = found;
  const ofMembers = await reader.require(ORGANIZATIONS, TABLES.member, given('member'));
  const { table: members, columns: at } = ofMembers;
  for await (const batch of reader.batches(organizations, one.id)) {
    const ids = batch.map((row) => row[one.id]);
    const membersOf = await reader.by(members, at.organizationId, ids);
    for (const row of batch) {
      const ofOne = membersOf.get(String(row[one.id])) ?? [];
      yield {
        ref: String(row[one.id]),
        name: textOf(row[one.name]) ?? '',
        slug: textOf(row[one.slug]) ?? '',
        createdAt: timeOf(row[one.createdAt]),
        members: ofOne
          .sort((a, b) => sinceOf(a, at.createdAt) - sinceOf(b, at.createdAt))
          .map((member) => ({ userRef: String(member[at.userId]), role: role(rolesIn(member[at.role])) })),
      };
    }
  }
}

/** Members are read oldest first, so that the first owner is the one who has been an owner for the longest time. */
function sinceOf(member: SourceRow, column: string): number {
  return timeOf(member[column])?.getTime() ?? 0;
}

/** better-auth stores several roles of a member as one string. */
function rolesIn(stored: unknown): string[] {
  return (textOf(stored) ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
}

/** Options of {@link betterAuthSessions}. */
export interface BetterAuthSessionsOptions extends BridgeOptions {
  /** A Sequelize instance on the database that better-auth uses. @default none, required */
  sequelize: Sequelize;
  /** The `secret` that better-auth signs its cookies with; a list if it was changed. @default none, required */
  secret: string | readonly string[] | undefined;
  /** The tables, if better-auth's `modelName` changes their names. @default as in `fromBetterAuth` */
  tables?: { session?: string; user?: string } | undefined;
  /**
   * The columns, if better-auth's `fields` changes their names. For users, they are the same as in `fromBetterAuth`.
   * Use null for a column that the app does not have.
   * @default better-auth's names, or the same in snake_case
   */
  columns?:
    | {
        readonly session?: Names<'session'> | undefined;
        readonly user?: Names<'user'> | undefined;
      }
    | undefined;
  /**
   * Returns the account of a session: its id, or with `user.model` the primary key of its row, or
   * `{ id, email, emailVerified }`; null if there is no account. It gets the rows of the session and of the user.
   * @default the account with the user's id, if that is a UUID, or the account that `fromBetterAuth` has imported;
   *   otherwise the account with the email, if both systems have verified it, and the account is older than the session
   *   or was imported
   */
  userId?: ((session: SourceRow, user: SourceRow) => FoundUser | Promise<FoundUser>) | undefined;
}

const COOKIE = 'better-auth.session_token';
const REMEMBER_COOKIE = 'better-auth.dont_remember';

/** @internal */
export const schema = () =>
  schemaOf<BetterAuthSessionsOptions>()({
    ...sharedOptions,
    sequelize: sequelizeOption,
    secret: secretsOption("must be better-auth's secret, or a list of its secrets"),
    tables: tablesOption(),
    columns: columnsOption<BetterAuthSessionsOptions['columns']>()({
      session: Object.keys(TABLES.session.columns),
      user: Object.keys(TABLES.user.columns),
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
  const { sequelize, secret, tables, columns, ...read } = readOptions(BRIDGE, schema, options);
  const { cookieName, keepOld, until = null, userId } = read;
  const old = new PreviousTables(sequelize);
  const located = remembered(async () => {
    const named = (table: 'session' | 'user') => ({ table: tables[table], columns: columns?.[table] });
    return {
      session: await old.require(BRIDGE, TABLES.session, named('session')),
      user: await old.require(BRIDGE, TABLES.user, named('user')),
    };
  });
  const signed = (value: string) => {
    const parts = splitSigned(value);
    return parts && isSigned(parts.value, parts.signature, secret) ? parts.value : null;
  };
  return {
    name: 'better-auth',
    until,
    keepOld: keepOldOf(keepOld),
    cookieNames: (isSecure) => [cookieName ?? secureName(COOKIE, isSecure)],
    idIn: signed,
    async find(token, cookies, isSecure): Promise<OldSession | null> {
      const { session: sessions, user: users } = await located();
      const { columns: at } = sessions;
      const session = await old.find(sessions.table, at.token, token);
      const endsAt = endOf(session?.[at.expiresAt]);
      if (!session || !endsAt || (session[at.impersonatedBy] ?? null) !== null) return null;
      const row = await old.find(users.table, users.columns.id, session[at.userId]);
      if (!row || banOf(row, users.columns)) return null;
      const user = userId ? await userId(session, row) : userOfRow(identityIn(row, users.columns));
      const found = userOf(user, BRIDGE);
      const forgotten = cookies(secureName(REMEMBER_COOKIE, isSecure)).some((one) => signed(one) === 'true');
      const beganAt = timeOf(session[at.createdAt]);
      return found === null ? null : { user: found, beganAt, endsAt, remembered: !forgotten };
    },
    async end(token) {
      const { table, columns: at } = (await located()).session;
      await old.delete(table, at.token, token);
    },
  };
}
