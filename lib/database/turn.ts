import type { Sequelize } from 'sequelize';
import { AuthError } from '../errors.js';

// If the app calls latchkey within its transactions, those may hold all connections until latchkey has answered.
const MAX_WAIT_MS = 2000;

/** Of sequelize-pool. SQLite has none, and with replication there are two. */
interface Pool {
  readonly maxSize?: number;
  readonly using?: number;
  readonly waiting?: number;
}

/** A statement or transaction with a deadline. Once its caller has been told that it failed, it must not take effect. */
export class Turn {
  /** Whether it is known to have a connection, so that it does not wait for the pool any more. */
  hasConnection = false;
  #isStarved = false;

  /** @param end by `performance.now()` */
  constructor(private readonly end: number) {}

  /** Whether its caller has been told that it failed. */
  get isLate(): boolean {
    return this.#isStarved || performance.now() >= this.end;
  }

  /** Fails with the cause if `work` is still waiting after two seconds because the pool has no free connection. */
  async orStarved<T>(sequelize: Sequelize, work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const starved = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const size = exhausted(sequelize);
        if (size === null || this.hasConnection) return;
        this.#isStarved = true;
        reject(noConnection(size));
      }, MAX_WAIT_MS);
    });
    try {
      return await Promise.race([work, starved]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The size of the pool, if all of its connections are in use and something waits for one. */
function exhausted(sequelize: Sequelize): number | null {
  const { pool } = (sequelize as unknown as { connectionManager: { pool?: Pool } }).connectionManager;
  const { maxSize = 0, using = 0, waiting = 0 } = pool ?? {};
  return waiting > 0 && using >= maxSize ? maxSize : null;
}

function noConnection(size: number): AuthError {
  return new AuthError('unavailable', {
    cause: new Error(
      `database: no connection became free for ${MAX_WAIT_MS / 1000} seconds, all ${size} of the pool are in use. ` +
        'If latchkey is called within transactions of the app, they wait for each other: call it before or after them',
    ),
  });
}

/** For a statement or transaction that has passed its deadline. */
export function noAnswer(): AuthError {
  return new AuthError('unavailable', { cause: new Error('database: no answer in time') });
}

/** Keeps a statement that has waited for a connection for too long from being sent: its caller knows it as failed. */
export function refuseLateStatements(sequelize: Sequelize): void {
  // Another Auth may use the same instance.
  sequelize.removeHook('beforeQuery', 'latchkey');
  sequelize.addHook('beforeQuery', 'latchkey', (options: object) => {
    const { turn } = options as { turn?: Turn };
    if (!turn) return;
    if (turn.isLate) throw noAnswer();
    turn.hasConnection = true;
  });
}
