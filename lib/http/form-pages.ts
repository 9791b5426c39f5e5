import type { Request } from 'express';
import type { Settings } from '../config/settings.js';
import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import { isPending } from '../sessions/signed-in.js';
import { checkCallbackUrl } from './callback-url.js';
import { type Pair, targetIn } from './forms.js';
import type { Reply } from './route.js';

/** The fields of every form that say where its answer leads. */
export const FORM_PAGES = ['redirect_to', 'error_to'] as const;

/** Where a sign-in leads that requires a second factor. */
export const SECOND_FACTOR_TO = 'second_factor_to';

const SECOND_FACTOR_PAGE = '/second-factor';

/** The pages to which a browser goes after it has sent a form. */
export class FormPages {
  #redirectTo = '/';
  #secondFactorTo = SECOND_FACTOR_PAGE;
  /** Until the form has been read, and if it names none, the page that sent it. */
  #errorTo: string | null;

  readonly #settings: Settings;
  /** The fields. */
  readonly #names: readonly string[];

  constructor({ settings, secondFactors }: Core, req: Request) {
    this.#settings = settings;
    this.#names = secondFactors.plugin ? [...FORM_PAGES, SECOND_FACTOR_TO] : FORM_PAGES;
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
    const [redirectTo, errorTo, secondFactorTo] = this.#names.map((name) => this.#page(form, name));
    this.#redirectTo = redirectTo ?? '/';
    this.#secondFactorTo = secondFactorTo ?? SECOND_FACTOR_PAGE;
    this.#errorTo = errorTo ?? sender;
    return form.filter(([name]) => !this.#names.includes(name));
  }

  #page(form: readonly Pair[], name: string): string | null {
    const value = targetIn(form, name);
    return value === null ? null : checkCallbackUrl(value, this.#settings.origins, name);
  }

  /** Turns the reply to a program into one to a form. Its body is not sent. */
  redirect({ issue, headers, clearCookie = false, clearPending = false }: Reply): Reply {
    const waits = issue !== undefined && isPending(issue);
    return {
      status: 303,
      headers: { ...headers, Location: waits ? this.#secondFactorTo : this.#redirectTo },
      clearCookie,
      clearPending,
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
