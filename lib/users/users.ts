import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import { isUuid, uuidv7 } from '../crypto/uuid.js';
import { ClusterLock } from '../database/cluster-lock.js';
import type { Database } from '../database/database.js';
import { violatedUnique } from '../database/faults.js';
import type { Replacements } from '../database/statements.js';
import { AuthError } from '../errors.js';
import type { Languages } from '../locale/languages.js';
import type { Columns, RowOf } from '../tables/column.js';
import {
  type AddedColumns,
  closedColumns,
  languageColumns,
  type User,
  type UserColumns,
  usersWith,
} from '../tables/core.js';
import { hasPasskey } from '../tables/factors.js';
import { Table, type TableDeclaration } from '../tables/table.js';
import { EmailProof } from './email-proof.js';
import { Fields, type FieldValues } from './fields.js';
import { type ReadsRows, rowKeysOf } from './imported.js';
import type { ImportedUsers } from './imported-users.js';
import {
  type AccountRow,
  type Identifier,
  type NewUser,
  type UserForAdmins,
  type UserRecord,
  type UserSelection,
  type UserSelections,
  userSelections,
  type WholeUser,
} from './record.js';
import { type AppRow, checkModel } from './row-source.js';
import { AppRows } from './rows.js';

const SAMPLE = 100;

/** A plugin that announces changes of what users sign in with: see `UndoRules`. */
interface AnnouncesSignInMethods {
  readonly undo?: { readonly announces: readonly string[] };
}

/** A plugin that follows changes of accounts. */
export interface FollowsAccounts {
  /**
   * Called in the transaction of each change of an existing account, which has locked the user's row.
   *
   * @param changed see {@link Users.announceChange}
   */
  onAccountChange?(userId: string, changed: readonly string[], transaction: Transaction): Promise<void>;
}

/** What {@link Users} need. */
interface UsersNeeds {
  readonly database: Database;
  readonly settings: Settings;
  /** The columns that plugins add to users. */
  readonly addedColumns: readonly AddedColumns[];
  /** Whether users are read with `HAS_PASSKEY`. */
  readonly readsPasskeys: boolean;
  readonly languages: Languages;
  readonly imported: ImportedUsers;
  readonly contributions: readonly (ReadsRows & AnnouncesSignInMethods & FollowsAccounts)[];
}

/** Reads and writes users: the table, and the app's rows if there is a model for them. */
export class Users {
  /** The fields that the app adds. */
  readonly fields: Fields;
  /**
   * The table with the columns of plugins. It also has the columns of the fields, unless these are in the app's rows.
   */
  readonly declaration: TableDeclaration<UserColumns>;
  /** The columns of users and the fields, wherever these are stored. */
  readonly columns: Columns;
  readonly table: Table<UserColumns>;
  /** Users with their fields, wherever these are stored. */
  readonly selections: UserSelections;
  /** The app's rows. Null if the fields are columns of the table. */
  readonly rows: AppRows | null;
  readonly #clusterLock: ClusterLock;
  /** The accounts that a transaction has locked or created, and that no import has created. */
  readonly #notImported = new UsersOfTransactions();
  #named: ReadonlySet<string> | undefined;
  /** The users whose sign-in methods a transaction has changed. */
  readonly #changed = new UsersOfTransactions();

  /** @throws TypeError if the app's model cannot hold its users */
  constructor(private readonly core: UsersNeeds) {
    const { database, settings, addedColumns, readsPasskeys } = core;
    const closed = settings.accountDeletion.graceDays > 0 ? closedColumns : {};
    this.fields = new Fields(settings.user.fields);
    this.rows = appRows(database, settings, this.fields);
    const whole = usersWith(closed, [...this.fields.added, ...addedColumns]);
    this.declaration = this.rows ? usersWith(closed, addedColumns) : whole;
    this.columns = whole.columns;
    this.table = new Table(database, this.declaration, readsPasskeys ? [hasPasskey(database)] : []);
    this.selections = userSelections(database, this.table, this.rows, this.fields);
    this.#clusterLock = new ClusterLock(database, this.table.name);
  }

