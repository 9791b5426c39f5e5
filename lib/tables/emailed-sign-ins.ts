import { column, type RowOf } from './column.js';
import { defineWaiting } from './waiting.js';

/**
 * Sign-ins that wait for an emailed code or link. They hold an address, and never a user. The browser's part is its token, or
 * the id of the session that reauthenticates.
 */
export const emailedSignInsTable = defineWaiting({
  name: 'emailed_sign_ins',
  hangsOn: 'browser',
  tries: 5,
  exported: 'Its rows belong to browsers and not to accounts, and expire within minutes.',
  columns: {
    /** The hash of the link's token. Random for a reauthentication, which has no link. */
    linkHash: column.digest().internal(),
    /** Random, for the code and the link of a sign-in. Null for a reauthentication. */
    salt: column.digest().internal().nullable(),
    /** The address that the code is mailed to, in canonical form. */
    email: column.text(254).exact(),
    /** Whether the cookie of the session is kept when the browser is closed. */
    remembered: column.boolean(),
    /** The account that was signed in in this browser when it asked for the code. Null if there was none. */
    askedBy: column.uuid().nullable(),
    /** The time when the code was last mailed. Null until then, and no code is right. */
    sentAt: column.time().nullable(),
    /**
     * The account's epoch when the code was last mailed. Null if no account had the address. Negative if the account was
     * deleted since then.
     */
    authEpoch: column.integer().internal().nullable(),
    /** The number of times that an email was sent, or left out. */
    mails: column.integer().internal(),
    /** The number of times that the code was asked for again. */
    resends: column.integer().internal(),
  },
  unique: { browserHash: ['browserHash'] },
  // For the deletion of an account.
  indexes: { email: ['email'] },
});

export type EmailedSignInColumns = typeof emailedSignInsTable.columns;

/** A row with all columns. */
export interface EmailedSignInRow extends RowOf<EmailedSignInColumns> {}
