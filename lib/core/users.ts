import type { Transaction } from 'sequelize';
import { isUuid, uuidv7 } from '../crypto/uuid.js';
import type { Database } from '../database/database.js';
import { violatedUnique } from '../database/faults.js';
import type { Replacements } from '../database/statements.js';
import { AuthError } from '../errors.js';
import type { RowOf } from '../models/column.js';
import type { Selection, Table } from '../models/table.js';
import type { User, UserColumns } from '../models/user.js';
import type { FieldValues } from './fields.js';
import type { Identifier, NewUser, UserForAdmins, UserRecord } from './user-record.js';

const SAMPLE = 100;

/** Reads and writes the table of users. */
export class Users {
  readonly #shown: Selection<User>;
  readonly #forAdmins: Selection<UserForAdmins>;
  readonly #whole: Selection<RowOf<UserColumns>>;

  constructor(
    private readonly database: Database,
    readonly table: Table<UserColumns>,
  ) {
    this.#shown = table.shown('u');
    this.#forAdmins = table.forAdmins('u') as Selection<UserForAdmins>;
    this.#whole = table.whole('u');
  }

  /** @throws UniqueConstraintError (Sequelize): unique constraints decide, so concurrent calls are safe */
  async create(user: NewUser, fields: FieldValues, transaction: Transaction): Promise<UserRecord> {
    const row = { ...this.newRow(user), ...fields };
    await this.table.insert(row, transaction);
    return this.#recordOf(row, this.#shown.pick(row));
  }

  /** The row of a new user, without fields. */
  newRow({ emailProof = null, ...user }: NewUser): RowOf<UserColumns> {
    const now = this.database.clock.date();
    return this.table.complete({
      ...user,
      id: uuidv7(now.getTime()),
      emailVerifiedAt: emailProof ? now : null,
      mailboxProvedAt: emailProof === 'mailbox' ? now : null,
      authEpoch: 0,
      createdAt: now,
      updatedAt: now,
    });
  }

  /**
   * Writes changes of a user and `updatedAt`: see `UserUpdates`.
   *
   * @returns the changed user
   */
  async update(
    { account, passwordHash }: UserRecord,
    changes: Partial<RowOf<UserColumns>>,
    fields: FieldValues,
    transaction: Transaction,
  ): Promise<UserRecord> {
    const values = { ...changes, ...fields, updatedAt: this.database.clock.date() };
    await this.table.update(values, { id: account.id }, transaction);
    const row = { ...account, passwordHash, ...values } as never;
    return this.#recordOf(row, this.#shown.pick(row));
  }

  /** A user as the app's code sees them: with the fields for administrators too. */
  forCode({ account }: UserRecord): UserForAdmins {
    return this.#forAdmins.pick(account);
  }

  /** What a violated constraint says of a new user. Null if it is another error. */
  async takenBy(error: unknown, { email }: NewUser): Promise<AuthError | null> {
    const violated = violatedUnique(error);
    if (!violated) return null;
    // If both constraints are violated, databases differ in which one they report.
    const isEmail = !/username/.test(violated) || (email !== null && (await this.#exists({ email })));
    return new AuthError(isEmail ? 'email_taken' : 'username_taken');
  }

  /** All columns of users, with the alias `u`, for statements that join them: see {@link read}. */
  get selection(): Pick<Selection<unknown>, 'columns' | 'from'> {
    return this.#whole;
  }

  /** Reads a user from a row of a statement with {@link selection}. */
  read(raw: object): UserRecord {
    return this.#recordOf(this.#whole.read(raw), this.#shown.read(raw));
  }

  /** A user as administrators see them. */
  async find(id: string, transaction?: Transaction): Promise<UserForAdmins | null> {
    const [user] = isUuid(id) ? await this.#forAdmins.select('WHERE u.id = :id', { id }, transaction) : [];
    return user ?? null;
  }

  /** A user with the data that sign-in needs. */
  async findRecord(by: Identifier): Promise<UserRecord | null> {
    const [[column, value]] = Object.entries(by) as [[string, string]];
    if (column === 'id' && !isUuid(value)) return null;
    return this.#record(`WHERE u.${column} = :value`, { value });
  }

  /** Locks a user's row until the transaction ends. Everything that changes how a user can sign in takes this lock. */
  async lock(id: string, transaction: Transaction): Promise<UserRecord | null> {
    if (!isUuid(id)) return null;
    // On SQLite, the transaction has locked the whole database already.
    const lock = this.database.dialect === 'sqlite' ? '' : ' FOR UPDATE';
    return this.#record(`WHERE u.id = :id${lock}`, { id }, transaction);
  }

  /** The password hashes of the oldest and the newest accounts. */
  async sampleHashes(): Promise<string[]> {
    const hashes: string[] = [];
    for (const order of ['ASC', 'DESC']) {
      const rows = await this.#whole.select(`ORDER BY u.id ${order} LIMIT ${SAMPLE}`);
      hashes.push(...rows.flatMap(({ passwordHash }) => passwordHash ?? []));
    }
    return hashes;
  }

  isUsernameTaken(username: string): Promise<boolean> {
    return this.#exists({ username });
  }

  /** @returns the new `updatedAt` */
  async setPasswordHash(id: string, passwordHash: string | null, transaction: Transaction): Promise<Date> {
    const updatedAt = this.database.clock.date();
    await this.table.update({ passwordHash, updatedAt }, { id }, transaction);
    return updatedAt;
  }

  /** Stores a new hash of the same password, unless the password has changed in the meantime. */
  async replacePasswordHash(id: string, old: string, replacement: string): Promise<void> {
    await this.table.update({ passwordHash: replacement }, { id, passwordHash: old });
  }

  async #record(
    rest: string,
    replacements: Replacements,
    transaction?: Transaction,
  ): Promise<UserRecord | null> {
    const [raw] = await this.database.select<{ db_now: number }>(
      `SELECT ${this.#whole.columns}, ${this.database.nowSql} AS db_now FROM ${this.#whole.from} ${rest}`,
      replacements,
      transaction,
    );
    if (!raw) return null;
    this.database.clock.observe(Number(raw.db_now));
    return this.read(raw);
  }

  #recordOf({ passwordHash, ...account }: RowOf<UserColumns>, user: User): UserRecord {
    const { authEpoch, mailboxProvedAt } = account;
    return { user, account, passwordHash, authEpoch, isMailboxProved: mailboxProvedAt !== null };
  }

  async #exists(by: Identifier): Promise<boolean> {
    const [[column, value]] = Object.entries(by) as [[string, string]];
    return (await this.#shown.select(`WHERE u.${column} = :value`, { value })).length > 0;
  }
}
