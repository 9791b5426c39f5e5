import type { Transaction } from 'sequelize';
import type { CallContext } from '../context/call.js';
import { withTimeout } from '../context/deadline.js';
import { hideTokens } from '../crypto/token.js';
import { uuidv7 } from '../crypto/uuid.js';
import { readBatches, slicesOf } from '../database/batches.js';
import { describeError, kindOf, type Log, plainError } from '../logger.js';
import type { Telemetry, WaitingEntries } from '../telemetry.js';
import { timers, turnEnd } from '../timers.js';
import { HeldReports } from './held-reports.js';
import {
  type Destination,
  type HeldBack,
  isFinal,
  Lane,
  NotBegunError,
  type OpenEntry,
  type Outcome,
} from './lane.js';
import { type NewEntry, type OutboxRow, OutboxRows, type OutboxRowsNeeds } from './rows.js';

const MAX_SAVING_PAUSE_MS = 5000;

/** The result of a round of deliveries. */
export interface Delivered {
  /** The number of entries that were sent. */
  sent: number;
  /** The number of entries that were not sent, and are retried later or were given up. */
  failed: number;
}

/** What happened to an entry before an attempt. */
type BeforeAttempt = Pick<OpenEntry, 'isRetry' | 'wasHeld'>;

/** What {@link Outbox} needs. */
interface OutboxNeeds extends OutboxRowsNeeds {
  readonly context: CallContext;
  readonly settings: { readonly log: Log; readonly telemetry: Telemetry | null };
}

/**
 * Sends entries that must not be lost, such as emails. An entry is written to a table in the transaction that causes
 * it, and the same process sends it right after the commit. If the process dies, or the destination does not accept the
 * entry, any process sends it later.
 */
export class Outbox {
  readonly rows: OutboxRows;
  readonly #lanes = new Map<string, Lane>();
  /** The entries of each lane that had to wait, for its reports. */
  readonly #heldReports = new Map<string, HeldReports>();
  /** The new entries that this process is sending. */
  readonly #sending = new Set<Promise<boolean | null>>();
  /** The attempts whose `send` has not returned, and the names of their entries in the log. */
  readonly #attempts = new Map<AbortController, string>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<Delivered> | undefined;
  #isClosed = false;
  #isAborted = false;
  readonly #stopObserving: (() => void) | undefined;

  constructor(private readonly core: OutboxNeeds) {
    this.rows = new OutboxRows(core);
    core.database.commits.useRows({
      insert: (transaction) => this.rows.insertCommit(transaction),
      take: (ids) => this.rows.takeCommits(ids),
    });
    this.#stopObserving = core.settings.telemetry?.observeOutbox(() => this.#waiting());
  }

