/** The parts of a driver's connection that the app sends statements with. */
type Sending = Record<string, unknown>;

const SENDING = ['query', 'execute', 'exec'];

// `ROLLBACK TO` only undoes a part. A statement that begins a transaction follows the end of the former one.
const ENDING =
  /(?:^|;)\s*(?:commit|rollback(?!\s+(?:work\s+|transaction\s+)?to\b)|end|abort|begin|start\s+transaction|prepare\s+transaction)\b/i;
const COMMENTS = /^(?:\s*\/\*[\s\S]*?\*\/)+/;

/**
 * A transaction on a connection of the app, while calls take part in it. Drivers send statements in the order in which
 * they get them. So once the app has sent the end of its transaction, each further statement of these calls would take
 * effect outside of it, and must be refused.
 */
export class OpenTransaction {
  /** The latest one of each connection, for all Auths of the process. */
  static readonly #latest = new WeakMap<object, OpenTransaction>();
  #calls = 0;
  #isEnded = false;
  #stopWatching: () => void;

  private constructor(connection: object) {
    this.#stopWatching = watch(connection as Sending, () => this.end());
  }

  /** Adds a call to the transaction on a connection. */
  static enter(connection: object): OpenTransaction {
    const latest = OpenTransaction.#latest.get(connection);
    const open = latest && !latest.isEnded ? latest : new OpenTransaction(connection);
    OpenTransaction.#latest.set(connection, open);
    open.#calls++;
    return open;
  }

  /** Whether no further statement can be sent. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Removes a call. After the last one, no statement is sent until the next call. */
  leave(): void {
    if (--this.#calls === 0) this.end();
  }

  end(): void {
    if (!this.#isEnded) this.#stopWatching();
    this.#isEnded = true;
  }
}

/** Calls `ended` before the app sends a statement that ends its transaction. @returns the function that stops it */
function watch(connection: Sending, ended: () => void): () => void {
  const restoring = SENDING.flatMap((name) => {
    const send = connection[name];
    if (typeof send !== 'function') return [];
    const isOwn = Object.hasOwn(connection, name);
    const watched = function (this: unknown, ...given: unknown[]): unknown {
      if (ENDING.test(textOf(given[0]).replace(COMMENTS, ''))) ended();
      return send.apply(this, given);
    };
    // The methods of some drivers of SQLite cannot be replaced. They say themselves whether a transaction is open.
    if (!Reflect.set(connection, name, watched)) return [];
    return () => {
      if (connection[name] !== watched) return;
      if (isOwn) connection[name] = send;
      else delete connection[name];
    };
  });
  return () => {
    for (const restore of restoring) restore();
  };
}

/** Returns the text of a statement as drivers accept it. */
function textOf(statement: unknown): string {
  if (typeof statement === 'string') return statement;
  const { text, sql } = (statement ?? {}) as { text?: unknown; sql?: unknown };
  return String(text ?? sql ?? '');
}
