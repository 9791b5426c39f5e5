import type { Request, Response } from 'express';
import { type CookieSettings, cookieBeside } from '../config/session.js';
import type { Core } from '../core/core.js';
import { setCookie } from '../http/respond.js';
import { cookieValues } from '../sessions/carriers.js';
import { pathOf } from './page-cookies.js';

const NOTE_SECONDS = 15 * 60;

/** What a page says about the request that has led to it. */
export interface Note {
  /** The action that has been completed, such as `signed-out`. */
  readonly done?: string | null;
  /** The code of the error of a redirect. */
  readonly error?: string;
  /** The address that an email was sent to. */
  readonly email?: string | null;
  /** Whether the session of a sign-in by email stays when the browser is closed. */
  readonly isRemembered?: boolean;
  /** The page that the user returns to, if the form of the page was rejected. */
  readonly returnTo?: string | null;
  /** The email or username that was typed, if the sign-in was rejected. */
  readonly account?: string | null;
}

/**
 * The notes that requests leave for the next page, in a sealed cookie. The address of a page names a message too, but
 * does not suffice, so that no link of another site can put words under the address of the app.
 */
export class Notes {
  readonly #core: Core;
  readonly #cookie: CookieSettings;

  constructor(core: Core) {
    this.#core = core;
    const lax = { ...core.settings.cookie, sameSite: 'lax' as const, partitioned: false };
    this.#cookie = cookieBeside(lax, 'note');
  }

  /** Leaves a note for a page. It replaces an earlier one. */
  leave(res: Response, to: string, note: Note): void {
    setCookie(res, this.#cookie, this.#seal(pathOf(to), 'note', note), { maxAge: NOTE_SECONDS });
  }

  /**
   * Returns the note for the page of a request. It stays until it expires, because users reload pages.
   *
   * @param page the path of the page, if the request is for one of its forms
   */
  of(req: Request, page = this.#pathOf(req)): Note {
    const [sealed, ...others] = cookieValues(req.headers.cookie, this.#cookie.name);
    // If there are two cookies with this name, one is from a page of another subdomain.
    if (sealed === undefined || others.length > 0) return {};
    return this.#open(sealed, page, 'note') ?? {};
  }

  /**
   * Seals a note for the address of a page that no form of latchkey leads to, but a script or a provider.
   *
   * @param sessionId the session that can see it
   */
  sealFor(to: string, note: Note, sessionId: string | null): string {
    return this.#seal(pathOf(to), `note in ${sessionId}`, note);
  }

  /** Returns the note that the address of a request contains. */
  inAddress(req: Request, sealed: string | null, sessionId: string | null): Note {
    return (sealed && this.#open(sealed, this.#pathOf(req), `note in ${sessionId}`)) || {};
  }

  #pathOf({ originalUrl }: Request): string {
    return this.#core.settings.publicPath + pathOf(originalUrl);
  }

  #seal(page: string, what: string, note: Note): string {
    const until = Date.now() + NOTE_SECONDS * 1000;
    return this.#core.box.seal(JSON.stringify({ until, note }), `${what} for ${page}`);
  }

  #open(sealed: string, page: string, what: string): Note | null {
    const opened = this.#core.box.open(sealed, `${what} for ${page}`);
    if (opened === null) return null;
    const { until, note } = JSON.parse(opened) as { until: number; note: Note };
    return until > Date.now() ? note : null;
  }
}
