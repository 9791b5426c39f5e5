import type { Transaction } from 'sequelize';
import { KEYS_OF_LIST, type ListUsersOptions, listUsers, type UserPage } from '../../accounts/list.js';
import { readUsername, requirePasswords } from '../../accounts/passwords.js';
import { BY_CODE, type Core } from '../../core/core.js';
import { AuthError, errorsOf, type FieldError, invalidField } from '../../errors.js';
import { endingWithObject } from '../../known-keys.js';
import type { ClientInput, TransactionOption } from '../../sessions/request.js';
import type { Session, User } from '../../tables/core.js';
import type { NewFieldValues } from '../../users/fields.js';
import type { UserForAdmins, UserRecord } from '../../users/record.js';
import './declarations.js';
import { UPDATE_BY_CODE, updateUser as update } from '../../accounts/change.js';
import { deleteUser } from '../../accounts/deletion.js';
import { say } from '../../phrases.js';
import { readEmail } from '../../users/canonical.js';
import { byAdministrator } from '../../verification/password-links.js';

declare module '../../config/hooks.js' {
  interface CreatedVias {
    /** An administrator. */
    admin: unknown;
  }
}

/** Options of operations that change a user. */
export interface AdminCallOptions extends TransactionOption {
  /** The id of the administrator who makes the change, for the event. @default null: the app itself */
  adminId?: string | null;
}

/** The input of `auth.admin.createUser`: an email, a username, or both. */
export interface CreateUserByAdminInput extends ClientInput, AdminCallOptions {
  /** The email. If `email` is configured, an invitation is sent to it. @default none */
  email?: string | null | undefined;
  /** The username, if usernames are enabled. @default none */
  username?: string | null | undefined;
  /** The values of the app's fields, including those with `input: 'none'`. @default their defaults */
  fields?: NewFieldValues | undefined;
}

/** The input of `auth.admin.updateUser`. Omitted values stay unchanged. */
export interface UpdateUserByAdminInput extends ClientInput, AdminCallOptions {
  /** The new username, if usernames are enabled. @default unchanged */
  username?: string | undefined;
  /** New values of the app's fields, including those with `input: 'none'`. @default unchanged */
  fields?: Readonly<Record<string, unknown>> | undefined;
}

/** `auth.admin`: administration of users. */
export class AdminApi {
  readonly #core: Core;

  /** @internal */
  constructor(core: Core) {
    this.#core = core;
    endingWithObject('auth.admin', this);
  }

  /**
   * Returns whether a user is currently an administrator, for example to decide whether to show a link. To protect a
   * route, use `requireAdmin`.
   */
  isAdministrator(user: User): boolean {
    return this.#core.isAdministrator(user);
  }

  /** Lists users page by page, newest first. @throws AuthError `invalid_request` for an invalid limit or cursor */
  listUsers(options: ListUsersOptions = {}): Promise<UserPage> {
    return this.#core.call('auth.admin.listUsers', options, KEYS_OF_LIST, () =>
      listUsers(this.#core, options),
    );
  }

  /** Finds a user. @throws AuthError `user_not_found` */
  async getUser(userId: string, options: TransactionOption = {}): Promise<UserForAdmins> {
    const user = await this.#core.call('auth.admin.getUser', options, [], () =>
      this.#core.users.find(userId),
    );
    if (!user) throw new AuthError('user_not_found');
    return user;
  }

  /**
   * Creates a user without a password. If `email` is configured, a link to choose one is sent to the user.
   *
   * @throws AuthError `validation_failed` (422), `email_taken`, `username_taken` (409), and the errors of hooks
   */
  createUser(input: CreateUserByAdminInput): Promise<UserForAdmins> {
    return this.#core.callByAnyone(
      'auth.admin.createUser',
      input,
      ['email', 'username', 'fields', 'adminId'],
      () => createUser(this.#core, input),
    );
  }

  /**
   * Changes the username and fields of a user.
   *
   * @throws AuthError `user_not_found` (404), `username_taken` (409), `validation_failed` (422), and the errors of
   *   hooks
   */
  updateUser(userId: string, input: UpdateUserByAdminInput): Promise<UserForAdmins> {
    return this.#core.callFor('auth.admin.updateUser', input, ['username', 'fields', 'adminId'], () =>
      updateUser(this.#core, userId, input),
    );
  }

  /**
   * Deletes a user with everything that belongs to them.
   *
   * @throws AuthError `user_not_found` (404); `account_in_use` (409) if one of the app's rows refers to the user and
   *   cannot be deleted; `own_account` (409) if `adminId` is the user; and the errors of hooks
   */
  deleteUser(userId: string, options: AdminCallOptions = {}): Promise<void> {
    return this.#core.call('auth.admin.deleteUser', options, ['adminId'], () =>
      removeUser(this.#core, userId, options),
    );
  }

  /**
   * Emails a user a link to choose a new password. The current one, if any, stays valid until then.
   *
   * @throws AuthError `user_not_found` (404), `email_missing` (409), `rate_limited` (429)
   * @throws TypeError if passwords or `email` are not configured
   */
  sendPasswordReset(userId: string, options: AdminCallOptions = {}): Promise<void> {
    return this.#core.call('auth.admin.sendPasswordReset', options, ['adminId'], () =>
      sendPasswordReset(this.#core, userId, options),
    );
  }

  /** Lists a user's active sessions, newest first. @throws AuthError `user_not_found` */
  listUserSessions(userId: string, options: TransactionOption = {}): Promise<Session[]> {
    return this.#core.call('auth.admin.listUserSessions', options, [], async () => {
      const { user } = await this.#core.users.require(userId);
      const sessions = await this.#core.sessions.list(userId);
      return sessions.map((one) => this.#core.tasks.of(user, one));
    });
  }

  /** Revokes one session of a user. @throws AuthError `session_not_found` (404) */
  revokeUserSession(userId: string, sessionId: string, options: AdminCallOptions = {}): Promise<void> {
    const { adminId = null } = options;
    const { database, sessions, events } = this.#core;
    const revoke = async (within: Transaction) => {
      if (!(await sessions.revoke(userId, sessionId, within)))
        throw new AuthError('session_not_found', { detail: say('no-such-session-of-user') });
      events.emit('admin.session_revoked', { userId, sessionId, adminId }, within);
    };
    return this.#core.call('auth.admin.revokeUserSession', options, ['adminId'], () =>
      database.transaction(revoke),
    );
  }

  /**
   * Revokes all sessions of a user, and every sign-in in progress. The password does not change.
   *
   * @returns the number of active sessions
   * @throws AuthError `user_not_found`
   */
  revokeUserSessions(userId: string, options: AdminCallOptions = {}): Promise<number> {
    const { adminId = null } = options;
    const { database, sessions, events } = this.#core;
    return this.#core.call('auth.admin.revokeUserSessions', options, ['adminId'], async () => {
      await this.getUser(userId);
      return database.transaction(async (within) => {
        const revoked = await sessions.endAll(userId, within);
        events.emit('admin.sessions_revoked', { userId, adminId }, within);
        return revoked;
      });
    });
  }
}

