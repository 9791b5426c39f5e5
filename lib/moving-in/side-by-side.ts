import type { PlainRequest } from '../context/call.js';
import type { SessionWithUser } from '../sessions/sessions.js';
import { accountOf } from './account-of.js';
import type { OldSession } from './bridge.js';
import { identityOf, type LinkedSession } from './linked-sessions.js';
import { ask, byCookie, byCookies, type PresentedByCookie } from './presented.js';
import type { Services } from './services.js';

/** How long a request with a session waits for a previous system, because an outage there must not delay every page. */
const CHECK_MS = 1000;

/**
 * Whether a session has ended because its user has signed out in a previous system that is still running.
 *
 * @param isPresented whether the request presents the session itself, and not only the old cookie
 */
export async function hasEndedThere(
  services: Services,
  req: PlainRequest,
  here: SessionWithUser,
  isPresented: boolean,
): Promise<boolean> {
  const { core, linked, takenOver } = services;
  if (linked.bridges.length === 0) return false;
  const { user, session } = here;
  const presented = byCookies(services, req).filter(({ continues }) => continues);
  const links = await linked.of(session.id);
  if (links.length === 0)
    for (const old of presented) {
      const row = await takenOver.find(old.hash);
      // An event that keeps this session, such as a first password, has ended the earlier link.
      if (!row || row.sessionId === session.id) await link(services, old, here, row !== null);
    }
  for (const one of links) {
    if (await continues(services, one, presented, here)) {
      if (isPresented && presented.some(({ cookie }) => cookie.id === one.id)) await linked.use(one);
      continue;
    }
    await core.database.transaction(async (transaction) => {
      // Forget the links first, because otherwise the revocation would end the sessions in the other systems too.
      for (const ended of links) await linked.forget(ended, session.id, transaction);
      await core.sessions.revoke(user.id, session.id, transaction);
    });
    return true;
  }
  return false;
}

/** Whether a linked session is still active in the previous system, and is still the browser's session there. */
async function continues(
  services: Services,
  one: LinkedSession,
  presented: readonly PresentedByCookie[],
  { user, session }: SessionWithUser,
): Promise<boolean> {
  const old = presented.find(({ cookie }) => cookie.bridge === one.bridge);
  // Some systems replace their cookie at a sign-in without ending the previous session.
  if (old && old.cookie.id !== one.id && (await check(services, old))) return false;
  const { bridge, id } = one;
  const cookies = old?.cookie.cookies ?? (() => []);
  const found = await check(
    services,
    byCookie(services, { bridge, id, name: old?.cookie.name ?? '', cookies }),
  );
  if (found === undefined) return true;
  if (found !== null) {
    if (identityOf(found.user) !== one.user && (await accountOf(services, found))?.user.id !== user.id)
      return false;
    if (one.isAttached) await services.linked.extend(one, found.endsAt);
    return true;
  }
  // A user who has also signed in here stays signed in when the session there merely expires.
  const hasExpired =
    one.isAttached && one.endsAt !== null && services.core.database.clock.hasPassed(one.endsAt);
  if (hasExpired) await services.linked.forget(one, session.id);
  return hasExpired;
}

/**
 * Links a previous system's session to a session of the same user, who has also signed in here.
 *
 * @param replaces whether to replace an earlier link
 * @returns false if it is the session of another user
 */
export async function link(
  services: Services,
  old: PresentedByCookie,
  here: SessionWithUser,
  replaces: boolean,
): Promise<boolean> {
  const { linked } = services;
  const found = await check(services, old);
  if (!found) return true;
  const record = await accountOf(services, found);
  if (record?.user.id !== here.user.id) return false;
  const columns = linked.link(old.cookie, found, here.session.id, record.authEpoch);
  await linked.attach(old.cookie, columns, replaces);
  return true;
}

/**
 * Finds the active session in a previous system that is still running, for a request that has a session here.
 *
 * @returns undefined if the system could not be read, because an outage there must not sign the user out
 */
async function check(services: Services, old: PresentedByCookie): Promise<OldSession | null | undefined> {
  const { core, linked } = services;
  const { bridge } = old.cookie;
  if (linked.isPaused(bridge)) return undefined;
  try {
    const found = await ask(services, old, CHECK_MS);
    linked.wasRead(bridge, true);
    return found;
  } catch (error) {
    linked.wasRead(bridge, false);
    core.settings.log.warn(
      'bridge.check_failed',
      `the sessions of ${bridge.name} could not be read, so a sign-out there is not noticed here`,
      { err: error },
    );
    return undefined;
  }
}
