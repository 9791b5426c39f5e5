import type { ClientInput, TransactionOption } from '../../sessions/client-input.js';
import type { NewPasskeyResponse, PasskeyRequestOptionsJSON, PasskeyResponse } from './webauthn.js';

/** Who is about to add a passkey, or to reauthenticate with one. */
export interface PasskeySession extends TransactionOption {
  /** The user. */
  userId: string;
  /** Their session, to which the options are bound. */
  sessionId: string;
}

/** The input of `auth.passkeys.register`. */
export interface RegisterPasskeyInput extends PasskeySession, ClientInput {
  /** What `toJSON()` of the new credential returned in the browser. */
  response: NewPasskeyResponse;
  /** A name for lists of passkeys: 1 to 100 visible characters. @default 'Passkey' */
  name?: string | undefined;
}

/** The input of `auth.passkeys.reauthenticate`. */
export interface ReauthenticateWithPasskeyInput extends PasskeySession, ClientInput {
  /** What `toJSON()` of the credential returned in the browser. */
  response: PasskeyResponse;
}

/** The input of `auth.passkeys.signIn`. */
export interface PasskeySignInInput extends ClientInput {
  /** What `toJSON()` of the credential returned in the browser. */
  response: PasskeyResponse;
  /** The `pendingToken` that came with the options. @default the one in the cookie of `request` */
  pendingToken?: string | undefined;
  /** Keeps the session when the browser is closed. @default false */
  rememberMe?: boolean | undefined;
}

/** Options for a sign-in, and what binds them to their browser. */
export interface PasskeySignInRequest {
  /** For `navigator.credentials.get()`. */
  readonly options: PasskeyRequestOptionsJSON;
  /** For clients without cookies, to be given to `auth.passkeys.signIn`. Keep it from everybody else. */
  readonly pendingToken: string;
  /** The `Set-Cookie` header for browsers, in place of the token. */
  readonly setCookie: string;
}

/** Options of `auth.passkeys.remove`. */
export interface RemovePasskeyOptions extends TransactionOption {
  /**
   * The session that requests it. If it has ended in the meantime, or lacks the second factor that the account demands,
   * nothing is removed.
   * @default none
   */
  sessionId?: string | undefined;
}
