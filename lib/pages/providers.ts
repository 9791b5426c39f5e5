import type { ShownProvider } from '../core/contribution.js';
import { type Html, html } from '../html.js';
import type { Words } from '../words/pages/index.js';
import type { Site } from './site.js';

/** A provider that a user can continue with. */
export interface ProviderValues {
  /** The id, such as `google`. */
  readonly id: string;
  /** The name, such as "Google". */
  readonly name: string;
  /** The icon: a path of this origin. Null if the app has set none. */
  readonly icon: string | null;
  /** The link that leads to the provider. */
  readonly href: string;
}

/**
 * Returns the providers with the links that start an action.
 *
 * @internal
 */
export function providersOf(
  site: Site,
  action: 'authorize' | 'link' | 'reauthenticate',
  callback: (id: string) => string,
): readonly ProviderValues[] {
  const route = site.route(`get /oauth/:provider/${action}`);
  if (!route) return [];
  return shownProviders(site).map(({ id, name, icon }) => ({
    id,
    name,
    icon,
    // Use a link instead of a form, because browsers check redirects after a form against the policy of the page.
    href: `${site.url(route.path, { provider: id })}?callback_url=${encodeURIComponent(callback(id))}`,
  }));
}

/**
 * Returns the ids of the providers that are configured.
 *
 * @internal
 */
export function providerIds(site: Site): readonly string[] {
  return shownProviders(site).map(({ id }) => id);
}

function shownProviders(site: Site): readonly ShownProvider[] {
  return site.core.contributions.flatMap(({ forPages }) => forPages?.providers ?? []);
}

/**
 * Returns the name of a provider, even if it is no longer configured.
 *
 * @internal
 */
export function providerName(site: Site, id: string): string {
  const owner = site.core.contributions.find(({ forPages }) => forPages?.providerName);
  return owner?.forPages?.providerName?.(id) ?? id;
}

/**
 * Creates the links to the providers.
 *
 * @internal
 */
export function providerLinks(
  providers: readonly ProviderValues[],
  lastUsed: string | null,
  words: Words,
): Html | null {
  if (providers.length === 0) return null;
  return html`<div data-part="stack">${providers.map(
    ({ id, name, icon, href }) =>
      html`<a href="${href}" data-part="button secondary">${iconOf(icon)}${words.signIn.continueWith(name)}${lastUsedTag(lastUsed === id, words)}</a>`,
  )}</div>`;
}

/**
 * Creates the icon of a provider. It has no text of its own, because the name stands beside it.
 *
 * @internal
 */
export function iconOf(icon: string | null): Html | null {
  return icon === null ? null : html`<img src="${icon}" alt="" data-part="icon">`;
}

/**
 * Creates the tag of the sign-in method that was last used in this browser.
 *
 * @internal
 */
export function lastUsedTag(isLast: boolean, words: Words): Html | null {
  return isLast ? html` <span data-part="tag">${words.lastUsed}</span>` : null;
}
