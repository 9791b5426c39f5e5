import type { ServerResponse } from 'node:http';
import type { PlainRequest } from '../context/call.js';
import { withTimeout } from '../context/deadline.js';
import { uuidOf } from '../crypto/uuid.js';
import { violatedUnique } from '../database/faults.js';
import { AuthError } from '../errors.js';
import { beforeHeaders, clearCookie, setSessionCookie, setsCookie } from '../http/respond.js';
import { cookieValues } from '../sessions/carriers.js';
import { isUnsafe, requireOwnOrigin } from '../sessions/origin.js';
import type { SessionAuthentication } from '../sessions/request.js';
import type { SessionWithUser } from '../sessions/sessions.js';
import type { CheckedSignIn } from '../sessions/sign-in.js';
import type { IssuedSession } from '../sessions/signed-in.js';
import { canonicalEmail } from '../users/canonical.js';
import { isCreationTime } from '../users/imported.js';
import { needsNewPassword, type UserRecord } from '../users/record.js';
import { type AppModel, columnOf, internalsOf, quotedTable } from '../users/row-source.js';
import { normalKey } from '../users/rows.js';
import type { CookieValues, OldSession, OldUser, OldUserId } from './bridge.js';
import { importedId } from './imported-rows.js';
import { identityOf, isActive, type KeptSession, type OldInBridge } from './kept-sessions.js';
import type { ResumedSession, TakenOverSession } from './taken-over.js';
import type { Wing } from './wing.js';

/** How long latchkey waits for a previous system's store. */
const STORE_MS = 3000;
/** How long a request with a session waits for that store, because an outage there must not delay every page here. */
const CHECK_MS = 1000;

/**
 * Authenticates a request without a latchkey credential by its session of a previous system, which is taken over: see
 * `latchkey/moving-in`. The response sets the cookie of the new session. Returns null if the request has no such session,
 * or if the session is not taken over.
 *
 * @param options `onlyKept` leaves out sessions that end in the previous system when they are taken over
 * @throws AuthError `origin_not_allowed` for another site's request with an unsafe method; `unavailable` if the
 *   previous system's store does not respond, because an outage must not sign the user out
 */
export async function carryOver(
  wing: Wing,
  req: PlainRequest,
  res: ServerResponse,
  { onlyKept = false } = {},
): Promise<SessionAuthentication | null> {
  for (const old of oldCookiesIn(wing, req)) {
    if (onlyKept && !old.bridge.keepOld) continue;
    const takenOver = await takenOverBy(wing, old, req, res);
    if (takenOver) return { user: takenOver.user, session: takenOver.session, apiKey: null, via: 'cookie' };
  }
  return null;
}

/**
 * Ends the sessions of previous systems whose cookies a request contains, and clears these cookies, so that no such
 * session is taken over after a sign-out. For a request without such cookies, it does nothing. A session that continues
 * in the previous system (`keepOld`) only ends at a sign-out, or when another user signs in.
 *
 * @param kept the client's new session; null if the client signs out
 * @returns whether one of the sessions was active
 */
export async function retireOldSessions(
  wing: Wing,
  req: PlainRequest,
  res: ServerResponse,
  kept: SessionWithUser | null,
): Promise<boolean> {
  let hasEnded = false;
  for (const old of oldCookiesIn(wing, req)) {
    if (kept && old.bridge.keepOld && (await link(wing, old, kept, true)) !== 'of another user') continue;
    hasEnded = (await retireAndClear(wing, old, res, kept?.session.id ?? null, true)) || hasEnded;
  }
  return hasEnded;
}

/**
 * Handles the sessions of previous systems whose cookies a request with a session contains. They end and their cookies
 * are cleared, unless the previous system is still running (`keepOld`). In that case, a session that has ended there
 * also ends here. If the browser has another session there, that session is taken over.
 *
 * @returns the session that the request continues with
 * @throws AuthError `invalid_session` if the session has ended in the previous system
 */
export async function besideOldSessions(
  wing: Wing,
  req: PlainRequest,
  res: ServerResponse | undefined,
  authentication: SessionAuthentication,
): Promise<SessionAuthentication> {
  if (await hasEndedThere(wing, req, authentication, true)) {
    const other = res && (await carryOver(wing, req, res, { onlyKept: true }));
    if (!other) throw new AuthError('invalid_session');
    return other;
  }
  if (res)
    for (const old of oldCookiesIn(wing, req))
      if (!old.bridge.keepOld) await retireAndClear(wing, old, res, authentication.session.id, false);
  return authentication;
}

