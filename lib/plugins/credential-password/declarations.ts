import { declareProblems } from '../../errors.js';
import type { MailTemplate, NoticeTemplate } from '../../mail/messages.js';
import { declareEvents } from '../../outbox/events.js';
import type { Purpose } from '../../verification/tokens.js';

const problems = declareProblems({
  password_already_set: [409, 'The account already has a password. Change it instead.'],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

declare module '../../outbox/events.js' {
  interface EventDetails {
    /** A password was changed, or set for the first time. */
    'password.changed': { readonly userId: string };
    /** A password was reset with an emailed link. */
    'password.reset': { readonly userId: string };
  }
}

declareEvents('password.changed', 'password.reset');

declare module '../../mail/messages.js' {
  interface MailKinds {
    'verify-email': unknown;
    'reset-password': unknown;
    invitation: unknown;
    'password-set': unknown;
    'password-changed': unknown;
  }
}

const HOUR_MS = 60 * 60 * 1000;

export const VERIFY_EMAIL: Purpose = { name: 'verify-email', lifetimeMs: 24 * HOUR_MS };
export const RESET_PASSWORD: Purpose = {
  name: 'reset-password',
  lifetimeMs: HOUR_MS,
  endsWithPassword: true,
};
/** A link for the first password of a user whom an administrator has made. It is redeemed like a reset link. */
export const INVITATION: Purpose = {
  name: 'invitation',
  lifetimeMs: 7 * 24 * HOUR_MS,
  endsWithPassword: true,
};

export const verifyEmailMail: Omit<MailTemplate, 'page'> = {
  kind: 'verify-email',
  subject: 'Confirm your email address',
  before: 'Please confirm that this email address is yours:',
  action: 'Confirm the address',
  after: 'The link expires in 24 hours. If you did not sign up, you can ignore this email.',
};

export const resetPasswordMail: Omit<MailTemplate, 'page'> = {
  kind: 'reset-password',
  subject: 'Choose a new password',
  before: 'Someone requested a new password for your account. If it was you, choose one here:',
  action: 'Choose a new password',
  after: 'The link expires in one hour. If it was not you, ignore this email: your password has not changed.',
};

export const invitationMail: Omit<MailTemplate, 'page'> = {
  kind: 'invitation',
  subject: 'Your new account',
  before: 'An account has been made for you. Choose a password here:',
  action: 'Choose a password',
  after: 'The link expires in 7 days. If you did not expect this, you can ignore this email.',
};

export const passwordSetNotice: NoticeTemplate = {
  kind: 'password-set',
  subject: 'A password was set for your account',
  lines: ['Your account had no password, and now has one. Whoever knows it can sign in.'],
};

export const passwordChangedNotice: NoticeTemplate = {
  kind: 'password-changed',
  subject: 'Your password was changed',
  lines: ['The password of your account was changed.'],
};
