import { DataTypes, type QueryTypes, type Sequelize, type Transaction } from 'sequelize';
import type { Dialect } from './connect.js';
import { fillIn, literal, MARK, quoted, type Value } from './literal.js';
import { refuseLateStatements, type Turn } from './turn.js';

/** The values of a statement's `:name` placeholders. A list is for `IN (:name)`. */
export type Replacements = Readonly<Record<string, Value | readonly string[] | readonly Buffer[]>>;

/** Options of a statement. */
export interface StatementOptions {
  readonly transaction?: Transaction | undefined;
  /** Excludes the statement from the app's log, because it contains a secret. */
  readonly isSecret?: boolean;
  /** Excludes the statement if it gets a connection too late. */
  readonly turn?: Turn;
}

interface DateType {
  stringify(date: Date, options: { timezone: string }): string;
  constructor: { parse(column: { string(): string }, options: { timezone: string }): Date };
}

// What Sequelize itself converts values and logs with; its types omit it.
interface SequelizeInternals {
  readonly options: { timezone: string; logging?: unknown };
  normalizeDataType(type: unknown): DateType;
}

/** Writes statements with their values, and sends them through Sequelize. */
export class Statements {
  readonly #dateType: DateType;
  readonly #internals: SequelizeInternals;

  /** Options of writes: on SQLite, the database's lock is waited for here, not by Sequelize, which has no deadline. */
  readonly attempts: object;

  constructor(
    private readonly sequelize: Sequelize,
    private readonly dialect: Dialect,
  ) {
    this.#internals = sequelize as unknown as SequelizeInternals;
    this.#dateType = this.#internals.normalizeDataType(DataTypes.DATE(3));
    this.attempts = dialect === 'sqlite' ? { retry: { max: 1 } } : {};
    refuseLateStatements(sequelize);
  }

  send(
    sql: string,
    type: QueryTypes,
    replacements: Replacements | undefined,
    { transaction, isSecret = false, turn }: StatementOptions,
  ): Promise<unknown> {
    const text = this.#internals.options.logging && !isSecret ? onOneLine(sql) : sql;
    return this.sequelize.query(
      replacements || sql.includes(MARK) ? this.#fillIn(text, replacements ?? {}) : text,
      {
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
      },
    );
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
      const list = Array.isArray(value) ? (value as readonly (string | Buffer)[]) : [value as Value];
      // `IN (NULL)` finds nothing, as an empty list should.
      return list.map((one) => literal(this.dialect, this.#plain(one))).join(', ') || 'NULL';
    });
  }

  // Sequelize's time zone is the one in which MySQL's times are stored.
  #plain(value: Value): Exclude<Value, Date> {
    return value instanceof Date ? this.#dateType.stringify(value, this.#internals.options) : value;
  }
}

/** A statement is one line in a log. What somebody else wrote may have line breaks in its values. */
function onOneLine(sql: string): string {
  return sql.includes(MARK) ? sql : sql.replace(/\s*\n\s*/g, ' ');
}
