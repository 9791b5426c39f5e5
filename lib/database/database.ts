import { DataTypes, QueryTypes, type Sequelize, Transaction } from 'sequelize';
import type { CallContext } from '../context/call.js';
import { withTimeout } from '../context/deadline.js';
import { Clock } from './clock.js';
import type { Dialect } from './connect.js';
import { AppError, asUnavailable, isRetryable, wasNotSent } from './faults.js';
import { fillIn, literal, type Value } from './literal.js';
import { noAnswer, refuseLateStatements, Turn } from './turn.js';

/** The values of a statement's `:name` placeholders. A list is for `IN (:name)`. */
export type Replacements = Readonly<Record<string, Value | readonly string[] | readonly Buffer[]>>;

/** The deadline of a single statement, and of all statements of one request together. */
export const DEADLINE_MS = 4000;
const MAX_ATTEMPTS = 3;
const MAX_CONNECTIONS = 10;

const NOW: Record<Dialect, string> = {
  // Not UNIX_TIMESTAMP(NOW(3)): in a time zone with summer time, one hour of the year is ambiguous.
  mysql: "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000",
  postgres: '(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::float8',
  sqlite: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
};

interface DateType {
  stringify(date: Date, options: { timezone: string }): string;
  constructor: { parse(column: { string(): string }, options: { timezone: string }): Date };
}

// Methods with which Sequelize itself converts values; its types omit them.
interface SequelizeInternals {
  readonly options: { timezone: string };
  normalizeDataType(type: unknown): DateType;
}

/** Options of a statement. */
interface StatementOptions {
  readonly transaction?: Transaction | undefined;
  /** Excludes the statement from the app's log, because it contains a secret. */
  readonly isSecret?: boolean;
  /** Excludes the statement if it gets a connection too late. */
  readonly turn?: Turn;
}

