import { type Html, html } from '../../html.js';
import { account } from './account.js';
import { administration } from './administration.js';
import { entrance } from './entrance.js';
import { errors } from './errors.js';
import { messages } from './messages.js';

/** The words of the pages, in English. */
export const en = {
  titleOf: (title: string, appName: string) => `${title} – ${appName}`,
  skip: 'Skip to the content',
  navigation: 'Account',
  backTo: (appName: string) => `Back to ${appName}`,
  signedInAs: 'Signed in as',
  terms: 'Terms',
  privacy: 'Privacy',
  support: 'Support',
  optional: 'optional',
  yes: 'Yes',
  no: 'No',
  notSet: 'Not set',
  choose: 'Choose…',
  /** The hints about the range of a number. */
  range: {
    between: (minimum: number, maximum: number) => `From ${minimum} to ${maximum}.`,
    from: (minimum: number) => `At least ${minimum}.`,
    to: (maximum: number) => `At most ${maximum}.`,
  },
  inUtc: (label: string) => `${label} (UTC)`,
  lastUsed: 'last used',
  continue: 'Continue',
  sendAgain: 'Send the email again',
  sentAgain: (email: Html, isCertain: boolean) =>
    html`${isCertain ? html`Another email is on its way to ${email}` : html`If there is an account with ${email}, another email is on its way`}. If none comes, use the newest one that you have.`,
  /** What stands above the button that has to be pressed again, and on top of its page. */
  pressAgain: 'Nothing was done yet. Press the button again.',
  confirmed: (button: Html) => html`You have confirmed that it is you. Continue with “${button}”.`,
  or: 'or',
  close: 'Close',
  /** What the button that closes a part says after "Close", for screen readers. */
  ofClose: (action: string) => `: ${action.charAt(0).toLowerCase()}${action.slice(1)}`,

  fields: {
    email: 'Email',
    username: 'Username',
    either: 'Email or username',
    password: 'Password',
    currentPassword: 'Current password',
    newPassword: 'New password',
    newEmail: 'New email',
    remember: 'Stay signed in on this device',
    code: 'Code',
    recoveryCode: 'Recovery code',
    name: 'Name',
  },
  confirmation: {
    label: (text: string) => `To confirm, type ${text}`,
    /** What users without an email and a username type. */
    word: 'delete',
  },
  /** The words for browsers that cannot be checked, because they run no scripts. */
  human: {
    noScript: 'This browser cannot be checked, because it runs no scripts.',
    otherWays: (ways: string) => `You can still sign in with ${ways}.`,
    turnOn: 'Turn on JavaScript, then reload this page.',
    password: 'your password',
    email: 'a code that we email to you',
    list: (ways: readonly string[]) => new Intl.ListFormat('en', { type: 'disjunction' }).format(ways),
  },
  copy: 'Copy',
  copied: 'Copied',
  passwordHint: (length: number) => `At least ${length} characters. A few random words are a good choice.`,

  /** The hint of a password that has to be typed again, because something else in its form was wrong. */
  passwordAgain: 'Enter the password again.',

  /** The words for the scripts, which read them from the head of the document. */
  scripts: {
    failed: 'The form could not be sent. Check the network, and try again.',
    broken: 'Something went wrong. Try again in a moment.',
    show: 'Show',
    hide: 'Hide',
    passkeys: {
      failed: 'The passkey could not be used. Try again.',
      offline: 'This did not work. Check the network, and try again.',
      NotAllowedError:
        'No passkey was used. The request was canceled, it took too long, or this device has no passkey for this site.',
      InvalidStateError: 'This device already has a passkey for your account.',
      NotSupportedError: 'This device cannot use passkeys. Try a phone or a password manager.',
      SecurityError: 'Passkeys do not work at this address.',
      /** The words about signing in with a passkey that differ. The codes are those of the server's errors. */
      'sign-in': {
        invalid_passkey:
          'This passkey no longer belongs to an account here, or too much time has passed. Try again, or sign in another way.',
      },
      /** The words about adding a passkey that differ. */
      create: {
        NotAllowedError: 'No passkey was added. The request was canceled, or took too long.',
      },
    },
  },

  names: {
    account: 'Profile',
    'account/security': 'Security',
    'account/sessions': 'Sessions',
    'account/api-keys': 'API keys',
    'account/organizations': 'Organizations',
    'administration/users': 'Users',
  } as Readonly<Record<string, string>>,

  ...entrance,
  ...account,
  ...administration,
  ...messages,
  ...errors,
};

/** The words of the pages in one language. Some are functions that put values into a sentence. */
export type Words = typeof en;
