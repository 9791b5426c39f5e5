import { QueryTypes, type Sequelize, type Transaction } from 'sequelize';
import { type ConnectionManager, connectionManagerOf, type Dialect } from './connect.js';
import { isReadOnly, NotPrimary } from './faults.js';

/**
 * The question whether a server accepts writes. Its answer is one row with one value. On PostgreSQL, a primary can
 * also be set to refuse writes. It is asked for that too, because its rows are not out of date.
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
 * Keeps latchkey away from a server that is no longer the primary. After a fail-over, a connection to the old primary
 * would stay in the pool, and a guard would read sessions there that have since been revoked at the new primary. So a
 * connection is asked when it is first used, and again after any statement was refused because its server is read-only.
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
   * Asks a connection that the caller has got from a pool, unless it has been asked.
   *
   * @returns undefined if there is nothing to ask
   * @throws NotPrimary if the connection must not be used. It has been removed from its pool
   */
  check(connection: object, manager = connectionManagerOf(this.sequelize)): Promise<void> | undefined {
    const asked = this.#asked.get(connection);
    if (asked === this.#round || !this.#question) return undefined;
    return this.#ask(connection, this.#question, asked === undefined, manager);
  }

  /** As {@link check}, at the start of a transaction. */
  async checkTransaction(transaction: Transaction): Promise<void> {
    try {
      await this.check((transaction as unknown as { connection: object }).connection);
    } catch (error) {
      // Otherwise, Sequelize would send a ROLLBACK on the connection that has been closed.
      (transaction as unknown as { finished: string }).finished = 'rollback';
      throw error;
    }
  }

  /** Has every connection asked again if an error says that a server is read-only. */
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
    // A new connection would be no better if the primary itself refuses writes.
    if (answer === 'replica' || (answer === 'read-only' && !isNew)) {
      // Now, because nothing else uses it before it is released.
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
      // A database that does not know the question has no answer. A lost connection fails with the next statement.
      return undefined;
    }
  }
}
