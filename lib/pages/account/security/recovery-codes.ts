import { type Html, type HtmlValue, html } from '../../../html.js';
import type { Words } from '../../words/index.js';

/** How recovery codes are shown. */
interface ShownCodes {
  /** The id of the element with the codes. */
  readonly id: string;
  /** Empty if a script fills them in. */
  readonly codes: readonly string[];
  readonly appName: string;
  readonly account: string | null;
  /** Where the user continues after saving them. */
  readonly next: string;
}

/**
 * Creates the list of recovery codes, with buttons to copy, download and print them.
 *
 * @internal
 */
export function recoveryCodes({ id, codes, appName, account, next }: ShownCodes, words: Words): Html {
  const t = words.security.secondFactor;
  const text = codes.join('\n');
  const heading = t.fileHeading(appName, account);
  return html`<p>${t.codesText}</p>
<pre data-part="secret" id="${id}">${text}</pre>
<div data-part="actions"><button type="button" hidden data-part="button secondary" data-copy="${id}" data-copied="${words.copied}">${words.copy}</button>
<a download="${t.fileName}" href="${fileOf(`${heading}\n\n${text}`)}" data-part="button secondary">${t.download}</a>
<button type="button" hidden data-part="button secondary" data-print>${t.print}</button></div>
<p><a href="${next}" data-part="button">${t.saved}</a></p>`;
}

/** Returns the URL of a text file. It needs no script, and no request that contains the codes. */
function fileOf(text: string): HtmlValue {
  return `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
}
