/** How attempts at an account's password are slowed down. Times in milliseconds. */
export interface PausePolicy {
  /** How many failures are free. */
  readonly failures: number;
  /** The pause after the last free one; it doubles with each failure after. */
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
}

/** Counts across all processes. Each call is atomic: of any number at once, exactly as many as allowed get through. */
export interface LimitStore {
  /** Counts one hit within a window. @returns null where it is allowed, else the milliseconds until the window ends */
  hit(key: string, limit: number, windowMs: number): Promise<number | null>;
  /** Reserves one attempt. @returns null where it is allowed, else the milliseconds until the next one is */
  reserve(key: string, policy: PausePolicy): Promise<number | null>;
  /** Clears an account's failures. */
  clear(key: string): Promise<void>;
  /** Deletes expired counters. @returns how many */
  prune(): Promise<number>;
  close(): Promise<void>;
}

/** A counter of failures expires when nothing has been added to it for this long. */
export const FORGET_AFTER_MS = 24 * 60 * 60 * 1000;

/** The pause after a number of failures. */
export function pauseAfter(failures: number, policy: PausePolicy): number {
  if (failures < policy.failures) return 0;
  return Math.min(policy.maxPauseMs, policy.firstPauseMs * 2 ** (failures - policy.failures));
}
