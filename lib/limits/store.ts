/** A fixed window: how many hits it allows, and its length in whole milliseconds. */
export interface WindowPolicy {
  readonly limit: number;
  readonly windowMs: number;
}

/** How password attempts for an account are throttled. Durations are in whole milliseconds. */
export interface PausePolicy {
  /** The number of failures before attempts are paused. */
  readonly failures: number;
  /** The first pause; it doubles with each further failure. */
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
}

/** The pause that rejects an attempt. */
export interface Paused {
  /** The milliseconds until the pause ends. */
  readonly leftMs: number;
  /** Whether this is the first attempt, in all processes, that this pause rejects. */
  readonly isFirst: boolean;
}

/** Counters that all processes share. Each call is atomic, so that concurrent calls cannot exceed a limit. */
export interface LimitStore {
  /** Counts a hit. @returns null if it is allowed, otherwise the milliseconds until the window ends */
  hit(key: string, policy: WindowPolicy): Promise<number | null>;
  /** Takes back a hit that was allowed. */
  takeBack(key: string): Promise<void>;
  /** Reserves an attempt. @returns null if it is allowed */
  reserve(key: string, policy: PausePolicy): Promise<Paused | null>;
  /** Returns a reserved attempt, and ends the pause that it started. */
  giveBack(key: string): Promise<void>;
  /** Resets an account's failures. */
  clear(key: string): Promise<void>;
  /** Deletes expired counters, or only counts them, like a `Chore`. @returns the numbers of counters */
  prune(dryRun: boolean): AsyncIterable<number>;
  /** Throws if the counters cannot be read. In a separate store, also throws if they cannot be written. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Failures are forgotten this long after the end of the last pause, so that no counter expires before its pause. */
export const FORGET_AFTER_MS = 24 * 60 * 60 * 1000;

/** Returns the pause after this many failures, in milliseconds. */
export function pauseAfter(failures: number, policy: PausePolicy): number {
  if (failures < policy.failures) return 0;
  return Math.min(policy.maxPauseMs, policy.firstPauseMs * 2 ** (failures - policy.failures));
}