  /**
   * The columns that `auth.migrate()` adds because of the config: those of the fields, and of several languages. It only
   * checks the app's rows, which the app itself migrates.
   */
  get fieldColumns(): { columns: Columns; defaults: FieldValues; check?(): Promise<void> } {
    const { rows, fields } = this;
    const ofLanguages = this.core.languages.areMany ? languageColumns : {};
    if (rows) return { columns: ofLanguages, defaults: {}, check: () => rows.check() };
    return { columns: { ...ofLanguages, ...fields.columns }, defaults: fields.defaults };
  }

  /**
   * Inserts users in one statement.
   *
   * @throws UniqueConstraintError (Sequelize) if an email or username is taken. Unique constraints decide, so
   *   concurrent calls are safe
   */
  async insert(
    users: readonly (readonly [NewUser, FieldValues])[],
    transaction: Transaction,
  ): Promise<UserRecord[]> {
    const rows = users.map(([user, fields]) => ({ row: this.newRow(user), fields }));
    const stored = rows.map(({ row, fields }) => (this.rows ? row : { ...row, ...fields }));
    // Insert in a fixed order, because concurrent transactions that insert in different orders deadlock.
    stored.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
    await this.table.insert(stored, transaction);
    for (const { row } of rows) this.#rememberOrigin(row, transaction);
    return rows.map(({ row, fields }) => this.#recordOf({ ...row, ...fields }, null));
  }

  /** Assigns an existing row of the app to a new user. @throws the errors of the app's code */
  async linkRow(record: UserRecord, row: AppRow, transaction: Transaction): Promise<UserRecord> {
    await this.rows?.link(row, record.user.id, transaction);
    return this.#recordOf({ ...wholeOf(record), ...this.rows?.fieldsOf(row) }, row);
  }

  /** Creates the app's row of a new user, if `user.model` is set. @throws the errors of the app's code */
  async createRow(record: UserRecord, fields: FieldValues, transaction: Transaction): Promise<UserRecord> {
    if (!this.rows) return record;
    const row = await this.rows.create(
      this.forCode(record),
      fields,
      this.core.settings.hooks.createRow,
      transaction,
    );
    return this.#recordOf({ ...wholeOf(record), ...this.rows.fieldsOf(row) }, row);
  }

  /** Returns the row of a new user, without fields. */
  newRow({
    emailProof = EmailProof.none,
    id,
    createdAt,
    importedAt = null,
    columns,
    ...user
  }: NewUser): RowOf<UserColumns> {
    const now = this.core.database.clock.date();
    return this.table.complete({
      ...columns,
      ...user,
      usernameDisplay: user.usernameDisplay ?? user.username,
      id: id ?? uuidv7(now.getTime()),
      emailVerifiedAt: emailProof.reaches('provider') ? now : null,
      emailProof: emailProof.level,
      mailboxProvedAt: emailProof.reaches('mailbox') ? now : null,
      emailVouchedAt: emailProof.reaches('provider') ? now : null,
      authEpoch: 0,
      createdAt: createdAt ?? now,
      importedAt,
      updatedAt: now,
    });
  }

  /**
   * Writes changes to a user, and sets `updatedAt`: see `UserUpdates`.
   *
   * @returns the changed user
   */
  async update(
    record: UserRecord,
    changes: Partial<RowOf<UserColumns>>,
    fields: FieldValues,
    transaction: Transaction,
  ): Promise<UserRecord> {
    const { id } = record.user;
    const isNewPassword = changes.passwordHash !== undefined;
    const columns = {
      ...changes,
      ...(isNewPassword && { newPasswordRequiredAt: null }),
      updatedAt: this.core.database.clock.date(),
    };
    await this.table.update(this.rows ? columns : { ...columns, ...fields }, { id }, transaction);
    const whole = { ...wholeOf(record), ...columns, ...fields };
    if (!this.rows || Object.keys(fields).length === 0) return this.#recordOf(whole, record.row);
    const row = await this.rows.update(id, fields, transaction);
    // If the row is outside the model's scope, the account does not count as a user.
    return this.#recordOf({ ...whole, ...this.rows.fieldsOf(row) }, record.row && row);
  }

  /**
   * The values of the fields that users set themselves, as in a new account whose user has not set any. A field that
   * must have a value and has no default is omitted.
   */
  get untouchedFields(): FieldValues {
    const values = Object.entries(this.fields.untouched);
    return Object.fromEntries(values.filter(([name, value]) => value !== null || !this.rows?.requires(name)));
  }

  /** Returns a user as the app's code sees it, including the fields for administrators. */
  forCode({ account }: Pick<UserRecord, 'account'>): UserForAdmins {
    return this.selections.forAdmins.pick(account);
  }

  /** Returns the error for a new user that violates a unique constraint. Null if it is another error. */
  async takenBy(error: unknown, { email }: NewUser): Promise<AuthError | null> {
    const violated = violatedUnique(error);
    if (!violated) return null;
    // If both constraints are violated, databases differ in which one they report.
    const isEmail = !/username/.test(violated) || (email !== null && (await this.#exists({ email })));
    return new AuthError(isEmail ? 'email_taken' : 'username_taken');
  }

  /** All columns of users, with the alias `u`, for statements that join the table: see {@link read}. */
  get selection(): Pick<UserSelection<unknown>, 'columns' | 'from' | 'ready'> {
    return this.selections.whole;
  }

  /** Reads a user from a row of a statement with {@link selection}. */
  read(raw: object): UserRecord {
    const whole = this.selections.whole.read(raw);
    return this.#recordOf(whole, this.rows?.rowOf(whole) ?? null);
  }

  /** Finds a user as administrators see them. */
  async find(id: string, transaction?: Transaction): Promise<UserForAdmins | null> {
    if (!isUuid(id)) return null;
    const [user] = await this.selections.forAdmins.select('WHERE u.id = :id', { id }, transaction);
    return user ?? null;
  }

  /** Finds a user with the data that sign-in needs. */
  async findRecord(by: Identifier, transaction?: Transaction): Promise<UserRecord | null> {
    const [[column, value]] = Object.entries(by) as [[string, string]];
    if (column === 'id' && !isUuid(value)) return null;
    const { whole } = this.selections;
    await whole.ready?.(transaction);
    const raw = await this.#selectOne(whole, `WHERE u.${column} = :value`, { value }, transaction);
    return raw && this.read(raw);
  }

  /** Like {@link findRecord}. @throws AuthError `user_not_found` if there is no such user */
  async require(id: string): Promise<UserRecord> {
    const record = await this.findRecord({ id });
    if (!record) throw new AuthError('user_not_found');
    return record;
  }

  /** Writes the columns that a plugin adds. The user's row is locked. */
  async setColumns<C extends Columns>(
    id: string,
    values: Partial<RowOf<C>>,
    transaction: Transaction,
  ): Promise<void> {
    await this.table.update(values as Partial<RowOf<UserColumns>>, { id }, transaction);
  }

  /**
   * Announces a change of an account, so that an import does not overwrite it, and so that a change by code of what the
   * user signs in with is final: see `Core.change`. Plugins call it for their own tables, and for the columns that they add
   * to users. The user's row is locked.
   *
   * @param changed the attributes of the user that change, such as `email`, and the parts of the account in the tables
   *   of plugins, such as `passkeys`
   */
  async announceChange(userId: string, changed: readonly string[], transaction: Transaction): Promise<void> {
    if (changed.some((name) => this.#signInMethods.has(name))) this.#changed.add(transaction, userId);
    for (const plugin of this.core.contributions)
      await plugin.onAccountChange?.(userId, changed, transaction);
    if (this.#notImported.has(transaction, userId)) return;
    const keys = rowKeysOf(this.core.contributions, changed);
    if (keys.length > 0) await this.core.imported.note(userId, keys, transaction);
  }

  /** What users sign in with, as changes of accounts name it. The set is complete when all plugins are set up. */
  get #signInMethods(): ReadonlySet<string> {
    this.#named ??= new Set([
      'email',
      'passwordHash',
      ...this.core.contributions.flatMap(({ undo }) => undo?.announces ?? []),
    ]);
    return this.#named;
  }

  /**
   * Runs the work of a transaction.
   *
   * @returns the outcome, and whether the work has changed what the user signs in with, as {@link announceChange} was told
   */
  async watching<T>(
    userId: string,
    transaction: Transaction,
    work: () => Promise<T>,
  ): Promise<{ readonly outcome: T; readonly hasChangedSignIn: boolean }> {
    // A hook of the app can change the user again within the work of another call, which still has to know.
    const hadChanged = this.#changed.has(transaction, userId);
    // Units of the app's transaction share it, and an earlier one might have been rolled back.
    this.#changed.delete(transaction, userId);
    const outcome = await work();
    const hasChangedSignIn = this.#changed.has(transaction, userId);
    if (hadChanged) this.#changed.add(transaction, userId);
    return { outcome, hasChangedSignIn };
  }

  /** Locks a user's row until the transaction ends. Every change to a user's sign-in methods acquires this lock. */
  async lock(id: string, transaction: Transaction): Promise<UserRecord | null> {
    if (!isUuid(id)) return null;
    // On SQLite, the transaction has already locked the whole database.
    const lock = this.core.database.dialect === 'sqlite' ? '' : ' FOR UPDATE';
    // Select without the app's row, because PostgreSQL cannot lock the optional side of an outer join.
    const users = this.table.whole('u');
    await this.#clusterLock.take(id, transaction);
    const raw = await this.#selectOne(users, `WHERE u.id = :id${lock}`, { id }, transaction);
    if (!raw) return null;
    const whole = { ...users.read(raw), ...(await this.#factsOf(id, transaction)) };
    this.#rememberOrigin(whole, transaction);
    if (!this.rows) return this.#recordOf(whole, null);
    const row = await this.rows.find(id, transaction);
    return this.#recordOf({ ...whole, ...this.rows.fieldsOf(row) }, row);
  }

  /**
   * Returns whether a user can use their account. They cannot if the app's row is outside its model's scope, such as a
   * row that is marked as deleted.
   *
   * @throws AuthError `unavailable` if the account has no row at all
   */
  async isPresent({ user, row }: Pick<UserRecord, 'user' | 'row'>): Promise<boolean> {
    return !this.rows || row !== null || this.rows.explainAbsence(user.id);
  }

  /** Returns the password hashes of the oldest and the newest accounts. */
  async sampleHashes(): Promise<string[]> {
    const hashes: string[] = [];
    for (const order of ['ASC', 'DESC']) {
      const rows = await this.table.whole('u').select(`ORDER BY u.id ${order} LIMIT ${SAMPLE}`);
      hashes.push(...rows.flatMap(({ passwordHash }) => passwordHash ?? []));
    }
    return hashes;
  }

  isUsernameTaken(username: string): Promise<boolean> {
    return this.#exists({ username });
  }

  /**
   * Stores another password's hash, or null. The user's row must be locked.
   *
   * @returns the other values of the user that change
   */
  async setPasswordHash(
    id: string,
    passwordHash: string | null,
    transaction: Transaction,
  ): Promise<Pick<User, 'updatedAt' | 'newPasswordRequiredAt'>> {
    const changed = { updatedAt: this.core.database.clock.date(), newPasswordRequiredAt: null };
    await this.table.update({ passwordHash, ...changed }, { id }, transaction);
    await this.announceChange(id, ['passwordHash'], transaction);
    return changed;
  }

  /** Records that the account needs a new password. The user's row must be locked. */
  async requireNewPassword(id: string, transaction: Transaction): Promise<void> {
    await this.table.update({ newPasswordRequiredAt: this.core.database.clock.date() }, { id }, transaction);
    await this.announceChange(id, ['passwordHash'], transaction);
  }

  /** Stores a new hash of the same password, unless the password has changed in the meantime. */
  async replacePasswordHash(id: string, old: string, replacement: string): Promise<void> {
    await this.table.update({ passwordHash: replacement }, { id, passwordHash: old });
  }

  /**
   * Reads the facts again after the row was locked, because the statement that waited for the lock returns them as they
   * were before.
   */
  async #factsOf(id: string, transaction: Transaction): Promise<object> {
    const where = `WHERE u.id = :id ${this.core.database.currentRead}`;
    const [facts = {}] = (await this.table.factsNow('u')?.select(where, { id }, transaction)) ?? [];
    return facts;
  }

  /** Remembers whether an import has created an account, so that {@link announceChange} needs no statement otherwise. */
  #rememberOrigin({ id, importedAt }: Pick<WholeUser, 'id' | 'importedAt'>, transaction: Transaction): void {
    if ((importedAt ?? null) === null) this.#notImported.add(transaction, id);
    else this.#notImported.delete(transaction, id);
  }

  /** Selects a row, and reads the database's clock. */
  async #selectOne(
    { columns, names, from }: Pick<UserSelection<unknown>, 'columns' | 'names' | 'from'>,
    rest: string,
    replacements: Replacements,
    transaction?: Transaction,
  ): Promise<object | null> {
    const [raw] = await this.core.database.read<{ db_now: number | string }>(
      `SELECT ${columns}, ${this.core.database.nowSql} AS db_now FROM ${from} ${rest}`,
      [...names, 'db_now'],
      replacements,
      transaction,
    );
    if (raw) this.core.database.clock.observe(raw.db_now);
    return raw ?? null;
  }

  #recordOf(whole: object, row: AppRow | null): UserRecord {
    const { passwordHash, ...account } = whole as WholeUser;
    const emailProof = EmailProof.of(account);
    this.rows?.remember(account, row);
    return {
      user: this.selections.shown.pick(account),
      account,
      row,
      passwordHash,
      authEpoch: account.authEpoch,
      emailProof,
      hasProvedMailbox: account.mailboxProvedAt !== null,
      wasVouchedFor: account.emailVouchedAt !== null || emailProof.reaches('provider'),
      emailChangedAt: account.emailChangedAt,
    };
  }

  async #exists(by: Identifier): Promise<boolean> {
    const [[column, value]] = Object.entries(by) as [[string, string]];
    return (await this.table.shown('u').select(`WHERE u.${column} = :value`, { value })).length > 0;
  }
}

function orderOf({ email, username }: RowOf<UserColumns>): string {
  return email ?? username ?? '';
}

function wholeOf({ account, passwordHash }: UserRecord): AccountRow {
  return { ...account, passwordHash };
}

function appRows(
  database: Database,
  { database: given, user: { model, foreignKey }, hooks }: Settings,
  fields: Fields,
): AppRows | null {
  if (!model) {
    if (hooks.createRow)
      throw new TypeError('latchkey: hooks.createRow requires user.model: set user.model too');
    return null;
  }
  const checked = checkModel(model, { foreignKey, fields: fields.names, database: given });
  return new AppRows(database, checked, foreignKey, fields);
}

/** Users of whom something is known until a transaction ends. */
class UsersOfTransactions {
  readonly #ids = new WeakMap<Transaction, Set<string>>();

  add(transaction: Transaction, id: string): void {
    const ids = this.#ids.get(transaction) ?? new Set();
    this.#ids.set(transaction, ids.add(id));
  }

  delete(transaction: Transaction, id: string): void {
    this.#ids.get(transaction)?.delete(id);
  }

  has(transaction: Transaction, id: string): boolean {
    return this.#ids.get(transaction)?.has(id) ?? false;
  }
}
