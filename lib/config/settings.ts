import type { Sequelize } from 'sequelize';
import type { z } from 'zod';
import type { LimitRules, WindowRule } from '../limits/limiter.js';
import type { RedisClient } from '../limits/redis-store.js';
import { type Logger, steadyLogger } from '../logger.js';
import type { MailSettings } from '../mail/messages.js';
import { NOTICE_KINDS, type NoticeKind } from '../mail/notice-kinds.js';
import type { WebhookSettings } from '../outbox/webhooks.js';
import type { SessionBridge } from './bridge.js';
import type { AuthConfig, FieldsOptions, Hooks, RowModel } from './config.js';
import { isLoopback, readOptions } from './options.js';
import { configSchema } from './schema.js';

/** A cookie's name, and its attributes other than HttpOnly and its lifetime. */
export interface CookieSettings {
  readonly name: string;
  readonly domain?: string;
  readonly path: string;
  readonly sameSite: 'lax' | 'strict' | 'none';
  readonly secure: boolean;
}

/** The config with defaults filled in, without its secrets. */
export interface Settings {
  readonly database: Sequelize | string;
  readonly baseUrl: string | null;
  /** Null if not configured: the mount path is the base path then, or `/auth` at the root. */
  readonly httpBasePath: string | null;
  readonly bearerEnabled: boolean;
  readonly forms: boolean;
  /** The app's own origin and the trusted ones. */
  readonly origins: ReadonlySet<string>;
  readonly session: { idleTimeout: number; lifetime: number; shortLifetime: number; touchInterval: number };
  readonly cookie: CookieSettings;
  /** The cookie that identifies a browser: see `Devices`. */
  readonly deviceCookie: CookieSettings;
  /** The cookie of a sign-in that waits for a second factor. */
  readonly pendingCookie: CookieSettings;
  /** Null if rate limits are disabled. */
  readonly rateLimit: { store: RedisClient | string | null; keyPrefix: string; rules: LimitRules } | null;
  /** Null if `email` is not configured. */
  readonly email:
    | (MailSettings & {
        readonly verifyUrl: string;
        readonly resetUrl: string;
        readonly invitationUrl: string;
        readonly changeEmailUrl: string;
        readonly undoUrl: string;
        /** Those that are sent. */
        readonly notices: readonly NoticeKind[];
      })
    | null;
  /** Seconds; false if a job does it. */
  readonly outbox: { readonly interval: number | false };
  readonly user: {
    readonly fields: FieldsOptions;
    /** Null if the fields are columns of latchkey's table. */
    readonly model: RowModel | null;
    /** Empty without a model. */
    readonly foreignKey: string;
  };
  /** The property of requests that guards set. */
  readonly requestProperty: string;
  readonly hooks: Hooks;
  readonly signUp: 'open' | 'closed';
  /** Which of the routes about one's own account are on. */
  readonly account: { readonly update: boolean; readonly changeEmail: boolean; readonly delete: boolean };
  /** How long deleted accounts are kept shut before they are deleted for good. */
  readonly accountDeletion: { readonly graceDays: number };
  /** The older systems whose living sessions are taken over. */
  readonly bridges: readonly SessionBridge[];
  readonly tablePrefix: string;
  readonly logger: Logger;
}

/** The base path if the router is mounted at the root of the app and none is configured. */
export const DEFAULT_BASE_PATH = '/auth';

type Config = z.infer<typeof configSchema>;

/**
 * Validates the config and fills in defaults.
 *
 * @throws TypeError naming every invalid key and how to fix it
 */