/**
 * Whether a session has ended because its user has signed out in a previous system that is still running.
 *
 * @param isPresented whether the request presents the session itself, and not only the old cookie
 */
async function hasEndedThere(
  wing: Wing,
  req: PlainRequest,
  kept: SessionWithUser,
  isPresented: boolean,
): Promise<boolean> {
  if (wing.kept.bridges.length === 0) return false;
  const { user, session } = kept;
  const presented = oldCookiesIn(wing, req).filter(({ bridge }) => bridge.keepOld);
  const links = await wing.kept.of(session.id);
  if (links.length === 0)
    for (const old of presented) {
      const row = await wing.takenOver.find(hashOf(wing, old));
      // An event that keeps this session, such as a first password, has ended the earlier link.
      if (!row || row.sessionId === session.id) await link(wing, old, kept, row !== null);
    }
  for (const one of links) {
    if (await continues(wing, one, presented, kept)) {
      if (isPresented && presented.some(({ id }) => id === one.id)) await wing.kept.use(one);
      continue;
    }
    await wing.core.database.transaction(async (transaction) => {
      // Forget the links first, because otherwise the revocation would end the sessions in the other systems too.
      for (const ended of links) await wing.kept.forget(ended, session.id, transaction);
      await wing.core.sessions.revoke(user.id, session.id, transaction);
    });
    return true;
  }
  return false;
}

/** Whether the linked session in the previous system is still active, and is still the browser's session there. */
async function continues(
  wing: Wing,
  one: KeptSession,
  presented: readonly OldCookie[],
  { user, session }: SessionWithUser,
): Promise<boolean> {
  const old = presented.find(({ bridge }) => bridge === one.bridge);
  // Some systems replace their cookie at a sign-in without ending the previous session.
  if (old && old.id !== one.id && (await check(wing, old))) return false;
  const found = await check(wing, { ...one, cookies: old?.cookies ?? (() => []) });
  if (found === undefined) return true;
  if (found !== null) {
    if (identityOf(found.user) !== one.user && (await accountOf(wing, found))?.user.id !== user.id)
      return false;
    if (one.isAttached) await wing.kept.extend(one, found.endsAt);
    return true;
  }
  // A user who has also signed in here stays signed in when the session there merely expires.
  const hasExpired = one.isAttached && one.endsAt !== null && wing.core.database.clock.hasPassed(one.endsAt);
  if (hasExpired) await wing.kept.forget(one, session.id);
  return hasExpired;
}

/** Links a previous system's session to a session of the same user, who has also signed in here. */
async function link(
  wing: Wing,
  old: OldCookie,
  kept: SessionWithUser,
  replaces: boolean,
): Promise<'linked' | 'of another user' | 'unknown'> {
  const found = await check(wing, old);
  if (!found) return 'unknown';
  const record = await accountOf(wing, found);
  if (record?.user.id !== kept.user.id) return 'of another user';
  await wing.kept.attach(old, wing.kept.link(old, found, kept.session.id, record.authEpoch), replaces);
  return 'linked';
}

/**
 * Finds the active session in a previous system that is still running, for a request that has a session here.
 *
 * @returns undefined if the system could not be read, because an outage there must not sign the user out
 */
async function check(
  wing: Wing,
  old: Pick<OldCookie, 'bridge' | 'id' | 'cookies'>,
): Promise<OldSession | null | undefined> {
  if (wing.kept.isPaused(old.bridge)) return undefined;
  try {
    const found = await findOld(wing, old, CHECK_MS);
    wing.kept.wasRead(old.bridge, true);
    return found;
  } catch (error) {
    wing.kept.wasRead(old.bridge, false);
    wing.core.settings.log.warn(
      'bridge.check_failed',
      `the sessions of ${old.bridge.name} could not be read, so a sign-out there is not noticed here`,
      { err: error },
    );
    return undefined;
  }
}

/** Ends a session of a previous system, and clears its cookie. @returns whether it was active */
async function retireAndClear(
  wing: Wing,
  old: OldCookie,
  res: ServerResponse,
  keptId: string | null,
  looksAgain: boolean,
): Promise<boolean> {
  const outcome = await retired(wing, old, keptId, looksAgain);
  if (outcome === null) return false;
  beforeHeaders(res, () => {
    if (setsCookie(res, old.name)) return;
    clearOldCookie(old.name, res);
    res.setHeader('Cache-Control', 'no-store');
  });
  return outcome.wasActive;
}

