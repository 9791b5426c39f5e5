import { serialize } from 'cookie';
import type { PlainRequest } from '../../context/call.js';
import type { Core } from '../../core/core.js';
import { digestToken } from '../../crypto/token.js';
import { cookieValues } from '../../sessions/carriers.js';
import { trimWhitespace } from '../../sessions/whitespace.js';
import { FLOW_SECONDS } from './flows.js';

/** How many flows a browser can have in progress. Beyond that, a new flow ends the oldest. */
const MAX_FLOWS = 16;
const NAME = /^[\w-]{16}$/;
const VALUE = /^[\w-]{43}$/;

/** The value of the cookie that binds a flow to its browser. Undefined if it is missing or ambiguous. */
export function readFlowCookie(core: Core, { headers }: PlainRequest, state: string): string | undefined {
  // Apps that set the cookie themselves may use one cookie without a suffix for all flows of a browser.
  return (
    singleValue(headers.cookie, cookieName(core, state)) ??
    singleValue(headers.cookie, sharedCookieName(core))
  );
}

/**
 * The `Set-Cookie` headers that bind a flow to the browser. Each flow has a cookie of its own, because tabs that start
 * flows at the same time would overwrite a shared one.
 */
export function setFlowCookie(
  core: Core,
  request: PlainRequest | null,
  state: string,
  value: string,
): string[] {
  // Browsers send the oldest cookies first (RFC 6265, 5.4).
  const surplus = flowCookiesOf(core, request).slice(0, 1 - MAX_FLOWS);
  return [
    serializeFlowCookie(core, cookieName(core, state), value, FLOW_SECONDS),
    ...surplus.map((name) => serializeFlowCookie(core, name, '', 0)),
  ];
}

/** The `Set-Cookie` headers that remove the cookie of a completed flow, if the request carries it. */
export function clearFlowCookie(core: Core, request: PlainRequest, state: string): string[] {
  return flowCookiesOf(core, request)
    .filter((name) => name === cookieName(core, state))
    .map((name) => serializeFlowCookie(core, name, '', 0));
}

function sharedCookieName({ settings }: Core): string {
  return settings.cookie.secure ? '__Host-latchkey-flow' : 'latchkey-flow';
}

/** The callback recognizes a flow's cookie by its state. */
function cookieName(core: Core, state: string): string {
  const suffix = digestToken(state).subarray(0, 12).toString('base64url');
  return `${sharedCookieName(core)}-${suffix}`;
}

/** The names of the flow cookies in a request, in its order. */
function flowCookiesOf(core: Core, request: PlainRequest | null): string[] {
  const prefix = `${sharedCookieName(core)}-`;
  const pairs = (request?.headers.cookie ?? '').split(';');
  const names = pairs.map((pair) => trimWhitespace(pair.split('=', 1)[0] ?? ''));
  return [...new Set(names)].filter(
    (name) => name.startsWith(prefix) && NAME.test(name.slice(prefix.length)),
  );
}

function singleValue(header: string | undefined, name: string): string | undefined {
  const [value, ...others] = cookieValues(header, name);
  return others.length === 0 && VALUE.test(value ?? '') ? value : undefined;
}

/** SameSite=Lax regardless of the session cookie, since the browser returns from another site. */
function serializeFlowCookie(core: Core, name: string, value: string, maxAge: number): string {
  const { secure } = core.settings.cookie;
  return serialize(name, value, { httpOnly: true, secure, sameSite: 'lax', path: '/', maxAge });
}
