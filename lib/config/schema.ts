import type { Sequelize } from 'sequelize';
import { z } from 'zod';
import { isSequelize } from '../database/connect.js';
import type { WindowRule } from '../limits/limiter.js';
import type { RedisClient } from '../limits/redis-store.js';
import { consoleLogger, type Logger } from '../logger.js';
import type { MailMessage } from '../mail/message.js';

/** How the session cookie is set. */
export interface CookieOptions {
  /**
   * The cookie's name.
   * @default `__Host-latchkey` if secure (`__Secure-latchkey` with a domain or path), else `latchkey`
   */
  name?: string;
  /** A domain whose subdomains get the cookie too. @default the current host only */
  domain?: string;
  /** The path below which browsers send the cookie. @default `/` */
  path?: string;
  /** Whether browsers send the cookie with requests from other sites. @default `lax` */
  sameSite?: 'lax' | 'strict' | 'none';
  /** Restricts the cookie to https. @default true if `baseUrl` is https or `NODE_ENV` is production */
  secure?: boolean;
}

/** The lifetime of sessions. All durations are in seconds. */
export interface SessionOptions {
  /** Ends a session that has not been used for this long. @default 604800 (7 days) */
  idleTimeout?: number;
  /** Ends a remembered session after this long, even if it is active. @default 2592000 (30 days) */
  lifetime?: number;
  /** Ends any other session after this long, even if it is active. @default 86400 (24 hours) */
  shortLifetime?: number;
  /**
   * The minimum interval between updates of a session's last activity; 0 updates it on every request. It is capped at a
   * quarter of `idleTimeout`, so that an active session does not go idle.
   * @default 60
   */
  touchInterval?: number;
  /** How the cookie is set. @default see {@link CookieOptions} */
  cookie?: CookieOptions;
}

/** Rate limits, and where their counters are stored. `false` disables a rule. */
export interface RateLimitOptions {
  /** A Redis URL (needs the package `ioredis`), or a client of `ioredis` or `redis`. @default the database */
  store?: RedisClient | string;
  /** Sign-ins per address. @default { limit: 20, window: 60 } */
  signIn?: WindowRule | false;
  /** Sign-ups per address. @default { limit: 20, window: 60 } */
  signUp?: WindowRule | false;
  /** Verification and reset emails, per address and per account. @default { limit: 3, window: 60 } */
  mail?: WindowRule | false;
  /**
   * Wrong passwords per account: how many are allowed before attempts are paused, and the first and the longest pause,
   * in seconds. The pause doubles with each further failure.
   * @default { failures: 5, firstPause: 15, maxPause: 900 }
   */
  account?: { failures: number; firstPause: number; maxPause: number } | false;
}

/** How emails are sent, and where their links lead. */
export interface EmailOptions {
  /** Sends an email. Called after the response; errors are logged. @default none, required */
  send: (message: MailMessage) => unknown;
  /**
   * The app's page that reads `?token=` and calls POST /verify-email: a URL, or a path relative to `baseUrl`. Without
   * `baseUrl`, links with a path are relative, and `send` must make them absolute.
   * @default `/verify-email`
   */
  verifyUrl?: string;
  /** Likewise, the app's page that reads `?token=` and calls POST /passwords/reset. @default `/reset-password` */
  resetUrl?: string;
}

