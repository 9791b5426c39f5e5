import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';
import type { Transaction } from 'sequelize';
import { performance } from '../timers.js';
import { Background } from './background.js';

/** Checks a call within a transaction, before the work of the transaction. */
export type TransactionCheck = (transaction: Transaction) => Promise<void>;

/** Marks a request that does not count as activity of its session. */
export const UNTOUCHED = Symbol('latchkey.untouched');

/** The parts of a request that latchkey reads, with headers as in Node. */
export interface PlainRequest {
  readonly headers: IncomingHttpHeaders;
  readonly ip?: string | undefined;
  readonly method?: string | undefined;
  [UNTOUCHED]?: boolean;
}

const ORIGINAL = Symbol('latchkey.original');

/** Keeps the request that a plain one was read from, for functions of the app. */
export function withOriginal(request: PlainRequest, original: object): PlainRequest {
  return Object.defineProperty(request, ORIGINAL, { value: original });
}

/** Returns the request of the app's framework: see {@link withOriginal}. */
export function originalOf(request: PlainRequest): object {
  return (request as { readonly [ORIGINAL]?: object })[ORIGINAL] ?? request;
}

/** The work that a route is about to do. */
export interface Ahead {
  /** The address that the request names, in its canonical form. Null if it names none. */
  readonly email: string | null;
  /** The account that the request names. Null if there is none, or if it has not been looked up. @default null */
  readonly userId?: string | null;
  /** Whether it creates an account. @default false */
  readonly createsAccount?: boolean;
  /** Whether the account has signed in before in the browser of the request. @default false */
  readonly isKnownBrowser?: boolean;
}

/** The client on whose behalf a call is made. */
export interface Client {
  /** The IP address. Null if it is unknown; undefined for a programmatic call without an address. */
  readonly ip: string | null | undefined;
  readonly userAgent: string | null;
  /** The request being handled, if any. */
  readonly request: PlainRequest | null;
  /**
   * What the current route asks of the client before the work, such as that it is a person. It is called after the
   * address's limits and the checks of the input, and before anything is hashed, written or emailed. Absent if the route
   * asks nothing, and for the app's own calls.
   */
  checkpoint?(ahead: Ahead): Promise<void>;
}

/** A transaction of the app that a call takes part in. */
export interface JoinedTransaction {
  readonly handle: Transaction;
  /** Whether each statement commits itself, because the connection is separate from the app's transaction. */
  readonly commitsItself?: boolean;
  /** Runs `work`, whose statements form a unit, after earlier units in the same transaction. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /** Runs `work` after the commit. If the transaction is rolled back, `work` does not run. */
  afterCommit(work: () => void): void;
  /** Called when the call has sent its last statement. Missing if the transaction itself reports its end. */
  end?(): Promise<void>;
}

/** Reads of the database that a call sends together. */
export interface CollectedReads {
  /**
   * @param sql the statement, without placeholders
   * @param columns the names of the columns in the result
   */
  add(sql: string, columns: readonly string[]): Promise<object[]>;
}

interface Call {
  readonly client: Client;
  readonly budget?: DatabaseBudget;
  readonly joined?: JoinedTransaction | undefined;
  readonly reads?: CollectedReads | undefined;
  /** The items to handle at the end of the call. */
  readonly collected?: unknown[] | undefined;
  /** The work that the call has started, and waits for at its end. */
  readonly pending?: Promise<unknown>[] | undefined;
  /** What each of latchkey's own transactions of the call checks first. */
  readonly check?: TransactionCheck | undefined;
}

/** The current call of an Auth, within the calls of other Auths whose hooks have called this Auth. */
interface Frame {
  readonly owner: CallContext;
  readonly call: Call | undefined;
  readonly outer: Frame | undefined;
}

// All Auths share one AsyncLocalStorage, because on Node 20 and 22 each one in use slows down every promise.
const frames = new AsyncLocalStorage<Frame>();

const APP_ITSELF: Client = { ip: undefined, userAgent: null, request: null };

/**
 * The context of the current call: its client, which is recorded in events and new sessions, its time budget for the
 * database, and the transaction of the app that it takes part in. The context uses AsyncLocalStorage, so that functions
 * do not have to pass it on.
 */
export class CallContext {
  /** The work that continues after its call. */
  readonly background = new Background();
  readonly #requests = new Set<Promise<unknown>>();
  #collector: ((items: readonly unknown[]) => Promise<void>) | undefined;
  #waits = false;

  get client(): Client {
    return this.#call?.client ?? APP_ITSELF;
  }

  get budget(): DatabaseBudget | undefined {
    return this.#call?.budget;
  }

  get joined(): JoinedTransaction | undefined {
    return this.#call?.joined;
  }

  /** The reads that the current call sends together. Undefined if it sends each read on its own. */
  get reads(): CollectedReads | undefined {
    return this.#call?.reads;
  }

  /** What each of latchkey's own transactions in the current call must check first. */
  get check(): TransactionCheck | undefined {
    return this.#call?.check;
  }

