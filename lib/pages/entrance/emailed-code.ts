import { type Html, type HtmlValue, html } from '../../html.js';
import type { Words } from '../../words/pages/index.js';
import { CODES } from '../codes.js';
import { AGAIN, field, formOf, hidden } from '../controls.js';
import type { View } from '../page.js';
import type { ErrorValues, FormValues } from '../values.js';

/** Creates the field of an emailed code. */
export function emailedCodeField(form: FormValues, words: Words): Html {
  return field(
    form,
    {
      name: 'code',
      label: words.fields.code,
      autocomplete: 'one-time-code',
      focus: true,
      code: CODES.emailed,
    },
    words,
  );
}

/** A form that emails a code or link. */
interface Sending {
  /** The address. Null if the route knows it. */
  readonly email: string | null;
  readonly submit: string;
  /** A `link` emails something once more. */
  readonly kind: 'primary' | 'secondary' | 'link';
  readonly returnTo: string | null;
  /** Other inputs. @default none */
  readonly more?: HtmlValue;
}

/** Creates a form that emails a code or link to an address that the page knows, so that no one types it again. */
export function sendForm(send: FormValues, of: Sending, words: Words): Html {
  const { email, submit, kind, returnTo, more = null } = of;
  const inputs = html`${hidden('email', email)}${kind === 'link' && hidden(AGAIN, 'true')}${more}`;
  return formOf(send, { submit, kind, returnTo }, words, inputs);
}

/** Creates the form that emails a code again. While the code is valid, the email contains the same one. */
export function codeAgainForm(
  send: FormValues,
  of: Pick<Sending, 'email' | 'returnTo' | 'more'>,
  words: Words,
): Html {
  return sendForm(send, { ...of, submit: words.sendAgain, kind: 'link' }, words);
}

/** The page of a code that no longer works. */
interface Over {
  readonly title: string;
  /** The error that says so. Null if the page was opened later. */
  readonly error: ErrorValues | null;
  /** The form that emails another code. Null if the address is not known. */
  readonly another: Html | null;
  /** The page that asks for the address. Null if there is none. */
  readonly again: string | null;
}

/** Draws a page that offers only another code, because nothing else can succeed. */
export function codeOverView({ title, error, another, again }: Over, words: Words): View {
  const t = words.emailedSignIn;
  return {
    title,
    main: html`${error === null && html`<p>${words.codeOver}</p>`}${another}${
      again !== null &&
      html`<p><a href="${again}"${another === null && html` data-part="button"`}>${another === null ? t.again : t.other}</a></p>`
    }`,
  };
}
