import type { Sequelize } from 'sequelize';
import { z } from 'zod';
import { isSequelize } from '../database/connect.js';
import type { WindowRule } from '../limits/limiter.js';
import type { RedisClient } from '../limits/redis-store.js';
import { consoleLogger, type Logger } from '../logger.js';
import type { MailMessage } from '../mail/message.js';

/** How the session cookie is set. */
export interface CookieOptions {
  /** @default `__Host-latchkey` where Secure (`__Secure-latchkey` with a domain or path), else `latchkey` */
  name?: string;
  /** Sends the cookie to subdomains of this domain too. @default the host alone */
  domain?: string;
  /** @default `/` */
  path?: string;
  /** @default `lax` */
  sameSite?: 'lax' | 'strict' | 'none';
  /** @default true where `baseUrl` is https or `NODE_ENV` is production */
  secure?: boolean;
}

/** How long sessions live. All times in seconds. */
export interface SessionOptions {
  /** A session ends when it has not been used for this long. @default 604800 (7 days) */
  idleTimeout?: number;
  /** When a remembered session ends, however active it is. @default 2592000 (30 days) */
  lifetime?: number;
  /** When a session that is not remembered ends, however active it is. @default 86400 (24 hours) */
  shortLifetime?: number;
  /**
   * Last activity is written at most once in this many seconds, and at least four times per `idleTimeout`, so that an
   * active session does not go idle; 0 writes it on every request.
   * @default 60
   */
  touchInterval?: number;
  /** How the cookie is set. @default see {@link CookieOptions} */
  cookie?: CookieOptions;
}

/** What is limited, and where attempts are counted. A rule that is `false` is off. */
export interface RateLimitOptions {
  /** A Redis URL (with the package `ioredis`), or the app's own client of `ioredis` or `redis`. @default the database */
  store?: RedisClient | string;
  /** Sign-ins from one address. @default { limit: 20, window: 60 } */
  signIn?: WindowRule | false;
  /** Sign-ups from one address. @default { limit: 20, window: 60 } */
  signUp?: WindowRule | false;
  /** Verification and reset mails, from one address and for one account. @default { limit: 3, window: 60 } */
  mail?: WindowRule | false;
  /**
   * Wrong passwords for one account: how many are free, and the first and the longest pause after them, in seconds.
   * @default { failures: 5, firstPause: 15, maxPause: 900 }
   */
  account?: { failures: number; firstPause: number; maxPause: number } | false;
}

/** How mails leave the app, and where their links lead. */
export interface EmailOptions {
  /** Sends a mail. It is called after the response; an error that it throws is logged. @default none, required */
  send: (message: MailMessage) => unknown;
  /**
   * The app's page that takes `?token=` and calls POST /verify-email: a URL, or a path below `baseUrl`. Without
   * `baseUrl`, a path stays a path, and `send` must complete the link.
   * @default `/verify-email`
   */
  verifyUrl?: string;
  /** The app's page that takes `?token=` and calls POST /passwords/reset, in the same way. @default `/reset-password` */
  resetUrl?: string;
}

/** What `createAuth`, `authRouter` and the guards take. */
export interface AuthConfig<P = readonly unknown[]> {
  /**
   * The app's own Sequelize instance, or a URL: `sqlite:./app.db`, `mysql://…`, `mariadb://…`, `postgres://…`.
   * @default none, required
   */
  database: Sequelize | string;
  /**
   * At least 32 bytes that nobody else knows. A list while rotating: the first one encrypts, and all of them decrypt.
   * Encryption keys are derived from it.
   * @default none, required
   */
  secret: string | readonly string[] | undefined;
  /** The features that are on, in any order. @default [] */
  plugins?: P;
  /** The app's public origin, such as `https://app.example.com`. @default none */
  baseUrl?: string;
  /** The path of the routes when the router is mounted at the root of the app. @default `/auth` */
  httpBasePath?: string;
  /** Accepts session tokens as `Authorization: Bearer` too, and hands them out at sign-in. @default false */
  bearerEnabled?: boolean;
  /** Further origins whose pages may use the session cookie, and to which browsers may be redirected. @default [] */
  trustedOrigins?: readonly string[];
  /** How long sessions live, and their cookie. @default see {@link SessionOptions} */
  session?: SessionOptions;
  /**
   * Limits on sign-ins, sign-ups and mails; `false` switches all of them off.
   * @default on, in the database
   */
  rateLimit?: false | RateLimitOptions;
  /** Switches on the verification of emails and the reset of passwords. @default none */
  email?: EmailOptions;
  /** What the names of all tables begin with: lower-case letters, digits and `_`. @default '' */
  tablePrefix?: string;
  /** @default warnings and errors to the console */
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
// Beyond it, JavaScript and the databases run out of dates.
const CENTURY = 100 * 365 * 24 * 3600;
const anySeconds = z
  .number('must be a number of seconds')
  .min(0, 'must be 0 seconds or more')
  .max(CENTURY, 'must be at most 100 years, in seconds');
const seconds = anySeconds.positive('must be more than 0 seconds');
const count = z.int('must be a whole number').positive('must be at least 1');
const plugin = z.custom<unknown>((it) => typeof (it as { setup?: unknown } | null)?.setup === 'function', {
  error: ({ input }) => whatIsNoPlugin(input),
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
// `//host` and `/\host` lead to another origin.
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

/** Every option as it is checked, with its default. */
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
    .regex(/^(\/[A-Za-z0-9._~-]+)+$/, 'must be a path such as /auth, without a slash at its end')
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
            .regex(/^\/[!-:<-~]*$/, 'must begin with / and be a path as it stands in a URL, without ;')
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
    .regex(/^([a-z][a-z0-9_]{0,29})?$/, 'must be at most 30 of a-z, 0-9 and _, beginning with a letter')
    .default(''),
  logger: z
    .custom<Logger>(
      (it) => ['debug', 'info', 'warn', 'error'].every((name) => typeof (it as never)?.[name] === 'function'),
      'must have the methods debug, info, warn and error',
    )
    .default(consoleLogger),
});

function whatIsNoPlugin(value: unknown): string {
  if (typeof value === 'function')
    return `is a function: call it, as in plugins: [${value.name || 'plugin'}()]`;
  if (Array.isArray(value)) return 'is a list: spread it, as in plugins: [...list]';
  if (!value && typeof value !== 'string')
    return `is ${value}, no plugin: leave it out, as in ...(condition ? [plugin()] : [])`;
  return `is ${typeof value === 'object' ? 'an object' : `a ${typeof value}`}, no plugin`;
}

function isOrigin(value: string): boolean {
  try {
    const url = new URL(value);
    const bare = url.pathname === '/' && !url.search && !url.hash && !url.username && !url.password;
    // No wildcards: each origin is named.
    if (url.hostname.includes('*')) return false;
    return /^https?:$/.test(url.protocol) && bare;
  } catch {
    return false;
  }
}
