import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import type { PasswordHasher } from '../../crypto/password.js';
import type { Link, Mails } from '../../mail/mails.js';
import type { User } from '../../tables/core.js';
import { canonicalEmail } from '../../users/canonical.js';
import { INVITATION, invitationMail, RESET_PASSWORD, resetPasswordMail } from './declarations.js';
import { newPasswordNotice, replacePassword } from './password-change.js';
import { attemptsOf } from './password-check.js';
import type { PasswordRules } from './rules.js';

/** Emails password reset links, and redeems them. */
export class PasswordReset {
  /** @param pages the app's pages that read the token */
  constructor(
    private readonly core: Core,
    private readonly mails: Mails,
    private readonly pages: { readonly resetUrl: string; readonly invitationUrl: string },
    private readonly hasher: PasswordHasher,
    private readonly rules: PasswordRules,
  ) {}

  /**
   * Emails a link if the account exists. The account is looked up when the email is sent, so neither the response nor its
   * timing reveals whether it exists.
   *
   * @throws AuthError `rate_limited`
   */
  async request(typed: string): Promise<void> {
    const email = canonicalEmail(typed);
    await this.core.limiter.countAddress('mail', RESET_PASSWORD.name);
    await this.core.limiter.countAccount('mail', email ?? typed.trim().toLowerCase(), RESET_PASSWORD.name);
    if (email) await this.mails.oneOf(email, [{ userId: null, link: this.link }]);
  }

  /** Emails a link. */
  mail(user: User, transaction?: Transaction): Promise<void> {
    return this.mails.link(this.link, user, transaction);
  }

  /** Emails the link of an invitation. */
  invite(user: User, transaction?: Transaction): Promise<void> {
    const template = { ...invitationMail, page: this.pages.invitationUrl };
    return this.mails.link({ template, purpose: INVITATION }, user, transaction);
  }

  get link(): Link {
    return { template: { ...resetPasswordMail, page: this.pages.resetUrl }, purpose: RESET_PASSWORD };
  }

  /** Redeems a link, of a reset or an invitation. @throws AuthError `invalid_token`, `validation_failed`, `rate_limited` */
  async reset(token: string, newPassword: string): Promise<void> {
    const { tokens, sessions, events, limiter, notices } = this.core;
    const found = await tokens.find([RESET_PASSWORD, INVITATION], token);
    await limiter.countAddress('signIn');
    const { user } = found.record;
    const { id: userId, email, username } = user;
    await this.rules.check(newPassword, '/new_password', [email, username]);
    const passwordHash = await this.hasher.hash(newPassword);
    await tokens.redeem(
      found,
      async (_record, transaction) => {
        await replacePassword(this.core, userId, passwordHash, transaction);
        await this.core.devices.forgetOthers(userId, transaction);
        events.emit('password.reset', { userId }, transaction);
        await sessions.endAll(userId, transaction);
      },
      [],
      (record, transaction) => notices.before(newPasswordNotice(record), record, transaction),
    );
    // The password has been reset, so an error here must not fail the call.
    await limiter
      .clearFailures(attemptsOf(user))
      .catch((error) =>
        this.core.settings.logger.warn('latchkey: failed sign-ins could not be cleared', error),
      );
  }
}
