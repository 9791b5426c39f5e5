// The tables of second factors and passkeys. They are created if the plugins twoFactor() and passkeys() are in the config.
import type { Database } from '../database/database.js';
import { column, type RowOf, type ShownOf } from './column.js';
import { sessions, users } from './core.js';
import { declareTable, type Fact } from './table.js';

/** The columns that twoFactor() adds to users, so that reading a user also shows whether they have a second factor. */
export const secondFactorColumns = {
  /** When the user enabled a second factor. Null if they have not, even if a passkey counts because they must have one. */
  secondFactorAt: column.time().nullable().exported(),
  /** Whether the user has enabled their passkeys as a second factor. */
  passkeyFactor: column.boolean().internal().nullable().exported(),
};

export type SecondFactorColumns = typeof secondFactorColumns;

/** Whether a user has a second factor. */
export interface SecondFactorOfUser extends ShownOf<SecondFactorColumns> {}

/** The confirmed TOTP secrets. Each account with an authenticator app has one. */
export const totpSecretsTable = declareTable({
  name: 'totp_secrets',
  exported: { as: 'authenticator_apps', by: 'userId' },
  columns: {
    userId: column.uuid().exported(),
    /** The secret in base32, encrypted and bound to the user. */
    secret: column.longText().secret(),
    /** The last time step whose code was accepted. Codes of this step and of earlier steps are rejected. */
    lastStep: column.integer().internal().notExported('It only prevents a code from being used twice.'),
    /** The number of wrong codes in a row. */
    wrongCodes: column.integer().internal().exported(),
    /** When the user got a notice about wrong codes. Null before that, and after a correct factor. */
    warnedAt: column.time().internal().nullable().exported(),
    confirmedAt: column.time().exported(),
  },
  foreignKeys: { userId: users },
});

/** Secrets that users have not confirmed with a code yet. Each belongs to the session that started the enrolment. */
export const totpEnrolmentsTable = declareTable({
  name: 'totp_enrolments',
  exported: 'Its rows are secrets that are not confirmed, and expire within minutes.',
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
  exported: { as: 'recovery_codes', by: 'userId' },
  columns: {
    codeHash: column.digest().internal(),
    userId: column.uuid().exported(),
    /** When the code was used. Null if it was not. Used codes are kept for as long as an undo could restore them. */
    usedAt: column.time().nullable().exported(),
  },
  foreignKeys: { userId: users },
  indexes: { userId: ['userId'], usedAt: ['usedAt'] },
});

export interface TotpSecretRow extends RowOf<typeof totpSecretsTable.columns> {}

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

/** Whether a user has a passkey, according to the statement that has read the user. Set only if something needs it. */
export const HAS_PASSKEY = Symbol('has a passkey');

/** Returns the condition {@link HAS_PASSKEY}. */
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
