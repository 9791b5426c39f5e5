import type { Clock } from '../database/clock.js';
import type { HeldCounts } from './lane.js';

const MINUTE_MS = 60_000;
const NONE: HeldCounts = { held: 0, deleted: 0 };

/** Reports the entries that this process had to hold, at most once a minute. The first one is reported immediately. */
export class HeldReports {
  #since = NONE;
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly clock: Pick<Clock, 'elapsed'>,
    private readonly report: (since: HeldCounts) => void,
  ) {}

  /** Counts an entry. @param isHeld false if it was deleted, because too many were held already */
  add(isHeld: boolean): void {
    const { held, deleted } = this.#since;
    this.#since = isHeld ? { held: held + 1, deleted } : { held, deleted: deleted + 1 };
    this.look();
  }

  /** Reports the entries that have not been reported yet, if the last report was a minute ago. */
  look(): void {
    const now = this.clock.elapsed();
    const since = this.#since;
    if (since === NONE || now < this.#nextAt) return;
    this.#since = NONE;
    this.#nextAt = now + MINUTE_MS;
    this.report(since);
  }
}
