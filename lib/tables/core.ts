import { CORE, callOf, type Defined, type Owner, requireOneOwner } from '../owners.js';
import { type Columns, column, columnName, type ShownOf, snakeCase } from './column.js';
import type { ModelOf } from './model.js';
import { declareTable, namesIn, type TableDeclaration } from './table.js';
import { defineWaiting } from './waiting.js';

/**
 * How well an email is proven to be the user's, from weak to strong. Each level includes the ones before it.
 *
 * - `none`: no one has vouched for it.
 * - `provider`: a provider that does not run the mailbox has verified the address at some time.
 * - `app`: the app's code or an administrator has vouched for it.
 * - `mailbox`: the user has answered an email, or the provider that runs the mailbox says that it is theirs.
 */
export const EMAIL_PROOFS = ['none', 'provider', 'app', 'mailbox'] as const;

/** One of the levels from `none` to `mailbox`: see `User.emailProof`. */
export type EmailProofLevel = (typeof EMAIL_PROOFS)[number];

export const users = declareTable({
  name: 'users',
  exported: { as: 'user', by: 'id' },
  columns: {
    /** A UUID, version 7. */
    id: column.uuid().onWire(),
    /** The email in canonical form. Null for a user created through a provider that did not verify an address. */
    email: column.text(254).exact().onWire({ format: 'email' }).nullable(),
    /** The username in canonical form. Null if the user has none. Clients see it if usernames are enabled. */
    username: column.text(100).exact().nullable().exported(),
    /**
     * The username with the letters that were typed, such as `Ada` for `ada`. It does not identify the account. A
     * statement of yours that changes the username must change it too, or set it to null: then latchkey returns the
     * username.
     */
    usernameDisplay: column
      .text(100)
      .exact()
      .nullable()
      .orElse('username')
      .exported()
      .described('The username as the user typed it'),
    /** The time when someone first vouched for the email. Null until then. */
    emailVerifiedAt: column.time().onWire().nullable(),
    passwordHash: column.text(1024).secret().nullable(),
    /** A number copied to each session. Incrementing it revokes all existing sessions and sign-ins in progress. */
    authEpoch: column.integer().default(0).internal().notExported('It is a counter of latchkey.'),
    /** The time when the account was created. */
    createdAt: column.time().onWire(),
    /** The time when the account was last updated. */
    updatedAt: column.time().onWire(),
    /** The time when the account's user first proved access to the mailbox of an email, which can be an earlier one. */
    mailboxProvedAt: column.time().internal().nullable().exported(),
    /** The time when someone first vouched for an email of the account, which can be an earlier one. */
    emailVouchedAt: column.time().internal().nullable().exported(),
    /** The time when the account's email was last changed. Null if it has the one it was created with. */
    emailChangedAt: column.time().internal().nullable().exported(),
    /**
     * How well the email is proven: `none`, `provider` (a provider that does not run the mailbox has verified it), `app`
     * (your code or an administrator vouches for it) or `mailbox` (an email was answered, or the provider that runs the
     * mailbox says so). If your own statement has left it null, `emailVerifiedAt` counts. A statement of yours that
     * changes the email must set it to `none`.
     */
    emailProof: column.text<EmailProofLevel>(8).exact().nullable().exported(),
    /** The time when the account was deleted, if its deletion is pending: see `accountDeletion`. */
    deletedAt: column.time().internal().nullable().exported(),
    /** The time when the account was imported from a previous system. Null for other accounts. */
    importedAt: column.time().internal().nullable().exported(),
    /** The time of the first sign-in of an imported account in a browser. Null until then, and for other accounts. */
    firstUsedAt: column.time().internal().nullable().exported(),
    /** The time when `authEpoch` was last incremented. Null if it never was. */
    sessionsEndedAt: column.time().internal().nullable().exported(),
    /** The time since when the account needs a new password. Null if it needs none. */
    newPasswordRequiredAt: column.time().nullable().exported(),
  },
  unique: { email: ['email'], username: ['username'] },
  indexes: {
    deletedAt: ['deletedAt'],
    // The administrators' search reads only these columns of the users that it compares.
    search: ['id', 'email', 'username'],
  },
});

export type UserColumns = typeof users.columns;

