import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import { AuthError } from '../errors.js';
import type { Limiter } from '../limits/limiter.js';
import type { Asked, Link, Mails } from '../mail/mails.js';
import type { LinkTexts } from '../mail/templates.js';
import { CORE } from '../owners.js';
import type { Devices } from '../sessions/devices.js';
import type { PasswordCheck } from '../sessions/password-check.js';
import type { User } from '../tables/core.js';
import { EmailProof } from '../users/email-proof.js';
import { definePurpose } from './purposes.js';
import type { OneTimeTokens } from './tokens.js';
import type { VerificationCodes } from './verification-codes.js';

/** The settings of the verification of emails. */
export interface EmailVerificationSettings {
  /** Whether users with an email must verify it before they can sign in. */
  readonly isRequired: boolean;
  /** Whether a sign-up emails a link or a code. */
  readonly isOnSignUp: boolean;
  /** What must accompany a link: see `verifyEmailBy`. */
  readonly by: 'password' | 'link' | 'code';
}

/** What {@link EmailVerification} needs. */
interface EmailVerificationNeeds {
  readonly settings: Settings;
  readonly limiter: Limiter;
  readonly devices: Devices;
  readonly tokens: OneTimeTokens;
  /** Describes who requests an email. */
  asked(inSession: boolean): Asked;
}

/** The parts that the core does not have without emails and passwords. */
interface EmailVerificationGiven extends EmailVerificationSettings {
  readonly mails: Mails;
  readonly check: PasswordCheck;
  /** Null if emails contain links. */
  readonly codes: VerificationCodes | null;
}

/** Emails verification links, and redeems them. */
export class EmailVerification {
  constructor(
    private readonly core: EmailVerificationNeeds,
    private readonly parts: EmailVerificationGiven,
  ) {}

  /** Whether users with an email must verify it before they can sign in. */
  get isRequired(): boolean {
    return this.parts.isRequired;
  }

  /** Whether a sign-up emails a link or a code. */
  get isOnSignUp(): boolean {
    return this.parts.isOnSignUp;
  }

  /** Whether a new user finds a link in the mailbox, and cannot sign in before following it. */
  get isFirstStep(): boolean {
    return this.parts.isRequired && this.parts.isOnSignUp;
  }

  /** The codes that verify an email in place of links. Null if emails contain links. */
  get codes(): VerificationCodes | null {
    return this.parts.codes;
  }

  /** Whether a link verifies an email without a password, in the browser that was used to sign up. */
  get isByLink(): boolean {
    return this.parts.by === 'link';
  }

  /** Whether sign-ins ask users for a code whose email must be verified first. */
  get asksAtSignIn(): boolean {
    return this.parts.isRequired && this.codes !== null;
  }

  /**
   * Rejects the sign-in of a user whose email must be verified first, unless it can wait for an emailed code.
   *
   * @param isByPerson whether the user does something to sign in. A link is then emailed, unless emails contain codes
   * @param canWait whether the sign-in can have a second step
   * @returns whether the sign-in must wait for a code, which verifies the email
   * @throws AuthError `email_not_verified`
   */
  async requireFor(user: User, isByPerson: boolean, canWait: boolean): Promise<boolean> {
    if (!this.isRequired || user.email === null || user.emailVerifiedAt !== null) return false;
    if (this.codes && canWait) return true;
    if (isByPerson && !this.codes) await this.offer(user);
    throw new AuthError('email_not_verified');
  }

  /** Emails a link at the user's request. @throws AuthError `rate_limited` */
  async request(user: User): Promise<void> {
    await this.core.limiter.countAddress('mailAddress');
    await this.#mail(user, this.core.asked(true));
  }

  /** Emails a link because another action requires it. Does nothing if the limit is reached. */
  async offer(user: User): Promise<void> {
    try {
      await this.core.limiter.countAddress('mailAddress');
    } catch (error) {
      if (error instanceof AuthError && error.code === 'rate_limited') return;
      throw error;
    }
    await this.#mail(user, this.core.asked(false));
  }

  /** Emails a link to a new user, unless access to the mailbox is already proven, or sessions ask for a code instead. */
  async mailSignUp(user: User, transaction: Transaction): Promise<void> {
    if (!this.codes) await this.#mail(user, { ...this.core.asked(false), signsUp: true }, transaction);
  }

  async #mail(user: User, asked: Asked, transaction?: Transaction): Promise<void> {
    if (user.email === null || EmailProof.of(user).reaches('mailbox')) return;
    await this.parts.mails.link(this.link, user, asked, transaction);
  }

  get link(): Link {
    return {
      template: { ...verifyEmailMail, page: this.core.settings.email?.verifyUrl ?? '' },
      purpose: VERIFY_EMAIL,
      verifies: true,
    };
  }

  /**
   * Redeems a link. It proves access to the mailbox, but not that the same person signed up: someone might have signed
   * up with another person's address, whose owner must not verify that account by following the link. So the session or
   * the password is required as well or, if the app says so, the browser in which the account was created.
   *
   * @param shown `sessionUserId` is the user of the request's session, if the browser is their own: see `OwnBrowser`
   * @param remembers whether the response can give the browser a cookie, so that it is remembered
   * @returns the user, and the value for the browser's device cookie
   * @throws AuthError `invalid_token`, `unauthenticated`, `invalid_credentials`, `rate_limited`
   */
  async verify(
    token: string,
    shown: { readonly sessionUserId: string | null; readonly password: string | undefined },
    remembers = false,
  ): Promise<{ readonly user: User; readonly device: string | null }> {
    const { tokens, devices } = this.core;
    const found = await tokens.find(VERIFY_EMAIL, token);
    const { user } = found.record;
    const isByLink = shown.sessionUserId !== user.id && shown.password === undefined;
    if (isByLink && !(this.isByLink && (await devices.hasSignedUp(user.id))))
      throw new AuthError('unauthenticated');
    if (shown.sessionUserId !== user.id && shown.password !== undefined)
      await this.parts.check.verifyOwn(found.record, shown.password);
    return tokens.redeem(
      found,
      async (record, transaction) => {
        const device = remembers && !isByLink ? await devices.proved(user.id, transaction) : null;
        return { user: record.user, device };
      },
      true,
    );
  }
}

declare module '../mail/messages.js' {
  interface MailKinds {
    'verify-email': unknown;
  }
}

export const VERIFY_EMAIL = definePurpose(CORE, { name: 'verify-email', lifetimeMs: 24 * 60 * 60 * 1000 });

const verifyEmailMail: LinkTexts = { kind: 'verify-email', text: 'verify-email' };
