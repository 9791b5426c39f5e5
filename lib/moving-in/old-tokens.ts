import type { ServerResponse } from 'node:http';
import type { PlainRequest } from '../context/call.js';
import { violatedUnique } from '../database/faults.js';
import { AuthError } from '../errors.js';
import { beforeHeaders, setsCookie } from '../http/respond.js';
import { inAuthorization, tokenIn } from '../sessions/carriers.js';
import type { Carrier, SessionAuthentication } from '../sessions/request.js';
import type { SessionWithUser } from '../sessions/sessions.js';
import type { OldToken, TokenBridge } from './bridge.js';
import { isActive } from './kept-sessions.js';
import { accountOf, askOld, checkedFor, retireOldSessions } from './take-over.js';
import type { ResumedSession } from './taken-over.js';
import type { Wing } from './wing.js';

/** A token of a previous system in a request. It might have expired, or might never have been valid. */
interface PresentedToken {
  readonly bridge: TokenBridge;
  readonly token: string;
  /** The token's id. Null if the token cannot be valid. */
  readonly id: string | null;
}

/**
 * The latchkey tokens that clients can use instead of a previous system's token, by the authentication of the request.
 */
const offers = new WeakMap<SessionAuthentication, ResumedSession['issued']>();

/**
 * If a token is first seen after all sessions of its account were ended, it must have been issued at least this long
 * after that: the clocks of the two systems can differ, and the token's time is in whole seconds.
 */
const NEWER_MS = 10_000;
/** Ten years. A token can contain a time that is too late for databases to store. */
const MAX_KEPT_MS = 10 * 365 * 24 * 60 * 60 * 1000;

/**
 * Creates the carrier of tokens of previous systems: see `jwtSessions` in `latchkey/moving-in`. Each token stands for
 * one session, which is created when the token is first seen.
 */
export function oldTokenCarrier(wing: Wing): Carrier {
  return {
    ...inAuthorization(wing.tokenBridges.map(({ scheme }) => scheme)),
    authenticate(req) {
      const presented = oldTokensIn(wing, req);
      return presented.length > 0 ? authenticateBy(wing, presented, req) : null;
    },
    sessionTokens: (req) => oldTokensIn(wing, req).map(({ token }) => token),
  };
}

/**
 * @throws AuthError `invalid_session` if the token is not valid, its session has ended, or it is not taken over;
 *   `unavailable` if its keys or user cannot be read, because an outage must not sign the user out
 */
async function authenticateBy(
  wing: Wing,
  presented: readonly PresentedToken[],
  req: PlainRequest,
): Promise<SessionAuthentication> {
  for (const old of presented) {
    const found = await sessionOf(wing, old, req);
    if (!found) continue;
    const { user, session, issued } = found;
    const authentication: SessionAuthentication = { user, session, apiKey: null, via: 'bearer' };
    offers.set(authentication, issued);
    return authentication;
  }
  throw new AuthError('invalid_session');
}

/** With `bearerEnabled`, sends the session's own token to a client that has presented a token of a previous system. */
export function offerToken(wing: Wing, authentication: SessionAuthentication, res: ServerResponse): void {
  const issued = wing.core.settings.bearerEnabled ? offers.get(authentication) : undefined;
  if (!issued) return;
  beforeHeaders(res, () => {
    // A sign-in sends another token, and after a sign-out this one is invalid.
    if (res.hasHeader('Set-Auth-Token') || setsCookie(res, wing.core.settings.cookie.name)) return;
    res.setHeader('Set-Auth-Token', issued.token);
    res.appendHeader('Access-Control-Expose-Headers', 'Set-Auth-Token');
    res.setHeader('Cache-Control', 'no-store');
  });
}

/**
 * Ends all sessions and tokens of previous systems that a request presents, because the client has signed in.
 *
 * @param kept the client's new session
 */
export async function retireOld(
  wing: Wing,
  req: PlainRequest,
  res: ServerResponse,
  kept: SessionWithUser,
): Promise<void> {
  for (const old of oldTokensIn(wing, req)) await retireToken(wing, old, kept);
  await retireOldSessions(wing, req, res, kept);
}

