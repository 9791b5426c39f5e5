import { DataTypes, QueryTypes, type Sequelize, Transaction, type TransactionOptions } from 'sequelize';
import type { Dialect } from './connect.js';
import type { Driver, LookupSql } from './driver.js';
import { fillIn, literal, MARK, quoted, type Value } from './literal.js';
import type { Primary } from './primary.js';
import { checkBeforeStatements, type OwnStatement, type Turn } from './turn.js';

/** The values of a statement's `:name` placeholders. Lists are for `IN (:name)` and `VALUES (:name)`. */
export type Replacements = Readonly<Record<string, Value | readonly Value[]>>;

/** Options of a statement. */
export interface StatementOptions {
  readonly transaction?: Transaction | undefined;
  /** Keeps the statement out of the app's log, because it contains a secret. */
  readonly isSecret?: boolean;
  /** Prevents the statement from being sent if it gets a connection too late. */
  readonly turn?: Turn;
}

const YEAR_0 = Date.parse('0000-01-01T00:00:00.000Z');
const YEAR_10000 = Date.parse('+010000-01-01T00:00:00.000Z');

interface DateType {
  stringify(date: Date, options: { timezone: string }): string;
  constructor: { parse(column: { string(): string }, options: { timezone: string }): Date };
}

// The parts of Sequelize that convert values and control its log. Its types omit them.
interface SequelizeInternals {
  readonly options: { timezone: string; logging?: unknown };
  normalizeDataType(type: unknown): DateType;
}

/** Fills values into statements and sends them through Sequelize or, in latchkey's own pool, through the driver. */
export class Statements {
  readonly #dateType: DateType;
  readonly #internals: SequelizeInternals;

  /**
   * Options of writes. On SQLite, latchkey itself waits for the lock, because Sequelize would wait without a deadline.
   */
  readonly attempts: object;

  /**
   * Options of transactions. On SQLite, an immediate transaction takes the write lock at its start, when it can still
   * be retried. On other databases, a transaction must see changes that were committed before it got a lock, so the
   * app's default isolation level does not apply.
   */
  readonly ofTransactions: Readonly<TransactionOptions>;

  constructor(
    private readonly sequelize: Sequelize,
    private readonly dialect: Dialect,
    private readonly primary: Primary,
    private readonly driver: Driver,
  ) {
    this.#internals = sequelize as unknown as SequelizeInternals;
    this.#dateType = this.#internals.normalizeDataType(DataTypes.DATE(3));
    this.attempts = dialect === 'sqlite' ? { retry: { max: 1 } } : {};
    const immediate = { type: Transaction.TYPES.IMMEDIATE, ...this.attempts };
    const readCommitted = { isolationLevel: Transaction.ISOLATION_LEVELS.READ_COMMITTED };
    this.ofTransactions = dialect === 'sqlite' ? immediate : driver.isOwnPool ? {} : readCommitted;
    checkBeforeStatements(sequelize);
  }

  send(
    sql: string,
    type: QueryTypes,
    replacements: Replacements | undefined,
    options: StatementOptions,
  ): Promise<unknown> {
    return this.sendFilledIn(this.fillIn(sql, replacements, options.isSecret), type, options);
  }

  /** Fills in the values of a statement, for {@link sendFilledIn}. */
  fillIn(sql: string, replacements: Replacements | undefined, isSecret = false): string {
    const text = this.#internals.options.logging && !isSecret ? onOneLine(sql) : sql;
    return replacements || sql.includes(MARK) ? this.#fillIn(text, replacements ?? {}) : text;
  }

