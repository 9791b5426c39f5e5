/** Where a request came from: shown in the list of sessions, told to listeners, and limited. */
export interface Client {
  /** @default none, and then nothing is limited by address */
  ip?: string | null;
  userAgent?: string | null;
}

export interface SignUpInput extends Client {
  email: string;
  password: string;
  /** Only where usernames are on. */
  username?: string | undefined;
}

export interface SignInInput extends Client {
  /** An email or, where usernames are on, a username. */
  credential: string;
  password: string;
  /** A session that outlives the browser. @default false */
  rememberMe?: boolean;
}

export interface ChangePasswordInput extends Client {
  userId: string;
  /** The session that goes on, with a new token. @default none: then a new one begins */
  sessionId?: string;
  currentPassword: string;
  newPassword: string;
}

export interface SetPasswordInput extends Client {
  userId: string;
  /** The session in whose name it is set: if it has ended meanwhile, no password is set. @default none */
  sessionId?: string;
  newPassword: string;
}

export interface ResetPasswordInput extends Client {
  token: string;
  newPassword: string;
}

export interface ReauthenticateInput extends Client {
  userId: string;
  sessionId: string;
  password: string;
}

export interface VerifyEmailInput extends Client {
  token: string;
  /** Whose session stands beside the token. @default none */
  sessionUserId?: string | null;
  /** The password beside it, where there is no session. @default none */
  password?: string | undefined;
}
