import { type Html, html } from '../html.js';
import type { Site } from './site.js';
import type { Words } from './words/index.js';

/** A provider that a user can continue with. */
export interface ProviderValues {
  /** The id, such as `google`. */
  readonly id: string;
  /** The name, such as "Google". */
  readonly name: string;
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
  return providerIds(site).map((id) => ({
    id,
    name: providerName(id),
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
  return site.core.contributions.flatMap(({ forPages }) => forPages?.providers ?? []);
}

const NAMES: Readonly<Record<string, string>> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  linkedin: 'LinkedIn',
  paypal: 'PayPal',
  x: 'X',
};

/**
 * Returns the name of a provider, by its id.
 *
 * @internal
 */
export function providerName(id: string): string {
  return (
    NAMES[id] ??
    id
      .split('-')
      .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
      .join(' ')
  );
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
    ({ id, name, href }) =>
      html`<a href="${href}" data-part="button secondary">${words.signIn.continueWith(name)}${lastUsedTag(lastUsed === id, words)}</a>`,
  )}</div>`;
}

/**
 * Creates the tag of the sign-in method that was last used in this browser.
 *
 * @internal
 */
export function lastUsedTag(isLast: boolean, words: Words): Html | null {
  return isLast ? html` <span data-part="tag">${words.lastUsed}</span>` : null;
}
