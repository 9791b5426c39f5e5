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
  /**
   * Sends an entry. An earlier attempt whose outcome is unknown might have sent it already.
   *
   * @param signal aborted when nothing waits for the attempt any longer, so that the attempt closes its connection
   * @returns false if there is no longer a recipient
   * @throws if the attempt fails, which is then retried later
   */
  send(entry: OpenEntry, signal: AbortSignal): Promise<boolean>;
}

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
  /** 1 at the first attempt. */
  readonly attempts: number;
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
