import { DataTypes, QueryTypes, type Sequelize, Transaction, type TransactionOptions } from 'sequelize';
import type { Dialect } from './connect.js';
import type { Driver } from './driver.js';
import { digestList, fillIn, literal, MARK, quoted, type Value } from './literal.js';
import { refuseLateStatements, type Turn } from './turn.js';

/** The values of a statement's `:name` placeholders. A list is for `IN (:name)` or `VALUES (:name)`. */
export type Replacements = Readonly<Record<string, Value | readonly Value[]>>;

/** Options of a statement. */
export interface StatementOptions {
  readonly transaction?: Transaction | undefined;
  /** Excludes the statement from the app's log, because it contains a secret. */
  readonly isSecret?: boolean;
  /** Excludes the statement if it gets a connection too late. */
  readonly turn?: Turn;
}

const YEAR_0 = Date.parse('0000-01-01T00:00:00.000Z');
const YEAR_10000 = Date.parse('+010000-01-01T00:00:00.000Z');

interface DateType {
  stringify(date: Date, options: { timezone: string }): string;
  constructor: { parse(column: { string(): string }, options: { timezone: string }): Date };
}

// What Sequelize itself converts values and logs with; its types omit it.
interface SequelizeInternals {
  readonly options: { timezone: string; logging?: unknown };
  normalizeDataType(type: unknown): DateType;
}

/** Writes statements with their values, and sends them: through Sequelize, or by the driver in a pool of latchkey's own. */
export class Statements {
  readonly #dateType: DateType;
  readonly #internals: SequelizeInternals;

  /** Options of writes: on SQLite, the database's lock is waited for here, not by Sequelize, which has no deadline. */
  readonly attempts: object;

  /**
   * Options of transactions. On SQLite, an immediate one takes the write lock at its start, when it can still be retried.
   * On the others, whatever the app's default, one must see what has been committed by the time it gets a lock.
   */
  readonly ofTransactions: Readonly<TransactionOptions>;

  constructor(
    private readonly sequelize: Sequelize,
    private readonly dialect: Dialect,
    private readonly driver?: Driver,
  ) {
    this.#internals = sequelize as unknown as SequelizeInternals;
    this.#dateType = this.#internals.normalizeDataType(DataTypes.DATE(3));
    this.attempts = dialect === 'sqlite' ? { retry: { max: 1 } } : {};
    const immediate = { type: Transaction.TYPES.IMMEDIATE, ...this.attempts };
    const readCommitted = { isolationLevel: Transaction.ISOLATION_LEVELS.READ_COMMITTED };
    this.ofTransactions = dialect === 'sqlite' ? immediate : driver ? {} : readCommitted;
    refuseLateStatements(sequelize);
  }

  send(
    sql: string,
    type: QueryTypes,
    replacements: Replacements | undefined,
    { transaction, isSecret = false, turn }: StatementOptions,
  ): Promise<unknown> {
    const text = this.#internals.options.logging && !isSecret ? onOneLine(sql) : sql;
    const filledIn = replacements || sql.includes(MARK) ? this.#fillIn(text, replacements ?? {}) : text;
    const isSelect = type === QueryTypes.SELECT;
    if (this.driver) return this.driver.send(filledIn, { isSelect, transaction, turn });
    return this.sequelize.query(filledIn, {
      type,
      raw: true,
      // On SQLite, Sequelize would otherwise ask for the columns of a table of the app before each statement with one.
      ...({ tableNames: [] } as object),
      // Null, not undefined: with Sequelize's CLS, the statement would otherwise join the app's transaction.
      transaction: transaction ?? null,
      // With Sequelize's `replication`, a replica that lags behind would still have sessions that were revoked.
      useMaster: true,
      ...(turn && { turn, ...this.attempts }),
      ...(isSecret && { logging: false }),
    });
  }

  /** Selects the rows of digests: `sql` ends where their list is to follow. */
  async lookUp<Row>(sql: string, digests: readonly string[]): Promise<Row[]> {
    if (this.driver) return (await this.driver.lookUp(sql, digests)) as Row[];
    const text = `${sql} ${digestList(this.dialect, digests)}`;
    return (await this.send(text, QueryTypes.SELECT, undefined, {})) as Row[];
  }

  /**
   * A SQL expression for a time in milliseconds since 1970, which is read faster than the database's own type: Sequelize
   * and the drivers parse that. Null where there is none: SQLite stores text, and MySQL stores the local time
   * of Sequelize's time zone, which may have summer time.
   */
  milliseconds(column: string): string | null {
    if (this.dialect === 'postgres') return `(EXTRACT(EPOCH FROM ${column}) * 1000)::float8`;
    const isUtc = this.dialect === 'mysql' && this.#internals.options.timezone === '+00:00';
    return isUtc ? `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${column}) DIV 1000` : null;
  }

  /** Converts a stored time as the driver returned it. */
  toDate(value: Date | string): Date {
    if (value instanceof Date) return value;
    // In ISO 8601: JavaScript reads a year before 100 in another format as one of today.
    const time = value.replace(' ', 'T').replace(' ', '');
    if (this.dialect !== 'mysql') return new Date(time);
    // With mysql2's `dateStrings`, times are strings in Sequelize's time zone, without an offset.
    const { timezone } = this.#internals.options;
    if (/^[+-]\d\d:\d\d$/.test(timezone)) return new Date(time + timezone);
    return this.#dateType.constructor.parse({ string: () => value }, this.#internals.options);
  }

  /** Quotes a name for SQL. */
  quote(name: string): string {
    return this.dialect === 'mysql' ? `\`${name}\`` : `"${name}"`;
  }

  /** A SQL literal, for statements without placeholders, such as those of migrations. */
  literal(value: Value): string {
    const plain = this.#plain(value);
    // SQLite takes no expression as the default of a column that is added.
    return this.dialect === 'sqlite' && typeof plain === 'string'
      ? quoted(plain)
      : literal(this.dialect, plain);
  }

  // Not Sequelize's replacements: their escaping depends on settings of the connection.
  #fillIn(sql: string, replacements: Replacements): string {
    return fillIn(sql, (name) => {
      const value = replacements[name];
      if (value === undefined) return undefined;
      if (!Array.isArray(value)) return literal(this.dialect, this.#plain(value as Value));
      // `IN (NULL)` finds nothing, as an empty list should.
      return value.map((one) => literal(this.dialect, this.#plain(one))).join(', ') || 'NULL';
    });
  }

  // Sequelize's time zone is the one in which MySQL's times are stored.
  #plain(value: Value): Exclude<Value, Date> {
    if (!(value instanceof Date)) return value;
    const { timezone } = this.#internals.options;
    // As Sequelize would write it, but several times faster.
    if (timezone === '+00:00' && isOfFourDigits(value)) {
      const time = value.toISOString().replace('T', ' ').slice(0, -1);
      return this.dialect === 'mysql' ? time : `${time} +00:00`;
    }
    return this.#dateType.stringify(value, this.#internals.options);
  }
}

const isOfFourDigits = (date: Date) => date.getTime() >= YEAR_0 && date.getTime() < YEAR_10000;

/** A statement is one line in a log. What somebody else wrote may have line breaks in its values. */
function onOneLine(sql: string): string {
  return sql.includes(MARK) ? sql : sql.replace(/\s*\n\s*/g, ' ');
}
