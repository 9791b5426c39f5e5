import type { Transaction } from 'sequelize';
import { createToken, digestToken, isWellFormedToken } from '../crypto/token.js';
import { type Chore, ExpiredRows } from '../database/chores.js';
import type { Database } from '../database/database.js';
import { AuthError, UndeclaredError } from '../errors.js';
import type { LinkPurpose } from '../mail/mails.js';
import { GIVE_UP_MS } from '../outbox/rows.js';
import type { TokenColumns } from '../tables/core.js';
import type { Table } from '../tables/table.js';
import { type ChecksAccounts, checkAccount, type UserRecord } from '../users/record.js';
import type { Users } from '../users/users.js';
import type { Attached, BeforeChange, ProofOfEmail } from './proof.js';

/** A valid token and its user. */
export interface FoundToken {
  readonly purpose: Purpose;
  readonly token: string;
  /** The address that it was sent to. */
  readonly email: string;
  /** The user's epoch when it was issued, if it ends with their sessions. */
  readonly epoch: number | null;
  readonly record: UserRecord;
}

/** The prefix of emailed tokens. */
const PREFIX = 'lkm_';

/**
 * Tokens that are emailed to users. Each is for one user, one address and one purpose, and can be used once. Redeeming
 * one proves access to the mailbox, so the rules of {@link ProofOfEmail} apply to every purpose.
 */
export class OneTimeTokens {
  constructor(
    private readonly database: Database,
    private readonly table: Table<TokenColumns>,
    private readonly users: Users,
    private readonly proofs: ProofOfEmail,
    private readonly contributions: () => readonly (ChecksAccounts & HasPurposes)[],
  ) {}

  /** @throws TypeError if two plugins declare the same purpose: each could redeem the other's tokens */
  checkPurposes(): void {
    const names = this.#purposes.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice) throw new TypeError(`latchkey: two plugins issue one-time tokens for '${twice}'`);
  }

  /**
   * @param userId null writes a token that nobody can redeem, where a request for an unknown email must not be told apart
   *   from others by what it writes
   * @param email the user's address, to which the token will be sent
   */
  async issue(
    { name: purpose, lifetimeMs }: LinkPurpose,
    userId: string | null,
    email: string,
    transaction?: Transaction,
  ): Promise<string> {
    const token = createToken(PREFIX);
    await this.database.ready();
    const expiresAt = this.database.clock.date(lifetimeMs);
    await this.table.insert(
      { tokenHash: digestToken(token), userId, purpose, email, expiresAt },
      transaction,
    );
    return token;
  }

  /** Issues a token for an address that the user is to get, in place of earlier ones. The user must be locked. */
  async issueForNewEmail(
    { name: purpose, lifetimeMs }: Purpose,
    { user: { id: userId }, authEpoch }: UserRecord,
    email: string,
    transaction: Transaction,
  ): Promise<string> {
    const token = createToken(PREFIX);
    const expiresAt = this.database.clock.date(lifetimeMs);
    await this.table.delete({ userId, purpose }, transaction);
    const row = { tokenHash: digestToken(token), userId, purpose, email, expiresAt, authEpoch };
    await this.table.insert(row, transaction);
    return token;
  }

  /** Gives a token its lifetime again, since it is only sent now. @returns whether there still is one */
  async prolong(token: string, lifetimeMs: number): Promise<boolean> {
    const expiresAt = this.database.clock.date(lifetimeMs);
    return (await this.table.update({ expiresAt }, { tokenHash: digestToken(token) })) > 0;
  }

  /**
   * Finds the user of a token without consuming it.
   *
   * @param accepted the purposes that it may have
   * @throws AuthError `invalid_token`
   * @throws TypeError if no plugin has declared a purpose, whose tokens nothing would end
   */
  async find(accepted: Purpose | readonly Purpose[], token: string): Promise<FoundToken> {
    const declared = this.#purposes;
    const unknown = [accepted].flat().find(({ name }) => !declared.some((purpose) => purpose.name === name));
    if (unknown)
      throw new UndeclaredError(
        `latchkey: nobody has declared the purpose '${unknown.name}': add it to the purposes of its plugin`,
      );
    if (!isWellFormedToken(PREFIX, token)) throw new AuthError('invalid_token');
    const hash = digestToken(token);
    const [row] = await this.table.whole('t').select('WHERE t.token_hash = :hash', { hash });
    const purpose = [accepted].flat().find(({ name }) => name === row?.purpose);
    if (!row || !purpose || this.database.clock.hasPassed(row.expiresAt))
      throw new AuthError('invalid_token');
    const record = row.userId === null ? null : await this.users.findRecord({ id: row.userId });
    const { email, authEpoch } = row;
    if (!record || !isFor({ purpose, email, epoch: authEpoch }, record)) throw new AuthError('invalid_token');
    return { purpose, token, email, epoch: authEpoch, record };
  }

