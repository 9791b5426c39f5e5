import type { Transaction } from 'sequelize';
import type { TokenColumns } from '../models/one-time-token.js';
import type { Table } from '../models/table.js';
import type { Contribution } from './contribution.js';
import type { Events } from './events.js';
import type { Sessions } from './sessions.js';
import type { UserRecord, Users } from './users.js';

/**
 * What was attached to an account before its email was proved: its password, its sessions, tokens that were mailed, and
 * what plugins attach, such as API keys and links to providers.
 */
export type Attached = 'password' | 'sessions' | 'tokens' | 'credentials';

/** What a proof has changed. */
export interface ProvedEmail {
  /** The user as they are now, still locked. */
  readonly record: UserRecord;
  /** Whether the email had not been proved before. */
  readonly isFirst: boolean;
  readonly endedSessions: readonly string[];
}

/**
 * Records that a user reads the mailbox of their email. Anybody can sign up with an address that is not theirs and wait
 * for its owner (account pre-hijacking, USENIX Security 2022), so the first proof removes everything that was attached
 * to the account before. It spares only what the person has shown to be theirs.
 */
export class ProofOfEmail {
  constructor(
    private readonly users: Users,
    private readonly sessions: Sessions,
    private readonly tokens: Table<TokenColumns>,
    private readonly events: Events,
    private readonly contributions: () => readonly Contribution[],
  ) {}

  /**
   * @param record the user, whose row the transaction has locked
   * @param spare what the person has shown to be theirs, beside the mailbox
   * @returns what to pass to {@link announce} after the transaction
   */
  async record(
    record: UserRecord,
    spare: readonly Attached[],
    transaction: Transaction,
  ): Promise<ProvedEmail> {
    const { user } = record;
    if (user.emailVerifiedAt !== null) return { record, isFirst: false, endedSessions: [] };
    if (!spare.includes('password')) await this.users.setPasswordHash(user.id, null, transaction);
    const endsSessions = !spare.includes('sessions');
    const endedSessions = endsSessions ? await this.sessions.endAll(user.id, transaction) : [];
    if (!spare.includes('credentials')) {
      for (const contribution of this.contributions())
        await contribution.onFirstProof?.(user.id, transaction);
    }
    if (!spare.includes('tokens')) await this.tokens.delete({ userId: user.id }, transaction);
    const now = await this.users.markEmailVerified(user.id, transaction);
    return {
      record: {
        user: { ...user, emailVerifiedAt: now, updatedAt: now },
        passwordHash: spare.includes('password') ? record.passwordHash : null,
        authEpoch: record.authEpoch + (endsSessions ? 1 : 0),
      },
      isFirst: true,
      endedSessions,
    };
  }

  /** Tells listeners. */
  announce({ record: { user }, isFirst, endedSessions }: ProvedEmail): void {
    this.sessions.announceEnd(user.id, endedSessions);
    if (isFirst) this.events.emit('user.email_verified', { userId: user.id });
  }
}
