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

/**
 * Creates a signal that is aborted after `ms`, or together with `other`. The timer does not keep the process alive.
 *
 * `AbortSignal.timeout` is not used, because on Node 20 its timer does not keep the signal from garbage collection, so
 * that the signals derived from it, such as those of `AbortSignal.any` and `fetch`, might never be aborted.
 */
export function abortedAfter(ms: number, other?: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const end = (reason: unknown) => {
    timers.clearTimeout(timer);
    other?.removeEventListener('abort', withOther);
    controller.abort(reason);
  };
  const withOther = () => end(other?.reason);
  const late = () => end(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  const timer = timers.setTimeout(late, ms).unref();
  if (other?.aborted) withOther();
  else other?.addEventListener('abort', withOther);
  return controller.signal;
}
