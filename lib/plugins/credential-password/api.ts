import { proveByPassword, reauthenticate } from '../../accounts/reauthentication.js';
import type { Core } from '../../core/core.js';
import { endingWithObject } from '../../known-keys.js';
import { attemptsFor, type PasswordCheck } from '../../sessions/password-check.js';
import type { ClientInput, TransactionOption } from '../../sessions/request.js';
import type { asksForCodes, IssuedSession, SignedIn, withSecondFactors } from '../../sessions/signed-in.js';
import type { User } from '../../tables/core.js';
import { canonicalEmail } from '../../users/canonical.js';
import type { Identifier } from '../../users/record.js';
import { UsernameRules } from '../../users/usernames.js';
import type { EmailVerification } from '../../verification/email-verification.js';
import type {
  ChangePasswordInput,
  ReauthenticateInput,
  RemovePasswordInput,
  RequestedReset,
  RequestedVerification,
  RequestPasswordResetInput,
  ResetPasswordInput,
  SendVerificationInput,
  SetPasswordInput,
  SignInInput,
  SignUpInput,
  VerifyEmailInput,
} from './inputs.js';
import type { Settings } from './options.js';
import type { PasswordChange } from './password-change.js';
import type { PasswordReset } from './password-reset.js';
import type { Registration, Registrations } from './registrations.js';
import type { ResetCodes } from './reset-codes.js';
import './declarations.js';

/** Features that need email. */
export interface ByMail {
  readonly verification: EmailVerification;
  readonly reset: PasswordReset;
  /** Null without `resetBy: 'code'`. */
  readonly resetCodes: ResetCodes | null;
}

interface CredentialServices {
  readonly check: PasswordCheck;
  readonly registrations: Registrations;
  readonly change: PasswordChange;
  /** Null if `email` is not configured. */
  readonly byMail: ByMail | null;
}

/** `auth.credential`: accounts with a password. */
export class CredentialApi<
  SignedUp = IssuedSession | { readonly user: User } | null,
  Input extends ClientInput & Registration = SignUpInput,
  Outcome extends SignedIn = IssuedSession,
  ResetRequested extends RequestedReset | undefined = undefined,
  VerificationRequested extends RequestedVerification | undefined = undefined,
  AsksForCodes extends boolean = false,
