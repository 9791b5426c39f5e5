import { type Deletion, deletion } from './deletion.js';

/** The texts of emails with a code that users enter where they asked for it, and of emails in place of one. */
export const codes = {
  /** After a correct password, in a browser that is new to the account. */
  'browser-code': {
    subject: 'Your sign-in code',
    before:
      'Someone entered the password of your account in a browser that is new to it. If it was you, enter this code there:',
    help: 'If it was not you, someone knows your password. They cannot sign in without the code. Choose a new password here:',
    action: 'Choose a new password',
  },
  'verification-code': {
    subject: 'Your code to confirm your email',
    before: 'Please confirm that this email is yours. Enter this code where you signed in or signed up:',
    help: 'If it was not you, you can ignore this email. Do not share the code.',
  },
  'reset-code': {
    subject: 'Your code for a new password',
    before:
      'Someone requested a new password for your account. If it was you, enter this code in the browser in which you asked for it:',
    help: 'If it was not you, ignore this email: your password has not changed. Do not share the code.',
  },
  'sign-in-code': {
    subject: 'Your sign-in code',
    before: 'Enter this code in the browser in which you asked for it:',
    beforeLink: 'In the same browser, you can follow this link instead:',
    action: 'Sign in',
    help: 'If you did not ask for it, ignore this email. No one can sign in without it, so do not share it.',
  },
  'sign-in-code/reauthentication': {
    subject: 'Your code',
    before: 'Enter this code in the browser in which you asked for it, to confirm that it is you:',
    beforeLink: 'In the same browser, you can follow this link instead:',
    action: 'Sign in',
    help: 'Do not share the code.',
    advice: {
      text: 'If you did not ask for it, someone else might be signed in to your account. Look at your sessions, and sign out where you do not recognize one.',
      action: 'Look at your sessions',
    },
  },
  'no-account': {
    subject: 'There is no account with your address',
    before: 'Someone asked to sign in with this email, but no account has it.',
    beforeLink: 'If it was you, use the address of your account, or sign up here:',
    action: 'Sign up',
    help: 'If you did not ask for it, ignore this email.',
  },
  /** To the owner of a deleted account. */
  'no-account/deleted': {
    subject: 'Your account was deleted',
    before: (values: Deletion) => `Someone asked to sign in with this email. ${deletion(values)}`,
    help: 'If you did not ask for it, ignore this email.',
  },
  /** To the owner of an account, whose email was entered in a sign-up. */
  'account-exists': {
    subject: 'You already have an account',
    before: 'Someone tried to sign up with this email, but it already has an account.',
    beforeLink: 'If it was you, sign in. If you do not know the password, choose a new one here:',
    action: 'Choose a new password',
    help: 'If it was not you, ignore this email: nothing has changed.',
  },
};
