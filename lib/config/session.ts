import * as z from 'zod';
import { anySeconds, flag, isLoopback, schemaOf, seconds } from './options.js';

/** The attributes that identify a cookie, in addition to its name. */
export interface CookiePlace {
  /** The domain. @default the current host only */
  domain?: string;
  /** The path. @default `/` */
  path?: string;
}

const anyDomain = z
  .string()
  .regex(/^\.?([a-z0-9-]+\.)*[a-z0-9-]+$/i, 'must be a domain such as example.com, without scheme or port');
const anyPath = z.string().regex(/^\/[!-:<-~]*$/, 'must be a URL path that starts with /, without ;');

/** @internal */
export const cookiePlaceSchema = schemaOf<CookiePlace>()({
  domain: anyDomain.optional(),
  path: anyPath.default('/'),
});

// Each one is another header of every response that sets the cookie.
const MAX_FORMER = 5;

/** How the session cookie is set. */
export interface CookieOptions {
  /**
   * The cookie's name. Unless it starts with `__Host-`, another subdomain can set a cookie with this name, so the session does
   * not prove that the browser is the account's own when its mailbox is first proven.
   * @default `__Host-latchkey` if secure (`__Secure-latchkey` with a domain or path), otherwise `latchkey`
   */
  name?: string;
  /**
   * A domain whose subdomains get the cookie too, and can set it. If you change it, add the former value to `former`.
   * @default the current host only
   */
  domain?: string;
  /** The path below which browsers send the cookie. If you change it, add the former value to `former`. @default `/` */
  path?: string;
  /**
   * The domains and paths that the cookie had before, at most 5. A browser keeps such a cookie in addition to the current
   * one, and sends both. Responses that set or clear the current cookie clear these too.
   * @default []
   */
  former?: readonly CookiePlace[];
  /** Whether browsers send the cookie with requests from other sites. @default `lax` */
  sameSite?: 'lax' | 'strict' | 'none';
  /** Whether the cookie is restricted to https. @default true if `baseUrl` is https or `NODE_ENV` is production */
  secure?: boolean;
  /**
   * Whether browsers keep a separate cookie for each site that shows the app in a frame (CHIPS). Requires `sameSite:
   * 'none'` and a Secure cookie.
   * @default false
   */
  partitioned?: boolean;
}

/** @internal */
export const cookieSchema = schemaOf<CookieOptions>()({
  name: z
    .string()
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be a cookie name (RFC 6265)')
    .optional(),
  domain: anyDomain.optional(),
  path: anyPath.default('/'),
  former: z
    .array(cookiePlaceSchema, 'must be a list of { domain, path }')
    .max(MAX_FORMER, `must have at most ${MAX_FORMER} entries`)
    .default([]),
  sameSite: z.enum(['lax', 'strict', 'none'], "must be 'lax', 'strict' or 'none'").default('lax'),
  secure: flag.optional(),
  partitioned: flag.default(false),
});

/** The lifetime of sessions, and their cookie. All durations are in seconds. */
export interface SessionOptions {
  /** The time after which an unused session expires: at most 400 days. @default 604800 (7 days) */
  idleTimeout?: number;
  /**
   * The time after which a remembered session expires, even if it is in use: at most 400 days.
   * @default 2592000 (30 days)
   */
  lifetime?: number;
  /** The time after which any other session expires, even if it is in use. @default 86400 (24 hours) */
  shortLifetime?: number;
  /**
   * The minimum interval between updates of a session's last activity; 0 updates it on every request. It is capped at a
   * quarter of `idleTimeout`, so that a session in use does not expire.
   * @default 60
   */
  touchInterval?: number;
  /**
   * The number of active sessions that a user can have: 1 to 1000. A new session ends the sessions beyond it, those with
   * the earliest stored activity first.
   * @default none, so that the number is not limited
   */
  maxPerUser?: number;
  /** How the cookie is set. @default see {@link CookieOptions} */
  cookie?: CookieOptions;
}

