import { once } from '../context/once.js';
import type { Core } from '../core/core.js';
import { type ClientInput, requireKnownKeys, type TransactionOption } from '../sessions/request.js';
import { canonicalEmail, readEmail } from '../users/canonical.js';
import { EmailProof } from '../users/email-proof.js';
import type { NewFieldValues } from '../users/fields.js';
import type { Identifier, UserForAdmins } from '../users/record.js';
import { type UserInput, updateUser } from './change.js';
import { deleteUser, restoreAccount } from './deletion.js';
import { setEmail } from './email.js';
import { ensureUser } from './ensure.js';
import { readUsername, replacePassword, requirePasswords } from './passwords.js';
import { requireNewPassword } from './required-password.js';
// The names that this import declares are a part of the public types.
import './required-password.js';
// These files extend public types, whose declarations do not refer to them, so import them here.
import './deletion.js';
import './email.js';
import './ensure.js';
import './passwords.js';
import './reauthentication.js';

/** The input of `auth.users.create`. */
export interface CreateUserInput extends ClientInput {
  /** The email address. It is stored in canonical form. @default none */
  email?: string | null | undefined;
  /** Whether the app knows that the email is the user's. @default false */
  emailVerified?: boolean | undefined;
  /** The username, if usernames are enabled. @default none */
  username?: string | null | undefined;
  /** The password. @default none, so the user must sign in in another way, or reset it by email */
  password?: string | null | undefined;
  /** The password's hash from another system, in one of the formats that imports accept. @default none */
  passwordHash?: string | null | undefined;
  /** Accepts any password, such as one that another system has accepted. @default false */
  skipPasswordRules?: boolean | undefined;
  /** The values of the app's fields, including fields with `input: 'none'`. @default their defaults */
  fields?: NewFieldValues | undefined;
}

/** The result of `auth.users.ensure`. */
export interface EnsuredUser {
  readonly user: UserForAdmins;
  /** Whether the account was created by this call. */
  readonly created: boolean;
}

/** Who makes a change: the app, or a user on a page of the app's own. */
export interface ChangedByUser extends TransactionOption {
  /**
   * The session of the user, if the change is made on a page of your app's own. It must be fresh, and have shown the
   * second factor if the account has one. The user can then undo the change.
   * @default none: the change is your app's, and final: no link undoes it or anything before it
   */
  sessionId?: string | undefined;
}

/** Options of `auth.users.changeEmail`. */
export interface SetEmailOptions extends ChangedByUser {
  /** Whether the app knows that the email is the user's. @default false */
  verified?: boolean | undefined;
}

/** Options of `auth.users.delete`. */
export interface DeleteUserOptions extends TransactionOption {
  /** Deletes the account immediately, even if `accountDeletion` has a grace period. @default false */
  atOnce?: boolean | undefined;
}

/** Options of `auth.users.setPassword`. */
export interface SetUserPasswordOptions extends ChangedByUser {
  /** Keeps the user's sessions. @default false */
  keepSessions?: boolean | undefined;
  /** Accepts any password. @default false */
  skipPasswordRules?: boolean | undefined;
}

/** The keys that each call accepts. */
const KEYS = {
  create: [
    ...['email', 'emailVerified', 'username', 'password', 'passwordHash', 'skipPasswordRules', 'fields'],
    ...['request', 'ip', 'userAgent', 'transaction'],
  ],
  update: ['username', 'fields', 'transaction'],
  changeEmail: ['verified', 'sessionId', 'transaction'],
  setPassword: ['sessionId', 'keepSessions', 'skipPasswordRules', 'transaction'],
  delete: ['atOnce', 'transaction'],
} as const;

/**
 * `auth.users`: accounts, for the app's own code. These calls require no password and do not count against any limit.
 */
export class UsersApi {
  readonly #core: Core;

  /** @internal */
  constructor(core: Core) {
    this.#core = core;
  }

  /** Returns a user, with the fields that only administrators and code can see. Null if the user does not exist. */
  get(userId: string, { transaction }: TransactionOption = {}): Promise<UserForAdmins | null> {
    return this.#core.inTransaction(transaction, () => this.#core.users.find(userId));
  }

