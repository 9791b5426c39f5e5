import type { Database } from '../../database/database.js';
import { declareProblems } from '../../errors.js';
import { declareLimits } from '../../limits/limiter.js';
import { declareNotices } from '../../mail/notice-kinds.js';
import { declareEvents } from '../../outbox/events.js';
import type { Owner } from '../../owners.js';
import { column, type RowOf, type ShownOf } from '../../tables/column.js';
import { users } from '../../tables/core.js';
import { declareTable, type Fact } from '../../tables/table.js';
import { defineWaiting } from '../../tables/waiting.js';
import { HAS_PASSKEY } from '../../users/record.js';

const OWNER: Owner = { name: 'passkeys' };

export const passkeysTable = declareTable({
  name: 'passkeys',
  ofUser: 'passkeys',
  exported: { as: 'passkeys', by: 'userId' },
  columns: {
    /** A UUID, version 7. It identifies the passkey in lists. */
    id: column.uuid().onWire(),
    /** The id of the user who signs in with the passkey. */
    userId: column.uuid().exported(),
    /** A name for lists of passkeys. */
    name: column.text(100).onWire(),
    /** When the passkey was added. */
    createdAt: column.time().onWire(),
    /** When the passkey was last used to authenticate. Null if it was never used. */
    lastUsedAt: column.time().onWire().nullable(),
    /** Whether the passkey stays on one device (`singleDevice`), or can be copied to others (`multiDevice`). */
    deviceType: column.text(16).onWire({
      enum: ['singleDevice', 'multiDevice'],
      description: 'Whether it stays on one device, or can be copied to others',
    }),
    /** Whether the passkey is backed up, such as in the user's account with the maker of their phone. */
    backedUp: column.boolean().onWire({ description: 'Whether there is a copy of it elsewhere' }),
    /** How browsers reach the authenticator, such as `usb`, or `internal` if it is built into the device. */
    transports: column.words().onWire({ description: 'How browsers reach it, such as internal or usb' }),
    /** The credential's id that the authenticator chose, in base64url. */
    credentialId: column
      .longText()
      .internal()
      .notExported('Only the authenticator and latchkey have a use for it.'),
    /** The SHA-256 of `credentialId`, because these ids are too long for an index. */
    credentialHash: column.digest().internal(),
    /** The public key in COSE (RFC 9052), in base64url. */
    publicKey: column
      .longText()
      .internal()
      .notExported('Only the authenticator and latchkey have a use for it.'),
    /** The random id that identifies the user to the authenticator, in base64url. */
    userHandle: column
      .text(64)
      .exact()
      .internal()
      .notExported('Only the authenticator and latchkey have a use for it.'),
    /** The authenticator's signature counter. Zero if the authenticator does not count. */
    counter: column
      .bigInteger()
      .internal()
      .notExported('Only the authenticator and latchkey have a use for it.'),
  },
  unique: { credentialHash: ['credentialHash'] },
  foreignKeys: { userId: users },
  indexes: { userId: ['userId'] },
});

/** Whether a user has a passkey. */
export function hasPasskey(database: Database): Fact {
  const table = database.table(passkeysTable.name);
  return {
    key: HAS_PASSKEY,
    name: 'has_passkey',
    sql: (user, lock) => `EXISTS (SELECT 1 FROM ${table} WHERE user_id = ${user}.id ${lock})`,
  };
}

export type PasskeyColumns = typeof passkeysTable.columns;

/** A passkey of a user. */
export interface Passkey extends ShownOf<PasskeyColumns> {}

/** A passkey's row with all columns. */
export interface PasskeyRow extends RowOf<PasskeyColumns> {}

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
    /** The user handle for a new passkey: see `passkeysTable`. */
    userHandle: column.text(64).exact().internal().nullable(),
  },
  foreignKeys: { userId: users },
});

export type ChallengeColumns = typeof challengesTable.columns;

export const removedPasskeysTable = declareTable({
  name: 'removed_passkeys',
  exported: 'Its rows are hashes of the ids of passkeys.',
  columns: {
    /** A UUID, version 7. */
    id: column.uuid(),
    /** The SHA-256 of the credential's id: see `passkeysTable`. */
    credentialHash: column.digest().internal(),
    /** The id of the user from whom the passkey was removed. */
    userId: column.uuid(),
    /** The time after which no link can restore the passkey. */
    expiresAt: column.time(),
  },
  foreignKeys: { userId: users },
  indexes: { credentialHash: ['credentialHash'], userId: ['userId'], expiresAt: ['expiresAt'] },
});

export type RemovedPasskeyColumns = typeof removedPasskeysTable.columns;

const problems = declareProblems({
  invalid_passkey: [
    401,
    'The passkey could not be verified, or the request for it has expired. Ask for new options and try again.',
  ],
  unknown_passkey: [
    401,
    'No account has this passkey. Sign in another way, and delete the passkey from your device.',
  ],
  no_passkey: [
    409,
    'The account did not have a passkey for long enough before this change. Enter the password and the second factor from before the change.',
  ],
  passkey_not_found: [404, 'You have no such passkey. It might have been removed already.'],
  passkey_exists: [409, 'This passkey is already in use. Use another device, or sign in with this passkey.'],
  too_many_passkeys: [409, 'You have the maximum number of passkeys. Remove one that you no longer use.'],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

declare module '../../outbox/events.js' {
  interface EventDetails {
    /** A passkey was added to an account. */
    'passkey.added': { readonly userId: string; readonly passkeyId: string };
    /** A passkey was removed from an account. */
    'passkey.removed': { readonly userId: string; readonly passkeyId: string };
  }
}

declareEvents(OWNER, { 'passkey.added': { passkeyId: true }, 'passkey.removed': { passkeyId: true } });

const limits = declareLimits(OWNER, {
  /** Requests for passkey options: per address for sign-ins, and per account for everything else. */
  passkeyOptions: { limit: 60, window: 60 },
});

declare module '../../limits/limiter.js' {
  interface LimitNames extends Record<keyof typeof limits, unknown> {}
}

export const passkeyNotices = declareNotices(OWNER, {
  'passkey-added': {
    subject: 'A passkey was added to your account',
    lines: ['A passkey was added to your account. Anyone who has it can sign in to your account.'],
    about: 'Passkey',
  },
  'passkey-removed': {
    subject: 'A passkey was removed from your account',
    lines: ['A passkey was removed from your account. It can no longer be used to sign in.'],
    about: 'Passkey',
  },
});

/** The notice about the removal of the last passkey, if sign-ins asked for a passkey. */
export const lastRemoved = {
  ...passkeyNotices['passkey-removed'],
  lines: [
    ...passkeyNotices['passkey-removed'].lines,
    'It was your last passkey, so a sign-in with your password no longer asks for one. If you have no authenticator app, your recovery codes were deleted too.',
  ],
};

declare module '../../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof passkeyNotices, unknown> {}
}
