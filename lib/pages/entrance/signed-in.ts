import { html } from '../../html.js';
import type { Words } from '../../words/pages/index.js';
import { Leave, type View, type Visit } from '../page.js';
import { providerIds } from '../providers.js';
import type { CommonValues } from '../values.js';

/**
 * Returns a redirect for a user who opens a sign-in page but is already signed in, or whose sign-in waits for its
 * second step. Null if the page is shown.
 */
export function leaveSignedIn({ site, auth, returnTo, query, refused, done }: Visit): Leave | null {
  if (query.get('second_factor') === 'required' && site.hasPage('second-factor'))
    return new Leave(site.page('second-factor', { returnTo }));
  // A message can be about another account, such as one that has just got a password.
  if (!auth || query.has('error') || refused !== null || done !== null) return null;
  // The sign-in at a provider has led back here.
  const provider = query.get('provider');
  const way = provider !== null && providerIds(site).includes(provider) ? provider : undefined;
  return new Leave(site.pageOfTasks(auth, returnTo) ?? returnTo ?? site.home, way);
}

/**
 * Whether a sign-in whose code was rejected has been completed in another tab: the browser has a session that is as young
 * as a sign-in can be, and no sign-in waits there. An older session can be someone else's.
 */
export function isCompletedElsewhere({ site, req, auth, refused }: Visit): boolean {
  if (!auth?.session || refused?.error.code !== 'sign_in_expired' || site.isWaiting({ req })) return false;
  return !site.core.database.clock.hasPassed(new Date(auth.session.createdAt.getTime() + SIGN_IN_MS));
}

/** How long a sign-in can wait for its code. */
const SIGN_IN_MS = 10 * 60 * 1000;

/** Draws the page of a sign-in that has been completed in another tab. */
export function signedInView(
  { account, next }: Pick<CommonValues, 'account'> & { readonly next: string },
  words: Words,
): View {
  return {
    title: words.signIn.already,
    main: html`${account !== null && html`<p>${words.refusal.signedInAs(account)}</p>`}<p><a href="${next}" data-part="button">${words.continue}</a></p>`,
  };
}
