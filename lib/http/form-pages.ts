import type { Request } from 'express';
import type { Settings } from '../config/settings.js';
import { AuthError } from '../errors.js';
import { checkCallbackUrl } from './callback-url.js';
import { type Pair, targetIn } from './form.js';
import type { Reply } from './route.js';

/** The fields of every form that say where its answer leads. */
export const FORM_PAGES = ['redirect_to', 'error_to'] as const;

/** The pages to which a browser goes after it has sent a form. */
export class FormPages {
  #redirectTo = '/';
  /** Until the form has been read, and if it names none, the page that sent it. */
  #errorTo: string | null;

  constructor(
    private readonly settings: Settings,
    req: Request,
  ) {
    this.#errorTo = sender(settings, req);
  }

  /**
   * Takes the pages from a form.
   *
   * @returns the other fields
   * @throws AuthError `invalid_callback_url` if a page is not allowed; then no page is shown
   */
  takeFrom(form: readonly Pair[]): Pair[] {
    const sender = this.#errorTo;
    this.#errorTo = null;
    const [redirectTo, errorTo] = FORM_PAGES.map((name) => this.#page(form, name));
    this.#redirectTo = redirectTo ?? '/';
    this.#errorTo = errorTo ?? sender;
    return form.filter(([name]) => !(FORM_PAGES as readonly string[]).includes(name));
  }

  #page(form: readonly Pair[], name: string): string | null {
    const value = targetIn(form, name);
    return value === null ? null : checkCallbackUrl(value, this.settings.origins, name);
  }

  /** Turns the reply to a program into one to a form. Its body is not sent. */
  redirect({ issue, clearCookie = false, headers }: Reply): Reply {
    return {
      status: 303,
      headers: { ...headers, Location: this.#redirectTo },
      clearCookie,
      ...(issue && { issue }),
    };
  }

  /** The page that shows an error. Null if there is none, or if another site sent the form. */
  pageFor(error: unknown): string | null {
    const isRefusal = error instanceof AuthError && error.code !== 'origin_not_allowed';
    return isRefusal ? this.#errorTo : null;
  }
}

/** The path of the page that sent a request, if it is a page of this origin. */
function sender({ baseUrl, origins }: Settings, { headers }: Request): string | null {
  const { referer = '', host } = headers;
  if (!URL.canParse(referer)) return null;
  const url = new URL(referer);
  if (url.origin !== baseUrl && url.host !== host?.toLowerCase()) return null;
  try {
    return checkCallbackUrl(url.pathname + url.search, origins);
  } catch {
    return null;
  }
}
