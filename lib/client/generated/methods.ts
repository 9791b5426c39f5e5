// Written by `npm run client` from the declarations of the routes: do not edit.

import type { AccountExport } from '../account-export.js';
import type { Call, CallOptions } from '../result.js';
import type { AnyShape } from '../shape.js';
import type { SignedIn, Waiting, WithStep } from '../steps.js';
import type {
  ChangingCode,
  ClosedCode,
  FreshCode,
  FreshOrPasswordCode,
  ReadingCode,
  SendingCode,
} from './codes.js';
import type {
  AccountChange,
  AddedPasskey,
  ApiKey,
  AuditEvent,
  CreationOptions,
  Device,
  FlowInput,
  HumanChallenge,
  Invitation,
  LinkedAccount,
  ListedSession,
  Me,
  Member,
  Membership,
  NewPasskeyResponse,
  OpenInvitation,
  Organization,
  OrganizationOfUser,
  Page,
  Passkey,
  PasskeyResponse,
  ProviderTokens,
  Reauthentication,
  RequestOptions,
  SecondFactor,
  Session,
  SessionForAdmins,
  SignedUp,
  SignInMethods,
  SignUpInput,
  TotpEnrolment,
  TwoFactorStatus,
  UndoableChange,
  UndoProof,
  User,
  UserForAdmins,
  UserInput,
  WithDevice,
  WithPassword,
  WithRemoval,
  WithSession,
} from './shapes.js';

