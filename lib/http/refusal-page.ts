import { STATUS_CODES } from 'node:http';
import type { AuthError, FieldError } from '../errors.js';
import { type Html, html } from '../html.js';
import { type ErrorWords, refusal } from '../words/catalogue.js';
import { formatsIn } from '../words/formats.js';
import type { Script } from '../words/script.js';
import { problemIn } from './problem-details.js';

/** The link back to the app on {@link refusalPage}, and its language. */
export interface RefusalPageOptions {
  /** The URL of the app's start page. */
  readonly home: string;
  /** The name of the app. @default 'the start page' */
  readonly appName?: string;
  /** The language. @default English */
  readonly script?: Script;
  /** What errors say in the language. @default English */
  readonly words?: ErrorWords | undefined;
}

const ENGLISH: Script = { tag: 'en', dir: 'ltr' };

/** The page that shows an error if no page of the app can. It has neither styles nor scripts. */
export function refusalPage(
  error: AuthError,
  { home, appName, script = ENGLISH, words }: RefusalPageOptions,
): Html {
  const { status, code, retryAfter } = error;
  const { detail, errors = [] } = problemIn(error, words);
  const t = words?.refusal ?? refusal;
  const title = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
  return html`<!doctype html>
<html lang="${script.tag}"${script.dir === 'rtl' && html` dir="rtl"`}>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<h1>${title}</h1>
<p>${detail} (<code>${code}</code>)</p>
${errors.length > 0 && html`<ul>${errors.map((one) => html`<li>${t.field(nameOf(one), one.detail)}</li>`)}</ul>`}
${retryAfter !== undefined && html`<p>${t.wait(formatsIn(script.tag).duration(retryAfter))}</p>`}
<p>${t.back(html`<a href="${home}">${appName ?? t.start}</a>`)}</p>
</html>
`;
}

/** Returns the name of a field. Null for the whole form. */
function nameOf({ pointer }: FieldError): string | null {
  return pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~') || null;
}
