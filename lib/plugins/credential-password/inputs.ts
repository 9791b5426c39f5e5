/** Where a request came from: shown in the list of sessions, told to listeners, and limited. */
export interface ClientInput {
  /** The address. @default none, and then nothing is limited by address */
  ip?: string | null;
  /** What the browser or program calls itself. @default none */
  userAgent?: string | null;
}

/** What `auth.credential.signUp` takes. */
export interface SignUpInput extends ClientInput {
  /** At most 254 characters; stored in canonical form. */
  email: string;
  /** 8 to 256 code points, and none of the commonest (NIST SP 800-63B-4, 3.1.1.2). */
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
  /** A session that outlives the browser. @default false */
  rememberMe?: boolean;
}

/** What `auth.credential.changePassword` takes. */
export interface ChangePasswordInput extends ClientInput {
  /** Whose password it is. */
  userId: string;
  /** The session that goes on, with a new token. @default none: then a new one begins */
  sessionId?: string;
  /** Tried first; a wrong one counts as a failed sign-in. */
  currentPassword: string;
  /** Like that of a sign-up. */
  newPassword: string;
}

/** What `auth.credential.setPassword` takes. */
export interface SetPasswordInput extends ClientInput {
  /** A user who has no password. */
  userId: string;
  /** The session in whose name it is set: if it has ended meanwhile, no password is set. @default none */
  sessionId?: string;
  /** Like that of a sign-up. */
  newPassword: string;
}

/** What `auth.credential.resetPassword` takes. */
export interface ResetPasswordInput extends ClientInput {
  /** Of a reset mail. */
  token: string;
  /** Like that of a sign-up. */
  newPassword: string;
}

/** What `auth.credential.reauthenticate` takes. */
export interface ReauthenticateInput extends ClientInput {
  /** Who proves again who they are. */
  userId: string;
  /** The session that counts as fresh from then on. */
  sessionId: string;
  /** Tried; a wrong one counts as a failed sign-in. */
  password: string;
}

/** What `auth.credential.verifyEmail` takes. */
export interface VerifyEmailInput extends ClientInput {
  /** Of a verification mail. */
  token: string;
  /** Whose session stands beside the token. @default none */
  sessionUserId?: string | null;
  /** The password beside it, where there is no session. @default none */
  password?: string | undefined;
}