/** The routes of the core. */
export interface CoreClient<S extends AnyShape> {
  /** Gets the current user and session. */
  me(
    options?: CallOptions,
  ): Call<
    Me<S>,
    | ClosedCode
    | 'ambiguous_credentials'
    | 'invalid_api_key'
    | 'invalid_session'
    | 'task_required'
    | 'unauthenticated'
    | 'unavailable'
  >;
  /** Deletes the current user's account, after a recent sign-in or with the password. */
  deleteMe(
    input?: WithPassword,
    options?: CallOptions,
  ): Call<null, FreshOrPasswordCode | 'account_in_use' | 'last_owner' | 'organization_in_use'>;
  /** Downloads the current user's data, once a day, after a recent sign-in or with the password. */
  exportMe(
    input?: WithPassword,
    options?: CallOptions,
  ): Call<AccountExport, FreshOrPasswordCode | 'task_required'>;
  /** Changes the current user's fields, and the username after a recent sign-in or with the password. */
  updateMe(
    input: WithPassword &
      Partial<S['newFields']> & {
        /** Depends on the server's config. */
        username?: string;
      },
    options?: CallOptions,
  ): Call<{ readonly user: User<S> }, FreshOrPasswordCode | 'task_required' | 'username_taken'>;
  /** Emails a link to a new address, after a recent sign-in or with the password. */
  changeEmail(
    input: WithPassword & { new_email: string },
    options?: CallOptions,
  ): Call<null, FreshOrPasswordCode | 'task_required'>;
  /** Cancels the change to a new email that is not confirmed yet. */
  cancelEmailChange(options?: CallOptions): Call<null, ChangingCode | 'task_required'>;
  /** Confirms a new email with an emailed token and the session or password. */
  confirmEmail(
    input: WithPassword & { token: string },
    options?: CallOptions,
  ): Call<
    { readonly user: User<S>; readonly session?: Session },
    | SendingCode
    | ClosedCode
    | 'email_taken'
    | 'invalid_credentials'
    | 'invalid_session'
    | 'invalid_token'
    | 'new_password_required'
    | 'rate_limited'
    | 'reauthentication_required'
    | 'second_factor_required'
    | 'unauthenticated'
  >;
  /**
   * Undoes a change of an account with the token of its notice and the proof that a sign-in required before
   * the change.
   */
  undoChange(
    input: UndoProof & { token: string },
    options?: CallOptions,
  ): Call<
    { readonly undone: string },
    | SendingCode
    | ClosedCode
    | 'invalid_code'
    | 'invalid_credentials'
    | 'invalid_passkey'
    | 'invalid_token'
    | 'last_sign_in_method'
    | 'new_password_required'
    | 'proof_required'
    | 'rate_limited'
  >;
  /** Gets the change that the token of a notice undoes, and the proofs that are missing in this browser. */
  lookUpUndo(
    input: { token: string },
    options?: CallOptions,
  ): Call<UndoableChange, SendingCode | ClosedCode | 'invalid_token' | 'rate_limited'>;
  /** Lists the changes of the current user's account in the last 30 days, newest first. */
  accountChanges(
    options?: CallOptions,
  ): Call<{ readonly changes: readonly AccountChange[] }, ReadingCode | 'task_required'>;
  /** Lists the browsers that the current user's account knows, most recently used first. */
  devices(
    options?: CallOptions,
  ): Call<{ readonly devices: readonly Device[] }, ReadingCode | 'task_required'>;
  /** Makes the current user's account forget a browser. Its sessions continue. */
  forgetDevice(
    id: string,
    input?: WithPassword,
    options?: CallOptions,
  ): Call<null, FreshOrPasswordCode | 'device_not_found' | 'task_required'>;
  /** Lists the current user's sign-in methods. */
  signInMethods(options?: CallOptions): Call<SignInMethods, ReadingCode>;
  /** Reauthenticates, for actions that require a recent sign-in. */
  reauthenticate(
    input: Reauthentication,
    options?: CallOptions,
  ): Call<null, FreshOrPasswordCode | 'email_code_not_offered' | 'invalid_code' | 'invalid_passkey'>;
  /** Lists the current user's active sessions, newest first. */
  sessions(options?: CallOptions): Call<{ readonly sessions: readonly ListedSession[] }, ReadingCode>;
  /** Revokes one of the current user's sessions. */
  revokeSession(id: string, options?: CallOptions): Call<null, ChangingCode | 'session_not_found'>;
  /** Signs out. */
  signOut(
    options?: CallOptions,
  ): Call<
    null,
    | SendingCode
    | ClosedCode
    | 'ambiguous_credentials'
    | 'invalid_api_key'
    | 'invalid_session'
    | 'session_required'
  >;
  /** Revokes all of the current user's sessions, or all but the current one. */
  revokeSessions(
    input?: {
      /** Keep the current session. */
      others?: boolean;
    },
    options?: CallOptions,
  ): Call<{ readonly revoked: number }, ChangingCode | 'rate_limited'>;
  /** Completes a sign-in that waits for a second factor or an emailed code. */
  completeSignIn(
    input: SecondFactor,
    options?: CallOptions,
  ): Call<
    (WithStep<S> & WithRemoval) | Waiting,
    | SendingCode
    | ClosedCode
    | 'email_not_verified'
    | 'invalid_code'
    | 'invalid_credentials'
    | 'invalid_passkey'
    | 'new_password_required'
    | 'rate_limited'
    | 'sign_in_expired'
  >;
  /** Emails the code of a pending sign-in again. */
  sendSignInCode(
    input?: {
      /** For clients without cookies. */
      pending_token?: string;
    },
    options?: CallOptions,
  ): Call<
    { readonly expires_at: string },
    SendingCode | 'email_code_not_offered' | 'rate_limited' | 'sign_in_expired'
  >;
  /** Gets a challenge of the human check, for a browser to solve. */
  humanChallenge(options?: CallOptions): Call<HumanChallenge, 'unavailable'>;
}

