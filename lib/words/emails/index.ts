import type { Script } from '../script.js';
import { codes } from './codes.js';
import { links } from './links.js';
import { notices } from './notices.js';
import { date, duration, time } from './times.js';

/** How long a code works. */
interface Limited {
  readonly ms: number;
  readonly until: Date;
}

/** An undo link that works only for support, which the user has to ask. */
interface AskedSupport {
  /** An address, a URL, or `people`. */
  readonly support: string;
  /** The words of `within`. */
  readonly within: string;
  readonly url: string;
}

/**
 * The words of emails, in English. Every text is whole, so that a translation can choose the order of its words. A text with
 * values is a function of them.
 */
export const emails = {
  date,
  time,
  duration,
  /** `until` is null if the link works for less than a day. */
  linkExpiry: ({ ms, until }: { readonly ms: number; readonly until: Date | null }) =>
    until === null
      ? `The link expires in ${duration(ms)}.`
      : `The link expires in ${duration(ms)}, on ${time(until)}.`,
  codeExpiry: ({ ms, until }: Limited) => `The code works for ${duration(ms)}, until ${time(until)}.`,
  /** The time in which a change can be undone, for the texts that have a value of this name. `until` is null if it is unknown. */
  within: ({ ms, until }: { readonly ms: number; readonly until: Date | null }) =>
    until === null ? `within ${duration(ms)}` : `within ${duration(ms)}, until ${date(until)}`,
  /** What stands before the URL of a button. */
  openLink: 'Or open this link:',

  /** The names of the details. `subject` is the name of what a text is about, unless the text has its own. */
  labels: { account: 'Account', subject: 'What', time: 'Time', device: 'Device', ip: 'IP address' },
  /** A line of the details. */
  detail: (label: string, value: string) => `${label}: ${value}`,
  unknownDevice: 'an unknown device',
  unknownBrowser: 'an unknown browser',
  deviceOn: (browser: string, system: string) => `${browser} on ${system}`,
  /** A browser whose name is unknown. */
  browserOn: (system: string) => `a browser on ${system}`,

  /** What stands at the end of a notice to an address that is not verified. */
  unverified:
    'You are receiving this email because someone used your address for an account. If you have no account, ignore this email.',
  /** What stands before an undo link, unless the text has its own `undo`. */
  undo: ({ within }: { readonly within: string }) => `If it was not you, undo it here ${within}:`,
  /** The button of an undo link, unless the text has its own `action`. */
  undoAction: 'This was not me',
  /** Where an undo link works, with the names of some of these browsers. */
  undoWhere: (browsers: readonly string[]) =>
    browsers.length === 0
      ? 'Open it on a device that you used before this change. It might ask for your password.'
      : `Open it on a device that you used before this change, such as ${new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(browsers)}. It might ask for your password.`,
  /** What users can do if the undo link works in no browser. */
  undoNowhere: {
    newPassword: {
      text: 'If it was not you, choose a new password:',
      action: 'Choose a new password',
    },
    afterNewPassword: ({ support, within, url }: AskedSupport) =>
      `Then ask ${support}. To undo what was done, support needs this link ${within}: ${url}`,
    withoutNewPassword: ({ support, within, url }: AskedSupport) =>
      `If it was not you, ask ${support}. To undo what was done, support needs this link ${within}: ${url}`,
  },
  /** What users can do about a change without an undo link. `support` is an address, a URL, or `people`. */
  help: {
    byApp: ({ support }: { readonly support: string }) =>
      `The app or an administrator made this change. If you did not expect it, ask ${support}.`,
    notYou: ({ support }: { readonly support: string }) => `If it was not you, ask ${support}.`,
  },
  /** The people to ask, if the app has no address for support. `appName` is null if it is unknown. */
  people: (appName: string | null) => `the people who run ${appName ?? 'this service'}`,

  /**
   * The texts by the names of their emails: the kind or, for a variant of it, the kind and the name of the variant.
   *
   * - `subject` is the subject line. It must not contain text that a user wrote.
   * - `lines` or `before` is what stands first, `after` below the link, and `help` last.
   * - `beforeLink` stands before the link of an email with a code, and `undo` before an undo link.
   * - `action` is the button.
   * - `advice`, `first` and `last` are what users can do, and the button that leads there. An app without that page shows the
   *   text alone.
   * - `about` is the label of the thing that the text is about.
   */
  texts: { ...links, ...codes, ...notices },
};

/** The words of emails that an app can replace. The texts contain dates, times and durations of their language. */
const { date: _date, time: _time, duration: _duration, ...replaceable } = emails;
export const ownEmailWords = replaceable as EmailWords;

/** The words of emails, as the catalogue of a language contains them. */
export type EmailWords = typeof emails;

/** The words of emails in one language. */
export interface MailWords extends EmailWords, Script {}

/** The words of emails in English. */
export const english: MailWords = { tag: 'en', dir: 'ltr', ...emails };