// Browsers do not keep cookies for longer (RFC 6265bis, 5.5), and a larger number is usually meant as milliseconds.
const lifetime = seconds.max(400 * 24 * 3600, 'must be at most 400 days, in seconds (not milliseconds)');

/** @internal */
export const sessionSchema = schemaOf<SessionOptions>()({
  idleTimeout: lifetime.default(7 * 24 * 3600),
  lifetime: lifetime.default(30 * 24 * 3600),
  shortLifetime: lifetime.default(24 * 3600),
  touchInterval: anySeconds.default(60),
  maxPerUser: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(1000, 'must be at most 1000')
    .optional(),
  cookie: cookieSchema.prefault({}),
});

/** @internal */
export function sessionSettings(
  { cookie: options, ...session }: z.output<typeof sessionSchema>,
  baseUrl: string | undefined,
) {
  const cookie = cookieSettings(options, baseUrl);
  return {
    session,
    cookie,
    /** The cookie that identifies a browser: see `Devices`. */
    deviceCookie: browserCookie(cookie, 'device'),
    /** The cookie of a pending sign-in. */
    pendingCookie: browserCookie(cookie, 'pending'),
    /** The cookie of a request for a new password, with `resetBy: 'code'`. */
    resetCookie: browserCookie(cookie, 'reset'),
    /** The cookie of a concealed sign-up, with `verifyEmailBy: 'code'`. */
    verifyCookie: browserCookie(cookie, 'verify'),
  };
}

/** A cookie's name, and its attributes other than HttpOnly and its lifetime. */
export interface CookieSettings {
  readonly name: string;
  readonly domain?: string;
  readonly path: string;
  readonly sameSite: 'lax' | 'strict' | 'none';
  readonly secure: boolean;
  /** The cookies for the same purpose that browsers might still have, because it had another domain or path. */
  readonly former?: readonly CookieSettings[];
  readonly partitioned?: boolean;
}

function cookieSettings(
  { former: places, ...options }: z.output<typeof cookieSchema>,
  baseUrl: string | undefined,
): CookieSettings {
  const cookie = cookieAt(options, baseUrl, 'session.cookie');
  const former = places.map(({ domain, path }, index) =>
    cookieAt({ ...options, domain, path }, baseUrl, `session.cookie.former[${index}]`),
  );
  const isCurrent = (one: CookieSettings) => keyOf(one) === keyOf(cookie);
  if (former.some(isCurrent))
    throw new TypeError(
      'latchkey: session.cookie.former contains the current domain and path: it is for other ones only',
    );
  return former.length > 0 ? { ...cookie, former } : cookie;
}

/** Returns what browsers identify a cookie by (RFC 6265, 5.3). */
function keyOf({ name, domain = '', path }: CookieSettings): string {
  return [name, withoutDot(domain), path].join(';');
}

function withoutDot(domain: string): string {
  return domain.toLowerCase().replace(/^\./, '');
}

/** The prefix of cookies that browsers accept only if they are Secure, and have the path `/` and no domain (RFC 6265bis). */
const HOST_PREFIX = '__Host-';

/**
 * Whether no other host can set the cookie in a browser. A sibling host, such as another subdomain, can set cookies for the
 * whole domain, and a request does not say which host has set a cookie. Only the prefix of its name prevents this, so a
 * cookie over plain http, with a domain or path, or with a name without the prefix can be planted.
 */
export function isOfThisHost({ name }: Pick<CookieSettings, 'name'>): boolean {
  return name.startsWith(HOST_PREFIX);
}

/**
 * Whether no other host can have set a cookie of a request: because of its name, or because the app runs on the machine of its
 * developer, whose name has no sibling hosts.
 *
 * @param host the header of the request, which counts without a `baseUrl`
 */
export function isOnlyOurs(
  cookie: Pick<CookieSettings, 'name' | 'secure' | 'domain'>,
  baseUrl: string | null,
  host: string | undefined,
): boolean {
  if (isOfThisHost(cookie)) return true;
  const url = baseUrl ?? `http://${host}`;
  const isLocal = URL.canParse(url) && isLoopback(new URL(url).hostname);
  return isLocal && !cookie.secure && cookie.domain === undefined;
}

