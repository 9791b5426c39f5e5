import { AuthError } from '../../errors.js';

const MAX_LENGTH = 2000;
// Browsers treat a backslash as a slash, and ignore tabs and line breaks in URLs.
const MISLEADING = /[\\\p{C}\p{Z}]/u;
const RELATIVE = 'http://relative.invalid';

/**
 * Validates a callback URL: a path of this app, or a URL of a configured origin. Anything else would make the app an
 * open redirector.
 *
 * @throws AuthError `invalid_callback_url`
 */
export function checkCallbackUrl(value: string, origins: ReadonlySet<string>): string {
  // The type is not guaranteed for programmatic callers.
  if (typeof value !== 'string' || value.length > MAX_LENGTH || MISLEADING.test(value))
    throw new AuthError('invalid_callback_url');
  // Checked again after parsing: `/.//host` is a path, but resolves to `//host`, which is another origin.
  const isPath = value.startsWith('/') && !value.startsWith('//');
  const path = isPath ? new URL(value, RELATIVE) : null;
  if (path && !path.pathname.startsWith('//')) return checkLength(path.pathname + path.search + path.hash);
  const url = URL.canParse(value) ? new URL(value) : null;
  // A `blob:` URL has the origin of the page that created it.
  const isTrusted = url && /^https?:$/.test(url.protocol) && origins.has(url.origin);
  if (!isTrusted || url.username || url.password) throw new AuthError('invalid_callback_url');
  return checkLength(url.href);
}

// Checked again after parsing, since percent-encoding can make a URL longer.
function checkLength(url: string): string {
  if (url.length > MAX_LENGTH) throw new AuthError('invalid_callback_url');
  return url;
}

/** The callback URL with `?error=<code>`. */
export function withError(callbackUrl: string, code: string): string {
  const url = new URL(callbackUrl, RELATIVE);
  url.searchParams.set('error', code);
  return url.origin === RELATIVE ? url.pathname + url.search + url.hash : url.href;
}