/** The routes of `admin()`, for administrators. */
export interface AdminClient<S extends AnyShape> {
  /** Lists users, newest first. */
  listUsers(
    input?: Page & { search?: string },
    options?: CallOptions,
  ): Call<
    { readonly users: readonly UserForAdmins<S>[]; readonly next_cursor: string | null },
    ReadingCode | 'admin_required' | 'invalid_request' | 'task_required'
  >;
  /** Gets a user and the user's sign-in methods. */
  getUser(
    id: string,
    options?: CallOptions,
  ): Call<
    {
      readonly user: UserForAdmins<S>;
      readonly sign_in_methods: SignInMethods;
      /** Whether a sign-in asks for a second factor. */
      readonly second_factor: boolean;
    },
    ReadingCode | 'admin_required' | 'invalid_request' | 'task_required' | 'user_not_found'
  >;
  /** Creates a user without a password; if email is configured, the user gets an invitation to choose one. */
  createUser(
    input: S['newFields'] & {
      email?: string;
      /** Depends on the server's config. */
      username?: string;
      [field: string]: unknown;
    },
    options?: CallOptions,
  ): Call<
    { readonly user: UserForAdmins<S> },
    FreshCode | 'admin_required' | 'email_taken' | 'task_required' | 'username_taken'
  >;
  /** Changes the username and fields of a user. */
  updateUser(
    id: string,
    input: UserInput & Partial<S['newFields']>,
    options?: CallOptions,
  ): Call<
    { readonly user: UserForAdmins<S> },
    | FreshCode
    | 'admin_required'
    | 'target_is_administrator'
    | 'task_required'
    | 'user_not_found'
    | 'username_taken'
  >;
  /** Deletes a user, after a recent sign-in. */
  deleteUser(
    id: string,
    options?: CallOptions,
  ): Call<
    null,
    | FreshCode
    | 'account_in_use'
    | 'admin_required'
    | 'last_owner'
    | 'organization_in_use'
    | 'own_account'
    | 'target_is_administrator'
    | 'task_required'
    | 'user_not_found'
  >;
  /** Emails a user a link to choose a new password. */
  sendPasswordReset(
    id: string,
    options?: CallOptions,
  ): Call<
    null,
    | FreshCode
    | 'admin_required'
    | 'email_missing'
    | 'rate_limited'
    | 'target_is_administrator'
    | 'task_required'
    | 'user_not_found'
  >;
  /** Requires a user to choose a new password, and revokes all of their sessions. */
  requireNewPassword(
    id: string,
    options?: CallOptions,
  ): Call<
    null,
    | FreshCode
    | 'admin_required'
    | 'own_account'
    | 'target_is_administrator'
    | 'task_required'
    | 'user_not_found'
  >;
  /** Lists the active sessions of a user, newest first. */
  listUserSessions(
    id: string,
    options?: CallOptions,
  ): Call<
    { readonly sessions: readonly SessionForAdmins[] },
    ReadingCode | 'admin_required' | 'invalid_request' | 'task_required' | 'user_not_found'
  >;
  /** Revokes one session of a user. */
  revokeUserSession(
    id: string,
    sessionId: string,
    options?: CallOptions,
  ): Call<
    null,
    ChangingCode | 'admin_required' | 'session_not_found' | 'target_is_administrator' | 'task_required'
  >;
  /** Revokes all sessions of a user. */
  revokeUserSessions(
    id: string,
    options?: CallOptions,
  ): Call<
    { readonly revoked: number },
    ChangingCode | 'admin_required' | 'target_is_administrator' | 'task_required' | 'user_not_found'
  >;
  /**
   * Acts as a user, to look at the app as the user sees it: the new session replaces the administrator's own
   * in this browser.
   */
  actAs(
    id: string,
    input: {
      /** A note for administrators, which the user never sees. */
      reason: string;
    },
    options?: CallOptions,
  ): Call<
    WithSession<S>,
    | FreshCode
    | 'admin_required'
    | 'own_account'
    | 'permission_required'
    | 'target_is_administrator'
    | 'task_required'
    | 'user_not_found'
  >;
  /** Sets the roles of a user, after a recent sign-in. */
  setRoles(
    id: string,
    input: {
      /** All roles of the user, without the role that every user has. */
      roles: string[];
    },
    options?: CallOptions,
  ): Call<
    { readonly user: UserForAdmins<S> },
    | FreshCode
    | 'admin_required'
    | 'email_unproven'
    | 'own_account'
    | 'permission_required'
    | 'target_is_administrator'
    | 'task_required'
    | 'user_not_found'
  >;
}

/** The routes of `apiKeys()`. */
export interface ApiKeysClient {
  /** Creates an API key, after a recent sign-in or with the password. */
  create(
    input: WithPassword & { name: string; scopes?: string[]; expires_at?: string | null },
    options?: CallOptions,
  ): Call<
    {
      readonly api_key: ApiKey;
      /** It cannot be retrieved later. */
      readonly key: string;
    },
    FreshOrPasswordCode | 'task_required' | 'too_many_api_keys'
  >;
  /** Lists the current user's API keys, newest first. */
  list(options?: CallOptions): Call<{ readonly api_keys: readonly ApiKey[] }, ReadingCode | 'task_required'>;
  /** Revokes one of the current user's API keys. */
  revoke(id: string, options?: CallOptions): Call<null, ChangingCode | 'api_key_not_found' | 'task_required'>;
}