  /** Runs `work` for a request to one of the routes. */
  forRequest<T>(client: Client, databaseMs: number, work: () => Promise<T>): Promise<T> {
    const budget = new DatabaseBudget(databaseMs);
    const request = this.#whole({ client, budget }, work).finally(() => {
      budget.release();
      this.#requests.delete(request);
    });
    this.#requests.add(request);
    return request;
  }

  /** Runs `work` for the client given in a programmatic call. */
  forClient<T>(client: Client, work: () => Promise<T>): Promise<T> {
    return this.#whole({ ...this.#call, client }, work);
  }

  /** Runs `work` as a part of the app's transaction. */
  inTransaction<T>(joined: JoinedTransaction, work: () => Promise<T>): Promise<T> {
    // The events belong to the transaction, and not to the call that started it.
    return this.#whole(
      {
        ...this.#call,
        client: this.client,
        joined,
        reads: undefined,
        collected: undefined,
        pending: undefined,
      },
      work,
    );
  }

  /** Runs `work`, and collects its reads. */
  collecting<T>(reads: CollectedReads, work: () => Promise<T>): Promise<T> {
    return this.#run({ client: this.client, ...this.#call, reads }, work);
  }

  /** Runs `work`, in which each of latchkey's own transactions calls `check` first. */
  checking<T>(check: TransactionCheck, work: () => Promise<T>): Promise<T> {
    return this.#run({ client: this.client, ...this.#call, check }, work);
  }

  /** Runs `work` as a separate call, unless it is part of a call. */
  whole<T>(work: () => Promise<T>): Promise<T> {
    return this.#whole({ client: this.client, ...this.#call }, work);
  }

  /** Waits for the requests that are being handled. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#requests);
  }

  /** Sets the function that handles the collected items at the end of each call. */
  collectWith(collector: (items: readonly unknown[]) => Promise<void>): void {
    this.#collector = collector;
    this.#waits = true;
  }

  /** Makes calls wait for the work that is passed to {@link waitFor}. */
  allowWaiting(): void {
    this.#waits = true;
  }

  /**
   * Makes the current call wait at its end for work that it has started, which must not reject. Outside a call, such as
   * after the commit of the app's transaction, the work is done in the background.
   */
  waitFor(work: Promise<unknown>): void {
    const pending = this.#call?.pending;
    if (pending) pending.push(work);
    else this.background.add(work);
  }

  /** Collects an item for the end of the current call, which waits until the item has been handled. */
  collect(item: unknown): void {
    const collected = this.#call?.collected;
    if (collected) collected.push(item);
    else if (this.#collector) this.background.add(this.#collector([item]));
  }

  /**
   * Runs a function of the app, such as a hook. Its calls are part of a transaction only if they pass the transaction.
   */
  forApp<T>(work: () => T): T {
    const call = this.#call;
    // A transaction of the hook would wait for the rows that the call has locked, so it checks nothing.
    const own = { reads: undefined, check: undefined };
    if (!call?.joined) return call?.reads || call?.check ? this.#run({ ...call, ...own }, work) : work();
    return this.#run({ ...call, ...own, joined: undefined, collected: undefined, pending: undefined }, work);
  }

  /** Runs `work` now or, in a transaction of the app, after the commit. After a rollback, `work` does not run. */
  afterCommit(work: () => void): void {
    if (this.joined) this.joined.afterCommit(work);
    else work();
  }

  get #call(): Call | undefined {
    let frame = frames.getStore();
    while (frame && frame.owner !== this) frame = frame.outer;
    return frame?.call;
  }

  #run<T>(call: Call | undefined, work: () => T): T {
    return frames.run({ owner: this, call, outer: withoutOwner(this, frames.getStore()) }, work);
  }

  #whole<T>(call: Call, work: () => Promise<T>): Promise<T> {
    if (!this.#waits || call.collected) return this.#run(call, work);
    const collected: unknown[] = [];
    const pending: Promise<unknown>[] = [];
    const finish = async () => {
      if (collected.length > 0) await this.#collector?.(collected.splice(0));
      await Promise.all(pending.splice(0));
    };
    return this.#run({ ...call, collected, pending }, async () => {
      const outcome = await work().catch(async (error) => {
        // The caller must get this error, because the database might have rolled back the app's transaction.
        await finish().catch(() => undefined);
        throw error;
      });
      await finish();
      return outcome;
    });
  }

  /** Runs `work` outside the call that started it, and outside the app's transaction. */
  detached<T>(work: () => Promise<T>): Promise<T> {
    // Guards run outside calls, so a process that only has guards should not pay for contexts.
    return frames.getStore() ? this.#run(undefined, work) : work();
  }
}

/** Removes an Auth from the frames, so that nested calls of the same Auth do not add up. */
function withoutOwner(owner: CallContext, frame: Frame | undefined): Frame | undefined {
  if (!frame) return undefined;
  const outer = withoutOwner(owner, frame.outer);
  return frame.owner === owner ? outer : { ...frame, outer };
}

/**
 * Limits how long one request can wait for the database in total. Only the time during which a statement is running
 * counts, because password hashing and requests to providers have their own limits.
 */
class DatabaseBudget {
  #running = 0;
  #since = 0;

  constructor(private leftMs: number) {}

  /** The remaining time in milliseconds; negative if it has been exceeded. */
  get left(): number {
    return this.#running > 0 ? this.leftMs - (performance.now() - this.#since) : this.leftMs;
  }

  /**
   * Starts to charge the time, until {@link end} has been called as often as this. Overlapping statements are charged
   * once.
   */
  begin(): void {
    if (this.#running++ === 0) this.#since = performance.now();
  }

  /** Stops charging the time: see {@link begin}. */
  end(): void {
    if (--this.#running === 0) this.leftMs -= performance.now() - this.#since;
  }

  /** Lifts the limit after the response. Statements that are still running keep their own deadlines. */
  release(): void {
    this.leftMs = Number.POSITIVE_INFINITY;
  }
}
