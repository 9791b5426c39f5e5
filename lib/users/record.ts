import type { Transaction } from 'sequelize';
import type { Database } from '../database/database.js';
import type { Replacements } from '../database/statements.js';
import type { AuthErrorCode } from '../errors.js';
import type { RowOf } from '../tables/column.js';
import type { User, UserColumns } from '../tables/core.js';
import { listOf, type Selected } from '../tables/packed.js';
import type { Selection, Table } from '../tables/table.js';
import type { EmailProof } from './email-proof.js';
import type { Fields } from './fields.js';
import type { AppRow } from './row-source.js';
import type { AppRows } from './rows.js';

/**
 * An id that no user has. It is looked up in place of an account that does not exist, so that the statement is the same
 * for both.
 */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

/** A user with all columns that are not secret, including the columns of plugins. */
export type AccountRow = User & Readonly<Record<string, unknown>>;

/** A user with all columns. */
export type WholeUser = RowOf<UserColumns> & Readonly<Record<string, unknown>>;

/** A user with the data that only administrators can see: fields with `output: 'admin'`, and the suspension. */
export type UserForAdmins = User & Readonly<Record<string, unknown>>;

/** A user with the data that sign-in needs. Never leaves latchkey. */
export interface UserRecord {
  readonly user: User;
  /** The user with all columns that are not secret, including the columns of plugins. */
  readonly account: AccountRow;
  /** The app's row. Null if `user.model` is not set, or if the model's scope does not contain the row. */
  readonly row: AppRow | null;
  readonly passwordHash: string | null;
  readonly authEpoch: number;
  /** The proof that the email belongs to the user. */
  readonly emailProof: EmailProof;
  /** Whether the user has ever proved access to the mailbox of this email or of an earlier one. */
  readonly hasProvedMailbox: boolean;
  /** Whether anyone has ever vouched for this email or for an earlier one of the account. */
  readonly wasVouchedFor: boolean;
  /** When the email was last changed. Null if the account was created with it. */
  readonly emailChangedAt: Date | null;
}

export interface NewUser {
  /** In canonical form. */
  readonly email: string | null;
  readonly username: string | null;
  /** The username with the letters that were typed. @default the same as `username` */
  readonly usernameDisplay?: string | null;
  readonly passwordHash: string | null;
  /** @default none: the email is not verified */
  readonly emailProof?: EmailProof;
  /** @default a new one */
  readonly id?: string | undefined;
  /** @default now */
  readonly createdAt?: Date | undefined;
  /** When the account was imported. @default null: it was not */
  readonly importedAt?: Date | null;
  /** The values of plugins' columns. @default null in each */
  readonly columns?: Readonly<Record<string, unknown>> | undefined;
}

/** Identifies an account; emails and usernames are in canonical form. */
export type Identifier = { id: string } | { email: string } | { username: string };

/** Selected columns of users with the alias `u`, together with their fields, wherever these are stored. */
export interface UserSelection<U>
  extends Pick<Selection<U>, 'selected' | 'columns' | 'names' | 'from' | 'read' | 'pick' | 'select'> {
  /** Prepares statements with {@link from}. Await it before each of them. Undefined if there is nothing to prepare. */
  readonly ready?: (transaction?: Transaction) => Promise<unknown>;
  /**
   * Whether a user that was read can use their account. Undefined if every user can.
   *
   * @throws AuthError `unavailable` if the account has no row in the table of `user.model`
   */
  readonly isPresent?: (user: U) => Promise<boolean>;
}

/** The selections of users, by the audience of the result. */
export interface UserSelections {
  /** As the user sees them. */
  readonly shown: UserSelection<User>;
  readonly forAdmins: UserSelection<UserForAdmins>;
  /** Without secrets. */
  readonly account: UserSelection<AccountRow>;
  readonly whole: UserSelection<WholeUser>;
}

/**
 * @param rows the app's rows with the fields. Null if the fields are columns of users
 * @param fields the names of the fields that each selection includes, if they are in the app's rows
 */
export function userSelections(
  database: Database,
  table: Table<UserColumns>,
  rows: AppRows | null,
  fields: Pick<Fields, 'shown' | 'forAdmins' | 'names'>,
): UserSelections {
  const of = <U extends Identified>(selection: Selection<unknown>, names: readonly string[]) =>
    rows
      ? new JoinedSelection<U>(database, selection as Selection<U>, rows, names)
      : (selection as Selection<U>);
  return {
    shown: of(table.shown('u'), fields.shown),
    forAdmins: of(table.forAdmins('u'), fields.forAdmins),
    account: of(table.withoutSecrets('u'), fields.names),
    whole: of(table.whole('u'), fields.names),
  };
}