/** The route of `auditLog()`, for administrators. */
export interface AuditLogClient {
  /** Lists audit events, newest first. */
  list(
    input?: Page & {
      user_id?: string;
      /** The name of an event, such as sign_in.failed. */
      kind?: string;
    },
    options?: CallOptions,
  ): Call<
    { readonly events: readonly AuditEvent[]; readonly next_cursor: string | null },
    ReadingCode | 'admin_required' | 'invalid_request' | 'task_required'
  >;
}

/** The routes of `credentialPassword()`. */
export interface CredentialClient<S extends AnyShape> {
  /** Creates an account with a password. */
  signUp(
    input: SignUpInput & S['newFields'],
    options?: CallOptions,
  ): Call<
    | SignedUp<S>
    | null
    | (WithDevice & {
        readonly expires_at: string;
        /** For clients without cookies. Depends on the server's config. */
        readonly pending_token?: string;
      }),
    SendingCode | 'email_taken' | 'human_check_failed' | 'rate_limited' | 'sign_up_refused' | 'username_taken'
  >;
  /** Signs in with a password. */
  signIn(
    input: {
      /** An email or a username. */
      credential: string;
      password: string;
      /** Keep the session when the browser is closed. */
      remember_me?: boolean;
    },
    options?: CallOptions,
  ): Call<
    SignedIn<S>,
    | SendingCode
    | ClosedCode
    | 'email_not_verified'
    | 'human_check_failed'
    | 'invalid_credentials'
    | 'new_password_required'
    | 'rate_limited'
  >;
  /** Changes the current user's password, and revokes all other sessions. */
  changePassword(
    input: {
      current_password: string;
      /** 8 to 256 characters, and not a common password. */
      new_password: string;
    },
    options?: CallOptions,
  ): Call<WithSession<S> & WithDevice, FreshOrPasswordCode | 'task_required'>;
  /** Sets the current user's password, if there is none, after a recent sign-in. */
  setPassword(
    input: {
      /** 8 to 256 characters, and not a common password. */
      new_password: string;
    },
    options?: CallOptions,
  ): Call<null, FreshCode | 'password_already_set' | 'rate_limited' | 'task_required'>;
  /**
   * Removes the current user's password, unless it is the last sign-in method, and revokes all other
   * sessions.
   */
  removePassword(
    input?: WithPassword,
    options?: CallOptions,
  ): Call<null, FreshOrPasswordCode | 'last_sign_in_method' | 'password_not_set' | 'task_required'>;
  /** Emails the current user a verification link. */
  sendVerification(
    options?: CallOptions,
  ): Call<null | { readonly expires_at: string }, ChangingCode | 'rate_limited'>;
  /** Verifies an email with an emailed token and the session or password. */
  verifyEmail(
    input:
      | (WithPassword & { token: string })
      | {
          code: string;
          /** For clients without cookies, after a sign-up. Depends on the server's config. */
          pending_token?: string;
        },
    options?: CallOptions,
  ): Call<
    { readonly user: User<S> },
    | SendingCode
    | ClosedCode
    | 'code_expired'
    | 'invalid_code'
    | 'invalid_credentials'
    | 'invalid_session'
    | 'invalid_token'
    | 'new_password_required'
    | 'rate_limited'
    | 'unauthenticated'
  >;
  /** Emails a code for a new password, if the account exists. */
  requestPasswordReset(
    input: { email: string },
    options?: CallOptions,
  ): Call<
    {
      readonly expires_at: string;
      /** For clients without cookies. Depends on the server's config. */
      readonly pending_token?: string;
    } | null,
    SendingCode | 'human_check_failed' | 'rate_limited'
  >;
  /** Resets a password with an emailed code or token, and revokes all sessions. */
  resetPassword(
    input: {
      /** The code, in the browser that asked for it. Depends on the server's config. */
      code?: string;
      /** The token of a link, instead of the code. Depends on the server's config. */
      token?: string;
      /** 8 to 256 characters, and not a common password. */
      new_password: string;
      /** For clients without cookies, with the code. Depends on the server's config. */
      pending_token?: string;
    },
    options?: CallOptions,
  ): Call<
    null,
    SendingCode | ClosedCode | 'code_expired' | 'invalid_code' | 'invalid_token' | 'rate_limited'
  >;
  /** Checks whether a username is available. */
  checkUsername(
    input: { username: string },
    options?: CallOptions,
  ): Call<{ readonly available: boolean }, SendingCode | 'rate_limited'>;
}

