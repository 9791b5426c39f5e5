import { performance as monotonic } from 'node:perf_hooks';
import * as builtIn from 'node:timers';

/**
 * Node's timers, as they are when latchkey is loaded. Fake timers of a test runner replace the global functions later,
 * and Vitest's and node:test's also replace the properties of `node:timers`. latchkey's own work must go on meanwhile.
 *
 * latchkey's own specs replace the functions in this object.
 */
export const timers = {
  setTimeout: builtIn.setTimeout,
  clearTimeout: builtIn.clearTimeout,
  setInterval: builtIn.setInterval,
  clearInterval: builtIn.clearInterval,
  setImmediate: builtIn.setImmediate,
};

/** Node's monotonic clock, as it is when latchkey is loaded, because fake timers replace it too. */
export const performance = { now: monotonic.now.bind(monotonic) };

/** Resolves after `ms`, or as soon as `signal` is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      timers.clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = timers.setTimeout(end, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end);
  });
}

/** Resolves at the end of this turn of the event loop. */
export function turnEnd(): Promise<void> {
  return new Promise((resolve) => timers.setImmediate(resolve));
}

/** Runs `work`, which must not fail, in a microtask. Fake timers replace `queueMicrotask`, but not promises. */
export function inMicrotask<T>(work: () => T): Promise<Awaited<T>> {
  return Promise.resolve().then(work) as Promise<Awaited<T>>;
}
