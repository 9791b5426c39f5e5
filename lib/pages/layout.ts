import { type Html, type HtmlValue, html } from '../html.js';
import type { View } from './page.js';
import type { CommonValues, PageLinks } from './values.js';
import type { Words } from './words/index.js';

/** The files that a document loads. */
export interface Loaded {
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
  readonly icon: string;
  readonly logo: string | null;
  /** The words that scripts show: see {@link wordsForScripts}. */
  readonly words: Html;
}

/** Creates the part of each document's head that scripts read. */
export function wordsForScripts({ scripts }: Words): Html {
  return html`<meta name="latchkey-words" content="${JSON.stringify(scripts)}">`;
}

/** Creates the head of a page's document. */
export function headOf(
  title: string,
  { styles, scripts, icon, words }: Loaded,
  nonce: string | null,
  hasToken: boolean,
): Html {
  const own = nonce !== null && html` nonce="${nonce}"`;
  return html`<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${words}${
  // The address of the page contains the token.
  hasToken && html`\n<meta name="referrer" content="strict-origin">`
}
<link rel="icon" href="${icon}" type="image/svg+xml">
${styles.map((href) => html`<link rel="stylesheet" href="${href}"${own}>\n`)}${scripts.map(
  (src) => html`<script type="module" src="${src}"${own}></script>\n`,
)}`;
}

/** Returns the title of the document: an error comes first, because screen readers read it first. */
export function titleOf({ error, appName }: CommonValues, { title }: View, words: Words): string {
  return words.titleOf(error ? words.errorTitle(title) : title, appName);
}

/** Puts a page into a document. */
export function documentOf(
  values: CommonValues,
  { head, main }: { readonly head: Html; readonly main: Html },
  { logo }: Loaded,
  words: Words,
): Html {
  const { lang, dir, kind, home, appName, navigation, signOut, links } = values;
  const brand = html`<a href="${home}" data-part="brand">${
    logo === null ? appName : html`<img src="${logo}" alt="${appName}">`
  }</a>`;
  return html`<!doctype html>
<html lang="${lang}" dir="${dir}">
<head>
<meta charset="utf-8">
${head}
</head>
<body data-part="${kind}">
<a href="#main" data-part="skip">${words.skip}</a>
<header data-part="header">${brand}${
    navigation.length > 0 &&
    html`
<nav aria-label="${words.navigation}" data-part="navigation"><ul>${navigation.map(
      ({ name, href, isCurrent }) =>
        html`<li><a href="${href}"${isCurrent && html` aria-current="page"`}>${words.names[name] ?? name}</a></li>`,
    )}</ul></nav>`
  }${signOut !== null && html`<a href="${signOut}" data-part="sign-out">${words.signOut.title}</a>`}</header>
${main}
${footerOf(links, words)}
</body>
</html>
`;
}

function footerOf({ terms, privacy, support }: CommonValues['links'], words: Words) {
  const links = Object.entries({ terms, privacy, support }).filter(([, url]) => url !== undefined);
  if (links.length === 0) return null;
  return html`<footer data-part="footer"><ul>${links.map(
    ([name, url]) => html`<li><a href="${url}">${words[name as keyof PageLinks]}</a></li>`,
  )}</ul></footer>`;
}

/** The main part of a page, which scripts replace. */
export function mainOf(values: CommonValues, view: View, summary: HtmlValue, words: Words): Html {
  const { done } = values;
  // Look only at own keys, because the address can contain anything, such as the name of a method of all objects.
  const said = Object.entries(words.done).find(([name]) => name === done)?.[1];
  return html`<main id="main" data-part="main" data-page="${values.page}">
<h1>${view.heading ?? view.title}</h1>
${said !== undefined && html`<p data-part="done" role="status">${said}</p>`}${summary}
${view.main}
</main>`;
}
