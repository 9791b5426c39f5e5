import { declareProblems } from '../errors.js';
import { declareLimits } from '../limits/limiter.js';
import { declareNotices } from '../mail/notice-kinds.js';
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
  'second-factor-enabled': {
    subject: 'Two-factor authentication was turned on',
    lines: [
      'From now on, signing in to your account also requires a code from your authenticator app. All other sessions have ended.',
    ],
  },
  'second-factor-disabled': {
    subject: 'Two-factor authentication was turned off',
    lines: [
      'Signing in to your account no longer requires two-factor authentication. Your recovery codes were deleted too.',
    ],
  },
  'recovery-code-used': {
    subject: 'A recovery code was used',
    lines: [
      'Someone used one of the recovery codes of your account instead of a code from your authenticator app or a passkey. This recovery code cannot be used again.',
    ],
  },
  'recovery-codes-renewed': {
    subject: 'You have new recovery codes',
    lines: ['Your account has new recovery codes. The previous codes no longer work.'],
  },
  'second-factor-attempts': {
    subject: 'Someone might know your password',
    lines: [
      'Ten wrong codes in a row were entered for your account, after the correct password or another first step.',
    ],
    advice: {
      text: 'If it was not you, change your password now. Two-factor authentication has protected your account.',
      page: 'account/security',
      action: 'Change your password',
    },
  },
});

/** The notices about passkeys as a second factor, and about changes that leave another second factor. */
export const factorNotices = {
  passkeysOn: {
    ...secondFactorNotices['second-factor-enabled'],
    lines: [
      'From now on, signing in to your account also requires one of your passkeys. All other sessions have ended.',
    ],
  },
  passkeyEnrolled: {
    ...secondFactorNotices['second-factor-enabled'],
    about: 'Passkey',
    lines: [
      'A passkey was added to your account. From now on, signing in to your account requires one of your passkeys. All other sessions have ended.',
    ],
  },
  allOff: {
    ...secondFactorNotices['second-factor-disabled'],
    lines: [
      'Your account no longer has two-factor authentication. Its passkeys and recovery codes were deleted. When you sign in, you will be asked to set it up again.',
    ],
  },
  passkeysOff: {
    ...secondFactorNotices['second-factor-disabled'],
    lines: [
      'Signing in to your account no longer requires one of your passkeys as the second step. Your recovery codes were deleted too.',
    ],
  },
  /** @param left the factor that sign-ins still ask for */
  off: (left: Factor) => ({
    ...secondFactorNotices['second-factor-disabled'],
    subject:
      left === 'totp' ? 'Your passkeys are no longer the second step' : 'Your authenticator app was removed',
    lines: [
      left === 'totp'
        ? 'Signing in to your account no longer requires one of your passkeys. It still requires a code from your authenticator app.'
        : 'Signing in to your account no longer requires a code from your authenticator app. It still requires one of your passkeys.',
    ],
  }),
};

declare module '../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof secondFactorNotices, unknown> {}
}
