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

/** Why an attempt is refused. */
export interface Paused {
  /** The milliseconds until the pause ends. */
  readonly leftMs: number;
  /** Whether this is the first attempt, in all processes, that this pause refuses. */
  readonly isFirst: boolean;
}

/** Counters that all processes share. Each call is atomic, so that concurrent calls cannot exceed a limit. */
export interface LimitStore {
  /** Counts a hit. @returns null if it is allowed, otherwise the milliseconds until the window ends */
  hit(key: string, policy: WindowPolicy): Promise<number | null>;
  /** Reserves an attempt. @returns null if it is allowed */
  reserve(key: string, policy: PausePolicy): Promise<Paused | null>;
  /** Gives a reserved attempt back, and ends the pause that it began. */
  giveBack(key: string): Promise<void>;
  /** Resets an account's failures. */
  clear(key: string): Promise<void>;
  /** Deletes expired counters, or only counts them. @returns the number of counters */
  prune(dryRun: boolean): Promise<number>;
  /** Fails if the counters cannot be read. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Failures are forgotten this long after the end of the last pause, so that no counter ends before its pause. */
export const FORGET_AFTER_MS = 24 * 60 * 60 * 1000;

/** The pause after this many failures, in milliseconds. */
export function pauseAfter(failures: number, policy: PausePolicy): number {
  if (failures < policy.failures) return 0;
  return Math.min(policy.maxPauseMs, policy.firstPauseMs * 2 ** (failures - policy.failures));
}
