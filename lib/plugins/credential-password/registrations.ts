import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { uuidv7 } from '../../crypto/uuid.js';
import { AuthError, errorsOf, type GivenFieldError, invalidField } from '../../errors.js';
import type { NewEntry } from '../../outbox/rows.js';
import { say } from '../../phrases.js';
import { type IssuedSession, isPending, type SignedIn } from '../../sessions/signed-in.js';
import type { User } from '../../tables/core.js';
import { canonicalEmail, emailFault } from '../../users/canonical.js';
import type { FieldSource, FieldValues } from '../../users/fields.js';
import { isHeld } from '../../users/held-emails.js';
import type { Passwords } from '../../users/passwords.js';
import type { NewUser, UserRecord } from '../../users/record.js';
import type { Awaited } from '../../waiting/emailed-requests.js';
import type { SignUpInput } from './inputs.js';
import type { Settings } from './options.js';

/** Stands in for the id of a user who was not created. */
const NOBODY = '';

/** The values of a sign-up, with any `identifier`. */
export type Registration = Pick<SignUpInput, 'password' | 'username' | 'fields'> & {
  readonly email?: string | undefined;
};

/** The result of a sign-up. */
export interface SignedUp {
  /** The user; with `signInOnSignUp`, the sign-in; with `concealExistingEmails`, always null. */
  readonly outcome: SignedIn | { readonly user: User } | null;
  /** The value for the browser's device cookie. Null if the cookie does not change, or if the session sets it. */
  readonly device: string | null;
  /** The request that waits for the code of a concealed sign-up. Null without one. */
  readonly requested: Awaited | null;
}

/** A new account, or none. */
interface Made {
  /** Null if the email is taken and this must not be revealed. */
  readonly created: UserRecord | null;
  readonly requested: Awaited | null;
}

/** A valid registration, with identifiers in canonical form. */
interface Checked {
  readonly email: string | null;
  readonly username: string | null;
  readonly usernameDisplay: string | null;
  readonly password: string;
  readonly fields: FieldValues;
}

/** Creates accounts with a password. */
export class Registrations {
  constructor(
    private readonly core: Core,
    private readonly passwords: Passwords,
    private readonly settings: Settings,
  ) {}

  /**
   * @param via `credential` for a request to the route, which might be closed; `code` for the app's own code
   * @throws AuthError `sign_up_refused`, `validation_failed`, `email_taken`, `username_taken`, `rate_limited`
   */
  async create(registration: Registration, via: 'credential' | 'code'): Promise<SignedUp> {
    const { core, settings } = this;
    // Check this first, so that the response is the same for every email, and no password is hashed.
    await core.signUp.requireOpen(via, null);
    this.#checkKeys(registration);
    await core.limiter.countAddress('signUp');
    if (settings.mailsOnSignUp && core.mails) await core.limiter.countAddress('mailAddress');
    const from = via === 'code' ? 'code' : 'user';
    const checked = await this.#check(registration, from);
    await core.context.client.checkpoint?.({ email: checked.email, createsAccount: true });
    await this.passwords.rules.checkBreach(checked.password, '/password');
    const { created, requested } = await this.#createUser(checked, via, from);
    if (created && settings.signInOnSignUp) {
      const signedIn = await core.countSignIn('sign_up', () =>
        core.signIn({ ...created, amr: ['pwd'] }, { isSignUp: true }),
      );
      if (settings.mailsOnSignUp && !isPending(signedIn)) await this.#mailCode(signedIn);
      return { outcome: signedIn, device: null, requested };
    }
    // A call of the app's own code cannot set a cookie.
    const device = via === 'code' ? null : await this.#remembered(created?.user.id ?? null);
    const outcome = created && !settings.concealExistingEmails ? { user: created.user } : null;
    return { outcome, device, requested };
  }

