import { type Columns, column, type ShownOf } from './column.js';
import type { ModelOf } from './model.js';
import { declareTable, type TableDeclaration } from './table.js';

export const users = declareTable({
  name: 'users',
  columns: {
    /** A UUID, version 7. */
    id: column.uuid().onWire(),
    /** In canonical form. Null for a user created by a provider that did not prove an address. */
    email: column.text(254).exact().onWire({ format: 'email' }).nullable(),
    /** In canonical form. Null if the user has none. Clients see it if usernames are enabled. */
    username: column.text(100).exact().nullable(),
    /** When the email was verified. Null until then. */
    emailVerifiedAt: column.time().onWire().nullable(),
    passwordHash: column.text(1024).secret().nullable(),
    /** Copied to each session. Incrementing it ends all existing sessions, and sign-ins in progress. */
    authEpoch: column.integer().default(0).internal(),
    /** When the account was created. */
    createdAt: column.time().onWire(),
    /** When the account was last updated. */
    updatedAt: column.time().onWire(),
    /** When its owner showed access to the mailbox of the email. Null if only the app's word verified it. */
    mailboxProvedAt: column.time().internal().nullable(),
    /** When the account was deleted, if it is kept shut before it goes: see `accountDeletion`. */
    deletedAt: column.time().internal().nullable(),
  },
  unique: { email: ['email'], username: ['username'] },
  indexes: {
    deletedAt: ['deletedAt'],
    // For the administrators' search, which reads no more of a user than it compares.
    search: ['id', 'email', 'username'],
  },
});

export type UserColumns = typeof users.columns;

/** A user's account. Contains no secrets. */
export interface User extends ShownOf<UserColumns> {}

/** Shows administrators which accounts were deleted and are kept shut. */
export const closedColumns = { deletedAt: users.columns.deletedAt.forAdmins() };

/** The table with additional columns: those of the app's fields and of plugins. */
export function usersWith(...additional: readonly Columns[]): TableDeclaration<UserColumns> {
  const columns = Object.assign({}, users.columns, ...additional) as UserColumns;
  return { ...users, columns };
}

export const sessions = declareTable({
  name: 'sessions',
  ofUser: 'sessions',
  columns: {
    /** A UUID, version 7. It identifies the session in lists and is not a credential. */
    id: column.uuid().onWire(),
    /** The id of the session's user. */
    userId: column.uuid().onWire(),
    tokenHash: column.digest().internal(),
    authEpoch: column.integer().internal(),
    /** Whether the cookie is kept when the browser is closed (`remember_me`). */
    remembered: column.boolean().internal(),
    /** The time of the sign-in. */
    createdAt: column.time().onWire(),
    /** When the user last authenticated: at sign-in, or by reauthenticating later. */
    authenticatedAt: column.time(),
    /** The time of the last request, updated at most once per `touchInterval`, and up to a second later. */
    lastActiveAt: column.time().onWire(),
    /** The latest time at which the session ends. It ends earlier if it is idle for longer than `idleTimeout`. */
    expiresAt: column.time().onWire({
      description: 'The latest time at which the session ends. It ends earlier if it is idle for too long.',
    }),
    /** The client's IP address at sign-in, if known. */
    ipAddress: column.text(45).onWire().nullable(),
    /** The client's user agent at sign-in, if known. */
    userAgent: column.text(255).onWire().nullable(),
    /** The token that the browser had before, if it had one: of this session, or one of before the sign-in. */
    replacedTokenHash: column.digest().internal().nullable(),
    tokenIssuedAt: column.time().internal().nullable(),
    /** The authenticator assurance level: 2 with a second factor or a passkey, otherwise 1 (NIST SP 800-63B-4). */
    aal: column.integer().default(1),
    /** How the user authenticated, such as `pwd`, `otp` and `mfa` (RFC 8176). */
    amr: column.words(100).default(''),
  },
  unique: { tokenHash: ['tokenHash'] },
  foreignKeys: { userId: users },
  indexes: {
    userId: ['userId'],
    expiresAt: ['expiresAt'],
    lastActiveAt: ['lastActiveAt'],
    replacedTokenHash: ['replacedTokenHash'],
  },
});

