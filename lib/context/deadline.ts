import { timers } from '../timers.js';

/**
 * Awaits work for a limited time. After that the work continues, but its outcome is ignored.
 *
 * @param late creates the error to throw on timeout
 * @param keepsAlive whether the timer keeps the process alive
 */
export function withTimeout<T>(
  work: Promise<T>,
  ms: number,
  late: () => unknown,
  keepsAlive = true,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = timers.setTimeout(() => reject(late()), ms);
    if (!keepsAlive) timer.unref();
    work.then(resolve, reject).then(() => timers.clearTimeout(timer));
  });
}
