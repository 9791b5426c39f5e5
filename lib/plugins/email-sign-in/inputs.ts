import type { ClientInput } from '../../sessions/request.js';
import type { FieldValues } from '../../users/fields.js';

/** The input of `auth.emailSignIn.request`. */
export interface RequestEmailSignInInput extends ClientInput {
  /** The address that the user has entered. */
  email: string;
  /** Keeps the session when the browser is closed. @default false */
  rememberMe?: boolean | undefined;
}

/** A sign-in that waits for the emailed code. */
export interface RequestedEmailSignIn {
  /** When the code expires. */
  readonly expiresAt: Date;
  /** The token that identifies the sign-in. Send it to the client only. */
  readonly pendingToken: string;
}

/** The input of `auth.emailSignIn.confirm`: either the code or the token. */
export interface ConfirmEmailSignInInput extends ClientInput {
  /** The code that the user has typed. Case, spaces and hyphens do not matter. @default none */
  code?: string | undefined;
  /** The token of the link. @default none */
  token?: string | undefined;
  /** The token of {@link RequestedEmailSignIn}. @default the one in the cookie of `request` */
  pendingToken?: string | undefined;
  /** The fields of a new account, with `signUp: true`. They are ignored if the account exists. @default their defaults */
  fields?: FieldValues | undefined;
}

/** The input of `auth.emailSignIn.requestReauthentication`. */
export interface EmailReauthenticationInput extends ClientInput {
  /** The user who reauthenticates. */
  userId: string;
  /** The session that the code is for. */
  sessionId: string;
}
