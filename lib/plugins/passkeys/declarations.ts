import { declareProblems } from '../../errors.js';
import { declareLimits, type WindowRule } from '../../limits/limiter.js';
import { declareNotices } from '../../mail/notice-kinds.js';
import { declareFormerMigration } from '../../migrations/former.js';
import { declareEvents } from '../../outbox/events.js';
import type { Owner } from '../../owners.js';
import { column, type RowOf, type ShownOf } from '../../tables/column.js';
import { users } from '../../tables/core.js';
import { declareTable } from '../../tables/table.js';

const OWNER: Owner = { name: 'passkeys', call: 'passkeys()' };

export const passkeysTable = declareTable({
  name: 'passkeys',
  ofUser: 'passkeys',
  columns: {
    /** A UUID, version 7. It identifies the passkey in lists. */
    id: column.uuid().onWire(),
    /** The id of the user who signs in with it. */
    userId: column.uuid(),
    /** A name for lists of passkeys. */
    name: column.text(100).onWire(),
    /** When the passkey was added. */
    createdAt: column.time().onWire(),
    /** When the passkey was last used to authenticate. Null if never. */
    lastUsedAt: column.time().onWire().nullable(),
    /** Whether it stays in one device (`singleDevice`), or can be copied to others (`multiDevice`). */
    deviceType: column.text(16).onWire({
      enum: ['singleDevice', 'multiDevice'],
      description: 'Whether it stays in one device, or can be copied to others',
    }),
    /** Whether there is a copy of it elsewhere, such as in the user's account with the maker of their phone. */
    backedUp: column.boolean().onWire({ description: 'Whether there is a copy of it elsewhere' }),
    /** How browsers reach it, such as `internal` for one in the device itself, and `usb`. */
    transports: column.words().onWire({ description: 'How browsers reach it, such as internal or usb' }),
    /** The id that the authenticator chose, in base64url. */
    credentialId: column.longText().internal(),
    /** The SHA-256 of that id: ids are too long for an index. */
    credentialHash: column.digest().internal(),
    /** The public key in COSE (RFC 9052), in base64url. */
    publicKey: column.longText().internal(),
    /** The random id under which the authenticator knows the user, in base64url. */
    userHandle: column.text(64).exact().internal(),
    /** How often the authenticator has signed. Zero if it does not count. */
    counter: column.bigInteger().internal(),
  },
  unique: { credentialHash: ['credentialHash'] },
  foreignKeys: { userId: users },
  indexes: { userId: ['userId'] },
});

export type PasskeyColumns = typeof passkeysTable.columns;

/** A passkey of a user. */
export interface Passkey extends ShownOf<PasskeyColumns> {}

/** A row with all columns. */
export interface PasskeyRow extends RowOf<PasskeyColumns> {}

export const challengesTable = declareTable({
  name: 'passkey_challenges',
  columns: {
    challengeHash: column.digest().internal(),
    /** What it may be used for: see `ChallengePurpose`. */
    purpose: column.text(16).exact(),
    /** The hash of what it is bound to: the token of a browser, or the id of a session. */
    bindingHash: column.digest().internal(),
    /** Null for a sign-in, whose user is not known yet. */
    userId: column.uuid().nullable(),
    /** For a new passkey: see `passkeys`. */
    userHandle: column.text(64).exact().internal().nullable(),
    expiresAt: column.time(),
  },
  foreignKeys: { userId: users },
  indexes: { expiresAt: ['expiresAt'], userId: ['userId'] },
});

declareFormerMigration('passkeys', '0018-passkeys');

export type ChallengeColumns = typeof challengesTable.columns;

const problems = declareProblems({
  invalid_passkey: [
    401,
    'The passkey could not be verified, or the request for it has expired. Ask for new options and try again.',
  ],
  passkey_not_found: [404, 'You have no such passkey: it may have been removed already.'],
  passkey_exists: [409, 'This passkey is in use already. Use another device, or sign in with it.'],
  too_many_passkeys: [409, 'You have as many passkeys as are allowed. Remove one that you no longer use.'],
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

declareEvents(OWNER, 'passkey.added', 'passkey.removed');

const limits = declareLimits(OWNER, { passkeyOptions: { limit: 60, window: 60 } });

declare module '../../limits/limiter.js' {
  interface LimitNames extends Record<keyof typeof limits, unknown> {}
}

declare module '../../config/rate-limit.js' {
  interface RateLimitOptions {
    /**
     * Requests for passkey options: for sign-ins per address, and for everything else per account.
     * @default { limit: 60, window: 60 }
     */
    passkeyOptions?: WindowRule | false;
  }
}

export const passkeyNotices = declareNotices(OWNER, {
  'passkey-added': {
    subject: 'A passkey was added to your account',
    lines: ['A passkey was added to your account. Whoever has it can sign in.'],
    about: 'Passkey',
  },
  'passkey-removed': {
    subject: 'A passkey was removed from your account',
    lines: ['A passkey was removed from your account. Nobody can sign in with it any more.'],
    about: 'Passkey',
  },
});

declare module '../../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof passkeyNotices, unknown> {}
}
