/** Timers that a spec expires before their time. */
export interface HeldTimers {
  /** Expires the timers that are running, and from now on every such timer as soon as it is started. */
  expire(): void;
  /** Starts timers as usual again. */
  release(): void;
}

/**
 * Lets a spec expire the timers that latchkey starts in this process with a delay of `ms`, or of up to a tenth less. So
 * a spec that makes something exceed a time limit does not have to wait for the limit. Other timers are not affected.
 */
export function holdTimers(ms: number): HeldTimers {
  const { setTimeout: start, clearTimeout: stop } = globalThis;
  const held = new Map<unknown, () => void>();
  let isExpired = false;
  const startHeld = (run: (...args: unknown[]) => void, delay = 0, ...args: unknown[]) => {
    if (delay > ms || delay < 0.9 * ms) return start(run, delay, ...args);
    const expire = () => {
      held.delete(timer);
      run(...args);
    };
    const timer = start(expire, isExpired ? 0 : delay);
    held.set(timer, expire);
    return timer;
  };
  const stopHeld = (timer?: NodeJS.Timeout) => {
    held.delete(timer);
    stop(timer);
  };
  Object.assign(globalThis, { setTimeout: startHeld, clearTimeout: stopHeld });
  return {
    expire() {
      isExpired = true;
      for (const [timer, expire] of [...held]) {
        stop(timer as NodeJS.Timeout);
        expire();
      }
    },
    release() {
      Object.assign(globalThis, { setTimeout: start, clearTimeout: stop });
    },
  };
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
