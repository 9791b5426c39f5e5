import { AuthError } from '../errors.js';

const MAX_LENGTH = 2000;
// Browsers treat a backslash as a slash, and ignore tabs and line breaks in URLs.
const MISLEADING = /[\\\p{C}\p{Z}]/u;
const RELATIVE = 'http://relative.invalid';

/**
 * Validates a callback URL: a path of this app, or a URL of a configured origin. Anything else would make the app an
 * open redirector.
 *
 * @param name the name of the parameter, for the error
 * @throws AuthError `invalid_callback_url`
 */
export function checkCallbackUrl(
  value: unknown,
  origins: ReadonlySet<string>,
  name = 'callback_url',
): string {
  const url = typeof value === 'string' ? resolved(value, origins) : null;
  // Check the length again after parsing, because percent-encoding can make a URL longer.
  if (url === null || url.length > MAX_LENGTH)
    throw new AuthError('invalid_callback_url', {
      detail: `${name} must be a path of this app or a URL of a trusted origin.`,
    });
  return url;
}

/** Whether a value in the config is a path of this app's origin. */
export function isOwnPath(value: string): boolean {
  return value.startsWith('/') && resolved(value, new Set()) !== null;
}

function resolved(value: string, origins: ReadonlySet<string>): string | null {
  if (value.length > MAX_LENGTH || MISLEADING.test(value)) return null;
  // Check the path again after parsing: `/.//host` is a path, but resolves to `//host`, which is another origin.
  const isPath = value.startsWith('/') && !value.startsWith('//');
  const path = isPath ? new URL(value, RELATIVE) : null;
  if (path && !path.pathname.startsWith('//')) return path.pathname + path.search + path.hash;
  const url = URL.canParse(value) ? new URL(value) : null;
  // A `blob:` URL has the origin of the page that created it.
  const isTrusted = url && /^https?:$/.test(url.protocol) && origins.has(url.origin);
  return isTrusted && !url.username && !url.password ? url.href : null;
}

/** The parts of an error that a page gets in addition to its code. */
interface ErrorParameters {
  /** The names of invalid fields. */
  readonly fields?: readonly string[];
  readonly task?: string | undefined;
}

/** Adds `?error=<code>` and the other parts of an error to a callback URL, in place of an earlier error. */
export function withError(
  callbackUrl: string,
  code: string,
  { fields = [], task }: ErrorParameters = {},
): string {
  const url = new URL(callbackUrl, RELATIVE);
  // Remove only the `task` of an earlier error, because the page can have its own parameter with this name.
  if (url.searchParams.get('error') === 'task_required') url.searchParams.delete('task');
  url.searchParams.set('error', code);
  url.searchParams.delete('error_fields');
  if (task !== undefined) url.searchParams.set('task', task);
  // `searchParams` would encode the commas.
  if (fields.length > 0) url.search += `&error_fields=${fields.map(encodeURIComponent).join(',')}`;
  return textOf(url);
}

/** Adds `?second_factor=required` to a callback URL, for a sign-in that waits for the second factor. */
export function withSecondFactor(callbackUrl: string): string {
  const url = new URL(callbackUrl, RELATIVE);
  url.searchParams.set('second_factor', 'required');
  return textOf(url);
}

/** Adds `?password_removed=true` to a callback URL, for a sign-in that has removed the password. */
export function withPasswordRemoved(callbackUrl: string): string {
  const url = new URL(callbackUrl, RELATIVE);
  url.searchParams.set('password_removed', 'true');
  return textOf(url);
}

function textOf(url: URL): string {
  return url.origin === RELATIVE ? url.pathname + url.search + url.hash : url.href;
}
