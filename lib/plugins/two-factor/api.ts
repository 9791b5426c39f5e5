import type { PendingInput } from '../../accounts/completion.js';
import type { SecondFactorSetup } from '../../accounts/second-factor.js';
import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import type { Factors } from '../../factors/factors.js';
import { keyUri, newSecret, qrSvg, stepOf } from '../../factors/totp.js';
import { endingWithObject } from '../../known-keys.js';
import { say } from '../../phrases.js';
import type { ClientInput, TransactionOption } from '../../sessions/request.js';
import type { EnrolledSecondFactor } from '../../sessions/second-factor.js';
import type { IssuedSession } from '../../sessions/signed-in.js';
import type { User } from '../../tables/core.js';
// The fields that this import adds to import rows are a part of the public types.
import './imported-factors.js';

/** The state of a user's second factor. */
export interface TwoFactorStatus {
  /** Whether codes from an authenticator app are enabled. */
  readonly totp: boolean;
  /** The number of unused recovery codes. */
  readonly recoveryCodesLeft: number;
  /** Whether the user has enabled their passkeys as a second factor. */
  readonly passkeys: boolean;
  /** Whether the user must have a second factor: see `required` of {@link twoFactor}. */
  readonly required: boolean;
}

/** The secret that an authenticator app is set up with. Show it only to the user. */
export interface TotpEnrolment {
  /** The secret in base32, for devices without a camera. */
  readonly secret: string;
  /** The secret as an `otpauth:` URL, which opens the authenticator app on a phone. */
  readonly otpauthUrl: string;
  /** The URL as a QR code, which is an SVG image. */
  readonly qrSvg: string;
}

/** The input of `auth.twoFactor.enroll`. */
export interface EnrollTotpInput extends ClientInput {
  /** The user's id. */
  userId: string;
  /** The session, which must also be the one that confirms the app later. */
  sessionId: string;
}

/** The input of `auth.twoFactor.confirm`. */
export interface ConfirmTotpInput extends EnrollTotpInput {
  /** A code from the authenticator app. */
  code: string;
}

/** The input of `auth.twoFactor.turnOff` and `auth.twoFactor.renewRecoveryCodes`. */
export interface ChangeTwoFactorInput extends ClientInput {
  /** The user's id. */
  userId: string;
  /** The user's session. It must have been verified with the second factor in the last ten minutes. */
  sessionId: string;
}

/** The input of `auth.twoFactor.usePasskeys`. */
export interface UsePasskeysInput extends ChangeTwoFactorInput {
  /** Whether to enable passkeys as a second factor, or to disable them. */
  on: boolean;
}

/** Options of `auth.twoFactor.disable`. */
export interface DisableTwoFactorOptions extends TransactionOption {
  /** The id of the administrator who disables it, for the event. Must not be `userId`. @default null: the app itself */
  adminId?: string | null;
}

const OF_SESSION = ['userId', 'sessionId'];

/** `auth.twoFactor`: codes from authenticator apps as a second factor. */
export class TwoFactorApi {
  readonly #core: Core;
  readonly #factors: Factors;
  readonly #setup: SecondFactorSetup;
  readonly #issuer: string;

  /** @internal */
  constructor(
    core: Core,
    factors: Factors,
    { setup, issuer }: { readonly setup: SecondFactorSetup; readonly issuer: string },
  ) {
    this.#core = core;
    this.#factors = factors;
    this.#setup = setup;
    this.#issuer = issuer;
    endingWithObject('auth.twoFactor', this);
  }

