import type { Core } from '../../core.js';
import type { PasswordHasher } from '../../crypto/password.js';
import { AuthError, invalidField } from '../../errors.js';
import { canonicalEmail, canonicalUsername } from '../../identity.js';
import type { User } from '../../models/user.js';
import type { IssuedSession } from '../../sessions.js';
import type { SignInRecord } from '../../users.js';
import { type ImportedUser, type ImportResult, importUsers } from './import-users.js';
import type {
  ChangePasswordInput,
  ClientInput,
  ReauthenticateInput,
  ResetPasswordInput,
  SetPasswordInput,
  SignInInput,
  SignUpInput,
  VerifyEmailInput,
} from './inputs.js';
import type { Mailbox } from './mailbox.js';
import type { OneTimeTokens } from './one-time-tokens.js';
import type { PasswordCheck } from './password-check.js';
import { checkUsername, type PasswordRules, type Registration } from './rules.js';

interface Parts {
  readonly hasher: PasswordHasher;
  readonly check: PasswordCheck;
  readonly rules: PasswordRules;
  readonly tokens: OneTimeTokens;
  readonly mailbox: Mailbox | null;
}

interface Settings {
  readonly username: boolean;
  readonly signInOnSignUp: boolean;
  readonly sendVerificationOnSignUp: boolean;
  readonly requireVerifiedEmail: boolean;
  readonly concealExistingEmails: boolean;
}

/** `auth.credential`: accounts with a password. */
export class CredentialApi<SignedUp = IssuedSession | { readonly user: User } | null> {
  readonly #core: Core;
  readonly #hasher: PasswordHasher;
  readonly #check: PasswordCheck;
  readonly #rules: PasswordRules;
  readonly #mailbox: Mailbox | null;
  readonly #tokens: OneTimeTokens;
  readonly #settings: Settings;

  constructor(core: Core, parts: Parts, settings: Settings) {
    this.#core = core;
    this.#hasher = parts.hasher;
    this.#check = parts.check;
    this.#rules = parts.rules;
    this.#mailbox = parts.mailbox;
    this.#tokens = parts.tokens;
    this.#settings = settings;
  }

