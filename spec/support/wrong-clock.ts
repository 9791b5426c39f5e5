import { performance } from '../../lib/timers.js';

/** Runs `work` while the clock of this process is wrong. Its monotonic clock and its timers are not affected. */
export async function withClockAhead<T>(aheadMs: number, work: () => Promise<T>): Promise<T> {
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(...args: [] | [number]) {
      if (args.length === 0) super(RealDate.now() + aheadMs);
      else super(...args);
    }
    static override now() {
      return RealDate.now() + aheadMs;
    }
  } as DateConstructor;
  try {
    return await work();
  } finally {
    globalThis.Date = RealDate;
  }
}

/** Runs `work` after a pause of `aheadMs` by latchkey's monotonic clock. Its timers are not affected. */
export async function afterPause<T>(aheadMs: number, work: () => Promise<T>): Promise<T> {
  const { now } = performance;
  performance.now = () => now() + aheadMs;
  try {
    return await work();
  } finally {
    performance.now = now;
  }
}
