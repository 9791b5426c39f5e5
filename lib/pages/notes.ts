import type { ServerResponse } from 'node:http';
import type { Request } from 'express';
import type { PlainRequest } from '../context/call.js';
import type { Core } from '../core/core.js';
import { pathOf } from './page-cookies.js';
import { SealedCookie } from './sealed-cookie.js';

const NOTE_SECONDS = 15 * 60;

/** What a page says about the request that has led to it. */
export interface Note {
  /** The action that has been completed, such as `signed-out`. */
  readonly done?: string | null;
  /** The code of the error of a redirect. */
  readonly error?: string;
  /** The address that an email was sent to, or the username of an account without one. */
  readonly email?: string | null;
  /** Whether the session of a sign-in by email stays when the browser is closed. */
  readonly isRemembered?: boolean;
  /** What was typed in fields that the route of the form does not have. Null for a value that is not kept. */
  readonly typed?: Readonly<Record<string, string | null>>;
  /** Whether the page that the user opened needs a second factor, so that nothing less is offered. */
  readonly needsFactor?: boolean;
  /** Whether the browser has presented a session that has ended. */
  readonly isOver?: boolean;
  /** The page that the user returns to, if the form of the page was rejected. */
  readonly returnTo?: string | null;
  /** The page whose form has left the note, such as `sign-up`. */
  readonly from?: string | null;
}

/**
 * The notes that requests leave for the next page, in a sealed cookie. The address of a page names a message too, but
 * does not suffice, so that no link of another site can put words under the address of the app.
 */
export class Notes {
  readonly #core: Core;
  readonly #cookie: SealedCookie<Note>;
  readonly #email: SealedCookie<string>;

  constructor(core: Core) {
    this.#core = core;
    this.#cookie = new SealedCookie(core, 'note', NOTE_SECONDS);
    this.#email = new SealedCookie(core, 'email', NOTE_SECONDS);
  }

  /** Leaves a note for a page. It replaces an earlier one. */
  leave(res: ServerResponse, to: string, note: Note): void {
    this.#cookie.set(res, noteFor(pathOf(to)), note);
  }

  /**
   * Returns the note for the page of a request. It stays until it expires, because users reload pages.
   *
   * @param page the path of the page, if the request is for one of its forms
   */
  of(req: Request, page = this.#pathOf(req)): Note {
    return this.#cookie.get(req, noteFor(page)) ?? {};
  }

  /** Deletes the message of the note for the page of a request, because the page has shown it. */
  dropMessage(req: Request, res: ServerResponse): void {
    const note = this.of(req);
    if (note.done) this.leave(res, this.#pathOf(req), { ...note, done: null });
  }

  /**
   * Keeps the email that was typed last on a page before a sign-in, or that an invitation names, so that no other of these
   * pages asks for it again.
   */
  keepEmail(res: ServerResponse, email: string): void {
    this.#email.set(res, EMAIL, email);
  }

  /** Returns the email that was typed last on a page before a sign-in. Null if there is none. */
  emailOf(req: Request): string | null {
    return this.#email.get(req, EMAIL);
  }

  /** Forgets the note and the typed email, because the next user of the browser must not see them. */
  forget(req: PlainRequest, res: ServerResponse): void {
    this.#cookie.clear(req, res);
    this.#email.clear(req, res);
  }

  /**
   * Seals a note for the address of a page that no form of latchkey leads to, but a script or a provider.
   *
   * @param sessionId the session that can see it
   */
  sealFor(to: string, note: Note, sessionId: string): string {
    return this.#cookie.seal(addressFor(pathOf(to), sessionId), note);
  }

  /** Returns the note that the address of a request contains. */
  inAddress(req: Request, sealed: string | null, sessionId: string | null): Note {
    return (sealed && sessionId && this.#cookie.open(addressFor(this.#pathOf(req), sessionId), sealed)) || {};
  }

  #pathOf({ originalUrl }: Request): string {
    return this.#core.settings.publicPath + pathOf(originalUrl);
  }
}

const EMAIL = 'email that was typed';

function noteFor(page: string): string {
  return `note for ${page}`;
}

function addressFor(page: string, sessionId: string): string {
  return `note in ${sessionId} for ${page}`;
}