  /** Sends a statement as it is. It has no placeholders, but its values can look like placeholders. */
  sendFilledIn(
    filledIn: string,
    type: QueryTypes,
    { transaction, isSecret = false, turn }: StatementOptions,
  ): Promise<unknown> {
    const isSelect = type === QueryTypes.SELECT;
    if (this.driver.isOwnPool) return this.driver.send(filledIn, { isSelect, transaction, turn });
    return this.sequelize.query(filledIn, {
      type,
      raw: true,
      // Otherwise, Sequelize on SQLite would query the columns of the app's tables before each statement that uses
      // them.
      ...({ tableNames: [] } as object),
      // With undefined instead of null, Sequelize's CLS would add the statement to the app's transaction.
      transaction: transaction ?? null,
      // With Sequelize's `replication`, a replica that lags behind would still contain revoked sessions.
      useMaster: true,
      ...({ turn, primary: transaction ? undefined : this.primary } satisfies OwnStatement),
      ...(turn && this.attempts),
      ...(isSecret && { logging: false }),
    });
  }

  /** Selects the row with this key immediately. Returns undefined if {@link lookUp} must do it. */
  findNow(sql: LookupSql, key: string): object | null | undefined {
    return this.driver.findNow(sql, key);
  }

  /** Selects the rows with these keys. */
  lookUp<Row>(sql: LookupSql, keys: readonly string[]): Promise<Row[]> {
    if (this.driver.isDirect) return this.driver.lookUp(sql, keys) as Promise<Row[]>;
    return this.send(sql.ofSeveral(keys), QueryTypes.SELECT, undefined, {}) as Promise<Row[]>;
  }

  /**
   * Returns a SQL expression for a time in milliseconds since 1970. A number is read faster than the database's own
   * type for times, which Sequelize and the drivers parse. PostgreSQL's numbers are floating-point ones, and must be
   * rounded. Returns null if there is no such expression: SQLite stores text, and MySQL stores the local time of
   * Sequelize's time zone, which might have daylight saving time.
   */
  milliseconds(column: string): string | null {
    // EXTRACT would calculate with decimal numbers, which takes several times longer.
    if (this.dialect === 'postgres') return `date_part('epoch', ${column}) * 1000`;
    const isUtc = this.dialect === 'mysql' && this.#internals.options.timezone === '+00:00';
    return isUtc ? `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${column}) DIV 1000` : null;
  }

  /** Converts a stored time that the driver returned. */
  toDate(value: Date | string): Date {
    if (value instanceof Date) return value;
    // Convert it to ISO 8601, because in other formats JavaScript reads a year before 100 as a recent one.
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

  /** Writes a SQL literal, for statements without placeholders, such as those of migrations. */
  literal(value: Value): string {
    const plain = this.#plain(value);
    // SQLite does not accept an expression as the default of an added column.
    return this.dialect === 'sqlite' && typeof plain === 'string'
      ? quoted(plain)
      : literal(this.dialect, plain);
  }

  // Sequelize's own replacements are not used, because their escaping depends on settings of the connection.
  #fillIn(sql: string, replacements: Replacements): string {
    return fillIn(sql, (name) => {
      const value = replacements[name];
      if (value === undefined) return undefined;
      if (!Array.isArray(value)) return literal(this.dialect, this.#plain(value as Value));
      // An empty list must find nothing, and `IN (NULL)` does.
      return value.map((one) => literal(this.dialect, this.#plain(one))).join(', ') || 'NULL';
    });
  }

  // MySQL's times are stored in Sequelize's time zone.
  #plain(value: Value): Exclude<Value, Date> {
    if (!(value instanceof Date)) return value;
    const { timezone } = this.#internals.options;
    // The result is the same as Sequelize's, but several times faster.
    if (timezone === '+00:00' && isOfFourDigits(value)) {
      const time = value.toISOString().replace('T', ' ').slice(0, -1);
      return this.dialect === 'mysql' ? time : `${time} +00:00`;
    }
    return this.#dateType.stringify(value, this.#internals.options);
  }
}

const isOfFourDigits = (date: Date) => date.getTime() >= YEAR_0 && date.getTime() < YEAR_10000;

/**
 * Puts a statement on one line of the log. SQL of the app is left as it is, because its values might have line breaks.
 */
function onOneLine(sql: string): string {
  return sql.includes(MARK) ? sql : sql.replace(/\s*\n\s*/g, ' ');
}