/** The routes of `emailSignIn()`. */
export interface EmailSignInClient<S extends AnyShape> {
  /** Emails a code to sign in with. */
  request(
    input: {
      email: string;
      /** Keep the session when the browser is closed. */
      remember_me?: boolean;
    },
    options?: CallOptions,
  ): Call<
    {
      readonly expires_at: string;
      /** For clients without cookies. Depends on the server's config. */
      readonly pending_token?: string;
    },
    SendingCode | 'human_check_failed' | 'rate_limited'
  >;
  /** Signs in with an emailed code or link, or creates an account with the given fields. */
  confirm(
    input: Partial<S['newFields']> & {
      /** Depends on the server's config. */
      code?: string;
      /** The token of the link, instead of the code. Depends on the server's config. */
      token?: string;
      /** For clients without cookies. */
      pending_token?: string;
    },
    options?: CallOptions,
  ): Call<
    (WithStep<S> & WithRemoval) | Waiting,
    | SendingCode
    | ClosedCode
    | 'invalid_code'
    | 'other_browser'
    | 'rate_limited'
    | 'sign_in_expired'
    | 'sign_up_refused'
  >;
  /**
   * Emails the current user a code to reauthenticate with, if the account has neither password nor passkey
   * nor second factor.
   */
  requestReauthentication(
    options?: CallOptions,
  ): Call<null, ChangingCode | 'email_code_not_offered' | 'rate_limited'>;
}

/**
 * The routes of `oauth()`. To start a flow, navigate to the `url` in the data: `location.assign(data.url)`.
 */
export interface OAuthClient {
  /** Lists the current user's linked accounts. */
  accounts(
    options?: CallOptions,
  ): Call<{ readonly accounts: readonly LinkedAccount[] }, ReadingCode | 'task_required'>;
  /** Starts a sign-in with a provider, such as google. */
  authorize(
    provider: string,
    input?: {
      /**
       * Where to redirect afterwards: a path of this origin, or a URL of a trusted one. By default the root of
       * this app.
       */
      callback_url?: string;
      /** Keep the session when the browser is closed. */
      remember_me?: 'true' | 'false';
      /** The account that the user probably has at the provider, such as an email. */
      login_hint?: string;
    },
    options?: CallOptions,
  ): Call<
    { readonly url: string },
    | 'invalid_callback_url'
    | 'invalid_request'
    | 'origin_not_allowed'
    | 'provider_error'
    | 'provider_not_found'
    | 'rate_limited'
    | 'unavailable'
  >;
  /** Starts linking an account at a provider, after a recent sign-in. */
  link(
    provider: string,
    input?: FlowInput,
    options?: CallOptions,
  ): Call<
    { readonly url: string },
    | ReadingCode
    | 'invalid_callback_url'
    | 'invalid_request'
    | 'origin_not_allowed'
    | 'provider_error'
    | 'provider_not_found'
    | 'rate_limited'
    | 'reauthentication_required'
    | 'second_factor_required'
    | 'task_required'
  >;
  /** Starts a reauthentication with a linked provider, for actions that require a recent sign-in. */
  reauthenticate(
    provider: string,
    input?: FlowInput,
    options?: CallOptions,
  ): Call<
    { readonly url: string },
    | ReadingCode
    | 'account_not_linked'
    | 'invalid_callback_url'
    | 'invalid_request'
    | 'origin_not_allowed'
    | 'provider_error'
    | 'provider_not_found'
    | 'rate_limited'
    | 'reauthentication_required'
  >;
  /** Unlinks an account, unless it is the last sign-in method. */
  unlink(
    provider: string,
    input?: WithPassword,
    options?: CallOptions,
  ): Call<
    null,
    | FreshOrPasswordCode
    | 'account_not_linked'
    | 'last_sign_in_method'
    | 'provider_not_found'
    | 'task_required'
  >;
  /** Reads a provider's tokens, for calling its API on behalf of the user. */
  tokens(
    provider: string,
    options?: CallOptions,
  ): Call<
    ProviderTokens,
    | ReadingCode
    | 'account_not_linked'
    | 'invalid_request'
    | 'provider_not_found'
    | 'reauthentication_required'
    | 'relink_required'
    | 'second_factor_required'
    | 'task_required'
  >;
  /** Refreshes a provider's tokens. */
  refreshTokens(
    provider: string,
    options?: CallOptions,
  ): Call<
    ProviderTokens,
    | FreshCode
    | 'account_not_linked'
    | 'provider_error'
    | 'provider_not_found'
    | 'provider_slow'
    | 'refresh_token_missing'
    | 'relink_required'
    | 'task_required'
  >;
}

