import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import type { ClientInput, TransactionOption } from '../../sessions/request.js';
import type { IssuedSession } from '../../sessions/signed-in.js';
import type { User } from '../../tables/core.js';
import type { Parts } from './parts.js';
import { challengerOf } from './proofs.js';
import { keyUri, newSecret, qrSvg, stepOf } from './secrets.js';
import './declarations.js';
// Its fields of import rows are a part of the public types.
import './imported-factors.js';

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

const NO_ENROLMENT = {
  detail:
    'There is nothing to confirm: set the app up again. What is not confirmed is forgotten after 10 minutes.',
};

/** `auth.twoFactor`: codes of authenticator apps as a second factor. */
export class TwoFactorApi {
  readonly #core: Core;
  readonly #parts: Parts;
  readonly #issuer: string;

  /** @internal */
  constructor(core: Core, parts: Parts, issuer: string) {
    this.#core = core;
    this.#parts = parts;
    this.#issuer = issuer;
  }

  /** Whether a user has a second factor. */
  async status(userId: string): Promise<TwoFactorStatus> {
    const found = await this.#parts.status.read(userId);
    return { totp: found !== null, recoveryCodesLeft: found?.codes ?? 0 };
  }

  /**
   * Begins to set up an authenticator app, also in place of another. Nothing changes until it is confirmed, within 10
   * minutes, in the same session.
   *
   * @throws AuthError `email_not_verified` (403) with `email` in the config; `invalid_session` (401),
   *   `second_factor_required`, `reauthentication_required` (403) if the user has another one already
   */
  enroll(input: EnrollTotpInput): Promise<TotpEnrolment> {
    return this.#core.forClient(input, async () => {
      const { userId, sessionId } = input;
      const secret = await newSecret();
      const user = await this.#parts.changes.begin(userId, sessionId, secret);
      const otpauthUrl = await keyUri(secret, this.#issuer, nameOf(user));
      return { secret, otpauthUrl, qrSvg: await qrSvg(otpauthUrl) };
    });
  }

  /**
   * Switches the second factor on, with a code that shows that the app is set up. The session goes on with a new token and
   * all others end. The recovery codes cannot be retrieved later.
   *
   * @throws AuthError `invalid_code` (401), `rate_limited` (429), and like {@link enroll}
   */
  confirm(
    input: ConfirmTotpInput,
  ): Promise<{ readonly issued: IssuedSession; readonly recoveryCodes: readonly string[] }> {
    return this.#core.forClient(input, async () => {
      const { userId, sessionId, code } = input;
      const { enrolments, attempts, changes } = this.#parts;
      const secret = await enrolments.find(userId, sessionId);
      if (secret === null) throw new AuthError('invalid_code', NO_ENROLMENT);
      const { user } = await this.#core.users.require(userId);
      const confirm = async () => {
        const step = await stepOf(secret, String(code), this.#core.database.clock.now());
        if (step === null) throw new AuthError('invalid_code');
        return changes.enable(userId, sessionId, secret, step);
      };
      return attempts.attempt(user, confirm, false);
    });
  }

  /**
   * Switches the second factor off for the user of a session, which goes on with a new token. All other sessions end.
   *
   * @returns the session; null if there was no second factor
   * @throws AuthError `invalid_session` (401), `second_factor_required`, `reauthentication_required` (403)
   */
  turnOff(input: ChangeTwoFactorInput): Promise<IssuedSession | null> {
    return this.#core.forClient(input, () => this.#parts.changes.disable(input.userId, input.sessionId));
  }

  /**
   * Makes new recovery codes, which cannot be retrieved later. The earlier ones do not work any more.
   *
   * @throws AuthError `totp_not_enabled` (409), and like {@link turnOff}
   */
  renewRecoveryCodes(input: ChangeTwoFactorInput): Promise<readonly string[]> {
    return this.#core.forClient(input, () => this.#parts.changes.renewCodes(input.userId, input.sessionId));
  }

  /**
   * Switches the second factor of a user off, for somebody who has lost the phone and the recovery codes: make sure that
   * you know who is asking. All sessions end. Does nothing if there is none.
   *
   * @throws AuthError `user_not_found` (404), `own_account` (409) if `adminId` is the user
   */
  disable(userId: string, { adminId = null, transaction }: DisableTwoFactorOptions = {}): Promise<void> {
    return this.#core.inTransaction(transaction, async () => {
      if (adminId !== null && adminId === userId) throw new AuthError('own_account');
      await this.#parts.changes.disable(userId, null, adminId);
    });
  }

  /**
   * Completes a sign-in that `signIn` or a provider left pending.
   *
   * @example
   * const signedIn = await auth.credential.signIn({ credential, password });
   * if ('secondFactor' in signedIn) {
   *   const { pendingToken } = signedIn.secondFactor;
   *   const issued = await auth.twoFactor.complete({ pendingToken, method: 'totp', code });
   * }
   *
   * @throws AuthError `sign_in_expired`, `invalid_code` (401), `rate_limited` (429), and what checks of the account throw,
   *   such as `account_suspended` (403)
   */
  complete(input: CompleteSignInInput): Promise<IssuedSession> {
    return this.#core.forClient(input, async () => {
      const { method, response } = input;
      const code = input.code === undefined ? undefined : String(input.code);
      const token = this.#parts.pendings.tokenOf(input.pendingToken);
      return this.#parts.completion.complete(token, { method, code, response });
    });
  }

  /**
   * What a browser needs to give a passkey as the second factor: the options of `navigator.credentials.get`.
   *
   * @throws AuthError `sign_in_expired` (401)
   * @throws TypeError if no plugin has passkeys
   */
  options(
    input: PendingInput,
  ): Promise<{ readonly options: Readonly<Record<string, unknown>>; readonly pendingToken: string }> {
    return this.#core.forClient(input, async () => {
      const [method] = this.#parts.proofs.methods;
      if (!method) throw new TypeError('latchkey: auth.twoFactor.options: add passkeys() to plugins');
      const pendingToken = this.#parts.pendings.tokenOf(input.pendingToken);
      const { record } = await this.#parts.pendings.find(pendingToken);
      const options = await method.options(record.user.id, challengerOf(pendingToken));
      return { options, pendingToken };
    });
  }
}

/** The name under which an app lists the account. */
function nameOf({ email, username }: User): string {
  return email ?? username ?? 'account';
}
