import type { Core } from '../core/core.js';
import type { ClientInput } from '../sessions/request.js';
import type { SignedIn } from '../sessions/signed-in.js';

/** Identifies a pending sign-in. */
export interface PendingInput extends ClientInput {
  /** The token of the pending sign-in. @default the one in the cookie of `request` */
  pendingToken?: string | undefined;
}

/** The input of `auth.completeSignIn`. */
export interface CompleteSignInInput extends PendingInput {
  /** One of the `methods` of the pending sign-in: `totp`, `recovery_code`, `passkey`, `email_code`. */
  method: string;
  /** The code, for `totp`, `recovery_code` and `email_code`. @default none */
  code?: string | undefined;
  /** The browser's response, for `passkey`. @default none */
  response?: unknown;
  /**
   * Whether the browser of `request` stands in for the second factor from now on: see `trustDevices` of `twoFactor()`.
   * Without that option, for other methods than `totp` and `passkey`, and for a sign-in that did not start with the password,
   * it has no effect.
   * @default false
   */
  trustDevice?: boolean | undefined;
}

/** The calls of `auth` for pending sign-ins. */
export interface CompletionApi {
  /**
   * Completes a sign-in that is pending after `signIn` or after a sign-in at a provider.
   *
   * @example
   * const signedIn = await auth.credential.signIn({ credential, password });
   * if ('secondFactor' in signedIn) {
   *   const { pendingToken } = signedIn.secondFactor;
   *   const issued = await auth.completeSignIn({ pendingToken, method: 'totp', code });
   * }
   *
   * @returns the session. With `verifyEmailBy: 'code'`, a code can be followed by the second factor, in another pending sign-in
   * @throws AuthError `sign_in_expired`, `invalid_code` (401), `rate_limited` (429), and errors of account checks, such
   *   as `account_suspended` (403)
   */
  completeSignIn(input: CompleteSignInInput): Promise<SignedIn>;
  /**
   * Emails the code of a pending sign-in again, at most three times. The code and its expiry stay the same.
   *
   * @throws AuthError `sign_in_expired` (401); `email_code_not_offered` (409) if the sign-in waits for a second factor;
   *   `rate_limited` (429)
   */
  sendSignInCode(input: PendingInput): Promise<{ readonly expiresAt: Date }>;
}

const KEYS = ['pendingToken', 'method', 'code', 'response', 'trustDevice'];

export function completionApi(core: Core): CompletionApi {
  return {
    completeSignIn: (input) =>
      core.callByAnyone('auth.completeSignIn', input, KEYS, async () => {
        const { method, pendingToken, response, trustDevice } = input;
        const code = input.code === undefined ? undefined : String(input.code);
        const complete = () =>
          core.completion.complete(pendingToken, { method, code, response, trustDevice });
        return core.countSignIn('second_step', complete);
      }),
    sendSignInCode: (input) =>
      core.callByAnyone('auth.sendSignInCode', input, ['pendingToken'], async () => ({
        expiresAt: await core.completion.sendAgain(input.pendingToken),
      })),
  };
}
