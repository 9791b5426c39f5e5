import { QueryTypes, type Sequelize, type Transaction } from 'sequelize';
import type { CallContext, JoinedTransaction } from '../context/call.js';
import { performance } from '../timers.js';
import {
  abandon,
  inSavepoint,
  isEnded,
  isUsedByHook,
  joinTransaction,
  keepFromPool,
} from './app-transaction.js';
import { Clock, NOW_SQL } from './clock.js';
import { Commits } from './commits.js';
import { connectByUrl, connectionManagerOf, type Dialect, dialectOf, schemaOf } from './connect.js';
import {
  type ConnectionTransaction,
  ConnectionTransactions,
  isByConnection,
  requireTransaction,
} from './connection-transaction.js';
import { Driver, type LookupSql } from './driver.js';
import { AppError, asFailure, asStatementOf, isRefused } from './faults.js';
import { Primary } from './primary.js';
import { type Replacements, type StatementOptions, Statements } from './statements.js';
import { Together } from './together.js';
import { DEADLINE_MS, noAnswer, retrying, Turn } from './turn.js';

/**
 * Opens the database that the config names, without connecting yet.
 *
 * @throws TypeError on a URL or an instance that cannot be used
 */
export function openDatabase(
  urlOrInstance: Sequelize | string,
  tablePrefix: string,
  context: CallContext,
): Database {
  const sequelize = typeof urlOrInstance === 'string' ? connectByUrl(urlOrInstance) : urlOrInstance;
  if (!sequelize) {
    throw new TypeError(
      'latchkey: database must be a valid URL that starts with sqlite:, mysql://, mariadb:// or postgres://',
    );
  }
  const dialect = dialectOf(sequelize);
  if (!dialect) {
    throw new TypeError(
      `latchkey: database is a Sequelize instance for ${sequelize.getDialect()}; it must be for mysql, mariadb, postgres or sqlite`,
    );
  }
  const schema = schemaOf(sequelize);
  if (schema !== undefined) {
    const remedy =
      dialect === 'postgres'
        ? `let its connections use the schema: dialectOptions: { options: '-c search_path=${schema}' }`
        : 'pass an instance without the option schema, which this database does not have';
    throw new TypeError(
      `latchkey: database is a Sequelize instance with the option schema: '${schema}', which latchkey's own statements do not use: ${remedy}`,
    );
  }
  const isOwnPool = typeof urlOrInstance === 'string';
  return new Database({ sequelize, dialect, isOwnPool }, tablePrefix, context);
}

/** What hooks of the app get, to take part in a transaction. */
export interface GivenToHook {
  readonly transaction: Transaction;
  readonly connection: unknown;
}

function endedInHook(): Error {
  const message = 'the database has rolled back the transaction while a hook was using its connection';
  return Object.assign(new Error(message), { parent: { code: 'ER_LOCK_DEADLOCK', message } });
}

/** A transaction of the app. */
export type AppTransaction = Transaction | ConnectionTransaction;

/** The connections to the database. */
interface Connections {
  readonly sequelize: Sequelize;
  readonly dialect: Dialect;
  /** Whether latchkey has opened the pool, and no other code uses it. */
  readonly isOwnPool: boolean;
}

/**
 * Access to the database: statements with deadlines, transactions with retries, and the clock. Within a call that takes
 * part in a transaction of the app, every statement is sent through that transaction.
 */
export class Database {
  readonly sequelize: Sequelize;
  readonly dialect: Dialect;
  readonly clock = new Clock();
  /** A SQL expression for the database's time, in milliseconds since 1970. */
  readonly nowSql: string;
  readonly statements: Statements;
  readonly primary: Primary;
  readonly commits: Commits;
  /** The names of all tables that have been used. */
  readonly tables = new Set<string>();
  readonly #ofConnections = new ConnectionTransactions(this);
  /** The transactions of connections that hooks have got. */
  readonly #inHooks = new WeakMap<object, Transaction>();
  #reading: Promise<void> | undefined;
  readonly #writers: Writers;
  readonly #units = new Units();