export type SessionColumns = typeof sessions.columns;

/** A session of a user. It does not contain the token, of which only a hash is stored. */
export interface Session extends ShownOf<SessionColumns> {}

export const devices = declareTable({
  name: 'known_devices',
  ofUser: 'devices',
  columns: {
    /** A UUID, version 7. */
    id: column.uuid(),
    userId: column.uuid(),
    /** The hash of the browser's device cookie. Each account that signed in there has a row with it. */
    tokenHash: column.digest().internal(),
    /** The time of this account's first sign-in in this browser. */
    createdAt: column.time(),
    /** The time of its last one. */
    lastUsedAt: column.time(),
    /** When it was forgotten, such as by a new password. Until then it was a device of the account, which proves something. */
    forgottenAt: column.time().nullable(),
    /** The hash of the token that the notice of this new device carries. */
    undoTokenHash: column.digest().internal().nullable(),
    /** Whether it is useless, and only kept because it is the newest one of an account. Null if it is not known yet. */
    kept: column.boolean().internal().nullable(),
  },
  // Every account that signed in in the browser has a row with its token.
  unique: { tokenHash: ['tokenHash', 'userId'] },
  foreignKeys: { userId: users },
  indexes: {
    userId: ['userId', 'lastUsedAt'],
    undoTokenHash: ['undoTokenHash'],
    // Pruning reads neither those that it has decided to keep nor those that were not forgotten.
    unused: ['kept', 'lastUsedAt'],
    forgotten: ['kept', 'forgottenAt'],
  },
});

export type DeviceColumns = typeof devices.columns;

export const oneTimeTokens = declareTable({
  name: 'one_time_tokens',
  columns: {
    tokenHash: column.digest().internal(),
    /** Null for a token that nobody gets: see `OneTimeTokens.issue`. */
    userId: column.uuid().nullable(),
    purpose: column.text(32).exact(),
    /** The address that the token was sent to. */
    email: column.text(254).exact(),
    expiresAt: column.time(),
    /** The user's epoch when it was issued, for a token that ends with their sessions. */
    authEpoch: column.integer().internal().nullable(),
  },
  foreignKeys: { userId: users },
  indexes: { userId: ['userId'], expiresAt: ['expiresAt'] },
});

export type TokenColumns = typeof oneTimeTokens.columns;

export const accountChanges = declareTable({
  name: 'account_changes',
  columns: {
    /** A UUID, version 7. */
    id: column.uuid(),
    userId: column.uuid(),
    /** The kind of the notice about it. */
    kind: column.text(32),
    /** The hash of the token that undoes it. Null if nobody was told of it. */
    tokenHash: column.digest().internal().nullable(),
    /** The email that the change took from the account, which counts as taken until the change cannot be undone any more. */
    email: column.text(254).exact().nullable(),
    /** The state of the account before the change, encrypted. Null for what changes nothing, such as a sign-in. */
    state: column.hugeText().secret().nullable(),
    createdAt: column.time(),
    /** When it cannot be undone any more. */
    expiresAt: column.time(),
  },
  unique: { tokenHash: ['tokenHash'] },
  foreignKeys: { userId: users },
  indexes: { userId: ['userId', 'createdAt'], email: ['email'], expiresAt: ['expiresAt'] },
});

export type AccountChangeColumns = typeof accountChanges.columns;

export const carriedSessions = declareTable({
  name: 'carried_sessions',
  columns: {
    /** The hash of an older system's session id. It has a row from the time when it opens nothing but the session here. */
    oldHash: column.digest().internal(),
    /** The token of the session that has taken its place. Null if there was another one already. */
    tokenHash: column.digest().internal().nullable(),
    /** That token, for a browser that did not get the response. Null once the browser has sent it. */
    sealedToken: column.longText().secret().nullable(),
    /** When the browser first sent it. */
    usedAt: column.time().nullable(),
    createdAt: column.time(),
    /** When the older system's session can no longer be active. */
    expiresAt: column.time(),
  },
  indexes: { expiresAt: ['expiresAt'] },
});