/** Access to the database: statements with deadlines, transactions with retries, and the clock. */
export class Database {
  readonly clock = new Clock();
  /** A SQL expression for the database's time, in milliseconds since 1970. */
  readonly nowSql: string;
  readonly #dateType: DateType;
  readonly #internals: SequelizeInternals;
  #reading: Promise<void> | undefined;
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
    refuseLateStatements(sequelize);
  }

  /** The name of a table, with the configured prefix. */
  table(name: string): string {
    return this.tablePrefix + name;
  }

  /** Reads the database's clock, unless it has been read before. Statements wait for this. */
  async ready(): Promise<void> {
    if (this.clock.isSet) return;
    this.#reading ??= this.share(() => this.#readClock()).finally(() => {
      this.#reading = undefined;
    });
    // Nobody waits for it if the call has no time left. Its rejection must not end the process then.
    this.#reading.catch(() => undefined);
    await this.awaitShared(() => this.#reading as Promise<void>);
  }

  /** Digests as SQL literals for `IN (…)`, for the most frequent statement, which uses no replacements. */
  digestList(digests: readonly Buffer[]): string {
    return digests.map((digest) => literal(this.dialect, digest)).join(', ');
  }

  /** Runs a SELECT. Outside a transaction it is retried. */
  async select<Row>(
    sql: string,
    replacements?: Replacements,
    transaction?: Transaction,
    deadlineMs = DEADLINE_MS,
  ): Promise<Row[]> {
    await this.ready();
    const statement = () => this.#query(sql, QueryTypes.SELECT, replacements, { transaction });
    const attempt = () => (transaction ? statement() : this.#retrying(statement));
    const rows: unknown = await this.#run(attempt, deadlineMs);
    return rows as Row[];
  }

  /** Runs an INSERT, UPDATE or DELETE. @returns the number of affected rows */
  async change(sql: string, replacements?: Replacements, options: StatementOptions = {}): Promise<number> {
    await this.ready();
    const statement = (turn: Turn) =>
      this.#query(
        sql,
        QueryTypes.BULKUPDATE,
        replacements,
        options.transaction ? options : { ...options, turn },
      );
    const affected: unknown = await (options.transaction ? this.#run(statement) : this.#write(statement));
    return affected as number;
  }

  /**
   * Runs work in a transaction. It is retried as a whole, with at most three attempts, if the database aborts it in
   * favor of another one. So it must not have side effects outside the database, such as emails or events.
   */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    // Before it holds a connection: reading the clock takes one too.
    await this.ready();
    // On SQLite, an immediate transaction takes the write lock at its start, when it can still be retried. On the
    // others, whatever the app's default, a transaction must see what has been committed by the time it gets a lock.
    const options =
      this.dialect === 'sqlite'
        ? { type: Transaction.TYPES.IMMEDIATE }
        : { isolationLevel: Transaction.ISOLATION_LEVELS.READ_COMMITTED };
    return this.#write((turn) =>
      this.sequelize.transaction(options, async (transaction) => {
        turn.hasConnection = !turn.isLate;
        const outcome = await work(transaction);
        // It has been reported as failed, so it is rolled back.
        if (turn.isLate) throw noAnswer();
        return outcome;
      }),
    );
  }

  /** Awaits statements that several calls share, and charges the wait to the current call's budget. */
  async awaitShared<T>(work: () => Promise<T>): Promise<T> {
    return this.context.budget ? this.#run(work) : work();
  }

  /** Runs statements that several calls share, without charging any call's budget. */
  share<T>(work: () => Promise<T>): Promise<T> {
    return this.context.detached(work);
  }

  /** Converts a stored time as the driver returned it. */
  toDate(value: Date | string): Date {
    if (value instanceof Date) return value;
    // With mysql2's `dateStrings`, times are strings in Sequelize's time zone, without an offset.
    if (this.dialect !== 'mysql') return new Date(value);
    return this.#dateType.constructor.parse({ string: () => value }, this.#internals.options);
  }

  /** Applies the deadline, and turns failures other than constraint violations into `unavailable`. */
  async #run<T>(work: (turn: Turn) => Promise<T>, deadlineMs = DEADLINE_MS): Promise<T> {
    const { budget } = this.context;
    const limitMs = Math.min(deadlineMs, budget?.left ?? deadlineMs);
    if (limitMs <= 0) throw noAnswer();
    const turn = new Turn(performance.now() + limitMs);
    const limited = () => withTimeout(turn.orStarved(this.sequelize, work(turn)), limitMs, noAnswer);
    try {
      return await (budget ? budget.spend(limited) : limited());
    } catch (error) {
      if (error instanceof AppError && !isRetryable(error)) throw error.cause;
      throw isConstraintError(error) ? error : asUnavailable(error);
    }
  }

  /** Runs a write: a statement or a transaction. */
  #write<T>(attempt: (turn: Turn) => Promise<T>): Promise<T> {
    // A write that waited past its deadline has been reported as failed, so it must not run any more.
    return this.#run((turn) => {
      const inTime = () => (turn.isLate ? Promise.reject(noAnswer()) : attempt(turn));
      return this.#retrying(() => this.#serialized(inTime));
    });
  }

  #query(
    sql: string,
    type: QueryTypes,
    replacements: Replacements | undefined,
    { transaction, isSecret = false, turn }: StatementOptions,
  ) {
    return this.sequelize.query(replacements ? this.#fillIn(sql, replacements) : sql, {
      type,
      raw: true,
      // Null, not undefined: with Sequelize's CLS, the statement would otherwise join the app's transaction.
      transaction: transaction ?? null,
      ...(turn && { turn }),
      ...(isSecret && { logging: false }),
    });
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

  async #readClock(): Promise<void> {
    const statement = () => this.#query(`SELECT ${this.nowSql} AS db_now`, QueryTypes.SELECT, undefined, {});
    const rows: unknown = await this.#run(() => this.#retrying(statement));
    const [row] = rows as { db_now: number | string }[];
    if (row) this.clock.observe(Number(row.db_now));
  }

  // Retries statements that were not sent because an idle connection had died, up to the size of the pool, and
  // statements that the database aborted in favor of another.
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

  // SQLite allows one writer at a time. Those of one process are queued here; between processes, Sequelize retries.
  #serialized<T>(write: () => Promise<T>): Promise<T> {
    if (this.dialect !== 'sqlite') return write();
    const turn = this.#writes.then(write, write);
    this.#writes = turn.catch(() => undefined);
    return turn;
  }
}

function isConstraintError(error: unknown): boolean {
  return /^Sequelize(Unique|ForeignKey)Constraint/.test((error as Error)?.name);
}
