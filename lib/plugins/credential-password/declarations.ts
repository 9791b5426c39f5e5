import { declareProblems } from '../../errors.js';
import type { RequestedCodeTemplate } from '../../mail/templates.js';

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

export const resetCodeMail: RequestedCodeTemplate = { kind: 'reset-code', text: 'reset-code' };
