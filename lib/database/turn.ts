import type { Sequelize } from 'sequelize';
import { withTimeout } from '../context/deadline.js';
import { AuthError } from '../errors.js';
import { isBusy, isRetryable, wasNotSent } from './faults.js';

/** The deadline of a single statement, and of all statements of one request together. */
export const DEADLINE_MS = 4000;

// The app's transactions may hold all connections until latchkey, called without them, has answered.
const MAX_WAIT_MS = 2000;

const MEND = 'if latchkey is called within a transaction of the app, pass it as the option transaction';

/** Of sequelize-pool. SQLite has none. */
interface Pool {
  readonly maxSize?: number;
  readonly using?: number;
  readonly waiting?: number;
  /** With `replication` there are two, of which latchkey uses this one. */
  readonly write?: Pool;
}

/** A statement or transaction with a deadline. Once its caller has been told that it failed, it must not take effect. */
export class Turn {
  /** Whether it is known to have a connection, so that it does not wait for the pool any more. */
  hasConnection = false;
  /** Whether it is a writer that waits for a SQLite file, to which another one writes. */
  isLockedOut = false;
  #isTold = false;

  /** @param end by `performance.now()` */
  constructor(private readonly end: number) {}

  /** Whether its caller has been told that it failed. */
  get isLate(): boolean {
    return this.#isTold || performance.now() >= this.end;
  }

  /** Is called before a statement is sent on a connection. @throws AuthError if it is late */
  begin(): void {
    if (this.isLate) throw this.noAnswer();
    this.hasConnection = true;
  }

  /** The error for its caller once it is late. */
  noAnswer(): AuthError {
    return noAnswer(this.isLockedOut ? `. Another transaction was writing to the SQLite file: ${MEND}` : '');
  }

  /** The outcome of `work` that has a connection. Fails once it is late, even if `work` never ends. */
  async inTime<T>(work: Promise<T>): Promise<T> {
    this.hasConnection = !this.isLate;
    this.isLockedOut = false;
    const outcome = await withTimeout(work, this.#leftMs, () => this.noAnswer());
    if (this.isLate) throw this.noAnswer();
    return outcome;
  }

  /**
   * The outcome of `work`. Fails at the deadline, or with the cause if `work` is still waiting after two seconds because
   * the pool has no free connection.
   */
  limited<T>(sequelize: Sequelize, work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      // A timer may ring a little before the clock reads its time.
      const tell = (error: AuthError) => {
        this.#isTold = true;
        reject(error);
      };
      const atEnd = () => tell(this.noAnswer());
      const whileWaiting = () => {
        const size = exhausted(sequelize);
        if (size === null || this.hasConnection) {
          timer = setTimeout(atEnd, this.#leftMs);
          return;
        }
        tell(noConnection(size));
      };
      const isLong = this.#leftMs > MAX_WAIT_MS;
      let timer = isLong ? setTimeout(whileWaiting, MAX_WAIT_MS) : setTimeout(atEnd, this.#leftMs);
      work.then(resolve, reject).then(() => clearTimeout(timer));
    });
  }

  get #leftMs(): number {
    return this.end - performance.now();
  }
}

/** The size of the pool, if all of its connections are in use and something waits for one. */
function exhausted(sequelize: Sequelize): number | null {
  const { pool } = (sequelize as unknown as { connectionManager: { pool?: Pool } }).connectionManager;
  const { maxSize = 0, using = 0, waiting = 0 } = pool?.write ?? pool ?? {};
  return waiting > 0 && using >= maxSize ? maxSize : null;
}

function noConnection(size: number): AuthError {
  return new AuthError('unavailable', {
    cause: new Error(
      `database: no connection became free for ${MAX_WAIT_MS / 1000} seconds, all ${size} of the pool are in use. ` +
        `Transactions of the app that wait for latchkey hold them: ${MEND}`,
    ),
  });
}

/** For a statement or transaction that has passed its deadline. */
export function noAnswer(why = ''): AuthError {
  return new AuthError('unavailable', { cause: new Error(`database: no answer in time${why}`) });
}

/** Keeps a statement that has waited for a connection for too long from being sent: its caller knows it as failed. */
export function refuseLateStatements(sequelize: Sequelize): void {
  // Another Auth may use the same instance.
  sequelize.removeHook('beforeQuery', 'latchkey');
  sequelize.addHook('beforeQuery', 'latchkey', (options: object) => {
    (options as { turn?: Turn }).turn?.begin();
  });
}

const MAX_ATTEMPTS = 3;
const MAX_CONNECTIONS = 10;
const MAX_PAUSE_MS = 60;

/**
 * Runs a statement or transaction again that was not sent because an idle connection had died, up to the size of the pool,
 * and one that the database aborted in favor of another. Writers wait for SQLite's lock until their deadline: a transaction
 * of the app may hold it for long.
 */
export async function retrying<T>(turn: Turn, attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (wasNotSent(error) && attempts <= MAX_CONNECTIONS) continue;
      // Its caller may not have been told yet that it is late.
      if (isBusy(error) && turn.isLate) throw turn.noAnswer();
      if (!isBusy(error) && (attempts >= MAX_ATTEMPTS || !isRetryable(error))) throw error;
      const pauseMs = Math.min(attempts * 20, MAX_PAUSE_MS) * (0.5 + Math.random());
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
