import type { FreshCode, ReadingCode } from './codes.js';
import type { WithSession } from './resources.js';
import type { Call, CallOptions } from './result.js';
import type { AnyShape } from './shape.js';

/** The status of the user's second factor. */
export interface TwoFactorStatus {
  readonly totp: boolean;
  readonly recovery_codes_left: number;
  readonly passkeys: boolean;
  readonly required: boolean;
}

/** The secret for an authenticator app. */
export interface TotpEnrolment {
  readonly secret: string;
  readonly otpauth_url: string;
  /** The QR code of the URL, as an SVG document. */
  readonly qr_svg: string;
}

/** The routes of `twoFactor()`. */
export interface TwoFactorClient<S extends AnyShape> {
  /** Gets the status of the user's second factor. */
  status(options?: CallOptions): Call<TwoFactorStatus, ReadingCode>;
  /** Starts the setup of an authenticator app. The user must confirm it with a code within 10 minutes. */
  enroll(options?: CallOptions): Call<TotpEnrolment, FreshCode | 'email_not_verified' | 'task_required'>;
  /** Enables the codes of the authenticator app, and revokes all other sessions. */
  confirm(
    input: { code: string },
    options?: CallOptions,
  ): Call<
    WithSession<S> & { readonly recovery_codes: readonly string[] },
    FreshCode | 'email_not_verified' | 'invalid_code' | 'rate_limited' | 'task_required'
  >;
  /** Disables the codes of the authenticator app, and revokes all other sessions. */
  disable(options?: CallOptions): Call<null, FreshCode | 'second_factor_demanded' | 'task_required'>;
  /** Replaces the recovery codes. */
  renewRecoveryCodes(
    options?: CallOptions,
  ): Call<{ readonly recovery_codes: readonly string[] }, FreshCode | 'task_required' | 'totp_not_enabled'>;
  /** Enables or disables the user's passkeys as a second factor, and revokes all other sessions. */
  usePasskeys(
    input: { on: boolean },
    options?: CallOptions,
  ): Call<
    WithSession<S> & {
      /** Present if the user had no recovery codes left. */
      readonly recovery_codes?: readonly string[];
    },
    FreshCode | 'email_not_verified' | 'no_passkey' | 'second_factor_demanded' | 'task_required'
  >;
  /** Disables a user's second factor, for administrators, and revokes all of the user's sessions. */
  disableForUser(
    userId: string,
    options?: CallOptions,
  ): Call<null, FreshCode | 'admin_required' | 'own_account' | 'task_required' | 'user_not_found'>;
}

/** @internal */
export const TWO_FACTOR = {
  status: 'GET /two-factor',
  enroll: 'POST /two-factor/totp',
  confirm: 'POST /two-factor/totp/confirm input session',
  disable: 'DELETE /two-factor/totp session',
  renewRecoveryCodes: 'POST /two-factor/recovery-codes',
  usePasskeys: 'PUT /two-factor/passkeys input session',
  disableForUser: 'POST /admin/users/:id/disable-second-factor',
} satisfies Record<keyof TwoFactorClient<AnyShape>, string>;
