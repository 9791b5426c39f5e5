import type { Transaction } from 'sequelize';
import type { Hooks } from '../config/user-options.js';
import type { Database } from '../database/database.js';
import { AppError, isForeignKeyViolation } from '../database/faults.js';
import { AuthError } from '../errors.js';
import type { User } from '../tables/user.js';
import { type AppModel, type AppRow, columnOf, internalsOf, quotedTable } from './app-model.js';
import type { Fields, FieldValues } from './core-fields.js';
import { inspectTable, type RowTable } from './row-checks.js';
import { rowError } from './row-errors.js';
import { keyOf, normalKey, type RowKey } from './row-keys.js';
import { RowSource } from './row-source.js';

/** A row of the app, and the id of its account if it has one. */
export interface FoundRow {
  readonly row: AppRow;
  readonly accountId: string | null;
}

/** The app's own rows of users: one for each account, in the table of `user.model`, which also holds the fields. */
export class AppRows {
  readonly #source: RowSource;
  readonly #rows = new WeakMap<object, AppRow | null>();
  #table: RowTable | undefined;
  #inspecting: Promise<RowTable> | undefined;

  constructor(
    private readonly database: Database,
    readonly model: AppModel,
    readonly foreignKey: string,
    private readonly fields: Fields,
  ) {
    this.#source = new RowSource(database, model, foreignKey);
  }

  /** The columns of a row, for statements that join {@link from}. */
  get columns(): string {
    return this.#source.columns;
  }

  /** The rows in the model's scope, with the alias `r`, whose `r_key` is the account's id. */
  get from(): string {
    return this.#source.from;
  }

  /** Builds the row from a statement's result. Null if there is none in the model's scope. */
  read(raw: object): AppRow | null {
    return this.#source.read(raw as Readonly<Record<string, unknown>>);
  }

  /** Runs the model's `afterFind` hooks, as after a query of the app. @returns whether there are any */
  async found(row: AppRow): Promise<boolean> {
    const { model } = this;
    if (!model.hasHook('afterFind')) return false;
    await this.database.context.forApp(() => model.runHooks('afterFind', row, {}));
    return true;
  }

  /** The values of the fields. */
  fieldsOf(row: AppRow | null): FieldValues {
    return this.fields.fromRow((name) => row?.get(name));
  }

  /** Remembers the row of a user, for {@link rowOf}. */
  remember<U extends object>(user: U, row: AppRow | null): U {
    this.#rows.set(user, row);
    return user;
  }

  /** The row of a user that was read from the database. */
  rowOf(user: object): AppRow | null {
    return this.#rows.get(user) ?? null;
  }

