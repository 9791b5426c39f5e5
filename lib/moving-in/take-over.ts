import type { PlainRequest } from '../context/call.js';
import { withTimeout } from '../context/deadline.js';
import { violatedUnique } from '../database/faults.js';
import { AuthError } from '../errors.js';
import { isLeftOut } from '../sessions/left-out.js';
import { isUnsafe, requireOwnOrigin } from '../sessions/origin.js';
import type { CheckedSignIn } from '../sessions/sign-in.js';
import type { IssuedSession } from '../sessions/signed-in.js';
import { needsNewPassword, type UserRecord } from '../users/record.js';
import { accountOf } from './account-of.js';
import type { OldSession } from './bridge.js';
import { ask, type FoundSession, late, type Presented } from './presented.js';
import type { Services } from './services.js';
import { hasEndedThere } from './side-by-side.js';
import type { ResumedSession, TakenOverSession } from './taken-over.js';

/** How long latchkey waits for a session to end in a previous system. */
const END_MS = 3000;
/**
 * If a token is first seen after all sessions of its account were ended, it must have been issued at least this long
 * after that: the clocks of the two systems can differ, and the token's time is in whole seconds.
 */
const NEWER_MS = 10_000;
/** Ten years. A token can contain a time that is too late for databases to store. */
const MAX_STORED_MS = 10 * 365 * 24 * 60 * 60 * 1000;

/**
 * Finds the session here that a previous system's session has become. If there is none yet, takes the session over.
 *
 * @returns null if the session is not taken over
 * @throws AuthError `origin_not_allowed` for another site's request with an unsafe method; `unavailable` if the
 *   previous system does not respond, because an outage must not sign the user out
 */
export async function find(
  services: Services,
  old: Presented,
  req: PlainRequest,
  isAgain = false,
): Promise<ResumedSession | null> {
  const { core, takenOver } = services;
  const row = await takenOver.find(old.hash);
  if (row) {
    const known = await takenOver.resume(row);
    if (!(await isOver(services, old, req, row, known))) {
      if (known) requireOwnPage(services, old, req);
      return known;
    }
  }
  const found = await ask(services, old);
  if (!found) return row || old.continues ? null : findLate(services, old, req);
  requireOwnPage(services, old, req);
  try {
    return await core.forClient({ request: req }, () => begin(services, old, found, row));
  } catch (error) {
    if (!violatedUnique(error)) throw error;
    // Another request has taken it over. A transaction of the app might never see what that request has written.
    if (isAgain) throw new AuthError('unavailable');
    return find(services, old, req, true);
  }
}

/**
 * Whether a session here is over although the previous system's session might be active, so that it is taken over again.
 * A token stands for one session only.
 */
async function isOver(
  services: Services,
  { cookie, continues }: Presented,
  req: PlainRequest,
  row: TakenOverSession,
  known: ResumedSession | null,
): Promise<boolean> {
  if (!cookie) return false;
  if (known) return hasEndedThere(services, req, known, false);
  return continues && services.takenOver.hasLapsed(row);
}

/** Looks again, because another process might have taken the session over since the first look, and ended it there. */
async function findLate(
  services: Services,
  old: Presented,
  req: PlainRequest,
): Promise<ResumedSession | null> {
  const row = await services.takenOver.find(old.hash);
  const known = row && (await services.takenOver.resume(row));
  if (known) requireOwnPage(services, old, req);
  return known;
}

/** Browsers send cookies automatically, so a request with an unsafe method must come from an allowed origin. */
function requireOwnPage({ core }: Services, { cookie }: Presented, req: PlainRequest): void {
  if (cookie && req.method !== undefined && isUnsafe(req.method)) requireOwnOrigin(req, core.settings);
}

/**
 * Starts a session in place of a previous system's session.
 *
 * @param former the row of an earlier session here, which has lapsed
 * @returns null if the session is not taken over
 * @throws UniqueConstraintError (Sequelize) if another request has already taken it over
 */
async function begin(
  services: Services,
  old: Presented,
  found: FoundSession,
  former: TakenOverSession | null,
): Promise<ResumedSession | null> {
  const { core, linked, takenOver } = services;
  const { cookie } = old;
  const record = await accountOf(services, found);
  const checked = record && isOfThisEpoch(record, found) ? await checkedFor(services, record, found) : null;
  if (!record || !checked) return null;
  const ofKind = cookie
    ? old.continues && {
        link: ({ session }: IssuedSession) => linked.link(cookie, found, session.id, record.authEpoch),
      }
    : { storedUntil: storedUntil(services, found), sealsToken: core.settings.bearerEnabled };
  const takeOver = { oldHash: old.hash, endsAt: found.endsAt, former, ...ofKind };
  const issued = await takenOver.begin(takeOver, record, checked);
  core.settings.telemetry?.signIn('previous_system', 'signed_in');
  if (!old.continues) await endThere(services, old);
  return { user: issued.user, session: issued.session, issued };
}

