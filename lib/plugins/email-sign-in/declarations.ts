import { declareProblems } from '../../errors.js';
import type { NoAccountTemplate, SignInCodeTemplate } from '../../mail/messages.js';
import { column, type RowOf } from '../../tables/column.js';
import { defineWaiting } from '../../tables/waiting.js';

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
    /** The account's epoch when the code was last mailed. Null if no account had the address. */
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

const problems = declareProblems({
  other_browser: [
    403,
    'This link works only in the browser in which you asked for it. Enter the code from the email there.',
  ],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

declare module '../../mail/messages.js' {
  interface MailKinds {
    'sign-in-code': unknown;
    'no-account': unknown;
  }
}

declare module '../../config/hooks.js' {
  interface CreatedVias {
    /** A sign-up with an emailed code or link. */
    email: unknown;
  }
}

const IGNORE = 'If you did not ask for it, ignore this email.';

export const signInCodeMail: Omit<SignInCodeTemplate, 'page'> = {
  kind: 'sign-in-code',
  subject: 'Your sign-in code',
  before: 'Enter this code in the browser in which you asked for it:',
  beforeLink: 'In the same browser, you can follow this link instead:',
  action: 'Sign in',
  help: `${IGNORE} No one can sign in without it, so do not share it.`,
};

export const reauthenticationMail: Omit<SignInCodeTemplate, 'page'> = {
  ...signInCodeMail,
  subject: 'Your code',
  before: 'Enter this code in the browser in which you asked for it, to confirm that it is you:',
  help: 'If you did not ask for it, someone else might be signed in to your account. Do not share the code.',
};

export const noAccountMail: Omit<NoAccountTemplate, 'page'> = {
  kind: 'no-account',
  subject: 'There is no account with your address',
  before: 'Someone asked to sign in with this email address, but no account has it.',
  beforeLink: 'If it was you, use the address of your account, or sign up here:',
  action: 'Sign up',
  help: IGNORE,
};
