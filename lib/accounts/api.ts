import { once } from '../context/once.js';
import type { Core } from '../core/core.js';
import { endingWithObject } from '../known-keys.js';
import type { ClientInput, TransactionOption } from '../sessions/request.js';
import { canonicalEmail, readEmail } from '../users/canonical.js';
import { EmailProof } from '../users/email-proof.js';
import type { NewFieldValues } from '../users/fields.js';
import type { Identifier, UserForAdmins } from '../users/record.js';
import { UPDATE_BY_CODE, type UserInput, updateUser } from './change.js';
import { deleteUser, restoreAccount } from './deletion.js';
import { setEmail } from './email.js';
import { ensureUser } from './ensure.js';
import { KEYS_OF_LIST, type ListUsersOptions, listUsers, type UserPage } from './list.js';
import { readUsername, replacePassword, requirePasswords } from './passwords.js';
import { requireNewPassword } from './required-password.js';
// The names that this import declares are a part of the public types.
import './required-password.js';
// These files extend public types, whose declarations do not refer to them, so import them here.
import './deletion.js';
import './email.js';
import './ensure.js';
import '../notices/passwords.js';
import './reauthentication.js';

/** The input of `auth.users.create`. */
export interface CreateUserInput extends ClientInput {
  /** The email address. It is stored in canonical form. @default none */
  email?: string | null | undefined;
  /** Whether the app knows that the email is the user's. @default false */
  emailVerified?: boolean | undefined;
  /** The username, if usernames are enabled. @default none */
  username?: string | null | undefined;
  /** The password. @default none: the user needs another sign-in method, or sets a password with an emailed link */
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

/** Options of changes that either the app makes, or a user on the app's own page. */
export interface ChangedByUser extends TransactionOption {
  /**
   * The session of the user, if the user makes the change on your app's own page. It must be fresh and, if the account
   * has a second factor, verified with it. The user can then undo the change.
   * @default none: your app makes the change, which is final: no link can undo it or an earlier change
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

/** The keys of a new account. */
const OF_NEW_USER = [
  'email',
  'emailVerified',
  'username',
  'password',
  'passwordHash',
  'skipPasswordRules',
  'fields',
];

/**
 * `auth.users`: accounts, for the app's own code. These calls require no password and do not count against any limit.
 */
export class UsersApi {
  readonly #core: Core;

  /** @internal */
  constructor(core: Core) {
    this.#core = core;
    endingWithObject('auth.users', this);
  }

  /** Returns a user, with the fields that only administrators and code can see. Null if the user does not exist. */
  get(userId: string, options: TransactionOption = {}): Promise<UserForAdmins | null> {
    return this.#core.call('auth.users.get', options, [], () => this.#core.users.find(userId));
  }

  /** Finds a user by email or username, in any spelling with the same canonical form. Null if no user has it. */
  async find(
    by: ({ email: string } | { username: string }) & TransactionOption,
  ): Promise<UserForAdmins | null> {
    const { users } = this.#core;
    const identifier = canonicalIdentifier(this.#core, by);
    // The argument is often a whole person, with more than the identifier.
    return this.#core.inTransaction(by.transaction, async () => {
      if (!identifier) return null;
      const record = await users.findRecord(identifier);
      return record && users.find(record.user.id);
    });
  }

