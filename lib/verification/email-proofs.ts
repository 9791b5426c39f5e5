import type { Transaction } from 'sequelize';
import type { Database } from '../database/database.js';
import type { Languages } from '../locale/languages.js';
import type { NoticeTemplate } from '../mail/notice-kinds.js';
import type { AccountHistory } from '../notices/changes.js';
import type { Notices } from '../notices/notices.js';
import { passwordNotices } from '../notices/passwords.js';
import type { Events } from '../outbox/events.js';
import type { Proven } from '../sessions/completion.js';
import type { Devices } from '../sessions/devices.js';
import type { Sessions } from '../sessions/sessions.js';
import type { languageColumns } from '../tables/core.js';
import { EmailProof } from '../users/email-proof.js';
import { type HasWaysIn, hasWayIn, type UserRecord } from '../users/record.js';
import type { UserUpdates } from '../users/updates.js';
import type { UsernameRules } from '../users/usernames.js';
import type { Users } from '../users/users.js';
import type { CodeRequests } from '../waiting/code-requests.js';
import type { MailLanguages } from './mail-languages.js';

/** Records the change that a verification is a part of, in the same transaction: see `Notices.before`. */
export type BeforeChange = (record: UserRecord, transaction: Transaction) => Promise<void>;

/** A plugin that attaches something to accounts. */
export interface HasAttached {
  /**
   * Deletes the data that the plugin attached to the account before access to the mailbox was first proven.
   *
   * @param stays whether requirements beyond the mailbox, such as a second factor, stay if the account has had them
   *   since a time. Other sign-in methods are removed in any case
   */
  onFirstProof?(userId: string, transaction: Transaction, stays: (since: Date) => boolean): Promise<void>;
}

/** What {@link EmailProofs} needs. */
interface EmailProofsNeeds {
  readonly database: Database;
  readonly events: Events;
  readonly users: Users;
  readonly userUpdates: UserUpdates;
  /** Null if users cannot have a username. */
  readonly usernames: UsernameRules | null;
  readonly languages: Languages;
  readonly mailLanguages: MailLanguages;
  readonly sessions: Sessions;
  readonly devices: Devices;
  readonly history: AccountHistory;
  readonly notices: Notices;
  readonly tokens: RevocableTokens;
  /** Null without a plugin for them. */
  readonly codeRequests: CodeRequests | null;
  readonly contributions: readonly (HasAttached & HasWaysIn)[];
}

/** The one-time tokens, which need {@link EmailProofs} themselves. */
interface RevocableTokens {
  /** Revokes all tokens of a user. */
  endAll(userId: string, transaction: Transaction): Promise<void>;
}

/** A proof of a user's email. */
export interface NewEmailProof {
  readonly proof: EmailProof;
  /** Whether the account's own session or password was presented too. @default false */
  readonly isOwn?: boolean;
  /** Whether requirements beyond the mailbox stay, even if no one had vouched for the email. @default false */
  readonly keepsFactors?: boolean;
  /** Called before anything changes. */
  readonly before?: BeforeChange | undefined;
}

/**
 * Records how well emails are proven. An attacker can sign up with someone else's address, or with a provider that does
 * not run the mailbox, and wait for the owner to use the account (account pre-hijacking, USENIX Security 2022). So if
 * someone proves access to the mailbox for the first time, and presents neither a session nor the password of the
 * account, everything that was attached to the account before is removed.
 *
 * An account that has proven its mailbox stays proven when its email changes, because the user who changes the email
 * controls the account. Only an address that no one has vouched for counts as unproven again.
 */
export class EmailProofs {
  constructor(private readonly core: EmailProofsNeeds) {}

  /**
   * Records a proof of a user's email. A proof that is no better than the earlier proof changes nothing.
   *
   * @param record the user; the transaction must have locked the row
   * @returns the updated user, still locked
   */
  async record(
    record: UserRecord,
    { proof, isOwn = false, keepsFactors = false, before }: NewEmailProof,
    transaction: Transaction,
  ): Promise<UserRecord> {
    const { user } = record;
    const drops = !isOwn && proof.reaches('mailbox') && isUnproven(record);
    // Undoing an earlier change would restore the removed data.
    if (drops) await this.core.history.end(user.id, transaction);
    await before?.(record, transaction);
    if (record.emailProof.reaches(proof.level)) return record;
    const left = drops ? await this.#drop(record, keepsFactors, transaction) : record;
    const emailVerifiedAt = user.emailVerifiedAt ?? this.core.database.clock.date();
    const proved = await this.core.userUpdates.update(
      left,
      { emailVerifiedAt, emailProof: proof },
      transaction,
    );
    if (user.emailVerifiedAt === null)
      this.core.events.emit('user.email_verified', { userId: user.id }, transaction);
    return proved.record;
  }

