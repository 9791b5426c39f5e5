import type { RowOf } from '../tables/column.js';
import type { User, UserColumns } from '../tables/user.js';
import type { AppRow } from './app-model.js';

/** A user with all columns that are not secret, those of plugins included. */
export type AccountRow = User & Readonly<Record<string, unknown>>;

/** A user with all columns. */
export type WholeUser = RowOf<UserColumns> & Readonly<Record<string, unknown>>;

/** A user with what only administrators see of them: fields with `output: 'admin'`, and whether they are suspended. */
export type UserForAdmins = User & Readonly<Record<string, unknown>>;

/** A user with the data that sign-in needs. Never leaves latchkey. */
export interface UserRecord {
  readonly user: User;
  /** The user with all columns that are not secret: those of plugins too. */
  readonly account: AccountRow;
  /** The app's row. Null if there is no model for them, or no row in the model's scope. */
  readonly row: AppRow | null;
  readonly passwordHash: string | null;
  readonly authEpoch: number;
  /** Whether a person has shown access to the mailbox of the email. */
  readonly isMailboxProved: boolean;
}

/**
 * Who showed that an email is the user's: a person with access to its mailbox, or only the app, which may be mistaken
 * about whose account it is.
 */
export type EmailProof = 'mailbox' | 'app';

export interface NewUser {
  /** In canonical form. */
  readonly email: string | null;
  readonly username: string | null;
  readonly passwordHash: string | null;
  /** @default null: the email is not verified */
  readonly emailProof?: EmailProof | null;
  /** @default a new one */
  readonly id?: string | undefined;
  /** @default now */
  readonly createdAt?: Date | undefined;
  /** The values of plugins' columns. @default null in each */
  readonly columns?: Readonly<Record<string, unknown>> | undefined;
}

/** Identifies an account; emails and usernames are in canonical form. */
export type Identifier = { id: string } | { email: string } | { username: string };
