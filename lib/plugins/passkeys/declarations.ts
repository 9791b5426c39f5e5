import { declareProblems } from '../../errors.js';
import { declareLimits } from '../../limits/limiter.js';
import { declareNotices, type NoticeTemplate } from '../../mail/notice-kinds.js';
import type { Owner } from '../../owners.js';
import { column } from '../../tables/column.js';
import { users } from '../../tables/core.js';
import { defineWaiting } from '../../tables/waiting.js';

const OWNER: Owner = { name: 'passkeys' };

/** The lifetime of a challenge. */
export const CHALLENGE_MS = 5 * 60 * 1000;

/** Challenges for authenticators to sign. The browser's part is its token or pending sign-in, or the id of its session. */
export const challengesTable = defineWaiting({
  name: 'passkey_challenges',
  hangsOn: 'browser',
  lifetimeMs: CHALLENGE_MS,
  exported: 'Its rows are hashes, and expire within minutes.',
  columns: {
    challengeHash: column.digest().internal(),
    /** The purpose that the challenge can be used for: see `ChallengePurpose`. */
    purpose: column.text(16).exact(),
    /** The user whose passkeys can sign it. Null for a sign-in, because its user is not known yet. */
    userId: column.uuid().nullable(),
    /** The user handle for a new passkey: see `Passkey`. */
    userHandle: column.text(64).exact().internal().nullable(),
  },
  foreignKeys: { userId: users },
});

export type ChallengeColumns = typeof challengesTable.columns;

const problems = declareProblems({
  invalid_passkey: [401, 'The passkey could not be verified, or too much time has passed. Try again.'],
  unknown_passkey: [
    401,
    'No account has this passkey. Sign in another way, and delete the passkey from your device.',
  ],
  passkey_not_found: [404, 'You have no such passkey. It might have been removed already.'],
  passkey_exists: [409, 'This passkey is already in use. Use another device, or sign in with this passkey.'],
  too_many_passkeys: [409, 'You have the maximum number of passkeys. Remove one that you no longer use.'],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

const limits = declareLimits(OWNER, {
  /** Requests for passkey options: per address for sign-ins, and per account for everything else. */
  passkeyOptions: { limit: 60, window: 60 },
});

declare module '../../limits/limiter.js' {
  interface LimitNames extends Record<keyof typeof limits, unknown> {}
}

export const passkeyNotices = declareNotices(OWNER, { 'passkey-added': {}, 'passkey-removed': {} });

/** The notice about the removal of the last passkey, if sign-ins asked for a passkey. */
export const lastRemoved: NoticeTemplate = {
  ...passkeyNotices['passkey-removed'],
  text: 'passkey-removed/last',
};

declare module '../../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof passkeyNotices, unknown> {}
}