  /** Adds a destination. Entries of other lanes are left to the processes that know them. */
  addDestination(destination: Destination): void {
    const { lane, holding } = destination;
    this.#lanes.set(lane, new Lane(destination));
    if (holding)
      this.#heldReports.set(
        lane,
        new HeldReports(this.core.database.clock, (since) => holding.report(since)),
      );
  }

  /** Returns the destination of a lane. Undefined if this process does not know it. */
  destination(lane: string): Destination | undefined {
    return this.#lanes.get(lane)?.destination;
  }

  /**
   * Writes entries, which are sent after the commit. In latchkey's own transactions, they are written at the end,
   * together with all other entries of the transaction.
   *
   * @param transaction the transaction that causes them, if there is one
   */
  async add(entries: readonly NewEntry[], transaction?: Transaction): Promise<void> {
    if (entries.length === 0 || (transaction && this.addTo(transaction, entries))) return;
    await this.core.database.ready();
    await this.#write(entries, transaction);
  }

  /**
   * Like {@link add}, but returns immediately.
   *
   * @returns false, and does nothing, in a transaction that is not latchkey's own
   */
  addTo(transaction: Transaction, entries: readonly NewEntry[]): boolean {
    return this.core.database.beforeCommit(transaction, entries, this.#write);
  }

  /**
   * Sends entries until none is due.
   *
   * @param waits whether it also waits for the entries that this process is sending already, and counts them
   * @throws AuthError `unavailable`
   */
  deliver(waits = false): Promise<Delivered> {
    // Run one round after another, because the current one might already have passed entries that have just become due.
    const deliver = () => this.#deliverAll(waits);
    const round = (this.#round ?? Promise.resolve()).then(deliver, deliver);
    this.#round = round;
    const forget = () => {
      if (this.#round === round) this.#round = undefined;
    };
    round.then(forget, forget);
    return round;
  }

  /** Makes an entry due, and sends it in the background. @returns whether there is such an entry that has failed */
  async retry(id: string): Promise<boolean> {
    const isDue = await this.rows.retry(id);
    const { context } = this.core;
    const deliver = () => this.deliver().catch((error) => this.#couldNotLook(error));
    if (isDue) context.afterCommit(() => context.background.add(context.detached(deliver)));
    return isDue;
  }

  /** Looks for due entries every few seconds. The timer does not keep the process alive. */
  startTimer(seconds: number): void {
    if (this.#lanes.size === 0) return;
    const look = async () => {
      // Creating an Auth must not open a connection, so wait until the database has been used.
      if (this.core.database.clock.isSet) await this.deliver().catch((error) => this.#couldNotLook(error));
      if (!this.#isClosed) this.#wait(seconds, look);
    };
    this.#wait(seconds, look);
  }

  /** Stops looking for due entries. */
  stop(): void {
    this.#isClosed = true;
    timers.clearTimeout(this.#timer);
    this.#stopObserving?.();
  }

  /**
   * Aborts the attempts in progress, and waits up to `waitMs` for their end.
   *
   * @returns the names of the entries that are still being sent, because their `send` ignores the signal
   */
  async abort(waitMs: number): Promise<readonly string[]> {
    this.#isAborted = true;
    for (const attempt of this.#attempts.keys())
      attempt.abort(new Error('auth.close() no longer waits for it'));
    await withTimeout(this.settle(), waitMs, () => undefined).catch(() => undefined);
    return [...this.#attempts.values()];
  }

  /** Waits for deliveries that are in progress. */
  async settle(): Promise<void> {
    // Entries that were committed in this turn of the event loop start first.
    await turnEnd();
    await this.#round?.catch(() => undefined);
    await Promise.all([...this.#lanes.values()].map((lane) => lane.idle()));
  }

  // This is a property, because the database groups the entries of a transaction by this function.
  readonly #write = async (entries: readonly NewEntry[], transaction?: Transaction): Promise<void> => {
    for await (const some of slicesOf(entries)) await this.#insert(some, transaction);
  };

  async #insert(entries: readonly NewEntry[], transaction: Transaction | undefined): Promise<void> {
    const now = this.core.database.clock.now();
    const traceparent = this.core.settings.telemetry?.traceparent() ?? null;
    const begun = entries.map((entry) => {
      const timeoutMs = this.#laneOf(entry.lane).destination.timeoutMs;
      return { ...entry, id: uuidv7(Math.floor(now)), timeoutMs, traceparent };
    });
    const rows = await this.rows.insert(begun, transaction);
    this.core.database.afterCommit(transaction, () => this.core.context.background.add(this.#begin(rows)));
  }

  #laneOf(name: string): Lane {
    const lane = this.#lanes.get(name);
    if (!lane) throw new TypeError(`nothing sends entries of ${name}`);
    return lane;
  }

  /** Sends new entries in the background. */
  async #begin(rows: readonly OutboxRow[]): Promise<void> {
    // Wait for the response, which is often written in this turn of the event loop.
    const turn = turnEnd();
    await Promise.all(
      rows.map((row) => {
        const sending = this.#offer(row, turn).finally(() => this.#sending.delete(sending));
        this.#sending.add(sending);
        return sending;
      }),
    );
  }

  /** @returns like {@link #try}; null if the entry could not be read, or is left to the next round */
  async #offer(row: OutboxRow, turn: Promise<void>): Promise<boolean | null> {
    await turn;
    const lane = this.#laneOf(row.lane);
    let isSent: boolean | null = null;
    await lane.offer(async () => {
      try {
        isSent = await this.core.context.detached(() => this.#try(lane, row));
      } catch (error) {
        this.#couldNotLook(error);
      }
    });
    return isSent;
  }

  // The random part spreads processes that were started together, so that they do not keep looking at the same time.
  #wait(seconds: number, look: () => Promise<void>): void {
    this.#timer = timers.setTimeout(look, seconds * 1000 * (0.75 + Math.random() / 2));
    this.#timer.unref();
  }

  /** @returns undefined if the numbers of entries that are still to be sent, and that are held, are unknown */
  async #waiting(): Promise<WaitingEntries | undefined> {
    // Metrics must not open a connection either.
    if (!this.core.database.clock.isSet) return undefined;
    const counts = await this.core.context.detached(() => this.rows.counts()).catch(() => undefined);
    return counts && { waiting: counts.pending, held: counts.held };
  }

  #couldNotLook(error: unknown): void {
    this.core.settings.log.warn('outbox.unreadable', 'the outbox could not be read', { err: error });
  }

  async #deliverAll(waits: boolean): Promise<Delivered> {
    const total: Delivered = { sent: 0, failed: 0 };
    const lanes = [...this.#lanes.values()];
    const sending = waits ? [...this.#sending] : [];
    await this.core.context.detached(() => Promise.all(lanes.map((lane) => this.#deliverLane(lane, total))));
    for (const isSent of await Promise.all(sending)) count(total, isSent);
    return total;
  }

  async #deliverLane(lane: Lane, total: Delivered): Promise<void> {
    const { lane: name, atOnce } = lane.destination;
    const due = async () => (this.#isClosed ? [] : this.rows.due(name, atOnce));
    for await (const rows of readBatches(due, atOnce))
      await lane.runAll(
        rows.map((row) => async () => {
          count(total, await this.#try(lane, row));
        }),
      );
    await this.#deliverHeld(lane, total);
    this.#heldReports.get(name)?.look();
  }

  /**
   * Sends held entries, newest first, while there are places for them. Each place is taken before its entry, so that
   * concurrent attempts, even in several processes, do not send an older entry in place of a newer one.
   */
  async #deliverHeld(lane: Lane, total: Delivered): Promise<void> {
    const { lane: name, atOnce, holding } = lane.destination;
    const held = async () => (this.#isClosed || !holding ? [] : this.rows.held(name, atOnce));
    if (!holding || (await held()).length === 0) return;
    await this.rows.dropHeld(name);
    let hasPlaces = true;
    for (let rows = await held(); hasPlaces && rows.length > 0; rows = await held()) {
      const left = [...rows];
      const works = rows.map(() => async () => {
        hasPlaces &&= await holding.takePlace();
        if (hasPlaces && !(await this.#sendHeld(lane, left, total))) await holding.giveBackPlace();
      });
      await lane.runAll(works);
    }
  }

  /** Sends the first of these entries that can be sent, and removes it. @returns false if none can be sent */
  async #sendHeld({ destination }: Lane, left: OutboxRow[], total: Delivered): Promise<boolean> {
    for (let row = left.shift(); row && !this.#isAborted; row = left.shift()) {
      const taken = await this.rows.takeHeld(row, destination.timeoutMs);
      if (!taken) continue;
      const outcome = await this.#send(destination, taken, { isRetry: false, wasHeld: true });
      count(total, isSentBy(outcome));
      if (outcome !== 'dropped') return true;
    }
    return false;
  }

  /** @returns whether it was sent; null if this process did not have to send it @throws if the database is down */
  async #try({ destination }: Lane, row: OutboxRow): Promise<boolean | null> {
    if (this.#isAborted) return null;
    if (this.rows.isTooOld(row)) {
      const reason = row.lastError ?? 'no process sent it in time';
      await this.rows.fail(row, reason);
      const { what } = destination;
      this.core.settings.log.error('outbox.given_up', `${what} was not sent, and was given up: ${reason}`, {
        cause: `${what} ${reason}`,
      });
      return null;
    }
    const { timeoutMs } = destination;
    const taken = this.rows.isTaken(row, timeoutMs) ? row : await this.rows.take(row, timeoutMs);
    const isRetry = this.rows.isRetry(row);
    return taken && isSentBy(await this.#send(destination, taken, { isRetry, wasHeld: false }));
  }

  /** @returns its outcome; null if it failed */
  async #send(destination: Destination, row: OutboxRow, before: BeforeAttempt): Promise<Outcome | null> {
    try {
      const outcome = await this.#attempt(destination, row, before);
      if (typeof outcome === 'string') await this.#save(row, () => this.rows.finish(row, outcome));
      else await this.#hold(destination, row, outcome);
      return outcome;
    } catch (error) {
      await this.#failed(destination, row, error);
      return null;
    }
  }

  async #hold({ lane, holding }: Destination, row: OutboxRow, { until }: HeldBack): Promise<void> {
    await this.#save(row, async () => {
      const isHeld = await this.rows.hold(row, until, holding?.most ?? 0);
      this.#heldReports.get(lane)?.add(isHeld);
    });
  }

  async #attempt(destination: Destination, row: OutboxRow, before: BeforeAttempt): Promise<Outcome> {
    const { timeoutMs, what } = destination;
    const late = () =>
      new Error(`send did not return within ${timeoutMs / 1000} seconds: set a timeout in it`);
    const attempt = new AbortController();
    const sending = this.core.context.detached(async () => {
      const entry = { ...this.rows.open(row), ...before };
      const send = () => destination.send(entry, attempt.signal);
      return this.core.settings.telemetry
        ? this.core.settings.telemetry.within(entry.traceparent, send)
        : send();
    });
    this.#attempts.set(attempt, what);
    const ended = () => this.#attempts.delete(attempt);
    sending.then(ended, ended);
    try {
      return await withTimeout(sending, timeoutMs, late, false);
    } catch (error) {
      attempt.abort(error);
      throw error;
    }
  }

  /**
   * Saves that an entry was sent. Retries for a while, because a short outage of the database must not send the entry
   * twice.
   */
  async #save({ dueAt }: OutboxRow, save: () => Promise<void>): Promise<void> {
    for (let pauseMs = 100; ; pauseMs = Math.min(2 * pauseMs, MAX_SAVING_PAUSE_MS)) {
      try {
        return await save();
      } catch (error) {
        const end = dueAt?.getTime() ?? 0;
        if (this.#isClosed || this.core.database.clock.now() + pauseMs > end)
          return this.#couldNotLook(error);
        await new Promise((resolve) => timers.setTimeout(resolve, pauseMs).unref());
      }
    }
  }

  async #failed({ what }: Destination, row: OutboxRow, thrown: unknown): Promise<void> {
    const isBegun = !(thrown instanceof NotBegunError);
    const error = isBegun ? thrown : thrown.cause;
    const isRefused = isFinal(error);
    const isTriedAgain = await this.rows.fail(row, kindOf(error), { isFinal: isRefused, isBegun });
    // An error from a mail service can quote the email, including its link.
    const reason = hideTokens(describeError(error));
    const facts = { cause: what, described: plainError(error, hideTokens) };
    if (isRefused)
      this.core.settings.log.warn(
        'outbox.refused',
        `${what} was refused, and will not be retried: ${reason}`,
        facts,
      );
    else if (!isTriedAgain)
      this.core.settings.log.error(
        'outbox.given_up',
        `${what} was not sent, and was given up: ${reason}`,
        facts,
      );
    else if (row.attempts === 1)
      this.core.settings.log.error(
        'outbox.not_sent',
        `${what} was not sent: ${reason}. It will be retried for three days`,
        facts,
      );
    else this.core.settings.log.debug('outbox.still_not_sent', `${what} was not sent: ${reason}`, facts);
  }
}

/** @returns whether an entry was sent, or has no recipient. Null if it is held */
function isSentBy(outcome: Outcome | null): boolean | null {
  return outcome === null ? false : typeof outcome === 'string' || null;
}

function count(total: Delivered, isSent: boolean | null): void {
  if (isSent !== null) total[isSent ? 'sent' : 'failed']++;
}
