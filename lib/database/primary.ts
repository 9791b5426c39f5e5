import { QueryTypes, type Sequelize, type Transaction } from 'sequelize';
import { type ConnectionManager, connectionManagerOf, type Dialect } from './connect.js';
import { isReadOnly, NotPrimary } from './faults.js';

/**
 * The query that shows whether a server accepts writes. It returns one row with one value. On PostgreSQL, a primary can
 * also be configured to reject writes. The query distinguishes that case, because the rows of a primary are up to date.
 *
 * @see https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html#sysvar_read_only
 * @see https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-RECOVERY-INFO-TABLE
 */
const QUESTIONS: Partial<Record<Dialect, string>> = {
  mysql: "SELECT IF(@@GLOBAL.read_only OR @@GLOBAL.innodb_read_only, 'replica', '') AS answer",
  postgres: `SELECT CASE WHEN pg_is_in_recovery() THEN 'replica'
    WHEN current_setting('transaction_read_only') = 'on' THEN 'read-only' ELSE '' END AS answer`,
};

/**
 * Keeps latchkey from using a server that is no longer the primary. After a failover, a connection to the old primary
 * would stay in the pool, and a guard would read sessions there that have since been revoked at the new primary. So a
 * connection is checked when it is first used, and again after any statement was rejected because its server is
 * read-only.
 */
export class Primary {
  #round = 0;
  readonly #asked = new WeakMap<object, number>();
  readonly #question: string | undefined;

  constructor(
    private readonly sequelize: Sequelize,
    dialect: Dialect,
  ) {
    this.#question = QUESTIONS[dialect];
  }

  /**
   * Checks a connection that the caller has taken from a pool, unless it has already been checked.
   *
   * @returns undefined if no check is needed
   * @throws NotPrimary if the connection must not be used. It has then been removed from its pool
   */
  check(connection: object, manager = connectionManagerOf(this.sequelize)): Promise<void> | undefined {
    const asked = this.#asked.get(connection);
    if (asked === this.#round || !this.#question) return undefined;
    return this.#ask(connection, this.#question, asked === undefined, manager);
  }

  /** Like {@link check}, at the start of a transaction. */
  async checkTransaction(transaction: Transaction): Promise<void> {
    try {
      await this.check((transaction as unknown as { connection: object }).connection);
    } catch (error) {
      // Otherwise, Sequelize would send a ROLLBACK on the connection that has been closed.
      (transaction as unknown as { finished: string }).finished = 'rollback';
      throw error;
    }
  }

  /** Makes every connection be checked again if an error says that a server is read-only. */
  observe(error: unknown): void {
    if (isReadOnly(error)) this.#round++;
  }

  async #ask(
    connection: object,
    question: string,
    isNew: boolean,
    { pool }: ConnectionManager,
  ): Promise<void> {
    const round = this.#round;
    const answer = await this.#answerTo(question, connection);
    // If the primary itself rejects writes, a new connection would not help.
    if (answer === 'replica' || (answer === 'read-only' && !isNew)) {
      // Close the connection now, because no other code can use it before it is released.
      (pool?.write ?? pool)?.destroy(connection).catch(() => undefined);
      throw new NotPrimary(isNew);
    }
    this.#asked.set(connection, round);
  }

  async #answerTo(question: string, connection: object): Promise<unknown> {
    try {
      const [row] = await this.sequelize.query<{ answer: unknown }>(question, {
        type: QueryTypes.SELECT,
        raw: true,
        logging: false,
        // Sequelize sends a statement on the connection of its transaction.
        transaction: { connection } as unknown as Transaction,
      });
      return row?.answer;
    } catch {
      // The database does not support the query, or the connection is lost and fails with the next statement.
      return undefined;
    }
  }
}
