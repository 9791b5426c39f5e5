import type { TransactionOption } from '../sessions/client-input.js';

/**
 * Verifies a password against a hash of another system's. Anything but `true` refuses it.
 *
 * @param stored the hash as it was given to the import
 */
export type LegacyVerifier = (password: string, stored: string) => boolean | Promise<boolean>;

/** Verifiers by the name of their scheme: 1 to 32 of `a-z`, digits, `_` and `-`, with a letter first. */
export type LegacyVerifiers = Readonly<Record<string, LegacyVerifier>>;

/** A user of another system, for `auth.importUsers`. Plugins add what they take. */
export interface ImportRow {
  /**
   * What identifies the user in the other system. It comes back in the report, beside the account's id. With `user.model`,
   * it is the primary key of the app's row that the account belongs to.
   * @default none: the report names the row's index
   */
  ref?: string | number | bigint | null | undefined;
  /** The account's id, a UUID. @default one that is derived from the row */
  id?: string | null | undefined;
  /** The email address. It is stored in canonical form. @default none, for a user with a username or provider */
  email?: string | null | undefined;
  /** Whether the other system verified the email. @default false */
  emailVerified?: boolean | null | undefined;
  /** The username, if users can have one. @default none */
  username?: string | null | undefined;
  /**
   * The password's hash, in one of the supported formats or one of `verifyLegacy`.
   * @default none, for a user without a password
   */
  passwordHash?: string | null | undefined;
  /** When the account was created: a Date, or a full ISO 8601 time. @default now */
  createdAt?: Date | string | null | undefined;
  /** The values of the app's fields. They are not used for a row of the app that exists. @default their defaults */
  fields?: Readonly<Record<string, unknown>> | null | undefined;
}

/** Options of `auth.importUsers`. */
export interface ImportUsersOptions extends TransactionOption {
  /** Called after each batch; the import waits for what it returns. @default none */
  onProgress?: ((progress: ImportProgress) => unknown) | undefined;
  /** Does everything, and rolls each batch back. Hooks run too. @default false */
  dryRun?: boolean | undefined;
  /**
   * How to verify hashes in formats that latchkey does not know. A hash in no known format has the one scheme that is
   * named here; if there are several, rows name theirs: `$legacy$<name>$<hash>`. The server needs the same functions, in
   * `credentialPassword({ verifyLegacy })`, to sign these users in.
   * @default those of the config
   */
  verifyLegacy?: LegacyVerifiers | undefined;
}

/** How far an import is. */
export interface ImportProgress {
  /** The number of rows that have been read. */
  readonly rows: number;
  /** Those that have an account now, also from an earlier run. */
  readonly imported: number;
  /** Those that were skipped. */
  readonly skipped: number;
}

/** The result of an import. */
export interface ImportReport {
  /** The accounts of the rows, in their order: those that this run made, and those that were there from an earlier run. */
  readonly users: readonly ImportedAccount[];
  /** The rows that have no account, in their order, and why. */
  readonly skipped: readonly SkippedRow[];
}

/** The account of a row. */
export interface ImportedAccount {
  /** The row's `ref`; its index if it has none. */
  readonly ref: string | number | bigint;
  /** The account's id. */
  readonly id: string;
}

/** A row that was not imported. */
export interface SkippedRow {
  /** The row's `ref`; its index if it has none. */
  readonly ref: string | number | bigint;
  /** A machine-readable code, such as `email_taken`. */
  readonly code: string;
  /** What is wrong, in words. */
  readonly detail: string;
}

/** Why a row is not imported. */
export interface Refusal {
  readonly code: string;
  readonly detail: string;
}
