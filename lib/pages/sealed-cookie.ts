import type { ServerResponse } from 'node:http';
import { type CookieSettings, pageCookie } from '../config/session.js';
import type { PlainRequest } from '../context/call.js';
import type { Core } from '../core/core.js';
import { setCookie } from '../http/respond.js';
import { cookieValues } from '../sessions/carriers.js';

/** A value that a request leaves for a page in a sealed cookie of this host. */
export class SealedCookie<T> {
  readonly #core: Core;
  readonly #cookie: CookieSettings;
  readonly #purpose: string;
  readonly #seconds: number;

  /** @param seconds the lifetime of a value */
  constructor(core: Core, purpose: string, seconds: number) {
    this.#core = core;
    this.#cookie = pageCookie(core.settings.cookie, purpose);
    this.#purpose = purpose;
    this.#seconds = seconds;
  }

  /** @param context who can read the value, such as a page and a session */
  set(res: ServerResponse, context: string, value: T): void {
    setCookie(res, this.#cookie, this.seal(context, value), { maxAge: this.#seconds });
  }

  /** Returns the value. Null if there is none in this context. */
  get(req: PlainRequest, context: string): T | null {
    const [sealed, ...others] = this.#sent(req);
    // If there are two cookies with this name, one is from a page of another subdomain.
    return sealed === undefined || others.length > 0 ? null : this.open(context, sealed);
  }

  /** Deletes the cookie, if the browser has it. */
  clear(req: PlainRequest, res: ServerResponse): void {
    if (this.#sent(req).length > 0) setCookie(res, this.#cookie, '', { maxAge: 0 });
  }

  /** Seals a value for an address. */
  seal(context: string, value: T): string {
    const until = Date.now() + this.#seconds * 1000;
    return this.#core.box.seal(JSON.stringify({ until, value }), this.#contextOf(context));
  }

  /** Opens a sealed value. Null if it is of another context, or has expired. */
  open(context: string, sealed: string): T | null {
    const opened = this.#core.box.open(sealed, this.#contextOf(context));
    if (opened === null) return null;
    const { until, value } = JSON.parse(opened) as { until: number; value: T };
    return until > Date.now() ? value : null;
  }

  /** A value must not open as one of another kind. */
  #contextOf(context: string): string {
    return `cookie ${this.#purpose} ${context}`;
  }

  #sent({ headers }: PlainRequest): readonly string[] {
    return cookieValues(headers.cookie, this.#cookie.name);
  }
}
