import type { Core } from '../../core.js';
import type { PasswordHasher } from '../../crypto/password.js';
import { AuthError } from '../../errors.js';
import type { ClientInfo } from '../../events.js';
import { canonicalEmail } from '../../identity.js';
import type { Mailer } from '../../mail/mailer.js';
import type { MailKind } from '../../mail/message.js';
import type { User } from '../../models/user.js';
import type { OneTimeTokens } from './one-time-tokens.js';
import type { PasswordCheck } from './password-check.js';
import type { PasswordRules } from './rules.js';

/** Where a call comes from, as far as limits are concerned: see `Limiter.countAddress`. */
export type Address = string | null | undefined;

/** What goes through a user's mailbox: proof of the address, and a new password for one that was lost. */
export class Mailbox {
  constructor(
    private readonly core: Core,
    private readonly mailer: Mailer,
    private readonly tokens: OneTimeTokens,
    private readonly hasher: PasswordHasher,
    private readonly check: PasswordCheck,
    private readonly rules: PasswordRules,
  ) {}

  /** Mails a token, after the answer. A user without an email, or who has verified it, gets no verification mail. */
  mail(kind: MailKind, user: User): void {
    const { email } = user;
    if (email === null || (kind === 'verify-email' && user.emailVerifiedAt !== null)) return;
    this.mailer.later(async () => {
      const token = await this.tokens.issue({ userId: user.id, email }, kind);
      await this.mailer.send(kind, user, email, token);
    });
  }

  async sendVerification(user: User, ip: Address): Promise<void> {
    await this.core.limiter.countAddress('mail', ip, 'verify-email');
    await this.core.limiter.countAccount('mail', user.id, 'verify-email');
    this.mail('verify-email', user);
  }

  /** Tells whoever has an email's account, by a reset mail, that somebody signed up with it. */
  mailHolder(email: string): void {
    this.mailer.later(async () => {
      // Counted apart, or the next request for a reset would tell that there is an account.
      await this.core.limiter.countAccount('mail', email, 'sign-up');
      await this.#mailReset(email);
    });
  }

  /** Looks for the account only after the answer, which is the same and takes as long with and without one. */
  async requestReset(typed: string, ip: Address): Promise<void> {
    const email = canonicalEmail(typed);
    await this.core.limiter.countAddress('mail', ip, 'reset-password');
    await this.core.limiter.countAccount('mail', email ?? typed.trim().toLowerCase(), 'reset-password');
    if (email) this.mailer.later(() => this.#mailReset(email));
  }

  /**
   * A mail's link proves who reads the mailbox, not who set the password: somebody may have signed up with an address
   * that is not theirs, and its owner must not bless that account by a click. So the session or password must be there
   * too.
   */
  async verifyEmail(
    token: string,
    proof: { sessionUserId: string | null; password: string | undefined },
    client: ClientInfo,
  ): Promise<User> {
    const { userId, email } = await this.tokens.find(token, 'verify-email');
    if (proof.sessionUserId !== userId) {
      if (proof.password === undefined) throw new AuthError('unauthenticated');
      await this.check.verify(
        await this.core.users.findForSignIn({ id: userId }),
        email,
        proof.password,
        client,
      );
    }
    const { database, users } = this.core;
    const isNew = await database.transaction(async (transaction) => {
      // The user first: two links of one user would lock each other out, each waiting for the other's token.
      const user = await users.lockForUpdate(userId, transaction);
      if (user?.email !== email) throw new AuthError('invalid_token');
      await this.tokens.take(token, 'verify-email', transaction);
      await this.tokens.endAll(userId, ['verify-email'], transaction);
      return users.markEmailVerified(userId, transaction);
    });
    if (isNew) this.core.events.emit('user.email_verified', { userId });
    const user = await users.findById(userId);
    if (!user) throw new AuthError('invalid_token');
    return user;
  }

  async resetPassword(token: string, newPassword: string, client: ClientInfo): Promise<void> {
    const { database, users, sessions, limiter, events, onFirstProof } = this.core;
    const { userId, email } = await this.tokens.find(token, 'reset-password');
    const record = await users.findForSignIn({ id: userId });
    if (record?.user.email !== email) throw new AuthError('invalid_token');
    await this.rules.check(newPassword, '/new_password', [email, record.user.username]);
    const passwordHash = await this.hasher.hash(newPassword);
    const { ended, isFirstProof } = await database.transaction(async (transaction) => {
      const user = await users.lockForUpdate(userId, transaction);
      if (user?.email !== email) throw new AuthError('invalid_token');
      await this.tokens.take(token, 'reset-password', transaction);
      await users.setPasswordHash(userId, passwordHash, transaction);
      const ended = await sessions.endAll(userId, transaction);
      await this.tokens.endAll(userId, ['reset-password', 'verify-email'], transaction);
      const isFirstProof = await users.markEmailVerified(userId, transaction);
      if (isFirstProof) for (const clear of onFirstProof) await clear(userId, transaction);
      return { ended, isFirstProof };
    });
    events.emit('password.reset', { userId, ...client });
    sessions.tellEnded(userId, ended);
    if (isFirstProof) events.emit('user.email_verified', { userId });
    // The new password is set, whatever becomes of the counter.
    await limiter
      .forgive(userId)
      .catch((error) => this.core.settings.logger.warn('latchkey: failures still count', error));
  }

  async #mailReset(email: string): Promise<void> {
    const record = await this.core.users.findForSignIn({ email });
    if (record) this.mail('reset-password', record.user);
  }
}
