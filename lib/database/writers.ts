import type { Dialect } from './connect.js';

/**
 * Lets SQLite's writers of one process stand in line, since it allows one at a time. Those of other processes, and
 * transactions of the app, are waited for by retrying. On other databases, nobody waits.
 */
export class Writers {
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly dialect: Dialect) {}

  run<T>(write: () => Promise<T>): Promise<T> {
    if (this.dialect !== 'sqlite') return write();
    const turn = this.#last.then(write, write);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async settle(): Promise<void> {
    await this.#last;
  }
}