/** A user's account. Contains no secrets. */
export interface User extends ShownOf<UserColumns> {
  /**
   * The language that the user has chosen, as a tag such as `de`. Null if the user has chosen none. Only with more than one of
   * `locale.languages`.
   */
  readonly locale?: string | null;
}

/** The column that shows administrators which accounts have a pending deletion. */
export const closedColumns = { deletedAt: users.columns.deletedAt.forAdmins() };

/** The column of accounts with the language of the request that created them, for apps with more than one language. */
export const languageColumns = { signUpLanguage: column.text(35).exact().internal().nullable().exported() };

/** Columns that the app or a plugin adds to a table of the core. */
export interface AddedColumns extends Pick<Defined, 'by' | 'fix'> {
  readonly columns: Columns;
}

/**
 * Returns the table with additional columns.
 *
 * @param ours the core's columns that are declared in another way, such as {@link closedColumns}
 * @throws TypeError if two columns have the same name, which names the owners of both
 */
export function usersWith(ours: Columns, added: readonly AddedColumns[]): TableDeclaration<UserColumns> {
  return { ...users, columns: joined(users.name, { ...users.columns, ...ours }, added) as UserColumns };
}

/** @throws TypeError if two columns have the same name, which names the owners of both */
function joined(table: string, ours: Columns, added: readonly AddedColumns[]): Columns {
  const all = [{ by: callOf(CORE), columns: ours }, ...added];
  requireOneOwner(all.map(({ columns, ...owner }) => ({ ...owner, names: namesOf(table, columns) })));
  return Object.assign({}, ...all.map(({ columns }) => columns));
}

/** The names of columns of a table in JSON and in the database, which usually are the same. */
function namesOf(table: string, columns: Columns): string[] {
  return Object.entries(columns).flatMap(([attribute, column]) =>
    [...new Set([snakeCase(attribute), columnName(attribute, column)])].map(
      (name) => `the column ${name} of ${table}`,
    ),
  );
}

