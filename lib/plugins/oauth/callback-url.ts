import { AuthError } from '../../errors.js';

const MAX_LENGTH = 2000;
// Browsers read a backslash as a slash, and ignore tabs and line breaks inside a URL.
const MISLEADING = /[\\\p{C}\p{Z}]/u;
const RELATIVE = 'http://relative.invalid';

/**
 * Checks where a flow may end: at a path of this origin, or a URL of an origin that the config names. Anything else would
 * make this app an open redirector.
 *
 * @throws AuthError `invalid_callback_url`
 */
export function checkCallbackUrl(value: string, origins: ReadonlySet<string>): string {
  // Code can pass anything.
  if (typeof value !== 'string' || value.length > MAX_LENGTH || MISLEADING.test(value))
    throw new AuthError('invalid_callback_url');
  // Checked twice: `/.//host` is a path, but becomes `//host`, another origin, when its dots are resolved.
  const isPath = value.startsWith('/') && !value.startsWith('//');
  const path = isPath ? new URL(value, RELATIVE) : null;
  if (path && !path.pathname.startsWith('//')) return checkLength(path.pathname + path.search + path.hash);
  const url = URL.canParse(value) ? new URL(value) : null;
  // A `blob:` URL has the origin of the page that made it.
  const isOurs = url && /^https?:$/.test(url.protocol) && origins.has(url.origin);
  if (!isOurs || url.username || url.password) throw new AuthError('invalid_callback_url');
  return checkLength(url.href);
}

// As it is written in a header: in ASCII, which may be longer than what was typed.
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
