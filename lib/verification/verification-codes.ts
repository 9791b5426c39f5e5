import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import { digestToken } from '../crypto/token.js';
import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import type { Limiter } from '../limits/limiter.js';
import type { Asked, Mails } from '../mail/mails.js';
import type { RequestedCodeTemplate } from '../mail/templates.js';
import type { NewEntry } from '../outbox/rows.js';
import type { Devices } from '../sessions/devices.js';
import { verificationCodeMail } from '../sessions/email-code-step.js';
import type { Sessions } from '../sessions/sessions.js';
import type { CodeRequestRow } from '../tables/code-requests.js';
import type { Digest } from '../tables/column.js';
import type { User } from '../tables/core.js';
import { EmailProof } from '../users/email-proof.js';
import type { UserRecord } from '../users/record.js';
import type { CodeRequests } from '../waiting/code-requests.js';
import type { Awaited } from '../waiting/emailed-requests.js';
import type { TypedCodes } from './typed-codes.js';

/** What {@link VerificationCodes} need. */
interface VerificationCodesNeeds {
  readonly database: Database;
  readonly settings: Settings;
  readonly limiter: Limiter;
  readonly devices: Devices;
  readonly sessions: Sessions;
  /** Describes who requests an email. */
  asked(inSession: boolean): Asked;
}

interface VerificationCodesGiven {
  readonly mails: Mails;
  readonly rows: CodeRequests;
  readonly codes: TypedCodes;
}

/** A user and one of their sessions. */
export interface OwnSession {
  readonly user: User;
  readonly sessionId: string;
}

/** A concealed sign-up. */
interface ConcealedSignUp {
  readonly email: string | null;
  /** The account that it has created. Null if it has created none, which only the email says. */
  readonly created: string | null;
  /** Other entries of the outbox to write in the same statement. @default none */
  readonly beside?: readonly NewEntry[];
  /** The transaction that has created the account. Without one, the statements are as many as with one. @default none */
  readonly transaction?: Transaction;
}

/** A user whose email was verified. */
export interface Verified {
  readonly user: User;
  /** The value for the browser's device cookie. Null if the cookie does not change. */
  readonly device: string | null;
}

/**
 * Emails codes that verify an address, and checks them: see `verifyEmailBy: 'code'`. A code belongs to one session, so that it
 * is useless for anyone else who learns it, and that the owner of the mailbox cannot verify the account of a stranger.
 */
export class VerificationCodes {
  constructor(
    private readonly core: VerificationCodesNeeds,
    private readonly given: VerificationCodesGiven,
  ) {}

  /** Whether the current request presents the cookie of a concealed sign-up. */
  get isPresented(): boolean {
    return this.given.codes.tokens.verify.isPresented;
  }

  /**
   * Emails a code at the user's request, unless access to the mailbox is proven. Asking again emails the same code.
   *
   * @returns when the code expires
   * @throws AuthError `rate_limited`
   */
  async request(own: OwnSession): Promise<Date> {
    await this.core.limiter.countAddress('mailAddress');
    return this.mail(own);
  }

  /** How long a code is valid, in seconds. */
  get lifetime(): number {
    return this.given.rows.lifetimeMs / 1000;
  }

  /** Whether a session waits for a code. */
  async isAsked(sessionId: string): Promise<boolean> {
    return (await this.given.codes.inSession('verify', ofSession(sessionId))) !== null;
  }

  /**
   * Like {@link request}, for a request that was counted already.
   *
   * @param signsUp whether the session has just begun with the sign-up, so that it shows nothing about the address
   */
  async mail({ user, sessionId }: OwnSession, signsUp = false): Promise<Date> {
    const { rows } = this.given;
    const { email } = user;
    await this.core.database.ready();
    if (email === null) return this.core.database.clock.date(rows.lifetimeMs);
    const isProven = EmailProof.of(user).reaches('mailbox');
    return rows.askInSession(ofSession(sessionId), {
      email,
      newRow: (browserHash) => rows.newRow('verify', email, browserHash, user.id),
      mail: async (row, transaction) => {
        const asked = { ...this.core.asked(true), signsUp };
        if (!isProven) await this.#send(row, asked, transaction);
      },
    });
  }

