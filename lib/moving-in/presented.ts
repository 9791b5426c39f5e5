import type { PlainRequest } from '../context/call.js';
import { withTimeout } from '../context/deadline.js';
import { AuthError } from '../errors.js';
import { cookieValues, tokenIn } from '../sessions/carriers.js';
import { type CookieValues, isActive, type OldSession, type TokenBridge } from './bridge.js';
import { hashOfOld, type OldInBridge } from './linked-sessions.js';
import type { Services } from './services.js';

/** How long latchkey waits for a previous system. */
const STORE_MS = 3000;

/** A session of a previous system that a request presents. It might have ended, or might never have existed. */
export interface Presented {
  /** The name of the system. */
  readonly system: string;
  /** The hash of the session's id. */
  readonly hash: Buffer;
  /** The cookie that presents the session. Null for a token, which stands for a session. */
  readonly cookie: OldCookie | null;
  /** Whether the session stays valid in its system when it is taken over. */
  readonly continues: boolean;
  /** Returns the session, if it is active. @throws if the system cannot be read */
  find(): Promise<FoundSession | null>;
}

/** An active session of a previous system. */
export interface FoundSession extends OldSession {
  /** When its token was issued. Null for a cookie, and for a token that does not contain the time. */
  readonly issuedAt: Date | null;
}

/** A session that a cookie presents. */
export interface PresentedByCookie extends Presented {
  readonly cookie: OldCookie;
}

/** The cookie of a session in a previous system. Its signature is right. */
export interface OldCookie extends OldInBridge {
  /** The name of the cookie. */
  readonly name: string;
  /** The other cookies of the request. */
  readonly cookies: CookieValues;
}

/** Returns the sessions whose cookies a request contains. */
export function byCookies(services: Services, { headers }: PlainRequest): PresentedByCookie[] {
  if (services.bridges.length === 0 || headers.cookie === undefined) return [];
  const { secure } = services.core.settings.cookie;
  const cookies = (name: string) => cookieValues(headers.cookie, name).map(decoded);
  return services.bridges.flatMap((bridge) => {
    if (!isActive(bridge)) return [];
    const name = bridge.cookieNames(secure).find((one) => cookies(one).length > 0);
    const [value, ...others] = name === undefined ? [] : cookies(name);
    // If a request contains two different cookies, neither is trusted.
    const id = value === undefined || others.length > 0 ? null : bridge.idIn(value);
    return id === null || name === undefined ? [] : [byCookie(services, { bridge, id, name, cookies })];
  });
}

/** Returns the session of a cookie. */
export function byCookie({ core }: Services, cookie: OldCookie): PresentedByCookie {
  const { bridge, id, cookies } = cookie;
  return {
    system: bridge.name,
    hash: hashOfOld(bridge.name, id),
    cookie,
    continues: bridge.keepOld !== null,
    async find() {
      const found = await bridge.find(id, cookies, core.settings.cookie.secure);
      if (!found || (found.endsAt && core.database.clock.hasPassed(found.endsAt))) return null;
      return { ...found, issuedAt: null };
    },
  };
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

/** A token in the form of a previous system's tokens, valid or not. */
export interface OldTokenText {
  readonly token: string;
  /** The session that it stands for. Null if the token cannot be valid. */
  readonly presented: Presented | null;
}

/** Returns the tokens that a request contains in the header `Authorization`. */
export function tokensIn(services: Services, req: PlainRequest): OldTokenText[] {
  if (services.tokenBridges.length === 0 || req.headers.authorization === undefined) return [];
  return services.tokenBridges.filter(isActive).flatMap((bridge) => {
    const token = tokenIn(req, [bridge.scheme]);
    return token === null || !bridge.accepts(token)
      ? []
      : [{ token, presented: byToken(services, bridge, token) }];
  });
}

function byToken({ core }: Services, bridge: TokenBridge, token: string): Presented | null {
  const { clock } = core.database;
  const id = bridge.idIn(token);
  if (id === null) return null;
  return {
    system: bridge.name,
    hash: hashOfOld(bridge.name, id),
    cookie: null,
    continues: true,
    async find() {
      const found = await bridge.find(token, new Date(clock.latest()));
      return found && !clock.hasPassed(found.endsAt) && !clock.hasPassed(bridge.until) ? found : null;
    },
  };
}

/**
 * Asks a previous system for a session, outside this call's transaction, because it reads a store of the app.
 *
 * @throws AuthError `unavailable`
 */
export async function ask({ core }: Services, old: Presented, ms = STORE_MS): Promise<FoundSession | null> {
  await core.database.ready();
  try {
    return await core.context.forApp(() => withTimeout(old.find(), ms, () => late(ms)));
  } catch (error) {
    const cause = new Error(`the sessions of ${old.system} could not be read: ${String(error)}`);
    throw new AuthError('unavailable', { cause });
  }
}

/** The error of a previous system that does not respond in time. */
export function late(ms: number): Error {
  return new Error(`no response within ${ms / 1000} s`);
}
