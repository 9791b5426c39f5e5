import type { ClientInput } from '../../core/client-input.js';

/** What `auth.credential.signUp` takes. */
export interface SignUpInput extends ClientInput {
  /** At most 254 characters; stored in canonical form. */
  email: string;
  /** 8 to 256 code points, and not a common password (NIST SP 800-63B-4, 3.1.1.2). */
  password: string;
  /** Only where usernames are on. */
  username?: string | undefined;
}

/** What `auth.credential.signIn` takes. */
export interface SignInInput extends ClientInput {
  /** An email or, where usernames are on, a username. */
  credential: string;
  /** The password as it was typed. */
  password: string;
  /** Begins a session that outlives the browser. @default false */
  rememberMe?: boolean;
}

/** What `auth.credential.changePassword` takes. */
export interface ChangePasswordInput extends ClientInput {
  /** Whose password it is. */
  userId: string;
  /** The session that goes on, with a new token. @default none, and a new one begins */
  sessionId?: string;
  /** Checked first; a wrong one counts as a failed sign-in. */
  currentPassword: string;
  /** Under the same rules as at sign-up. */
  newPassword: string;
}

/** What `auth.credential.setPassword` takes. */
export interface SetPasswordInput extends ClientInput {
  /** A user who has no password. */
  userId: string;
  /** The session in whose name it is set: if it has ended in the meantime, no password is set. @default none */
  sessionId?: string;
  /** Under the same rules as at sign-up. */
  newPassword: string;
}

/** What `auth.credential.resetPassword` takes. */
export interface ResetPasswordInput extends ClientInput {
  /** From a reset mail. */
  token: string;
  /** Under the same rules as at sign-up. */
  newPassword: string;
}

/** What `auth.credential.reauthenticate` takes. */
export interface ReauthenticateInput extends ClientInput {
  /** The user who proves again who they are. */
  userId: string;
  /** The session that is fresh afterwards. */
  sessionId: string;
  /** A wrong one counts as a failed sign-in. */
  password: string;
}

/** What `auth.credential.verifyEmail` takes. */
export interface VerifyEmailInput extends ClientInput {
  /** From a verification mail. */
  token: string;
  /** The user whose session the request carries. @default none */
  sessionUserId?: string | null;
  /** The user's password, if there is no session. @default none */
  password?: string | undefined;
}
