/** The methods of a connection of the app. */
type Methods = Record<string, unknown>;

const SENDING = ['query', 'execute', 'exec', 'prepare'];
/** What ends a transaction whatever its arguments are. */
const ENDING = ['reset', 'changeUser', 'release', 'end', 'destroy'];

/**
 * A transaction on a connection of the app, while calls take part in it. Drivers send statements in the order in which
 * they get them. So once the app has sent the end of its transaction, each further statement of these calls would take
 * effect outside of it, and must be refused.
 */
export class OpenTransaction {
  /** The latest one of each connection, for all Auths of the process. */
  static readonly #latest = new WeakMap<object, OpenTransaction>();
  readonly #stopWatching: () => void;
  #calls = 0;
  #isEnded = false;
  #isSending = false;

  private constructor(connection: object, isMysql: boolean) {
    this.#stopWatching = this.#watch(connection as Methods, isMysql);
  }

  /** Adds a call to the transaction on a connection. */
  static enter(connection: object, isMysql: boolean): OpenTransaction {
    const latest = OpenTransaction.#latest.get(connection);
    const open = latest && !latest.isEnded ? latest : new OpenTransaction(connection, isMysql);
    OpenTransaction.#latest.set(connection, open);
    open.#calls++;
    return open;
  }

  /** Whether no further statement can be sent. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Sends a statement of latchkey, whose values can look like the end of a transaction. */
  send<T>(statement: () => T): T {
    this.#isSending = true;
    try {
      return statement();
    } finally {
      this.#isSending = false;
    }
  }

  /** Removes a call. After the last one, no statement is sent until the next call. */
  leave(): void {
    if (--this.#calls === 0) this.end();
  }

  end(): void {
    if (!this.#isEnded) this.#stopWatching();
    this.#isEnded = true;
  }

  /** Notices when the app ends its transaction. @returns the function that stops it */
  #watch(connection: Methods, isMysql: boolean): () => void {
    const restoring = [...SENDING, ...ENDING].flatMap((name) => {
      const method = connection[name];
      if (typeof method !== 'function') return [];
      const isOwn = Object.hasOwn(connection, name);
      const isEnd = (statement: unknown) =>
        !SENDING.includes(name) || endsTransaction(textOf(statement), isMysql);
      const before = (statement: unknown) => {
        if (!this.#isSending && isEnd(statement)) this.end();
      };
      const watched = function (this: unknown, ...given: unknown[]): unknown {
        before(given[0]);
        return method.apply(this, given);
      };
      const changed = { value: watched, configurable: true, writable: true, enumerable: isOwn };
      if (!Reflect.defineProperty(connection, name, changed)) return [];
      return () => {
        if (connection[name] !== watched) return;
        if (isOwn) connection[name] = method;
        else delete connection[name];
      };
    });
    return () => {
      for (const restore of restoring) restore();
    };
  }
}

/** Returns the text of a statement as drivers accept it. */
function textOf(statement: unknown): string {
  if (typeof statement === 'string') return statement;
  const { text, sql } = (statement ?? {}) as { text?: unknown; sql?: unknown };
  return String(text ?? sql ?? '');
}

// What a statement can contain without meaning it: comments, strings and quoted names.
const QUOTED =
  /--[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`[^`]*`|(\$\w*\$)[\s\S]*?\1/g;

// `ROLLBACK TO` only undoes a part. A statement that begins a transaction follows the end of the previous one.
const ENDS =
  /(?:^|;)\s*(?:commit|rollback(?!\s+(?:work\s+|transaction\s+)?to\b)|end|abort|begin|start\s+transaction|prepare\s+transaction)\b/i;

/** The statements before which MySQL commits. */
const COMMITS_BEFORE =
  /(?:^|;)\s*(?:(?:create|drop)(?!\s+temporary\b)|alter|truncate|rename|lock\s+tables|unlock\s+tables|grant|revoke|analyze|set\s+(?:session\s+)?@*(?:session\.)?autocommit|xa)\b/i;

/** Whether a statement of the app ends the transaction of its connection. */
export function endsTransaction(sql: string, isMysql: boolean): boolean {
  const plain = sql.replace(QUOTED, ' ');
  return ENDS.test(plain) || (isMysql && COMMITS_BEFORE.test(plain));
}
