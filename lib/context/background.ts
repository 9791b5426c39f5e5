/** A function of the app that makes its platform run the process until a promise is settled. */
export type WaitUntil = (work: Promise<void>) => unknown;

const NOTHING = () => undefined;

/**
 * The work that continues after the call that has started it, such as sending an email. All of it is announced here, so
 * that platforms that stop a process after each response can wait for it: see `outbox.waitUntil` in the config.
 *
 * Announce work in the call that starts it, before the first `await`, because platforms recognize the request by its
 * AsyncLocalStorage. Work that a timer repeats, and that no call has started, is not announced.
 */
export class Background {
  #waitUntil: WaitUntil | undefined;
  #failed: (error: unknown) => void = NOTHING;

  /**
   * Passes a promise for all later work to a function of the app.
   *
   * @param failed is called with the errors of the function, which do not affect the work
   */
  announceTo(waitUntil: WaitUntil, failed: (error: unknown) => void): void {
    this.#waitUntil = waitUntil;
    this.#failed = failed;
  }

  /** Whether the app waits for announced work, so that it should not wait long. */
  get isAwaited(): boolean {
    return this.#waitUntil !== undefined;
  }

  /** Announces work that has started. The app gets a promise that never rejects. */
  add(work: Promise<unknown>): void {
    if (this.#waitUntil) void this.#announce(work.then(NOTHING, NOTHING), this.#waitUntil);
  }

  /** Announces work that waits, such as for a timer. @returns the function to call when it is done */
  begin(): () => void {
    if (!this.#waitUntil) return NOTHING;
    let end: () => void = NOTHING;
    this.add(
      new Promise<void>((resolve) => {
        end = resolve;
      }),
    );
    return end;
  }

  // The function is called before the first `await`.
  async #announce(work: Promise<void>, waitUntil: WaitUntil): Promise<void> {
    try {
      await waitUntil(work);
    } catch (error) {
      this.#failed(error);
    }
  }
}
