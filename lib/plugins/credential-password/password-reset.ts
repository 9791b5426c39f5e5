import { canonicalEmail } from '../../core/canonical.js';
import type { Core } from '../../core/core.js';
import type { PasswordHasher } from '../../crypto/password.js';
import type { Mailer } from '../../mail/mailer.js';
import { RESET_PASSWORD, resetPasswordMail } from './mails.js';
import { replacePassword } from './password-change.js';
import type { PasswordRules } from './rules.js';

/** Mails links that lead to a new password, and redeems them. */
export class PasswordReset {
  /** @param page the app's page that takes the token */
  constructor(
    private readonly core: Core,
    private readonly mailer: Mailer,
    private readonly page: string,
    private readonly hasher: PasswordHasher,
    private readonly rules: PasswordRules,
  ) {}

  /**
   * Mails a link, if the account exists. It is looked up only after the response, which is the same and takes the same
   * time either way.
   *
   * @throws AuthError `rate_limited`
   */
  async request(typed: string): Promise<void> {
    const email = canonicalEmail(typed);
    await this.core.limiter.countAddress('mail', RESET_PASSWORD.name);
    await this.core.limiter.countAccount('mail', email ?? typed.trim().toLowerCase(), RESET_PASSWORD.name);
    if (email) this.mailer.later(() => this.#mail(email));
  }

  /** Tells the holder of an account that somebody tried to sign up with their email. */
  notifyOfSignUp(email: string): void {
    this.mailer.later(async () => {
      // Counted separately, or the next request for a reset would reveal that there is an account.
      await this.core.limiter.countAccount('mail', email, 'sign-up');
      await this.#mail(email);
    });
  }

  /** Redeems a link. @throws AuthError `invalid_token`, `validation_failed` */
  async reset(token: string, newPassword: string): Promise<void> {
    const { tokens, sessions, events, limiter } = this.core;
    const found = await tokens.find(RESET_PASSWORD, token);
    const { id: userId, email, username } = found.record.user;
    await this.rules.check(newPassword, '/new_password', [email, username]);
    const passwordHash = await this.hasher.hash(newPassword);
    const ended = await tokens.redeem(found, async (_record, transaction) => {
      await replacePassword(this.core, userId, passwordHash, transaction);
      return sessions.endAll(userId, transaction);
    });
    events.emit('password.reset', { userId });
    sessions.announceEnd(userId, ended);
    // The new password is set, whatever happens to the counter.
    await limiter
      .clearFailures(userId)
      .catch((error) => this.core.settings.logger.warn('latchkey: failures were not cleared', error));
  }

  async #mail(email: string): Promise<void> {
    const record = await this.core.users.findRecord({ email });
    if (!record) return;
    this.core.mailToken({ ...resetPasswordMail, page: this.page }, RESET_PASSWORD, record.user);
  }
}
