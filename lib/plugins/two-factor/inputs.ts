import type { ClientInput, TransactionOption } from '../../sessions/client-input.js';

/** Whether a user has a second factor. */
export interface TwoFactorStatus {
  /** Whether codes of an authenticator app are switched on. */
  readonly totp: boolean;
  /** The number of unused recovery codes. */
  readonly recoveryCodesLeft: number;
}

/** What an authenticator app is set up with. Show it to the user only. */
export interface TotpEnrolment {
  /** The secret, in base32, for apps without a camera. */
  readonly secret: string;
  /** The same as an `otpauth:` URL, which opens the app on a phone. */
  readonly otpauthUrl: string;
  /** The URL as a QR code: an SVG image. */
  readonly qrSvg: string;
}

/** The input of `auth.twoFactor.enroll`. */
export interface EnrollTotpInput extends ClientInput {
  /** The user's id. */
  userId: string;
  /** The session that confirms it later. */
  sessionId: string;
}

/** The input of `auth.twoFactor.confirm`. */
export interface ConfirmTotpInput extends EnrollTotpInput {
  /** A code that the app shows. */
  code: string;
}

/** The input of `auth.twoFactor.turnOff` and `auth.twoFactor.renewRecoveryCodes`. */
export interface ChangeTwoFactorInput extends ClientInput {
  /** The user's id. */
  userId: string;
  /** The session of the user. It must have given the second factor in the last ten minutes. */
  sessionId: string;
}

/** Identifies a pending sign-in. */
export interface PendingInput extends ClientInput {
  /** The token of the pending sign-in. @default the one in the cookie of `request` */
  pendingToken?: string | undefined;
}

/** The input of `auth.twoFactor.complete`. */
export interface CompleteSignInInput extends PendingInput {
  /** One of the `methods` of the pending sign-in: `totp`, `recovery_code`, `passkey`. */
  method: string;
  /** The code, for `totp` and `recovery_code`. @default none */
  code?: string | undefined;
  /** The response of the browser, for `passkey`. @default none */
  response?: unknown;
}

/** Options of `auth.twoFactor.disable`. */
export interface DisableTwoFactorOptions extends TransactionOption {
  /** The id of the administrator who does it, for the event. Not their own account's. @default null: the app itself */
  adminId?: string | null;
}