  /**
   * Records that a user has signed in with an emailed code or link, and so has access to the mailbox. The first proof
   * removes everything that was attached to the account before it, except for the second factor. The user's row is
   * locked.
   *
   * @param isOwn whether the sign-in started in a browser of the account, so that nothing is removed
   */
  async recordSignIn(record: UserRecord, isOwn: boolean, transaction: Transaction): Promise<Proven> {
    const left = await this.record(
      record,
      { proof: EmailProof.answeredMail, isOwn, keepsFactors: true },
      transaction,
    );
    const passwordRemoved = record.passwordHash !== null && left.passwordHash === null;
    // The notice has no undo link, because the removed password might be known to the person who would undo this.
    if (passwordRemoved) {
      await this.core.notices.plain(removedNotice, left.user, transaction);
      this.core.events.emit('password.removed', { userId: left.user.id }, transaction);
    }
    return { record: left, passwordRemoved };
  }

  /**
   * Replaces a user's email. Nothing else is removed from the account, except emailed tokens and codes, which become
   * invalid because they were sent to the old address.
   *
   * @param proof how well the new email is proven. `before` is called if the email is a different one
   * @throws AuthError `email_taken`, and like {@link record}
   */
  async replaceEmail(
    record: UserRecord,
    email: string,
    { proof, before }: Pick<NewEmailProof, 'proof' | 'before'>,
    transaction: Transaction,
  ): Promise<UserRecord> {
    const { user } = record;
    if (user.email === email) return this.record(record, { proof, isOwn: true }, transaction);
    await before?.(record, transaction);
    await this.core.tokens.endAll(user.id, transaction);
    await this.core.codeRequests?.endFor(user.id, transaction);
    const emailVerifiedAt = proof.reaches('provider') ? this.core.database.clock.date() : null;
    const changed = await this.core.userUpdates.update(
      record,
      { email, emailVerifiedAt, emailProof: proof },
      transaction,
    );
    if (emailVerifiedAt !== null && user.emailVerifiedAt === null)
      this.core.events.emit('user.email_verified', { userId: user.id }, transaction);
    return changed.record;
  }

  /** Removes everything that was attached to the account before its first proof. @returns the changed user */
  async #drop(record: UserRecord, keepsFactors: boolean, transaction: Transaction): Promise<UserRecord> {
    const { id } = record.user;
    const hadWayIn = await hasWayIn(record, this.core.contributions, transaction);
    const { wasVouchedFor, emailChangedAt } = record;
    // A second factor that is older than the address was not set up by whoever claimed the address.
    const stays = (since: Date) =>
      keepsFactors || wasVouchedFor || (emailChangedAt !== null && since < emailChangedAt);
    if (record.passwordHash !== null) await this.core.users.setPasswordHash(id, null, transaction);
    const ended = await this.core.sessions.endAll(id, transaction);
    await this.core.devices.deleteAll(id, transaction);
    await this.core.tokens.endAll(id, transaction);
    // An attacker who claimed the address has chosen the language of its emails, too.
    if (this.core.languages.areMany)
      await this.core.users.setColumns<typeof languageColumns>(
        id,
        { signUpLanguage: this.core.mailLanguages.ofRequest() ?? null },
        transaction,
      );
    for (const contribution of this.core.contributions)
      await contribution.onFirstProof?.(id, transaction, stays);
    // Read the user again, because plugins might have changed columns of their own, which a sign-in relies on.
    const left = (await this.core.users.lock(id, transaction)) ?? record;
    return hadWayIn || ended > 0 ? this.#clear(left, transaction) : left;
  }

  /** Clears the fields and the username, because an attacker with access to the account can have set them. */
  async #clear(record: UserRecord, transaction: Transaction): Promise<UserRecord> {
    const fields = this.core.users.untouchedFields;
    const username = this.core.usernames?.areOnlyIdentifiers ? record.user.username : null;
    const cleared = await this.core.userUpdates.update(record, { username, fields }, transaction);
    if (cleared.changed.length > 0)
      this.core.events.emit(
        'user.updated',
        { userId: record.user.id, changed: cleared.changed },
        transaction,
      );
    return cleared.record;
  }
}

const removedNotice: NoticeTemplate = {
  ...passwordNotices['password-removed'],
  text: 'password-removed/first-proof',
};

/** Whether the next proof of the mailbox is the account's first one. */
export function isUnproven({ emailProof, hasProvedMailbox }: UserRecord): boolean {
  return hasProvedMailbox ? !emailProof.reaches('provider') : !emailProof.reaches('mailbox');
}
