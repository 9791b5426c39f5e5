import { declareProblems } from '../../errors.js';
import { declareNotices } from '../../mail/notice-kinds.js';
import { addsUserColumns } from '../../migrations/create.js';
import { declareFormerMigration } from '../../migrations/former.js';
import { declareEvents } from '../../outbox/events.js';
import type { Owner } from '../../owners.js';
import { column, type RowOf, type ShownOf } from '../../tables/column.js';
import { sessions, users } from '../../tables/core.js';
import { declareTable } from '../../tables/table.js';

const OWNER: Owner = { name: 'twoFactor', call: 'twoFactor()' };

/** The columns that the plugin adds to users, so that reading a user also shows whether they have a second factor. */
export const secondFactorColumns = {
  /** When the user enabled their second factor. Null if they do not have one. */
  secondFactorAt: column.time().nullable(),
  /** Whether the user has enabled their passkeys as a second factor. */
  passkeyFactor: column.boolean().internal().nullable(),
};

const { passkeyFactor } = secondFactorColumns;

/** The changes of the plugin's tables and columns. */
export const secondFactorMigrations = [addsUserColumns('0002-twoFactor', { passkeyFactor })];

/** Whether a user has a second factor. */
export interface SecondFactorOfUser extends ShownOf<typeof secondFactorColumns> {}

/** The confirmed TOTP secrets. Each account with a second factor has one. */
export const totpSecretsTable = declareTable({
  name: 'totp_secrets',
  columns: {
    userId: column.uuid(),
    /** The secret in base32, encrypted and bound to the user. */
    secret: column.longText().secret(),
    /** The last time step whose code was accepted. Codes of this step and of earlier steps are rejected. */
    lastStep: column.integer().internal(),
    /** The number of wrong codes in a row. */
    wrongCodes: column.integer().internal(),
    /** When the user got a notice about wrong codes. Null before that, and after a correct factor. */
    warnedAt: column.time().internal().nullable(),
    confirmedAt: column.time(),
  },
  foreignKeys: { userId: users },
});

/** Secrets that users have not confirmed with a code yet. Each belongs to the session that started the enrolment. */
export const totpEnrolmentsTable = declareTable({
  name: 'totp_enrolments',
  columns: {
    sessionId: column.uuid(),
    userId: column.uuid(),
    secret: column.longText().secret(),
    expiresAt: column.time(),
  },
  foreignKeys: { sessionId: sessions, userId: users },
  indexes: { userId: ['userId'], expiresAt: ['expiresAt'] },
});

export const recoveryCodesTable = declareTable({
  name: 'recovery_codes',
  columns: {
    codeHash: column.digest().internal(),
    userId: column.uuid(),
    /** When the code was used. Null if it was not. Used codes are kept for as long as an undo could restore them. */
    usedAt: column.time().nullable(),
  },
  foreignKeys: { userId: users },
  indexes: { userId: ['userId'], usedAt: ['usedAt'] },
});

/**
 * The sign-ins that were waiting for the second factor, in earlier versions. Their processes use the table until all of
 * them have been replaced, so it is still there. Those of this version are in `unfinished_sign_ins`.
 */
export const formerPendingSignInsTable = declareTable({
  name: 'pending_sign_ins',
  columns: {
    hash: column.digest().internal().named('token_hash'),
    userId: column.uuid(),
    authEpoch: column.integer().internal(),
    remembered: column.boolean(),
    amr: column.words(100),
    attempts: column.text(320).internal().nullable(),
    expiresAt: column.time(),
  },
  foreignKeys: { userId: users },
  indexes: { userId: ['userId'], expiresAt: ['expiresAt'] },
});

export interface TotpSecretRow extends RowOf<typeof totpSecretsTable.columns> {}

/** The kinds of second factors that a user can enable. */
export type Factor = 'totp' | 'passkeys';

declareFormerMigration('twoFactor', '0017-two-factor');

const problems = declareProblems({
  totp_not_enabled: [409, 'Codes of an authenticator app are not switched on for this account.'],
  second_factor_demanded: [
    409,
    'This account must have a second factor. Set up another one first, and then remove this one.',
  ],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

declare module '../../outbox/events.js' {
  interface EventDetails {
    /**
     * A user enabled a second factor: they confirmed an authenticator app, either their first one or a replacement, or
     * their passkeys are asked for.
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
    /** A recovery code was used for a sign-in or a reauthentication. */
    'recovery_code.used': { readonly userId: string };
  }
}

declareEvents(OWNER, 'second_factor.enabled', 'second_factor.disabled', 'recovery_code.used');

export const secondFactorNotices = declareNotices(OWNER, {
  'second-factor-enabled': {
    subject: 'Your second factor is on',
    lines: [
      'From now on, signing in to your account takes a code from your authenticator app as well. All other sessions have ended.',
    ],
  },
  'second-factor-disabled': {
    subject: 'Your second factor is off',
    lines: ['Signing in to your account no longer takes a second factor. Your recovery codes are gone too.'],
  },
  'recovery-code-used': {
    subject: 'A recovery code was used',
    lines: [
      'Someone used one of the recovery codes of your account in place of a code from your authenticator app or a passkey. It cannot be used again.',
    ],
  },
  'recovery-codes-renewed': {
    subject: 'You have new recovery codes',
    lines: ['Your account has new recovery codes. The earlier ones do not work any more.'],
  },
  'second-factor-attempts': {
    subject: 'Somebody may know your password',
    lines: [
      'Ten wrong codes in a row were entered for your account, after its password or another first step was right.',
      'If it was not you, change your password now. Your second factor has kept them out.',
    ],
  },
});

/** The notices of a change that leaves the account another second factor, or is one of passkeys. */
export const factorNotices = {
  passkeysOn: {
    ...secondFactorNotices['second-factor-enabled'],
    lines: [
      'From now on, signing in to your account takes one of your passkeys as well. All other sessions have ended.',
    ],
  },
  passkeyEnrolled: {
    ...secondFactorNotices['second-factor-enabled'],
    about: 'Passkey',
    lines: [
      'A passkey was added to your account. From now on, signing in to your account takes one of your passkeys. All other sessions have ended.',
    ],
  },
  allOff: {
    ...secondFactorNotices['second-factor-disabled'],
    lines: [
      'Your account no longer has a second factor. Its passkeys and recovery codes are gone. You are asked to set up a second factor when you sign in.',
    ],
  },
  passkeysOff: {
    ...secondFactorNotices['second-factor-disabled'],
    lines: [
      'Signing in to your account no longer takes one of your passkeys as well. Your recovery codes are gone too.',
    ],
  },
  /** @param left what is still asked for */
  off: (left: Factor) => ({
    ...secondFactorNotices['second-factor-disabled'],
    subject: 'A second factor is off',
    lines: [
      left === 'totp'
        ? 'Signing in to your account no longer takes one of your passkeys. It still takes a code from your authenticator app.'
        : 'Signing in to your account no longer takes a code from your authenticator app. It still takes one of your passkeys.',
    ],
  }),
};

declare module '../../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof secondFactorNotices, unknown> {}
}
