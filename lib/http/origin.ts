import type { Request } from 'express';
import type { Settings } from '../config/settings.js';
import { AuthError } from '../errors.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether a method may change something (RFC 9110, 9.2.1). */
export function isUnsafe(method: string): boolean {
  return !SAFE_METHODS.has(method);
}

/**
 * Refuses a request that another site made a browser send (CSRF). Browsers say where a request comes from, and pages
 * cannot change what they say: in `Sec-Fetch-Site`, or in `Origin` if the browser is too old for that. A request with
 * neither comes from a program, which sends only cookies that it was given.
 *
 * @throws AuthError `origin_not_allowed`
 */
export function requireOwnOrigin(req: Request, { origins, baseUrl }: Settings): void {
  const { origin, host, 'sec-fetch-site': site } = req.headers;
  if (origin !== undefined && origins.has(origin)) return;
  if (site !== undefined) {
    if (site === 'same-origin' || site === 'none') return;
    throw new AuthError('origin_not_allowed');
  }
  if (origin === undefined) return;
  // Without a configured origin, the page's host must be the one that the browser asked. Only the host is compared:
  // behind a proxy that ends TLS, the app does not know the scheme.
  if (baseUrl === null && hostOf(origin) === host?.toLowerCase()) return;
  throw new AuthError('origin_not_allowed');
}

/**
 * Refuses a GET that changes something if a page of another site made a browser send it.
 *
 * @throws AuthError `origin_not_allowed`
 */
export function refuseCrossSite(req: Request): void {
  if (req.headers['sec-fetch-site'] === 'cross-site') throw new AuthError('origin_not_allowed');
}

function hostOf(origin: string): string | null {
  try {
    return new URL(origin).host;
  } catch {
    return null;
  }
}