  /**
   * Makes an account; with `signInOnSignUp` also its first session, and then answers that one's token too.
   *
   * @returns null with `concealExistingEmails`, whether an account was made or there was one
   * @throws AuthError `validation_failed` (422), `email_taken`, `username_taken` (409), `rate_limited` (429),
   *   `unavailable` (503)
   */
  async signUp(input: SignUpInput): Promise<SignedUp> {
    return (await this.#signUp(input)) as SignedUp;
  }

  async #signUp(input: SignUpInput): Promise<IssuedSession | { user: User } | null> {
    if (input.username !== undefined && !this.#settings.username) {
      throw invalidField('/username', 'unknown_key', 'usernames are not in use here');
    }
    const core = this.#core;
    await core.limiter.countAddress('signUp', input.ip);
    const registration = await this.#rules.checkRegistration(input);
    const user = await this.#createUser(registration);
    if (user) {
      core.events.emit('user.created', { userId: user.id, ...clientOf(input) });
      if (this.#settings.sendVerificationOnSignUp) this.#mailbox?.mail('verify-email', user);
    }
    if (!user || this.#settings.concealExistingEmails) return null;
    if (!this.#settings.signInOnSignUp) return { user };
    return core.sessions.create(user, 0, { remembered: false, ...clientOf(input) });
  }

  /**
   * Begins a session for whoever knows the password.
   *
   * @throws AuthError `invalid_credentials` (401) alike for an unknown account, a wrong password and an account
   *   without one; `email_not_verified` (403) with `requireVerifiedEmail`; `rate_limited` (429); `unavailable` (503)
   */
  async signIn(input: SignInInput): Promise<IssuedSession> {
    const core = this.#core;
    const client = clientOf(input);
    const credential = String(input.credential);
    await core.limiter.countAddress('signIn', input.ip);
    const found = await this.#find(credential);
    const { user, authEpoch } = await this.#check.verify(
      found,
      this.#nameOf(credential),
      String(input.password),
      client,
    );
    if (this.#settings.requireVerifiedEmail && user.emailVerifiedAt === null) {
      await this.#mailbox?.sendVerification(user, undefined).catch(exceptTooMany);
      throw new AuthError('email_not_verified');
    }
    return core.sessions.create(user, authEpoch, { remembered: input.rememberMe === true, ...client });
  }

  /** Whether a username can still be had. @throws AuthError `validation_failed` on what can never be one */
  async usernameAvailable(username: string): Promise<boolean> {
    return !(await this.#core.users.isUsernameTaken(checkUsername(username)));
  }

  /**
   * Replaces the password of a session's user. This session goes on with a new token, and all others end.
   *
   * @throws AuthError `invalid_credentials`, `invalid_session`, `validation_failed`, `rate_limited`, `user_not_found`
   */
  async changePassword(input: ChangePasswordInput): Promise<IssuedSession> {
    const { userId, sessionId, currentPassword, newPassword, ...client } = input;
    const { users, sessions, database, events } = this.#core;
    const record = await this.#verifyOwn(userId, currentPassword, client);
    await this.#rules.check(newPassword, '/new_password', [record.user.email, record.user.username]);
    const passwordHash = await this.#hasher.hash(newPassword);
    const authEpoch = record.authEpoch + 1;
    const { ended, issued } = await database.transaction(async (transaction) => {
      const now = await users.lockForUpdate(userId, transaction);
      // Somebody else was faster: what was verified is the password no more.
      if (now?.authEpoch !== record.authEpoch) throw new AuthError('invalid_credentials');
      const updatedAt = await users.setPasswordHash(userId, passwordHash, transaction);
      const user = { ...record.user, updatedAt };
      const ended = await sessions.endAll(userId, transaction, sessionId);
      await this.#tokens.endAll(userId, ['reset-password'], transaction);
      const issued = sessionId
        ? await sessions.renew(user, sessionId, authEpoch, transaction)
        : await sessions.insert(user, authEpoch, { remembered: false, ...clientOf(client) }, transaction);
      return { ended, issued };
    });
    events.emit('password.changed', { userId, ...clientOf(client) });
    sessions.tellEnded(userId, ended);
    if (!sessionId) {
      events.emit('session.created', { userId, sessionId: issued.session.id, ...clientOf(client) });
    }
    return issued;
  }

  /**
   * Gives a password to an account that has none.
   *
   * @throws AuthError `password_already_set`, `validation_failed`, `user_not_found`
   */
  async setPassword({ userId, sessionId, newPassword, ...client }: SetPasswordInput): Promise<void> {
    const record = await this.#own(userId);
    if (record.passwordHash !== null) throw new AuthError('password_already_set');
    await this.#rules.check(newPassword, '/new_password', [record.user.email, record.user.username]);
    const passwordHash = await this.#hasher.hash(newPassword);
    await this.#core.inNameOf(userId, sessionId ?? null, async (transaction, user) => {
      if (user.passwordHash !== null) throw new AuthError('password_already_set');
      await this.#core.users.setPasswordHash(userId, passwordHash, transaction);
      await this.#tokens.endAll(userId, ['reset-password'], transaction);
    });
    this.#core.events.emit('password.changed', { userId, ...clientOf(client) });
  }

  /** Notes that the user has proved again who they are. @throws AuthError `invalid_credentials`, `rate_limited` */
  async reauthenticate({ userId, sessionId, password, ...client }: ReauthenticateInput): Promise<void> {
    await this.#verifyOwn(userId, password, client);
    await this.#core.sessions.markAuthenticated(sessionId);
  }

  /** Mails a verification link to a user. @throws AuthError `user_not_found`, `rate_limited` */
  async sendVerification({ userId, ip }: ClientInput & { userId: string }): Promise<void> {
    await this.#mails.sendVerification((await this.#own(userId)).user, ip);
  }

  /**
   * Redeems a verification link. The session's user or their password must stand beside it.
   *
   * @throws AuthError `invalid_token` (400), `unauthenticated`, `invalid_credentials` (401), `rate_limited` (429)
   */
  async verifyEmail({ token, sessionUserId = null, password, ...client }: VerifyEmailInput): Promise<User> {
    return this.#mails.verifyEmail(token, { sessionUserId, password }, clientOf(client));
  }

  /** Mails a reset link, if the account exists; nobody can tell. @throws AuthError `rate_limited` */
  async requestPasswordReset({ email, ip }: ClientInput & { email: string }): Promise<void> {
    await this.#mails.requestReset(email, ip);
  }

  /** Redeems a reset link. @throws AuthError `invalid_token`, `validation_failed` */
  async resetPassword({ token, newPassword, ...client }: ResetPasswordInput): Promise<void> {
    await this.#mails.resetPassword(token, newPassword, clientOf(client));
  }

  /** Takes accounts over from elsewhere, with their hashes; each is hashed anew at its first sign-in. */
  importUsers(users: readonly ImportedUser[]): Promise<ImportResult> {
    return importUsers(this.#core, users, this.#settings.username);
  }

  get #mails(): Mailbox {
    if (!this.#mailbox) throw new TypeError('latchkey: this needs the option email: { send } of the config');
    return this.#mailbox;
  }

  /** @returns null where the email was taken and nobody is to know */
  async #createUser({ email, username, password }: Registration): Promise<User | null> {
    const { users } = this.#core;
    const conceals = this.#settings.concealExistingEmails;
    // Asked before, because otherwise a username that is taken would tell that the email beside it is not.
    if (conceals && username && (await users.isUsernameTaken(username)))
      throw new AuthError('username_taken');
    const passwordHash = await this.#hasher.hash(password);
    try {
      return await users.create({ email, username, passwordHash });
    } catch (error) {
      if (!conceals || !(error instanceof AuthError) || error.code !== 'email_taken') throw error;
      this.#mailbox?.mailHolder(email);
      return null;
    }
  }

  async #find(credential: string): Promise<SignInRecord | null> {
    const email = canonicalEmail(credential);
    if (email) return this.#core.users.findForSignIn({ email });
    const username = this.#settings.username ? canonicalUsername(credential) : null;
    return username ? this.#core.users.findForSignIn({ username }) : null;
  }

  /** One name for each account that could be, however it is spelt: tries at it share one counter. */
  #nameOf(credential: string): string {
    const email = canonicalEmail(credential);
    const username = this.#settings.username ? canonicalUsername(credential) : null;
    return email ? `email ${email}` : username ? `username ${username}` : `other ${credential}`;
  }

  async #own(userId: string): Promise<SignInRecord> {
    const record = await this.#core.users.findForSignIn({ id: userId });
    if (!record) throw new AuthError('user_not_found');
    return record;
  }

  async #verifyOwn(userId: string, password: string, client: ClientInput): Promise<SignInRecord> {
    return this.#check.verify(await this.#own(userId), userId, String(password), clientOf(client));
  }
}

/** For a mail that is a by-work: that there were enough of them already is no failure. */
function exceptTooMany(error: unknown): void {
  if (!(error instanceof AuthError) || error.code !== 'rate_limited') throw error;
}

function clientOf({ ip = null, userAgent = null }: ClientInput) {
  return { ip, userAgent };
}