  /**
   * Verifies the email of a session's user.
   *
   * @param remembers whether the response can give the browser a cookie, so that it is remembered
   * @throws AuthError `invalid_code`, `code_expired`, `invalid_session`, `rate_limited`, and the errors of account checks
   */
  async verify({ user, sessionId }: OwnSession, code: string, remembers = false): Promise<Verified> {
    const { codes } = this.given;
    const found = await codes.inSession('verify', ofSession(sessionId));
    await this.core.limiter.countAddress('signIn');
    // A code that was emailed to a former address is wrong.
    const typed = found?.email === user.email ? code : '';
    return codes.withRight(found, typed, (row, record) =>
      codes.redeem(row, record, {
        isOwn: true,
        work: async (proved, transaction) => {
          await this.#requireSession(sessionId, user.id, proved, transaction);
          const device = remembers ? await this.core.devices.proved(user.id, transaction) : null;
          return { user: proved.user, device };
        },
      }),
    );
  }

  /**
   * Emails the code of a concealed sign-up, which belongs to the browser. If the address has an account already, it emails
   * its owner that it has. Signing up again in the browser emails the same code.
   */
  signUp({ email, created, beside = [], transaction: within }: ConcealedSignUp): Promise<Awaited> {
    const { rows, codes } = this.given;
    const tokens = codes.tokens.verify;
    // A sign-up that has created nothing has rolled its transaction back, so another one would reveal it.
    if (email === null) return rows.askInBrowser(tokens, null, rows.lifetimeMs, within ?? null);
    const asked = {
      email,
      // A sign-up that has created nothing can be a repetition of the one that has.
      isSame: ({ verifies }: CodeRequestRow) => created === null || verifies === created,
      newRow: (browserHash: Digest) => rows.newRow('verify', email, browserHash, created),
      mail: (row: CodeRequestRow, transaction?: Transaction) =>
        this.#send(row, { ...this.core.asked(false), signsUp: true }, transaction, beside),
    };
    return rows.askInBrowser(tokens, asked, rows.lifetimeMs, within ?? null);
  }

  /**
   * Verifies the email of a concealed sign-up, in its browser.
   *
   * @param given the token of the sign-up. By default, the one in the cookie of the current request
   * @param remembers whether the response can give the browser a cookie, so that it is remembered
   * @throws AuthError `invalid_code`, `code_expired`, `rate_limited`, and the errors of account checks
   */
  async verifySignUp(code: string, given: string | undefined, remembers = false): Promise<Verified> {
    const { codes } = this.given;
    const found = await codes.inBrowser('verify', given);
    await this.core.limiter.countAddress('signIn');
    return codes.withRight(found, code, (row, record) =>
      codes.redeem(row, record, {
        isOwn: true,
        work: async ({ user }, transaction) => {
          const device = remembers ? await this.core.devices.proved(user.id, transaction) : null;
          return { user, device };
        },
      }),
    );
  }

  async #requireSession(
    sessionId: string,
    userId: string,
    { user, authEpoch }: UserRecord,
    transaction: Transaction,
  ): Promise<void> {
    const session = await this.core.sessions.stillOpen(sessionId, authEpoch, transaction);
    if (session?.userId !== userId || user.id !== userId) throw new AuthError('invalid_session');
  }

  #send(
    row: CodeRequestRow,
    asked: Asked,
    transaction: Transaction | undefined,
    beside: readonly NewEntry[] | null = null,
  ): Promise<void> {
    const { codes, mails } = this.given;
    const mail = {
      ...codes.mailOf(row, verificationCodeMail),
      asked,
      verifies: row.verifies,
      ...(beside && {
        otherwise: { ...accountExistsMail, page: this.core.settings.email?.forgotPasswordUrl ?? '' },
      }),
    };
    return mails.requestedCode(mail, transaction, beside ?? []);
  }
}

/** Returns the hash that identifies the verification in a session. No browser has a token with this hash. */
function ofSession(sessionId: string): Digest {
  return digestToken(`verify email ${sessionId}`);
}

declare module '../mail/messages.js' {
  interface MailKinds {
    'account-exists': unknown;
  }
}

const accountExistsMail: RequestedCodeTemplate = { kind: 'account-exists', text: 'account-exists' };
