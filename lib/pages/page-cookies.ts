import type { Request, Response } from 'express';
import { type CookieSettings, pageCookie } from '../config/session.js';
import type { Core } from '../core/core.js';
import { setCookie } from '../http/respond.js';
import { cookieValues } from '../sessions/carriers.js';
import { SealedCookie } from './sealed-cookie.js';

const ONCE_SECONDS = 60;
/** The time for confirming who the user is, which can take an email. */
const PRESS_SECONDS = 15 * 60;
const RETURN_SECONDS = 15 * 60;
/** The time for signing in or out before an invitation is accepted. Afterwards, the link in the email works again. */
const JOIN_SECONDS = 15 * 60;
/** The time until a passkey is offered again. */
const OFFER_SECONDS = 30 * 24 * 60 * 60;
const WAY_SECONDS = 365 * 24 * 60 * 60;

/** A form that was sent before the user had confirmed who it is. */
export interface Press {
  /** The path that it was sent to. */
  readonly action: string;
  /** The form of the page. */
  readonly form: string;
  /** The typed values by field name. They never contain secrets. */
  readonly fields: Readonly<Record<string, string>>;
}

/** The invitation that was opened last. */
export interface InvitationInCookie {
  readonly token: string;
  /** The name of the organization, which the page of the invitation has shown. */
  readonly organization: string;
  readonly organizationId: string;
}

/**
 * The cookies of pages: values that are shown once, forms that wait until the user has confirmed who it is, `return_to`,
 * the token of an invitation, and the last sign-in method of the browser.
 */
export class PageCookies {
  readonly #core: Core;
  readonly #once: SealedCookie<unknown>;
  readonly #press: SealedCookie<Press>;
  readonly #join: SealedCookie<InvitationInCookie>;
  readonly #returnTo: CookieSettings;
  readonly #way: CookieSettings;
  readonly #offered: CookieSettings;

  constructor(core: Core) {
    this.#core = core;
    const { cookie } = core.settings;
    this.#once = new SealedCookie(core, 'once', ONCE_SECONDS);
    this.#press = new SealedCookie(core, 'press', PRESS_SECONDS);
    this.#join = new SealedCookie(core, 'join', JOIN_SECONDS);
    this.#returnTo = pageCookie(cookie, 'return');
    this.#way = pageCookie(cookie, 'way');
    this.#offered = pageCookie(cookie, 'offered');
  }

  /** Keeps a value for the next page, which shows it once. */
  keep(res: Response, to: string, sessionId: string, value: unknown): void {
    this.#once.set(res, contextOf(pathOf(to), sessionId), value);
  }

  /** Returns and deletes the value that was kept for the page. Undefined if there is none. */
  take(req: Request, res: Response, sessionId: string): unknown {
    const value = this.#once.get(req, this.#contextFor(req, sessionId));
    // A value for another page is left.
    if (value !== null) this.#once.clear(req, res);
    return value ?? undefined;
  }

  /** Keeps a form of the page that the user returns to after confirming who it is. The press was the user's own. */
  keepPress(res: Response, to: string, sessionId: string, press: Press): void {
    this.#press.set(res, contextOf(pathOf(to), sessionId), press);
  }

  /**
   * Returns the form that was kept for the page. Null if there is none. Deletes a form of another page too, because its
   * user has gone on to something else.
   */
  takePress(req: Request, res: Response, sessionId: string): Press | null {
    const press = this.#press.get(req, this.#contextFor(req, sessionId));
    this.#press.clear(req, res);
    return press;
  }

  /** Returns the form that was kept for a page, which the user returns to. Null if there is none. */
  pressFor(returnTo: string | null, req: Request, sessionId: string): Press | null {
    return returnTo === null ? null : this.#press.get(req, contextOf(pathOf(returnTo), sessionId));
  }

  /** Deletes the form that was kept, unless the user confirms who it is for its page. */
  dropPressExceptOf(returnTo: string | null, req: Request, res: Response, sessionId: string): void {
    if (this.pressFor(returnTo, req, sessionId) === null) this.#press.clear(req, res);
  }

  #contextFor(req: Request, sessionId: string): string {
    return contextOf(this.#core.settings.publicPath + pathOf(req.originalUrl), sessionId);
  }

  /** Keeps `return_to` for a user who continues with a link in an email. */
  setReturnTo(res: Response, returnTo: string | null): void {
    setCookie(res, this.#returnTo, returnTo ?? '', { maxAge: returnTo === null ? 0 : RETURN_SECONDS });
  }

  returnTo(req: Request): string | null {
    return this.#read(req, this.#returnTo);
  }

  /** Keeps an invitation for a user who signs in or out first, so that no other address contains its token. */
  keepInvitation(res: Response, invitation: InvitationInCookie): void {
    this.#join.set(res, INVITATION, invitation);
  }

  /** Returns the invitation that was opened last. Null if there is none. */
  invitation(req: Request): InvitationInCookie | null {
    return this.#join.get(req, INVITATION);
  }

  /** Remembers the user's sign-in method. */
  setWay(res: Response, way: string): void {
    setCookie(res, this.#way, way, { maxAge: WAY_SECONDS });
  }

  way(req: Request): string | null {
    return this.#read(req, this.#way);
  }

  /** Remembers that a passkey was offered in this browser. */
  setOffered(res: Response): void {
    setCookie(res, this.#offered, 'true', { maxAge: OFFER_SECONDS });
  }

  wasOffered(req: Request): boolean {
    return this.#read(req, this.#offered) !== null;
  }

  #read(req: Request, { name }: CookieSettings): string | null {
    const [value] = cookieValues(req.headers.cookie, name);
    try {
      // The value was encoded when the cookie was set.
      return value === undefined ? null : decodeURIComponent(value);
    } catch {
      return null;
    }
  }
}

/** The context of an invitation. */
const INVITATION = 'invitation that was opened';

/**
 * Returns the path of a URL. A path is not parsed, because the URL of a request can be anything that starts with a
 * slash.
 */
export function pathOf(url: string): string {
  return url.startsWith('/') ? (url.split(/[?#]/)[0] ?? '') : new URL(url).pathname;
}

function contextOf(page: string, sessionId: string): string {
  return `${page} ${sessionId}`;
}
