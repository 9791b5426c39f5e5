import { declareProblems } from '../../errors.js';
import type { RequestedCodeTemplate, SignInCodeTexts } from '../../mail/templates.js';

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

export const signInCodeMail: SignInCodeTexts = { kind: 'sign-in-code', text: 'sign-in-code' };

export const reauthenticationMail: SignInCodeTexts = {
  kind: 'sign-in-code',
  text: 'sign-in-code/reauthentication',
  advicePage: 'account/sessions',
};

export const noAccountMail: RequestedCodeTemplate = { kind: 'no-account', text: 'no-account' };
