import type { Transaction } from 'sequelize';
import type { CallContext } from '../context/call.js';
import { withTimeout } from '../context/deadline.js';
import { hideTokens } from '../crypto/token.js';
import { uuidv7 } from '../crypto/uuid.js';
import type { Database } from '../database/database.js';
import { describeError, kindOf, type Logger } from '../logger.js';
import { type Destination, Lane, UndeliverableError } from './lane.js';
import type { NewEntry, OutboxRow, OutboxRows } from './rows.js';

const MAX_SAVING_PAUSE_MS = 5000;
/** Rows in one statement. */
const BATCH = 100;

/** What a round of deliveries did. */
export interface Delivered {
  /** How many were sent. */
  sent: number;
  /** How many were not, and are tried again later or were given up. */
  failed: number;
}

/**
 * Sends what must not be lost, such as emails. It is written to a table in the transaction of what causes it, and sent right
 * after the commit by the same process. What is not sent then, because the process dies or nobody takes it, is sent by any
 * process later.
 */
export class Outbox {
  readonly #lanes = new Map<string, Lane>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<Delivered> | undefined;
  #isDown = false;
  #isClosed = false;

  constructor(
    readonly rows: OutboxRows,
    private readonly database: Database,
    private readonly context: CallContext,
    private readonly logger: Logger,
  ) {}

  /** Adds a destination. Entries of other lanes are left to the processes that know them. */
  addDestination(destination: Destination): void {
    this.#lanes.set(destination.lane, new Lane(destination));
  }

  /** The destination of a lane. Undefined if this process does not know it. */
  destination(lane: string): Destination | undefined {
    return this.#lanes.get(lane)?.destination;
  }

  /**
   * Writes entries, which are sent after the commit. In a transaction of latchkey's, they are written at its end, together
   * with all others of that.
   *
   * @param transaction the one of what causes them, if it has one
   */
  async add(entries: readonly NewEntry[], transaction?: Transaction): Promise<void> {
    if (entries.length === 0 || (transaction && this.addTo(transaction, entries))) return;
    await this.database.ready();
    await this.#write(entries, transaction);
  }