  /** Finds a user by email or username, in any spelling with the same canonical form. Null if no user has it. */
  async find(
    by: ({ email: string } | { username: string }) & TransactionOption,
  ): Promise<UserForAdmins | null> {
    const { users } = this.#core;
    const identifier = canonicalIdentifier(this.#core, by);
    if (!identifier) return null;
    return this.#core.inTransaction(by.transaction, async () => {
      const record = await users.findRecord(identifier);
      return record && users.find(record.user.id);
    });
  }

  /**
   * Creates an account, even if `signUp` is closed. If it has no password, the user signs in with a provider, or sets a
   * password with an emailed link.
   *
   * @throws AuthError `validation_failed` (422), `email_taken`, `username_taken` (409), and errors that hooks throw
   * @throws TypeError for a password if no plugin has passwords, and for unknown keys
   */
  async create(input: CreateUserInput): Promise<UserForAdmins> {
    const core = this.#core;
    requireKnownKeys('auth.users.create', input, KEYS.create);
    return core.forClient(input, async () => {
      const { email, name, emailProof } = this.#identifiersOf(input);
      const passwordHash = await this.#hashOf(input, [email, name.username]);
      const { user } = await core.signUp.create(
        { email, ...name, passwordHash, emailProof },
        { via: 'code', from: 'code', ...(input.fields && { fields: input.fields }) },
      );
      return (await this.get(user.id)) ?? (user as UserForAdmins);
    });
  }

  /**
   * Creates an account unless it exists, such as for seeds that run at each start. It finds the account that an earlier
   * call with this email has created (without an email, with this username), whatever has changed since, and otherwise
   * an account whose email is proven. It never changes an account. An account that was deleted is created again.
   *
   * @example
   * const { user, created } = await auth.users.ensure({ email: 'owner@example.com', emailVerified: true });
   *
   * @throws AuthError `email_unproven` (409) if another account has the email and nobody has proven that it is its
   *   user's; `username_taken` (409) if another account has the username; and like {@link create}
   * @throws TypeError for a password if no plugin has passwords, and for unknown keys
   */
  async ensure(input: CreateUserInput): Promise<EnsuredUser> {
    const core = this.#core;
    requireKnownKeys('auth.users.ensure', input, KEYS.create);
    return core.forClient(input, async () => {
      const { email, name, emailProof } = this.#identifiersOf(input);
      const { record, created } = await ensureUser(core, {
        ...{ email, ...name, fields: input.fields },
        rest: once(async () => ({
          emailProof,
          passwordHash: await this.#hashOf(input, [email, name.username]),
        })),
      });
      return { user: (await this.get(record.user.id)) ?? (record.user as UserForAdmins), created };
    });
  }

  /**
   * Changes a user's fields, including fields with `input: 'none'`, and their username; null removes the username.
   *
   * @throws AuthError `validation_failed`, `username_taken`, `user_not_found`, and errors that the app's hook throws
   * @throws TypeError for unknown keys
   */
  async update(userId: string, input: UserInput & TransactionOption): Promise<UserForAdmins> {
    const core = this.#core;
    requireKnownKeys('auth.users.update', input, KEYS.update);
    const { username, fields, transaction } = input;
    const record = await core.inTransaction(transaction, () =>
      updateUser(core, userId, null, { username, fields }, 'code'),
    );
    return core.users.forCode(record) as UserForAdmins;
  }

  /**
   * Changes a user's email, without asking the user. Links that were emailed to the old address stop working, and it
   * gets a notice; sessions continue. Unless `verified` is set, the new address is unverified, even if the old one was
   * verified.
   *
   * @throws AuthError `validation_failed`, `email_taken`, `user_not_found`, and errors that the app's hook throws; with
   *   `sessionId` also `invalid_session`, `reauthentication_required`, `second_factor_required`
   * @throws TypeError for unknown options
   */
  async changeEmail(userId: string, email: string, options: SetEmailOptions = {}): Promise<UserForAdmins> {
    const core = this.#core;
    requireKnownKeys('auth.users.changeEmail', options, KEYS.changeEmail);
    const { verified = false, sessionId = null, transaction } = options;
    const canonical = readEmail(email, '/email');
    const record = await core.inTransaction(transaction, () =>
      setEmail(core, userId, canonical, verified === true, sessionId),
    );
    return core.users.forCode(record) as UserForAdmins;
  }

  /**
   * Sets a user's password. It revokes the emailed links to choose a password, and every session unless `keepSessions`
   * is set.
   *
   * @throws AuthError `validation_failed`, `user_not_found`; with `sessionId` also `invalid_session`,
   *   `reauthentication_required`, `second_factor_required`
   * @throws TypeError if no plugin has passwords, and for unknown options
   */
  async setPassword(userId: string, password: string, options: SetUserPasswordOptions = {}): Promise<void> {
    requireKnownKeys('auth.users.setPassword', options, KEYS.setPassword);
    const { sessionId = null, keepSessions = false, skipPasswordRules: skipRules = false } = options;
    await this.#core.inTransaction(options.transaction, () =>
      replacePassword(this.#core, userId, password, { sessionId, keepSessions, skipRules }),
    );
  }

  /**
   * Requires a new password of a user, because an attacker might know the present one. Revokes all sessions. A sign-in with
   * the former password is rejected with `new_password_required`, and latchkey emails a link to choose another password. If
   * no link can be emailed to a verified address, the sign-in creates a session that can only choose another password. Does
   * nothing if the account has no password.
   *
   * @throws AuthError `user_not_found`
   */
  requireNewPassword(userId: string, { transaction }: TransactionOption = {}): Promise<void> {
    return this.#core.inTransaction(transaction, () => requireNewPassword(this.#core, userId, null));
  }

  /**
   * Deletes an account with everything that belongs to it. With `accountDeletion: { graceDays }`, its deletion is
   * pending for that many days first, unless `atOnce` is set.
   *
   * @throws AuthError `account_in_use` (409) if one of the app's rows refers to the account and prevents its deletion;
   *   `user_not_found`; and errors that the app's hook throws
   * @throws TypeError for unknown options
   */
  async delete(userId: string, options: DeleteUserOptions = {}): Promise<void> {
    requireKnownKeys('auth.users.delete', options, KEYS.delete);
    const { atOnce = false, transaction } = options;
    return this.#core.inTransaction(transaction, () =>
      deleteUser(this.#core, userId, null, { atOnce: atOnce === true }),
    );
  }

  /**
   * Restores an account whose deletion is pending: see `accountDeletion`. Does nothing to other accounts.
   *
   * @throws AuthError `user_not_found`
   */
  async restore(userId: string, { transaction }: TransactionOption = {}): Promise<UserForAdmins> {
    const core = this.#core;
    const record = await core.inTransaction(transaction, () => restoreAccount(core, userId));
    return core.users.forCode(record) as UserForAdmins;
  }

  #identifiersOf({ email: typed, username, emailVerified }: CreateUserInput) {
    const email = typed == null ? null : readEmail(typed, '/email');
    const name = username == null ? { username: null } : readUsername(this.#core, username);
    const emailProof = email !== null && emailVerified === true ? EmailProof.byApp : EmailProof.none;
    return { email, name, emailProof };
  }

  async #hashOf(
    { password = null, passwordHash = null, skipPasswordRules = false }: CreateUserInput,
    identifiers: readonly (string | null)[],
  ): Promise<string | null> {
    if (password !== null && passwordHash !== null)
      throw new TypeError('latchkey: auth.users.create: give password or passwordHash, not both');
    if (password !== null)
      return requirePasswords(this.#core, 'auth.users.create with password').hashGiven(
        password,
        identifiers,
        skipPasswordRules,
      );
    if (passwordHash !== null)
      return requirePasswords(this.#core, 'auth.users.create with passwordHash').checkHash(passwordHash);
    return null;
  }
}

function canonicalIdentifier(core: Core, by: { email?: unknown; username?: unknown }): Identifier | null {
  const { email, username } = by ?? {};
  if ((email == null) === (username == null))
    throw new TypeError('latchkey: auth.users.find: give email or username');
  const canonical = email == null ? core.usernames?.fold(username) : canonicalEmail(email);
  if (canonical == null) return null;
  return email == null ? { username: canonical } : { email: canonical };
}