export type CarriedSessionColumns = typeof carriedSessions.columns;

export const outboxEntries = declareTable({
  name: 'outbox',
  columns: {
    /** A UUID, version 7. */
    id: column.uuid(),
    /** Where it goes: entries of one lane do not hold up those of others. */
    lane: column.text(64).exact(),
    /** The kind of an email, or the name of an event. */
    kind: column.text(64),
    /** `waiting`, `sent`, `dropped` or `failed`. */
    state: column.text(16).exact(),
    /** What to send, encrypted. Null once it is sent. */
    content: column.hugeText().secret().nullable(),
    /** How often sending it was begun. */
    attempts: column.integer(),
    /** Why the last attempt failed, without what could be secret. Null during an attempt. */
    lastError: column.text(255).nullable(),
    createdAt: column.time(),
    /** When it is tried next; until then, a process that has begun to send it has it for itself. Null once it is finished. */
    dueAt: column.time().nullable(),
    /** When it is not tried any more. */
    giveUpAt: column.time(),
    /** When it was sent, dropped or given up. Null until then. */
    finishedAt: column.time().nullable(),
    /** When it is deleted. */
    expiresAt: column.time(),
  },
  indexes: { dueAt: ['lane', 'dueAt'], state: ['state', 'id'], expiresAt: ['expiresAt'] },
});

export type OutboxColumns = typeof outboxEntries.columns;

export const rateLimits = declareTable({
  name: 'rate_limits',
  columns: {
    /** A hash of what is counted, so that the table contains no personal data. */
    keyHash: column.digest().internal(),
    hits: column.integer(),
    blockedUntil: column.time().nullable(),
    expiresAt: column.time(),
    /** True if an event has reported the current pause. */
    reported: column.boolean().nullable(),
  },
  indexes: { expiresAt: ['expiresAt'] },
});

/** The core's tables, by the names of their models. */
export const coreTables = {
  /** Accounts. */
  User: users,
  /** Sessions. */
  Session: sessions,
  /** Browsers in which an account has signed in. */
  Device: devices,
  /** What it takes to undo changes of accounts. */
  AccountChange: accountChanges,
  /** Emailed tokens. */
  OneTimeToken: oneTimeTokens,
  /** Sessions of older systems that have been taken over. */
  CarriedSession: carriedSessions,
  /** Emails and webhooks that are to be sent, and those that were sent of late. */
  OutboxEntry: outboxEntries,
  /** Counters of the rate limits, unless they are in Redis. */
  RateLimit: rateLimits,
} as const;

/** The Sequelize models of the core's tables. */
export type CoreModels = { readonly [Name in keyof typeof coreTables]: ModelOf<(typeof coreTables)[Name]> };

/**
 * The tables of the core and of plugins, by the names of their models.
 *
 * @param userTable the table of users with additional columns
 * @throws TypeError if two of them define a model or a table with the same name
 */
export function withCoreTables(
  userTable: typeof users,
  plugins: readonly { readonly name: string; readonly tables?: Readonly<Record<string, TableDeclaration>> }[],
): typeof coreTables {
  const owners = new Map<string, string>();
  for (const { name: owner, tables = {} } of [{ name: 'latchkey', tables: coreTables }, ...plugins]) {
    for (const [model, table] of Object.entries(tables)) {
      for (const key of [`the model ${model}`, `the table ${table.name}`]) {
        const other = owners.get(key);
        if (other)
          throw new TypeError(`latchkey: ${other} and ${owner} both define ${key}: remove one of them`);
        owners.set(key, owner);
      }
    }
  }
  return Object.assign({}, coreTables, { User: userTable }, ...plugins.map(({ tables }) => tables));
}
