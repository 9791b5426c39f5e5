import type { Settings } from '../config/config.js';
import { isLoopback } from '../config/options.js';
import type { PlainRequest } from '../context/call.js';
import { AuthError } from '../errors.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether a method is unsafe (RFC 9110, 9.2.1). */
export function isUnsafe(method: string): boolean {
  return !SAFE_METHODS.has(method.toUpperCase());
}

/**
 * Rejects cross-site request forgery (CSRF). Browsers send the origin of a request in `Sec-Fetch-Site` or, if they are
 * too old for that, in `Origin`; pages cannot forge either header. A request with neither header comes from a program,
 * which sends only cookies that someone gave it.
 *
 * @throws AuthError `origin_not_allowed`
 */
export function requireOwnOrigin(req: PlainRequest, settings: Settings): void {
  const { origin, 'sec-fetch-site': site } = req.headers;
  if (origin !== undefined && settings.origins.has(origin)) return;
  if (site !== undefined) {
    if (site === 'same-origin' || site === 'none') return;
    throw new AuthError('origin_not_allowed');
  }
  if (origin === undefined || isOwn(origin, req, settings)) return;
  if (isAtHost(origin, req.headers.host)) warnOfPort(origin, settings);
  throw new AuthError('origin_not_allowed');
}

/**
 * Logs that the app is at another port than that of its `baseUrl`. Otherwise the developer would only see a 403 that seems
 * to be about another site. The client chooses the address, so any other difference is not logged: no one must be led to
 * trust a stranger's host, or http in place of https.
 */
function warnOfPort(origin: string, { baseUrl, log }: Settings): void {
  if (baseUrl === null) return;
  const [from, own] = [new URL(origin), new URL(baseUrl)];
  const isHere = isLoopback(from.hostname) && isLoopback(own.hostname);
  if ((from.hostname !== own.hostname && !isHere) || from.protocol !== own.protocol) return;
  log.warn(
    'origin.not_configured',
    `a request from ${from.origin} was rejected with 403, because baseUrl is ${baseUrl}. If the app is at ${from.origin}, set baseUrl to it`,
  );
}

/**
 * Rejects a request from another site that would end or replace the session of its browser. Links from anywhere, such
 * as in an email, can sign in.
 *
 * @throws AuthError `origin_not_allowed`
 */
export function requireOwnSignIn(req: PlainRequest, settings: Settings): void {
  if (isUnsafe(req.method ?? 'POST')) requireOwnOrigin(req, settings);
  else refuseCrossSiteExceptLinks(req, settings);
}

/**
 * Rejects a GET that starts a flow for the user of a session, unless a page of this app or of a trusted origin sent it.
 * Unlike a sign-in, such a flow must not start from a link on another site, because it could link a stranger's account.
 * A sibling subdomain and a page that sends none of these headers count as other sites too. Only a program can omit all
 * of the headers, with a request that does not ask for a page.
 *
 * @throws AuthError `origin_not_allowed`
 */
export function requireOwnStart(req: PlainRequest, settings: Settings): void {
  const { origin, referer, host, 'sec-fetch-site': site } = req.headers;
  const from = referer === undefined ? undefined : originOf(referer);
  const senders = [origin, from].filter((one) => one !== undefined);
  // A page of this app sends `same-origin`, unless another site has redirected the visitor here.
  const isThisApp = from && (isAtHost(from, host) || from === settings.origin);
  const isDetour = site !== undefined && isThisApp;
  if (site === 'same-origin' || (!isDetour && senders.some((one) => isOwn(one, req, settings)))) return;
  if (site === undefined && senders.length === 0 && !isNavigation(req)) return;
  throw new AuthError('origin_not_allowed');
}

/** Whether a request asks for a page, as the navigations of browsers do. */
export function isNavigation({ headers }: PlainRequest): boolean {
  return /\btext\/html\b/i.test(headers.accept ?? '');
}

/**
 * Rejects a cross-site GET request, for routes whose GET has side effects.
 *
 * @throws AuthError `origin_not_allowed`
 */
export function refuseCrossSite(req: PlainRequest): void {
  if (req.headers['sec-fetch-site'] === 'cross-site') throw new AuthError('origin_not_allowed');
}

/**
 * Like {@link refuseCrossSite}, but allows links from anywhere, such as from an email, because a top-level navigation
 * shows the user the target. Pages and frames cannot forge these headers (W3C Fetch Metadata Request Headers).
 *
 * @throws AuthError `origin_not_allowed`
 */
export function refuseCrossSiteExceptLinks(req: PlainRequest, { origins }: Settings): void {
  const { origin, 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = req.headers;
  // A page of a trusted origin asks for the URL by fetch.
  if (origin !== undefined && origins.has(origin)) return;
  if (mode !== 'navigate' || destination !== 'document') refuseCrossSite(req);
}

/**
 * Whether an origin is trusted, or the app's own. Without baseUrl, its host must match the Host header. The scheme is
 * ignored, because behind a proxy that terminates TLS the app does not know it.
 */
function isOwn(
  origin: string | null,
  { headers: { host } }: PlainRequest,
  { origins, origin: own }: Settings,
): boolean {
  if (origin === null) return false;
  return origins.has(origin) || (own === null && isAtHost(origin, host));
}

function originOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).origin : null;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * Whether a URL has the host that a `Host` header names. Some proxies add the default port to the header, which URLs
 * omit.
 */
export function isAtHost(url: string | URL, header: string | undefined): boolean {
  if (!header || !URL.canParse(String(url))) return false;
  const { host, port, protocol } = new URL(url);
  const asked = header.toLowerCase();
  return asked === host || (port === '' && asked === `${host}:${DEFAULT_PORTS[protocol]}`);
}
