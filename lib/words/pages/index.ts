import { type Html, html } from '../../html.js';
import { type Formats, formatsIn } from '../formats.js';
import type { Script } from '../script.js';
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
  /** What stands between the names of a list. */
  comma: ', ',
  /** A value with its label. */
  labeled: (label: string, value: Html | string) => html`${label}: ${value}`,
  /** Turns the predicate of a field's error into a sentence, which stands below the label of the field. */
  sentenceOf: (predicate: string) => `${predicate.charAt(0).toUpperCase()}${predicate.slice(1)}.`,
  /** The words of a button, and what it is about, such as "Remove" and "Ada". */
  actionOf: (action: string, about: string) => `${action} ${about}`,
  /** The words of a button that answers a question, and what it is about, such as "Yes, remove" and "Ada". */
  answerOf: (answer: string, about: string) => `${answer} ${about}`,
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
  deviceOn: (browser: string, system: string) => `${browser} on ${system}`,
  /** A browser that is unknown. */
  browserOn: (system: string) => `A browser on ${system}`,
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
  cancel: 'Cancel',
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
    language: 'Language',
    /** The choice of the language that the browser asks for. */
    anyLanguage: 'The language of the browser',
    languageHint: 'The language of these pages and of our emails.',
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

  usernameHint: '3 to 30 characters: letters a to z, digits, underscores, dots and hyphens.',
  /** The hint of a password that has to be typed again, because something else in its form was wrong. */
  passwordAgain: 'Enter the password again.',

  /** The words for the scripts, which read them from the head of the document. */
  scripts: {
    failed: 'The form could not be sent. Check the network, and try again.',
    broken: 'Something went wrong. Try again in a moment.',
    unsaved: 'Not saved yet.',
    show: 'Show',
    hide: 'Hide',
    /** What the two buttons say to screen readers. */
    showOf: 'Show {field}',
    hideOf: 'Hide {field}',
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

/** The words of the pages, as the catalogue of a language contains them. Some are functions that put values into a sentence. */
export type PageWords = typeof en;

/** The words of the pages in one language, and how values look in it. */
export interface Words extends PageWords {
  /** The tag of the language (BCP 47), such as `en`. */
  readonly lang: string;
  /** The direction of its script. */
  readonly dir: 'ltr' | 'rtl';
  /** How times and durations look. */
  readonly formats: Formats;
  /** Returns a text of the app, such as the label of a field, in the language, if `locale.texts` has it. */
  ofApp(text: string): string;
}

/**
 * Completes the words of a catalogue.
 *
 * @param texts the app's translations of its own texts
 */
export function wordsIn(
  { tag, dir }: Script,
  words: PageWords,
  texts: Readonly<Record<string, string>> = {},
): Words {
  const ofApp = (text: string) => (Object.hasOwn(texts, text) ? (texts[text] as string) : text);
  return { ...words, lang: tag, dir, formats: formatsIn(tag), ofApp };
}