  constructor(
    { sequelize, dialect, isOwnPool }: Connections,
    private readonly tablePrefix: string,
    readonly context: CallContext,
  ) {
    this.sequelize = sequelize;
    this.dialect = dialect;
    this.nowSql = NOW_SQL[dialect];
    this.primary = new Primary(sequelize, dialect);
    this.commits = new Commits(context);
    const driver = new Driver(sequelize, dialect, this.primary, isOwnPool);
    this.statements = new Statements(sequelize, dialect, this.primary, driver);
    this.#writers = new Writers(dialect);
  }

  /** Returns the name of a table with the configured prefix. */
  table(name: string): string {
    const prefixed = this.tablePrefix + name;
    this.tables.add(prefixed);
    return prefixed;
  }

  /** Whether the current call takes part in a transaction of the app. */
  get isJoined(): boolean {
    return this.context.joined !== undefined;
  }

  /**
   * The end of a SELECT that must return the current state, for a rule that relies on a lock. Empty outside a
   * transaction of the app, because only its isolation level can make a plain SELECT return an older state.
   */
  get currentRead(): string {
    if (!this.isJoined || this.dialect === 'sqlite') return '';
    return this.dialect === 'mysql' ? 'LOCK IN SHARE MODE' : 'FOR SHARE';
  }

  /**
   * Runs `work` as a part of the app's transaction, if there is one. Its statements do not have to name the
   * transaction. Events and emails are sent after the commit.
   *
   * @throws TypeError if it is neither a transaction of this Sequelize instance nor one on a connection to this
   *   database, or has ended
   */
  async join<T>(transaction: AppTransaction | null | undefined, work: () => Promise<T>): Promise<T> {
    if (transaction === null || transaction === undefined) return this.context.whole(work);
    const joined = await this.#joined(transaction);
    const outcome = await this.context.inTransaction(joined, work).catch(async (error) => {
      // The app can commit what the call has recorded before it failed, such as a failed sign-in.
      await joined.end?.().catch(() => undefined);
      throw error;
    });
    await joined.end?.();
    return outcome;
  }

  /**
   * Runs a hook of the app as a part of a transaction. Its own calls are part of the transaction only if they pass it.
   *
   * @param work gets what the hook needs to take part in the transaction
   */
  async inHook<T>(transaction: Transaction, work: (given: GivenToHook) => T | Promise<T>): Promise<T> {
    const connection = this.#connectionOf(transaction);
    this.#inHooks.set(connection, transaction);
    let release: (() => void) | undefined;
    const given: GivenToHook = {
      transaction,
      get connection() {
        if (isEnded(transaction)) throw new TypeError('latchkey: the transaction of the hook has ended');
        release ??= keepFromPool(transaction);
        return connection;
      },
    };
    let outcome: T;
    try {
      outcome = await this.context.forApp(() => work(given));
    } finally {
      release?.();
    }
    if (!release || this.dialect !== 'mysql') return outcome;
    const check = () => this.#requireStillOpen(transaction);
    await (this.context.joined ? this.context.joined.exclusively(check) : check());
    return outcome;
  }

