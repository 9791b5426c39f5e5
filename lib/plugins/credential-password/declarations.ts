import { declareProblems } from '../../errors.js';
import type { MailTemplate } from '../../mail/messages.js';
import type { Purpose } from '../../verification/tokens.js';

const problems = declareProblems({
  password_not_set: [404, 'The account has no password.'],
  password_already_set: [409, 'The account already has a password. Change it instead.'],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

declare module '../../mail/messages.js' {
  interface MailKinds {
    'verify-email': unknown;
  }
}

export const VERIFY_EMAIL: Purpose = { name: 'verify-email', lifetimeMs: 24 * 60 * 60 * 1000 };

export const verifyEmailMail: Omit<MailTemplate, 'page'> = {
  kind: 'verify-email',
  subject: 'Confirm your email address',
  before: 'Please confirm that this email address is yours:',
  action: 'Confirm the address',
  after: 'The link expires in 24 hours. If you did not sign up, you can ignore this email.',
};
