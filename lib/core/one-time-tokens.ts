import type { Transaction } from 'sequelize';
import { createToken, isWellFormedToken } from '../crypto/token.js';
import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import type { Attached, ProofOfEmail } from './proof-of-email.js';
import type { Purpose, TokenStore } from './token-store.js';
import type { UserRecord, Users } from './users.js';

/** A token that is still valid, and whom it is for. */
export interface FoundToken {
  readonly purpose: Purpose;
  readonly token: string;
  readonly record: UserRecord;
}

/** How a token that was mailed begins. */
const PREFIX = 'lkm_';

/**
 * Tokens that are mailed to users: each is for one user, one address and one purpose, and works once. To redeem one
 * proves who reads the mailbox, so that the rules of {@link ProofOfEmail} hold for whatever it allows.
 */
export class OneTimeTokens {
  constructor(
    private readonly database: Database,
    private readonly store: TokenStore,
    private readonly users: Users,
    private readonly proofs: ProofOfEmail,
    private readonly endWithPassword: () => readonly string[],
  ) {}

  /** @param email the user's, to which the token will be sent */
  async issue(purpose: Purpose, userId: string, email: string): Promise<string> {
    const token = createToken(PREFIX);
    await this.store.insert(token, purpose, userId, email);
    return token;
  }

  /** Finds whom a token is for, without using it up. @throws AuthError `invalid_token` */
  async find(purpose: Purpose, token: string): Promise<FoundToken> {
    const row = isWellFormedToken(PREFIX, token) ? await this.store.find(token, purpose) : null;
    const record = row && (await this.users.findRecord({ id: row.userId }));
    // A token that was sent to an address which the account has left is void.
    if (!record || record.user.email !== row.email) throw new AuthError('invalid_token');
    return { purpose, token, record };
  }

  /**
   * Uses a token up, and does in the same transaction what it allows. The user's other tokens of this purpose end too.
   *
   * @param work gets the user as they are after the proof of their email; it may be run again
   * @param spare what the person has shown to be theirs beside the mailbox, and the first proof therefore leaves alone
   * @throws AuthError `invalid_token`: of any number at once, one succeeds
   */
  async redeem<T>(
    { purpose, token, record: { user } }: FoundToken,
    work: (record: UserRecord, transaction: Transaction) => Promise<T>,
    spare: readonly Attached[] = [],
  ): Promise<T> {
    const { proved, outcome } = await this.database.transaction(async (transaction) => {
      // The user first: two tokens of one user would otherwise wait for each other's rows.
      const record = await this.users.lock(user.id, transaction);
      if (record?.user.email !== user.email) throw new AuthError('invalid_token');
      if (!(await this.store.delete(token, transaction))) throw new AuthError('invalid_token');
      await this.store.deleteOf(user.id, purpose.name, transaction);
      const proved = await this.proofs.record(record, spare, transaction);
      return { proved, outcome: await work(proved.record, transaction) };
    });
    this.proofs.announce(proved);
    return outcome;
  }

  /** Ends the tokens that a new password makes void, such as the links that would replace it again. */
  async endWithNewPassword(userId: string, transaction: Transaction): Promise<void> {
    for (const purpose of this.endWithPassword()) await this.store.deleteOf(userId, purpose, transaction);
  }
}
