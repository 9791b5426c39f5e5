import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import type { User } from '../../models/user.js';
import { VERIFY_EMAIL, verifyEmailMail } from './mails.js';
import type { PasswordCheck } from './password-check.js';

/** Mails links that prove who reads a mailbox, and redeems them. */
export class EmailVerification {
  /** @param page the app's page that takes the token */
  constructor(
    private readonly core: Core,
    private readonly page: string,
    private readonly check: PasswordCheck,
  ) {}

  /** Mails a link because its user asked for it. @throws AuthError `rate_limited` */
  async request(user: User): Promise<void> {
    await this.core.limiter.countAddress('mail', VERIFY_EMAIL.name);
    await this.core.limiter.countAccount('mail', user.id, VERIFY_EMAIL.name);
    this.mail(user);
  }

  /** Mails a link because something else needs it. That there were enough of them already is no error. */
  async offer(user: User): Promise<void> {
    try {
      await this.core.limiter.countAccount('mail', user.id, VERIFY_EMAIL.name);
    } catch (error) {
      if (error instanceof AuthError && error.code === 'rate_limited') return;
      throw error;
    }
    this.mail(user);
  }

  /** Mails a link, unless the email is verified. */
  mail(user: User): void {
    if (user.emailVerifiedAt !== null) return;
    this.core.mailToken({ ...verifyEmailMail, page: this.page }, VERIFY_EMAIL, user);
  }

  /**
   * Redeems a link. The link proves who reads the mailbox, not who chose the password: somebody may have signed up with
   * an address that is not theirs, and its owner must not confirm that account by following a link. So the session or
   * the password must be shown too.
   *
   * @throws AuthError `invalid_token`, `unauthenticated`, `invalid_credentials`, `rate_limited`
   */
  async verify(
    token: string,
    shown: { readonly sessionUserId: string | null; readonly password: string | undefined },
  ): Promise<User> {
    const found = await this.core.tokens.find(VERIFY_EMAIL, token);
    const { user } = found.record;
    if (shown.sessionUserId !== user.id) {
      if (shown.password === undefined) throw new AuthError('unauthenticated');
      await this.check.verify(found.record, user.id, shown.password);
    }
    const spare = ['password', 'sessions', 'tokens', 'credentials'] as const;
    return this.core.tokens.redeem(found, async (record) => record.user, spare);
  }
}
