import type { Transaction } from 'sequelize';
import { createToken, digestToken, isWellFormedToken } from '../../crypto/token.js';
import { Database } from '../../database/database.js';
import { deleteInBatches } from '../../database/delete-in-batches.js';
import { AuthError } from '../../errors.js';
import type { MailKind } from '../../mail/message.js';

/** How a token of a mail begins. */
const PREFIX = 'lkm_';
const LIFETIME_MS: Record<MailKind, number> = {
  'verify-email': 24 * 60 * 60 * 1000,
  'reset-password': 60 * 60 * 1000,
};

/** Whom a token is for. */
export interface TokenHolder {
  readonly userId: string;
  /** The address that it was sent to. */
  readonly email: string;
}

/** Tokens that mails carry: each is for one user, one address and one purpose, and works once. */
export class OneTimeTokens {
  readonly #table: string;

  constructor(private readonly database: Database) {
    this.#table = database.table('one_time_tokens');
  }

  async issue({ userId, email }: TokenHolder, purpose: MailKind): Promise<string> {
    const token = createToken(PREFIX);
    const expiresAt = new Date(this.database.clock.now() + LIFETIME_MS[purpose]);
    await this.database.change(
      `INSERT INTO ${this.#table} (token_hash, user_id, purpose, email, expires_at)
       VALUES (${this.#digest(token)}, :userId, :purpose, :email, :expiresAt)`,
      { userId, purpose, email, expiresAt },
    );
    return token;
  }

  /** Whom a token is for, without using it up. @throws AuthError `invalid_token` */
  async find(token: string, purpose: MailKind): Promise<TokenHolder> {
    if (!isWellFormedToken(PREFIX, token)) throw new AuthError('invalid_token');
    const [row] = await this.database.select<{ user_id: string; email: string; expires_at: Date | string }>(
      `SELECT user_id, email, expires_at FROM ${this.#table}
       WHERE token_hash = ${this.#digest(token)} AND purpose = :purpose`,
      { purpose },
    );
    const now = Math.max(this.database.clock.now(), Date.now());
    if (!row || Database.toDate(row.expires_at).getTime() <= now) throw new AuthError('invalid_token');
    return { userId: row.user_id, email: row.email };
  }

  /** Uses a token up: of any number at once, one succeeds. @throws AuthError `invalid_token` */
  async take(token: string, purpose: MailKind, transaction: Transaction): Promise<void> {
    const taken = await this.database.change(
      `DELETE FROM ${this.#table} WHERE token_hash = ${this.#digest(token)} AND purpose = :purpose`,
      { purpose },
      transaction,
    );
    if (taken === 0) throw new AuthError('invalid_token');
  }

  /** Ends what is left of a user's tokens of some purposes. */
  async endAll(userId: string, purposes: MailKind[], transaction: Transaction): Promise<void> {
    await this.database.change(
      `DELETE FROM ${this.#table} WHERE user_id = :userId AND purpose IN (:purposes)`,
      { userId, purposes },
      transaction,
    );
  }

  /** @returns how many rows went */
  prune(): Promise<number> {
    const now = new Date(this.database.clock.now());
    return deleteInBatches(this.database, this.#table, 'token_hash', 'expires_at <= :now', { now });
  }

  #digest(token: string): string {
    return this.database.digestLiterals([digestToken(token)]);
  }
}
