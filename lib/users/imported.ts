import type { Transaction } from 'sequelize';
import type { AuthError } from '../errors.js';
import type { UserRecord } from './record.js';

// The previous system's clock might be ahead.
const DAY_MS = 24 * 60 * 60 * 1000;

/** Whether an imported account can have been created at this time. A row with another time is not imported. */
export function isCreationTime(time: Date, now: number): boolean {
  return time.getTime() >= 0 && time.getTime() <= now + DAY_MS;
}

/**
 * Verifies a password against another system's hash. Any result but `true` rejects the password.
 *
 * @param stored the hash as it was passed to the import
 */
export type LegacyVerifier = (password: string, stored: string) => boolean | Promise<boolean>;

/** Verifiers by the name of their scheme: 1 to 32 of `a-z`, digits, `_` and `-`, with a letter first. */
export type LegacyVerifiers = Readonly<Record<string, LegacyVerifier>>;

/** A user of another system, for `auth.movingIn.importUsers`. Plugins add the keys that they accept. */
export interface ImportRow {
  /**
   * The user's identifier in the other system. The report contains it, along with the account's id. With `user.model`,
   * it is the primary key of the app's row that the account belongs to.
   * @default none: the report names the row's index
   */
  ref?: string | number | bigint | null | undefined;
  /** The account's id, a UUID. @default one that is derived from the row */
  id?: string | null | undefined;
  /** The email address. It is stored in canonical form. @default none, for a user with a username or provider */
  email?: string | null | undefined;
  /**
   * True if the other system has verified the address with an email that the user responded to; `app` if the address is
   * known to be the user's for another reason, such as a contract or a provider's statement.
   * @default false
   */
  emailVerified?: boolean | 'app' | null | undefined;
  /** The username, if users can have one. Its letters are kept in `usernameDisplay`. @default none */
  username?: string | null | undefined;
  /**
   * The username with the letters to show, such as `Ada` for `ada`, if the other system stores both forms. Ignored if
   * it is not a spelling of the username.
   * @default `username`
   */
  usernameDisplay?: string | null | undefined;
  /**
   * The password's hash, in one of the supported formats or one of `verifyLegacy`.
   * @default none, for a user without a password
   */
  passwordHash?: string | null | undefined;
  /** When the account was created: a Date, or a full ISO 8601 time. @default now */
  createdAt?: Date | string | null | undefined;
  /** The values of the app's fields. They are not written to an existing row of the app. @default their defaults */
  fields?: Readonly<Record<string, unknown>> | null | undefined;
}

/** The reason why a row is not imported. */
export interface Refusal {
  readonly code: string;
  readonly detail: string;
  /** The id of the account that has the row's email or username, if it is known. */
  readonly holder?: string | undefined;
}

/** The values of a row, or of an account, as strings that compare equal, by the key of the row. */
export type RowValues = Readonly<Record<string, string>>;

/** The part of an import's rows that a plugin reads. Its keys are declared with `declareRowKeys`. */
export interface RowReader<Value = unknown> {
  /** The keys of a row that it reads. */
  readonly keys: readonly (keyof ImportRow)[];
  /**
   * Reads a row in which at least one of the keys has a value.
   *
   * @param lose reports a part that is skipped, so that the rest of the row is imported
   * @returns null if there is nothing to write
   * @throws AuthError `validation_failed`, whose first error says why the row is skipped
   */
  read(row: ImportRow, lose: (why: AuthError) => void): Promise<Value | null>;
  /** Whether a user can sign in with this part, without an email and username. @default false */
  readonly isWayIn?: boolean;
  /** Returns the values of the columns that the plugin adds to users. */
  columnsOf?(value: Value): Readonly<Record<string, unknown>>;
  /** Returns the identities that only one user can have, as keys that compare equal. */
  identitiesOf?(value: Value): readonly string[];
  /** Returns the identities that existing users have. */
  takenAmong?(values: readonly Value[], transaction: Transaction): Promise<readonly string[]>;
  /** The reason to skip a row whose identity is taken. */
  readonly taken?: Refusal;
  /** Writes the values of new users. */
  write?(values: ReadonlyMap<string, Value>, transaction: Transaction): Promise<void>;
  /** Returns the value as strings that compare equal, by the keys of the row. A key without a value is omitted. */
  valuesOf(value: Value): RowValues;
  /** Returns the current values of an account, in the form of `valuesOf`. The user's row is locked. */
  valuesNow(record: UserRecord, transaction: Transaction): Promise<RowValues>;
  /**
   * Updates an existing account to match its row. The user's row is locked.
   *
   * @param value null if the row has no value
   */
  replace(record: UserRecord, value: Value | null, transaction: Transaction): Promise<void>;
}

/** A plugin that reads parts of an import's rows. */
export interface ReadsRows {
  /** The parts that it reads. */
  readonly rowReaders?: readonly RowReader[];
}

const rowKeys = new Map<string, RowKeySwitch>();

/** How to enable a key of an import's rows. */
export interface RowKeySwitch {
  readonly how: string;
  /** Whether a user is imported without the key if it is not enabled. The report then lists the key as skipped. */
  readonly isOptional: boolean;
}

/** Registers how to enable keys of an import's rows, for error messages. Called when the plugin's module is loaded. */
export function declareRowKeys(keys: readonly (keyof ImportRow)[], how: string, isOptional = false): void {
  for (const key of keys) rowKeys.set(key, { how, isOptional });
}

/** The keys that plugins read from the rows of an import, and how to enable them. */
export const switchesOfRowKeys: ReadonlyMap<string, RowKeySwitch> = rowKeys;

/** The attributes of users that rows have too, and their keys in rows. */
const OWN_KEYS: Readonly<Record<string, string>> = {
  email: 'email',
  username: 'username',
  passwordHash: 'passwordHash',
  deletedAt: 'id',
};

/**
 * Returns the keys of rows that contain what has changed in an account.
 *
 * @param changed the attributes of the user, and the parts of the account in the tables of plugins
 */
export function rowKeysOf(plugins: readonly ReadsRows[], changed: readonly string[]): readonly string[] {
  const ofParts: readonly string[] = plugins
    .flatMap(({ rowReaders = [] }) => rowReaders)
    .flatMap(({ keys }) => keys);
  return changed.flatMap((name) => OWN_KEYS[name] ?? (ofParts.includes(name) ? name : []));
}
