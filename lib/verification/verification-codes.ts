import type { Transaction } from 'sequelize';
import type { CallContext } from '../context/call.js';
import { digestToken } from '../crypto/token.js';
import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import type { Limiter } from '../limits/limiter.js';
import type { Asked, Mails } from '../mail/mails.js';
import type { Devices } from '../sessions/devices.js';
import { verificationCodeMail } from '../sessions/email-code-step.js';
import type { Sessions } from '../sessions/sessions.js';
import type { CodeRequestRow } from '../tables/code-requests.js';
import type { Digest } from '../tables/column.js';
import type { User } from '../tables/core.js';
import { EmailProof } from '../users/email-proof.js';
import type { UserRecord } from '../users/record.js';
import type { CodeRequests } from '../waiting/code-requests.js';
import type { TypedCodes } from './typed-codes.js';

/** What {@link VerificationCodes} need. */
interface VerificationCodesNeeds {
  readonly database: Database;
  readonly context: CallContext;
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

  /** Like {@link request}, for a request that was counted already. */
  async mail({ user, sessionId }: OwnSession): Promise<Date> {
    const { rows } = this.given;
    const { email } = user;
    await this.core.database.ready();
    if (email === null) return this.core.database.clock.date(rows.lifetimeMs);
    const isProven = EmailProof.of(user).reaches('mailbox');
    return rows.askInSession(ofSession(sessionId), {
      email,
      newRow: (browserHash) => rows.newRow('verify', email, browserHash, user.id),
      mail: async (row, transaction) => {
        if (!isProven) await this.#send(row, transaction);
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

  async #requireSession(
    sessionId: string,
    userId: string,
    { user, authEpoch }: UserRecord,
    transaction: Transaction,
  ): Promise<void> {
    const session = await this.core.sessions.stillOpen(sessionId, authEpoch, transaction);
    if (session?.userId !== userId || user.id !== userId) throw new AuthError('invalid_session');
  }

  #send(row: CodeRequestRow, transaction: Transaction): Promise<void> {
    const { ip, userAgent } = this.core.context.client;
    const at = this.core.database.clock.date();
    const mail = {
      email: row.email,
      requestHash: row.browserHash.toString('hex'),
      template: verificationCodeMail,
      code: this.given.rows.codeFor(row),
      until: row.expiresAt,
      facts: { at, client: { ip, userAgent }, subject: null, undo: null },
      asked: this.core.asked(true),
      verifies: row.verifies,
    };
    return this.given.mails.requestedCode(mail, transaction);
  }
}

/** Returns the hash that identifies the verification in a session. No browser has a token with this hash. */
function ofSession(sessionId: string): Digest {
  return digestToken(`verify email ${sessionId}`);
}
