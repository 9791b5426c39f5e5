import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import type { Link, Mails } from '../../mail/mails.js';
import type { PasswordCheck } from '../../sessions/password-check.js';
import type { User } from '../../tables/core.js';
import { EmailProof } from '../../users/email-proof.js';
import { VERIFY_EMAIL, verifyEmailMail } from './declarations.js';

/** What {@link EmailVerification} needs. */
interface VerificationNeeds {
  readonly mails: Mails;
  readonly check: PasswordCheck;
  /** The app's page that reads the token. */
  readonly page: string;
  /** What must accompany a link: see `verifyEmailBy`. */
  readonly by: 'password' | 'link';
}

/** Emails verification links, and redeems them. */
export class EmailVerification {
  constructor(
    private readonly core: Core,
    private readonly plugin: VerificationNeeds,
  ) {}

  /** Emails a link at the user's request. @throws AuthError `rate_limited` */
  async request(user: User): Promise<void> {
    await this.core.limiter.countAddress('mailAddress');
    await this.#mail(user, true);
  }

  /** Emails a link because another action requires it. Does nothing if the limit is reached. */
  async offer(user: User): Promise<void> {
    try {
      await this.core.limiter.countAddress('mailAddress');
    } catch (error) {
      if (error instanceof AuthError && error.code === 'rate_limited') return;
      throw error;
    }
    await this.mail(user);
  }

  /** Emails a link, unless access to the mailbox is already proven. */
  mail(user: User, transaction?: Transaction): Promise<void> {
    return this.#mail(user, false, transaction);
  }

  async #mail(user: User, inSession: boolean, transaction?: Transaction): Promise<void> {
    if (user.email === null || EmailProof.of(user).reaches('mailbox')) return;
    await this.plugin.mails.link(this.link, user, this.core.asked(inSession), transaction);
  }

  get link(): Link {
    return {
      template: { ...verifyEmailMail, page: this.plugin.page },
      purpose: VERIFY_EMAIL,
      verifies: true,
    };
  }

  /**
   * Redeems a link. It proves access to the mailbox, but not that the same person signed up: someone might have signed
   * up with another person's address, whose owner must not verify that account by following the link. So the session or
   * the password is required as well or, if the app says so, the browser in which the account was created.
   *
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
    if (isByLink && !(this.plugin.by === 'link' && (await devices.hasSignedUp(user.id))))
      throw new AuthError('unauthenticated');
    if (shown.sessionUserId !== user.id && shown.password !== undefined)
      await this.plugin.check.verifyOwn(found.record, shown.password);
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