/** The config of `createAuth`, `authRouter` and the guards. */
export interface AuthConfig<P = readonly unknown[]> {
  /**
   * The app's own Sequelize instance, or a URL: `sqlite:./app.db`, `mysql://…`, `mariadb://…`, `postgres://…`.
   * @default none, required
   */
  database: Sequelize | string;
  /**
   * A secret of at least 32 bytes, from which encryption keys are derived. During rotation, a list: the first secret
   * encrypts, all of them decrypt.
   * @default none, required
   */
  secret: string | readonly string[] | undefined;
  /** The enabled features, in any order. @default [] */
  plugins?: P;
  /** The app's public origin, such as `https://app.example.com`. @default none */
  baseUrl?: string;
  /** The path of the routes if the router is mounted at the root of the app. @default `/auth` */
  httpBasePath?: string;
  /** Also accepts session tokens as `Authorization: Bearer`, and returns them at sign-in. @default false */
  bearerEnabled?: boolean;
  /** Other origins that may send the session cookie, and to which browsers may be redirected. @default [] */
  trustedOrigins?: readonly string[];
  /** The lifetime of sessions, and their cookie. @default see {@link SessionOptions} */
  session?: SessionOptions;
  /**
   * Rate limits for sign-ins, sign-ups and emails; `false` disables all of them.
   * @default on, in the database
   */
  rateLimit?: false | RateLimitOptions;
  /** Enables email verification and password reset. @default none */
  email?: EmailOptions;
  /** A prefix for all table names: lower-case letters, digits and `_`. @default '' */
  tablePrefix?: string;
  /** Where latchkey logs. @default warnings and errors go to the console */
  logger?: Logger;
}

const MIN_SECRET_BYTES = 32;

const NO_SECRET = `is missing: set it to ${MIN_SECRET_BYTES} random bytes, such as from \`openssl rand -base64 32\``;
const secret = z
  .string({ error: ({ input }) => (input === undefined ? NO_SECRET : 'must be a string') })
  .refine((value) => Buffer.byteLength(value) >= MIN_SECRET_BYTES, {
    error: `is too short: give at least ${MIN_SECRET_BYTES} bytes, such as from \`openssl rand -base64 32\``,
  });
const origin = z.string('must be an origin such as https://app.example.com').refine(isOrigin, {
  error: 'must be an origin such as https://app.example.com: http or https, no path',
});
// Longer durations could exceed the range of dates in JavaScript and the databases.
const CENTURY = 100 * 365 * 24 * 3600;
const anySeconds = z
  .number('must be a number of seconds')
  .min(0, 'must be 0 seconds or more')
  .max(CENTURY, 'must be at most 100 years, in seconds');
const seconds = anySeconds.positive('must be more than 0 seconds');
const count = z.int('must be a whole number').positive('must be at least 1');
const plugin = z.custom<unknown>((it) => typeof (it as { setup?: unknown } | null)?.setup === 'function', {
  error: ({ input }) => notAPlugin(input),
});
const flag = z.boolean('must be true or false');
const token = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be a cookie name (RFC 6265)');

const windowRule = z.union(
  [z.literal(false), z.strictObject({ limit: count, window: seconds })],
  'must be false or { limit, window }',
);
const pauseRule = z.union(
  [
    z.literal(false),
    z
      .strictObject({ failures: count, firstPause: seconds, maxPause: seconds })
      .refine(({ firstPause, maxPause }) => firstPause <= maxPause, {
        error: 'must be at most maxPause',
        path: ['firstPause'],
      }),
  ],
  'must be false or { failures, firstPause, maxPause }',
);
const rateLimitSchema = z.strictObject({
  store: z
    .union(
      [
        z.string().regex(/^rediss?:/, 'must be a Redis URL (redis://…), or a client of ioredis or redis'),
        z.custom<RedisClient>((it) => typeof (it as { eval?: unknown })?.eval === 'function'),
      ],
      'must be a Redis URL, or a client of ioredis or redis',
    )
    .optional(),
  signIn: windowRule.default({ limit: 20, window: 60 }),
  signUp: windowRule.default({ limit: 20, window: 60 }),
  mail: windowRule.default({ limit: 3, window: 60 }),
  account: pauseRule.default({ failures: 5, firstPause: 15, maxPause: 900 }),
});
// `//host` and `/\host` refer to another origin.
const page = z
  .string()
  .refine(
    (url) => (url.startsWith('/') ? !/^\/[/\\]/.test(url) : URL.canParse(url)),
    'must be a path such as /confirm, or an absolute URL',
  );
