import { AsyncResource } from 'node:async_hooks';
import { timers } from '../timers.js';

const MINUTE_MS = 60_000;

/** The requests that one limit has rejected within a minute, because of their address. */
export interface Refused {
  /** The name of the limit. */
  readonly limit: string;
  /** The number of requests. */
  readonly count: number;
  /** The address, if all requests came from one; otherwise null. */
  readonly ip: string | null;
}

/**
 * Counts the requests that are rejected because of their address, and reports the number once a minute for each limit.
 * If each request were reported, an attacker could fill the log and the audit log.
 */
export class Refusals {
  readonly #refused = new Map<string, Refused>();
  #timer: NodeJS.Timeout | undefined;
  // The timer must neither keep the request that started it in memory, nor report in its context.
  readonly #everyMinute = AsyncResource.bind((work: () => void) =>
    timers.setInterval(work, MINUTE_MS).unref(),
  );

  constructor(private readonly report: (refused: Refused) => void) {}

  /** Counts a request. */
  add(limit: string, ip: string | null): void {
    const known = this.#refused.get(limit);
    const count = (known?.count ?? 0) + 1;
    this.#refused.set(limit, { limit, count, ip: known && known.ip !== ip ? null : ip });
    this.#timer ??= this.#everyMinute(() => this.flush());
  }

  /** Reports the requests that have not been reported yet. */
  flush(): void {
    timers.clearInterval(this.#timer);
    this.#timer = undefined;
    const all = [...this.#refused.values()];
    this.#refused.clear();
    for (const refused of all) this.report(refused);
  }
}
