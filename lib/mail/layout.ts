import { BLACK, colorOf, inkOn } from '../color.js';
import { type Html, html } from '../html.js';
import type { MailWords } from '../words/emails/index.js';

/**
 * Breaks up a user's text that looks like an address. It is a space in plain text, and an invisible one in HTML. No text of a
 * user contains it, because it is not a character.
 */
export const BREAK = '\u{FDD0}';

const ZERO_WIDTH_SPACE = '\u{200B}';

/** How emails look. */
export interface MailLook {
  /** The name of the app, for the subject and the signature. */
  readonly appName: string | null;
  /** The URL of an image. */
  readonly logo: string | null;
  /** The background of buttons: `#rgb` or `#rrggbb`. */
  readonly color: string;
  readonly footer: string | null;
}

/** A paragraph of an email: text, a code, a link or a table. */
export type Paragraph =
  | string
  | { readonly code: string }
  | { readonly url: string; readonly action: string }
  | { readonly table: readonly (readonly [name: string, value: string])[] };

/** The pages that advice in emails can link to. */
export type AdvicePage = 'sign-in' | 'forgot-password' | 'account/security' | 'account/sessions';

/** The words that the layout of an email needs. */
type LayoutWords = Pick<MailWords, 'tag' | 'dir' | 'openLink' | 'detail'>;

/** Returns the subject and the bodies of an email, and their language. */
export function contentOf(
  subject: string,
  paragraphs: readonly Paragraph[],
  look: MailLook,
  words: LayoutWords,
) {
  const { appName, footer } = look;
  // The name comes last, because lists of emails show only the first words. A dash other than "-" would encode the header.
  const title = appName === null ? subject : `${subject} - ${appName}`;
  const closing = [...(appName === null ? [] : [`— ${appName}`]), ...(footer === null ? [] : [footer])];
  return {
    language: words.tag,
    subject: title,
    text: broken(`${[...paragraphs.map((one) => asText(one, words)), ...closing].join('\n\n')}\n`, ' '),
    html: broken(
      documentOf(
        title,
        [...paragraphs.map((one) => asHtml(one, look, words)), ...closing.map(small)],
        look,
        words,
      ),
      ZERO_WIDTH_SPACE,
    ),
  };
}

function broken(text: string, by: string): string {
  return text.replaceAll(BREAK, by);
}

function asText(paragraph: Paragraph, { detail }: LayoutWords): string {
  if (typeof paragraph === 'string') return paragraph;
  if ('code' in paragraph) return paragraph.code;
  if ('url' in paragraph) return paragraph.url;
  return paragraph.table.map(([name, value]) => detail(name, value)).join('\n');
}

// Some mail programs drop style sheets, so every element has its own styles. Text has no color, so that it stays readable
// in dark mode, where programs choose the background.
function documentOf(
  title: string,
  content: readonly Html[],
  { appName, logo }: MailLook,
  { tag, dir }: LayoutWords,
): string {
  const image =
    logo !== null &&
    html`<p style="margin:0 0 24px"><img src="${logo}" alt="${appName}" height="40" style="border:0"></p>
`;
  return html`<!doctype html>
<html lang="${tag}"${dir === 'rtl' && html` dir="rtl"`} style="color-scheme:light dark">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
</head>
<body style="margin:0;padding:24px 16px">
<div style="max-width:560px;margin:0 auto;font-family:sans-serif;font-size:16px;line-height:1.5;word-break:break-word">
${image}${content}</div>
</body>
</html>
`.toString();
}

function asHtml(paragraph: Paragraph, { color }: MailLook, { openLink, detail }: LayoutWords): Html {
  if (typeof paragraph === 'string') return block(paragraph);
  if ('code' in paragraph)
    // Nothing splits the code, so that programs recognize it, and a double click selects all of it.
    return block(
      html`<strong style="font-family:monospace;font-size:24px;letter-spacing:2px">${paragraph.code}</strong>`,
    );
  if ('table' in paragraph)
    return block(onLines(paragraph.table.map(([name, value]) => detail(name, value))));
  const { url, action } = paragraph;
  // Outlook for Windows ignores the padding and the corners. The button is smaller there, but still a link on its color.
  const style = `display:inline-block;padding:12px 20px;border-radius:6px;background-color:${color};color:${inkFor(color)};font-weight:bold;text-decoration:none`;
  return html`${block(html`<a href="${url}" style="${style}">${action}</a>`)}<p style="margin:0 0 16px;font-size:14px">${openLink}<br>
<a href="${url}" style="color:inherit">${url}</a></p>
`;
}

function block(content: string | Html): Html {
  return html`<p style="margin:0 0 16px">${content}</p>
`;
}

/** Returns the signature or the footer. */
function small(text: string): Html {
  return html`<p style="margin:24px 0 0;font-size:14px">${onLines(text.split('\n'))}</p>
`;
}

function onLines(lines: readonly string[]): Html {
  return html`${lines.map((line, index) => (index === 0 ? html`${line}` : html`<br>\n${line}`))}`;
}

function inkFor(color: string): '#000000' | '#ffffff' {
  return inkOn(colorOf(color)) === BLACK ? '#000000' : '#ffffff';
}