  /** MySQL might have ended the transaction after a statement that the hook has sent on the connection. */
  async #requireStillOpen(transaction: Transaction): Promise<void> {
    try {
      await requireTransaction((sql) => this.sequelize.query(sql, { transaction, raw: true }));
    } catch (error) {
      await abandon(transaction);
      throw error instanceof TypeError ? endedInHook() : error;
    }
  }

  #joined(given: AppTransaction): Promise<JoinedTransaction> {
    const transaction = isByConnection(given) ? (this.#ofHook(given) ?? given) : given;
    if (isByConnection(transaction)) return this.#ofConnections.join(transaction.connection);
    const connection = this.#ofConnections.connectionOf(transaction);
    return connection && !isEnded(transaction)
      ? this.#ofConnections.join(connection)
      : joinTransaction(this.sequelize, this.dialect, transaction);
  }

  /** Returns latchkey's own transaction, if a hook passes on the connection that it has got. */
  #ofHook({ connection }: ConnectionTransaction): Transaction | undefined {
    // A connection of mysql2/promise wraps the one with callbacks.
    const { connection: inner } = (connection ?? {}) as { connection?: object };
    const transaction = this.#inHooks.get(connection) ?? (inner && this.#inHooks.get(inner));
    return transaction && !isEnded(transaction) ? transaction : undefined;
  }

  #connectionOf(transaction: Transaction): object {
    const { connection } = transaction as unknown as { connection: object & { readonly driver?: object } };
    const given = this.#ofConnections.connectionOf(transaction);
    // latchkey's own driver of SQLite wraps the database of Node's.
    return given ?? (this.dialect === 'sqlite' ? connection.driver : undefined) ?? connection;
  }

  /** Reads the database's clock, unless it has already been read. Statements wait for this. */
  async ready(): Promise<void> {
    if (this.clock.isSet) return;
    // Use the app's transaction, because transactions that wait for this might hold all connections of the pool.
    if (this.isJoined) return this.#readClock();
    this.#reading ??= this.share(() => this.#readClock()).finally(() => {
      this.#reading = undefined;
    });
    // If the call has no time left, no code awaits the promise, and its rejection must not end the process.
    this.#reading.catch(() => undefined);
    await this.awaitShared(() => this.#reading as Promise<void>);
  }

  /** Runs a SELECT. Outside a transaction, the statement has a deadline and is retried. */
  select<Row>(
    sql: string,
    replacements?: Replacements,
    transaction?: Transaction,
    deadlineMs = DEADLINE_MS,
  ): Promise<Row[]> {
    return this.#onceReady(() => this.#select(sql, replacements, transaction, deadlineMs)) as Promise<Row[]>;
  }

  /**
   * Runs a SELECT like {@link select}. Within {@link together}, it is sent in one statement together with others.
   *
   * @param columns the names of all columns of the result
   */
  read<Row>(
    sql: string,
    columns: readonly string[],
    replacements?: Replacements,
    transaction?: Transaction,
  ): Promise<Row[]> {
    const reads = transaction ? undefined : this.context.reads;
    if (!reads) return this.select(sql, replacements, transaction);
    const filledIn = this.statements.fillIn(sql, replacements);
    return this.#onceReady(() => reads.add(filledIn, columns)) as Promise<Row[]>;
  }

  /**
   * Runs `work`. Its concurrent calls of {@link read} are sent as one statement, and equal reads are sent only once.
   */
  together<T>(work: () => Promise<T>): Promise<T> {
    // In a transaction of the app, statements are sent one after another, in their order.
    if (this.isJoined || this.context.reads) return work();
    const send = (turn: Turn, sql: string) =>
      retrying(turn, () => this.statements.sendFilledIn(sql, QueryTypes.SELECT, {})) as Promise<object[]>;
    const select = (sql: string) => this.#run((turn) => send(turn, sql));
    const unlessRefused = (sql: string) =>
      this.#run((turn) =>
        send(turn, sql).catch((error) => {
          if (isRefused(error)) return null;
          throw error;
        }),
      );
    return this.context.collecting(new Together(select, unlessRefused), work);
  }

  /** Selects the row with this key immediately. Returns undefined if {@link lookUp} must do it. */
  findNow<Row>(sql: LookupSql, key: string): Row | null | undefined {
    return this.clock.isSet ? (this.statements.findNow(sql, key) as Row | null | undefined) : undefined;
  }

  /** Selects the rows with these keys. */
  lookUp<Row>(sql: LookupSql, keys: readonly string[], deadlineMs = DEADLINE_MS): Promise<Row[]> {
    if (this.isJoined) return this.select(sql.ofSeveral(keys));
    const attempt = () => this.statements.lookUp<Row>(sql, keys);
    return this.#onceReady(() => this.#run((turn) => retrying(turn, attempt), deadlineMs));
  }

  /** Runs an INSERT, UPDATE or DELETE. @returns the number of affected rows */
  change(sql: string, replacements?: Replacements, options: StatementOptions = {}): Promise<number> {
    const statement = (more: StatementOptions) =>
      this.statements.send(sql, QueryTypes.BULKUPDATE, replacements, { ...options, ...more });
    return this.#onceReady(() => this.#change(statement, options.transaction)) as Promise<number>;
  }

  /**
   * Runs `work` in a transaction. If the database aborts the transaction in favor of another, it is retried as a whole,
   * up to three attempts. So `work` must not have side effects outside the database, such as emails or events.
   * {@link CallContext.checking} can add a check before it.
   *
   * Within a transaction of the app, `work` runs in a savepoint instead, and is not retried.
   */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    // Read the clock before the transaction holds a connection, because reading it requires one too.
    await this.ready();
    const { joined } = this.context;
    if (joined) {
      const { handle } = joined;
      const unit = () => this.#units.during(handle, () => work(handle));
      const { outcome, later } = await joined
        .exclusively(() => inSavepoint(this.sequelize, handle, unit))
        .catch((error) => {
          throw error instanceof AppError ? error.cause : error;
        });
      for (const one of later) joined.afterCommit(one);
      return outcome;
    }
    const { outcome, later } = await this.#write((turn) =>
      this.sequelize.transaction(this.statements.ofTransactions, async (transaction) => {
        await this.primary.checkTransaction(transaction);
        // A transaction that has been reported as failed must be rolled back, even if a hook of the app never returns.
        const unit = async () => {
          await this.context.check?.(transaction);
          return work(transaction);
        };
        return turn.inTime(this.#units.during(transaction, unit)).catch((error) => {
          if (isUsedByHook(transaction)) this.#drop(transaction);
          throw error;
        });
      }),
    );
    for (const one of later) one();
    return outcome;
  }

  /** Checks the app's deferred constraints before COMMIT, because Sequelize drops a connection whose COMMIT fails. */
  async checkDeferred(transaction: Transaction): Promise<void> {
    // The app's own transaction might still delete the rows that refer to the deleted one.
    if (this.dialect !== 'postgres' || this.isJoined) return;
    await this.change('SET CONSTRAINTS ALL IMMEDIATE', undefined, { transaction });
  }

  /** Closes the connection of a transaction on which a hook might still send statements, which also rolls it back. */
  #drop(transaction: Transaction): void {
    const { connection } = transaction as unknown as { connection: object };
    const { pool } = connectionManagerOf(this.sequelize);
    (pool?.write ?? pool)?.destroy(connection).catch(() => undefined);
    // Otherwise, Sequelize would send a ROLLBACK first, and a statement of the hook could follow it.
    Object.assign(transaction, { finished: 'rollback' });
  }

  /**
   * Collects items that `write` stores all together at the end of one of latchkey's own transactions.
   *
   * @returns false if `transaction` is not such a transaction, or has ended
   */
  beforeCommit<Item>(transaction: Transaction, items: readonly Item[], write: Writer<Item>): boolean {
    return this.#units.addItems(transaction, items, write);
  }

  /**
   * Runs `work` after the commit of latchkey's own transaction, or of the app's transaction that the call takes part
   * in. Without such a transaction, runs `work` immediately.
   */
  afterCommit(transaction: Transaction | undefined, work: () => void): void {
    if (!transaction || !this.#units.addLater(transaction, work)) this.context.afterCommit(work);
  }

  /** Awaits statements that several calls share, and charges the wait to the current call's budget. */
  awaitShared<T>(work: () => Promise<T>): Promise<T> {
    return this.context.budget ? this.#run(work) : work();
  }

  /** Runs statements that several calls share, without charging any call's budget. */
  share<T>(work: () => Promise<T>): Promise<T> {
    return this.context.detached(work);
  }

  /** Waits for writes that have been reported to their callers as late. These writes do not take effect. */
  settle(): Promise<void> {
    return this.#writers.settle();
  }

  // Statements should create few promises: on Node 20 and 22, each costs more once an AsyncLocalStorage is in use.
  #onceReady<T>(statement: () => Promise<T>): Promise<T> {
    return this.clock.isSet ? statement() : this.ready().then(statement);
  }

  #select(
    sql: string,
    replacements: Replacements | undefined,
    transaction: Transaction | undefined,
    deadlineMs?: number,
  ): Promise<unknown> {
    const { joined } = this.context;
    const statement = () => this.statements.send(sql, QueryTypes.SELECT, replacements, { transaction });
    if (transaction) return asStatementOf(statement);
    // Wait for the unit of another call, because it might be undone and, on PostgreSQL, its failure would also fail
    // this statement.
    if (joined) return joined.exclusively(() => this.#select(sql, replacements, joined.handle));
    return this.#run((turn) => retrying(turn, statement), deadlineMs);
  }

  #change(
    statement: (options: StatementOptions) => Promise<unknown>,
    transaction: Transaction | undefined,
  ): Promise<unknown> {
    if (transaction) return asStatementOf(() => statement({}));
    const { joined } = this.context;
    if (!joined) return this.#write((turn) => statement({ turn }));
    const { handle } = joined;
    const unit = () => asStatementOf(() => statement({ transaction: handle }));
    // Databases other than PostgreSQL undo only the statement that failed.
    const isSafe = this.dialect !== 'postgres' || joined.commitsItself;
    return joined.exclusively(() => (isSafe ? unit() : inSavepoint(this.sequelize, handle, unit)));
  }

  /** Applies the deadline, and converts failures to the errors that callers get. */
  async #run<T>(work: (turn: Turn) => Promise<T>, deadlineMs = DEADLINE_MS): Promise<T> {
    const { budget } = this.context;
    const limitMs = Math.min(deadlineMs, budget?.left ?? deadlineMs);
    if (limitMs <= 0) throw noAnswer();
    const turn = new Turn(this.sequelize, this.primary, performance.now() + limitMs);
    budget?.begin();
    try {
      return await turn.limited(work(turn));
    } catch (error) {
      throw asFailure(error);
    } finally {
      budget?.end();
    }
  }

  /** Runs a write: a statement or a transaction. */
  #write<T>(attempt: (turn: Turn) => Promise<T>): Promise<T> {
    // A write that waited past its deadline has been reported as failed, so it must no longer run.
    return this.#run((turn) => {
      turn.isLockedOut = this.dialect === 'sqlite';
      const inTime = () => (turn.isLate ? Promise.reject(turn.noAnswer()) : attempt(turn));
      return retrying(turn, () => this.#writers.run(inTime));
    });
  }

  async #readClock(): Promise<void> {
    const [row] = (await this.#select(`SELECT ${this.nowSql} AS db_now`, undefined, undefined)) as object[];
    if (row) this.clock.observe((row as { db_now: number | string }).db_now);
  }
}

