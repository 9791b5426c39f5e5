import type { Transaction } from 'sequelize';
import type { Hooks } from '../config/hooks.js';
import { isUuid } from '../crypto/uuid.js';
import type { Database, GivenToHook } from '../database/database.js';
import { AppError, isForeignKeyViolation } from '../database/faults.js';
import { AuthError, type GivenFieldError } from '../errors.js';
import { say } from '../phrases.js';
import type { User } from '../tables/core.js';
import { listOf, type Selected } from '../tables/packed.js';
import { type Fields, type FieldValues, pointerTo } from './fields.js';
import {
  type AppModel,
  type AppRow,
  columnOf,
  hideFromJson,
  internalsOf,
  quotedTable,
  RowSource,
} from './row-source.js';

/** A row of the app, and the id of its account if it has one. */
export interface FoundRow {
  readonly row: AppRow;
  readonly accountId: string | null;
}

/** The cause of the error about an account that has no row in the table of `user.model`. */
class MissingRow extends Error {}

/** Whether an error is about an account that has no row in the table of `user.model`. */
export function isAboutMissingRow(error: unknown): error is AuthError {
  return error instanceof AuthError && error.cause instanceof MissingRow;
}

/** The app's own rows of users: one for each account, in the table of `user.model`. They also contain the fields. */
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
    hideFromJson(model, foreignKey);
  }

  /** The app's table in SQL. */
  get table(): string {
    return quotedTable(this.model);
  }

  /** The column with the account's id, in SQL. */
  get column(): string {
    const { queryGenerator } = internalsOf(this.model).getQueryInterface();
    return queryGenerator.quoteIdentifier(columnOf(this.model, this.foreignKey));
  }

  /** Whether the app's model does not allow an attribute to be null. */
  requires(attribute: string): boolean {
    return this.model.getAttributes()[attribute]?.allowNull === false;
  }

  /** The columns of a row, for statements that join {@link from}. */
  get selected(): readonly Selected[] {
    return this.#source.selected;
  }

  /** The rows in the model's scope, with the alias `r`, whose `r_key` is the account's id. */
  get from(): string {
    return this.#source.from;
  }

  /** Builds the row from a statement's result. Null if the model's scope does not contain the row. */
  read(raw: object): AppRow | null {
    return this.#source.read(raw as Readonly<Record<string, unknown>>);
  }

  /** Runs the model's `afterFind` hooks, as after a query of the app. @returns whether the model has such hooks */
  async found(row: AppRow): Promise<boolean> {
    const { model } = this;
    if (!model.hasHook('afterFind')) return false;
    await this.database.context.forApp(() => model.runHooks('afterFind', row, {}));
    return true;
  }

  /** Returns the values of the fields in a row. */
  fieldsOf(row: AppRow | null): FieldValues {
    return this.fields.fromRow((name) => row?.get(name));
  }

  /** Remembers the row of a user, for {@link rowOf}. */
  remember<U extends object>(user: U, row: AppRow | null): U {
    this.#rows.set(user, row);
    return user;
  }

  /** Returns the row of a user that was read from the database. */
  rowOf(user: object): AppRow | null {
    return this.#rows.get(user) ?? null;
  }

  /**
   * Checks the app's table on the first use.
   *
   * @param transaction a transaction that already holds a connection, so the check must not wait for another one
   * @throws AuthError `unavailable`, whose cause contains the fix. The next call checks again, so no restart is needed
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

  /** Checks the model's scope, and the app's table if it exists. @throws Error with the fix in its message */
  async check(): Promise<void> {
    this.#source.check(this.fields.forAdmins);
    await inspectTable(this.database, this.model, this.foreignKey);
  }

  /** Finds a user's row. Null if the model's scope does not contain it. */
  async find(userId: string, transaction?: Transaction): Promise<AppRow | null> {
    await this.ready(transaction);
    const [raw] = await this.database.select<Record<string, unknown>>(
      `SELECT ${listOf(this.selected)} FROM ${this.from} WHERE r.r_key = :userId`,
      { userId },
      transaction,
    );
    return raw ? this.read(raw) : null;
  }

  /**
   * Requires that a user without a row in the model's scope has a row outside it, such as one that is marked as
   * deleted. Such an account does not count as a user.
   *
   * @returns false
   * @throws AuthError `unavailable` if there is no row at all
   */
  async explainAbsence(userId: string, transaction?: Transaction): Promise<false> {
    const { foreignKey, model } = this;
    const rows = await this.database.select(
      `SELECT 1 AS present FROM ${this.table} WHERE ${this.column} = :userId`,
      { userId },
      transaction,
    );
    if (rows.length > 0) return false;
    throw new AuthError('unavailable', {
      detail: say('account-incomplete'),
      cause: new MissingRow(
        `The account ${userId} has no row of ${model.name} with its id in ${foreignKey}: create one, or delete the account`,
      ),
    });
  }

  /** Creates the row of a new account. @throws AuthError `validation_failed`, and the errors of the app's code */
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
    await this.#send(transaction, (_model, given) => createRow(user, fields, given));
    const row = await this.find(user.id, transaction);
    if (row) return row;
    const missing = `hooks.createRow did not create a row of ${this.model.name} with the account's id in ${this.foreignKey}`;
    throw new AppError(new TypeError(`latchkey: ${missing}`));
  }

  /** Finds rows by their primary keys, including rows outside the model's scope, and locks them. */
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
    // Compare the keys here, because the database treats more keys as equal, such as strings that differ in case.
    const byKey = new Map(rows.map((row) => [normalKey(model, row.get(key)), row]));
    return new Map(
      [...wanted].flatMap(([given, normal]) => {
        const row = normal === null ? undefined : byKey.get(normal);
        return row ? [[given, { row, accountId: (row.get(foreignKey) as string | null) ?? null }]] : [];
      }),
    );
  }

  /** Assigns a row to an account. The row's other columns do not change. */
  async link(row: AppRow, userId: string, transaction: Transaction): Promise<void> {
    // Skip the validation, because the other columns can be older than the model's rules.
    await this.#send(transaction, () =>
      row.update({ [this.foreignKey]: userId }, { transaction, silent: true, validate: false }),
    );
  }

  /** Removes the account from a user's row. The row's other columns do not change. */
  async unlink(userId: string, transaction: Transaction): Promise<void> {
    const row = await this.#findAny(userId, transaction);
    await this.#send(transaction, () =>
      row?.update({ [this.foreignKey]: null }, { transaction, silent: true, validate: false }),
    );
  }

  /** Writes fields to a user's row, even if it is outside the model's scope. @throws like {@link create} */
  async update(userId: string, fields: FieldValues, transaction: Transaction): Promise<AppRow> {
    const row = await this.#findAny(userId, transaction);
    if (!row) await this.explainAbsence(userId, transaction);
    return this.#send(transaction, () => (row as AppRow).update({ ...fields }, { transaction }));
  }

  /**
   * Deletes a user's row as the app's code would: hooks run, and a paranoid model only marks the row.
   *
   * @throws the errors of the app's code
   */
  async delete(userId: string, transaction: Transaction): Promise<void> {
    const row = await this.#findAny(userId, transaction);
    try {
      if (row) await this.#send(transaction, () => row.destroy({ transaction }));
    } catch (error) {
      // Another row of the app refers to this row.
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
  async #send<T>(
    transaction: Transaction,
    work: (model: AppModel, given: GivenToHook) => T | Promise<T>,
  ): Promise<T> {
    const table = await this.ready(transaction);
    try {
      return await this.database.inHook(transaction, (given) => work(this.model, given));
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

/** The primary key of a row of the app. */
export type RowKey = string | number | bigint;

/** Returns the attribute of a model's primary key. @throws TypeError unless the key has exactly one attribute */
export function keyOf(model: AppModel): string {
  const [key, ...others] = model.primaryKeyAttributes;
  if (key !== undefined && others.length === 0) return key;
  throw new TypeError(
    `latchkey: ref identifies rows of ${model.name} by their primary key, which must be one attribute: omit ref`,
  );
}

/**
 * Converts a key to a string, in the same form as the keys of rows. Returns null if no row can have the key, because
 * databases fail on keys of another type, or read `'abc'` as 0.
 */
export function normalKey(model: AppModel, key: unknown): string | null {
  const text = String(key).trim();
  const type = String((model.getAttributes()[keyOf(model)]?.type as { key?: unknown } | undefined)?.key);
  if (/INT/.test(type)) return /^-?(0|[1-9]\d{0,17})$/.test(text) ? text : null;
  if (type !== 'UUID') return String(key);
  return isUuid(text.toLowerCase()) ? text.toLowerCase() : null;
}

/** The app's table as it is in the database. */
export interface RowTable {
  /** The types of the columns. */
  readonly types: ReadonlyMap<string, string>;
  /** The columns of each unique index, by its name. */
  readonly uniques: ReadonlyMap<string, readonly string[]>;
}

interface ColumnRow {
  readonly name: string;
  readonly type: string;
  readonly collation: string | null;
}

/**
 * Inspects the app's table. Null if it does not exist.
 *
 * @throws Error with the fix in its message, if accounts cannot be joined with the table's rows in one step
 */
async function inspectTable(
  database: Database,
  model: AppModel,
  foreignKey: string,
  transaction?: Transaction,
): Promise<RowTable | null> {
  const { dialect } = database;
  const quoted = quotedTable(model);
  const table = dialect === 'postgres' ? quoted : quoted.replaceAll('`', '');
  const columns = await database.select<ColumnRow>(COLUMNS[dialect], { table }, transaction);
  if (columns.length === 0) return null;
  const indexed = await database.select<{ index_name: string; name: string }>(
    UNIQUES[dialect],
    { table },
    transaction,
  );
  const uniques = new Map<string, string[]>();
  for (const { index_name, name } of indexed)
    uniques.set(index_name, [...(uniques.get(index_name) ?? []), name]);
  const column = columnOf(model, foreignKey);
  const found = columns.find(({ name }) => name === column);
  const what = `user.foreignKey: the column ${table.replaceAll('"', '')}.${column}`;
  if (!found) throw new Error(`latchkey: ${what} does not exist: add it with a migration of the app`);
  if (dialect !== 'sqlite') requireType(dialect, what, quoted, found);
  if (![...uniques.values()].some((list) => list.length === 1 && list[0] === column))
    throw new Error(
      `latchkey: ${what} has no unique index, so an account could have several rows: ` +
        `CREATE UNIQUE INDEX ${table.replace(/\W+/g, '_').replace(/^_|_$/g, '')}_${column} ON ${quoted} (${column})`,
    );
  return { types: new Map(columns.map(({ name, type }) => [name, type])), uniques };
}

// If the types or collations differ, the database does not use the index, or rejects the comparison.
function requireType(dialect: 'mysql' | 'postgres', what: string, table: string, found: ColumnRow): void {
  const { name, type, collation } = found;
  if (dialect === 'postgres' ? type === 'uuid' : type === 'char(36)' && collation === 'utf8mb4_bin') return;
  const is = collation ? `${type} with the collation ${collation}` : type;
  const remedy =
    dialect === 'postgres'
      ? `ALTER TABLE ${table} ALTER COLUMN "${name}" TYPE UUID USING "${name}"::uuid`
      : `ALTER TABLE ${table} MODIFY \`${name}\` CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;
  throw new Error(`latchkey: ${what} has the type ${is}, which is not the type of account ids: ${remedy}`);
}

const COLUMNS = {
  mysql: `SELECT column_name AS name, column_type AS type, collation_name AS collation
    FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = :table`,
  postgres: `SELECT attname AS name, format_type(atttypid, atttypmod) AS type, NULL AS collation
    FROM pg_attribute WHERE attrelid = to_regclass(:table) AND attnum > 0 AND NOT attisdropped`,
  sqlite: 'SELECT name, type, NULL AS collation FROM pragma_table_info(:table)',
};

// SQLite does not list the index of an INTEGER PRIMARY KEY, but such a column cannot contain an account's id.
const UNIQUES = {
  mysql: `SELECT index_name AS index_name, column_name AS name FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND table_name = :table AND non_unique = 0`,
  postgres: `SELECT c.relname AS index_name, a.attname AS name FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
    WHERE i.indrelid = to_regclass(:table) AND i.indisunique AND i.indisvalid AND i.indpred IS NULL`,
  sqlite: `SELECT l.name AS index_name, i.name AS name FROM pragma_index_list(:table) l
    JOIN pragma_index_info(l.name) i WHERE l."unique" = 1 AND l.partial = 0`,
};

interface SequelizeFault extends Error {
  readonly parent?: { readonly code?: string; readonly sql?: string };
  readonly fields?: Readonly<Record<string, unknown>> | readonly string[];
  readonly errors?: readonly {
    readonly path: string | null;
    readonly message: string;
    readonly instance?: object | null;
  }[];
}

// PostgreSQL's error class 22, and MySQL's codes.
const BAD_VALUE =
  /^(22\w{3}|(ER_|WARN_)+(DATA_TOO_LONG|DATA_OUT_OF_RANGE|DATA_TRUNCATED|TRUNCATED_WRONG_VALUE(_FOR_FIELD)?))$/;

/**
 * Converts an error of the app's model to the error to throw. If a field's value is taken, or the model's own rules or
 * the table reject it, the client made a mistake. A lost connection is an outage. The app handles any other error.
 */
function rowError(
  error: unknown,
  { model, fields, table }: { model: AppModel; fields: readonly string[]; table: RowTable },
): unknown {
  const { name = '', parent, message, errors: items = [] } = (error ?? {}) as SequelizeFault;
  if (/^Sequelize(Connection|Host|Access|InvalidConnection|Timeout)/.test(name)) return error;
  if (error instanceof AuthError) return error;
  const errors = isOfModel() ? mistakes() : [];
  return errors.length > 0 ? new AuthError('validation_failed', { errors }) : new AppError(error);

  /** Whether the error is about the model's table, because the app's code can write to other tables too. */
  function isOfModel(): boolean {
    const instances = items.map(({ instance }) => instance ?? null);
    const table = quotedTable(model);
    const isOther = (it: object | null) => it !== null && quotedTable(it.constructor as AppModel) !== table;
    return !instances.some(isOther) && (parent?.sql === undefined || parent.sql.includes(table));
  }

  function mistakes(): GivenFieldError[] {
    if (name === 'SequelizeUniqueConstraintError') return taken(error as SequelizeFault);
    if (name === 'SequelizeValidationError') return invalid();
    return BAD_VALUE.test(parent?.code ?? '') ? unfit() : [];
  }

  function taken({ fields: violated = {} }: SequelizeFault): GivenFieldError[] {
    // Databases report the columns, except for MySQL, which reports the index.
    const names = Array.isArray(violated) ? violated : Object.keys(violated);
    const columns = names.flatMap((one: string) => table.uniques.get(one) ?? [one]);
    return fields
      .filter((field) => columns.includes(columnOf(model, field)) || columns.includes(field))
      .map((field) => ({ pointer: pointerTo(field), code: 'taken', detail: say('taken') }));
  }

  function invalid(): GivenFieldError[] {
    if (!items.every(({ path }) => path !== null && fields.includes(path))) return [];
    return items.map(({ path, message }) => ({
      pointer: pointerTo(path ?? ''),
      code: 'invalid',
      detail: message,
    }));
  }

  /**
   * Finds values that the columns cannot hold. MySQL reports the column. PostgreSQL reports only its type, sometimes
   * with the length.
   */
  function unfit(): GivenFieldError[] {
    const typeOf = (field: string) => table.types.get(columnOf(model, field)) ?? '';
    const ways: ((field: string) => string[])[] = [
      (field) => [`'${columnOf(model, field)}'`, `\`${columnOf(model, field)}\``, typeOf(field)],
      (field) => [typeOf(field).replace(/\W*\(.*/, '')],
    ];
    const [named = []] = ways
      .map((way) => fields.filter((field) => way(field).some((it) => it !== '' && message.includes(it))))
      .filter((found) => found.length > 0);
    return named.map((field) => ({
      pointer: pointerTo(field),
      code: 'invalid',
      detail: say('not-storable'),
    }));
  }
}
