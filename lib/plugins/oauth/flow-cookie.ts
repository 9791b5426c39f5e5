import { serialize } from 'cookie';
import { cookieValues } from '../../carriers/cookie.js';
import type { PlainRequest } from '../../context/call.js';
import type { Core } from '../../core/core.js';
import { FLOW_SECONDS } from './flows.js';

/** The cookie that identifies the browser that started a flow. All tabs share it. */
function flowCookieName({ settings }: Core): string {
  return settings.cookie.secure ? '__Host-latchkey-flow' : 'latchkey-flow';
}

/** The value of the flow cookie. Undefined if it is missing or ambiguous. */
export function readFlowCookie(core: Core, { headers }: PlainRequest): string | undefined {
  const [value, ...others] = cookieValues(headers.cookie, flowCookieName(core));
  return others.length === 0 && /^[\w-]{43}$/.test(value ?? '') ? value : undefined;
}

/** SameSite=Lax regardless of the session cookie, since the browser returns from another site. */
export function flowCookie(core: Core, value: string): string {
  return serialize(flowCookieName(core), value, {
    httpOnly: true,
    secure: core.settings.cookie.secure,
    sameSite: 'lax',
    path: '/',
    maxAge: FLOW_SECONDS,
  });
}
