import type { ClientInput } from '../../sessions/request.js';
import type { NewFieldValues } from '../../users/fields.js';

declare module '../../config/hooks.js' {
  interface CreatedVias {
    /** A sign-up with a password. */
    credential: unknown;
  }
}

/** The input of `auth.credential.signUp`. */
export interface SignUpInput extends ClientInput {
  /** At most 254 characters; stored in canonical form. */
  email: string;
  /** By default 8 to 256 code points, and not a common password (NIST SP 800-63B-4, 3.1.1.2). */
  password: string;
  /** By default 3 to 30 characters; only if usernames are enabled. @default none */
  username?: string | undefined;
  /** The values of the app's fields, including those with `input: 'none'`. @default their defaults */
  fields?: NewFieldValues | undefined;
}

/** The input of `auth.credential.signIn`. */
export interface SignInInput extends ClientInput {
  /** An email or, if enabled, a username. */
  credential: string;
  /** The password as typed by the user. */
  password: string;
  /** Keeps the session when the browser is closed. @default false */
  rememberMe?: boolean;
}

/** The input of `auth.credential.changePassword`. */
export interface ChangePasswordInput extends ClientInput {
  /** The user whose password to change. */
  userId: string;
  /** The session to keep; it gets a new token. @default none: a new session is created */
  sessionId?: string;
  /** The current password. A wrong one counts as a failed sign-in. */
  currentPassword: string;
  /** The same rules apply as at sign-up. */
  newPassword: string;
}

/** The input of `auth.credential.setPassword`. */
export interface SetPasswordInput extends ClientInput {
  /** A user who has no password. */
  userId: string;
  /**
   * The session of the user who requests it. If it has ended in the meantime, no password is set. Without a session, the
   * change is final: no link undoes it.
   * @default none
   */
  sessionId?: string;
  /** The same rules apply as at sign-up. */
  newPassword: string;
}

/** The input of `auth.credential.removePassword`. */
export interface RemovePasswordInput extends ClientInput {
  /** The user whose password to remove. */
  userId: string;
  /**
   * The session of the user who requests it. If it has ended in the meantime, nothing is removed. Without a session, the
   * change is final: no link undoes it.
   * @default none
   */
  sessionId?: string;
}

/** The input of `auth.credential.requestPasswordReset`. */
export interface RequestPasswordResetInput extends ClientInput {
  /** The address that the user has entered. */
  email: string;
}

/** A reset that waits for the emailed code, with `resetBy: 'code'`. */
export interface RequestedReset {
  /** When the code expires. */
  readonly expiresAt: Date;
  /** The token that identifies the request. Send it to the client only. */
  readonly pendingToken: string;
}

/** The input of `auth.credential.resetPassword`: either the token or, with `resetBy: 'code'`, the code. */
export interface ResetPasswordInput extends ClientInput {
  /** The token of the link in the email. @default none */
  token?: string | undefined;
  /** The code that the user has typed. Spaces and hyphens do not matter. @default none */
  code?: string | undefined;
  /** The token of {@link RequestedReset}, for a code. @default the one in the cookie of `request` */
  pendingToken?: string | undefined;
  /** The same rules apply as at sign-up. */
  newPassword: string;
  /**
   * The id of the signed-in user. If it is the user of the link or code, nothing is removed from the account, even if access to its
   * mailbox was never proved before. Pass `request` too: then the id counts only if no other host can have planted the
   * session.
   * @default none
   */
  sessionUserId?: string | null;
}

/** The input of `auth.credential.reauthenticate`. */
export interface ReauthenticateInput extends ClientInput {
  /** The user to reauthenticate. */
  userId: string;
  /** The session that counts as recently authenticated afterwards. */
  sessionId: string;
  /** The user's password. A wrong one counts as a failed sign-in. */
  password: string;
}

/** The input of `auth.credential.sendVerification`. */
export interface SendVerificationInput extends ClientInput {
  /** The user whose email to verify. */
  userId: string;
  /** The session that the code is for, with `verifyEmailBy: 'code'`. @default none */
  sessionId?: string | undefined;
}

/** A verification that waits for the emailed code, with `verifyEmailBy: 'code'`. */
export interface RequestedVerification {
  /** When the code expires. */
  readonly expiresAt: Date;
}

/** A concealed sign-up that waits for the emailed code, with `verifyEmailBy: 'code'`. */
export interface RequestedSignUp {
  /** When the code expires. */
  readonly expiresAt: Date;
  /** The token that identifies the sign-up. Send it to the client only. */
  readonly pendingToken: string;
}

/** The input of `auth.credential.verifyEmail`: either the token or, with `verifyEmailBy: 'code'`, the code. */
export interface VerifyEmailInput extends ClientInput {
  /** The token of the link in the email. @default none */
  token?: string | undefined;
  /** The code that the user has typed. Spaces and hyphens do not matter. @default none */
  code?: string | undefined;
  /** The token of {@link RequestedSignUp}, for the code of a concealed sign-up. @default the one in the cookie of `request` */
  pendingToken?: string | undefined;
  /** The user whose session asked for the code. @default none */
  userId?: string | undefined;
  /** The session that asked for the code. @default none */
  sessionId?: string | undefined;
  /**
   * The id of the signed-in user, with a token. Pass `request` too: then the id counts only if no other host can have planted
   * the session.
   * @default none
   */
  sessionUserId?: string | null;
  /** The user's password, with a token, if they are not signed in. @default none */
  password?: string | undefined;
}
