import { column, type RowOf, type ShownOf } from '../../tables/column.js';
import { declareTable } from '../../tables/table.js';

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
    userHandle: column.text(64).internal(),
    /** How often the authenticator has signed. Zero if it does not count. */
    counter: column.integer().internal(),
  },
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
    purpose: column.text(16),
    /** The hash of what it is bound to: the token of a browser, or the id of a session. */
    bindingHash: column.digest().internal(),
    /** Null for a sign-in, whose user is not known yet. */
    userId: column.uuid().nullable(),
    /** For a new passkey: see `passkeys`. */
    userHandle: column.text(64).internal().nullable(),
    expiresAt: column.time(),
  },
});

export type ChallengeColumns = typeof challengesTable.columns;
