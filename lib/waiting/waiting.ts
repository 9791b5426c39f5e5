import type { Transaction } from 'sequelize';
import type { Database } from '../database/database.js';
import type { Replacements } from '../database/statements.js';
import {
  type Column,
  type Columns,
  columnName,
  type Digest,
  keyOf,
  type NewRow,
  type RowOf,
} from '../tables/column.js';
import { type Selection, Table } from '../tables/table.js';
import type { InBrowsers, OfUsers, WaitingTable } from '../tables/waiting.js';
import type { UserRecord } from '../users/record.js';
import type { Users } from '../users/users.js';
import type { CodeTries, RowWithTries, TableWithTries } from './code-tries.js';

/** What {@link WaitingInBrowsers} needs. */
export interface WaitingNeeds {
  readonly database: Database;
  readonly codeTries: CodeTries;
}

/** A row to insert, without the columns that begin in the same way for every row. */
type Begun<C extends Columns> = Omit<NewRow<C>, 'tries' | 'expiresAt'>;

/** A row whose code can be tried. */
interface Tried {
  readonly tries: number;
}

/** A row that expires. */
interface Expiring {
  readonly expiresAt: Date;
}

/** The rows of a table that was declared with `defineWaiting`. */
class Waiting<C extends Columns> {
  readonly table: Table<C>;
  /** All columns, with the alias `w`. */
  readonly row: Selection<RowOf<C>>;
  protected readonly database: Database;
  protected readonly key: ReturnType<typeof keyOf>;
  readonly #codeTries: CodeTries;

  constructor(
    { database, codeTries }: WaitingNeeds,
    private readonly declaration: WaitingTable<C>,
  ) {
    this.database = database;
    this.table = new Table(database, declaration);
    this.row = this.table.whole('w');
    this.key = keyOf(declaration.columns);
    this.#codeTries = codeTries;
  }

  /**
   * Inserts a row.
   *
   * @param lifetimeMs required if the table declares none
   * @returns when the row expires
   */
  async begin(row: Begun<C>, transaction?: Transaction, lifetimeMs = this.#lifetimeMs): Promise<Date> {
    await this.database.ready();
    const expiresAt = this.database.clock.date(lifetimeMs);
    const counted = this.declaration.waiting.tries === null ? {} : { tries: 0 };
    await this.table.insert({ ...row, ...counted, expiresAt } as unknown as NewRow<C>, transaction);
    return expiresAt;
  }

  /** Returns when a row began to wait. */
  beganAt({ expiresAt }: Expiring): Date {
    return new Date(expiresAt.getTime() - this.#lifetimeMs);
  }

  /** Deletes the rows whose columns equal all of `where`. @returns whether there was one */
  async end(where: Partial<RowOf<C>>, transaction?: Transaction): Promise<boolean> {
    return (await this.table.delete(where, transaction)) > 0;
  }

  /** Adds one to a column. @returns false if the column has reached the maximum, or if the row has ended */
  async countUp(row: RowOf<C>, attribute: keyof C & string, max: number, transaction?: Transaction) {
    const count = columnName(attribute, this.declaration.columns[attribute] as Column);
    const sql = `UPDATE ${this.table.name} SET ${count} = ${count} + 1
      WHERE ${this.key.name} = :hash AND ${count} < ${max}`;
    return (await this.database.change(sql, { hash: this.hashOf(row) }, { transaction })) > 0;
  }

  /** Counts a code before it is compared: see {@link CodeTries}. @returns false if there were too many */
  countTry(row: RowOf<C> & Tried): Promise<boolean> {
    return this.#codeTries.count(this.#withTries(row), this.#triesOf(row));
  }

  /** Whether another code can be tried for a row. */
  hasTries(row: RowOf<C> & Tried): boolean {
    return this.#codeTries.areLeft(this.#withTries(row), this.#triesOf(row));
  }

  /** Takes back the count of a code that was right. */
  giveBackTry(row: RowOf<C> & Tried): Promise<void> {
    return this.#codeTries.giveBack(this.#withTries(row), this.#triesOf(row));
  }

  /** Deletes a row after a wrong code, if it was the last one allowed. @returns whether the row was deleted */
  endAfterTries(row: RowOf<C> & Tried): Promise<boolean> {
    return this.#codeTries.endAfterLast(this.#withTries(row), this.#triesOf(row));
  }

  protected hashOf(row: RowOf<C>): Digest {
    return row[this.key.attribute] as Digest;
  }

  /** The unique column that finds a row to count its tries, and its value. */
  protected foundBy(row: RowOf<C>): { readonly key: string; readonly hash: Digest } {
    return { key: this.key.name, hash: this.hashOf(row) };
  }

  protected hasExpired(row: RowOf<C>): boolean {
    return this.database.clock.hasPassed((row as RowOf<C> & Expiring).expiresAt);
  }

  get #lifetimeMs(): number {
    const { lifetimeMs } = this.declaration.waiting;
    if (lifetimeMs === null) throw new TypeError(`each row of ${this.table.name} has its own lifetime`);
    return lifetimeMs;
  }

