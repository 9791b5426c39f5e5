import { type Html, html } from '../html.js';
import type { Words } from '../words/pages/index.js';
import { CANCELED, errorSummary, pressAgainNotice } from './controls.js';
import type { View } from './page.js';
import { ACCOUNT_CREATED } from './site.js';
import type { CommonValues, PageLinks } from './values.js';

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
  return words.titleOf(error && error.code !== CANCELED ? words.errorTitle(title) : title, appName);
}

/** Puts a page into a document. */
export function documentOf(
  values: CommonValues,
  { head, main }: { readonly head: Html; readonly main: Html },
  { logo }: Loaded,
  words: Words,
): Html {
  const { lang, dir, kind, links } = values;
  return html`<!doctype html>
<html lang="${lang}" dir="${dir}">
<head>
<meta charset="utf-8">
${head}
</head>
<body data-part="${kind}">
<a href="#main" data-part="skip">${words.skip}</a>
<header data-part="header">${headerOf(values, logo, words)}</header>
${main}
${footerOf(links, words)}
</body>
</html>
`;
}

/** Creates the header: on the pages of an account, it also says whose account it is, and leads back to the app. */
function headerOf(
  { home, appName, navigation, signOut, account }: CommonValues,
  logo: string | null,
  words: Words,
): Html {
  const brand = html`<a href="${home}" data-part="brand">${
    logo === null ? appName : html`<img src="${logo}" alt="${appName}">`
  }</a>`;
  if (signOut === null) return brand;
  const links = navigation.map(
    ({ name, href, isCurrent }) =>
      html`<li><a href="${href}"${isCurrent && html` aria-current="page"`}>${words.names[name] ?? name}</a></li>`,
  );
  return html`<div data-part="home">${brand}<a href="${home}" data-part="back">${words.backTo(appName)}</a></div>
<nav aria-label="${words.navigation}" data-part="navigation"><ul>${links}</ul></nav>
<div data-part="user">${
    account !== null &&
    html`<span title="${account}"><span data-part="unseen">${words.signedInAs} </span>${account}</span>`
  }<a href="${signOut}" data-part="sign-out">${words.signOut.title}</a></div>`;
}

function footerOf({ terms, privacy, support }: CommonValues['links'], words: Words) {
  const links = Object.entries({ terms, privacy, support }).filter(([, url]) => url !== undefined);
  if (links.length === 0) return null;
  return html`<footer data-part="footer"><ul>${links.map(
    ([name, url]) => html`<li><a href="${url}">${words[name as keyof PageLinks]}</a></li>`,
  )}</ul></footer>`;
}

function headingOf({ title, heading = title, tags, focusesHeading = false }: View): Html {
  const h1 = html`<h1${focusesHeading && html` tabindex="-1" autofocus`}>${heading}</h1>`;
  return tags ? html`<div data-part="heading">${h1}${tags}</div>` : h1;
}

/** The message of a sign-in that has created the account, for users who expect that they have one already. */
function createdNotice({ account, signOut, returnTo, home }: CommonValues, words: Words): Html {
  const t = words.created;
  return html`<p data-part="done" role="status">${t.welcome(account)} ${t.hint(html`<a href="${signOut}">${t.signOut}</a>`)}</p>
<p><a href="${returnTo ?? home}" data-part="button secondary">${words.continue}</a></p>`;
}

/** The main part of a page, which scripts replace. */
export function mainOf(values: CommonValues, view: View, words: Words): Html {
  const done = view.saysDone ? null : values.done;
  // Look only at own keys, because the address can contain anything, such as the name of a method of all objects.
  const said = Object.entries(words.done).find(([name]) => name === done)?.[1];
  const created = done === ACCOUNT_CREATED && values.signOut !== null ? createdNotice(values, words) : null;
  const needed = Object.entries(words.needed).find(([name]) => name === done)?.[1];
  return html`<main id="main" data-part="main" data-page="${values.page}">
${view.up && html`<p data-part="up"><a href="${view.up.href}">‹ ${view.up.name}</a></p>`}${view.icon}${headingOf(view)}
${said !== undefined && html`<p data-part="done" role="status">${said}</p>`}${created}${
  needed !== undefined && html`<p data-part="warning" role="status">${needed}</p>`
}${values.joining !== null && html`<p>${words.join.afterwards(values.joining)}</p>`}${pressAgainNotice(values, words)}${errorSummary(values, words)}
${view.main}
</main>`;
}
