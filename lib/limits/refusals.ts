import { AsyncResource } from 'node:async_hooks';
import type { Background } from '../context/background.js';
import { timers } from '../timers.js';

const MINUTE_MS = 60_000;
/** How long it waits if the app waits for it. */
const AWAITED_MS = 1000;

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
 * Counts the requests that are rejected because of their address, and reports the number once a minute for each limit, or
 * once a second with `outbox.waitUntil`.
 * If each request were reported, an attacker could fill the log and the audit log.
 */
export class Refusals {
  readonly #refused = new Map<string, Refused>();
  #timer: NodeJS.Timeout | undefined;
  #end: (() => void) | undefined;
  // The timer must neither keep the request that started it in memory, nor report in its context.
  readonly #repeat = AsyncResource.bind((work: () => void) =>
    timers.setInterval(work, this.background.isAwaited ? AWAITED_MS : MINUTE_MS).unref(),
  );

  /** @param report must not fail */
  constructor(
    private readonly background: Background,
    private readonly report: (refused: Refused) => Promise<void>,
  ) {}

  /** Counts a request. */
  add(limit: string, ip: string | null): void {
    const known = this.#refused.get(limit);
    const count = (known?.count ?? 0) + 1;
    this.#refused.set(limit, { limit, count, ip: known && known.ip !== ip ? null : ip });
    // Announce only the first request until the report, so that an attacker cannot make a platform keep many processes.
    this.#end ??= this.background.begin();
    this.#timer ??= this.#repeat(() => this.flush());
  }

  /** Reports the requests that have not been reported yet. */
  flush(): void {
    timers.clearInterval(this.#timer);
    this.#timer = undefined;
    const all = [...this.#refused.values()];
    this.#refused.clear();
    const end = this.#end;
    this.#end = undefined;
    void Promise.all(all.map((refused) => this.report(refused))).then(end);
  }
}
