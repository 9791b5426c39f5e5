import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import type { CallContext } from '../context/call.js';
import { digestToken } from '../crypto/token.js';
import type { Database } from '../database/database.js';
import { AuthError, declareProblems } from '../errors.js';
import type { Limiter } from '../limits/limiter.js';
import type { RequestedCodeMail } from '../mail/mails.js';
import type { RequestedCodeTemplate } from '../mail/templates.js';
import { BrowserTokens, onlyOne } from '../sessions/browser-tokens.js';
import type { CodePurpose, CodeRequestRow } from '../tables/code-requests.js';
import type { Digest } from '../tables/column.js';
import { EmailProof } from '../users/email-proof.js';
import { type ChecksAccounts, checkAccount, type UserRecord } from '../users/record.js';
import type { Users } from '../users/users.js';
import type { CodeRequests } from '../waiting/code-requests.js';
import type { BeforeChange, EmailProofs } from './email-proofs.js';

/** What {@link TypedCodes} need. */
interface TypedCodesNeeds {
  readonly settings: Settings;
  readonly context: CallContext;
  readonly database: Database;
  readonly limiter: Limiter;
  readonly users: Users;
  readonly emailProofs: EmailProofs;
  readonly contributions: readonly ChecksAccounts[];
}

/** How the account that a code is for changes. */
interface Redeemed<T> {
  /** Gets the user after the email was verified. It might be retried. */
  work(record: UserRecord, transaction: Transaction): Promise<T>;
  /** Whether the browser is the account's own, so that a first proof removes nothing. */
  readonly isOwn: boolean;
  /** Called before anything changes. */
  readonly before?: BeforeChange;
}

/**
 * Emailed codes that users type where they asked for them. A code is for one browser or session, one address and one
 * purpose, and can be used once. The counter of wrong codes is the request's alone, so that a stranger cannot move a counter
 * of the account.
 */
export class TypedCodes {
  /** The tokens of the browsers that have asked for codes. The requests of sessions have none. */
  readonly tokens: Readonly<Record<CodePurpose, BrowserTokens>>;

  constructor(
    private readonly core: TypedCodesNeeds,
    private readonly rows: CodeRequests,
  ) {
    const { resetCookie, verifyCookie } = core.settings;
    const expired = 'code_expired';
    this.tokens = {
      reset: new BrowserTokens(core, { cookie: resetCookie, prefix: 'lkr_', expired }),
      verify: new BrowserTokens(core, { cookie: verifyCookie, prefix: 'lkv_', expired }),
    };
  }

  /**
   * Finds the request of the current browser. Null if it has none.
   *
   * @param given the token that the input contains
   */
  async inBrowser(purpose: CodePurpose, given: string | undefined): Promise<CodeRequestRow | null> {
    const hashes = tokensIn(this.tokens[purpose], given).map(digestToken);
    return onlyOne(await Promise.all(hashes.map((hash) => this.rows.current(purpose, hash))));
  }

  /** Finds the request of a session. Null if it has none. */
  inSession(purpose: CodePurpose, browserHash: Digest): Promise<CodeRequestRow | null> {
    return this.rows.current(purpose, browserHash);
  }

  /** Returns the email with the code of a request, except for who asks for it. */
  mailOf(
    row: CodeRequestRow,
    template: RequestedCodeTemplate,
  ): Omit<RequestedCodeMail, 'type' | 'asked' | 'verifies' | 'otherwise'> {
    const { context, database } = this.core;
    const { ip, userAgent } = context.client;
    return {
      email: row.email,
      requestHash: row.browserHash.toString('hex'),
      template,
      code: this.rows.codeFor(row),
      until: row.expiresAt,
      facts: { at: database.clock.date(), client: { ip, userAgent }, subject: null, undo: null },
    };
  }

  /**
   * Counts a code, compares it, and runs `work` if it is right. If `work` fails because of the input or the account, it
   * counts nothing. The errors do not depend on the account before the code is right.
   *
   * @param work gets the user who has the address. It consumes the request with {@link redeem}
   * @throws AuthError `invalid_code`; `code_expired` without a request, after too many codes, and if no account has the
   *   address any more; and the errors of `work`
   */
  async withRight<T>(
    row: CodeRequestRow | null,
    code: string,
    work: (row: CodeRequestRow, record: UserRecord) => Promise<T>,
  ): Promise<T> {
    if (!row || !(await this.rows.countTry(row))) throw expired();
    if (!this.rows.isCode(code, row))
      throw (await this.rows.endAfterTries(row)) ? expired() : new AuthError('invalid_code');
    try {
      const record = await this.core.users.findRecord({ email: row.email });
      if (!record || (row.verifies !== null && record.user.id !== row.verifies)) throw expired();
      return await work(row, record);
    } catch (error) {
      // A transaction of the app might still lock the row.
      if (error instanceof AuthError && error.code !== 'code_expired' && !this.core.database.isJoined)
        await this.rows.giveBackTry(row);
      throw error;
    }
  }

  /**
   * Consumes a request whose code was right, in the transaction of what it is for: see `OneTimeTokens.redeem`.
   *
   * @throws AuthError `code_expired`, and errors of a plugin's check. Only one of several concurrent calls succeeds
   */
  redeem<T>(
    row: CodeRequestRow,
    { user: { id } }: UserRecord,
    { work, isOwn, before }: Redeemed<T>,
  ): Promise<T> {
    return this.core.database.transaction(async (transaction) => {
      const record = await this.core.users.lock(id, transaction);
      if (record?.user.email !== row.email || !(await this.rows.use(row, transaction))) throw expired();
      checkAccount(record.account, this.core.contributions);
      const proof = { proof: EmailProof.answeredMail, isOwn, before };
      return work(await this.core.emailProofs.record(record, proof, transaction), transaction);
    });
  }
}

/** Returns the tokens of the current browser. Empty if it has none, or if the input has another one. */
function tokensIn(tokens: BrowserTokens, given: string | undefined): readonly string[] {
  try {
    return tokens.tokensOf(given);
  } catch (error) {
    if (error instanceof AuthError) return [];
    throw error;
  }
}

function expired(): AuthError {
  return new AuthError('code_expired');
}

const problems = declareProblems({
  code_expired: [401, 'This code no longer works here. Ask for another one.'],
});

declare module '../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}
