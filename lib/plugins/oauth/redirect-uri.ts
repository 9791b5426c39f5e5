import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import type { Provider } from './provider.js';

// The length of the column.
const MAX_REDIRECT_URI = 2048;

/**
 * Returns the redirect URI of a provider.
 *
 * @param basePath the path of the routes
 * @throws AuthError `invalid_request`
 */
export function redirectUriOf(
  { settings, basePath: known }: Core,
  provider: Provider,
  basePath?: string,
): string {
  const { baseUrl } = settings;
  const { callbackUrl } = provider;
  if (callbackUrl !== undefined)
    return callbackUrl.startsWith('/') ? `${baseUrl}${callbackUrl}` : callbackUrl;
  const path = basePath ?? known.use();
  const uri = `${baseUrl}${path}${provider.callbackPath ?? defaultPath(provider)}`;
  // The path where the router is mounted can contain parameters, which the client chooses.
  if (typeof path !== 'string' || uri.length > MAX_REDIRECT_URI || !uri.isWellFormed())
    throw new AuthError('invalid_request', { detail: 'The path is too long, or not well-formed.' });
  return uri;
}

/** The path of a provider's callback routes if the app has chosen another one. Express ignores a slash at its end. */
export function ownPathOf(provider: Provider): string | null {
  const path = provider.callbackPath?.replace(/\/$/, '');
  return path === undefined || path === defaultPath(provider) ? null : path;
}

function defaultPath({ id }: Provider): string {
  return `/oauth/${id}/callback`;
}

/** @throws TypeError if a provider cannot return to the redirect URI that the app has chosen */
export function checkRedirectUri({ id, callbackPath, callbackUrl }: Provider, origin: string): void {
  if (callbackUrl === undefined) return;
  if (callbackPath !== undefined)
    throw new TypeError(
      `latchkey: provider ${id}: callbackPath and callbackUrl are mutually exclusive: use one of them`,
    );
  if (new URL(callbackUrl, origin).origin !== origin)
    throw new TypeError(
      `latchkey: provider ${id}: callbackUrl must have the origin of baseUrl, ${origin}, or be a path`,
    );
}
