import type { Transaction } from 'sequelize';
import type { Clock } from '../database/clock.js';
import type { AccountChanges } from '../notices/changes.js';
import type { Events } from '../outbox/events.js';
import type { Devices } from '../sessions/devices.js';
import type { Sessions } from '../sessions/sessions.js';
import type { TokenColumns } from '../tables/core.js';
import type { Table } from '../tables/table.js';
import type { EmailProof, UserRecord } from '../users/record.js';
import type { UserUpdates } from '../users/updates.js';
import type { Users } from '../users/users.js';

/**
 * What can be attached to an account before its email is verified: a password, sessions and their devices, emailed
 * tokens, and credentials of plugins, such as API keys and OAuth links.
 */
export type Attached = 'password' | 'sessions' | 'tokens' | 'credentials';

/** Records, in the same transaction, the change that a verification is a part of: see `Notices.before`. */
export type BeforeChange = (record: UserRecord, transaction: Transaction) => Promise<void>;

/** A plugin that attaches something to accounts. */
export interface HasAttached {
  /**
   * Deletes what the plugin attached to the account before its email was first verified.
   *
   * @param wasVerified whether the app had verified the email, so that only access to the mailbox is proved now.
   *   Sign-in methods are removed in that case too, but requirements beyond the mailbox, such as a second factor, stay
   */
  onFirstProof?(userId: string, transaction: Transaction, wasVerified: boolean): Promise<void>;
}

/**
 * Marks emails as verified. Anyone can sign up with someone else's address and wait for its owner (account
 * pre-hijacking, USENIX Security 2022), so the first verification removes everything attached to the account before. It
 * keeps only what the user has proved to be theirs.
 *
 * If the app says that an email is verified, the password and the sessions stay. So a stranger whom the app mistook for
 * the owner can continue to attach things. Therefore the first access to the mailbox itself counts as a first
 * verification again.
 */
export class ProofOfEmail {
  constructor(
    private readonly clock: Clock,
    private readonly users: Users,
    private readonly updates: UserUpdates,
    private readonly sessions: Sessions,
    private readonly tokens: Table<TokenColumns>,
    private readonly devices: Pick<Devices, 'forgetAll' | 'endUndo'>,
    private readonly events: Events,
    private readonly contributions: () => readonly HasAttached[],
    private readonly changes: Pick<AccountChanges, 'end'>,
  ) {}

  /**
   * Records that a user's email is verified.
   *
   * @param record the user; the transaction must have locked the row
   * @param by who proved that the email is the user's
   * @param spare what to keep, because the user has proved that it is theirs
   * @param before called before anything changes
   * @returns the updated user, still locked
   */
  async record(
    record: UserRecord,
    by: EmailProof,
    spare: readonly Attached[],
    transaction: Transaction,
    before?: BeforeChange,
  ): Promise<UserRecord> {
    const { user } = record;
    const isFirst = user.emailVerifiedAt === null;
    const isFirstAccess = by === 'mailbox' && !record.isMailboxProved;
    if (isFirst || isFirstAccess) await this.#endChanges(record, spare, transaction);
    await before?.(record, transaction);
    if (!isFirst && !isFirstAccess) return record;
    const left = await this.#drop(record, spare, transaction);
    if (!spare.includes('tokens')) await this.tokens.delete({ userId: user.id }, transaction);
    const now = this.clock.date();
    const emailVerifiedAt = user.emailVerifiedAt ?? now;
    const mailboxProvedAt = by === 'mailbox' ? now : null;
    const proved = await this.updates.update(left, { emailVerifiedAt, mailboxProvedAt }, transaction);
    if (isFirst) this.#announce(user.id, transaction);
    return proved.record;
  }

  /**
   * Replaces a user's email. Emailed tokens become invalid, because they were sent to the old address. The change
   * counts as a first verification only if no address was verified before.
   *
   * @param by who proved that the new email is the user's; null if no one has
   * @param before called before anything changes, if the email is a different one
   * @throws AuthError `email_taken`, and like {@link record}
   */
  async replaceEmail(
    record: UserRecord,
    email: string,
    by: EmailProof | null,
    spare: readonly Attached[],
    transaction: Transaction,
    before?: BeforeChange,
  ): Promise<UserRecord> {
    const { user } = record;
    if (user.email === email) return by ? this.record(record, by, [...spare, 'tokens'], transaction) : record;
    const isFirst = by !== null && user.emailVerifiedAt === null;
    await before?.(record, transaction);
    const left = isFirst ? await this.#drop(record, spare, transaction) : record;
    await this.tokens.delete({ userId: user.id }, transaction);
    const now = this.clock.date();
    const emailVerifiedAt = by ? now : null;
    const mailboxProvedAt = by === 'mailbox' ? now : null;
    const changed = await this.updates.update(left, { email, emailVerifiedAt, mailboxProvedAt }, transaction);
    if (isFirst) this.#announce(user.id, transaction);
    return changed.record;
  }

  /**
   * Deletes earlier changes, because undoing them would restore what a first verification removes. A new email does not
   * need this: an undo gives the account to no one else, and the links that were sent before must be able to undo the
   * change.
   */
  async #endChanges({ user }: UserRecord, spare: readonly Attached[], transaction: Transaction) {
    if (spare.includes('credentials')) return;
    await this.changes.end(user.id, transaction);
    if (!spare.includes('sessions')) await this.devices.endUndo(user.id, transaction);
  }

  /** Removes what was attached to the account before its first verification. @returns the changed user */
  async #drop(record: UserRecord, spare: readonly Attached[], transaction: Transaction): Promise<UserRecord> {
    const { user } = record;
    if (!spare.includes('password')) await this.users.setPasswordHash(user.id, null, transaction);
    const endsSessions = !spare.includes('sessions');
    if (endsSessions) {
      await this.sessions.endAll(user.id, transaction);
      await this.devices.forgetAll(user.id, transaction);
    }
    if (!spare.includes('credentials')) {
      for (const contribution of this.contributions())
        await contribution.onFirstProof?.(user.id, transaction, user.emailVerifiedAt !== null);
      // Read the user again: plugins might have changed their own columns, which the following sign-in relies on.
      const current = await this.users.lock(user.id, transaction);
      if (current) return current;
    }
    const authEpoch = record.authEpoch + (endsSessions ? 1 : 0);
    const passwordHash = spare.includes('password') ? record.passwordHash : null;
    return { ...record, passwordHash, authEpoch, account: { ...record.account, authEpoch } };
  }

  #announce(userId: string, transaction: Transaction): void {
    this.events.emit('user.email_verified', { userId }, transaction);
  }
}