/** The routes of `organizations()`. */
export interface OrganizationsClient<S extends AnyShape> {
  /** Creates an organization, whose owner is the current user. */
  create(
    input: {
      /** 1 to 100 visible characters. */
      name: string;
      /** The name in addresses: 2 to 63 small letters, digits and single hyphens. */
      slug: string;
    },
    options?: CallOptions,
  ): Call<
    { readonly organization: Organization; readonly membership: Membership },
    | ChangingCode
    | 'admin_required'
    | 'email_not_verified'
    | 'slug_taken'
    | 'task_required'
    | 'too_many_organizations'
  >;
  /** Lists the current user's organizations, newest first. */
  list(
    input?: Page,
    options?: CallOptions,
  ): Call<
    { readonly organizations: readonly OrganizationOfUser[]; readonly next_cursor: string | null },
    | ClosedCode
    | 'ambiguous_credentials'
    | 'invalid_api_key'
    | 'invalid_request'
    | 'invalid_session'
    | 'session_required'
    | 'task_required'
    | 'unauthenticated'
    | 'unavailable'
  >;
  /** Gets an organization of the current user. */
  get(
    id: string,
    options?: CallOptions,
  ): Call<
    { readonly organization: Organization; readonly membership: Membership },
    | ClosedCode
    | 'ambiguous_credentials'
    | 'invalid_api_key'
    | 'invalid_request'
    | 'invalid_session'
    | 'organization_not_found'
    | 'session_required'
    | 'task_required'
    | 'unauthenticated'
    | 'unavailable'
  >;
  /** Changes the name or slug of an organization. */
  update(
    id: string,
    input: {
      /** 1 to 100 visible characters. */
      name?: string;
      /** The name in addresses: 2 to 63 small letters, digits and single hyphens. */
      slug?: string;
    },
    options?: CallOptions,
  ): Call<
    { readonly organization: Organization },
    ChangingCode | 'organization_not_found' | 'permission_required' | 'slug_taken' | 'task_required'
  >;
  /** Deletes an organization with its memberships and invitations, after a recent sign-in. */
  delete(
    id: string,
    options?: CallOptions,
  ): Call<
    null,
    FreshCode | 'organization_in_use' | 'organization_not_found' | 'permission_required' | 'task_required'
  >;
  /** Lists the members of an organization, newest first. */
  members(
    id: string,
    input?: Page,
    options?: CallOptions,
  ): Call<
    { readonly members: readonly Member[]; readonly next_cursor: string | null },
    ReadingCode | 'invalid_request' | 'organization_not_found' | 'task_required'
  >;
  /** Changes the role of a member, after a recent sign-in or with the password. */
  setRole(
    id: string,
    userId: string,
    input: WithPassword & { role: string },
    options?: CallOptions,
  ): Call<
    { readonly member: Member },
    | FreshOrPasswordCode
    | 'last_owner'
    | 'member_not_found'
    | 'organization_not_found'
    | 'permission_required'
    | 'task_required'
  >;
  /** Removes a member, after a recent sign-in or with the password. Members can always remove themselves. */
  removeMember(
    id: string,
    userId: string,
    input?: WithPassword,
    options?: CallOptions,
  ): Call<
    null,
    | FreshOrPasswordCode
    | 'last_owner'
    | 'member_not_found'
    | 'organization_not_found'
    | 'permission_required'
    | 'task_required'
  >;
  /** Invites an address to an organization, after a recent sign-in or with the password. */
  invite(
    id: string,
    input: WithPassword & { email: string; role: string },
    options?: CallOptions,
  ): Call<
    { readonly invitation: Invitation },
    | FreshOrPasswordCode
    | 'already_member'
    | 'organization_not_found'
    | 'permission_required'
    | 'task_required'
    | 'too_many_invitations'
  >;
  /** Lists the pending invitations of an organization, newest first. */
  invitations(
    id: string,
    input?: Page,
    options?: CallOptions,
  ): Call<
    { readonly invitations: readonly Invitation[]; readonly next_cursor: string | null },
    ReadingCode | 'invalid_request' | 'organization_not_found' | 'permission_required' | 'task_required'
  >;
  /** Revokes an invitation. */
  revokeInvitation(
    id: string,
    invitationId: string,
    options?: CallOptions,
  ): Call<
    null,
    ChangingCode | 'invitation_not_found' | 'organization_not_found' | 'permission_required' | 'task_required'
  >;
  /** Gets the invitation that an emailed token belongs to. The token still works. */
  lookUp(
    input: { token: string },
    options?: CallOptions,
  ): Call<OpenInvitation, SendingCode | ClosedCode | 'invalid_token' | 'rate_limited'>;
  /** Accepts an invitation in a session of the invited address, or with a new account. */
  accept(
    input: WithPassword &
      Partial<S['newFields']> & {
        token: string;
        username?: string;
        /** Keep the session when the browser is closed. */
        remember_me?: boolean;
      },
    options?: CallOptions,
  ): Call<
    {
      readonly organization: Organization;
      readonly membership: Membership;
      readonly user?: User<S>;
      readonly session?: Session;
    },
    | SendingCode
    | ClosedCode
    | 'account_exists'
    | 'ambiguous_credentials'
    | 'invalid_api_key'
    | 'invalid_session'
    | 'invalid_token'
    | 'invitation_for_other_email'
    | 'organization_full'
    | 'rate_limited'
    | 'session_required'
    | 'sign_up_refused'
    | 'task_required'
    | 'username_taken'
  >;
}

