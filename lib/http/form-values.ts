import type { ServerResponse } from 'node:http';
import { parse } from 'cookie';
import type { Request } from 'express';
import { type CookieSettings, formCookie } from '../config/session.js';
import type { Core } from '../core/core.js';
import { digestInHex } from '../crypto/token.js';
import type { AuthError, AuthErrorCode, FieldError } from '../errors.js';
import { cookieValues } from '../sessions/carriers.js';
import { isAtHost } from '../sessions/origin.js';
import { type RequestLike, toPlainRequest } from '../sessions/request.js';
import { detailsFor } from './problem.js';
import { clearCookie, setCookie } from './respond.js';

const LIFETIME_SECONDS = 5 * 60;
/** The maximum size of one cookie's value, in bytes. */
const MAX_BYTES = 3000;
/** The maximum size of all these cookies together. Proxies such as nginx accept at most 8 KB of cookies. */
const MAX_TOTAL_BYTES = 2 * MAX_BYTES;

/** The values and errors of a rejected form, for the page that shows the form again. */
export interface FormValues {
  /**
   * The values that the user typed, by the names of the form's fields, without passwords and other secrets. A field
   * that was not sent, such as a checkbox that is not checked, is missing.
   */
  readonly values: Readonly<Record<string, string | undefined>>;
  /** The code of the problem. Null if no form of this page was rejected. */
  readonly error: AuthErrorCode | null;
  /** The invalid fields, if there are any. */
  readonly errors: readonly FieldError[];
}

/** A request for a page: an Express, Node or Fetch request. */
export interface PageRequest extends RequestLike {
  /** The URL of the page, with or without its origin. */
  readonly url?: string | undefined;
  /** The URL before a router of Express has removed its mount path from `url`. */
  readonly originalUrl?: string | undefined;
}

/** For the pages of an app that have forms. */
export interface FormsApi {
  /**
   * Returns the values that the user typed into a form of this page that has just been rejected, and the error. They
   * can be read once, within five minutes: the call clears the cookie that contains them. Call it before you send the
   * response.
   *
   * @example
   * app.get('/sign-in', (req, res) => {
   *   const { values, error } = auth.formValues(req, res);
   *   res.render('sign-in', { credential: values.credential ?? '', error });
   * });
   *
   * @throws TypeError if the request has no URL
   */
  formValues(req: PageRequest, res: ServerResponse): FormValues;
}

/** Creates the API for the pages of an app that have forms. */
export function formsApi(core: Core): FormsApi {
  return { formValues: (req, res) => takeForm(core, req, res) };
}

/** The content of the cookie for a rejected form. */
interface Refused {
  readonly values: Readonly<Record<string, string>>;
  readonly error: AuthErrorCode;
  readonly errors: readonly FieldError[];
  /** When it expires, in milliseconds since 1970. */
  readonly until: number;
}

/**
 * Keeps a rejected form in a cookie for the page to which the browser is redirected.
 *
 * @param page a path, or a URL of a trusted origin. Another host could not read the cookie, so nothing is kept for it
 */
export function keepRefused(
  core: Core,
  error: AuthError,
  page: string,
  values: Readonly<Record<string, string>>,
  res: ServerResponse & { readonly req: Request },
): void {
  const path = ownPath(core, page, res.req);
  if (path === null) return;
  const { errors = [] } = detailsFor(core, error, res.req);
  const { clock } = core.database;
  // Before the first query, the database's time is unknown.
  const until = (clock.isSet ? clock.now() : Date.now()) + LIFETIME_SECONDS * 1000;
  const sealed = sealedWithin(core, path, { values, error: error.code, errors, until });
  const cookie = cookieFor(core, path);
  for (const name of tooMany(core, cookie.name, sealed.length, res.req))
    clearCookie(res, { ...cookie, name });
  setCookie(res, cookie, sealed, { maxAge: LIFETIME_SECONDS });
}

function takeForm(core: Core, req: PageRequest, res: ServerResponse): FormValues {
  const path = pathOf(core, req);
  const cookie = cookieFor(core, path);
  const sent = cookieValues(toPlainRequest(req).headers.cookie, cookie.name);
  if (!/\bcookie\b/i.test(String(res.getHeader('vary') ?? ''))) res.appendHeader('Vary', 'Cookie');
  if (sent.length > 0) {
    clearCookie(res, cookie);
    res.setHeader('Cache-Control', 'no-store');
  }
  // Of two cookies with this name, one is from a page of another subdomain.
  const refused = sent.length === 1 ? opened(core, path, String(sent[0])) : null;
  return refused
    ? { values: refused.values, error: refused.error, errors: refused.errors }
    : { values: {}, error: null, errors: [] };
}

/** Encrypts a form. If it does not fit in a cookie, leaves out the longest values first, and then the last errors. */
function sealedWithin({ box }: Core, path: string, refused: Refused): string {
  const values = Object.entries(refused.values).sort(([, one], [, other]) => one.length - other.length);
  const errors = [...refused.errors];
  for (;;) {
    const content: Refused = { ...refused, values: Object.fromEntries(values), errors };
    const sealed = box.seal(JSON.stringify(content), contextOf(path));
    if (sealed.length <= MAX_BYTES) return sealed;
    if (values.pop() === undefined) errors.pop();
  }
}

function opened({ box, database: { clock } }: Core, path: string, sealed: string): Refused | null {
  const json = box.open(sealed, contextOf(path));
  if (json === null) return null;
  const refused = JSON.parse(json) as Refused;
  return refused.until <= (clock.isSet ? clock.latest() : Date.now()) ? null : refused;
}

function contextOf(path: string): string {
  return `refused form of ${path}`;
}

/** The cookie for a page. Each page has its own, so that the forms in two tabs do not mix. */
function cookieFor({ settings }: Core, path: string): CookieSettings {
  return formCookie(settings.cookie, digestInHex(path).slice(0, 8));
}

/** Returns the names of the oldest of these cookies, if all of them would be too long together with a new one. */
function tooMany({ settings }: Core, name: string, length: number, { headers }: Request): string[] {
  const { name: prefix } = formCookie(settings.cookie, '');
  const others = Object.entries(parse(headers.cookie ?? '')).filter(
    ([one]) => one !== name && one.startsWith(prefix) && /^[0-9a-f]{8}$/.test(one.slice(prefix.length)),
  );
  let total = length;
  // Browsers send the oldest cookie first.
  return others
    .reverse()
    .filter(([, value = '']) => {
      total += value.length;
      return total > MAX_TOTAL_BYTES;
    })
    .map(([one]) => one);
}

/** Returns the path of a page of this host, as browsers see it. Null for a page of another host. */
function ownPath(
  { settings: { origin } }: Core,
  page: string,
  { headers: { host } }: Request,
): string | null {
  const url = new URL(page, RELATIVE);
  const isOwn = page.startsWith('/') || url.origin === origin || isAtHost(url, host);
  return isOwn ? url.pathname : null;
}

/** Returns the path of the page that a request asks for, as browsers see it. */
function pathOf({ settings }: Core, { originalUrl, url }: PageRequest): string {
  const asked = originalUrl ?? url;
  if (typeof asked !== 'string')
    throw new TypeError('latchkey: formValues: pass the request for the page, with its url');
  // A path that starts with // must not be parsed as the URL of another host.
  const whole = asked.startsWith('/') || !URL.canParse(asked) ? asked : new URL(asked).pathname;
  return new URL(`${RELATIVE}${settings.publicPath}/${whole.replace(/^\//, '')}`).pathname;
}

const RELATIVE = 'http://relative.invalid';
