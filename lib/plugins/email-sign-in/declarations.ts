import { declareProblems } from '../../errors.js';
import type { NoAccountTemplate, SignInCodeTemplate } from '../../mail/messages.js';

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
  help: 'Do not share the code.',
  advice: {
    text: 'If you did not ask for it, someone else might be signed in to your account. Look at your sessions, and sign out where you do not recognize one.',
    page: 'account/sessions',
    action: 'Look at your sessions',
  },
};

export const noAccountMail: Omit<NoAccountTemplate, 'page'> = {
  kind: 'no-account',
  subject: 'There is no account with your address',
  before: 'Someone asked to sign in with this email, but no account has it.',
  beforeLink: 'If it was you, use the address of your account, or sign up here:',
  action: 'Sign up',
  help: IGNORE,
};
