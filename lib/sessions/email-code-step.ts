import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import type { CallContext } from '../context/call.js';
import { type EmailedCodes, nameOf } from '../crypto/emailed-codes.js';
import { digestToken } from '../crypto/token.js';
import type { Database } from '../database/database.js';
import { AuthError, declareProblems } from '../errors.js';
import type { Limiter } from '../limits/limiter.js';
import type { Asked, Mails } from '../mail/mails.js';
import type { RequestedCodeTemplate } from '../mail/templates.js';
import type { Events } from '../outbox/events.js';
import { say } from '../phrases.js';
import type { Session, User } from '../tables/core.js';
import type { Devices, Recognized } from './devices.js';
import type { FoundPending, PendingSignIns } from './pending-sign-ins.js';
import type { StepMethod } from './second-factor.js';
import type { Assurance } from './signed-in.js';

/** A plugin that has passwords followed by emailed codes. */
export interface AsksForEmailCodes {
  /**
   * Whether a correct password must be followed by an emailed code, in a browser that is new to the account: `sign-in`
   * for sign-ins only; `always` if the password alone does not count as a recent sign-in there either.
   */
  codeInUnknownBrowsers?(user: User): 'sign-in' | 'always' | null;
}

/** A sign-in that waits for the code. */
interface Begun {
  readonly pendingToken: string;
  readonly salt: Buffer;
  readonly expiresAt: Date;
  readonly provesEmail: string | null;
}

/** When and where the password was typed, and when the code expires. */
interface TypedPassword {
  readonly at: Date;
  readonly ip: string | null | undefined;
  readonly userAgent: string | null;
  readonly until: Date;
}

/** What {@link EmailCodeStep} needs. */
interface EmailCodeNeeds {
  readonly database: Database;
  readonly context: CallContext;
  readonly settings: Settings;
  readonly limiter: Limiter;
  readonly events: Events;
  readonly codes: EmailedCodes;
  /** Null if `email` is not configured. */
  readonly mails: Mails | null;
  readonly devices: Devices;
  readonly pendings: PendingSignIns;
  /** Null without emails or passwords. */
  readonly emailVerification: {
    /** Whether sign-ins ask users for a code whose email must be verified first. */
    readonly asksAtSignIn: boolean;
  } | null;
  readonly contributions: readonly AsksForEmailCodes[];
  /** Describes who requests an email. */
  asked(inSession: boolean): Asked;
}

/**
 * The step between a correct password and a session, in a browser that is new to the account, and between any first step and
 * the session of a user whose email must be verified: the user enters a code that latchkey emails to them. An attacker might know the password from a leak of another service (credential stuffing,
 * OWASP). The code is not a second factor, and accounts that have one are not asked for it.
 */
export class EmailCodeStep {
  readonly method: StepMethod = {
    name: 'email_code',
    step: 'email_code',
    problems: [],
    attempt: async (found, { code = '' }, complete) => {
      await this.#check(found, code);
      return complete({ aal: 1, amr: ['email'], use: async () => true });
    },
  };

  constructor(private readonly core: EmailCodeNeeds) {}

  /** Whether sign-ins can ask for codes. */
  get isOn(): boolean {
    return (
      this.core.mails !== null &&
      (this.core.emailVerification?.asksAtSignIn === true ||
        this.core.contributions.some(({ codeInUnknownBrowsers }) => codeInUnknownBrowsers !== undefined))
    );
  }

  /**
   * Whether a user who has authenticated must enter a code. There is no limit for the client's address, because an error
   * would reveal that the password is correct, and the owner would not get the email that warns them.
   *
   * @param device the user's device, as far as it is known
   */
  async isDemanded(user: User, { aal, amr }: Assurance, device: Recognized): Promise<boolean> {
    if (aal > 1 || !amr.includes('pwd') || amr.includes('email') || device.cookie !== null) return false;
    return this.#asks(user).length > 0 && !(await this.core.devices.isRecent(user.id));
  }