async function takenOverBy(
  wing: Wing,
  old: OldCookie,
  req: PlainRequest,
  res: ServerResponse,
  isAgain = false,
): Promise<SessionWithUser | null> {
  const row = await wing.takenOver.find(hashOf(wing, old));
  if (row) {
    const found = await wing.takenOver.resume(row);
    const isOver = found
      ? await hasEndedThere(wing, req, found, false)
      : old.bridge.keepOld !== null && (await wing.takenOver.hasLapsed(row));
    if (!isOver) return found && resumed(wing, found, req, res);
  }
  const session = await findOld(wing, old);
  if (!session) return row ? null : resumedLate(wing, old, req, res);
  requireOwnPage(wing, req);
  const begun = await wing.core.forClient({ request: req }, () => begin(wing, old, session, row));
  if (begun === 'too late') {
    // A transaction of the app might never see what another request has written meanwhile.
    if (isAgain) throw new AuthError('unavailable');
    return takenOverBy(wing, old, req, res, true);
  }
  if (begun) offer(wing, begun, res);
  return begun;
}

/** Continues the session that has already replaced the previous system's session. */
function resumed(wing: Wing, found: ResumedSession, req: PlainRequest, res: ServerResponse): SessionWithUser {
  requireOwnPage(wing, req);
  if (found.issued) offer(wing, found.issued, res);
  return found;
}

/**
 * Looks for the session a second time, if the previous system has no such session: since the first look, another
 * process might have taken it over and ended it there.
 */
async function resumedLate(
  wing: Wing,
  old: OldCookie,
  req: PlainRequest,
  res: ServerResponse,
): Promise<SessionWithUser | null> {
  const row = await wing.takenOver.find(hashOf(wing, old));
  const found = row && (await wing.takenOver.resume(row));
  return found && resumed(wing, found, req, res);
}

/** @returns null if the session is not taken over; 'too late' if another request has taken it over */
async function begin(
  wing: Wing,
  old: OldCookie,
  session: OldSession,
  former: TakenOverSession | null,
): Promise<IssuedSession | 'too late' | null> {
  const record = await accountOf(wing, session);
  // If an event such as a new password has ended all of the user's sessions, sessions of the previous system are
  // invalid too.
  const checked = record?.authEpoch === 0 ? await checkedFor(wing, record, session) : null;
  if (!record || !checked) return null;
  const keeps = old.bridge.keepOld !== null;
  const takeOver = {
    ...{ oldHash: hashOf(wing, old), endsAt: session.endsAt, former },
    ...(keeps && {
      link: (issued: IssuedSession) => wing.kept.link(old, session, issued.session.id, record.authEpoch),
    }),
  };
  try {
    const issued = await wing.takenOver.begin(takeOver, record, checked);
    wing.core.settings.telemetry?.signIn('previous_system', 'signed_in');
    if (!keeps) await end(wing, old);
    return issued;
  } catch (error) {
    if (violatedUnique(error)) return 'too late';
    throw error;
  }
}

/** Checks the sign-in. Returns null if the account's sessions of the previous system are not taken over. */
export async function checkedFor(
  wing: Wing,
  record: UserRecord,
  session: OldSession,
): Promise<CheckedSignIn | null> {
  // Sessions of the previous system do not prove a second factor.
  if (wing.core.secondFactors.isOn(record.account)) return null;
  // The user must choose a new password, but the old one might still work there.
  if (needsNewPassword(record.user)) return null;
  const { endsAt, remembered } = session;
  try {
    return await wing.core.checkSignIn({ ...record, amr: [] }, { remembered, endsAt, isByPerson: false });
  } catch (error) {
    const isRefused = error instanceof AuthError && (error.status === 401 || error.status === 403);
    if (isRefused) return null;
    throw error;
  }
}

/** Finds the active session in the previous system. @throws AuthError `unavailable` */
async function findOld(
  wing: Wing,
  { bridge, id, cookies }: Pick<OldCookie, 'bridge' | 'id' | 'cookies'>,
  ms = STORE_MS,
): Promise<OldSession | null> {
  await wing.core.database.ready();
  const found = await askOld(
    wing,
    bridge.name,
    () => bridge.find(id, cookies, wing.core.settings.cookie.secure),
    ms,
  );
  return found?.endsAt && wing.core.database.clock.hasPassed(found.endsAt) ? null : found;
}

/** Asks a previous system for a session. @throws AuthError `unavailable` */
export async function askOld<T>(wing: Wing, name: string, ask: () => Promise<T>, ms = STORE_MS): Promise<T> {
  try {
    return await limited(wing, async () => ask(), ms);
  } catch (error) {
    const cause = new Error(`the sessions of ${name} could not be read: ${String(error)}`);
    throw new AuthError('unavailable', { cause });
  }
}

