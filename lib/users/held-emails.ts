import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import { accountChanges } from '../tables/core.js';
import { NOBODY } from './record.js';

const HELD = new Error('an undo would restore the email to the account that had it');

/** Creates the error for an email that is held. */
export function heldEmail(): AuthError {
  return new AuthError('email_taken', { cause: HELD });
}

/** Whether an email was rejected because it is held. */
export function isHeld(error: AuthError): boolean {
  return error.cause === HELD;
}

/** What {@link HeldEmails} need. */
interface HeldEmailsNeeds {
  readonly database: Database;
  readonly settings: Settings;
}

/**
 * The emails that changes have removed from accounts and that an undo would restore. They count as taken as long as the
 * undo is possible. Otherwise, an undo would restore the account without the address of its owner.
 */
export class HeldEmails {
  readonly #database: Database;
  readonly #table: string;
  /** Whether changes can be undone. If not, no email is held, and no statement is sent. */
  readonly #isOn: boolean;

  constructor({ database, settings }: HeldEmailsNeeds) {
    this.#database = database;
    this.#table = database.table(accountChanges.name);
    this.#isOn = (settings.email?.notices ?? []).length > 0;
  }

  /**
   * Rejects an email that has just been written to a user, if it is held for another user. Call it after the write,
   * because only the unique index of users makes a concurrent change, which frees and holds the email, finish first.
   *
   * @throws AuthError `email_taken`
   */
  async check(email: string | null, userId: string, transaction: Transaction): Promise<void> {
    if (email !== null && (await this.isHeld(email, userId, transaction))) throw heldEmail();
  }

  /** Whether an email is held for another user. @param userId null for an account that does not exist */
  async isHeld(email: string, userId: string | null, transaction?: Transaction): Promise<boolean> {
    const condition = 'c.email = :email AND c.user_id <> :userId';
    return (await this.#select(condition, { email, userId: userId ?? NOBODY }, transaction)).length > 0;
  }

  /** Looks an email up and ignores the result, so that a refused sign-up does the same work as any other sign-up. */
  async pretend(email: string | null): Promise<void> {
    if (email !== null) await this.#select('c.email = :email', { email });
  }

  /** Returns the emails that are held, out of emails that have just been written to new users. */
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
    if (!this.#isOn) return [];
    const { clock, currentRead } = this.#database;
    return this.#database.select(
      `SELECT c.email AS email FROM ${this.#table} c WHERE ${condition} AND c.expires_at > :now ${currentRead}`,
      { ...values, now: clock.date() },
      transaction,
    );
  }
}
