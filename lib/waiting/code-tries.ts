import type { Database } from '../database/database.js';
import { SideConnections } from '../database/side-connections.js';

const MAX_IN_MEMORY = 10_000;

/** A table in which each row waits for a code. It has the columns `tries` and `expires_at`. */
export interface TableWithTries {
  readonly name: string;
  /** The unique column that finds the row. */
  readonly key: string;
  /** The number of codes that can be tried for a row. */
  readonly max: number;
}

/** A row of such a table, as it was read. */
export interface RowWithTries {
  /** The value of the unique column that finds the row. */
  readonly hash: Buffer;
  readonly tries: number;
}

/**
 * Counts the tries of codes. Each counter belongs to a row, which means to one sign-in in one browser, because
 * a stranger's wrong codes must not keep the owner from signing in. A wrong code makes the app roll back its
 * transaction, so the counts are stored outside it.
 */
export class CodeTries {
  readonly #side: SideConnections;
  /**
   * The tries in transactions of the app on SQLite, where nothing else can write in the meantime. They are added to the
   * tries of the row. The row of the latest try comes last.
   */
  readonly #inMemory = new Map<string, number>();

  constructor(private readonly database: Database) {
    this.#side = new SideConnections(database);
  }

  /**
   * Counts a code before it is compared, so that concurrent requests do not get more tries.
   *
   * @returns false if there were too many tries, or if the row has expired
   */
  async count(table: TableWithTries, row: RowWithTries): Promise<boolean> {
    if (!this.areLeft(table, row)) return false;
    if (this.#countsInMemory) {
      this.#remember(row, 1);
      return true;
    }
    const { name, key, max } = table;
    const sql = `UPDATE ${name} SET tries = tries + 1
      WHERE ${key} = :hash AND tries < ${max - this.#remembered(row)} AND expires_at > :now`;
    return (await this.#change(sql, { hash: row.hash, now: this.database.clock.date() })) > 0;
  }

  /** Takes back the count of a correct code. */
  async giveBack({ name, key }: TableWithTries, row: RowWithTries): Promise<void> {
    const sql = `UPDATE ${name} SET tries = tries - 1 WHERE ${key} = :hash AND tries > 0`;
    if (this.#countsInMemory) this.#remember(row, -1);
    else await this.#change(sql, { hash: row.hash });
  }

  /** Deletes the row after a wrong code, if it was the last allowed try. @returns whether the row was deleted */
  async endAfterLast(table: TableWithTries, row: RowWithTries): Promise<boolean> {
    if (this.#countsInMemory) return !this.areLeft(table, row);
    const { name, key, max } = table;
    const sql = `DELETE FROM ${name} WHERE ${key} = :hash AND tries >= ${max - this.#remembered(row)}`;
    return (await this.#change(sql, { hash: row.hash })) > 0;
  }

  /** Whether a code can be tried, according to the row that was read. */
  areLeft({ max }: TableWithTries, row: RowWithTries): boolean {
    return row.tries + this.#remembered(row) < max;
  }

  close(): Promise<void> {
    return this.#side.close();
  }

  #change(sql: string, values: Readonly<Record<string, Buffer | Date>>): Promise<number> {
    const change = () => this.database.change(sql, values);
    return this.database.isJoined ? this.#side.use(change) : change();
  }

  get #countsInMemory(): boolean {
    return this.database.isJoined && this.database.dialect === 'sqlite';
  }

  #remembered({ hash }: RowWithTries): number {
    return this.#inMemory.get(keyOf(hash)) ?? 0;
  }

  #remember(row: RowWithTries, more: number): void {
    const key = keyOf(row.hash);
    const tries = Math.max(0, this.#remembered(row) + more);
    this.#inMemory.delete(key);
    this.#inMemory.set(key, tries);
    const [oldest] = this.#inMemory.keys();
    if (this.#inMemory.size > MAX_IN_MEMORY && oldest !== undefined) this.#inMemory.delete(oldest);
  }
}

function keyOf(hash: Buffer): string {
  return hash.toString('base64');
}
