import { AuthError } from '../../errors.js';

const MAX_LENGTH = 2000;
// Browsers take a backslash for a slash, and drop tabs and line ends from within a URL.
const TREACHEROUS = /[\\\p{C}\p{Z}]/u;
const RELATIVE = 'http://relative.invalid';

/**
 * Where a flow may end: a path of this origin, or a URL of an origin that the config names. Anything else would make
 * this app an open redirector.
 *
 * @throws AuthError `invalid_callback_url`
 */
export function checkCallbackUrl(value: string, origins: ReadonlySet<string>): string {
  // From code, it can be anything.
  if (typeof value !== 'string' || value.length > MAX_LENGTH || TREACHEROUS.test(value))
    throw new AuthError('invalid_callback_url');
  // Twice: `/.//host` is a path, and `//host`, which it becomes where its dots are resolved, another origin.
  const isPath = value.startsWith('/') && !value.startsWith('//');
  const path = isPath ? new URL(value, RELATIVE) : null;
  if (path && !path.pathname.startsWith('//')) return checkLength(path.pathname + path.search + path.hash);
  const url = URL.canParse(value) ? new URL(value) : null;
  // A `blob:` URL has the origin of whatever made it.
  const isOurs = url && /^https?:$/.test(url.protocol) && origins.has(url.origin);
  if (!isOurs || url.username || url.password) throw new AuthError('invalid_callback_url');
  return checkLength(url.href);
}

// As a header will hold it: in ASCII, which may be longer than what was typed.
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
