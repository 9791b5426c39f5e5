import { Leave, type Visit } from '../page.js';
import { providerIds } from '../providers.js';

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
