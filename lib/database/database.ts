import { DataTypes, QueryTypes, type Sequelize, Transaction } from 'sequelize';
import type { CallContext } from '../context/call.js';
import { withTimeout } from '../context/deadline.js';
import { AuthError } from '../errors.js';
import { Clock } from './clock.js';
import type { Dialect } from './connect.js';
import { asUnavailable, isRetryable, wasNotSent } from './faults.js';

type Value = string | number | boolean | Buffer | Date | null;

/** What a statement's `:names` stand for. A list is for `IN (:name)`. */
export type Replacements = Readonly<Record<string, Value | readonly string[] | readonly Buffer[]>>;

/** For a single statement, and for all the statements of one request together. */
export const DEADLINE_MS = 4000;
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

// What Sequelize itself writes and reads values with, which its types do not show.
interface SequelizeInternals {
  readonly options: { timezone: string };
  normalizeDataType(type: unknown): DateType;
  escape(value: Buffer): string;
}

/** How a statement is sent. */
interface StatementOptions {
  readonly transaction?: Transaction | undefined;
  /** Keeps the statement out of the app's log, because it contains a secret. */
  readonly isSecret?: boolean;
}

/** The way to the tables: statements with a deadline, transactions that are retried, and the clock. */
export class Database {
  readonly clock = new Clock();
  /** An expression for the database's own time, in milliseconds since 1970. */
  readonly nowSql: string;
  readonly #dateType: DateType;
  readonly #internals: SequelizeInternals;
  #writes: Promise<unknown> = Promise.resolve();

  constructor(
    readonly sequelize: Sequelize,
    readonly dialect: Dialect,
    private readonly tablePrefix: string,
    private readonly context: CallContext,
  ) {
    this.nowSql = NOW[dialect];
    this.#internals = sequelize as unknown as SequelizeInternals;
    this.#dateType = this.#internals.normalizeDataType(DataTypes.DATE(3));
  }

  /** A table's name with the configured prefix. */
  table(name: string): string {
    return this.tablePrefix + name;
  }

  /** Digests as literals for `IN (…)`: for the busiest statement, which takes no replacements. */
  digestList(digests: readonly Buffer[]): string {
    return digests.map((digest) => this.#internals.escape(digest)).join(', ');
  }

  async select<Row>(
    sql: string,
    replacements?: Replacements,
    transaction?: Transaction,
    deadlineMs = DEADLINE_MS,
  ): Promise<Row[]> {
    const statement = () => this.#query(sql, QueryTypes.SELECT, replacements, { transaction });
    const attempt = () => (transaction ? statement() : this.#retrying(statement));
    const rows: unknown = await this.#run(attempt, deadlineMs);
    return rows as Row[];
  }

  /** Runs an INSERT, UPDATE or DELETE. @returns how many rows it touched */
  async change(sql: string, replacements?: Replacements, options: StatementOptions = {}): Promise<number> {
    const statement = () => this.#query(sql, QueryTypes.BULKUPDATE, replacements, options);
    const affected: unknown = await (options.transaction ? this.#run(statement) : this.#write(statement));
    return affected as number;
  }

  /**
   * Runs work that writes more than one row. All of it is tried again, three times at most, when the database aborts it
   * in favour of another transaction; so it must do nothing that cannot be done twice: no mail, no event.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    // An immediate transaction takes SQLite's write lock at its start, where waiting for it is still possible.
    // Elsewhere a transaction must see what others have committed by the time it gets a lock, whatever the app's default.
    const options =
      this.dialect === 'sqlite'
        ? { type: Transaction.TYPES.IMMEDIATE }
        : { isolationLevel: Transaction.ISOLATION_LEVELS.READ_COMMITTED };
    return this.#write((isLate) =>
      this.sequelize.transaction(options, async (transaction) => {
        const outcome = await work(transaction);
        // Rolled back: its caller has been told that it failed.
        if (isLate()) throw noAnswer();
        return outcome;
      }),
    );
  }

  /** Waits for statements that several calls share, on the budget of the call that waits. */
  async awaitShared<T>(work: () => Promise<T>): Promise<T> {
    return this.context.budget ? this.#run(work) : work();
  }

  /** Runs statements that several calls share, on no call's budget. */
  share<T>(work: () => Promise<T>): Promise<T> {
    return this.context.detached(work);
  }

  /** A stored time, whatever the driver makes of it. */
  toDate(value: Date | string): Date {
    if (value instanceof Date) return value;
    // An app can tell mysql2 to leave times as strings (`dateStrings`). They are in Sequelize's time zone then, and do
    // not say so.
    if (this.dialect !== 'mysql') return new Date(value);
    return this.#dateType.constructor.parse({ string: () => value }, this.#internals.options);
  }

  /** Gives database work its deadline, and its failures their name: `unavailable`. */
  async #run<T>(work: (isLate: () => boolean) => Promise<T>, deadlineMs = DEADLINE_MS): Promise<T> {
    const { budget } = this.context;
    const limitMs = Math.min(deadlineMs, budget?.left ?? deadlineMs);
    if (limitMs <= 0) throw noAnswer();
    const end = performance.now() + limitMs;
    const limited = () =>
      withTimeout(
        work(() => performance.now() >= end),
        limitMs,
        noAnswer,
      );
    try {
      return await (budget ? budget.spend(limited) : limited());
    } catch (error) {
      throw isConstraintError(error) ? error : asUnavailable(error);
    }
  }

  /** Runs what writes, a statement or a transaction. */
  #write<T>(attempt: (isLate: () => boolean) => Promise<T>): Promise<T> {
    // The caller of what waited too long has been told that it failed, so it must not be carried out after all.
    return this.#run((isLate) => {
      const inTime = () => (isLate() ? Promise.reject(noAnswer()) : attempt(isLate));
      return this.#retrying(() => this.#inLine(inTime));
    });
  }

  #query(
    sql: string,
    type: QueryTypes,
    replacements: Replacements | undefined,
    { transaction, isSecret = false }: StatementOptions,
  ) {
    return this.sequelize.query(sql, {
      type,
      raw: true,
      // Null, not undefined: with Sequelize's CLS, an app's transaction would otherwise take in our statements.
      transaction: transaction ?? null,
      ...(isSecret && { logging: false }),
      ...(replacements && { replacements: this.#encode(replacements) }),
    });
  }

  // Left alone, Sequelize writes a Date here in the process's time zone, and to MySQL without its milliseconds.
  #encode(replacements: Replacements): Record<string, unknown> {
    const encoded: Record<string, unknown> = { ...replacements };
    for (const [name, value] of Object.entries(replacements)) {
      if (value instanceof Date) encoded[name] = this.#dateType.stringify(value, this.#internals.options);
    }
    return encoded;
  }

  // A connection that died while it was idle costs no request, nor do ten of them. And a database that has to choose
  // between two statements aborts one of them.
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

  // SQLite has one writer at a time. Within a process they wait in line; between processes, Sequelize retries.
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
