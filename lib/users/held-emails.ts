import type { Transaction } from 'sequelize';
import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import type { AccountChangeColumns } from '../tables/core.js';
import type { Table } from '../tables/table.js';

const HELD = new Error('an undo would give the email back to the account that had it');

/** The refusal of an email that is held. */
export function heldEmail(): AuthError {
  return new AuthError('email_taken', { cause: HELD });
}

/** Whether an email was refused because it is held. */
export function isHeld(error: AuthError): boolean {
  return error.cause === HELD;
}

/**
 * The emails that changes have taken from accounts, and that an undo would give back. They count as taken for as long as it
 * can, since it would otherwise give a mailbox's owner an account without their address.
 */
export class HeldEmails {
  /** @param isOn whether changes can be undone; if not, nothing is held, and no statement is sent */
  constructor(
    private readonly database: Database,
    private readonly table: Table<AccountChangeColumns>,
    private readonly isOn: boolean,
  ) {}

  /**
   * Refuses an email that has just been written to a user, if it is held for another one. Not before the write: only the
   * unique index of users makes this wait for a change that is about to free the email, and has written that it holds it.
   *
   * @throws AuthError `email_taken`
   */
  async check(email: string | null, userId: string, transaction: Transaction): Promise<void> {
    if (email === null) return;
    const [holder] = await this.#select(
      'c.email = :email AND c.user_id <> :userId',
      { email, userId },
      transaction,
    );
    if (holder) throw heldEmail();
  }

  /** Looks whether anybody holds an email, and says nothing: so that a refused sign-up does the same work as another one. */
  async pretend(email: string | null): Promise<void> {
    if (email !== null) await this.#select('c.email = :email', { email });
  }

  /** Those of the emails, which have just been written to new users, that are held. */
  async among(emails: readonly string[], transaction: Transaction): Promise<ReadonlySet<string>> {
    if (emails.length === 0) return new Set();
    const rows = await this.#select('c.email IN (:emails)', { emails: [...emails] }, transaction);
    return new Set(rows.map(({ email }) => email));
  }

  async #select(
    condition: string,
    values: Readonly<Record<string, string | string[]>>,
    transaction?: Transaction,
  ): Promise<readonly { readonly email: string }[]> {
    if (!this.isOn) return [];
    const { clock, currentRead } = this.database;
    return this.database.select(
      `SELECT c.email AS email FROM ${this.table.name} c WHERE ${condition} AND c.expires_at > :now ${currentRead}`,
      { ...values, now: clock.date() },
      transaction,
    );
  }
}
