import type { Transaction } from 'sequelize';
import { requireOtherPassword, storePassword } from '../../accounts/passwords.js';
import type { Core } from '../../core/core.js';
import type { Mails } from '../../mail/mails.js';
import { newPasswordNotice } from '../../notices/passwords.js';
import { attemptsOf } from '../../sessions/password-check.js';
import { canonicalEmail } from '../../users/canonical.js';
import type { Passwords } from '../../users/passwords.js';
import type { UserRecord } from '../../users/record.js';
import type { BeforeChange } from '../../verification/email-proofs.js';
import { INVITATION, type PasswordLinks, RESET_PASSWORD } from '../../verification/password-links.js';

/** Consumes a link or a code, and stores the password in the same transaction. */
type Redeem = (
  work: (record: UserRecord, transaction: Transaction) => Promise<string | null>,
  isOwn: boolean,
  before: BeforeChange,
) => Promise<string | null>;

/** Who chooses a password. */
export interface ResetBy {
  /** The user of the request's session, if the browser is their own: see `OwnBrowser`. */
  readonly sessionUserId: string | null;
  /** Whether the response can give the browser a cookie, so that it is remembered. @default false */
  readonly remembers?: boolean;
}

/** Emails password reset links, and redeems them. */
export class PasswordReset {
  constructor(
    private readonly core: Core,
    private readonly mails: Mails,
    private readonly links: PasswordLinks,
    private readonly passwords: Passwords,
  ) {}

  /**
   * Emails a link if the account exists. The account is looked up when the email is sent, so neither the response nor its
   * timing reveals whether it exists.
   *
   * @throws AuthError `rate_limited`; for a request to the route, the errors of its checkpoint
   */
  async request(typed: string): Promise<void> {
    const email = canonicalEmail(typed);
    await this.core.limiter.countAddress('mailAddress');
    await this.core.context.client.checkpoint?.({ email });
    if (!email) return;
    const links = [{ userId: null, link: this.links.reset }];
    // The email with the code leads to this request, so count it separately: strangers must not use up its limit.
    const afterPassword = await this.core.pendings.waitingForCode();
    const userId = await this.core.sessionUserId();
    await this.mails.oneOf(email, links, { asked: { ...this.core.asked(false), userId, afterPassword } });
  }

  /**
   * Redeems a reset or invitation link.
   *
   * @returns the value for the browser's device cookie. Null if the cookie does not change
   * @throws AuthError `invalid_token`, `validation_failed`, `rate_limited`
   */
  async reset(token: string, newPassword: string, by: ResetBy): Promise<string | null> {
    const { tokens, limiter } = this.core;
    const found = await tokens.find([RESET_PASSWORD, INVITATION], token);
    await limiter.countAddress('signIn');
    const { email, username } = found.record.user;
    await this.passwords.rules.check(newPassword, '/new_password', [email, username]);
    return this.choose(found.record, newPassword, by, (work, isOwn, before) =>
      tokens.redeem(found, work, isOwn, before),
    );
  }

  /**
   * Stores the new password of a user whose link or code was right. The password has passed the rules.
   *
   * @returns the value for the browser's device cookie. Null if the cookie does not change
   */
  async choose(
    known: UserRecord,
    newPassword: string,
    { sessionUserId, remembers = false }: ResetBy,
    redeem: Redeem,
  ): Promise<string | null> {
    const { sessions, events, limiter, notices, devices } = this.core;
    const { user } = known;
    const { id: userId } = user;
    await requireOtherPassword(this.core, known, newPassword);
    const passwordHash = await this.passwords.hasher.hash(newPassword);
    const isOwn = sessionUserId === userId || (await devices.hasSignedUp(userId));
    const device = await redeem(
      async (_record, transaction) => {
        await storePassword(this.core, userId, passwordHash, transaction);
        await devices.forgetOthers(userId, transaction);
        events.emit('password.reset', { userId }, transaction);
        await sessions.endAll(userId, transaction);
        return remembers ? devices.proved(userId, transaction) : null;
      },
      isOwn,
      (record, transaction) => notices.before(newPasswordNotice(record), record, transaction),
    );
    // The password has been reset, so an error here must not fail the call.
    await limiter.clearFailures(attemptsOf(user)).catch((error) =>
      this.core.settings.log.warn('limits.not_cleared', 'failed sign-ins could not be cleared', {
        err: error,
      }),
    );
    return device;
  }
}
