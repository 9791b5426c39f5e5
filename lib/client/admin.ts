import type { ChangingCode, FreshCode, ReadingCode } from './codes.js';
import type { SignInMethods } from './core.js';
import type { Page, Session, User } from './resources.js';
import type { Call, CallOptions } from './result.js';
import type { AnyShape } from './shape.js';

/** A user as administrators see them, with the fields that only they see. */
export type UserForAdmins<S extends AnyShape> = User<S> & {
  /** Present with `suspension()`. */
  readonly suspended_at?: string | null;
  readonly suspended_until?: string | null;
  readonly suspension_reason?: string | null;
  readonly [field: string]: unknown;
};

/**
 * The values that administrators can set: the username and fields, including fields that users cannot set themselves.
 */
export interface UserInput {
  username?: string;
  [field: string]: unknown;
}

type Reads = ReadingCode | 'admin_required' | 'invalid_request' | 'task_required';
type Changes = FreshCode | 'admin_required' | 'task_required';
type Ends = ChangingCode | 'admin_required' | 'task_required';
type OneUser<S extends AnyShape> = { readonly user: UserForAdmins<S> };

/** The routes of `admin()`, for administrators. */
export interface AdminClient<S extends AnyShape> {
  /** Lists users, newest first. */
  listUsers(
    input?: Page & { search?: string },
    options?: CallOptions,
  ): Call<{ readonly users: readonly UserForAdmins<S>[]; readonly next_cursor: string | null }, Reads>;
  /** Creates a user without a password. With an email, an invitation to choose one is sent. */
  createUser(
    input: UserInput & S['newFields'] & { email?: string },
    options?: CallOptions,
  ): Call<OneUser<S>, Changes | 'email_taken' | 'username_taken'>;
  /** Gets a user and the user's sign-in methods. */
  getUser(
    id: string,
    options?: CallOptions,
  ): Call<
    OneUser<S> & { readonly sign_in_methods: SignInMethods; readonly second_factor?: boolean },
    Reads | 'user_not_found'
  >;
  /** Changes the username and fields of a user. */
  updateUser(
    id: string,
    input: UserInput & Partial<S['newFields']>,
    options?: CallOptions,
  ): Call<OneUser<S>, Changes | 'user_not_found' | 'username_taken'>;
  /** Deletes a user. */
  deleteUser(
    id: string,
    options?: CallOptions,
  ): Call<null, Changes | 'account_in_use' | 'own_account' | 'user_not_found'>;
  /** Emails a user a link to choose a new password. */
  sendPasswordReset(
    id: string,
    options?: CallOptions,
  ): Call<null, Changes | 'email_missing' | 'rate_limited' | 'user_not_found'>;
  /** Requires a user to choose a new password, and revokes all of the user's sessions. */
  requireNewPassword(
    id: string,
    options?: CallOptions,
  ): Call<null, Changes | 'own_account' | 'user_not_found'>;
  /** Lists the active sessions of a user, newest first. */
  listUserSessions(
    id: string,
    options?: CallOptions,
  ): Call<{ readonly sessions: readonly Session[] }, Reads | 'user_not_found'>;
  /** Revokes one session of a user. */
  revokeUserSession(
    id: string,
    sessionId: string,
    options?: CallOptions,
  ): Call<null, Ends | 'session_not_found'>;
  /** Revokes all sessions of a user. */
  revokeUserSessions(
    id: string,
    options?: CallOptions,
  ): Call<{ readonly revoked: number }, Ends | 'user_not_found'>;
}

/** @internal */
export const ADMIN = {
  listUsers: 'GET /admin/users input',
  createUser: 'POST /admin/users input',
  getUser: 'GET /admin/users/:id',
  updateUser: 'PATCH /admin/users/:id input',
  deleteUser: 'DELETE /admin/users/:id',
  sendPasswordReset: 'POST /admin/users/:id/send-password-reset',
  requireNewPassword: 'POST /admin/users/:id/require-new-password',
  listUserSessions: 'GET /admin/users/:id/sessions',
  revokeUserSession: 'DELETE /admin/users/:id/sessions/:sessionId',
  revokeUserSessions: 'POST /admin/users/:id/revoke-sessions',
} satisfies Record<keyof AdminClient<AnyShape>, string>;
