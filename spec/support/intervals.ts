import { jest } from '@jest/globals';
import { timers } from '../../lib/timers.js';

const real = { ...timers };

/** Intervals that pass when a spec says so. */
export interface FakeIntervals {
  /** Lets this time pass. */
  pass(ms: number): void;
  /** The number of intervals that are running. */
  readonly count: number;
  /** Starts intervals as usual again. */
  release(): void;
}

/** Lets a spec decide when the intervals pass that latchkey starts from now on. All other timers are real. */
export function fakeIntervals(): FakeIntervals {
  const faked = ['setInterval', 'clearInterval'];
  const others = [
    ...['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'],
    ...['setTimeout', 'clearTimeout', 'requestAnimationFrame', 'cancelAnimationFrame'],
  ];
  jest.useFakeTimers({ doNotFake: others as never });
  for (const name of faked) Object.assign(timers, { [name]: Reflect.get(globalThis, name) });
  return {
    pass: (ms) => jest.advanceTimersByTime(ms),
    get count() {
      return jest.getTimerCount();
    },
    release() {
      jest.useRealTimers();
      for (const name of faked) Object.assign(timers, { [name]: Reflect.get(real, name) });
    },
  };
}