  /**
   * Lists users page by page, newest first.
   *
   * @throws AuthError `invalid_request` for an invalid limit or cursor
   * @throws TypeError for unknown options
   */
  async list(options: ListUsersOptions = {}): Promise<UserPage> {
    return this.#core.call('auth.users.list', options, KEYS_OF_LIST, () => listUsers(this.#core, options));
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
    return core.callByAnyone('auth.users.create', input, OF_NEW_USER, async () => {
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
   * Creates an account unless it exists, for example in seeds that run at each start. It finds the account that an
   * earlier call with this email (without an email, with this username) has created, even if the account has changed
   * since. Otherwise, it finds the account that has this email, if the email is proven. It never changes an account. It
   * re-creates an account that was deleted.
   *
   * @example
   * const { user, created } = await auth.users.ensure({ email: 'owner@example.com', emailVerified: true });
   *
   * @throws AuthError `email_unproven` (409) if an account has the email, but no one has proven that the email belongs
   *   to its user; `username_taken` (409) if another account has the username; and like {@link create}
   * @throws TypeError for a password if no plugin has passwords, and for unknown keys
   */
  async ensure(input: CreateUserInput): Promise<EnsuredUser> {
    const core = this.#core;
    return core.callByAnyone('auth.users.ensure', input, OF_NEW_USER, async () => {
      const { email, name, emailProof } = this.#identifiersOf(input);
      const { record, created } = await ensureUser(core, {
        email,
        ...name,
        fields: input.fields,
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
    const { username, fields } = input;
    const record = await core.call('auth.users.update', input, ['username', 'fields'], () =>
      updateUser(core, userId, { username, fields }, UPDATE_BY_CODE),
    );
    return core.users.forCode(record) as UserForAdmins;
  }

  /**
   * Changes a user's email, without asking the user. Links that were emailed to the old address stop working, and a
   * notice is sent to the old address. Sessions continue. Unless `verified` is set, the new address is unverified, even
   * if the old one was verified.
   *
   * @throws AuthError `validation_failed`, `email_taken`, `user_not_found`, and errors that the app's hook throws; with
   *   `sessionId` also `invalid_session`, `reauthentication_required`, `second_factor_required`
   * @throws TypeError for unknown options
   */
  async changeEmail(userId: string, email: string, options: SetEmailOptions = {}): Promise<UserForAdmins> {
    const core = this.#core;
    const { verified = false, sessionId = null } = options;
    const keys = ['verified', 'sessionId'];
    const record = await core.call('auth.users.changeEmail', options, keys, async () =>
      setEmail(core, userId, readEmail(email, '/email'), { verified: verified === true, sessionId }),
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
    const { sessionId = null, keepSessions = false, skipPasswordRules: skipRules = false } = options;
    const keys = ['sessionId', 'keepSessions', 'skipPasswordRules'];
    await this.#core.call('auth.users.setPassword', options, keys, () =>
      replacePassword(this.#core, userId, password, { sessionId, keepSessions, skipRules }),
    );
  }

  /**
   * Requires a user to choose a new password, because an attacker might know the current one. Revokes all sessions. A
   * sign-in with the current password is rejected with `new_password_required`, and latchkey emails a link to choose
   * another password. If no link can be emailed to a verified address, the sign-in creates a session that can only be
   * used to choose another password. Does nothing if the account has no password.
   *
   * @throws AuthError `user_not_found`
   */
  requireNewPassword(userId: string, options: TransactionOption = {}): Promise<void> {
    return this.#core.call('auth.users.requireNewPassword', options, [], () =>
      requireNewPassword(this.#core, userId, null),
    );
  }

  /**
   * Deletes an account with everything that belongs to it. With `accountDeletion: { graceDays }`, the deletion is
   * first pending for that many days, unless `atOnce` is set.
   *
   * @throws AuthError `account_in_use` (409) if one of the app's rows refers to the account and prevents its deletion;
   *   `user_not_found`; and errors that the app's hook throws
   * @throws TypeError for unknown options
   */
  async delete(userId: string, options: DeleteUserOptions = {}): Promise<void> {
    const { atOnce = false } = options;
    return this.#core.call('auth.users.delete', options, ['atOnce'], () =>
      deleteUser(this.#core, userId, null, { atOnce: atOnce === true }),
    );
  }

  /**
   * Restores an account whose deletion is pending: see `accountDeletion`. Does nothing to other accounts.
   *
   * @throws AuthError `user_not_found`
   */
  async restore(userId: string, options: TransactionOption = {}): Promise<UserForAdmins> {
    const core = this.#core;
    const record = await core.call('auth.users.restore', options, [], () => restoreAccount(core, userId));
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
      throw new TypeError('latchkey: auth.users.create: pass password or passwordHash, not both');
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
    throw new TypeError('latchkey: auth.users.find: pass email or username');
  const canonical = email == null ? core.usernames?.fold(username) : canonicalEmail(email);
  if (canonical == null) return null;
  return email == null ? { username: canonical } : { email: canonical };
}
