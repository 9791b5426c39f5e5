import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';
import { DatabaseBudget } from './database-budget.js';

/** The parts of a request that latchkey reads, with headers as in Node. */
export interface PlainRequest {
  readonly headers: IncomingHttpHeaders;
  readonly ip?: string | undefined;
  readonly method?: string | undefined;
}

/** The client that a call is made for. */
export interface Client {
  /** Null if the address is unknown; undefined for a programmatic call without one. */
  readonly ip: string | null | undefined;
  readonly userAgent: string | null;
  /** The request being handled, if any. */
  readonly request: PlainRequest | null;
}

interface Call {
  readonly client: Client;
  readonly budget?: DatabaseBudget;
}

const APP_ITSELF: Client = { ip: undefined, userAgent: null, request: null };

/**
 * The context of the current call: its client, which is recorded in events and new sessions, and its time budget for
 * the database. It uses AsyncLocalStorage, so that functions need not pass it along.
 */
export class CallContext {
  readonly #calls = new AsyncLocalStorage<Call>();

  get client(): Client {
    return this.#calls.getStore()?.client ?? APP_ITSELF;
  }

  get budget(): DatabaseBudget | undefined {
    return this.#calls.getStore()?.budget;
  }

  /** Runs `work` for a request to one of the routes. */
  async forRequest<T>(client: Client, databaseMs: number, work: () => Promise<T>): Promise<T> {
    const budget = new DatabaseBudget(databaseMs);
    try {
      return await this.#calls.run({ client, budget }, work);
    } finally {
      budget.release();
    }
  }

  /** Runs `work` for the client given in a programmatic call. */
  forClient<T>(client: Client, work: () => Promise<T>): Promise<T> {
    return this.#calls.run({ ...this.#calls.getStore(), client }, work);
  }

  /** Runs `work` outside the call that started it. */
  detached<T>(work: () => Promise<T>): Promise<T> {
    return this.#calls.exit(work);
  }
}
