import type { Transaction } from 'sequelize';
import { createToken, digestToken, isWellFormedToken } from '../crypto/token.js';
import type { Database } from '../database/database.js';
import { deleteInBatches } from '../database/delete-in-batches.js';
import { AuthError } from '../errors.js';
import type { TokenColumns } from '../models/one-time-token.js';
import type { Table } from '../models/table.js';
import type { Attached, ProofOfEmail } from './proof-of-email.js';
import type { UserRecord, Users } from './users.js';

/** What a token allows. */
export interface Purpose {
  /** At most 32 characters. */
  readonly name: string;
  readonly lifetimeMs: number;
}

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
    private readonly table: Table<TokenColumns>,
    private readonly users: Users,
    private readonly proofs: ProofOfEmail,
    private readonly endWithPassword: () => readonly string[],
  ) {}

  /** @param email the user's, to which the token will be sent */
  async issue({ name: purpose, lifetimeMs }: Purpose, userId: string, email: string): Promise<string> {
    const token = createToken(PREFIX);
    const expiresAt = this.database.clock.date(lifetimeMs);
    await this.table.insert({ tokenHash: digestToken(token), userId, purpose, email, expiresAt });
    return token;
  }

  /** Finds whom a token is for, without using it up. @throws AuthError `invalid_token` */
  async find(purpose: Purpose, token: string): Promise<FoundToken> {
    if (!isWellFormedToken(PREFIX, token)) throw new AuthError('invalid_token');
    const where = 'WHERE t.token_hash = :hash AND t.purpose = :purpose';
    const [row] = await this.table
      .shown('t')
      .select(where, { hash: digestToken(token), purpose: purpose.name });
    if (!row || this.database.clock.hasPassed(row.expiresAt)) throw new AuthError('invalid_token');
    const record = await this.users.findRecord({ id: row.userId });
    // A token that was sent to an address which the account has left is void.
    if (record?.user.email !== row.email) throw new AuthError('invalid_token');
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
      const used = await this.table.delete({ tokenHash: digestToken(token) }, transaction);
      if (used === 0) throw new AuthError('invalid_token');
      await this.table.delete({ userId: user.id, purpose: purpose.name }, transaction);
      const proved = await this.proofs.record(record, spare, transaction);
      return { proved, outcome: await work(proved.record, transaction) };
    });
    this.proofs.announce(proved);
    return outcome;
  }

  /** Ends the tokens that a new password makes void, such as the links that would replace it again. */
  async endWithNewPassword(userId: string, transaction: Transaction): Promise<void> {
    for (const purpose of this.endWithPassword()) await this.table.delete({ userId, purpose }, transaction);
  }

  /** @returns how many rows were deleted */
  prune(): Promise<number> {
    const now = this.database.clock.date();
    return deleteInBatches(this.database, this.table.name, 'token_hash', 'expires_at <= :now', { now });
  }
}
