import type { CookieSettings } from '../config/session.js';
import type { CallContext } from '../context/call.js';
import { createToken, isWellFormedToken } from '../crypto/token.js';
import { AuthError, type AuthErrorCode } from '../errors.js';
import { cookieValues } from './carriers.js';

/** The cookie of something that waits in a browser, such as a pending sign-in, and its tokens. */
interface WaitingCookie {
  readonly cookie: CookieSettings;
  /** The prefix of the tokens. */
  readonly prefix: string;
  /** The problem if there is no token. */
  readonly expired: AuthErrorCode;
}

/** The tokens with which a browser finds something that waits for it. They are in a cookie, or in the input of a call. */
export class BrowserTokens {
  constructor(
    private readonly core: { readonly context: CallContext },
    private readonly of: WaitingCookie,
  ) {}

  newToken(): string {
    return createToken(this.of.prefix);
  }

  /** The token that the cookie of the current request contains. Null if there is none, or different ones. */
  get presentedToken(): string | null {
    const [token, ...others] = this.presented;
    return token !== undefined && others.length === 0 ? token : null;
  }

  /** Whether the current request presents the cookie. */
  get isPresented(): boolean {
    return this.presented.length > 0;
  }

  /**
   * Returns the tokens in the cookie of the current request, or `given`. A browser can send several cookies with different
   * domains or paths, like those of sessions. Only one of them can then be of something that has not ended: see
   * {@link onlyOne}.
   *
   * @throws AuthError if there is no token, or if `given` differs from the cookie
   */
  tokensOf(given: string | undefined): readonly string[] {
    const { presented } = this;
    const tokens = given === undefined ? presented : [given];
    const differs = given !== undefined && presented.some((token) => token !== given);
    if (tokens.length === 0 || differs || !tokens.every((token) => isWellFormedToken(this.of.prefix, token)))
      throw new AuthError(this.of.expired);
    return tokens;
  }

  /** The well-formed tokens in the cookies of the current request. */
  get presented(): readonly string[] {
    const { request } = this.core.context.client;
    const values = cookieValues(request?.headers.cookie, this.of.cookie.name);
    // A browser presents few of these cookies, but another subdomain can set many.
    return values.filter((value) => isWellFormedToken(this.of.prefix, value)).slice(0, 2);
  }
}

/** Returns the only one that is there. Null if there is none, or if there are several, which are indistinguishable. */
export function onlyOne<T>(all: readonly (T | null)[]): T | null {
  const [one = null, ...others] = all.filter((found) => found !== null);
  return others.length === 0 ? one : null;
}