const emailSchema = z.strictObject({
  send: z.custom<EmailOptions['send']>(
    (it) => typeof it === 'function',
    'must be a function that sends a mail',
  ),
  verifyUrl: page.default('/verify-email'),
  resetUrl: page.default('/reset-password'),
});

/** Validates the config and fills in defaults. */
export const configSchema = z.strictObject({
  database: z.union([z.string(), z.custom<Sequelize>(isSequelize)], {
    error: 'must be a URL (sqlite:./app.db, mysql://…, mariadb://…, postgres://…) or a Sequelize instance',
  }),
  secret: z
    .union(
      [
        secret,
        z
          .array(secret)
          .min(1, 'must contain at least one secret')
          .refine((list) => new Set(list).size === list.length, 'contains the same secret twice: remove one'),
      ],
      {
        error: ({ input }) => (input === undefined ? NO_SECRET : 'must be a string or a list of strings'),
      },
    )
    .transform((one) => [one].flat()),
  plugins: z.array(plugin, 'must be a list of plugins').optional(),
  baseUrl: origin.optional(),
  httpBasePath: z
    .string('must be a path such as /auth')
    .regex(/^(\/[A-Za-z0-9._~-]+)+$/, 'must be a path such as /auth, without a trailing slash')
    .optional(),
  bearerEnabled: flag.default(false),
  trustedOrigins: z.array(origin, 'must be a list of origins').default([]),
  session: z
    .strictObject({
      idleTimeout: seconds.default(7 * 24 * 3600),
      lifetime: seconds.default(30 * 24 * 3600),
      shortLifetime: seconds.default(24 * 3600),
      touchInterval: anySeconds.default(60),
      cookie: z
        .strictObject({
          name: token.optional(),
          domain: z
            .string()
            .regex(
              /^\.?([a-z0-9-]+\.)*[a-z0-9-]+$/i,
              'must be a domain such as example.com, without scheme or port',
            )
            .optional(),
          path: z
            .string()
            .regex(/^\/[!-:<-~]*$/, 'must be a URL path that starts with /, without ;')
            .optional(),
          sameSite: z.enum(['lax', 'strict', 'none'], "must be 'lax', 'strict' or 'none'").default('lax'),
          secure: flag.optional(),
        })
        .prefault({}),
    })
    .prefault({}),
  rateLimit: z
    .union([z.literal(false), rateLimitSchema], 'must be false, or an object of rules')
    .prefault({}),
  email: emailSchema.optional(),
  tablePrefix: z
    .string()
    .regex(
      /^([a-z][a-z0-9_]{0,29})?$/,
      'must be at most 30 characters of a-z, 0-9 and _, starting with a letter',
    )
    .default(''),
  logger: z
    .custom<Logger>(
      (it) => ['debug', 'info', 'warn', 'error'].every((name) => typeof (it as never)?.[name] === 'function'),
      'must have the methods debug, info, warn and error',
    )
    .default(consoleLogger),
});

function notAPlugin(value: unknown): string {
  if (typeof value === 'function')
    return `is a function: call it, as in plugins: [${value.name || 'plugin'}()]`;
  if (Array.isArray(value)) return 'is a list: spread it, as in plugins: [...list]';
  if (!value && typeof value !== 'string')
    return `is ${value}, not a plugin: leave it out, as in ...(condition ? [plugin()] : [])`;
  return `is ${typeof value === 'object' ? 'an object' : `a ${typeof value}`}, not a plugin`;
}

function isOrigin(value: string): boolean {
  try {
    const url = new URL(value);
    const bare = url.pathname === '/' && !url.search && !url.hash && !url.username && !url.password;
    // Wildcards are not supported.
    if (url.hostname.includes('*')) return false;
    return /^https?:$/.test(url.protocol) && bare;
  } catch {
    return false;
  }
}
