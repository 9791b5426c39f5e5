import { declareProblems } from '../../errors.js';
import type { RequestedCodeTemplate } from '../../mail/messages.js';

const problems = declareProblems({
  password_not_set: [404, 'The account has no password.'],
  password_already_set: [409, 'The account already has a password. Change it instead.'],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

declare module '../../mail/messages.js' {
  interface MailKinds {
    'reset-code': unknown;
  }
}

export const resetCodeMail: RequestedCodeTemplate = {
  kind: 'reset-code',
  subject: 'Your code for a new password',
  before:
    'Someone requested a new password for your account. If it was you, enter this code in the browser in which you asked for it:',
  help: 'If it was not you, ignore this email: your password has not changed. Do not share the code.',
};
