import type { Transaction } from 'sequelize';
import type { Database } from '../database/database.js';
import { violatedUnique } from '../database/faults.js';
import { AuthError } from '../errors.js';
import type { RowOf } from '../models/column.js';
import type { UserColumns } from '../models/user.js';
import type { FieldValues } from './fields.js';
import type { HeldEmails } from './held-emails.js';
import type { NewUser } from './user-record.js';
import type { Users } from './users.js';

/** New users, with the values of their fields. */
export type ManyNewUsers = ReadonlyMap<NewUser, FieldValues>;

/** The users that were not created, and why. */
export type RefusedUsers = Map<NewUser, AuthError>;

const MAX_ROUNDS = 10;

/** Creates many accounts with few statements. */
export class ManyUsers {
  constructor(
    private readonly database: Database,
    private readonly users: Users,
    private readonly held: HeldEmails,
  ) {}

  /** Creates the users whose identifiers are free. */
  async create(users: ManyNewUsers): Promise<RefusedUsers> {
    if (users.size === 0) return new Map();
    // Lost a race with another insert: the next round finds that account.
    for (let round = 1; ; round++) {
      try {
        return await this.database.transaction((transaction) => this.#createFree(users, transaction));
      } catch (error) {
        if (!violatedUnique(error)) throw error;
        if (round === MAX_ROUNDS) throw new AuthError('unavailable');
      }
    }
  }

  async #createFree(users: ManyNewUsers, transaction: Transaction): Promise<RefusedUsers> {
    const refused: RefusedUsers = new Map();
    const taken = await this.#takenAmong([...users.keys()], transaction);
    const rows: RowOf<UserColumns>[] = [];
    for (const [user, fields] of users) {
      const { email, username } = user;
      if (email !== null && taken.has(`email ${email}`)) refused.set(user, new AuthError('email_taken'));
      else if (username !== null && taken.has(`username ${username}`))
        refused.set(user, new AuthError('username_taken'));
      else {
        taken.add(`email ${email}`).add(`username ${username}`);
        rows.push({ ...this.users.newRow(user), ...fields });
      }
    }
    // In a fixed order, since concurrent transactions that insert in different orders deadlock.
    rows.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
    if (rows.length > 0) await this.users.table.insert(rows, transaction);
    await this.#removeHeld(users, rows, refused, transaction);
    return refused;
  }

  async #removeHeld(
    users: ManyNewUsers,
    rows: readonly RowOf<UserColumns>[],
    refused: RefusedUsers,
    transaction: Transaction,
  ): Promise<void> {
    const held = await this.held.among(
      rows.flatMap(({ email }) => email ?? []),
      transaction,
    );
    for (const user of users.keys()) {
      if (user.email === null || !held.has(user.email) || refused.has(user)) continue;
      refused.set(user, new AuthError('email_taken'));
      await this.users.table.delete({ email: user.email }, transaction);
    }
  }

  async #takenAmong(users: readonly NewUser[], transaction: Transaction): Promise<Set<string>> {
    const emails = users.map(({ email }) => email ?? '');
    const usernames = users.map(({ username }) => username ?? '');
    const rows = await this.users.table
      .shown('u')
      .select('WHERE u.email IN (:emails) OR u.username IN (:usernames)', { emails, usernames }, transaction);
    return new Set(rows.flatMap(({ email, username }) => [`email ${email}`, `username ${username}`]));
  }
}

function orderOf({ email, username }: RowOf<UserColumns>): string {
  return email ?? username ?? '';
}