  /** Returns the state of a user's second factor. */
  async status(userId: string, options: TransactionOption = {}): Promise<TwoFactorStatus> {
    return this.#core.call('auth.twoFactor.status', options, [], async () => {
      const { totp, passkeys, codes } = await this.#factors.status.read(userId);
      const { secondFactors } = this.#core;
      const record = secondFactors.areRequired ? await this.#core.users.findRecord({ id: userId }) : null;
      return {
        totp,
        passkeys,
        recoveryCodesLeft: codes,
        required: record !== null && secondFactors.isRequiredOf(record.account),
      };
    });
  }

  /**
   * Starts setting up an authenticator app, which can also replace another one. Nothing changes until the user confirms
   * it within 10 minutes, in the same session.
   *
   * @throws AuthError `email_not_verified` (403) with `email` in the config; `invalid_session` (401),
   *   `second_factor_required`, `reauthentication_required` (403) if the user already has an app
   */
  enroll(input: EnrollTotpInput): Promise<TotpEnrolment> {
    return this.#core.callFor('auth.twoFactor.enroll', input, OF_SESSION, async () => {
      const { userId, sessionId } = input;
      const secret = await newSecret();
      const user = await this.#setup.begin(userId, sessionId, secret);
      return enrolmentOf(secret, this.#issuer, user);
    });
  }

  /**
   * Enables the second factor, with a code that proves that the authenticator app is set up. The session continues with
   * a new token, and all other sessions are revoked. The recovery codes cannot be retrieved later.
   *
   * @throws AuthError `invalid_code` (401), `rate_limited` (429), and like {@link enroll}
   */
  confirm(
    input: ConfirmTotpInput,
  ): Promise<{ readonly issued: IssuedSession; readonly recoveryCodes: readonly string[] }> {
    return this.#core.callFor('auth.twoFactor.confirm', input, [...OF_SESSION, 'code'], async () => {
      const { userId, sessionId, code } = input;
      const { enrolments, attempts } = this.#factors;
      const secret = await enrolments.find(userId, sessionId);
      if (secret === null) throw new AuthError('invalid_code', { detail: say('totp-not-started') });
      const { user } = await this.#core.users.require(userId);
      const confirm = async () => {
        const step = await stepOf(secret, String(code), this.#core.database.clock.now());
        if (step === null) throw new AuthError('invalid_code');
        return this.#setup.enable(userId, sessionId, secret, step);
      };
      return attempts.attempt(user, confirm, { isOfConfirmed: false });
    });
  }

  /**
   * Disables codes from an authenticator app. The session continues with a new token, and all other sessions are revoked.
   *
   * @returns the session, or null if there was nothing to disable
   * @throws AuthError `invalid_session` (401), `second_factor_required`, `reauthentication_required` (403);
   *   `second_factor_demanded` (409) if the user must have a second factor and has no other one
   */
  turnOff(input: ChangeTwoFactorInput): Promise<IssuedSession | null> {
    return this.#core.callFor('auth.twoFactor.turnOff', input, OF_SESSION, () =>
      this.#setup.turnOffTotp(input.userId, input.sessionId),
    );
  }

  /**
   * Enables the passkeys of a session's user as a second factor, or disables them. While they are enabled, each sign-in
   * with something else, such as the password, asks for one of them. The session continues with a new token, and all other
   * sessions are revoked.
   *
   * @returns the session, and the recovery codes if the user had none: they cannot be retrieved later
   * @throws AuthError `no_passkey` (409); `email_not_verified` (403) with `email` in the config; to disable them,
   *   `second_factor_demanded` (409) if the user must have a second factor and has no other one; and like {@link turnOff}
   * @throws TypeError if no plugin has passkeys
   */
  usePasskeys(input: UsePasskeysInput): Promise<EnrolledSecondFactor> {
    const { userId, sessionId, on } = input;
    return this.#core.callFor('auth.twoFactor.usePasskeys', input, [...OF_SESSION, 'on'], async () => {
      if (on) return this.#setup.enablePasskeys(userId, sessionId);
      return { issued: await this.#setup.disablePasskeys(userId, sessionId), recoveryCodes: null };
    });
  }

  /**
   * Creates new recovery codes, which cannot be retrieved later. The earlier codes stop working.
   *
   * @throws AuthError `totp_not_enabled` (409), and like {@link turnOff}
   */
  renewRecoveryCodes(input: ChangeTwoFactorInput): Promise<readonly string[]> {
    return this.#core.callFor('auth.twoFactor.renewRecoveryCodes', input, OF_SESSION, () =>
      this.#setup.renewCodes(input.userId, input.sessionId),
    );
  }

  /**
   * Disables the second factor of a user who has lost their phone and their recovery codes. Make sure that you know who
   * is asking. All sessions are revoked. The passkeys of a user who must have a second factor are removed, because a
   * sign-in would still ask for one. Does nothing if the user has no second factor.
   *
   * @throws AuthError `user_not_found` (404), `own_account` (409) if `adminId` is the user
   */
  disable(userId: string, options: DisableTwoFactorOptions = {}): Promise<void> {
    const { adminId = null } = options;
    return this.#core.call('auth.twoFactor.disable', options, ['adminId'], async () => {
      if (adminId !== null && adminId === userId) throw new AuthError('own_account');
      await this.#setup.disable(userId, adminId);
    });
  }

  /**
   * Returns the options of `navigator.credentials.get` for providing a passkey as the second factor.
   *
   * @throws AuthError `sign_in_expired` (401)
   * @throws TypeError if no plugin has passkeys
   */
  options(
    input: PendingInput,
  ): Promise<{ readonly options: Readonly<Record<string, unknown>>; readonly pendingToken: string }> {
    return this.#core.callByAnyone('auth.twoFactor.options', input, ['pendingToken'], async () => {
      const { challenge } = this.#core.completion.methods.find((method) => method.challenge) ?? {};
      if (!challenge) throw new TypeError('latchkey: auth.twoFactor.options: add passkeys() to plugins');
      return this.#core.completion.options(input.pendingToken, challenge.options);
    });
  }
}

/** Returns the name under which an authenticator app lists the account. */
function nameOf({ email, usernameDisplay }: User): string {
  return email ?? usernameDisplay ?? 'account';
}

/** Returns the data that an authenticator app is set up with. */
export async function enrolmentOf(secret: string, issuer: string, user: User): Promise<TotpEnrolment> {
  const otpauthUrl = await keyUri(secret, issuer, nameOf(user));
  return { secret, otpauthUrl, qrSvg: await qrSvg(otpauthUrl) };
}