  /** Like {@link add}, at once. @returns false if it is no transaction of latchkey's, and nothing was done */
  addTo(transaction: Transaction, entries: readonly NewEntry[]): boolean {
    return this.database.beforeCommit(transaction, entries, this.#write);
  }

  /** Sends what is due, until nothing is. @throws AuthError `unavailable` */
  deliver(): Promise<Delivered> {
    // One round after another: what has just become due may be what the current one has passed already.
    const round = (this.#round ?? Promise.resolve()).then(
      () => this.#deliverAll(),
      () => this.#deliverAll(),
    );
    this.#round = round;
    const forget = () => {
      if (this.#round === round) this.#round = undefined;
    };
    round.then(forget, forget);
    return round;
  }

  /** Makes an entry due, and sends it in the background. @returns whether there is one that has failed */
  async retry(id: string): Promise<boolean> {
    const isDue = await this.rows.retry(id);
    if (isDue) this.deliver().catch((error) => this.#couldNotLook(error));
    return isDue;
  }

  /** Looks every few seconds for what is due. It does not keep the process alive. */
  startTimer(seconds: number): void {
    if (this.#lanes.size === 0) return;
    const look = async () => {
      // Not before anybody uses the database: to create an Auth connects to nothing.
      if (this.database.clock.isSet) await this.deliver().catch((error) => this.#couldNotLook(error));
      if (!this.#isClosed) this.#wait(seconds, look);
    };
    this.#wait(seconds, look);
  }

  /** Looks no more for what is due. */
  stop(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Waits for what is under way. */
  async settle(): Promise<void> {
    // What was committed in this turn is begun first.
    await new Promise((resolve) => setImmediate(resolve));
    await this.#round?.catch(() => undefined);
    await Promise.all([...this.#lanes.values()].map((lane) => lane.idle()));
  }

  // A property, since the database tells by it what belongs together.
  readonly #write = async (entries: readonly NewEntry[], transaction?: Transaction): Promise<void> => {
    for (let at = 0; at < entries.length; at += BATCH)
      await this.#insert(entries.slice(at, at + BATCH), transaction);
  };

  async #insert(entries: readonly NewEntry[], transaction: Transaction | undefined): Promise<void> {
    const now = this.database.clock.now();
    const begun = entries.map((entry) => {
      const timeoutMs = this.#laneOf(entry.lane).destination.timeoutMs;
      return { ...entry, id: uuidv7(Math.floor(now)), timeoutMs };
    });
    const rows = await this.rows.insert(begun, transaction);
    this.database.afterCommit(transaction, () => {
      // Not before the response, which is often written in this turn of the event loop.
      setImmediate(() => this.#begin(rows));
    });
  }

  #laneOf(name: string): Lane {
    const lane = this.#lanes.get(name);
    if (!lane) throw new TypeError(`nothing sends entries of ${name}`);
    return lane;
  }

  #begin(rows: readonly OutboxRow[]): void {
    for (const row of rows) {
      const lane = this.#laneOf(row.lane);
      const attempt = async () => void (await this.#try(lane, row));
      lane.offer(() => this.context.detached(attempt).catch((error) => this.#couldNotLook(error)));
    }
  }

  // Processes that were started together do not look at the same time for long.
  #wait(seconds: number, look: () => Promise<void>): void {
    this.#timer = setTimeout(look, seconds * 1000 * (0.75 + Math.random() / 2));
    this.#timer.unref();
  }

  #couldNotLook(error: unknown): void {
    if (!this.#isDown) this.logger.warn('latchkey: the outbox could not be read', error);
    this.#isDown = true;
  }

  async #deliverAll(): Promise<Delivered> {
    const total: Delivered = { sent: 0, failed: 0 };
    const lanes = [...this.#lanes.values()];
    await this.context.detached(() => Promise.all(lanes.map((lane) => this.#deliverLane(lane, total))));
    this.#isDown = false;
    return total;
  }

  async #deliverLane(lane: Lane, total: Delivered): Promise<void> {
    const { lane: name, atOnce } = lane.destination;
    while (!this.#isClosed) {
      const rows = await this.rows.due(name, atOnce);
      await lane.runAll(
        rows.map((row) => async () => {
          const isSent = await this.#try(lane, row);
          if (isSent !== null) total[isSent ? 'sent' : 'failed']++;
        }),
      );
      if (rows.length < atOnce) return;
    }
  }

  /** @returns whether it was sent; null if it was none of this process's business @throws if the database is down */
  async #try({ destination }: Lane, row: OutboxRow): Promise<boolean | null> {
    if (this.rows.isTooOld(row)) {
      await this.rows.fail(row, row.lastError ?? 'nobody sent it in time');
      return null;
    }
    const { timeoutMs } = destination;
    const held = this.rows.isHeld(row, timeoutMs) ? row : await this.rows.take(row, timeoutMs);
    return held && this.#send(destination, held);
  }

  async #send(destination: Destination, row: OutboxRow): Promise<boolean> {
    const { timeoutMs } = destination;
    const late = () =>
      new Error(`send did not return within ${timeoutMs / 1000} seconds: set a timeout in it`);
    try {
      const sending = this.context.detached(async () => destination.send(this.rows.open(row)));
      const isSent = await withTimeout(sending, timeoutMs, late, false);
      await this.#save(row, () => this.rows.finish(row, isSent ? 'sent' : 'dropped'));
      return true;
    } catch (error) {
      await this.#failed(destination, row, error);
      return false;
    }
  }

  /** It was sent, so it shall not be sent again only because the database is down for a moment. */
  async #save({ dueAt }: OutboxRow, save: () => Promise<void>): Promise<void> {
    for (let pauseMs = 100; ; pauseMs = Math.min(2 * pauseMs, MAX_SAVING_PAUSE_MS)) {
      try {
        return await save();
      } catch (error) {
        const end = dueAt?.getTime() ?? 0;
        if (this.#isClosed || this.database.clock.now() + pauseMs > end) return this.#couldNotLook(error);
        await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
      }
    }
  }

  async #failed({ what }: Destination, row: OutboxRow, error: unknown): Promise<void> {
    const isTriedAgain = await this.rows.fail(row, kindOf(error), error instanceof UndeliverableError);
    // An error from a mail service can quote the email, including its link.
    const reason = hideTokens(describeError(error));
    if (!isTriedAgain) this.logger.error(`latchkey: ${what} was not sent, and is given up: ${reason}`);
    else if (row.attempts === 1)
      this.logger.error(`latchkey: ${what} was not sent: ${reason}. It is tried again for three days`);
    else this.logger.debug(`latchkey: ${what} was not sent: ${reason}`);
  }
}