/** Creates a user without a password, and invites them to choose one. @throws AuthError */
export async function createUser(core: Core, input: CreateUserByAdminInput): Promise<UserForAdmins> {
  const { adminId = null, fields } = input;
  const errors = faultsOfNewUser(core, input);
  if (errors.length > 0) throw new AuthError('validation_failed', { errors });
  const email = input.email == null ? null : readEmail(input.email, '/email');
  const name = input.username == null ? { username: null } : readUsername(core, input.username);
  const alongside = async ({ user }: UserRecord, transaction: Transaction) => {
    core.events.emit('admin.user_created', { userId: user.id, adminId }, transaction);
    await core.passwordLinks?.mailInvitation(user, transaction);
  };
  const record = await core.signUp.create(
    { email, ...name, passwordHash: null },
    { via: 'admin', from: 'code', ...(fields && { fields }), alongside },
  );
  return core.users.forCode(record);
}

/** Returns the errors of the values of a new user, which can have any type. */
export function faultsOfNewUser(
  core: Core,
  { email, username, fields = {} }: CreateUserByAdminInput,
): readonly FieldError[] {
  return errorsOf(
    () => {
      if (email == null && username == null)
        throw invalidField('/email', 'required', say('user-without-identifier'));
    },
    () => {
      if (email != null) readEmail(email, '/email');
    },
    () => {
      if (username != null) readUsername(core, username);
    },
    () => {
      core.users.fields.read(fields, 'code', 'create');
    },
  );
}

/** Changes fields and the username of a user. @throws AuthError */
export async function updateUser(
  core: Core,
  userId: string,
  { adminId = null, username, fields }: UpdateUserByAdminInput,
): Promise<UserForAdmins> {
  const alongside = (transaction: Transaction) =>
    core.events.emit('admin.user_updated', { userId, adminId }, transaction);
  const record = await update(core, userId, { username, fields }, { ...UPDATE_BY_CODE, alongside });
  return core.users.forCode(record);
}

/** Deletes a user. @throws AuthError */
async function removeUser(core: Core, userId: string, { adminId = null }: AdminCallOptions): Promise<void> {
  if (adminId === userId) throw new AuthError('own_account');
  await deleteUser(core, userId, null, {
    alongside: (transaction) => core.events.emit('admin.user_deleted', { userId, adminId }, transaction),
  });
}

/** Emails a user a reset link. @throws AuthError */
export async function sendPasswordReset(
  core: Core,
  userId: string,
  { adminId = null }: AdminCallOptions,
): Promise<void> {
  requirePasswords(core, 'auth.admin.sendPasswordReset');
  const { passwordLinks } = core;
  if (!passwordLinks) throw new TypeError('latchkey: this requires email: { send } in the config');
  const user = await core.users.find(userId);
  if (!user) throw new AuthError('user_not_found');
  if (user.email === null) throw new AuthError('email_missing');
  const mail = byAdministrator(core.settings.email?.look.appName ?? null);
  // Count these emails separately, because strangers can use up the limit for the emails that they request.
  await core.limiter.countAccount('mail', user.id, 'admin');
  await core.change(userId, BY_CODE, async ({ user: locked }, transaction) => {
    if (locked.email === null) throw new AuthError('email_missing');
    // A call by the app's own code is not a request, so these emails are not held.
    const asked = adminId === null ? null : { ...core.asked(false), byAdmin: true };
    await passwordLinks.mailReset(locked, transaction, { mail, asked });
    core.events.emit('admin.password_reset_sent', { userId, adminId }, transaction);
  });
}
