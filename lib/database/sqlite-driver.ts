import { isInstalled } from './installed.js';

/**
 * SQLite for Sequelize without the `sqlite3` package. It uses Node's `node:sqlite` or, on versions that lack it,
 * `@photostructure/sqlite`, which has the same API. Sequelize loads this module as its `dialectModule`, so it
 * implements the subset of sqlite3's interface that Sequelize uses.
 */

interface Prepared {
  /** Missing in better-sqlite3, which accepts them. */
  setAllowUnknownNamedParameters?(allow: boolean): void;
  /** Makes node:sqlite return numbers. An app can change the default of its database. */
  setReadBigInts?(areBigInts: boolean): void;
  /** Makes node:sqlite return objects. An app can change this default too. */
  setReturnArrays?(areArrays: boolean): void;
  /** Makes better-sqlite3 return numbers. */
  safeIntegers?(areBigInts: boolean): void;
  /** Whether it returns rows, of which better-sqlite3 requires the right method. */
  readonly reader?: boolean;
  all(...parameters: unknown[]): Record<string, unknown>[];
  get(...parameters: unknown[]): Record<string, unknown> | undefined;
  run(...parameters: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint };
}

/** A database of node:sqlite, `@photostructure/sqlite` or better-sqlite3. */
export interface Driver {
  /** Whether a transaction is open, in better-sqlite3. */
  readonly inTransaction?: boolean;
  /** Whether a transaction is open, in later versions of node:sqlite. */
  readonly isTransaction?: boolean;
  exec(sql: string): unknown;
  prepare(sql: string): Prepared;
  close(): unknown;
}

interface DriverModule {
  DatabaseSync: new (path: string) => Driver;
}

interface DriverError extends Error {
  errcode?: number;
  code?: string;
}

/** Sequelize checks the name of this class to recognize the result of a statement. */
class Statement {
  constructor(
    readonly lastID: number,
    readonly changes: number,
  ) {}
}

type Callback = (this: Statement, error: Error | null, rows?: Record<string, unknown>[]) => void;

// The primary result codes that callers can act on (https://sqlite.org/rescode.html).
const RESULT_CODES: Record<number, string> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  19: 'SQLITE_CONSTRAINT',
};

// SQLite's messages for these codes, because the errors of all() in @photostructure/sqlite have no code.
const RESULT_TEXTS: Record<string, number> = {
  'database is locked': 5,
  'database table is locked': 6,
  'attempt to write a readonly database': 8,
  'disk I/O error': 10,
  'database disk image is malformed': 11,
  'database or disk is full': 13,
  'unable to open database file': 14,
  // COMMIT fails with this message if a deferred constraint is violated.
  'FOREIGN KEY constraint failed': 19,
};

// With a write-ahead log, readers do not wait for the writer. The busy timeout is then reset to 0, because the driver
// is synchronous: waiting for a lock would block the whole process, including a lock holder in the same process.
const OPENING = 'PRAGMA busy_timeout = 2000; PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 0';

export const OPEN_READWRITE = 2;
export const OPEN_CREATE = 4;

const MAX_STATEMENTS = 16;

export class Database {
  /** The statements of {@link find}. */
  readonly #statements = new Map<string, Prepared>();
  #driver: Driver | undefined;
  #opening: Promise<void> | undefined;
  #failure: DriverError | undefined;
  #isClosed = false;

  constructor(
    readonly filename: string,
    _mode: number,
    opened: (error: Error | null) => void,
    /** A database that the app has opened, and closes. */
    given?: Driver,
  ) {
    this.#driver = given;
    if (!given) void this.#open().then(() => opened(this.#failure ?? null));
  }

  /** The database of the driver. */
  get driver(): object | undefined {
    return this.#driver;
  }

  /** Sequelize calls this for every statement, even before the file is open or after opening has failed. */
  serialize(work: () => unknown): void {
    if (this.#driver) work();
    else void this.#open().then(work);
  }

  all(sql: string, ...rest: unknown[]): void {
    this.#execute(sql, rest, rowsOf);
  }

  /**
   * Selects one row immediately, with a statement that is prepared once. The statement must name its columns: if a column
   * is added to the table, the driver still reads the old number of columns.
   */
  find(sql: string, values: readonly (Buffer | string)[]): Record<string, unknown> | undefined {
    try {
      const driver = this.#openDriver;
      const row = (this.#statements.get(sql) ?? this.#prepare(driver, sql)).get(...values);
      if (row) useBuffers(row);
      return row;
    } catch (error) {
      throw translate(error as DriverError);
    }
  }

  run(sql: string, ...rest: unknown[]): void {
    this.#execute(sql, rest, (statement, values) => {
      const { lastInsertRowid, changes } = statement.run(...values);
      return { outcome: new Statement(Number(lastInsertRowid), Number(changes)), rows: [] };
    });
  }

  close(done?: (error: Error | null) => void): void {
    try {
      this.#isClosed = true;
      this.#statements.clear();
      this.#driver?.close();
      done?.(null);
    } catch (error) {
      done?.(translate(error as DriverError));
    }
  }

