import type { CookieValues, SessionBridge } from '../config/bridge.js';
import type { Settings } from '../config/settings.js';
import type { PlainRequest } from '../context/call.js';
import { cookieValues } from '../sessions/carriers.js';

/** The cookie of an older system's session in a request. It may have ended, or never have existed. */
export interface OldCookie {
  readonly bridge: SessionBridge;
  /** The name of the cookie. */
  readonly name: string;
  /** The id of the session. */
  readonly id: string;
  readonly cookies: CookieValues;
}

/** The cookies of older systems' sessions that a request carries, with the right signature if they have one. */
export function oldCookiesIn({ bridges, cookie }: Settings, { headers }: PlainRequest): OldCookie[] {
  if (bridges.length === 0 || headers.cookie === undefined) return [];
  const cookies = (name: string) => cookieValues(headers.cookie, name).map(decoded);
  return bridges.flatMap((bridge) => {
    if (bridge.until !== null && bridge.until.getTime() <= Date.now()) return [];
    const name = bridge.cookieNames(cookie.secure).find((one) => cookies(one).length > 0);
    const [value, ...others] = name === undefined ? [] : cookies(name);
    // Of two different ones, neither is believed: see cookie.ts.
    const id = value === undefined || others.length > 0 ? null : bridge.idIn(value);
    return id === null || name === undefined ? [] : [{ bridge, name, id, cookies }];
  });
}

/** The value before it was encoded for the header. Other systems encode theirs, and quote them if they like. */
function decoded(value: string): string {
  const bare = /^".*"$/.test(value) ? value.slice(1, -1) : value;
  try {
    return decodeURIComponent(bare);
  } catch {
    return bare;
  }
}