/**
 * Queues the writers of this process on SQLite, which allows only one writer at a time. Writes retry while another
 * process or a transaction of the app is writing. On other databases, writers do not wait.
 */
export class Writers {
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly dialect: Dialect) {}

  run<T>(write: () => Promise<T>): Promise<T> {
    if (this.dialect !== 'sqlite') return write();
    const turn = this.#last.then(write, write);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async settle(): Promise<void> {
    await this.#last;
  }
}

type Work = () => void;

/** Writes the items that were collected during a transaction, as a part of it. */
export type Writer<Item> = (items: readonly Item[], transaction: Transaction) => Promise<void>;

interface Unit {
  readonly items: Map<Writer<never>, unknown[]>;
  readonly later: Work[];
}

/**
 * Collects the items that transactions write at their end, and the work that follows their commits. If a transaction is
 * rolled back, its items are not written and its work does not run.
 */
class Units {
  readonly #units = new WeakMap<Transaction, Unit>();

  /** Adds work to run after the commit of a transaction's current unit. @returns false if it has no unit */
  addLater(transaction: Transaction, work: Work): boolean {
    const unit = this.#units.get(transaction);
    unit?.later.push(work);
    return unit !== undefined;
  }

  /** Adds items to write at the end of a transaction's current unit. @returns false if it has no unit */
  addItems<Item>(transaction: Transaction, items: readonly Item[], write: Writer<Item>): boolean {
    const unit = this.#units.get(transaction);
    if (unit) collect(unit, items, write);
    return unit !== undefined;
  }

  /**
   * Runs a unit, such as a transaction, or a savepoint in a transaction of the app. If the unit is within another one,
   * the outer unit takes its items and its work.
   *
   * @returns the outcome, and the work to run after the commit
   */
  async during<T>(
    transaction: Transaction,
    work: () => Promise<T>,
  ): Promise<{ readonly outcome: T; readonly later: readonly Work[] }> {
    const outer = this.#units.get(transaction);
    const unit: Unit = { items: new Map(), later: [] };
    this.#units.set(transaction, unit);
    try {
      const outcome = await work();
      for (const [write, items] of unit.items) {
        if (outer) collect(outer, items, write);
        else await write(items as never[], transaction);
      }
      outer?.later.push(...unit.later);
      return { outcome, later: outer ? [] : unit.later };
    } finally {
      if (outer) this.#units.set(transaction, outer);
      else this.#units.delete(transaction);
    }
  }
}

function collect(unit: Unit, items: readonly unknown[], write: Writer<never>): void {
  const collected = unit.items.get(write) ?? [];
  collected.push(...items);
  unit.items.set(write, collected);
}