/** @param where the option that contains the domain and path, for messages */
function cookieAt(
  options: Omit<z.output<typeof cookieSchema>, 'former'>,
  baseUrl: string | undefined,
  where: string,
): CookieSettings {
  const secure = options.secure ?? (baseUrl?.startsWith('https:') || process.env.NODE_ENV === 'production');
  const hostOnly = options.domain === undefined && options.path === '/';
  const prefix = secure ? (hostOnly ? HOST_PREFIX : '__Secure-') : '';
  const cookie = { ...options, secure, name: options.name ?? `${prefix}latchkey` };
  // Browsers silently drop a cookie that breaks these rules (RFC 6265bis).
  const host = baseUrl && new URL(baseUrl).hostname;
  const domain = cookie.domain && withoutDot(cookie.domain);
  if (host && domain && host !== domain && !host.endsWith(`.${domain}`)) {
    throw new TypeError(
      `latchkey: ${where}.domain does not cover baseUrl's host: set it to ${host} or a parent domain`,
    );
  }
  if (isOfThisHost(cookie) && !(secure && hostOnly)) {
    throw new TypeError(
      where === 'session.cookie'
        ? 'latchkey: session.cookie.name starts with __Host-, which requires secure: true, path / and no domain'
        : `latchkey: ${where}: session.cookie.name starts with __Host-, so the cookie had path / and no domain`,
    );
  }
  if (cookie.name.startsWith('__Secure-') && !secure) {
    throw new TypeError('latchkey: session.cookie.name starts with __Secure-, which requires secure: true');
  }
  if (cookie.sameSite === 'none' && !secure) {
    throw new TypeError("latchkey: session.cookie.sameSite is 'none', which requires secure: true");
  }
  if (cookie.partitioned && cookie.sameSite !== 'none') {
    throw new TypeError("latchkey: session.cookie.partitioned requires sameSite: 'none' and secure: true");
  }
  return cookie;
}

/**
 * Returns a cookie for the host and path of the session cookie. Its name starts with the session cookie's name, so that
 * two realms do not share it.
 */
export function cookieBeside(cookie: CookieSettings, purpose: string): CookieSettings {
  const { former, ...current } = cookie;
  return {
    ...current,
    name: `${cookie.name}-${purpose}`,
    ...(former && { former: former.map((one) => cookieBeside(one, purpose)) }),
  };
}

/**
 * Returns a cookie of this host alone, even if the session cookie has a domain, a path or a name without the prefix: see
 * {@link isOfThisHost}. It has the prefix if it is Secure.
 */
function hostCookie({ name, secure }: CookieSettings, purpose: string) {
  const realm = name.replace(/^__(Host|Secure)-/i, '');
  return { name: `${secure ? HOST_PREFIX : ''}${realm}-${purpose}`, path: '/', secure };
}

/** Returns a cookie that pages read, after redirects from other sites too. No sibling host can plant or read it. */
export function pageCookie(cookie: CookieSettings, purpose: string): CookieSettings {
  return { ...hostCookie(cookie, purpose), sameSite: 'lax' };
}

/** Returns the cookie of a rejected form. */
export function formCookie(cookie: CookieSettings, page: string): CookieSettings {
  return pageCookie(cookie, `form-${page}`);
}

/** Returns a cookie that identifies a browser. Only this host can set it, so that no sibling host can plant it. */
function browserCookie(cookie: CookieSettings, purpose: string): CookieSettings {
  const { partitioned } = cookie;
  return { ...hostCookie(cookie, purpose), sameSite: laxOf(cookie), partitioned };
}

// A sign-in with a provider ends with a redirect from another site, with which browsers send no strict cookies.
function laxOf({ sameSite }: CookieSettings): CookieSettings['sameSite'] {
  return sameSite === 'strict' ? 'lax' : sameSite;
}