  #open(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#opening ??= loadDriver()
      .then(({ DatabaseSync }) => {
        const driver = new DatabaseSync(this.filename);
        driver.exec(OPENING);
        this.#driver = driver;
        this.#failure = undefined;
      })
      .catch((error: DriverError) => {
        this.#failure = translate(error);
        this.#opening = undefined;
      });
    return this.#opening;
  }

  #prepare(driver: Driver, sql: string): Prepared {
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
    const statement = prepared(driver, sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  get #openDriver(): Driver {
    if (!this.#driver) throw this.#failure ?? new Error('the SQLite database is closed');
    return this.#driver;
  }

  /** @param rest the parameters and the callback, both optional */
  #execute(
    sql: string,
    rest: readonly unknown[],
    execute: (statement: Prepared, values: unknown[]) => Result,
  ): void {
    const done = rest.find((one): one is Callback => typeof one === 'function');
    const parameters = rest.find((one) => typeof one !== 'function');
    let result: Result;
    try {
      result = execute(prepared(this.#openDriver, sql), bindable(parameters));
    } catch (error) {
      // A transaction whose COMMIT violates a deferred constraint stays open, and Sequelize would not close it.
      if (sql.startsWith('COMMIT') && /FOREIGN KEY/.test((error as DriverError).message))
        this.#driver?.prepare('ROLLBACK').all();
      // If BEGIN fails because the file is locked, Sequelize sends a ROLLBACK, and would print a warning.
      const isDone =
        /no transaction is active/.test((error as DriverError).message) && sql.startsWith('ROLLBACK');
      done?.call(new Statement(0, 0), isDone ? null : translate(error as DriverError));
      return;
    }
    done?.call(result.outcome, null, result.rows);
  }
}

/** Returns what Sequelize recognizes as the result of a statement. */
export function resultOf(lastID: number, changes: number): object {
  return new Statement(lastID, changes);
}

/** Returns an open database of the app as the driver's connections. */
export function onConnection(given: Driver): Database {
  return new Database('', OPEN_READWRITE, () => undefined, given);
}

interface Result {
  readonly outcome: Statement;
  readonly rows: Record<string, unknown>[];
}

function prepared(driver: Driver, sql: string): Prepared {
  const statement = driver.prepare(sql);
  statement.setAllowUnknownNamedParameters?.(true);
  statement.setReadBigInts?.(false);
  statement.setReturnArrays?.(false);
  statement.safeIntegers?.(false);
  return statement;
}

function rowsOf(statement: Prepared, values: unknown[]): Result {
  if (statement.reader === false) {
    statement.run(...values);
    return { outcome: new Statement(0, 0), rows: [] };
  }
  const rows = statement.all(...values);
  rows.forEach(useBuffers);
  return { outcome: new Statement(0, 0), rows };
}

/** Replaces the driver's binary values by Buffers, which Sequelize and its users expect. */
function useBuffers(row: Record<string, unknown>): void {
  for (const column in row) {
    const value = row[column];
    if (value instanceof Uint8Array)
      row[column] = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
}

const PACKAGE = '@photostructure/sqlite';

let loadedDriver: DriverModule | undefined;

async function loadDriver(): Promise<DriverModule> {
  // An import takes some time even if the package was loaded before.
  loadedDriver ??= await importDriver();
  return loadedDriver;
}

async function importDriver(): Promise<DriverModule> {
  const builtIn = process.getBuiltinModule('node:sqlite') as DriverModule | undefined;
  if (builtIn) return builtIn;
  try {
    // The types of the package differ from those of node:sqlite, whose API it implements.
    return (await import('@photostructure/sqlite')) as unknown as DriverModule;
  } catch (error) {
    const isMissing = /^(ERR_)?MODULE_NOT_FOUND$/.test((error as DriverError).code ?? '');
    if (isMissing && !isInstalled(PACKAGE))
      throw new Error(
        `latchkey: SQLite needs Node 22.13 or later, or an additional package on Node ${process.version}: npm install ${PACKAGE}@1`,
      );
    throw new Error(
      `latchkey: SQLite needs ${PACKAGE} on Node ${process.version}. The package is installed, but cannot be loaded. If your app is bundled, the bundle does not contain the native file of the package: keep ${PACKAGE} out of the bundle (external). Otherwise, install the package again`,
      { cause: error },
    );
  }
}

function bindable(parameters: unknown): unknown[] {
  if (Array.isArray(parameters)) return parameters.map(asSqliteValue);
  if (typeof parameters !== 'object' || parameters === null) return [];
  const named = Object.entries(parameters).map(([name, value]) => [name, asSqliteValue(value)]);
  return named.length > 0 ? [Object.fromEntries(named)] : [];
}

function asSqliteValue(value: unknown): unknown {
  if (value === undefined) return null;
  return typeof value === 'boolean' ? Number(value) : value;
}

/** Gives an error of a driver the code and message that Sequelize expects. */
export function translate(error: DriverError): DriverError {
  const resultCode = error.errcode ?? RESULT_TEXTS[error.message];
  // The codes of better-sqlite3 are extended ones, such as SQLITE_CONSTRAINT_UNIQUE.
  const [primary] = /^SQLITE_[A-Z]+/.exec(error.code ?? '') ?? [];
  const name = resultCode === undefined ? primary : RESULT_CODES[resultCode & 0xff];
  if (name && error.code !== name) {
    error.code = name;
    error.message = `${name}: ${error.message}`;
  }
  return error;
}