  /**
   * Checks a registration of someone who has proven access to the mailbox, and hashes the password, for a plugin that creates
   * the account in a transaction of its own.
   *
   * @throws AuthError `validation_failed`, `rate_limited`
   */
  async prepare(registration: Registration): Promise<{ person: NewUser; fields: FieldValues }> {
    await this.core.limiter.countAddress('signUp');
    const checked = await this.#check(registration, 'user');
    const { email, username, usernameDisplay, password, fields } = checked;
    await this.passwords.rules.checkBreach(password, '/password');
    const passwordHash = await this.passwords.hasher.hash(password);
    const id = uuidv7(this.core.database.clock.now());
    return { person: { id, email, username, usernameDisplay, passwordHash }, fields };
  }

  /** Emails a code for a new session. The account was created, so an error here must not fail the call. */
  async #mailCode({ user, session }: IssuedSession): Promise<void> {
    try {
      await this.core.emailVerification?.codes?.mail({ user, sessionId: session.id }, true);
    } catch (error) {
      this.core.settings.log.warn('sign_up.not_mailed', 'the code of a sign-up could not be emailed', {
        err: error,
      });
    }
  }

  /** Remembers the browser. The account was created, so an error here must not fail the call. */
  async #remembered(userId: string | null): Promise<string | null> {
    try {
      return await this.core.devices.signedUp(userId);
    } catch (error) {
      this.core.settings.log.warn(
        'sign_up.not_remembered',
        'the browser of a sign-up could not be remembered',
        {
          err: error,
        },
      );
      return null;
    }
  }

  #checkKeys({ email, username }: Registration): void {
    const { identifier, usernames } = this.settings;
    if (email !== undefined && identifier === 'username')
      throw invalidField('/email', 'unknown_key', say('email-not-accepted'));
    if (username !== undefined && !usernames)
      throw invalidField('/username', 'unknown_key', say('username-not-accepted'));
  }

  /** Checks everything but a data breach. @throws AuthError `validation_failed` with all errors */
  async #check(registration: Registration, from: FieldSource): Promise<Checked> {
    const errors = await this.faultsOf(registration, from);
    if (errors.length > 0) throw new AuthError('validation_failed', { errors });
    const { password, fields = {} } = registration;
    const email = canonicalEmail(registration.email);
    const { usernames } = this.settings;
    const username = usernames?.canonical(registration.username) ?? null;
    const usernameDisplay =
      username && usernames ? usernames.lettersOf(username, registration.username) : null;
    return { email, username, usernameDisplay, password, fields };
  }

  /** Returns all errors of a registration, except a data breach. Its values can have any type. */
  async faultsOf(registration: Registration, from: FieldSource): Promise<readonly GivenFieldError[]> {
    const { usernames } = this.settings;
    const email = canonicalEmail(registration.email);
    const username = usernames?.canonical(registration.username) ?? null;
    const errors = this.#missing(registration);
    if (registration.email !== undefined && email === null)
      errors.push({
        pointer: '/email',
        code: 'invalid_email',
        detail: emailFault(registration.email),
      });
    if (registration.username !== undefined && username === null)
      errors.push({
        pointer: '/username',
        code: 'invalid_username',
        detail: usernames?.detail ?? '',
      });
    const { password }: Partial<Registration> = registration;
    const fault =
      password === undefined
        ? { code: 'required', detail: say('required') }
        : await this.passwords.rules.faultOf(password, [email, username]);
    if (fault) errors.push({ pointer: '/password', ...fault });
    const { fields } = this.core.users;
    return [
      ...errors,
      ...errorsOf(() => {
        fields.read(registration.fields ?? {}, from, 'create');
      }),
    ];
  }

  /** Returns an error for each missing identifier. */
  #missing({ email, username }: Registration): GivenFieldError[] {
    const { identifier } = this.settings;
    if (identifier === 'either') {
      if (email !== undefined || username !== undefined) return [];
      const missing = { code: 'required', detail: say('enter-identifier') };
      return ['/email', '/username'].map((pointer) => ({ pointer, ...missing }));
    }
    const value = identifier === 'email' ? email : username;
    return value === undefined
      ? [{ pointer: `/${identifier}`, code: 'required', detail: say('required') }]
      : [];
  }

  async #createUser(
    { email, username, usernameDisplay, password, fields }: Checked,
    via: 'credential' | 'code',
    from: FieldSource,
  ): Promise<Made> {
    const { users, signUp } = this.core;
    const conceals = this.settings.concealExistingEmails;
    // Check the username first, because its error would otherwise reveal that the email is not taken.
    if (conceals && username && (await users.isUsernameTaken(username)))
      throw new AuthError('username_taken');
    const passwordHash = await this.passwords.hasher.hash(password);
    let requested: Awaited | null = null;
    let isInserted = false;
    const onInserted = () => {
      isInserted = true;
    };
    try {
      const alongside = async ({ user }: UserRecord, transaction: Transaction) => {
        requested = await this.#mail(user, transaction);
      };
      const context = { via, from, fields, onInserted, alongside };
      const created = await signUp.create({ email, username, usernameDisplay, passwordHash }, context);
      return { created, requested };
    } catch (error) {
      if (conceals && isInserted && !isPassing(error)) {
        this.#logRefusal(error);
        return { created: null, requested: await this.#requestFor(email, null) };
      }
      if (!conceals || !(error instanceof AuthError) || error.code !== 'email_taken') throw error;
      // Creating an account also looks up held emails and writes an event, so this does the same.
      if (!isHeld(error)) await this.core.held.pretend(email);
      const beside = this.core.events.pretended('user.created');
      return { created: null, requested: await this.#mailOutcome(email, null, { beside }) };
    }
  }

  /**
   * Conceals the app's refusal. It concerns only a new account, so its error would reveal that the email is not taken.
   */
  #logRefusal(error: unknown): void {
    this.core.settings.log.warn(
      'sign_up.refusal_concealed',
      'a sign-up was refused by a hook or the table of user.model, which concealExistingEmails keeps secret. Refuse it in hooks.beforeCreateUser instead',
      { err: error },
    );
  }

  async #mail(user: User, transaction: Transaction): Promise<Awaited | null> {
    if (!this.settings.mailsOnSignUp) return null;
    if (this.settings.concealExistingEmails) return this.#mailOutcome(user.email, user.id, { transaction });
    await this.core.emailVerification?.mailSignUp(user, transaction);
    return null;
  }

  /**
   * Emails the outcome of a concealed sign-up. The SQL statements are the same whether it created the account or not.
   *
   * @returns the request that waits for the code. Null if the email contains a link
   */
  async #mailOutcome(
    email: string | null,
    createdId: string | null,
    options: { readonly beside?: readonly NewEntry[]; readonly transaction?: Transaction },
  ): Promise<Awaited | null> {
    const { mails, emailVerification, passwordLinks } = this.core;
    if (!mails || !emailVerification || !passwordLinks) return null;
    if (emailVerification.codes) return this.#requestFor(email, createdId, options);
    if (email === null) return null;
    const links = [
      { userId: createdId ?? NOBODY, link: emailVerification.link },
      { userId: null, link: passwordLinks.existing },
    ];
    await mails.oneOf(email, links, { asked: { ...this.core.asked(false), signsUp: true }, ...options });
    return null;
  }

  /** Emails the code of a concealed sign-up. @returns null if emails contain links */
  async #requestFor(
    email: string | null,
    created: string | null,
    options: { readonly beside?: readonly NewEntry[]; readonly transaction?: Transaction } = {},
  ): Promise<Awaited | null> {
    return this.core.emailVerification?.codes?.signUp({ email, created, ...options }) ?? null;
  }
}

/** Whether an error is temporary, or is about an email that is held, so that it does not depend on the app's refusal. */
function isPassing(error: unknown): boolean {
  return error instanceof AuthError && (error.code === 'unavailable' || error.code === 'email_taken');
}
