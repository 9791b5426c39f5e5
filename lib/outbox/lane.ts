/** Where entries go, such as to the mail server or to one webhook endpoint. */
export interface Destination {
  /** The name of the lane: at most 64 characters, the same in all processes. */
  readonly lane: string;
  /** What is sent, for the log, such as `an email`. */
  readonly what: string;
  /** Its URL, if it has one. */
  readonly url?: string;
  /** How many may be sent at once, by one process. */
  readonly atOnce: number;
  /** How long sending one may take. */
  readonly timeoutMs: number;
  /**
   * Sends an entry. It may have been sent before, by an attempt whose end is not known.
   *
   * @returns false if there is nobody to send it to any more
   * @throws what makes the attempt a failure: it is tried again later
   */
  send(entry: OpenEntry): Promise<boolean>;
}

/** For a destination that never wants the entry. It is not tried again. */
export class UndeliverableError extends Error {}

/** An entry with its content. */
export interface OpenEntry {
  readonly id: string;
  readonly kind: string;
  readonly content: object;
  readonly createdAt: Date;
  /** 1 at the first attempt. */
  readonly attempts: number;
}

/** Entries beyond these are not kept in memory: whoever looks into the table next sends them. */
const MAX_QUEUED = 1000;

/** Runs the work of one lane in this process: some at once, and a limited number of others after them. */
export class Lane {
  readonly #running = new Set<Promise<void>>();
  readonly #queue: (() => Promise<void>)[] = [];

  constructor(readonly destination: Destination) {}

  /** Whether as much is under way as may be. */
  get isBusy(): boolean {
    return this.#running.size >= this.destination.atOnce;
  }

  /** Runs `work`, which must not fail, now or later. Forgets it if too much is queued. */
  offer(work: () => Promise<void>): void {
    if (!this.isBusy) this.#start(work);
    else if (this.#queue.length < MAX_QUEUED) this.#queue.push(work);
  }

  /** Runs all of `works`, and waits for them. @throws what the first of them throws */
  async runAll(works: readonly (() => Promise<void>)[]): Promise<void> {
    await Promise.all(
      works.map((work) => new Promise<void>((done, fail) => this.#enqueue(() => work().then(done, fail)))),
    );
  }

  /** Waits until nothing is under way or queued. */
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
