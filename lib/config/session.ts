import * as z from 'zod';
import { anySeconds, flag, schemaOf, seconds } from './options.js';

/** How the session cookie is set. */
export interface CookieOptions {
  /**
   * The cookie's name.
   * @default `__Host-latchkey` if secure (`__Secure-latchkey` with a domain or path), otherwise `latchkey`
   */
  name?: string;
  /** A domain whose subdomains get the cookie too. @default the current host only */
  domain?: string;
  /** The path below which browsers send the cookie. @default `/` */
  path?: string;
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
  domain: z
    .string()
    .regex(/^\.?([a-z0-9-]+\.)*[a-z0-9-]+$/i, 'must be a domain such as example.com, without scheme or port')
    .optional(),
  path: z
    .string()
    .regex(/^\/[!-:<-~]*$/, 'must be a URL path that starts with /, without ;')
    .default('/'),
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
    deviceCookie: laxCookie(cookie, 'device'),
    /** The cookie of a pending sign-in. */
    pendingCookie: laxCookie(cookie, 'pending'),
  };
}

/** A cookie's name, and its attributes other than HttpOnly and its lifetime. */
export interface CookieSettings {
  readonly name: string;
  readonly domain?: string;
  readonly path: string;
  readonly sameSite: 'lax' | 'strict' | 'none';
  readonly secure: boolean;
  readonly partitioned?: boolean;
}

function cookieSettings(options: z.output<typeof cookieSchema>, baseUrl: string | undefined): CookieSettings {
  const secure = options.secure ?? (baseUrl?.startsWith('https:') || process.env.NODE_ENV === 'production');
  const hostOnly = options.domain === undefined && options.path === '/';
  const prefix = secure ? (hostOnly ? '__Host-' : '__Secure-') : '';
  const cookie = { ...options, secure, name: options.name ?? `${prefix}latchkey` };
  // Browsers silently drop a cookie that breaks these rules (RFC 6265bis).
  const host = baseUrl && new URL(baseUrl).hostname;
  const domain = cookie.domain?.toLowerCase().replace(/^\./, '');
  if (host && domain && host !== domain && !host.endsWith(`.${domain}`)) {
    throw new TypeError(
      `latchkey: session.cookie.domain does not cover baseUrl's host: set it to ${host} or a parent domain`,
    );
  }
  if (cookie.name.startsWith('__Host-') && !(secure && hostOnly)) {
    throw new TypeError(
      'latchkey: session.cookie.name starts with __Host-, which requires secure: true, path / and no domain',
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
  return { ...cookie, name: `${cookie.name}-${purpose}` };
}

/**
 * Returns the cookie of a rejected form. If it is Secure, only this host can set it, even if the session has a domain.
 */
export function formCookie({ name, secure }: CookieSettings, page: string): CookieSettings {
  const realm = name.replace(/^__(Host|Secure)-/i, '');
  return { name: `${secure ? '__Host-' : ''}${realm}-form-${page}`, path: '/', sameSite: 'lax', secure };
}

/**
 * Returns a cookie that is lax even if the session cookie is strict, because a sign-in with a provider ends with a
 * redirect from another site.
 */
function laxCookie(cookie: CookieSettings, purpose: string): CookieSettings {
  const sameSite = cookie.sameSite === 'strict' ? 'lax' : cookie.sameSite;
  return { ...cookieBeside(cookie, purpose), sameSite };
}
