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
