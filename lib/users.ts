import type { Transaction } from 'sequelize';
import { isUuid, uuidv7 } from './crypto/uuid.js';
import type { Database, Replacements } from './database/database.js';
import { violatedUnique } from './database/faults.js';
import { AuthError } from './errors.js';
import { UNTOUCHED } from './models/define.js';
import type { User, UserModel, UserRow } from './models/user.js';
import { toUser, USER_COLUMNS, type UserColumns } from './models/user-columns.js';
import { cutPage, type PageOptions, readPage } from './pagination.js';

/** What a sign-in must know of an account. It stays inside latchkey. */
export interface SignInRecord {
  readonly user: User;
  readonly passwordHash: string | null;
  readonly authEpoch: number;
}

/** A user under a lock, with what decides how they sign in. */
export interface LockedUser extends User {
  readonly passwordHash: string | null;
  readonly authEpoch: number;
}

export interface NewUser {
  /** In canonical spelling. */
  readonly email: string | null;
  readonly username: string | null;
  readonly passwordHash: string | null;
  /** @default false */
  readonly emailVerified?: boolean;
}

/** One of the ways to name an account, each in canonical spelling. */
type Identifier = { id: string } | { email: string } | { username: string };

/** Which page of users, and of which users. */
export interface ListUsersOptions extends PageOptions {
  /** Part of an email or username, in any case. @default all users */
  search?: string;
}

