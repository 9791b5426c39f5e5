import { html } from '../../html.js';
import { Leave, type View, type Visit } from '../page.js';
import { providerIds } from '../providers.js';
import { ACCOUNT_CREATED } from '../site.js';
import type { CommonValues } from '../values.js';
import type { Words } from '../words/index.js';

/**
 * Returns a redirect for a user who opens a sign-in page but is already signed in, or whose sign-in waits for its
 * second step. Null if the page is shown.
 */
export function leaveSignedIn(visit: Visit): Leave | null {
  const { site, auth, returnTo, query, refused, done } = visit;
  if (query.get('second_factor') === 'required' && site.hasPage('second-factor'))
    return new Leave(site.page('second-factor', { returnTo }));
  // A message can be about another account, such as one that has just got a password.
  if (!auth || query.has('error') || refused !== null || done !== null) return null;
  // The sign-in at a provider has led back here.
  const provider = query.get('provider');
  const way = provider !== null && providerIds(site).includes(provider) ? provider : undefined;
  const next = returnTo ?? site.home;
  return new Leave(site.pageOfTasks(auth, returnTo) ?? (way ? afterProvider(visit, next) : next), way);
}

/** Returns the page that follows a sign-in at a provider. A user who has signed up there knows of the new account. */
function afterProvider({ site, req, res }: Visit, next: string): string {
  if (!site.notes.of(req).isNew || site.pageAt(site.here(req))?.name !== 'sign-in') return next;
  const to = site.accountCreated(next);
  if (to !== next) site.notes.leave(res, to, { done: ACCOUNT_CREATED });
  return to;
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