  #withTries(row: RowOf<C>): TableWithTries {
    const { tries } = this.declaration.waiting;
    if (tries === null) throw new TypeError(`the rows of ${this.table.name} have no codes`);
    return { name: this.table.name, key: this.foundBy(row).key, max: tries };
  }

  #triesOf(row: RowOf<C> & Tried): RowWithTries {
    return { hash: this.foundBy(row).hash, tries: row.tries };
  }
}

/** What {@link WaitingOfUsers} needs. */
export interface WaitingOfUsersNeeds extends WaitingNeeds {
  readonly users: Pick<Users, 'selection' | 'read' | 'lock'>;
}

/** What is read in the same statement as a row, so that it costs no statement of its own. */
export interface JoinedColumns {
  readonly columns: string;
  /** The SQL after the join with users, whose alias is `u`. */
  readonly join: string;
  readonly values?: Replacements;
}

/** A row that can be used, and its user. */
export interface FoundWaiting<Row> {
  readonly row: Row;
  readonly record: UserRecord;
  /** The row of the result, for the reader of the {@link JoinedColumns}. */
  readonly raw: object;
}

/** Rows that depend on the epoch or the email of their user. */
export class WaitingOfUsers<C extends OfUsers> extends Waiting<C> {
  readonly #users: WaitingOfUsersNeeds['users'];

  constructor(needs: WaitingOfUsersNeeds, declaration: WaitingTable<C>) {
    super(needs, declaration);
    this.#users = needs.users;
  }

  /**
   * Finds a row with its user, in one statement.
   *
   * @param hash the primary key
   * @param joined what else to read
   * @returns null if the row was never there, was used, has expired, or was issued for another epoch or email of the user
   */
  async find(hash: Digest, joined?: JoinedColumns): Promise<FoundWaiting<RowOf<C>> | null> {
    const { selection } = this.#users;
    await selection.ready?.();
    const [raw] = await this.database.select<{ db_now: number }>(
      `SELECT ${selection.columns}, ${this.row.columns}, ${joined ? `${joined.columns},` : ''}
         ${this.database.nowSql} AS db_now
       FROM ${selection.from}
       JOIN ${this.row.from} ON w.user_id = u.id
       ${joined?.join ?? ''}
       WHERE w.${this.key.name} = :hash`,
      { hash, ...joined?.values },
    );
    if (!raw) return null;
    this.database.clock.observe(raw.db_now);
    const [row, record] = [this.row.read(raw), this.#users.read(raw)];
    return this.hasExpired(row) || !isStillOf(row, record) ? null : { row, record, raw };
  }

  /**
   * Consumes a row, in the transaction of what it is for. Locks the user, and then checks again that the row is still theirs.
   * Only one of several concurrent calls succeeds.
   *
   * @returns the user, who is locked. Null if the row was used in the meantime, or if the user's epoch or email has changed
   */
  async use({ row }: FoundWaiting<RowOf<C>>, transaction: Transaction): Promise<UserRecord | null> {
    // Lock the user first, because two rows of one user would otherwise deadlock.
    const record = await this.#users.lock(`${row.userId}`, transaction);
    if (!record || !isStillOf(row, record)) return null;
    const key = { [this.key.attribute]: this.hashOf(row) } as Partial<RowOf<C>>;
    return (await this.end(key, transaction)) ? record : null;
  }
}

/** Whether a row was issued for the current epoch of its user, or for their current email. */
function isStillOf(row: object, { user, authEpoch }: UserRecord): boolean {
  const issued = row as { readonly authEpoch: number | null; readonly email?: string };
  return issued.authEpoch === null ? issued.email === user.email : issued.authEpoch === authEpoch;
}

/** Rows that depend on a secret of one browser. */
export class WaitingInBrowsers<C extends InBrowsers> extends Waiting<C> {
  /** Finds a row of any browser. @returns null if the row was never there, was consumed or has expired */
  async find(hash: Digest): Promise<RowOf<C> | null> {
    const [row] = await this.row.select(`WHERE w.${this.key.name} = :hash`, { hash });
    return row && !this.hasExpired(row) ? row : null;
  }

  /**
   * Consumes a row, unless it has expired. Only one of several concurrent calls succeeds. Rows of other browsers stay, so that
   * an attacker who has seen the secret cannot consume them.
   *
   * @param where the columns that must equal these values, with the hash of the secret that the browser has presented
   * @returns whether this call consumed a row
   */
  async take(
    where: Partial<RowOf<C>> & { readonly browserHash: Digest },
    transaction?: Transaction,
  ): Promise<boolean> {
    await this.database.ready();
    const { sql, values } = this.table.where(where);
    const taken = await this.database.change(
      `DELETE FROM ${this.table.name} WHERE ${sql} AND expires_at > :now`,
      { ...values, now: this.database.clock.date() },
      { transaction },
    );
    return taken > 0;
  }
}
