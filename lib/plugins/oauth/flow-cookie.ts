import { serialize } from 'cookie';
import { cookieValues } from '../../carriers/cookie.js';
import type { PlainRequest } from '../../context/call.js';
import type { Core } from '../../core/core.js';
import { FLOW_SECONDS } from './flows.js';

/** The cookie that identifies the browser in which a flow began. All its tabs share it. */
function flowCookieName({ settings }: Core): string {
  return settings.cookie.secure ? '__Host-latchkey-flow' : 'latchkey-flow';
}

/** The value of the flow cookie; undefined if there is none, or two that differ. */
export function readFlowCookie(core: Core, { headers }: PlainRequest): string | undefined {
  const [value, ...others] = cookieValues(headers.cookie, flowCookieName(core));
  return others.length === 0 && /^[\w-]{43}$/.test(value ?? '') ? value : undefined;
}

/** Lax, whatever the session cookie is: the return from a provider begins at another site. */
export function flowCookie(core: Core, value: string): string {
  return serialize(flowCookieName(core), value, {
    httpOnly: true,
    secure: core.settings.cookie.secure,
    sameSite: 'lax',
    path: '/',
    maxAge: FLOW_SECONDS,
  });
}