export function readConfig(config: AuthConfig<readonly unknown[]>): {
  settings: Settings;
  secrets: readonly string[];
  webhooks: readonly WebhookSettings[];
} {
  const data = readOptions('', () => configSchema, config);
  // Without the plugins, in which the secrets of providers are.
  const { plugins: _, secret: secrets, webhooks, ...others } = data;
  const { session, baseUrl, httpBasePath, trustedOrigins, rateLimit, email, ...rest } = others;
  const { cookie: cookieOptions, ...times } = session;
  const cookie = cookieSettings(cookieOptions, baseUrl);
  const settings: Settings = {
    ...rest,
    logger: steadyLogger(rest.logger),
    user: {
      fields: rest.user.fields as FieldsOptions,
      model: rest.user.model ?? null,
      foreignKey: rest.user.foreignKey ?? '',
    },
    baseUrl: baseUrl ? new URL(baseUrl).origin : null,
    httpBasePath: httpBasePath ?? null,
    origins: new Set([...(baseUrl ? [baseUrl] : []), ...trustedOrigins].map((url) => new URL(url).origin)),
    session: times,
    rateLimit: rateLimit === false ? null : rateLimitSettings(rateLimit, rest.tablePrefix),
    email: email
      ? {
          invitationUrl: email.resetUrl,
          ...email,
          notices: noticesOf(email.notices),
          baseUrl: baseUrl ?? null,
        }
      : null,
    cookie,
    deviceCookie: laxCookie(cookie, 'device'),
    pendingCookie: laxCookie(cookie, 'pending'),
  };
  for (const warning of warningsAbout(settings)) settings.logger.warn(`latchkey: ${warning}`);
  return { settings, secrets, webhooks };
}

function noticesOf(notices: boolean | readonly NoticeKind[]): readonly NoticeKind[] {
  if (typeof notices === 'boolean') return notices ? NOTICE_KINDS : [];
  return notices;
}

/** Warns about settings that are allowed but rarely intended. */
function* warningsAbout({ baseUrl, cookie, email }: Settings): Generator<string> {
  if (baseUrl?.startsWith('https:') && !cookie.secure) {
    yield 'session.cookie.secure is false although baseUrl is https: browsers also send the cookie over plain http';
  }
  const isPlain = baseUrl?.startsWith('http:') && !isLoopback(new URL(baseUrl).hostname);
  if (isPlain && process.env.NODE_ENV === 'production') {
    const refused = cookie.secure ? ', and browsers reject the Secure cookie' : '';
    yield `baseUrl is http in production: passwords and session tokens are sent unencrypted${refused}`;
  }
  const pages = email
    ? [email.verifyUrl, email.resetUrl, email.invitationUrl, email.changeEmailUrl, email.undoUrl]
    : [];
  if (!baseUrl && pages.some((page) => page.startsWith('/'))) {
    yield 'links in emails are relative without baseUrl: set it, or set the pages in email to URLs';
  }
}

function rateLimitSettings(
  { store, keyPrefix, account, ...windows }: Exclude<Config['rateLimit'], false>,
  tablePrefix: string,
) {
  const windowOf = (rule: WindowRule | false) =>
    rule && { limit: rule.limit, windowMs: wholeMs(rule.window) };
  return {
    store: store ?? null,
    keyPrefix: keyPrefix ?? `latchkey:${tablePrefix}`,
    rules: {
      signIn: windowOf(windows.signIn) || null,
      signUp: windowOf(windows.signUp) || null,
      mail: windowOf(windows.mail) || null,
      passwordCheck: windowOf(windows.passwordCheck) || null,
      passwordChange: windowOf(windows.passwordChange) || null,
      usernameCheck: windowOf(windows.usernameCheck) || null,
      passkeyOptions: windowOf(windows.passkeyOptions) || null,
      account: account
        ? {
            failures: account.failures,
            firstPauseMs: wholeMs(account.firstPause),
            maxPauseMs: wholeMs(account.maxPause),
          }
        : null,
    },
  };
}

/** Redis and the databases store no fractions of a millisecond. */
function wholeMs(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1000));
}

function cookieSettings(options: Config['session']['cookie'], baseUrl?: string): CookieSettings {
  const secure = options.secure ?? (baseUrl?.startsWith('https:') || process.env.NODE_ENV === 'production');
  const hostOnly = options.domain === undefined && (options.path ?? '/') === '/';
  const prefix = secure ? (hostOnly ? '__Host-' : '__Secure-') : '';
  const cookie = { path: '/', ...options, secure, name: options.name ?? `${prefix}latchkey` };
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
  return cookie;
}

/** A cookie for the same host and path as the session cookie, and named after it, so that two realms do not share it. */
export function cookieBeside(cookie: CookieSettings, purpose: string): CookieSettings {
  return { ...cookie, name: `${cookie.name}-${purpose}` };
}

/** Lax even if the session cookie is strict: a sign-in with a provider ends with a redirect from another site. */
function laxCookie(cookie: CookieSettings, purpose: string): CookieSettings {
  const sameSite = cookie.sameSite === 'strict' ? 'lax' : cookie.sameSite;
  return { ...cookieBeside(cookie, purpose), sameSite };
}
