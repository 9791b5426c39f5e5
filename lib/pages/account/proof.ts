import { type Html, html } from '../../html.js';
import type { SessionAuthentication } from '../../sessions/request.js';
import { isFresh } from '../../sessions/signed-in.js';
import type { Words } from '../../words/pages/index.js';
import type { Visit } from '../page.js';
import type { Site } from '../site.js';

/**
 * Whether a session is recent enough for sensitive changes, so that its user has confirmed who it is.
 *
 * @internal
 */
export function isConfirmed({ core }: Site, { user, session }: SessionAuthentication): boolean {
  const hasFactor = core.secondFactors.isOn(user);
  return isFresh(core.database, session) && (!hasFactor || session.aal > 1);
}

/**
 * Returns the page that makes the session of a visit fresh, for what cannot wait for the press of a button: a secret that
 * would have to be typed twice, and what only a script or a provider does. Null if it is fresh.
 *
 * @param to the page that it leads back to
 * @internal
 */
export function confirmFirst({ site, auth }: Visit, to: string): string | null {
  return !auth || isConfirmed(site, auth) ? null : site.page('reauthenticate', { returnTo: to });
}

/**
 * Creates the link to the page where users confirm who they are, in place of a form that needs it.
 *
 * @internal
 */
export function confirmLink(confirm: string, words: Words): Html {
  return html`<p>${words.proof.lead}</p><p><a href="${confirm}" data-part="button secondary">${words.proof.first}</a></p>`;
}
