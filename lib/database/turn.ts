import type { Sequelize } from 'sequelize';
import { withTimeout } from '../context/deadline.js';
import { AuthError } from '../errors.js';
import { performance, sleep, timers } from '../timers.js';
import { connectionManagerOf, type Pool } from './connect.js';
import { holdSize, isHeld } from './connection-limit.js';
import { AppError, isAtLimit, isBusy, isNoConnection, isRetryable, wasNotSent } from './faults.js';
import type { Primary } from './primary.js';

/** The deadline of a single statement, and of all statements of one request together. */
export const DEADLINE_MS = 4000;

// If the app calls latchkey within transactions that it does not pass, the transactions might hold all connections
// until latchkey responds.
const MAX_WAIT_MS = 2000;

const REMEDY = 'if your app calls latchkey within a transaction, pass it as the option transaction';

/** A statement or transaction with a deadline. Once its caller has got an error, it must not take effect. */
export class Turn {
  /** Whether the turn is known to have a connection, so that it no longer waits for the pool. */
  hasConnection = false;
  /** Whether the turn is a write that waits for another writer of a SQLite file. */
  isLockedOut = false;
  #isTold = false;

  /** @param end the deadline, by `performance.now()` */
  constructor(
    private readonly sequelize: Sequelize,
    readonly primary: Primary,
    private readonly end: number,
  ) {}

  /** Whether the turn has been reported to its caller as failed, or must be. */
  get isLate(): boolean {
    return this.#isTold || performance.now() >= this.end;
  }

  /** Starts the turn, just before a statement is sent on a connection. @throws AuthError if it is late */
  begin(): void {
    if (this.isLate) throw this.noAnswer();
    this.hasConnection = true;
  }

  /** Creates the error for the caller of a late turn. */
  noAnswer(): AuthError {
    return noAnswer(
      this.isLockedOut ? `. Another transaction was writing to the SQLite file: ${REMEDY}` : '',
    );
  }

  /** Awaits `work` that has a connection. Fails once the turn is late, even if `work` never ends. */
  async inTime<T>(work: Promise<T>): Promise<T> {
    this.hasConnection = !this.isLate;
    this.isLockedOut = false;
    const outcome = await withTimeout(work, this.#leftMs, () => this.noAnswer());
    if (this.isLate) throw this.noAnswer();
    return outcome;
  }

  /**
   * Awaits `work`. Fails at the deadline. If `work` still waits after two seconds because the pool has no free
   * connection, it fails with this cause.
   */
  limited<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      // A timer can fire slightly before the clock reaches its time, so the failure is recorded.
      const tell = (error: AuthError) => {
        this.#isTold = true;
        reject(error);
      };
      const atEnd = () => tell(this.noAnswer());
      const whileWaiting = () => {
        const size = exhausted(this.sequelize);
        if (size === null || this.hasConnection) {
          timer = timers.setTimeout(atEnd, this.#leftMs);
          return;
        }
        tell(noConnection(size));
      };
      const isLong = this.#leftMs > MAX_WAIT_MS;
      let timer = isLong
        ? timers.setTimeout(whileWaiting, MAX_WAIT_MS)
        : timers.setTimeout(atEnd, this.#leftMs);
      const settled =
        <Outcome>(settle: (outcome: Outcome) => void) =>
        (outcome: Outcome) => {
          timers.clearTimeout(timer);
          settle(outcome);
        };
      work.then(settled(resolve), settled(reject));
    });
  }

  /**
   * Prepares for the next attempt after an error, if the turn can still get a connection of the pool although the server
   * does not allow another one.
   *
   * @returns whether it can
   */
  canWaitAfter(error: unknown): boolean {
    const pool = poolOf(this.sequelize);
    if (!pool?.size) return false;
    if (isAtLimit(error)) holdSize(pool);
    return !this.isLate && (isAtLimit(error) || (isNoConnection(error) && isHeld(pool)));
  }

  get #leftMs(): number {
    return this.end - performance.now();
  }
}

/**
 * Returns the size of the pool if all of its connections are in use and callers wait for one, otherwise null. If the
 * server limits the size, the app might not hold the connections.
 */
function exhausted(sequelize: Sequelize): number | null {
  const pool = poolOf(sequelize);
  if (!pool || isHeld(pool)) return null;
  const { maxSize = 0, using = 0, waiting = 0 } = pool;
  return waiting > 0 && using >= maxSize ? maxSize : null;
}

function poolOf(sequelize: Sequelize): Pool | undefined {
  const { pool } = connectionManagerOf(sequelize);
  return pool?.write ?? pool;
}

function noConnection(size: number): AuthError {
  return new AuthError('unavailable', {
    cause: new Error(
      `database: no connection became free for ${MAX_WAIT_MS / 1000} seconds, because all ${size} of the pool are in use. ` +
        `Transactions of your app might hold them while they wait for latchkey: ${REMEDY}`,
    ),
  });
}

/** Creates the error of a statement or transaction that has passed its deadline. */
export function noAnswer(why = ''): AuthError {
  return new AuthError('unavailable', { cause: new Error(`database: no response in time${why}`) });
}

/** The options that latchkey adds to its statements on an instance of the app. */
export interface OwnStatement {
  readonly turn?: Turn | undefined;
  /** Left out within a transaction. */
  readonly primary?: Primary | undefined;
}

/**
 * Prevents statements from being sent if they have waited too long for a connection, because their callers have already
 * got an error, or if the server is no longer the primary.
 */
export function checkBeforeStatements(sequelize: Sequelize): void {
  // Another Auth might use the same instance.
  sequelize.removeHook('beforeQuery', 'latchkey');
  sequelize.addHook('beforeQuery', 'latchkey', async (options: object, query: unknown) => {
    const { turn, primary } = options as OwnStatement;
    await primary?.check((query as { connection: object }).connection);
    turn?.begin();
  });
}

const MAX_ATTEMPTS = 3;
const MAX_CONNECTIONS = 10;
const MAX_PAUSE_MS = 60;

/**
 * Retries a statement or transaction. If it was not sent because an idle connection had died, it is retried up to ten
 * times, the default size of the pool. If the database rejected it or aborted it in favor of another, it has three
 * attempts. If the server does not allow another connection, it waits until its deadline for a connection of the pool.
 * Writers wait for SQLite's lock until their deadline, because a transaction of the app might hold it for a long time.
 */
export async function retrying<T>(turn: Turn, attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1, unsent = 0; ; ) {
    try {
      return await attempt();
    } catch (error) {
      turn.primary.observe(error);
      if (wasNotSent(error) && unsent < MAX_CONNECTIONS) {
        unsent++;
        continue;
      }
      if (turn.canWaitAfter(error)) {
        await pauseFor(MAX_PAUSE_MS);
        continue;
      }
      // A hook of the app might have used another file than latchkey.
      const isLockedOut = isBusy(error) && !(error instanceof AppError);
      // The turn is late, even if that has not been reported to its caller yet.
      if (isLockedOut && turn.isLate) throw turn.noAnswer();
      if (!isLockedOut && (attempts >= MAX_ATTEMPTS || !isRetryable(error))) throw error;
      await pauseFor(Math.min(attempts * 20, MAX_PAUSE_MS));
      attempts++;
    }
  }
}

/** Pauses for about this time, at random, because other statements might have failed at the same time. */
function pauseFor(ms: number): Promise<void> {
  return sleep(ms * (0.5 + Math.random()));
}
