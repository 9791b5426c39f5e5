import type { Transaction } from 'sequelize';
import type { Clock } from '../database/clock.js';
import type { DeviceColumns } from '../models/device.js';
import type { TokenColumns } from '../models/one-time-token.js';
import type { Table } from '../models/table.js';
import type { UserColumns } from '../models/user.js';
import type { Contribution } from './contribution.js';
import type { Events } from './events.js';
import type { Sessions } from './sessions.js';
import type { EmailProof, UserRecord } from './user-record.js';
import type { Users } from './users.js';

/**
 * What can be attached to an account before its email is verified: a password, sessions and their devices, emailed tokens,
 * and what plugins attach, such as API keys and links to providers.
 */
export type Attached = 'password' | 'sessions' | 'tokens' | 'credentials';

/** The effect of a verification. */
export interface ProvedEmail {
  /** The updated user, still locked. */
  readonly record: UserRecord;
  /** Whether the email was unverified before. */
  readonly isFirst: boolean;
  readonly endedSessions: readonly string[];
}

/**
 * Marks emails as verified. Anyone can sign up with someone else's address and wait for its owner (account
 * pre-hijacking, USENIX Security 2022), so the first verification removes everything attached to the account before. It
 * keeps only what the person has shown to be theirs.
 *
 * An app that says that an email is verified keeps the password and the sessions, so a stranger whom it mistook for the
 * owner can go on attaching things. So the first access to the mailbox itself counts as a first verification again.
 */
export class ProofOfEmail {
  constructor(
    private readonly clock: Clock,
    private readonly table: Table<UserColumns>,
    private readonly users: Users,
    private readonly sessions: Sessions,
    private readonly tokens: Table<TokenColumns>,
    private readonly devices: Table<DeviceColumns>,
    private readonly events: Events,
    private readonly contributions: () => readonly Contribution[],
  ) {}

  /**
   * @param record the user; the transaction must have locked the row
   * @param by who showed that the email is the user's
   * @param spare what to keep, because the person has shown that it is theirs
   * @returns what to pass to {@link announce} after the transaction
   */
  async record(
    record: UserRecord,
    by: EmailProof,
    spare: readonly Attached[],
    transaction: Transaction,
  ): Promise<ProvedEmail> {
    const { user } = record;
    const isFirst = user.emailVerifiedAt === null;
    const isFirstAccess = by === 'mailbox' && !record.isMailboxProved;
    if (!isFirst && !isFirstAccess) return { record, isFirst, endedSessions: [] };
    if (!spare.includes('password')) await this.users.setPasswordHash(user.id, null, transaction);
    const endsSessions = !spare.includes('sessions');
    const endedSessions = endsSessions ? await this.sessions.endAll(user.id, transaction) : [];
    if (endsSessions) await this.devices.delete({ userId: user.id }, transaction);
    if (!spare.includes('credentials')) {
      for (const contribution of this.contributions())
        await contribution.onFirstProof?.(user.id, transaction);
    }
    if (!spare.includes('tokens')) await this.tokens.delete({ userId: user.id }, transaction);
    const now = this.clock.date();
    const emailVerifiedAt = user.emailVerifiedAt ?? now;
    const mailboxProvedAt = by === 'mailbox' ? now : null;
    await this.table.update(
      { emailVerifiedAt, mailboxProvedAt, updatedAt: now },
      { id: user.id },
      transaction,
    );
    return {
      record: {
        user: { ...user, emailVerifiedAt, updatedAt: now },
        account: { ...record.account, emailVerifiedAt, updatedAt: now },
        isMailboxProved: by === 'mailbox',
        passwordHash: spare.includes('password') ? record.passwordHash : null,
        authEpoch: record.authEpoch + (endsSessions ? 1 : 0),
      },
      isFirst,
      endedSessions,
    };
  }

  /** Emits the events, after the transaction. */
  announce({ record: { user }, isFirst, endedSessions }: ProvedEmail): void {
    this.sessions.announceEnd(user.id, endedSessions);
    if (isFirst) this.events.emit('user.email_verified', { userId: user.id });
  }
}
