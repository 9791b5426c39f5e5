import type { Settings } from '../config/config.js';
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
export function requireOwnOrigin(req: PlainRequest, { origins, baseUrl }: Settings): void {
  const { origin, host, 'sec-fetch-site': site } = req.headers;
  if (origin !== undefined && origins.has(origin)) return;
  if (site !== undefined) {
    if (site === 'same-origin' || site === 'none') return;
    throw new AuthError('origin_not_allowed');
  }
  if (origin === undefined) return;
  // Without baseUrl, the origin's host must match the Host header. The scheme is ignored, because behind a proxy that
  // terminates TLS the app does not know it.
  if (baseUrl === null && hostOf(origin) === host?.toLowerCase()) return;
  throw new AuthError('origin_not_allowed');
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
export function refuseCrossSiteExceptLinks(req: PlainRequest): void {
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = req.headers;
  if (mode !== 'navigate' || destination !== 'document') refuseCrossSite(req);
}

function hostOf(origin: string): string | null {
  try {
    return new URL(origin).host;
  } catch {
    return null;
  }
}
