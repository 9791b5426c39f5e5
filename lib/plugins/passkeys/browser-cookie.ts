import { serialize } from 'cookie';
import type { PlainRequest } from '../../context/call.js';
import type { Core } from '../../core/core.js';
import { createToken, isWellFormedToken } from '../../crypto/token.js';
import { AuthError } from '../../errors.js';
import { cookieValues } from '../../sessions/carriers.js';
import { CHALLENGE_SECONDS } from './challenges.js';

/** The prefix of the tokens that bind a sign-in to its browser. */
const PREFIX = 'lkb_';

/**
 * The token to which a new sign-in is bound. A browser keeps the one that it has, so that several tabs can have a sign-in
 * in progress.
 */
export function bindingFor(core: Core, request: PlainRequest | null): string {
  const [token, ...others] = carried(core, request);
  return others.length === 0 && isWellFormedToken(PREFIX, token) ? token : createToken(PREFIX);
}

/**
 * The token of the browser that completes a sign-in.
 *
 * @param pendingToken the token, of a client without cookies
 * @throws AuthError `invalid_passkey` if there is none, or if there are different ones
 */
export function bindingOf(
  core: Core,
  request: PlainRequest | null,
  pendingToken: string | undefined,
): string {
  const tokens = new Set([...carried(core, request), ...(pendingToken === undefined ? [] : [pendingToken])]);
  const [token, ...others] = tokens;
  if (others.length > 0 || !isWellFormedToken(PREFIX, token)) throw new AuthError('invalid_passkey');
  return token;
}

/** The `Set-Cookie` header that binds a sign-in to the browser, for as long as its challenge lives. */
export function browserCookie(core: Core, token: string): string {
  const { name: _, ...attributes } = core.settings.cookie;
  return serialize(cookieName(core), token, { ...attributes, httpOnly: true, maxAge: CHALLENGE_SECONDS });
}

function carried(core: Core, request: PlainRequest | null): readonly string[] {
  return cookieValues(request?.headers.cookie, cookieName(core));
}

/** Beside the session cookie, so that two realms on one host do not share it. */
function cookieName({ settings }: Core): string {
  return `${settings.cookie.name}-passkey`;
}
