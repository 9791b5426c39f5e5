import { column, type RowOf } from '../../tables/column.js';
import { declareTable } from '../../tables/table.js';

/** The confirmed TOTP secrets: one for each account with a second factor. */
export const totpSecretsTable = declareTable({
  name: 'totp_secrets',
  columns: {
    userId: column.uuid(),
    /** In base32, encrypted and bound to the user. */
    secret: column.longText().secret(),
    /** The last time step whose code was taken. Codes of this one and of earlier ones are refused. */
    lastStep: column.integer().internal(),
    /** Wrong codes in a row. */
    wrongCodes: column.integer().internal(),
    /** When the owner was told of wrong codes. Null until then, and after a right one. */
    warnedAt: column.time().internal().nullable(),
    confirmedAt: column.time(),
  },
});

/** Secrets whose owners have not shown yet that their app has them. Each belongs to the session that began it. */
export const totpEnrolmentsTable = declareTable({
  name: 'totp_enrolments',
  columns: {
    sessionId: column.uuid(),
    userId: column.uuid(),
    secret: column.longText().secret(),
    expiresAt: column.time(),
  },
});

export const recoveryCodesTable = declareTable({
  name: 'recovery_codes',
  columns: {
    codeHash: column.digest().internal(),
    userId: column.uuid(),
    /** Null for those that can be used. Used ones stay for as long as an undo could put them back. */
    usedAt: column.time().nullable(),
  },
});

/** Sign-ins that wait for the second factor. They are no sessions, and open nothing. */
export const pendingSignInsTable = declareTable({
  name: 'pending_sign_ins',
  columns: {
    hash: column.digest().internal().named('token_hash'),
    userId: column.uuid(),
    /** The user's epoch at the first factor. What ends all sessions of the user raises it, and ends this too. */
    authEpoch: column.integer().internal(),
    remembered: column.boolean(),
    /** How the user gave the first factor. */
    amr: column.words(),
    /** The counter of failures of the first factor, which the completed sign-in clears. Null if there is none. */
    attempts: column.text(320).internal().nullable(),
    expiresAt: column.time(),
  },
});

export interface TotpSecretRow extends RowOf<typeof totpSecretsTable.columns> {}
export interface PendingRow extends RowOf<typeof pendingSignInsTable.columns> {}
