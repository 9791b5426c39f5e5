import type { ChangingCode, ClosedCode, FreshCode, FreshOrPasswordCode, SendingCode } from './codes.js';
import type { Session, SignedIn, User, WithDevice, WithPassword, WithSession } from './resources.js';
import type { Call, CallOptions } from './result.js';
import type { AnyShape } from './shape.js';

/** A new account. */
export interface SignedUp<S extends AnyShape> extends WithDevice {
  readonly user: User<S>;
  /** Present with `signInOnSignUp`. */
  readonly session?: Session;
}

/** The input that every sign-up with a password accepts. */
export interface SignUpInput {
  /** Required, unless the server has another `identifier`. */
  email?: string;
  username?: string;
  password: string;
}

/** The routes of `credentialPassword()`. */
export interface CredentialClient<S extends AnyShape> {
  /** Creates an account. With `concealExistingEmails`, the data is null. */
  signUp(
    input: SignUpInput & S['newFields'],
    options?: CallOptions,
  ): Call<SignedUp<S> | null, SendingCode | 'email_taken' | 'rate_limited' | 'username_taken'>;
  /** Signs in with a password. `credential` is the email or username. */
  signIn(
    input: { credential: string; password: string; remember_me?: boolean },
    options?: CallOptions,
  ): Call<
    SignedIn<S>,
    SendingCode | ClosedCode | 'invalid_credentials' | 'new_password_required' | 'rate_limited'
  >;
  /** Changes the password, and revokes all other sessions. */
  changePassword(
    input: { current_password: string; new_password: string },
    options?: CallOptions,
  ): Call<WithSession<S> & WithDevice, FreshOrPasswordCode | 'task_required'>;
  /** Sets the password of an account that has none, after a recent sign-in. */
  setPassword(
    input: { new_password: string },
    options?: CallOptions,
  ): Call<null, FreshCode | 'password_already_set' | 'rate_limited' | 'task_required'>;
  /** Removes the password, unless it is the last sign-in method, and revokes all other sessions. */
  removePassword(
    input?: WithPassword,
    options?: CallOptions,
  ): Call<null, FreshOrPasswordCode | 'last_sign_in_method' | 'password_not_set' | 'task_required'>;
  /** Emails a verification link. */
  sendVerification(options?: CallOptions): Call<null, ChangingCode | 'rate_limited'>;
  /** Verifies the email with the emailed token, and the session or `password`. */
  verifyEmail(
    input: { token: string } & WithPassword,
    options?: CallOptions,
  ): Call<
    { readonly user: User<S> },
    | SendingCode
    | ClosedCode
    | 'invalid_credentials'
    | 'invalid_token'
    | 'new_password_required'
    | 'rate_limited'
    | 'unauthenticated'
  >;
  /** Emails a link to choose a new password, if the account exists. */
  requestPasswordReset(
    input: { email: string },
    options?: CallOptions,
  ): Call<null, SendingCode | 'rate_limited'>;
  /** Sets a new password with the emailed token, and revokes all sessions. */
  resetPassword(
    input: { token: string; new_password: string },
    options?: CallOptions,
  ): Call<null, SendingCode | ClosedCode | 'invalid_token' | 'rate_limited'>;
  /** Checks whether a username is available. */
  checkUsername(
    input: { username: string },
    options?: CallOptions,
  ): Call<{ readonly available: boolean }, SendingCode | 'rate_limited'>;
}

/** @internal */
export const CREDENTIAL = {
  signUp: 'POST /signup/credential input session',
  signIn: 'POST /signin/credential input signs session',
  changePassword: 'POST /passwords/change input session',
  setPassword: 'PUT /passwords input session',
  removePassword: 'DELETE /passwords input session',
  sendVerification: 'POST /email-verifications',
  verifyEmail: 'POST /verify-email input session',
  requestPasswordReset: 'POST /passwords/request-reset input',
  resetPassword: 'POST /passwords/reset input session',
  checkUsername: 'POST /usernames/check input',
} satisfies Record<keyof CredentialClient<AnyShape>, string>;
