import { declareProblems } from '../errors.js';
import { declareLimits } from '../limits/limiter.js';
import { declareNotices, type NoticeTemplate } from '../mail/notice-kinds.js';
import { declareEvents, OF_ADMINISTRATOR } from '../outbox/events.js';
import type { Owner } from '../owners.js';

const TWO_FACTOR: Owner = { name: 'twoFactor' };
const PASSKEYS: Owner = { name: 'passkeys' };

/** The kinds of second factors that a user can enable. */
export type Factor = 'totp' | 'passkeys';

const problems = declareProblems({
  no_passkey: [
    409,
    'The account did not have a passkey for long enough before this change. Enter the password and the second factor from before the change.',
  ],
  totp_not_enabled: [409, 'This account has no second factor. Set one up first.'],
  second_factor_demanded: [
    409,
    'This account must have a second factor. Set up another one first, then remove this one.',
  ],
});

declare module '../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

const limits = declareLimits(TWO_FACTOR, {
  /** New sets of recovery codes that one account requests through the routes, because each costs ten slow hashes. */
  recoveryCodes: { limit: 20, window: 60 },
});

declare module '../limits/limiter.js' {
  interface LimitNames extends Record<keyof typeof limits, unknown> {}
}

declare module '../outbox/events.js' {
  interface EventDetails {
    /**
     * A user enabled a second factor: they confirmed an authenticator app, either their first one or a replacement, or
     * they enabled their passkeys as a second factor.
     */
    'second_factor.enabled': { readonly userId: string; readonly factor: Factor };
    /**
     * A second factor of a user was disabled. `adminId` is the administrator who did it. It is null if the user or
     * the app itself did it.
     */
    'second_factor.disabled': {
      readonly userId: string;
      readonly adminId: string | null;
      readonly factor: Factor;
    };
    /** A user who provided the second factor at a sign-in trusts the browser, so that it stands in for the second factor. */
    'device.trusted': { readonly userId: string; readonly deviceId: string };
    /** A recovery code was used for a sign-in or a reauthentication. */
    'recovery_code.used': { readonly userId: string };
    /** A passkey was added to an account. */
    'passkey.added': { readonly userId: string; readonly passkeyId: string };
    /** A passkey was removed from an account. */
    'passkey.removed': { readonly userId: string; readonly passkeyId: string };
  }
}

declareEvents(TWO_FACTOR, {
  'second_factor.enabled': { factor: true },
  'second_factor.disabled': { factor: true, adminId: OF_ADMINISTRATOR },
  'device.trusted': { deviceId: true },
  'recovery_code.used': {},
});

declareEvents(PASSKEYS, { 'passkey.added': { passkeyId: true }, 'passkey.removed': { passkeyId: true } });

export const secondFactorNotices = declareNotices(TWO_FACTOR, {
  'second-factor-enabled': {},
  'second-factor-disabled': {},
  'recovery-code-used': {},
  'recovery-codes-renewed': {},
  'second-factor-attempts': { advicePage: 'account/security' },
});

const enabled = secondFactorNotices['second-factor-enabled'];
const disabled = secondFactorNotices['second-factor-disabled'];

/** The notices about passkeys as a second factor, and about changes that leave another second factor. */
export const factorNotices = {
  passkeysOn: { ...enabled, text: 'second-factor-enabled/passkeys' },
  passkeyEnrolled: { ...enabled, text: 'second-factor-enabled/passkey-added' },
  allOff: { ...disabled, text: 'second-factor-disabled/everything' },
  passkeysOff: { ...disabled, text: 'second-factor-disabled/passkeys' },
  /** Sign-ins still ask for a code from the authenticator app. */
  codesStay: { ...disabled, text: 'second-factor-disabled/codes-stay' },
  /** Sign-ins still ask for a passkey. */
  passkeysStay: { ...disabled, text: 'second-factor-disabled/passkeys-stay' },
} as const satisfies Readonly<Record<string, NoticeTemplate>>;

declare module '../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof secondFactorNotices, unknown> {}
}
