import { AsyncLocalStorage } from 'node:async_hooks';
import { DataTypes, QueryTypes, type Sequelize, Transaction } from 'sequelize';
import { AuthError } from '../errors.js';
import { Clock } from './clock.js';
import type { Dialect } from './connect.js';
import { asUnavailable, isRetryable, wasNotSent } from './faults.js';
import { Patience } from './patience.js';

/** What a statement's `:names` stand for. */
export type Replacements = Record<string, string | number | boolean | Buffer | Date | null | string[]>;

// For a statement, and for all the statements of one request together.
const DEADLINE_MS = 4000;
const MAX_ATTEMPTS = 3;
const MAX_CONNECTIONS = 10;

const NOW: Record<Dialect, string> = {
  mysql: 'CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED)',
  postgres: '(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::float8',
  sqlite: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
};

interface DateType {
  stringify(date: Date, options: { timezone: string }): string;
  constructor: { parse(column: { string(): string }, options: { timezone: string }): Date };
}

// How the columns end that hold times.
const TIME_COLUMN = /_(at|until)$/;

// What Sequelize's own models use to write their values, though its types do not tell.
interface SequelizeInternals {
  readonly options: { timezone: string };
  normalizeDataType(type: unknown): DateType;
}

/** The way to the tables: statements with a deadline, transactions that are tried again, and the clock. */
export class Database {
  readonly clock = new Clock();
  /** An expression for the database's own time, in milliseconds since 1970. */
  readonly nowSql: string;
  readonly #dateType: DateType;
  readonly #sequelizeOptions: { timezone: string };
  readonly #patience = new AsyncLocalStorage<Patience>();
  #writes: Promise<unknown> = Promise.resolve();

  constructor(
    readonly sequelize: Sequelize,
    readonly dialect: Dialect,
    private readonly tablePrefix: string,
  ) {
    this.nowSql = NOW[dialect];
    const internals = sequelize as unknown as SequelizeInternals;
    this.#dateType = internals.normalizeDataType(DataTypes.DATE(3));
    this.#sequelizeOptions = internals.options;
  }

  /** A table's name with the configured prefix. */
  table(name: string): string {
    return this.tablePrefix + name;
  }

  /** Digests as a list of literals. Only 64 hexadecimal digits each, so that nothing else can get into the SQL. */
  digestLiterals(digests: readonly string[]): string {
    if (!digests.every((digest) => /^[0-9a-f]{64}$/.test(digest)))
      throw new TypeError('not a SHA-256 digest');
    return digests.map((hex) => (this.dialect === 'postgres' ? `'\\x${hex}'` : `x'${hex}'`)).join(',');
  }

  async select<Row>(sql: string, replacements?: Replacements, transaction?: Transaction): Promise<Row[]> {
    const rows: unknown = await this.run(() =>
      transaction
        ? this.#query(sql, QueryTypes.SELECT, replacements, transaction)
        : this.#retrying(() => this.#query(sql, QueryTypes.SELECT, replacements)),
    );
    if (this.dialect === 'mysql') for (const row of rows as object[]) this.#decodeTimes(row);
    return rows as Row[];
  }

  /** Runs an INSERT, UPDATE or DELETE and answers how many rows it touched. */
  async change(sql: string, replacements?: Replacements, transaction?: Transaction): Promise<number> {
    const statement = () => this.#query(sql, QueryTypes.BULKUPDATE, replacements, transaction);
    const affected: unknown = await (transaction ? this.run(statement) : this.write(statement));
    return affected as number;
  }

