import { STATUS_CODES } from 'node:http';
import type { AuthError, FieldError } from '../errors.js';
import { type Html, html } from '../html.js';

/** The link back to the app on {@link refusalPage}. */
export interface RefusalPageOptions {
  /** The URL of the app's start page. */
  readonly home: string;
  /** The name of the app. @default 'the start page' */
  readonly appName?: string;
}

/** The page that shows an error if no page of the app can. It has neither styles nor scripts. */
export function refusalPage(
  error: AuthError,
  { home, appName = 'the start page' }: RefusalPageOptions,
): Html {
  const { status, code, detail, errors = [], retryAfter } = error;
  const title = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<h1>${title}</h1>
<p>${detail} (<code>${code}</code>)</p>
${errors.length > 0 && html`<ul>${errors.map((one) => html`<li>${sentenceOf(one)}</li>`)}</ul>`}
${retryAfter !== undefined && html`<p>Try again in ${inWords(retryAfter)}.</p>`}
<p>Go back to the previous page, or to <a href="${home}">${appName}</a>.</p>
</html>
`;
}

function sentenceOf({ pointer, detail }: FieldError): string {
  const name = pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  return `${name || 'The form'} ${detail}`;
}

/** Returns a duration in words. */
export function inWords(seconds: number): string {
  if (seconds < 90) return counted(Math.max(1, Math.ceil(seconds)), 'second');
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? counted(minutes, 'minute') : counted(Math.ceil(minutes / 60), 'hour');
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