/**
 * Ends a session in the previous system too. A failure is only logged, because latchkey no longer accepts the session.
 */
async function end(wing: Wing, { bridge, id }: OldCookie): Promise<void> {
  if (bridge.keepOld) return wing.kept.end({ bridge, id });
  try {
    await limited(wing, async () => bridge.end(id));
  } catch (error) {
    wing.core.settings.log.warn('bridge.end_failed', `a session of ${bridge.name} could not be ended there`, {
      err: error,
    });
  }
}

/**
 * @param looksAgain whether to also end a session that another request takes over in the meantime
 * @returns null if the cookie does not belong to a user's session
 */
async function retired(
  wing: Wing,
  old: OldCookie,
  keptId: string | null,
  looksAgain: boolean,
): Promise<{ readonly wasActive: boolean } | null> {
  const oldHash = hashOf(wing, old);
  if (!old.bridge.keepOld && wing.takenOver.isRetired(oldHash)) return { wasActive: false };
  const known = await wing.takenOver.find(oldHash);
  const isUnused = !known && (await mayBeActive(wing, old));
  // Another request might have taken it over since the first look, and ended it there.
  const row = known ?? (looksAgain ? await wing.takenOver.find(oldHash) : null);
  if (!row && !isUnused) return null;
  const found = await wing.takenOver.retire(oldHash, row);
  const isOther = found !== null && found.session.id !== keptId;
  const wasRevoked = isOther && (await wing.core.sessions.revoke(found.user.id, found.session.id));
  // Without `keepOld`, the old session ended when it was taken over, unless `keepOld` was configured at that time.
  if (old.bridge.keepOld || !row || row.sessionId !== null) await end(wing, old);
  return { wasActive: !row || wasRevoked };
}

async function mayBeActive(wing: Wing, old: OldCookie): Promise<boolean> {
  try {
    return (await findOld(wing, old)) !== null;
  } catch (error) {
    // The request has a latchkey session, so it continues.
    wing.core.settings.log.warn(
      'bridge.read_failed',
      'a session of the previous system might not have been ended',
      { err: error },
    );
    return true;
  }
}

/** Sends the session to the browser, unless the response sets or clears the session cookie itself. */
function offer(
  wing: Wing,
  issued: Pick<IssuedSession, 'token' | 'session' | 'remembered'>,
  res: ServerResponse,
): void {
  beforeHeaders(res, () => {
    if (setsCookie(res, wing.core.settings.cookie.name)) return;
    setSessionCookie(wing.core, issued, res);
    // A cache must not send the session to other visitors.
    res.setHeader('Cache-Control', 'no-store');
  });
}

function requireOwnPage(wing: Wing, req: PlainRequest): void {
  if (req.method !== undefined && isUnsafe(req.method)) requireOwnOrigin(req, wing.core.settings);
}

function hashOf(wing: Wing, { bridge, id }: OldCookie): Buffer {
  return wing.takenOver.hash(bridge.name, id);
}

/** Runs `work` with a time limit, outside this call's transaction, because it reads a store of the app. */
function limited<T>(wing: Wing, work: () => Promise<T>, ms = STORE_MS): Promise<T> {
  const late = () => new Error(`no response within ${ms / 1000} s`);
  return wing.core.context.forApp(() => withTimeout(work(), ms, late));
}

/**
 * The cookie of a previous system's session in a request. The session might have ended, or might never have existed.
 */
export interface OldCookie extends OldInBridge {
  /** The name of the cookie. */
  readonly name: string;
  readonly cookies: CookieValues;
}

/** Returns the cookies of previous systems' sessions in a request. Cookies with a wrong signature are left out. */
function oldCookiesIn({ bridges, core }: Wing, { headers }: PlainRequest): OldCookie[] {
  if (bridges.length === 0 || headers.cookie === undefined) return [];
  const cookies = (name: string) => cookieValues(headers.cookie, name).map(decoded);
  return bridges.flatMap((bridge) => {
    if (!isActive(bridge)) return [];
    const name = bridge.cookieNames(core.settings.cookie.secure).find((one) => cookies(one).length > 0);
    const [value, ...others] = name === undefined ? [] : cookies(name);
    // If a request contains two different cookies, neither is trusted.
    const id = value === undefined || others.length > 0 ? null : bridge.idIn(value);
    return id === null || name === undefined ? [] : [{ bridge, name, id, cookies }];
  });
}

/** Makes the browser delete the cookie of a previous system, if it was set for this host with the path `/`. */
function clearOldCookie(name: string, res: ServerResponse): void {
  // Browsers ignore a cookie whose name has such a prefix unless it is Secure (RFC 6265bis, 4.1.3).
  const secure = /^__(Secure|Host)-/i.test(name);
  clearCookie(res, { name, path: '/', sameSite: 'lax', secure });
}