> {
  declare readonly [asksForCodes]?: AsksForCodes;
  declare readonly [withSecondFactors]?: CredentialApi<
    SignedUp,
    Input,
    SignedIn,
    ResetRequested,
    VerificationRequested,
    AsksForCodes
  >;
  readonly #core: Core;
  readonly #services: CredentialServices;
  readonly #settings: Settings;

  /** @internal */
  constructor(core: Core, parts: CredentialServices, settings: Settings) {
    this.#core = core;
    this.#services = parts;
    this.#settings = settings;
    endingWithObject('auth.credential', this);
  }

  /**
   * Creates an account, even with `signUp: 'closed'`. Fields with `input: 'none'` are accepted too, so do not pass on a
   * client's whole input.
   *
   * @returns the user; with `signInOnSignUp`, a new session; with `concealExistingEmails`, always null or, with
   *   `verifyEmailBy: 'code'`, the request that waits for the code
   * @throws AuthError `validation_failed` (422), `email_taken`, `username_taken` (409), `rate_limited` (429),
   *   `unavailable` (503); and the errors of hooks
   */
  signUp(input: Input): Promise<SignedUp> {
    const { registrations } = this.#services;
    return this.#core.callByAnyone(
      'auth.credential.signUp',
      input,
      ['email', 'password', 'username', 'fields'],
      async () => {
        const { outcome, requested } = await registrations.create(input, 'code');
        return (requested ?? outcome) as SignedUp;
      },
    );
  }

  /**
   * Signs a user in with a password. With a second factor or `unknownBrowser: 'code'`, the result can be a sign-in that
   * waits for a further step: see `auth.completeSignIn`.
   *
   * @throws AuthError `invalid_credentials` (401) for an unknown account, a wrong password or an account without one,
   *   and with `concealExistingEmails` for an account whose email is not verified; `email_not_verified` (403) with
   *   `requireVerifiedEmail`; `rate_limited` (429); `unavailable` (503)
   */
  signIn(input: SignInInput): Promise<Outcome> {
    const work = async () => {
      const { identifier, ...named } = this.#identify(String(input.credential));
      const found = identifier && (await this.#core.users.findRecord(identifier));
      const record = found && this.#isConcealed(found.user) ? null : found;
      const options = { remembered: input.rememberMe === true };
      return this.#services.check.verify(record, named, String(input.password), (proved) =>
        this.#core.signIn({ ...proved, amr: ['pwd'] }, options),
      );
    };
    return this.#core.callByAnyone(
      'auth.credential.signIn',
      input,
      ['credential', 'password', 'rememberMe'],
      () => this.#core.countSignIn('password', work),
    ) as Promise<Outcome>;
  }

  /**
   * Returns whether a username is available.
   *
   * @throws AuthError `validation_failed` if it is not allowed; `rate_limited`
   */
  async usernameAvailable(username: string, options: TransactionOption = {}): Promise<boolean> {
    const { username: allowed } = this.#usernames.check(username);
    return this.#core.call('auth.credential.usernameAvailable', options, [], async () => {
      await this.#core.limiter.countAddress('usernameCheck');
      return !(await this.#core.users.isUsernameTaken(allowed));
    });
  }

  /**
   * Changes a user's password. The session of `sessionId` continues with a new token, and all others are revoked.
   *
   * @throws AuthError `invalid_credentials`, `invalid_session`, `validation_failed`, `rate_limited`, `user_not_found`
   */
  changePassword(input: ChangePasswordInput): Promise<Outcome> {
    return this.#core.callFor(
      'auth.credential.changePassword',
      input,
      ['userId', 'sessionId', 'currentPassword', 'newPassword'],
      async () => {
        const { userId, currentPassword } = input;
        const known = await this.#core.users.require(userId);
        const record = await this.#services.check.verifyOwn(known, String(currentPassword), 'change');
        return (await this.#services.change.change(record, input.sessionId, input.newPassword)) as Outcome;
      },
    );
  }

  /**
   * Sets the password of an account that has none. With `sessionId`, it asks for a recent sign-in, like PUT /passwords.
   *
   * @throws AuthError `password_already_set`, `validation_failed`, `user_not_found`, `rate_limited`; with `sessionId`
   *   also `invalid_session`, `second_factor_required`, `reauthentication_required`
   */
  setPassword(input: SetPasswordInput): Promise<void> {
    return this.#core.callFor(
      'auth.credential.setPassword',
      input,
      ['userId', 'sessionId', 'newPassword'],
      async () =>
        this.#services.change.set(
          await this.#core.users.require(input.userId),
          input.sessionId ?? null,
          input.newPassword,
        ),
    );
  }

  /**
   * Removes the password of an account that has another sign-in method. The session of `sessionId` continues with a new
   * token, and all others are revoked.
   *
   * @returns the session, or null without `sessionId`
   * @throws AuthError `password_not_set`, `user_not_found` (404); `last_sign_in_method` (409); with `sessionId` also
   *   `invalid_session` (401), `second_factor_required`, `reauthentication_required` (403)
   */
  removePassword(input: RemovePasswordInput): Promise<IssuedSession | null> {
    return this.#core.callFor('auth.credential.removePassword', input, ['userId', 'sessionId'], () =>
      this.#services.change.remove(input.userId, input.sessionId ?? null),
    );
  }

  /**
   * Reauthenticates a session's user. A password is not enough if the account has a second factor: see POST
   * /reauthenticate. While a user must set up a second factor, it is not enough in a browser that the account does not know.
   *
   * @throws AuthError `invalid_credentials` (401), `second_factor_required`, `reauthentication_required` (403),
   *   `user_not_found` (404), `rate_limited` (429)
   */
  reauthenticate(input: ReauthenticateInput): Promise<void> {
    const { userId, sessionId, password } = input;
    return this.#core.callFor(
      'auth.credential.reauthenticate',
      input,
      ['userId', 'sessionId', 'password'],
      async () => {
        await reauthenticate(this.#core, { userId, sessionId, aal: 1 }, (record) =>
          proveByPassword(this.#core, record, String(password), { aal: 1 }),
        );
      },
    );
  }

  /**
   * Emails a verification link or, with `verifyEmailBy: 'code'`, a code for the session of `sessionId`, unless access to the
   * mailbox is proven. Asking again emails the same code, at most three times.
   *
   * @returns when the code expires, with `verifyEmailBy: 'code'`
   * @throws AuthError `user_not_found`, `rate_limited`
   */
  sendVerification(input: SendVerificationInput): Promise<VerificationRequested> {
    const { userId, sessionId } = input;
    const keys = ['userId', 'sessionId'];
    return this.#core.callFor('auth.credential.sendVerification', input, keys, async () => {
      const { verification } = this.#byMail;
      const { codes } = verification;
      const { user } = await this.#core.users.require(userId);
      if (!codes) return (await verification.request(user)) as VerificationRequested;
      if (sessionId === undefined)
        throw new TypeError('latchkey: auth.credential.sendVerification requires the sessionId of the code');
      return { expiresAt: await codes.request({ user, sessionId }) } as VerificationRequested;
    });
  }

  /**
   * Redeems a verification link or code. A link also requires a session of its user, or their password; with `verifyEmailBy:
   * 'link'` and `request`, the browser in which the account was created is enough. A code requires the session that asked
   * for it or, after a concealed sign-up, its `pendingToken`.
   *
   * @throws AuthError `invalid_token` (400), `unauthenticated`, `invalid_credentials` (401) for a link; `invalid_code`,
   *   `code_expired`, `invalid_session` (401) for a code; `rate_limited` (429)
   */
  verifyEmail(input: VerifyEmailInput): Promise<User> {
    const { token, code, pendingToken, userId, sessionId, sessionUserId = null, password } = input;
    const keys = ['token', 'code', 'pendingToken', 'userId', 'sessionId', 'sessionUserId', 'password'];
    return this.#core.callByAnyone('auth.credential.verifyEmail', input, keys, async () => {
      const { verification } = this.#byMail;
      if (verification.codes) {
        if (code === undefined) throw new TypeError('latchkey: auth.credential.verifyEmail requires a code');
        if (userId === undefined && this.#settings.concealExistingEmails)
          return (await verification.codes.verifySignUp(String(code), pendingToken)).user;
        if (userId === undefined || sessionId === undefined)
          throw new TypeError('latchkey: auth.credential.verifyEmail requires userId and sessionId');
        const { user } = await this.#core.users.require(userId);
        return (await verification.codes.verify({ user, sessionId }, String(code))).user;
      }
      if (token === undefined) throw new TypeError('latchkey: auth.credential.verifyEmail requires a token');
      const own = await this.#core.ownBrowser.confirmed(sessionUserId);
      return (await verification.verify(token, { sessionUserId: own, password })).user;
    });
  }

  /**
   * Emails a link or, with `resetBy: 'code'`, a code for a new password if the account exists, without revealing whether it
   * does. With `request`, a browser that asks for the same address again gets the same code, at most three times.
   *
   * @returns the request that waits for the code, with `resetBy: 'code'`
   * @throws AuthError `rate_limited`
   */
  requestPasswordReset(input: RequestPasswordResetInput): Promise<ResetRequested> {
    return this.#core.callByAnyone('auth.credential.requestPasswordReset', input, ['email'], async () => {
      const { reset, resetCodes } = this.#byMail;
      const requested = resetCodes ? await resetCodes.request(input.email) : await reset.request(input.email);
      return requested as ResetRequested;
    });
  }

  /**
   * Redeems a reset link or code, and revokes all sessions of the user.
   *
   * @throws AuthError `invalid_token` (400) for a link; `invalid_code`, `code_expired` (401) for a code;
   *   `validation_failed` (422); `rate_limited` (429); and the errors of account checks, such as `account_suspended` (403)
   */
  resetPassword(input: ResetPasswordInput): Promise<void> {
    const { token, code, pendingToken, newPassword, sessionUserId = null } = input;
    const keys = ['token', 'code', 'pendingToken', 'newPassword', 'sessionUserId'];
    return this.#core.callByAnyone('auth.credential.resetPassword', input, keys, async () => {
      const { reset, resetCodes } = this.#byMail;
      const by = { sessionUserId: await this.#core.ownBrowser.confirmed(sessionUserId) };
      if ((token === undefined) === (code === undefined))
        throw new TypeError('latchkey: auth.credential.resetPassword requires either a code or a token');
      if (token !== undefined) await reset.reset(token, newPassword, by);
      else if (resetCodes) await resetCodes.choose({ code: String(code), newPassword, pendingToken, ...by });
      else throw new TypeError("latchkey: a code requires credentialPassword({ resetBy: 'code' })");
    });
  }

  get #usernames() {
    return this.#settings.usernames ?? new UsernameRules();
  }

  get #byMail() {
    const { byMail } = this.#services;
    if (!byMail) throw new TypeError('latchkey: this requires email: { send } in the config');
    return byMail;
  }

  /**
   * Whether a sign-in must not reveal that the account exists. Only emails reveal that a sign-up created it, but the
   * client that signed up knows the password and could try it.
   */
  #isConcealed({ email, emailVerifiedAt }: User): boolean {
    return this.#settings.concealExistingEmails && email !== null && emailVerifiedAt === null;
  }

  /** Returns the account that a credential refers to, its email, and a key for counting the attempts. */
  #identify(credential: string): {
    readonly identifier: Identifier | null;
    readonly name: string;
    readonly email: string | null;
  } {
    const email = canonicalEmail(credential);
    if (email) return { identifier: { email }, name: attemptsFor({ email }), email };
    const username = this.#settings.usernames?.fold(credential);
    if (username) return { identifier: { username }, name: attemptsFor({ username }), email };
    return { identifier: null, name: `other ${credential}`, email };
  }
}