/** One page of users. */
export interface UserPage {
  readonly users: readonly User[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

interface RawUser extends UserColumns {
  password_hash: string | null;
  auth_epoch: number;
  db_now: number;
}

const MAX_ROUNDS = 10;

/** The only door to the users table. */
export class Users {
  readonly #table: string;

  constructor(
    private readonly database: Database,
    private readonly model: UserModel,
  ) {
    this.#table = database.table('users');
  }

  /** @throws AuthError `email_taken`, `username_taken`: the database decides, so that of twenty at once one wins */
  async create(user: NewUser, transaction?: Transaction): Promise<User> {
    const row = this.#newRow(user);
    const insert = () => this.model.create(row, { ...UNTOUCHED, transaction: transaction ?? null });
    try {
      await (transaction ? this.database.run(insert) : this.database.write(insert));
    } catch (error) {
      const violated = violatedUnique(error);
      if (!violated) throw error;
      // Databases differ in which of two violated constraints they name.
      const isEmail =
        !/username/.test(violated) || (user.email !== null && (await this.#exists({ email: user.email })));
      throw new AuthError(isEmail ? 'email_taken' : 'username_taken');
    }
    const { passwordHash, authEpoch, ...created } = row;
    return created;
  }

  async findById(id: string): Promise<User | null> {
    if (!isUuid(id)) return null;
    const [row] = await this.#select(`${USER_COLUMNS} FROM ${this.#table} WHERE id = :id`, { id });
    return row ? toUser(row) : null;
  }

  async findForSignIn(by: Identifier): Promise<SignInRecord | null> {
    const [[column, value]] = Object.entries(by) as [[string, string]];
    if (column === 'id' && !isUuid(value)) return null;
    const [row] = await this.#select(
      `${USER_COLUMNS}, password_hash, auth_epoch, ${this.database.nowSql} AS db_now FROM ${this.#table} WHERE ${column} = :value`,
      { value },
    );
    if (!row) return null;
    this.database.clock.observe(Number(row.db_now));
    return { user: toUser(row), passwordHash: row.password_hash, authEpoch: row.auth_epoch };
  }

  /** Locks a user's row until the transaction ends, against others that change the ways in which they sign in. */
  async lockForUpdate(id: string, transaction: Transaction): Promise<LockedUser | null> {
    if (!isUuid(id)) return null;
    // SQLite's transaction has the whole database to itself from its start.
    const lock = this.database.dialect === 'sqlite' ? '' : ' FOR UPDATE';
    const [row] = await this.database.select<RawUser>(
      `SELECT ${USER_COLUMNS}, password_hash, auth_epoch FROM ${this.#table} WHERE id = :id${lock}`,
      { id },
      transaction,
    );
    return row ? { ...toUser(row), passwordHash: row.password_hash, authEpoch: row.auth_epoch } : null;
  }

  /** Makes many accounts, and says of those that it did not make why. */
  async createMany(users: readonly NewUser[]): Promise<Map<NewUser, 'email_taken' | 'username_taken'>> {
    const refused = new Map<NewUser, 'email_taken' | 'username_taken'>();
    if (users.length === 0) return refused;
    const attempt = () =>
      this.database.transaction(async (transaction) => {
        refused.clear();
        const taken = await this.#takenAmong(users, transaction);
        const rows: UserRow[] = [];
        for (const user of users) {
          if (user.email !== null && taken.has(`email ${user.email}`)) refused.set(user, 'email_taken');
          else if (user.username !== null && taken.has(`username ${user.username}`))
            refused.set(user, 'username_taken');
          else {
            taken.add(`email ${user.email}`).add(`username ${user.username}`);
            rows.push(this.#newRow(user));
          }
        }
        // In one order everywhere: two that insert in different ones wait for each other.
        rows.sort((a, b) => ((a.email ?? '') < (b.email ?? '') ? -1 : 1));
        await this.database.run(() => this.model.bulkCreate(rows, { ...UNTOUCHED, transaction }));
      });
    // Whoever was faster with one of them is seen the next time; each time somebody else gets on.
    for (let round = 1; ; round++) {
      try {
        await attempt();
        break;
      } catch (error) {
        if (!violatedUnique(error)) throw error;
        if (round === MAX_ROUNDS) throw new AuthError('unavailable');
      }
    }
    return refused;
  }

  isUsernameTaken(username: string): Promise<boolean> {
    return this.#exists({ username });
  }

  /** @returns when the user was updated by it */
  async setPasswordHash(id: string, passwordHash: string, transaction: Transaction): Promise<Date> {
    const values = { passwordHash, updatedAt: new Date(Math.floor(this.database.clock.now())) };
    await this.database.run(() => this.model.update(values, { where: { id }, ...UNTOUCHED, transaction }));
    return values.updatedAt;
  }

  /** Stores a newer hash of the same password, unless the password was changed meanwhile. */
  async replacePasswordHash(id: string, old: string, replacement: string): Promise<void> {
    await this.database.write(() =>
      this.model.update(
        { passwordHash: replacement },
        { where: { id, passwordHash: old }, ...UNTOUCHED, transaction: null },
      ),
    );
  }

  /** @returns whether it was unproven before */
  async markEmailVerified(id: string, transaction?: Transaction): Promise<boolean> {
    const now = new Date(this.database.clock.now());
    const changed = await this.database.change(
      `UPDATE ${this.#table} SET email_verified_at = :now, updated_at = :now
       WHERE id = :id AND email IS NOT NULL AND email_verified_at IS NULL`,
      { id, now },
      transaction,
    );
    return changed > 0;
  }

  /** Users, the newest first, a page at a time. @throws AuthError `invalid_request` on a bad limit or cursor */
  async list({ search = '', ...page }: ListUsersOptions = {}): Promise<UserPage> {
    const { limit, before } = readPage(page);
    if (typeof search !== 'string')
      throw new AuthError('invalid_request', { detail: 'search must be a text.' });
    const conditions = ['1 = 1'];
    if (before !== null) conditions.push('id < :before');
    if (search) conditions.push("(email LIKE :pattern ESCAPE '|' OR username LIKE :pattern ESCAPE '|')");
    const rows = await this.#select(
      `${USER_COLUMNS} FROM ${this.#table} WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT ${limit + 1}`,
      { before, pattern: `%${search.trim().toLowerCase().replace(/[|%_]/g, '|$&')}%` },
    );
    const { page: users, nextCursor } = cutPage(rows, limit);
    return { users: users.map(toUser), nextCursor };
  }

  #newRow({ email, username, passwordHash, emailVerified = false }: NewUser): UserRow {
    const now = new Date(Math.floor(this.database.clock.now()));
    return {
      id: uuidv7(now.getTime()),
      email,
      username,
      emailVerifiedAt: emailVerified ? now : null,
      passwordHash,
      authEpoch: 0,
      createdAt: now,
      updatedAt: now,
    };
  }

  async #takenAmong(users: readonly NewUser[], transaction: Transaction): Promise<Set<string>> {
    const emails = users.map(({ email }) => email ?? '');
    const usernames = users.map(({ username }) => username ?? '');
    const rows = await this.database.select<{ email: string | null; username: string | null }>(
      `SELECT email, username FROM ${this.#table} WHERE email IN (:emails) OR username IN (:usernames)`,
      { emails, usernames },
      transaction,
    );
    return new Set(rows.flatMap(({ email, username }) => [`email ${email}`, `username ${username}`]));
  }

  async #exists(by: Identifier): Promise<boolean> {
    const [[column, value]] = Object.entries(by) as [[string, string]];
    return (await this.#select(`id FROM ${this.#table} WHERE ${column} = :value`, { value })).length > 0;
  }

  #select(sql: string, replacements: Replacements): Promise<RawUser[]> {
    return this.database.select<RawUser>(`SELECT ${sql}`, replacements);
  }
}