export const sessions = declareTable({
  name: 'sessions',
  ofUser: 'sessions',
  exported: { as: 'sessions', by: 'userId' },
  columns: {
    /** A UUID, version 7. It identifies the session in lists and is not a credential. */
    id: column.uuid().onWire(),
    /** The id of the session's user. */
    userId: column.uuid().onWire(),
    tokenHash: column.digest().internal(),
    authEpoch: column.integer().internal().notExported('It is a counter of latchkey.'),
    /** Whether the cookie is kept when the browser is closed (`remember_me`). */
    remembered: column.boolean().internal().exported(),
    /** The time of the sign-in. */
    createdAt: column.time().onWire(),
    /** The time when the user last authenticated: at sign-in, or by reauthenticating later. */
    authenticatedAt: column.time().exported(),
    /** The time of the last request. It is updated at most once per `touchInterval`, and up to a second later. */
    lastActiveAt: column.time().onWire(),
    /** The latest time at which the session ends. It ends earlier if it is idle for longer than `idleTimeout`. */
    expiresAt: column.time().onWire({
      description: 'The latest time at which the session ends. It ends earlier if it is idle for too long.',
    }),
    /** The client's IP address at sign-in, if known. */
    ipAddress: column.text(45).onWire().nullable(),
    /** The client's user agent at sign-in, if known. */
    userAgent: column.text(255).onWire().nullable(),
    /** The hash of the token that the browser had before: of this session, or of a session before the sign-in. */
    replacedTokenHash: column.digest().internal().nullable(),
    tokenIssuedAt: column.time().internal().nullable().notExported('It describes a token, which is secret.'),
    /** The authenticator assurance level: 2 with a second factor or a passkey, otherwise 1 (NIST SP 800-63B-4). */
    aal: column
      .integer()
      .default(1)
      .exported()
      .described('2 if the session is verified with two factors or a passkey, otherwise 1'),
    /** How the user authenticated, such as `pwd`, `otp` and `mfa` (RFC 8176). */
    amr: column
      .words(100)
      .default('')
      .exported()
      .described('How the user authenticated, such as pwd (RFC 8176)'),
    /** Whether it continues a session of a previous system, so that its user has not signed in here. */
    takenOver: column.boolean().internal().nullable().exported(),
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

/** A session of a user. It does not contain the token, because only a hash of the token is stored. */
export interface Session extends ShownOf<SessionColumns> {
  /**
   * The names of what its user must do before it can be used, in this order. Set on the session of a request, if the config
   * has `tasks`.
   * @default absent
   */
  readonly tasks?: readonly string[];
  /**
   * The id of the administrator who acts as the user in this session. Null in the user's own sessions.
   * @default absent, without `admin({ actAs })`
   */
  readonly actorId?: string | null;
}

/** What plugins add to sessions. */
export interface AddedToSessions extends AddedColumns {
  readonly indexes: NonNullable<TableDeclaration['indexes']>;
}

/**
 * Returns the table with the columns and indexes of plugins.
 *
 * @throws TypeError if two columns have the same name, which names the owners of both
 */
export function sessionsWith(added: readonly AddedToSessions[]): TableDeclaration<SessionColumns> {
  return {
    ...sessions,
    columns: joined(sessions.name, sessions.columns, added) as SessionColumns,
    indexes: Object.assign({}, sessions.indexes, ...added.map(({ indexes }) => indexes)),
  };
}

export const devices = declareTable({
  name: 'known_devices',
  ofUser: 'devices',
  exported: { as: 'devices', by: 'userId' },
  columns: {
    /** A UUID, version 7. */
    id: column.uuid().exported(),
    userId: column.uuid().exported(),
    /** The hash of the first token that the browser got for this account. Its later tokens are in `known_device_tokens`. */
    tokenHash: column.digest().internal(),
    /** The time after which the first token is no longer accepted. Null until the browser gets another one. */
    tokenUntil: column.time().internal().nullable().notExported('It describes a token, which is secret.'),
    /** The browser and its system in words, such as "Firefox on Windows". Null if nothing is known. */
    name: column.text(64).nullable().exported(),
    /** The time of this account's first sign-in in this browser. */
    createdAt: column.time().exported(),
    /** The time of this account's last sign-in in this browser. */
    lastUsedAt: column.time().exported(),
    /**
     * The time when the device was forgotten, such as because of a new password. Until then it was a device of the
     * account, so it can prove who undoes a change.
     */
    forgottenAt: column.time().nullable().exported(),
    /** Whether an undo made the account forget the device. Then it proves nothing about later changes. */
    dropped: column.boolean().internal().nullable().exported(),
    /** The hash of the token in the notice about this new device. */
    undoTokenHash: column.digest().internal().nullable(),
    /** Whether it is unused, and only kept because it is the account's newest. Null if that is not known yet. */
    kept: column.boolean().internal().nullable().notExported('It only says when latchkey deletes the row.'),
    /** The time until which the device stands in for the second factor: see `trustDevices`. Null if the user does not trust it. */
    trustedUntil: column.time().nullable().exported(),
    /** The user's epoch at that sign-in. Once it is raised, the device is no longer trusted. */
    trustedEpoch: column.integer().internal().nullable().notExported('It is a counter of latchkey.'),
  },
  unique: { tokenHash: ['tokenHash', 'userId'] },
  foreignKeys: { userId: users },
  indexes: {
    userId: ['userId', 'lastUsedAt'],
    undoTokenHash: ['undoTokenHash'],
    // With these indexes, pruning reads neither kept devices nor devices that were not forgotten.
    unused: ['kept', 'lastUsedAt'],
    forgotten: ['kept', 'forgottenAt'],
  },
});

export type DeviceColumns = typeof devices.columns;

export const deviceTokens = declareTable({
  name: 'known_device_tokens',
  exported: 'Its rows are hashes of the tokens of devices, and the devices are exported.',
  columns: {
    /** A UUID, version 7. */
    id: column.uuid(),
    /** A device in the browser that has the token. Each account that signed in there has one. */
    deviceId: column.uuid(),
    tokenHash: column.digest().internal(),
    /** The time after which the token is no longer accepted. Null until the browser gets another one. */
    expiresAt: column.time().nullable(),
  },
  unique: { tokenHash: ['tokenHash', 'deviceId'] },
  foreignKeys: { deviceId: devices },
  indexes: { deviceId: ['deviceId'], expiresAt: ['expiresAt'] },
});

export type DeviceTokenColumns = typeof deviceTokens.columns;

/**
 * Browsers in which an account was made, or access to its mailbox was proven, in the last 24 hours. They are not yet
 * devices of the account.
 */
export const recentBrowsers = declareTable({
  name: 'recent_browsers',
  exported: 'Its rows are hashes of the cookies of browsers, and expire after 24 hours.',
  columns: {
    /** A UUID, version 7. */
    id: column.uuid(),
    /** The account. Null after a sign-up that has made none, because the email was taken. */
    userId: column.uuid().nullable(),
    /** The hash of a value of the browser's device cookie. */
    tokenHash: column.digest().internal(),
    /** Whether the account was made in the browser. Otherwise, access to its mailbox was proven there. */
    madeThere: column.boolean(),
    expiresAt: column.time(),
  },
  foreignKeys: { userId: users },
  indexes: { userId: ['userId'], tokenHash: ['tokenHash'], expiresAt: ['expiresAt'] },
});

export type RecentBrowserColumns = typeof recentBrowsers.columns;

/** How long the outbox retries an entry. */
export const GIVE_UP_MS = 3 * 24 * 60 * 60 * 1000;

export const oneTimeTokens = defineWaiting({
  name: 'one_time_tokens',
  hangsOn: 'mailbox',
  exported: { as: 'emailed_links', by: 'userId' },
  columns: {
    tokenHash: column.digest().internal(),
    purpose: column.text(32).exact().exported(),
  },
  foreignKeys: { userId: users },
  // An email with the token might still be waiting to be sent, and then restarts the lifetime.
  pruneAfterMs: GIVE_UP_MS,
});

export type TokenColumns = typeof oneTimeTokens.columns;

export const accountChanges = declareTable({
  name: 'account_changes',
  exported: { as: 'account_changes', by: 'userId' },
  columns: {
    /** A UUID, version 7. */
    id: column.uuid().exported(),
    userId: column.uuid().exported(),
    /** The kind of the notice about the change. */
    kind: column.text(32).exported(),
    /** The hash of the token that undoes the change. Null if no link can undo it. */
    tokenHash: column.digest().internal().nullable(),
    /** The email that the change removed. It counts as taken until the change can no longer be undone. */
    email: column.text(254).exact().nullable().exported(),
    /** The account's state before the change, encrypted. Null for events that change nothing, such as a sign-in. */
    state: column.hugeText().secret().nullable(),
    createdAt: column.time().exported(),
    /** The time after which the change can no longer be undone. The row is kept for longer, for the user's list. */
    expiresAt: column.time().exported(),
    /** Whether the change can no longer be undone, so that the token, email and state are deleted. Null if it can. */
    ended: column.boolean().internal().nullable().exported(),
    /** The device of the change in words. Null if the app made the change, or if nothing is known. */
    device: column.text(64).nullable().exported(),
    /** The IP address of the change. Null if the app made the change, or if it is unknown. */
    ipAddress: column.text(45).nullable().exported(),
  },
  unique: { tokenHash: ['tokenHash'] },
  foreignKeys: { userId: users },
  indexes: {
    userId: ['userId', 'createdAt'],
    email: ['email'],
    expiresAt: ['expiresAt'],
    // With this index, pruning does not read the changes that have ended already.
    ended: ['ended', 'expiresAt'],
  },
});

export type AccountChangeColumns = typeof accountChanges.columns;

export const carriedSessions = declareTable({
  name: 'carried_sessions',
  exported:
    'Its rows are hashes and encrypted ids of sessions of a previous system. The sessions that replaced them are exported.',
  columns: {
    /** The hash of a previous system's session id. Once it has a row, the id only grants access to the new session. */
    oldHash: column.digest().internal(),
    /** The hash of the new session's token. Null if the previous system's session was ended instead of taken over. */
    tokenHash: column.digest().internal().nullable(),
    /** The encrypted token, for a browser that did not get the response. Null once the browser has sent it. */
    sealedToken: column.longText().secret().nullable(),
    /** The time when the browser first sent the token. */
    usedAt: column.time().nullable(),
    createdAt: column.time(),
    /** The time after which the previous system's session can no longer be active. */
    expiresAt: column.time(),
    /**
     * The session beside which the previous system's session continues. Null if that one was ended. It is not a foreign
     * key, because the row outlives the session.
     */
    sessionId: column.uuid().internal().nullable(),
    /** The user's epoch when the two sessions were linked. Once it is raised, the session here continues by itself. */
    authEpoch: column.integer().internal().nullable(),
    /** The encrypted id of the previous system's session, as long as it continues. */
    sealedId: column.longText().secret().nullable(),
  },
  indexes: { expiresAt: ['expiresAt'], sessionId: ['sessionId'] },
});

export type CarriedSessionColumns = typeof carriedSessions.columns;

export const importedUsers = declareTable({
  name: 'imported_users',
  exported: { as: 'imports', by: 'userId' },
  columns: {
    /** A UUID, version 7. */
    id: column.uuid().exported(),
    /** The system that the row came from: the name of the importer, or `rows`; `ensure` for `auth.users.ensure`. */
    source: column.text(64).exact().exported(),
    /** The HMAC of the ref, with the key of `import_keys`. It is all that is left of the row once the account is deleted. */
    refHash: column.digest().internal(),
    /** The user's identifier in that system. Null once the account is deleted. */
    ref: column.longText().nullable().exported(),
    /** Whether the ref was a number. Null once the account is deleted. */
    isNumber: column.boolean().internal().nullable().notExported('It only says how the ref was written.'),
    /** The id of the account. Null once the account is deleted, and for a row that is not about a user. */
    userId: column.uuid().nullable().exported(),
    /** The keys of the row whose values were changed here since the import. */
    changed: column.words(255).internal().default('').exported(),
    /** Hashes of the row's values when it was last applied, as JSON by key. Null if they are not known. */
    stamps: column.longText().secret().nullable(),
    createdAt: column.time().exported(),
  },
  unique: { ref: ['refHash', 'source'] },
  indexes: { userId: ['userId'], source: ['source', 'id'] },
});

export type ImportedUserColumns = typeof importedUsers.columns;

/** What a sign-in waits for. */
export type SignInStep = 'second_factor' | 'email_code';

/** Sign-ins that are waiting for a further step. They are not sessions, and do not authenticate requests. */
export const unfinishedSignIns = defineWaiting({
  name: 'unfinished_sign_ins',
  hangsOn: 'epoch',
  lifetimeMs: 10 * 60 * 1000,
  // Of emailed codes. Attempts of second factors are counted for the account: see `factors/attempts.ts`.
  tries: 5,
  exported: { as: 'pending_sign_ins', by: 'userId' },
  columns: {
    hash: column.digest().internal().named('token_hash'),
    /** Random, for the emailed code. Null if no code was emailed. */
    salt: column.digest().internal().nullable().notExported('It is a part of emailed codes.'),
    remembered: column.boolean().exported(),
    /** How the user authenticated with the first step. */
    amr: column.words(100).exported(),
    /** The counter of failures of the first step, which the completed sign-in clears. Null if there is no counter. */
    attempts: column.text(320).internal().nullable().notExported('It is the key of a rate limit.'),
    /** The step that it waits for: `second_factor`, or `email_code` for a code that was emailed to the account. */
    step: column.text<SignInStep>(16).exact().exported(),
    /** The client's IP address at the first step, if known. */
    ipAddress: column.text(45).internal().nullable().exported(),
    /** The client's user agent at the first step, if known. */
    userAgent: column.text(255).internal().nullable().exported(),
    /** The number of times that the code was emailed again. */
    resends: column.integer().internal().default(0).exported(),
    /** The time when the code was last mailed. Null until then, and no code is right. */
    sentAt: column.time().internal().nullable().exported(),
    /** The address whose mailbox the first step has proven, once the sign-in is complete. Null if it proves none. */
    provesEmail: column.text(254).exact().internal().nullable().exported(),
    /** Whether the first step was taken in a browser of the account, so that the proof removes nothing from it. */
    isOwn: column.boolean().internal().nullable().exported(),
  },
  foreignKeys: { userId: users },
});

export const importKeys = declareTable({
  name: 'import_keys',
  exported: 'It contains a single key, which belongs to no user.',
  columns: {
    /** A UUID, the same one in every database, because there is only one key. */
    id: column.uuid(),
    /** The random key of the hashes in `imported_users`, encrypted. It stays the same when secrets are rotated. */
    sealedKey: column.longText().secret(),
  },
});

export type ImportKeyColumns = typeof importKeys.columns;

export const outboxEntries = declareTable({
  name: 'outbox',
  exported: 'Its rows name no account. Their content is encrypted, and deleted once it is sent.',
  columns: {
    /** A UUID, version 7. */
    id: column.uuid(),
    /** The target of the entry. Entries of one lane do not delay entries of other lanes. */
    lane: column.text(64).exact(),
    /** The kind of an email, or the name of an event. */
    kind: column.text(64),
    /** `waiting`, `held`, `sent`, `dropped` or `failed`. */
    state: column.text(16).exact(),
    /** The content to send, encrypted. Null once it is sent. */
    content: column.hugeText().secret().nullable(),
    /** The number of attempts that were started. */
    attempts: column.integer(),
    /** The reason why the last attempt failed, without details that could be secret. Null during an attempt. */
    lastError: column.text(255).nullable(),
    createdAt: column.time(),
    /**
     * The time of the next attempt. Until then, only the process that is sending the entry has it. Null once done, and
     * while it is held.
     */
    dueAt: column.time().nullable(),
    /** The time after which it is no longer retried. */
    giveUpAt: column.time(),
    /** The time when it was sent, dropped or given up. Null until then. */
    finishedAt: column.time().nullable(),
    /** The time after which it is deleted. */
    expiresAt: column.time(),
  },
  indexes: { dueAt: ['lane', 'dueAt'], state: ['state', 'id'], expiresAt: ['expiresAt'] },
});

export type OutboxColumns = typeof outboxEntries.columns;

export const rateLimits = declareTable({
  name: 'rate_limits',
  exported: 'Its keys are hashes, so that it contains no personal data.',
  columns: {
    /** A hash of the key that is counted, so that the table does not contain personal data. */
    keyHash: column.digest().internal(),
    hits: column.integer(),
    blockedUntil: column.time().nullable(),
    expiresAt: column.time(),
    /** Whether an event has reported the current pause. */
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
  /** Browsers that an account has signed in with. */
  Device: devices,
  /** The tokens that these browsers have got later. */
  DeviceToken: deviceTokens,
  /** Browsers in which an account was made, or its mailbox proven, in the last 24 hours. */
  RecentBrowser: recentBrowsers,
  /** Changes of accounts that can be undone. */
  AccountChange: accountChanges,
  /** Emailed tokens. */
  OneTimeToken: oneTimeTokens,
  /** Sign-ins that are waiting for a further step. */
  UnfinishedSignIn: unfinishedSignIns,
  /** Sessions of previous systems that have been taken over. */
  CarriedSession: carriedSessions,
  /** The rows of imports, and their accounts. */
  ImportedUser: importedUsers,
  /** The key of their hashes. */
  ImportKey: importKeys,
  /** Emails and webhooks that will be sent, and recently sent ones. */
  OutboxEntry: outboxEntries,
  /** Counters of the rate limits, unless they are in Redis. */
  RateLimit: rateLimits,
} as const;

/** The Sequelize models of the core's tables. */
export type CoreModels = { readonly [Name in keyof typeof coreTables]: ModelOf<(typeof coreTables)[Name]> };

/**
 * Returns the tables of the core and of plugins, by the names of their models.
 *
 * @param extended the tables with additional columns
 * @throws TypeError if two of them have the same name, or if their indexes, models or exported rows do
 */
export function withCoreTables(
  extended: Pick<typeof coreTables, 'User' | 'Session'>,
  plugins: readonly (Owner & { readonly tables?: Readonly<Record<string, TableDeclaration>> })[],
): typeof coreTables {
  const all = [
    { by: callOf(CORE), tables: coreTables },
    ...plugins.map(({ tables = {}, ...plugin }) => ({ by: callOf(plugin), tables })),
  ];
  requireOneOwner(all.map(({ by, tables }) => ({ by, names: Object.entries(tables).flatMap(namesOfTable) })));
  return Object.assign({}, coreTables, extended, ...plugins.map(({ tables }) => tables));
}

function namesOfTable([model, table]: [string, TableDeclaration]): string[] {
  const { ofUser, exported } = table;
  return [
    `the model ${model}`,
    ...namesIn(table).map((name) => `the table or index ${name}`),
    ...(ofUser === undefined ? [] : [`the association ${ofUser} of User`]),
    ...(typeof exported === 'string' ? [] : [`the key ${exported.as} of exports`]),
  ];
}
