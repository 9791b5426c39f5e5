import { column, type RowOf } from './column.js';
import { defineWaiting } from './waiting.js';

/** What a code proves: that the user can choose a new password, or that the address of their account is theirs. */
export type CodePurpose = 'reset' | 'verify';

/**
 * Requests for an emailed code that a person types, other than for a sign-in. The browser's part is a token of its own, or the
 * id of the session that verifies the email of its user.
 */
export const codeRequestsTable = defineWaiting({
  name: 'code_requests',
  hangsOn: 'browser',
  lifetimeMs: 10 * 60 * 1000,
  tries: 5,
  isForSignIns: false,
  exported: 'Its rows belong to browsers and not to accounts, and expire within minutes.',
  columns: {
    /** Random. The code is derived from it. */
    hash: column.digest().internal(),
    purpose: column.text<CodePurpose>(16).exact(),
    /** The address that the code is mailed to, in canonical form. */
    email: column.text(254).exact(),
    /**
     * The account whose address the code verifies. Null if it chooses a new password, which works for the account that has the
     * address then; and after a sign-up that has created no account.
     */
    verifies: column.uuid().nullable(),
    /** The time when the code was last mailed. Null until then, and no code is right. */
    sentAt: column.time().nullable(),
    /** The number of times that a change of the account has ended the code. Each time, the request gets another one. */
    generation: column.integer().internal(),
    /** The number of times that an email was sent, or left out. */
    mails: column.integer().internal(),
    /** The number of times that the code was asked for again. */
    resends: column.integer().internal(),
  },
  unique: { browserHash: ['browserHash'] },
  // For the codes that a change of the account ends.
  indexes: { email: ['email'] },
});

export type CodeRequestColumns = typeof codeRequestsTable.columns;

/** A row with all columns. */
export interface CodeRequestRow extends RowOf<CodeRequestColumns> {}