  /**
   * Consumes a token and runs `work` in the same transaction. The user's other tokens for this purpose are revoked too, and
   * all of them with a new email.
   * Nothing is consumed or changed if a plugin refuses the account, such as a suspended one.
   *
   * @param work gets the user as it is after the email was verified; it may be retried
   * @param spare what the first verification keeps, because the person has shown that it is theirs
   * @param before called before anything changes; for a link to a new email, only if that is another one
   * @throws AuthError `invalid_token`; only one of several concurrent calls succeeds. What a plugin's check throws
   */
  async redeem<T>(
    found: FoundToken,
    work: (record: UserRecord, transaction: Transaction) => Promise<T>,
    spare: readonly Attached[] = [],
    before?: BeforeChange,
  ): Promise<T> {
    const { purpose, token, email } = found;
    const { user } = found.record;
    return this.database.transaction(async (transaction) => {
      // The user is locked first: two tokens of one user would otherwise deadlock.
      const record = await this.users.lock(user.id, transaction);
      if (!record || !isFor(found, record)) throw new AuthError('invalid_token');
      const used = await this.table.delete({ tokenHash: digestToken(token) }, transaction);
      if (used === 0) throw new AuthError('invalid_token');
      // Only now: a token that was used up says nothing of the account any more.
      checkAccount(record.account, this.contributions());
      const siblings = purpose.isForNewEmail ? {} : { purpose: purpose.name };
      await this.table.delete({ userId: user.id, ...siblings }, transaction);
      const proved = purpose.isForNewEmail
        ? await this.proofs.replaceEmail(record, email, 'mailbox', spare, transaction, before)
        : await this.proofs.record(record, 'mailbox', spare, transaction, before);
      return work(proved, transaction);
    });
  }

  /** Uses up a token without redeeming it. */
  async discard(token: string): Promise<void> {
    await this.table.delete({ tokenHash: digestToken(token) });
  }

  /** Revokes the tokens that a new password invalidates, such as other reset links. */
  async endWithNewPassword(userId: string, transaction: Transaction): Promise<void> {
    for (const { name: purpose, endsWithPassword } of this.#purposes) {
      if (endsWithPassword) await this.table.delete({ userId, purpose }, transaction);
    }
  }

  /** Revokes all tokens of a user. */
  async endAll(userId: string, transaction: Transaction): Promise<void> {
    await this.table.delete({ userId }, transaction);
  }

  /** Tokens that expired so long ago that no email with one can be waiting any more. */
  get expired(): Chore {
    return new ExpiredRows(this.database, this.table.name, 'token_hash', { expires_at: GIVE_UP_MS });
  }

  get #purposes(): readonly Purpose[] {
    return [VERIFY_NEW_EMAIL, ...this.contributions().flatMap(({ purposes = [] }) => purposes)];
  }
}

/** Whether a token is still for this user: their email, or what ended their sessions, may have changed since. */
function isFor(
  { purpose, email, epoch }: Pick<FoundToken, 'purpose' | 'email' | 'epoch'>,
  { user, authEpoch }: UserRecord,
): boolean {
  return purpose.isForNewEmail ? epoch === authEpoch : user.email === email;
}

/** What a one-time token allows. */
export interface Purpose extends LinkPurpose {
  /** Whether a new password revokes the user's tokens. @default false */
  readonly endsWithPassword?: boolean;
  /**
   * Whether it is sent to an address that the user is to get. Redeeming it changes the email, and whatever ends the user's
   * sessions ends it too.
   * @default false
   */
  readonly isForNewEmail?: boolean;
}

/** A plugin that issues one-time tokens. */
export interface HasPurposes {
  /** The purposes of the one-time tokens that the plugin issues. */
  readonly purposes?: readonly Purpose[];
}

export const VERIFY_NEW_EMAIL: Purpose = {
  name: 'verify-new-email',
  lifetimeMs: 60 * 60 * 1000,
  endsWithPassword: true,
  isForNewEmail: true,
};