/** The routes of `passkeys()` that need no ceremony. */
export interface PasskeyMethods {
  /** Lists the current user's passkeys. */
  list(options?: CallOptions): Call<
    {
      readonly passkeys: readonly Passkey[];
      readonly signal: {
        /** The rpId. */
        readonly rp_id: string;
        /** The userId, in base64url. */
        readonly user_id: string;
        /** The allAcceptedCredentialIds, in base64url, with passkeys that an undo can restore. */
        readonly accepted: readonly string[];
      };
    },
    ReadingCode
  >;
  /** Renames a passkey. */
  rename(
    id: string,
    input: { name: string },
    options?: CallOptions,
  ): Call<{ readonly passkey: Passkey }, ChangingCode | 'passkey_not_found' | 'task_required'>;
  /** Removes a passkey, unless it is the last sign-in method. */
  remove(
    id: string,
    input?: WithPassword,
    options?: CallOptions,
  ): Call<
    null,
    | FreshOrPasswordCode
    | 'last_sign_in_method'
    | 'passkey_not_found'
    | 'second_factor_demanded'
    | 'task_required'
  >;
}

/** The routes that the ceremonies of `PasskeysClient` call. */
export interface PasskeyRoutes<S extends AnyShape> {
  /** Gets the options with which a browser asks for a passkey as the second factor. */
  secondFactorOptions(
    input?: {
      /** For clients without cookies. */
      pending_token?: string;
    },
    options?: CallOptions,
  ): Call<
    { readonly options: RequestOptions; readonly pending_token?: string },
    SendingCode | 'rate_limited' | 'sign_in_expired'
  >;
  /** Gets the options for a new passkey, for navigator.credentials.create(). */
  creationOptions(
    options?: CallOptions,
  ): Call<
    { readonly options: CreationOptions },
    FreshCode | 'email_not_verified' | 'rate_limited' | 'task_required' | 'too_many_passkeys'
  >;
  /** Adds a passkey that the browser has created with the options. */
  create(
    input: { response: NewPasskeyResponse; name?: string },
    options?: CallOptions,
  ): Call<
    AddedPasskey<S>,
    | FreshCode
    | 'email_not_verified'
    | 'invalid_passkey'
    | 'passkey_exists'
    | 'task_required'
    | 'too_many_passkeys'
  >;
  /** Gets the options for reauthenticating with one of the user's passkeys, for navigator.credentials.get(). */
  reauthenticationOptions(
    options?: CallOptions,
  ): Call<{ readonly options: RequestOptions }, ChangingCode | 'rate_limited'>;
  /** Gets the options for a sign-in with a passkey, for navigator.credentials.get(). */
  signInOptions(options?: CallOptions): Call<
    {
      readonly options: RequestOptions;
      /** For clients without cookies. Depends on the server's config. */
      readonly pending_token?: string;
    },
    SendingCode | 'rate_limited'
  >;
  /** Signs in with a passkey. */
  signIn(
    input: {
      response: PasskeyResponse;
      /** Keep the session when the browser is closed. */
      remember_me?: boolean;
      /** The pending_token of the options, for clients without cookies. */
      pending_token?: string;
    },
    options?: CallOptions,
  ): Call<
    SignedIn<S>,
    | SendingCode
    | ClosedCode
    | 'email_not_verified'
    | 'invalid_credentials'
    | 'invalid_passkey'
    | 'new_password_required'
    | 'unknown_passkey'
  >;
  /** Gets the options for proving an undo with a passkey, for navigator.credentials.get(). */
  undoOptions(
    input: { token: string },
    options?: CallOptions,
  ): Call<
    {
      readonly options: RequestOptions;
      /** For clients without cookies. Depends on the server's config. */
      readonly pending_token?: string;
    },
    SendingCode | ClosedCode | 'invalid_token' | 'no_passkey' | 'proof_required' | 'rate_limited'
  >;
}

