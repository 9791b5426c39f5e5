import { serialize } from 'cookie';
import type { Request, Response } from 'express';
import { type CookieSettings, cookieBeside } from '../config/session.js';
import type { Core } from '../core/core.js';
import { cookieValues } from '../sessions/carriers.js';

const ONCE_SECONDS = 60;
const RETURN_SECONDS = 15 * 60;
/** The time until a passkey is offered again. */
const OFFER_SECONDS = 30 * 24 * 60 * 60;
const WAY_SECONDS = 365 * 24 * 60 * 60;

/** The cookies of pages: values that are shown once, `return_to`, and the last sign-in method of the browser. */
export class PageCookies {
  readonly #core: Core;
  readonly #once: CookieSettings;
  readonly #returnTo: CookieSettings;
  readonly #way: CookieSettings;
  readonly #offered: CookieSettings;

  constructor(core: Core) {
    this.#core = core;
    const lax = { ...core.settings.cookie, sameSite: 'lax' as const, partitioned: false };
    this.#once = cookieBeside(lax, 'once');
    this.#returnTo = cookieBeside(lax, 'return');
    this.#way = cookieBeside(lax, 'way');
    this.#offered = cookieBeside(lax, 'offered');
  }

  /** Keeps a value for the next page, which shows it once. */
  keep(res: Response, to: string, sessionId: string, value: unknown): void {
    const page = pathOf(to);
    const until = Date.now() + ONCE_SECONDS * 1000;
    const sealed = this.#core.box.seal(JSON.stringify({ until, value }), contextOf(page, sessionId));
    this.#set(res, this.#once, sealed, ONCE_SECONDS);
  }

  /** Returns and deletes the value that was kept for the page. Undefined if there is none. */
  take(req: Request, res: Response, sessionId: string): unknown {
    const [sealed, ...others] = cookieValues(req.headers.cookie, this.#once.name);
    // If there are two cookies with this name, one is from a page of another subdomain.
    if (sealed === undefined || others.length > 0) return undefined;
    const opened = this.#core.box.open(
      sealed,
      contextOf(this.#core.settings.publicPath + pathOf(req.originalUrl), sessionId),
    );
    // The value is for another page, so leave it.
    if (opened === null) return undefined;
    this.#set(res, this.#once, '', 0);
    const { until, value } = JSON.parse(opened) as { until: number; value: unknown };
    return until > Date.now() ? value : undefined;
  }

  /** Keeps `return_to` for a user who continues with a link in an email. */
  setReturnTo(res: Response, returnTo: string | null): void {
    this.#set(res, this.#returnTo, returnTo ?? '', returnTo === null ? 0 : RETURN_SECONDS);
  }

  returnTo(req: Request): string | null {
    return this.#read(req, this.#returnTo);
  }

  /** Remembers the user's sign-in method. */
  setWay(res: Response, way: string): void {
    this.#set(res, this.#way, way, WAY_SECONDS);
  }

  way(req: Request): string | null {
    return this.#read(req, this.#way);
  }

  /** Remembers that a passkey was offered in this browser. */
  setOffered(res: Response): void {
    this.#set(res, this.#offered, 'true', OFFER_SECONDS);
  }

  wasOffered(req: Request): boolean {
    return this.#read(req, this.#offered) !== null;
  }

  #read(req: Request, { name }: CookieSettings): string | null {
    const [value] = cookieValues(req.headers.cookie, name);
    try {
      return value === undefined ? null : decodeURIComponent(value);
    } catch {
      return null;
    }
  }

  // `serialize` encodes the value.
  #set(res: Response, { name, ...attributes }: CookieSettings, value: string, maxAge: number): void {
    res.appendHeader('Set-Cookie', serialize(name, value, { ...attributes, httpOnly: true, maxAge }));
  }
}

/**
 * Returns the path of a URL. A path is not parsed, because the URL of a request can be anything that starts with a
 * slash.
 */
export function pathOf(url: string): string {
  return url.startsWith('/') ? (url.split(/[?#]/)[0] ?? '') : new URL(url).pathname;
}

function contextOf(page: string, sessionId: string): string {
  return `shown once ${page} ${sessionId}`;
}
