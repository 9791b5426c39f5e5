import type { AuthErrorCode } from '../errors.js';
import { type Html, html } from '../html.js';
import type { Phrases } from '../phrases.js';
import type { EmailWords } from './emails/index.js';
import type { PageWords } from './pages/index.js';

/** The details of all codes. A catalogue also has those of plugins that a build does not have. */
type Details = Readonly<Record<AuthErrorCode, string>> & Readonly<Record<string, string>>;

/** What errors say in a language. */
export interface ErrorWords {
  /** The default details of the codes. */
  readonly problems: Details;
  /** All other details, and those of fields. */
  readonly phrases: Phrases;
  /** The words of the page that shows an error if no page of the app can. */
  readonly refusal: typeof refusal;
}

/** The words of the page about an error, in English. */
export const refusal = {
  /** An error of a field, by its name in JSON. Null for the whole form. */
  field: (name: string | null, detail: string) => `${name ?? 'The form'} ${detail}`,
  wait: (time: string) => `Try again in ${time}.`,
  start: 'the start page',
  back: (link: Html) => html`Go back to the previous page, or to ${link}.`,
};

/** The parts of a catalogue. */
export interface LanguageParts {
  /** The words of `pages()`. */
  readonly pages: PageWords;
  /** The texts of emails. */
  readonly emails: EmailWords;
  /** The `detail` of error responses and of their fields. */
  readonly errors: ErrorWords;
}

/**
 * A language of the app's own, for `locale.languages`. TypeScript finds the texts that are missing, and `doctor` finds them
 * in JavaScript.
 */
export interface Language extends Omit<LanguageParts, 'pages'> {
  /** The tag of the language (BCP 47) in its canonical form, such as `nl` or `zh-Hant`. */
  readonly tag: string;
  /** The words of `pages()`. @default none, required with `pages()` */
  readonly pages?: PageWords;
  /** The name of the language in the language itself, for the list of languages. @default the name that Node.js knows */
  readonly name?: string;
  /** The direction of its script. @default 'ltr' */
  readonly dir?: 'ltr' | 'rtl';
}