async function retireToken(wing: Wing, old: PresentedToken, kept: SessionWithUser): Promise<void> {
  const oldHash = hashOf(wing, old);
  if (!oldHash) return;
  const row = await wing.takenOver.find(oldHash);
  const found = row ? await wing.takenOver.resume(row) : await retireUnknown(wing, old, oldHash);
  if (found && found.session.id !== kept.session.id)
    await wing.core.sessions.revoke(found.user.id, found.session.id);
}

/** Records that a token is no longer valid. @returns the session that another request has meanwhile started with it */
async function retireUnknown(
  wing: Wing,
  old: PresentedToken,
  oldHash: Buffer,
): Promise<SessionWithUser | null> {
  // Only valid tokens are recorded, because anyone can send others.
  const token = await find(wing, old).catch((error) => {
    wing.core.settings.log.warn(
      'bridge.token_not_ended',
      'a token of the previous system might not have been ended',
      {
        err: error,
      },
    );
    return null;
  });
  return token && wing.takenOver.retire(oldHash, null, keptUntil(wing, token));
}

async function sessionOf(
  wing: Wing,
  old: PresentedToken,
  req: PlainRequest,
  isAgain = false,
): Promise<ResumedSession | null> {
  const oldHash = hashOf(wing, old);
  if (!oldHash) return null;
  // A known token has been verified before. Its session ends when the token expires.
  const row = await wing.takenOver.find(oldHash);
  if (row) return wing.takenOver.resume(row);
  const token = await find(wing, old);
  const begun = token && (await wing.core.forClient({ request: req }, () => begin(wing, oldHash, token)));
  if (begun !== 'too late') return begun;
  // A transaction of the app might never see what another request has written meanwhile.
  if (isAgain) throw new AuthError('unavailable');
  return sessionOf(wing, old, req, true);
}

/** @returns null if the token is not taken over; 'too late' if another request has taken it over */
async function begin(
  wing: Wing,
  oldHash: Buffer,
  token: OldToken,
): Promise<ResumedSession | 'too late' | null> {
  const record = await accountOf(wing, token);
  const isValid = record && (record.authEpoch === 0 || isNewer(record.account.sessionsEndedAt, token));
  const checked = isValid ? await checkedFor(wing, record, token) : null;
  if (!record || !checked) return null;
  const sealsToken = wing.core.settings.bearerEnabled;
  const takeOver = { oldHash, endsAt: token.endsAt, keptUntil: keptUntil(wing, token), sealsToken };
  try {
    const issued = await wing.takenOver.begin(takeOver, record, checked);
    wing.core.settings.telemetry?.signIn('previous_system', 'signed_in');
    return { user: issued.user, session: issued.session, issued };
  } catch (error) {
    if (violatedUnique(error)) return 'too late';
    throw error;
  }
}

/** Whether a token was issued after the account's sessions had been ended, for example by a new password. */
function isNewer(endedAt: unknown, { issuedAt }: OldToken): boolean {
  // If the app's own statement has raised the epoch, it is unknown when the sessions ended.
  if (issuedAt === null || !(endedAt instanceof Date)) return false;
  return issuedAt.getTime() >= endedAt.getTime() + NEWER_MS;
}

/** Verifies a token. Null if it is not valid. @throws AuthError `unavailable` */
async function find(wing: Wing, old: PresentedToken): Promise<OldToken | null> {
  const { bridge, token } = old;
  await wing.core.database.ready();
  const { clock } = wing.core.database;
  const found = await askOld(wing, bridge.name, () => bridge.find(token, new Date(clock.latest())));
  return found && !clock.hasPassed(found.endsAt) && !clock.hasPassed(bridge.until) ? found : null;
}

/** Returns how long to record that a token has been seen: longer than `until`, because the app can postpone `until`. */
function keptUntil({ core: { database } }: Wing, { endsAt }: OldToken): Date {
  return new Date(Math.min(endsAt.getTime(), database.clock.now() + MAX_KEPT_MS));
}

function hashOf(wing: Wing, { bridge, id }: PresentedToken): Buffer | null {
  return id === null ? null : wing.takenOver.hash(bridge.name, id);
}

function oldTokensIn({ tokenBridges }: Wing, req: PlainRequest): PresentedToken[] {
  if (tokenBridges.length === 0 || req.headers.authorization === undefined) return [];
  return tokenBridges.filter(isActive).flatMap((bridge) => {
    const token = tokenIn(req, [bridge.scheme]);
    return token !== null && bridge.accepts(token) ? [{ bridge, token, id: bridge.idIn(token) }] : [];
  });
}
