import type { ChangingCode, ClosedCode, FreshOrPasswordCode, ReadingCode, SendingCode } from './codes.js';
import type { PasskeyResponse } from './passkeys.js';
import type {
  ApiKey,
  ListedSession,
  Session,
  User,
  WithPassword,
  WithRemoval,
  WithStep,
} from './resources.js';
import type { Call, CallOptions } from './result.js';
import type { AnyShape } from './shape.js';

/** The user, and the session or API key of the request. */
export interface Me<S extends AnyShape> {
  readonly user: User<S>;
  readonly session: Session | null;
  readonly api_key?: ApiKey;
}

/** A user's sign-in methods. The members depend on the server's plugins. */
export interface SignInMethods {
  readonly password?: boolean;
  readonly email?: boolean;
  readonly providers?: readonly string[];
  readonly passkeys?: number;
  readonly totp?: boolean;
  readonly recovery_codes_left?: number;
}

/** Everything that is stored about a user, by table. The tables depend on the server's plugins. */
export interface AccountExport {
  readonly exported_at: string;
  readonly user: Readonly<Record<string, unknown>>;
  readonly [table: string]: unknown;
}

/** The proof that an undo can require in addition to its token. */
export interface UndoProof {
  password?: string;
  code?: string;
  recovery_code?: string;
  passkey?: PasskeyResponse;
  pending_token?: string;
}

/** The change that a notice's token undoes. */
export interface UndoableChange {
  readonly kind: string;
  readonly at: string;
  readonly device: string | null;
  /** The proofs that are still missing in this browser. */
  readonly missing: readonly ('browser' | 'password' | 'second_factor' | 'passkey')[];
}

/** A change of the account in the last 30 days. */
export interface AccountChange {
  readonly id: string;
  readonly kind: string;
  readonly at: string;
  readonly device: string | null;
  readonly ip: string | null;
  readonly undoable: boolean;
}

/** A browser that the account knows. */
export interface Device {
  readonly id: string;
  readonly name: string | null;
  readonly first_seen_at: string;
  readonly last_seen_at: string;
  readonly current: boolean;
}

/** One proof of the user's identity. Users with a second factor can use one of its codes. */
export interface Reauthentication {
  password?: string;
  email_code?: string;
  passkey?: PasskeyResponse;
  code?: string;
  recovery_code?: string;
}

/** The second factor or the emailed code that completes a pending sign-in. */
export type SecondFactor = (
  | { method: 'totp' | 'recovery_code' | 'email_code'; code: string }
  | { method: 'passkey'; response: PasskeyResponse }
) & {
  /** For clients without cookies: the value of `second_factor.pending_token`. */
  pending_token?: string;
};

