import type { Transaction } from 'sequelize';
import { createToken, digestToken, isWellFormedToken } from '../crypto/token.js';
import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import type { LinkPurpose } from '../mail/mails.js';
import type { RowOf } from '../tables/column.js';
import { oneTimeTokens, type TokenColumns } from '../tables/core.js';
import { EmailProof } from '../users/email-proof.js';
import { type ChecksAccounts, checkAccount, type UserRecord } from '../users/record.js';
import type { Users } from '../users/users.js';
import type { CodeRequests } from '../waiting/code-requests.js';
import type { CodeTries } from '../waiting/code-tries.js';
import { type FoundWaiting, WaitingOfUsers } from '../waiting/waiting.js';
import type { BeforeChange, EmailProofs } from './email-proofs.js';
import { endedByNewPassword, type Purpose } from './purposes.js';

/** A valid token and its user. */
export interface FoundToken extends FoundWaiting<RowOf<TokenColumns>> {
  readonly purpose: Purpose;
}

/** The prefix of emailed tokens. */
const PREFIX = 'lkm_';

/** What {@link OneTimeTokens} need. */
interface OneTimeTokensNeeds {
  readonly database: Database;
  readonly users: Users;
  readonly codeTries: CodeTries;
  readonly emailProofs: EmailProofs;
  /** Null without a plugin for them. */
  readonly codeRequests: CodeRequests | null;
  readonly contributions: readonly ChecksAccounts[];
}

/**
 * Tokens that are emailed to users. Each token is for one user, one address and one purpose, and can be used once.
 * Redeeming a token proves access to the mailbox, so the rules of {@link EmailProofs} apply to every purpose.
 */
export class OneTimeTokens {
  readonly #waiting: WaitingOfUsers<TokenColumns>;

  constructor(private readonly core: OneTimeTokensNeeds) {
    this.#waiting = new WaitingOfUsers(core, oneTimeTokens);
  }

  /**
   * Issues a token.
   *
   * @param userId null writes a token that no one can redeem, so that the writes of a request do not reveal that its
   *   email is unknown
   * @param email the user's address, to which the token will be sent
   */
  async issue(
    { name: purpose, lifetimeMs }: LinkPurpose,
    userId: string | null,
    email: string,
    transaction?: Transaction,
  ): Promise<string> {
    const token = createToken(PREFIX);
    const row = { tokenHash: digestToken(token), userId, purpose, email };
    await this.#waiting.begin(row, transaction, lifetimeMs);
    return token;
  }

  /** Issues a token for a user's new address, which replaces earlier tokens. The user must be locked. */
  async issueForNewEmail(
    { name: purpose, lifetimeMs }: Purpose,
    { user: { id: userId }, authEpoch }: UserRecord,
    email: string,
    transaction: Transaction,
  ): Promise<string> {
    const token = createToken(PREFIX);
    await this.#waiting.end({ userId, purpose }, transaction);
    const row = { tokenHash: digestToken(token), userId, purpose, email, authEpoch };
    await this.#waiting.begin(row, transaction, lifetimeMs);
    return token;
  }

  /** Returns the new address of a user that a token was issued for. Null if no such token is valid. */
  async newEmailOf({ name: purpose }: Purpose, userId: string): Promise<string | null> {
    const rows = await this.#waiting.row.select(
      `JOIN ${this.core.users.selection.from} ON u.id = w.user_id AND u.auth_epoch = w.auth_epoch
       WHERE w.user_id = :userId AND w.purpose = :purpose`,
      { userId, purpose },
    );
    const { clock } = this.core.database;
    return rows.find(({ expiresAt }) => !clock.hasPassed(expiresAt))?.email ?? null;
  }

  /** Revokes the tokens of a user for one purpose. */
  async endFor({ name: purpose }: Purpose, userId: string, transaction: Transaction): Promise<void> {
    await this.#waiting.end({ userId, purpose }, transaction);
  }

  /** Restarts the lifetime of a token that is sent late. @returns whether the token still exists */
  async prolong(token: string, lifetimeMs: number): Promise<boolean> {
    const expiresAt = this.core.database.clock.date(lifetimeMs);
    return (await this.#waiting.table.update({ expiresAt }, { tokenHash: digestToken(token) })) > 0;
  }

  /**
   * Finds the user of a token without consuming it.
   *
   * @param accepted the purposes that the token can have
   * @throws AuthError `invalid_token`
   */
  async find(accepted: Purpose | readonly Purpose[], token: string): Promise<FoundToken> {
    const found = isWellFormedToken(PREFIX, token) ? await this.#waiting.find(digestToken(token)) : null;
    const purpose = [accepted].flat().find(({ name }) => name === found?.row.purpose);
    if (!found || !purpose) throw new AuthError('invalid_token');
    return { ...found, purpose };
  }

  /**
   * Consumes a token and runs `work` in the same transaction. The user's other tokens for this purpose are revoked too;
   * a new email revokes all of the user's tokens. Nothing is consumed or changed if a plugin rejects the account, such
   * as a suspended one.
   *
   * @param work gets the user after the email was verified; it might be retried
   * @param isOwn whether the account's own session or password was presented too, so that a first proof removes nothing
   * @param before called before anything changes; for a link to a new email, only if it differs from the current one
   * @throws AuthError `invalid_token`, and errors of a plugin's check. Only one of several concurrent calls succeeds
   */
  async redeem<T>(
    found: FoundToken,
    work: (record: UserRecord, transaction: Transaction) => Promise<T>,
    isOwn: boolean,
    before?: BeforeChange,
  ): Promise<T> {
    const { purpose, row } = found;
    return this.core.database.transaction(async (transaction) => {
      const record = await this.#waiting.use(found, transaction);
      if (!record) throw new AuthError('invalid_token');
      // Check the account only now, so that a used token reveals nothing about it.
      checkAccount(record.account, this.core.contributions);
      const siblings = purpose.isForNewEmail ? {} : { purpose: purpose.name };
      await this.#waiting.end({ userId: record.user.id, ...siblings }, transaction);
      const proof = { proof: EmailProof.answeredMail, isOwn, before };
      const proved = purpose.isForNewEmail
        ? await this.core.emailProofs.replaceEmail(record, row.email, proof, transaction)
        : await this.core.emailProofs.record(record, proof, transaction);
      return work(proved, transaction);
    });
  }

  /** Consumes a token without redeeming it. */
  async discard(token: string): Promise<void> {
    await this.#waiting.end({ tokenHash: digestToken(token) });
  }

  /** Revokes the tokens and codes that a new password invalidates, such as other reset links. */
  async endWithNewPassword(userId: string, transaction: Transaction): Promise<void> {
    for (const purpose of endedByNewPassword()) await this.#waiting.end({ userId, purpose }, transaction);
    await this.core.codeRequests?.endFor(userId, transaction, 'reset');
  }

  /** Revokes all tokens of a user. */
  async endAll(userId: string, transaction: Transaction): Promise<void> {
    await this.#waiting.end({ userId }, transaction);
  }
}