/** Decodes a cookie's value. Other systems encode their values, and some also quote them. */
function decoded(value: string): string {
  const bare = /^".*"$/.test(value) ? value.slice(1, -1) : value;
  try {
    return decodeURIComponent(bare);
  } catch {
    return bare;
  }
}

/**
 * Finds the account of a previous system's user. Returns null if it does not exist, or if it might not be the user's.
 */
export async function accountOf(
  wing: Wing,
  { user, beganAt }: Pick<OldSession, 'user' | 'beganAt'>,
): Promise<UserRecord | null> {
  const { id = null, ref = null, source = null, imported } = user;
  const known =
    (id === null ? null : await accountById(wing, id)) ??
    (await accountByRef(wing, ref ?? id ?? imported?.ref ?? null, source)) ??
    (await importedAccount(wing, user));
  if (known || user.emailVerified !== true) return known;
  const canonical = canonicalEmail(user.email);
  const record = canonical === null ? null : await wing.core.users.findRecord({ email: canonical });
  // Someone else might have signed up with the address, here or in the previous system.
  return record?.emailProof.reaches('app') && (await isEarlier(wing, record, user, beganAt)) ? record : null;
}

/**
 * Whether an account with the user's email can have been the user's when the session was created, because addresses can
 * get new owners. An imported account must not belong to another row.
 */
async function isEarlier(
  wing: Wing,
  { user, account }: UserRecord,
  old: OldUser,
  beganAt: Date | null,
): Promise<boolean> {
  if ((account.importedAt ?? null) === null) return beganAt !== null && user.createdAt < beganAt;
  const ref = old.ref ?? old.imported?.ref ?? old.id ?? null;
  if (ref === null) return true;
  if (await wing.rows.isOf(user.id, ref)) return true;
  const names = [user.email, user.username];
  const refs = [String(ref), null].flatMap((one) => [
    importedId({ ref: one, names, createdAt: user.createdAt }),
    importedId({ ref: one, names, createdAt: null }),
  ]);
  return refs.includes(user.id);
}

/** Finds the account of the imported row with this ref. Null if several systems had a row with this ref. */
async function accountByRef(
  wing: Wing,
  ref: OldUserId | null,
  source: string | null,
): Promise<UserRecord | null> {
  const id = ref === null ? null : await wing.rows.userId(ref, source);
  return id === null ? null : wing.core.users.findRecord({ id });
}

/** Finds the account whose id the import derived from the user's row. */
async function importedAccount(wing: Wing, { email, imported }: OldUser): Promise<UserRecord | null> {
  if (!imported) return null;
  const { ref, username = null, createdAt = null } = imported;
  if (createdAt !== null && !isCreationTime(createdAt, wing.core.database.clock.now())) return null;
  const folded = username === null ? null : (wing.core.usernames?.fold(username) ?? null);
  const names = [canonicalEmail(email), folded];
  return wing.core.users.findRecord({ id: importedId({ ref: String(ref), names, createdAt }) });
}

async function accountById(wing: Wing, id: OldUserId): Promise<UserRecord | null> {
  const model = wing.core.users.rows?.model;
  const ofRow = model ? await accountIdOfRow(wing, model, wing.core.settings.user.foreignKey, id) : null;
  const accountId = uuidOf(ofRow ?? id);
  return accountId === null ? null : wing.core.users.findRecord({ id: accountId });
}

/** Reads the account's id from the app's row with this primary key. Returns null if there is no such row. */
async function accountIdOfRow(
  { core: { database } }: Wing,
  model: AppModel,
  foreignKey: string,
  id: OldUserId,
): Promise<string | null> {
  const [attribute, ...others] = model.primaryKeyAttributes;
  const key = attribute === undefined || others.length > 0 ? null : normalKey(model, id);
  if (attribute === undefined || key === null) return null;
  const { queryGenerator } = internalsOf(model).getQueryInterface();
  const column = (one: string) => queryGenerator.quoteIdentifier(columnOf(model, one));
  const rows = await database.select<{ row_key: unknown; account_id: string | null }>(
    `SELECT ${column(attribute)} AS row_key, ${column(foreignKey)} AS account_id FROM ${quotedTable(model)}
     WHERE ${column(attribute)} = :key`,
    { key },
  );
  // MySQL's collations ignore case and trailing spaces.
  return rows.find(({ row_key }) => String(row_key) === key)?.account_id ?? null;
}