  /** Runs one statement that writes, whichever way it is made. */
  write<T>(statement: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.#deadlineMs;
    // What waited in line for too long has been answered as failed: it must not be done after all.
    const inTime = () => (performance.now() < deadline ? statement() : Promise.reject(noAnswer()));
    return this.run(() => this.#retrying(() => this.#inLine(inTime)));
  }

  /**
   * Runs work that writes more than one row. The whole of it is tried again, three times at most, when the database
   * broke it off for another's sake; so it must do nothing that cannot be done twice: no mail, no event.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    // An immediate transaction takes SQLite's write lock at its start, where waiting for it is still possible.
    // Elsewhere a transaction must see what others have done by the time it gets a lock, whatever the app's own default.
    const options =
      this.dialect === 'sqlite'
        ? { type: Transaction.TYPES.IMMEDIATE }
        : { isolationLevel: Transaction.ISOLATION_LEVELS.READ_COMMITTED };
    return this.write(() => this.sequelize.transaction(options, work));
  }

  /** Does the work of a request: its statements together wait no longer than a single one may. */
  async forRequest<T>(work: () => Promise<T>): Promise<T> {
    const patience = new Patience(DEADLINE_MS);
    try {
      return await this.#patience.run(patience, work);
    } finally {
      patience.release();
    }
  }

  /** Does work that belongs to no request, though one has begun it: nobody's patience is spent by it. */
  forNobody<T>(work: () => Promise<T>): Promise<T> {
    return this.#patience.exit(work);
  }

  /** Gives database work a deadline, and its failures their name: `unavailable`. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const patience = this.#patience.getStore();
    const deadlineMs = this.#deadlineMs;
    if (deadlineMs <= 0) throw noAnswer();
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(noAnswer()), deadlineMs);
    });
    patience?.begin();
    try {
      return await Promise.race([work(), deadline]);
    } catch (error) {
      throw isConstraintError(error) ? error : asUnavailable(error);
    } finally {
      patience?.end();
      clearTimeout(timer);
    }
  }

  /** A stored time, whatever the driver makes of it. */
  static toDate(value: Date | string): Date {
    return value instanceof Date ? value : new Date(value);
  }

  get #deadlineMs(): number {
    return Math.min(DEADLINE_MS, this.#patience.getStore()?.left ?? DEADLINE_MS);
  }

  #query(sql: string, type: QueryTypes, replacements?: Replacements, transaction?: Transaction) {
    return this.sequelize.query(sql, {
      type,
      raw: true,
      // Null, not undefined: an app that uses Sequelize's CLS must not draw our statements into its transactions.
      transaction: transaction ?? null,
      ...(replacements && { replacements: this.#encode(replacements) }),
    });
  }

  // Left alone, Sequelize writes a Date here in the process's time zone, and to MySQL without its milliseconds.
  #encode(replacements: Replacements): Record<string, unknown> {
    const encoded: Record<string, unknown> = { ...replacements };
    for (const [name, value] of Object.entries(replacements)) {
      if (value instanceof Date) encoded[name] = this.#dateType.stringify(value, this.#sequelizeOptions);
    }
    return encoded;
  }

  // A connection that died while it was idle costs no request, nor do ten of them. And a database that has to choose between two breaks one of them off, a single statement too.
  async #retrying<T>(attempt: () => Promise<T>): Promise<T> {
    for (let attempts = 1; ; attempts++) {
      try {
        return await attempt();
      } catch (error) {
        if (wasNotSent(error) && attempts <= MAX_CONNECTIONS) continue;
        if (attempts >= MAX_ATTEMPTS || !isRetryable(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, attempts * 20 * (0.5 + Math.random())));
      }
    }
  }

  // An app can have told mysql2 to leave times as strings (`dateStrings`). They then stand in Sequelize's time zone,
  // and do not say so.
  #decodeTimes(row: object): void {
    const options = this.#sequelizeOptions;
    for (const [column, value] of Object.entries(row)) {
      if (typeof value !== 'string' || !TIME_COLUMN.test(column)) continue;
      Object.assign(row, {
        [column]: this.#dateType.constructor.parse({ string: () => value }, options),
      });
    }
  }

  // SQLite has one writer at a time. Within a process they stand in line; between processes, Sequelize tries again.
  #inLine<T>(write: () => Promise<T>): Promise<T> {
    if (this.dialect !== 'sqlite') return write();
    const turn = this.#writes.then(write, write);
    this.#writes = turn.catch(() => undefined);
    return turn;
  }
}

function noAnswer(): AuthError {
  return new AuthError('unavailable', { cause: new Error('database: no answer in time') });
}

function isConstraintError(error: unknown): boolean {
  return /^Sequelize(Unique|ForeignKey)Constraint/.test((error as Error)?.name);
}