/** The routes of `suspension()`, for administrators. */
export interface SuspensionClient<S extends AnyShape> {
  /** Suspends a user, and revokes all of their sessions. */
  suspend(
    id: string,
    input?: {
      /** A note for administrators. */
      reason?: string | null;
      /** When the suspension expires, in ISO 8601. */
      until?: string | null;
    },
    options?: CallOptions,
  ): Call<
    { readonly user: UserForAdmins<S> },
    | ChangingCode
    | 'admin_required'
    | 'own_account'
    | 'target_is_administrator'
    | 'task_required'
    | 'user_not_found'
  >;
  /** Lifts the suspension of a user. */
  reinstate(
    id: string,
    options?: CallOptions,
  ): Call<
    { readonly user: UserForAdmins<S> },
    FreshCode | 'admin_required' | 'target_is_administrator' | 'task_required' | 'user_not_found'
  >;
}

/** The routes of `twoFactor()`. */
export interface TwoFactorClient<S extends AnyShape> {
  /** Gets the state of the current user's second factor. */
  status(options?: CallOptions): Call<TwoFactorStatus, ReadingCode>;
  /** Starts setting up an authenticator app, which must be confirmed within 10 minutes. */
  enroll(options?: CallOptions): Call<TotpEnrolment, FreshCode | 'email_not_verified' | 'task_required'>;
  /** Enables the second factor with a code from the authenticator app, and revokes all other sessions. */
  confirm(
    input: { code: string },
    options?: CallOptions,
  ): Call<
    WithSession<S> & {
      /** Ten codes, each of which can be used once. */
      readonly recovery_codes: readonly string[];
    },
    FreshCode | 'email_not_verified' | 'invalid_code' | 'rate_limited' | 'task_required'
  >;
  /** Disables codes from the authenticator app, and revokes all other sessions. */
  disable(options?: CallOptions): Call<null, FreshCode | 'second_factor_demanded' | 'task_required'>;
  /** Replaces the current user's recovery codes. */
  renewRecoveryCodes(options?: CallOptions): Call<
    {
      /** Ten codes, each of which can be used once. */
      readonly recovery_codes: readonly string[];
    },
    FreshCode | 'rate_limited' | 'task_required' | 'totp_not_enabled'
  >;
  /** Asks for the second factor in all of the current user's browsers again. */
  forgetTrustedDevices(options?: CallOptions): Call<null, ChangingCode | 'task_required'>;
  /** Enables or disables passkeys as a second factor, and revokes all other sessions. */
  usePasskeys(
    input: { on: boolean },
    options?: CallOptions,
  ): Call<
    WithSession<S> & {
      /** Only if the account had no recovery codes left. They cannot be retrieved later. */
      readonly recovery_codes?: readonly string[];
    },
    | FreshCode
    | 'email_not_verified'
    | 'no_passkey'
    | 'rate_limited'
    | 'second_factor_demanded'
    | 'task_required'
  >;
  /** Disables the second factor of a user, and revokes all of their sessions. */
  disableForUser(
    id: string,
    options?: CallOptions,
  ): Call<
    null,
    | FreshCode
    | 'admin_required'
    | 'own_account'
    | 'target_is_administrator'
    | 'task_required'
    | 'user_not_found'
  >;
}