/**
 * Whether nothing has ended all of the account's sessions since a session of the previous system began. If an event such
 * as a new password has ended them, the sessions of the previous system are invalid too.
 */
function isOfThisEpoch({ authEpoch, account }: UserRecord, { issuedAt }: FoundSession): boolean {
  if (authEpoch === 0) return true;
  const { sessionsEndedAt } = account;
  // If the app's own statement has raised the epoch, it is unknown when the sessions ended.
  if (issuedAt === null || !(sessionsEndedAt instanceof Date)) return false;
  return issuedAt.getTime() >= sessionsEndedAt.getTime() + NEWER_MS;
}

/** Checks the sign-in. Returns null if the account's sessions of the previous system are not taken over. */
async function checkedFor(
  { core }: Services,
  record: UserRecord,
  { endsAt, remembered }: OldSession,
): Promise<CheckedSignIn | null> {
  // Sessions of the previous system do not prove a second factor.
  if (core.secondFactors.isOn(record.account)) return null;
  // The user must choose a new password, but the old one might still work there.
  if (needsNewPassword(record.user)) return null;
  try {
    return await core.checkSignIn({ ...record, amr: [] }, { remembered, endsAt, isByPerson: false });
  } catch (error) {
    if (error instanceof AuthError && (error.status === 401 || error.status === 403 || isLeftOut(error)))
      return null;
    throw error;
  }
}

/**
 * Ends a session of a previous system that a request presents, here and there.
 *
 * @param except the id of a session here that continues
 * @param looksAgain whether to also end a session that another request takes over in the meantime
 * @returns whether it was active. Null if no user has such a session
 */
export async function end(
  services: Services,
  old: Presented,
  except: string | null,
  looksAgain: boolean,
): Promise<boolean | null> {
  const { core, takenOver } = services;
  if (!old.continues && takenOver.isRetired(old.hash)) return false;
  const known = await takenOver.find(old.hash);
  const unused = known ? null : await findUnused(services, old);
  const row = known ?? (looksAgain ? await takenOver.find(old.hash) : null);
  if (!row && !unused) return null;
  const ended = await takenOver.retire(old.hash, row, unused?.storedUntil);
  const wasRevoked =
    ended !== null &&
    ended.session.id !== except &&
    (await core.sessions.revoke(ended.user.id, ended.session.id));
  // A session that was not linked has ended there when it was taken over.
  if (old.continues || !row || row.sessionId !== null) await endThere(services, old);
  return !row || wasRevoked;
}

/**
 * Returns a session that was not taken over yet, and the time until which a row must record that it has ended. Null if
 * it is not active.
 */
async function findUnused(
  services: Services,
  old: Presented,
): Promise<{ readonly storedUntil?: Date } | null> {
  const { log } = services.core.settings;
  try {
    const found = await ask(services, old);
    return found && (old.cookie ? {} : { storedUntil: storedUntil(services, found) });
  } catch (err) {
    if (old.cookie) {
      // The request has a latchkey session, so it continues.
      log.warn('bridge.read_failed', 'a session of the previous system might not have been ended', { err });
      return {};
    }
    // Only valid tokens are recorded, because anyone can send others.
    log.warn('bridge.token_not_ended', 'a token of the previous system might not have been ended', { err });
    return null;
  }
}

/** Returns how long to record that a token has been seen: longer than `until`, because the app can postpone `until`. */
function storedUntil({ core }: Services, { endsAt }: OldSession): Date {
  const latest = core.database.clock.now() + MAX_STORED_MS;
  return new Date(Math.min(endsAt?.getTime() ?? latest, latest));
}

/**
 * Ends a session in the previous system too. A failure is only logged, because latchkey no longer accepts the session.
 */
async function endThere({ core, linked }: Services, { cookie }: Presented): Promise<void> {
  if (!cookie) return;
  const { bridge, id } = cookie;
  if (bridge.keepOld) return linked.end(cookie);
  try {
    await core.context.forApp(() => withTimeout(bridge.end(id), END_MS, () => late(END_MS)));
  } catch (err) {
    core.settings.log.warn('bridge.end_failed', `a session of ${bridge.name} could not be ended there`, {
      err,
    });
  }
}
