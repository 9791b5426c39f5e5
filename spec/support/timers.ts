import { performance, timers } from '../../lib/timers.js';

/** Timers that a spec expires before their time. */
export interface HeldTimers {
  /** Expires the timers that are running, and from now on every such timer as soon as it is started. */
  expire(): void;
  /** Starts timers as usual again. */
  release(): void;
}

interface Hold {
  readonly ms: number;
  readonly running: Map<unknown, () => void>;
  isExpired: boolean;
}

const holds = new Set<Hold>();
const real = { ...timers };

/**
 * Lets a spec expire the timers that latchkey starts in this process with a delay of `ms`, or of up to a tenth less. So
 * a spec that makes something exceed a time limit does not have to wait for the limit. Other timers are not affected.
 */
export function holdTimers(ms: number): HeldTimers {
  const hold: Hold = { ms, running: new Map(), isExpired: false };
  Object.assign(timers, { setTimeout: startTimer, clearTimeout: stopTimer });
  holds.add(hold);
  return {
    expire() {
      hold.isExpired = true;
      for (const [timer, expire] of [...hold.running]) {
        real.clearTimeout(timer as NodeJS.Timeout);
        expire();
      }
    },
    release() {
      holds.delete(hold);
      const { setTimeout, clearTimeout } = real;
      if (holds.size === 0) Object.assign(timers, { setTimeout, clearTimeout });
    },
  };
}

function startTimer(run: (...args: unknown[]) => void, delay = 0, ...args: unknown[]): NodeJS.Timeout {
  const hold = [...holds].find(({ ms }) => delay <= ms && delay >= 0.9 * ms);
  if (!hold) return real.setTimeout(run, delay, ...args);
  const expire = () => {
    hold.running.delete(timer);
    run(...args);
  };
  const timer = real.setTimeout(expire, hold.isExpired ? 0 : delay);
  hold.running.set(timer, expire);
  return timer;
}

function stopTimer(timer?: NodeJS.Timeout | string | number): void {
  for (const { running } of holds) running.delete(timer);
  real.clearTimeout(timer);
}

/** Runs `work` while each timer that latchkey starts with a delay of `ms` expires immediately. */
export async function withoutWaiting<T>(ms: number, work: () => PromiseLike<T>): Promise<T> {
  const timers = holdTimers(ms);
  timers.expire();
  try {
    return await work();
  } finally {
    timers.release();
  }
}

/**
 * Runs `work` while each timer of latchkey that would take about a second or longer expires immediately, and latchkey's
 * monotonic clock advances by its delay.
 */
export async function afterTimers<T>(passed: (ms: number) => void, work: () => Promise<T>): Promise<T> {
  const { setTimeout } = timers;
  const { now } = performance;
  let aheadMs = 0;
  const start = (run: () => void, ms = 0) => {
    if (ms < 900) return setTimeout(run, ms);
    return setTimeout(() => {
      aheadMs += ms;
      passed(ms);
      run();
    }, 0);
  };
  Object.assign(timers, { setTimeout: start });
  performance.now = () => now() + aheadMs;
  try {
    return await work();
  } finally {
    Object.assign(timers, { setTimeout });
    performance.now = now;
  }
}

/**
 * Never settles. If latchkey calls this with a time limit of `ms`, the time is over immediately.
 *
 * @example
 * password({ isBreached: () => overdue(2000) })
 */
export function overdue(ms: number): Promise<never> {
  const timers = holdTimers(ms);
  timers.expire();
  // latchkey starts the timer as soon as it has the promise.
  setImmediate(() => timers.release());
  return new Promise(() => undefined);
}
