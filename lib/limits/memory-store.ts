import { performance } from '../timers.js';
import {
  FORGET_AFTER_MS,
  type LimitStore,
  type Paused,
  type PausePolicy,
  pauseAfter,
  type WindowPolicy,
} from './store.js';

interface Counter {
  hits: number;
  /** A time of `elapsed()`, like `blockedUntil`. */
  endsAt: number;
  blockedUntil: number;
  isReported: boolean;
}

// The oldest counters are dropped, so that a flood of names cannot fill the memory.
const MAX_COUNTERS = 50_000;

/** Counters in the memory of this process. */
export class MemoryLimitStore implements LimitStore {
  /** The counters, in the order in which they were started. */
  readonly #counters = new Map<string, Counter>();

  /** @param elapsed milliseconds since some time in the past */
  constructor(private readonly elapsed: () => number = () => performance.now()) {}

  async hit(key: string, { limit, windowMs }: WindowPolicy): Promise<number | null> {
    const counter = this.#counter(key, windowMs);
    if (counter.hits >= limit) return counter.endsAt - this.elapsed();
    counter.hits++;
    return null;
  }

  takeBack(key: string): Promise<void> {
    return this.giveBack(key);
  }

  async reserve(key: string, policy: PausePolicy): Promise<Paused | null> {
    const now = this.elapsed();
    const counter = this.#counter(key, FORGET_AFTER_MS);
    if (counter.blockedUntil > now) {
      const isFirst = !counter.isReported;
      counter.isReported = true;
      return { leftMs: counter.blockedUntil - now, isFirst };
    }
    const pauseMs = pauseAfter(++counter.hits, policy);
    counter.blockedUntil = now + pauseMs;
    counter.endsAt = now + pauseMs + FORGET_AFTER_MS;
    counter.isReported = false;
    return null;
  }

  async giveBack(key: string): Promise<void> {
    const counter = this.#counters.get(key);
    if (!counter || counter.hits === 0) return;
    counter.hits--;
    counter.blockedUntil = 0;
  }

  async clear(key: string): Promise<void> {
    this.#counters.delete(key);
  }

  async *prune(dryRun: boolean): AsyncGenerator<number> {
    const now = this.elapsed();
    const expired = [...this.#counters].filter(([, { endsAt }]) => endsAt <= now);
    if (!dryRun) for (const [key] of expired) this.#counters.delete(key);
    yield expired.length;
  }

  async check(): Promise<void> {}

  async close(): Promise<void> {}

  #counter(key: string, lifeMs: number): Counter {
    const now = this.elapsed();
    const known = this.#counters.get(key);
    if (known && known.endsAt > now) return known;
    const counter = { hits: 0, endsAt: now + lifeMs, blockedUntil: 0, isReported: false };
    this.#counters.delete(key);
    this.#counters.set(key, counter);
    const [oldest] = this.#counters.keys();
    if (this.#counters.size > MAX_COUNTERS && oldest !== undefined) this.#counters.delete(oldest);
    return counter;
  }
}