/** The routes of the core. */
export interface CoreClient<S extends AnyShape> {
  /** Gets the current user and session. */
  me(options?: CallOptions): Call<Me<S>, Exclude<ReadingCode, 'session_required'> | 'task_required'>;
  /** Changes the user's fields and username. A new username requires a recent sign-in or `password`. */
  updateMe(
    input: Partial<S['newFields']> & { username?: string } & WithPassword,
    options?: CallOptions,
  ): Call<{ readonly user: User<S> }, FreshOrPasswordCode | 'task_required' | 'username_taken'>;
  /** Returns everything that is stored about the user, after a recent sign-in or with `password`, once a day. */
  exportMe(
    input?: WithPassword,
    options?: CallOptions,
  ): Call<AccountExport, FreshOrPasswordCode | 'rate_limited' | 'task_required'>;
  /** Deletes the account, after a recent sign-in or with `password`. */
  deleteMe(input?: WithPassword, options?: CallOptions): Call<null, FreshOrPasswordCode | 'account_in_use'>;
  /** Emails a link to the new address, after a recent sign-in or with `password`. */
  changeEmail(
    input: { new_email: string } & WithPassword,
    options?: CallOptions,
  ): Call<null, FreshOrPasswordCode | 'task_required'>;
  /** Confirms the new address with the emailed token, and the session or `password`. */
  confirmEmail(
    input: { token: string } & WithPassword,
    options?: CallOptions,
  ): Call<
    { readonly user: User<S>; readonly session?: Session },
    | Exclude<FreshOrPasswordCode, 'ambiguous_credentials' | 'invalid_api_key' | 'session_required'>
    | TokenCodes
  >;
  /** Undoes a change with the token of its notice and the proof that a sign-in required before the change. */
  undoChange(
    input: { token: string } & UndoProof,
    options?: CallOptions,
  ): Call<
    { readonly undone: string },
    | SendingCode
    | ClosedCode
    | 'invalid_code'
    | 'invalid_credentials'
    | 'invalid_passkey'
    | 'invalid_token'
    | 'new_password_required'
    | 'proof_required'
    | 'rate_limited'
  >;
  /** Gets the change that the token of a notice undoes, and the proofs that are missing in this browser. */
  lookUpUndo(
    input: { token: string },
    options?: CallOptions,
  ): Call<UndoableChange, SendingCode | ClosedCode | 'invalid_token' | 'rate_limited'>;
  /** Lists the changes of the account in the last 30 days, newest first. */
  accountChanges(
    options?: CallOptions,
  ): Call<{ readonly changes: readonly AccountChange[] }, ReadingCode | 'task_required'>;
  /** Lists the browsers that the account knows, most recently used first. */
  devices(
    options?: CallOptions,
  ): Call<{ readonly devices: readonly Device[] }, ReadingCode | 'task_required'>;
  /** Makes the account forget a browser. Its sessions continue. */
  forgetDevice(
    id: string,
    input?: WithPassword,
    options?: CallOptions,
  ): Call<null, FreshOrPasswordCode | 'device_not_found' | 'task_required'>;
  /** Lists the user's sign-in methods. */
  signInMethods(options?: CallOptions): Call<SignInMethods, ReadingCode>;
  /** Reauthenticates, for actions that require a recent sign-in. */
  reauthenticate(
    input: Reauthentication,
    options?: CallOptions,
  ): Call<null, FreshOrPasswordCode | 'email_code_not_offered' | 'invalid_code' | 'invalid_passkey'>;
  /** Lists the active sessions, newest first. */
  sessions(options?: CallOptions): Call<{ readonly sessions: readonly ListedSession[] }, ReadingCode>;
  /** Revokes one of the user's sessions. */
  revokeSession(id: string, options?: CallOptions): Call<null, ChangingCode | 'session_not_found'>;
  /** Revokes all of the user's sessions or, with `others`, all but the current one. */
  revokeSessions(
    input?: { others?: boolean },
    options?: CallOptions,
  ): Call<{ readonly revoked: number }, ChangingCode | 'rate_limited'>;
  /** Signs out. */
  signOut(options?: CallOptions): Call<null, ChangingCode>;
  /** Completes a sign-in whose `step` is `second_factor`. */
  completeSignIn(
    input: SecondFactor,
    options?: CallOptions,
  ): Call<
    WithStep<S> & WithRemoval,
    | SendingCode
    | ClosedCode
    | 'invalid_code'
    | 'invalid_credentials'
    | 'invalid_passkey'
    | 'new_password_required'
    | 'rate_limited'
    | 'sign_in_expired'
  >;
  /** Emails the code of a sign-in again. */
  sendSignInCode(
    input?: { pending_token?: string },
    options?: CallOptions,
  ): Call<
    { readonly expires_at: string },
    SendingCode | 'email_code_not_offered' | 'rate_limited' | 'sign_in_expired'
  >;
}

type TokenCodes = 'email_taken' | 'invalid_token';

/** @internal */
export const CORE = {
  me: 'GET /me',
  updateMe: 'PATCH /me input session',
  exportMe: 'POST /me/export input',
  deleteMe: 'DELETE /me input session ends',
  changeEmail: 'POST /email-changes input',
  confirmEmail: 'POST /email-changes/confirm input session',
  undoChange: 'POST /undo-change input session',
  lookUpUndo: 'POST /undo-change/lookup input',
  accountChanges: 'GET /account-changes',
  devices: 'GET /devices',
  forgetDevice: 'DELETE /devices/:id input',
  signInMethods: 'GET /sign-in-methods',
  reauthenticate: 'POST /reauthenticate input session',
  sessions: 'GET /sessions',
  revokeSession: 'DELETE /sessions/:id session',
  revokeSessions: 'POST /revoke-sessions input session',
  signOut: 'POST /signout session ends',
  completeSignIn: 'POST /signin/second-factor input signs session',
  sendSignInCode: 'POST /signin/second-factor/send input',
} satisfies Record<keyof CoreClient<AnyShape>, string>;
