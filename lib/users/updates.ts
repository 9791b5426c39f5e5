import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import type { CallContext } from '../context/call.js';
import type { Database, GivenToHook } from '../database/database.js';
import { AppError, violatedUnique } from '../database/faults.js';
import { AuthError } from '../errors.js';
import type { RowOf } from '../tables/column.js';
import type { UserColumns } from '../tables/core.js';
import type { EmailProof } from './email-proof.js';
import type { FieldValues } from './fields.js';
import type { HeldEmails } from './held-emails.js';
import type { UserRecord } from './record.js';
import type { Users } from './users.js';

/** The changes to make to a user. Omitted attributes keep their values. */
export interface UserChanges
  extends Partial<
    Pick<
      RowOf<UserColumns>,
      'email' | 'username' | 'usernameDisplay' | 'emailVerifiedAt' | 'passwordHash' | 'deletedAt'
    >
  > {
  readonly emailProof?: EmailProof;
  /** Values that `Fields.read` has checked. */
  readonly fields?: FieldValues;
}

/** What {@link UserUpdates} need. */
interface UserUpdatesNeeds {
  readonly context: CallContext;
  readonly database: Database;
  readonly settings: Settings;
  readonly users: Users;
  readonly held: HeldEmails;
}

/** The only place where users are changed, except for passwords and epochs, so that the app's hook always runs. */
export class UserUpdates {
  constructor(private readonly core: UserUpdatesNeeds) {}

  /**
   * Changes a user. If no value differs from the stored one, nothing is written and no hook runs.
   *
   * @param record the user; the transaction must have locked the row
   * @returns the changed user, and the changed attributes that the app can see. If there are any, the caller emits an
   *   event after the transaction
   * @throws AuthError `email_taken`, `username_taken` (409), and the errors of the hook
   */
  async update(
    record: UserRecord,
    { fields = {}, emailProof, ...given }: UserChanges,
    transaction: Transaction,
  ): Promise<{ readonly record: UserRecord; readonly changed: readonly string[] }> {
    const account: Readonly<Record<string, unknown>> = {
      ...record.account,
      passwordHash: record.passwordHash,
    };
    const columns = { ...given, emailProof: emailProof?.level };
    const differs = ([name, value]: [string, unknown]) =>
      value !== undefined && !isSame(value, account[name]);
    const changes = Object.fromEntries(Object.entries(columns).filter(differs));
    const newFields = Object.fromEntries(Object.entries(fields).filter(differs));
    if ('email' in changes || 'emailProof' in changes)
      Object.assign(changes, timesOf(record, given.email, emailProof, this.core.database.clock.date()));
    // The former letters belong to the former name.
    if ('username' in changes && given.usernameDisplay === undefined)
      changes.usernameDisplay = given.username ?? null;
    const names = [...Object.keys(changes), ...Object.keys(newFields)];
    if (names.length === 0) return { record, changed: [] };
    const updated = await this.#write(record, changes, newFields, transaction);
    if ('email' in changes) await this.core.held.check(updated.user.email, record.user.id, transaction);
    await this.core.users.announceChange(record.user.id, names, transaction);
    const isImplied = (name: string) => name === 'usernameDisplay' && 'username' in changes;
    const changed = names.filter((name) => !HIDDEN.has(name) && !isImplied(name));
    if (changed.length > 0)
      await runHook(this.core.database, transaction, (given) =>
        this.core.settings.hooks.afterUpdateUser?.(this.core.users.forCode(updated), changed, given),
      );
    return { record: updated, changed };
  }

  async #write(
    record: UserRecord,
    changes: Partial<RowOf<UserColumns>>,
    fields: FieldValues,
    transaction: Transaction,
  ): Promise<UserRecord> {
    try {
      return await this.core.users.update(record, changes, fields, transaction);
    } catch (error) {
      const violated = violatedUnique(error);
      if (!violated) throw error;
      // Decide without another statement, because on PostgreSQL the error has aborted the transaction.
      const isUsername = 'username' in changes && (!('email' in changes) || /username/.test(violated));
      throw new AuthError(isUsername ? 'username_taken' : 'email_taken');
    }
  }
}

/** The times that a change of the email or of its proof leaves in the account. Nothing else writes them. */
function timesOf(
  { user, account, emailProof: before, hasProvedMailbox }: UserRecord,
  email: string | null | undefined,
  emailProof: EmailProof | undefined,
  now: Date,
): Partial<RowOf<UserColumns>> {
  const isVouchedFor = before.reaches('provider') || emailProof?.reaches('provider');
  return {
    ...(email !== undefined && email !== user.email && { emailChangedAt: now }),
    ...(account.emailVouchedAt === null && isVouchedFor && { emailVouchedAt: now }),
    ...(!hasProvedMailbox && emailProof?.reaches('mailbox') && { mailboxProvedAt: now }),
  };
}

const HIDDEN = new Set(['mailboxProvedAt', 'emailVouchedAt', 'emailChangedAt', 'passwordHash', 'deletedAt']);

/**
 * Whether a value equals the stored one, which is undefined if it was not read. JSON values are compared as strings, so
 * another order of keys counts as a difference.
 */
function isSame(value: unknown, stored: unknown): boolean {
  if (value instanceof Date && stored instanceof Date) return value.getTime() === stored.getTime();
  if (typeof value === 'object' && value !== null) return JSON.stringify(value) === JSON.stringify(stored);
  return value === stored;
}

/**
 * Runs the app's code within a transaction. Its errors reach the app, not the code that handles database errors. Its
 * own calls to latchkey are part of the transaction only if they pass it.
 */
export async function runHook<T>(
  database: Database,
  transaction: Transaction,
  hook: (given: GivenToHook) => T | Promise<T>,
): Promise<T> {
  try {
    return await database.inHook(transaction, hook);
  } catch (error) {
    throw error instanceof AuthError ? error : new AppError(error);
  }
}
