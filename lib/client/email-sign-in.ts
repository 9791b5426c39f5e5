import type { ChangingCode, ClosedCode, SendingCode } from './codes.js';
import type { Waiting, WithRemoval, WithStep } from './resources.js';
import type { Call, CallOptions } from './result.js';
import type { AnyShape } from './shape.js';

/** The routes of `emailSignIn()`. */
export interface EmailSignInClient<S extends AnyShape> {
  /** Emails a code to sign in with. */
  request(
    input: { email: string; remember_me?: boolean },
    options?: CallOptions,
  ): Call<
    {
      readonly expires_at: string;
      /** Present with `bearerEnabled`. Clients without cookies pass it to `confirm`. */
      readonly pending_token?: string;
    },
    SendingCode | 'rate_limited'
  >;
  /** Signs in with the emailed code or the token of the emailed link, and creates a new account with the given fields. */
  confirm(
    input: Partial<S['newFields']> & { code?: string; token?: string; pending_token?: string },
    options?: CallOptions,
  ): Call<
    (WithStep<S> & WithRemoval) | Waiting,
    | SendingCode
    | ClosedCode
    | 'invalid_code'
    | 'other_browser'
    | 'rate_limited'
    | 'sign_in_expired'
    | 'sign_up_refused'
  >;
  /** Emails a code to reauthenticate with, for accounts that have neither password nor passkey nor second factor. */
  requestReauthentication(
    options?: CallOptions,
  ): Call<null, ChangingCode | 'email_code_not_offered' | 'rate_limited'>;
}

/** @internal */
export const EMAIL_SIGN_IN = {
  request: 'POST /signin/email input',
  confirm: 'POST /signin/email/confirm input signs session',
  requestReauthentication: 'POST /reauthenticate/email',
} satisfies Record<keyof EmailSignInClient<AnyShape>, string>;
