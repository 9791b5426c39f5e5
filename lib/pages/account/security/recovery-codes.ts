import { type Html, html } from '../../../html.js';
import type { Words } from '../../../words/pages/index.js';
import { dayInWords } from '../../texts.js';

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
  return html`<h2 data-part="print">${t.fileHeading(appName, account)}${words.comma}${dayInWords(new Date().toISOString().slice(0, 10), words)}</h2>
<p>${t.codesText} <span data-part="screen">${t.codesOnce}</span></p>
<pre data-part="secret" id="${id}">${codes.join('\n')}</pre>
<div data-part="actions"><button type="button" hidden data-part="button secondary" data-copy="${id}" data-copied="${words.copied}">${words.copy}</button>
<button type="button" hidden data-part="button secondary" data-save="${id}" data-file="${t.fileName}" data-heading="${t.fileHeading(appName, account)}">${t.download}</button>
<button type="button" hidden data-part="button secondary" data-print>${t.print}</button></div>
<p><a href="${next}" data-part="button">${t.saved}</a></p>`;
}