  /**
   * Checks the app's table at the first use.
   *
   * @param transaction one that holds a connection already, and must not wait for another
   * @throws AuthError `unavailable`, whose cause names the mend. The next call checks again, so that it needs no restart
   */
  async ready(transaction?: Transaction): Promise<RowTable> {
    if (this.#table) return this.#table;
    try {
      if (transaction || this.database.isJoined) return await this.#inspect(transaction);
      this.#inspecting ??= this.database
        .share(() => this.#inspect())
        .finally(() => {
          this.#inspecting = undefined;
        });
      return await this.#inspecting;
    } catch (error) {
      throw error instanceof AuthError ? error : new AuthError('unavailable', { cause: error });
    }
  }

  /** Checks the model's scope, and the app's table unless it does not exist yet. @throws Error naming the mend */
  async check(): Promise<void> {
    this.#source.check(this.fields.forAdmins);
    await inspectTable(this.database, this.model, this.foreignKey);
  }

  /** A user's row. Null if there is none in the model's scope. */
  async find(userId: string, transaction?: Transaction): Promise<AppRow | null> {
    await this.ready(transaction);
    const [raw] = await this.database.select<Record<string, unknown>>(
      `SELECT ${this.columns} FROM ${this.from} WHERE r.r_key = :userId`,
      { userId },
      transaction,
    );
    return raw ? this.read(raw) : null;
  }

  /**
   * Requires a row of a user who has none in the model's scope, such as one that is marked as deleted: then it is no user.
   *
   * @returns false
   * @throws AuthError `unavailable` if there is no row at all
   */
  async explainAbsence(userId: string, transaction?: Transaction): Promise<false> {
    const { foreignKey, model } = this;
    const { queryGenerator } = internalsOf(model).getQueryInterface();
    const column = queryGenerator.quoteIdentifier(columnOf(model, foreignKey));
    const rows = await this.database.select(
      `SELECT 1 AS present FROM ${quotedTable(model)} WHERE ${column} = :userId`,
      { userId },
      transaction,
    );
    if (rows.length > 0) return false;
    throw new AuthError('unavailable', {
      detail: 'The account is not complete. The log says what to do.',
      cause: new Error(
        `The account ${userId} has no row of ${model.name} with its id in ${foreignKey}: make one, or delete the account`,
      ),
    });
  }

  /** Makes the row of a new account. @throws AuthError `validation_failed`, and what the app's code throws */
  async create(
    user: User,
    fields: FieldValues,
    createRow: Hooks['createRow'],
    transaction: Transaction,
  ): Promise<AppRow> {
    if (!createRow)
      return this.#send(transaction, (model) =>
        model.create({ ...fields, [this.foreignKey]: user.id }, { transaction }),
      );
    await this.#send(transaction, () => createRow(user, fields, { transaction }));
    const row = await this.find(user.id, transaction);
    if (row) return row;
    const missing = `hooks.createRow made no row of ${this.model.name} with the account's id in ${this.foreignKey}`;
    throw new AppError(new TypeError(`latchkey: ${missing}`));
  }

  /** Finds rows by their primary keys, also those that are out of the model's scope, and locks them. */
  async findByKeys(keys: readonly RowKey[], transaction: Transaction): Promise<Map<RowKey, FoundRow>> {
    const { model, foreignKey } = this;
    if (keys.length === 0) return new Map();
    const key = keyOf(model);
    const wanted = new Map(keys.map((one) => [one, normalKey(model, one)]));
    const values = [...new Set([...wanted.values()].filter((one) => one !== null))];
    const rows = await this.#send(transaction, () =>
      model.unscoped().findAll({
        where: { [key]: values },
        paranoid: false,
        transaction,
        lock: transaction.LOCK.UPDATE,
      }),
    );
    // Not all that the database takes for equal, such as text in another case.
    const byKey = new Map(rows.map((row) => [normalKey(model, row.get(key)), row]));
    return new Map(
      [...wanted].flatMap(([given, normal]) => {
        const row = normal === null ? undefined : byKey.get(normal);
        return row ? [[given, { row, accountId: (row.get(foreignKey) as string | null) ?? null }]] : [];
      }),
    );
  }

  /** Gives a row to an account. Its other columns stay as they are. */
  async link(row: AppRow, userId: string, transaction: Transaction): Promise<void> {
    // Without validation: the other columns may be older than the model's rules.
    await this.#send(transaction, () =>
      row.update({ [this.foreignKey]: userId }, { transaction, silent: true, validate: false }),
    );
  }

  /** Writes fields to a user's row, also if it is out of the model's scope. @throws like {@link create} */
  async update(userId: string, fields: FieldValues, transaction: Transaction): Promise<AppRow> {
    const row = await this.#findAny(userId, transaction);
    if (!row) await this.explainAbsence(userId, transaction);
    return this.#send(transaction, () => (row as AppRow).update({ ...fields }, { transaction }));
  }

  /**
   * Deletes a user's row as the app's code would: hooks run, and a paranoid model only marks it.
   *
   * @throws what the app's code throws
   */
  async delete(userId: string, transaction: Transaction): Promise<void> {
    const row = await this.#findAny(userId, transaction);
    try {
      if (row) await this.#send(transaction, () => row.destroy({ transaction }));
    } catch (error) {
      // Another row of the app refers to it.
      throw error instanceof AppError && isForeignKeyViolation(error.cause) ? error.cause : error;
    }
  }

  #findAny(userId: string, transaction: Transaction): Promise<AppRow | null> {
    return this.#send(transaction, (model) =>
      model.unscoped().findOne({
        where: { [this.foreignKey]: userId },
        paranoid: false,
        transaction,
        lock: transaction.LOCK.UPDATE,
      }),
    );
  }

  /** Calls the app's model or hook. */
  async #send<T>(transaction: Transaction, work: (model: AppModel) => T | Promise<T>): Promise<T> {
    const table = await this.ready(transaction);
    try {
      return await this.database.context.forApp(() => work(this.model));
    } catch (error) {
      throw rowError(error, { model: this.model, fields: this.fields.names, table });
    }
  }

  async #inspect(transaction?: Transaction): Promise<RowTable> {
    this.#source.check(this.fields.forAdmins);
    const table = await inspectTable(this.database, this.model, this.foreignKey, transaction);
    if (!table)
      throw new Error(
        `latchkey: user.model: the table ${quotedTable(this.model)} does not exist: create it with a migration of the app`,
      );
    this.#source.useTypes(table.types);
    this.#table = table;
    return table;
  }
}