interface Identified {
  readonly id: string;
}

/** Users with the app's rows, joined in one statement. */
class JoinedSelection<U extends Identified> implements UserSelection<U> {
  #built: { readonly ofRows: readonly Selected[]; readonly all: readonly Selected[] } | undefined;

  constructor(
    private readonly database: Database,
    private readonly users: Selection<U>,
    private readonly rows: AppRows,
    private readonly fields: readonly string[],
  ) {}

  get selected(): readonly Selected[] {
    const ofRows = this.rows.selected;
    if (this.#built?.ofRows !== ofRows) this.#built = { ofRows, all: [...this.users.selected, ...ofRows] };
    return this.#built.all;
  }

  get columns(): string {
    return listOf(this.selected);
  }

  get names(): readonly string[] {
    return this.selected.map(({ name }) => name);
  }

  get from(): string {
    return `(${this.users.from} LEFT JOIN ${this.rows.from} ON r.r_key = u.id)`;
  }

  ready(transaction?: Transaction): Promise<unknown> {
    return this.rows.ready(transaction);
  }

  read(raw: object): U {
    const row = this.rows.read(raw);
    return this.rows.remember(this.#merge(this.users.read(raw), this.rows.fieldsOf(row)), row);
  }

  pick(user: object): U {
    const values = user as Readonly<Record<string, unknown>>;
    return this.rows.remember(this.#merge(this.users.pick(user), values), this.rows.rowOf(user));
  }

  async select(rest: string, replacements?: Replacements, transaction?: Transaction): Promise<U[]> {
    await this.ready(transaction);
    const sql = `SELECT ${this.columns} FROM ${this.from} ${rest}`;
    const raws = await this.database.read<object>(sql, this.names, replacements, transaction);
    return raws.map((raw) => this.read(raw));
  }

  async isPresent(user: U): Promise<boolean> {
    const row = this.rows.rowOf(user);
    if (!row) return this.rows.explainAbsence(user.id);
    if (await this.rows.found(row)) Object.assign(user, this.#merge(user, this.rows.fieldsOf(row)));
    return true;
  }

  #merge(user: U, values: Readonly<Record<string, unknown>>): U {
    return { ...user, ...Object.fromEntries(this.fields.map((name) => [name, values[name] ?? null])) };
  }
}

/** Whether an account needs a new password, because the app or an administrator has required it. */
export function needsNewPassword({
  newPasswordRequiredAt = null,
}: Partial<Pick<User, 'newPasswordRequiredAt'>>): boolean {
  return newPasswordRequiredAt !== null;
}

/** A plugin that decides whether an account can be used. */
export interface ChecksAccounts {
  /**
   * Rejects a user who is about to use the account, such as the owner of a suspended one, by throwing an AuthError: after
   * an authentication, in `core.change`, and when an emailed token is redeemed. The account includes the columns that the
   * plugin adds to users.
   */
  checkAccount?(account: AccountRow): void;
  /** The problems that `checkAccount` throws, for the OpenAPI document. */
  readonly accountProblems?: readonly AuthErrorCode[];
}

/**
 * Rejects a user who has just authenticated, if a plugin's check rejects the account, such as a suspended one. Every
 * sign-in method calls it after the proof, never before.
 *
 * @throws AuthError such as `account_suspended`
 */
export function checkAccount(account: AccountRow, plugins: readonly ChecksAccounts[]): void {
  for (const plugin of plugins) plugin.checkAccount?.(account);
}

/** A sign-in method of a user: their password, or a linked account at a provider. */
export interface WayIn {
  readonly kind: string;
  /** Distinguishes several methods of one kind, such as providers. */
  readonly id?: string;
}

/** A plugin with sign-in methods. */
export interface HasWaysIn {
  /** Returns the user's sign-in methods of this plugin. The user's row is locked. */
  waysIn?(record: UserRecord, transaction: Transaction): Promise<readonly WayIn[]>;
}

/** Whether a user can sign in with any method. The user's row is locked. */
export async function hasWayIn(
  record: UserRecord,
  plugins: readonly HasWaysIn[],
  transaction: Transaction,
): Promise<boolean> {
  for (const { waysIn } of plugins) if (((await waysIn?.(record, transaction)) ?? []).length > 0) return true;
  return false;
}
