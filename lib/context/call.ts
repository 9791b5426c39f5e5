import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';
import { DatabaseBudget } from './database-budget.js';

/** The part of a request that latchkey reads, with headers as Node gives them. */
export interface PlainRequest {
  readonly headers: IncomingHttpHeaders;
  readonly ip?: string | undefined;
}

/** Who makes a call. */
export interface Client {
  /** Null where the address is unknown; undefined for a call by the app's own code, which no address makes. */
  readonly ip: string | null | undefined;
  readonly userAgent: string | null;
  /** The request that the call answers, if there is one. */
  readonly request: PlainRequest | null;
}

interface Call {
  readonly client: Client;
  readonly budget?: DatabaseBudget;
}

const APP_ITSELF: Client = { ip: undefined, userAgent: null, request: null };

/**
 * What is known of the current call wherever it has got to: its client, which events and new sessions tell of, and how
 * long it may still wait for the database. It travels beside the arguments, so that no function can forget to pass it.
 */
export class CallContext {
  readonly #calls = new AsyncLocalStorage<Call>();

  get client(): Client {
    return this.#calls.getStore()?.client ?? APP_ITSELF;
  }

  get budget(): DatabaseBudget | undefined {
    return this.#calls.getStore()?.budget;
  }

  /** Does the work of a request to one of our routes. */
  async forRequest<T>(client: Client, databaseMs: number, work: () => Promise<T>): Promise<T> {
    const budget = new DatabaseBudget(databaseMs);
    try {
      return await this.#calls.run({ client, budget }, work);
    } finally {
      budget.release();
    }
  }

  /** Does work for a client that the app's code names. */
  forClient<T>(client: Client, work: () => Promise<T>): Promise<T> {
    return this.#calls.run({ ...this.#calls.getStore(), client }, work);
  }

  /** Does work that belongs to no call, though one has started it. */
  detached<T>(work: () => Promise<T>): Promise<T> {
    return this.#calls.exit(work);
  }
}
