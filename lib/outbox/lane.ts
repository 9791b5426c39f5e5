import { AuthError } from '../errors.js';

/** A destination of entries, such as the mail server or a webhook endpoint. */
export interface Destination {
  /** The name of the lane: at most 64 characters, the same in all processes. */
  readonly lane: string;
  /** The name of an entry in the log, such as `an email`. */
  readonly what: string;
  /** Its URL, if it has one. */
  readonly url?: string;
  /** The number of entries that one process can send at the same time. */
  readonly atOnce: number;
  /** The time limit for sending an entry. */
  readonly timeoutMs: number;
  /** How entries are held, if `send` can hold them. */
  readonly holding?: Holding;
  /**
   * Sends an entry. An earlier attempt whose outcome is unknown might have sent it already.
   *
   * @param signal aborted when nothing waits for the attempt any longer, so that the attempt closes its connection
   * @throws if the attempt fails, which is then retried later. After a {@link NotBegunError}, the next attempt is not a
   *   retry
   */
  send(entry: OpenEntry, signal: AbortSignal): Promise<Outcome>;
}

/** The outcome of `send`: `dropped` if there is no longer a recipient. */
export type Outcome = 'sent' | 'dropped' | HeldBack;

/** The entry has to wait until its destination has room. This is neither an attempt nor a failure. */
export interface HeldBack {
  /** The time after which the entry is pointless, and is dropped. Null if the outbox decides. */
  readonly until: Date | null;
}

/** How the entries of a destination are held, and sent later. */
export interface Holding {
  /** The number of entries that can be held at the same time. Further entries are deleted. */
  readonly most: number;
  /** Takes a place for the next held entry. @returns false if there is none, so that the entries still have to wait */
  takePlace(): Promise<boolean>;
  /** Gives back a place that no entry has used. */
  giveBackPlace(): Promise<void>;
  /** Reports how many entries had to wait since the last report. */
  report(since: HeldCounts): void;
}

/** The numbers of entries that had to wait. */
export interface HeldCounts {
  /** The entries that are held. */
  readonly held: number;
  /** The entries that were deleted, because too many were held already. */
  readonly deleted: number;
}

/** Thrown because of its `cause` if an attempt could not begin, for example because a limit could not be checked. */
export class NotBegunError extends Error {}

/** Thrown if the destination will never accept the entry, which is then not retried. */
export class UndeliverableError extends Error {}

/** Whether an error means that the destination will never accept the entry. */
export function isFinal(error: unknown): boolean {
  const isRefused = error instanceof AuthError && error.code === 'mail_refused';
  return isRefused || error instanceof UndeliverableError;
}

/** An entry with its content. */
export interface OpenEntry {
  readonly id: string;
  readonly kind: string;
  readonly content: object;
  readonly createdAt: Date;
  /** Whether an earlier attempt to send it has failed. An attempt that was interrupted does not count. */
  readonly isRetry: boolean;
  /** Whether it was held until now, and has got a place: see {@link Holding}. */
  readonly wasHeld: boolean;
  /** The W3C trace context of the request that has caused the entry. Null without `telemetry`. */
  readonly traceparent: string | null;
}

/** Further entries are not kept in memory. The next process that reads the table sends them. */
const MAX_QUEUED = 1000;

/**
 * Runs the work of one lane in this process: a few tasks at the same time, and a limited number of others after them.
 */
export class Lane {
  readonly #running = new Set<Promise<void>>();
  readonly #queue: (() => Promise<void>)[] = [];

  constructor(readonly destination: Destination) {}

  /** Whether no further task can start now. */
  get isBusy(): boolean {
    return this.#running.size >= this.destination.atOnce;
  }

  /** Runs `work`, which must not fail, now or later. Drops it if the queue is full. Resolves when it is done. */
  async offer(work: () => Promise<void>): Promise<void> {
    if (!this.isBusy || this.#queue.length < MAX_QUEUED) await this.runAll([work]);
  }

  /** Runs all of `works`, and waits for them. @throws the first error of them */
  async runAll(works: readonly (() => Promise<void>)[]): Promise<void> {
    await Promise.all(
      works.map((work) => new Promise<void>((done, fail) => this.#enqueue(() => work().then(done, fail)))),
    );
  }

  /** Waits until no task is running or queued. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #enqueue(work: () => Promise<void>): void {
    if (this.isBusy) this.#queue.push(work);
    else this.#start(work);
  }

  #start(work: () => Promise<void>): void {
    const running = work().finally(() => {
      this.#running.delete(running);
      const next = this.#queue.shift();
      if (next) this.#start(next);
    });
    this.#running.add(running);
  }
}

/** The lane of emails in the outbox. */
export const MAIL_LANE = 'mail';