  /**
   * Refuses a password as a recent sign-in, where a sign-in would be followed by a code whatever the session is: it could
   * be one that was taken over, or stolen.
   *
   * @param session the one that would be fresh. One of aal 2 has shown more than a code does
   * @throws AuthError `reauthentication_required`
   */
  async requireSignIn(user: User, { aal }: Pick<Session, 'aal'>): Promise<void> {
    if (aal > 1 || !this.#asks(user).includes('always')) return;
    const isKnown =
      (await this.core.devices.find(user.id)) !== null || (await this.core.devices.isRecent(user.id));
    if (!isKnown) throw new AuthError('reauthentication_required', { detail: say('unknown-browser') });
  }

  /** When codes follow a password of this user in unknown browsers. */
  #asks(user: User): readonly string[] {
    if (!this.isOn || user.email === null || user.emailVerifiedAt === null) return [];
    return this.core.contributions.flatMap((plugin) => plugin.codeInUnknownBrowsers?.(user) ?? []);
  }

  /** Emails the code. */
  begin(
    user: User,
    { pendingToken, salt, expiresAt, provesEmail }: Begun,
    transaction: Transaction,
  ): Promise<void> {
    const { ip, userAgent } = this.core.context.client;
    const at = this.core.database.clock.date();
    const named = { hash: digestToken(pendingToken), salt, provesEmail };
    return this.#send(named, user, { at, ip, userAgent, until: expiresAt }, transaction);
  }

  /** Emails the same code again. @throws AuthError `email_code_not_offered`, `rate_limited` */
  async sendAgain(found: FoundPending): Promise<void> {
    const { record, row } = found;
    if (row.step !== 'email_code') throw new AuthError('email_code_not_offered');
    await this.core.limiter.countAddress('mailAddress');
    await this.core.database.transaction(async (transaction) => {
      if (!(await this.core.pendings.countResend(found, transaction))) {
        const leftMs = row.expiresAt.getTime() - this.core.database.clock.now();
        throw new AuthError('rate_limited', { retryAfter: Math.max(1, Math.ceil(leftMs / 1000)) });
      }
      const { ipAddress: ip, userAgent, expiresAt: until } = row;
      const at = this.core.pendings.rows.beganAt(row);
      await this.#send(row, record.user, { at, ip, userAgent, until }, transaction);
    });
  }

  async #send(
    row: Named,
    user: User,
    { at, ip, userAgent, until }: TypedPassword,
    transaction: Transaction,
  ): Promise<void> {
    const { mails, codes } = this.core;
    const page = this.core.settings.email?.forgotPasswordUrl;
    if (!mails || page === undefined || user.email === null) return;
    const facts = { at, client: { ip, userAgent }, subject: null, undo: null };
    const template = row.provesEmail === null ? { ...browserCodeMail, page } : verificationCodeMail;
    const code = codes.codeFor(codeName(row, user));
    const requestHash = row.hash.toString('hex');
    const asked = this.core.asked(false);
    await mails.code({ template, user, to: user.email, code, requestHash, until, facts, asked }, transaction);
  }

  /** @throws AuthError `invalid_code`; `sign_in_expired` after too many */
  async #check(found: FoundPending, code: string): Promise<void> {
    const { record, row } = found;
    await this.core.limiter.countAddress('signIn');
    if (!(await this.core.pendings.rows.countTry(row))) throw new AuthError('sign_in_expired');
    // The number of emails to an account is limited, so codes that were not emailed must not be open to guesses.
    if (this.core.codes.matches(code, codeName(row, record.user)) && row.sentAt !== null) return;
    this.core.events.emit('sign_in.failed', { userId: record.user.id, method: 'email_code' });
    throw new AuthError(
      (await this.core.pendings.rows.endAfterTries(row)) ? 'sign_in_expired' : 'invalid_code',
    );
  }
}

type Named = Pick<FoundPending['row'], 'hash' | 'salt' | 'provesEmail'>;

/** Names the code of a sign-in: after a change of the email, the code that the former mailbox got is no longer right. */
function codeName({ hash, salt }: Pick<Named, 'hash' | 'salt'>, { email }: User): string {
  return nameOf(['browser', hash.toString('hex'), String(email)], salt);
}

const problems = declareProblems({
  email_code_not_offered: [409, 'No code is emailed here. Use one of your other methods.'],
});

declare module '../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

declare module '../mail/messages.js' {
  interface MailKinds {
    'browser-code': unknown;
    'verification-code': unknown;
  }
}

export const verificationCodeMail: RequestedCodeTemplate = {
  kind: 'verification-code',
  text: 'verification-code',
};

const browserCodeMail = { kind: 'browser-code', text: 'browser-code' } as const;
