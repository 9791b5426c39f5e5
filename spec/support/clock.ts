import { type AnyAuth, internalsOf } from '../../lib/auth.js';

/**
 * Moves the time of an Auth forward, like `advance` of `latchkey/testing`. The clocks of Node, Redis, the database
 * and providers do not change, nor do those of other Auths on the same database.
 */
export function advance(auth: AnyAuth, seconds: number): void {
  internalsOf(auth).core.database.clock.skip(seconds * 1000);
}

/** Returns to the real time. */
export function resetTime(auth: AnyAuth): void {
  internalsOf(auth).core.database.clock.skip(0);
}
