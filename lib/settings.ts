import type { Sequelize } from 'sequelize';
import { z } from 'zod';
import type { AuthConfig, EmailOptions } from './config.js';
import { isSequelize } from './database/connect.js';
import type { LimitRules } from './limits/limiter.js';
import type { RedisClient } from './limits/redis-store.js';
import { consoleLogger, type Logger } from './logger.js';
import type { MailSettings } from './mail/mailer.js';
import { readOptions } from './options.js';

/** The config with every default filled in. */
export interface Settings {
  readonly database: Sequelize | string;
  readonly secrets: readonly string[];
  readonly baseUrl: string | null;
  /** Null where none was configured: then the mount path is the base path, or `/auth` at the root. */
  readonly httpBasePath: string | null;
  readonly bearerEnabled: boolean;
  /** Of the app itself and of those it trusts. */
  readonly origins: ReadonlySet<string>;
  readonly session: { idleTimeout: number; lifetime: number; shortLifetime: number; touchInterval: number };
  readonly cookie: {
    name: string;
    domain?: string;
    path: string;
    sameSite: 'lax' | 'strict' | 'none';
    secure: boolean;
  };
  /** Null where nothing is limited. */
  readonly rateLimit: { store: RedisClient | string | null; rules: LimitRules } | null;
  /** Null where no mail is sent. */
  readonly email: MailSettings | null;
  readonly tablePrefix: string;
  readonly logger: Logger;
}

/** The base path of a router that is mounted at the root of the app and has none configured. */
export const DEFAULT_BASE_PATH = '/auth';

const MIN_SECRET_BYTES = 32;

const secret = z
  .string(`is missing: give ${MIN_SECRET_BYTES} random bytes, such as from \`openssl rand -base64 32\``)
  .refine((value) => Buffer.byteLength(value) >= MIN_SECRET_BYTES, {
    error: `is too short: give at least ${MIN_SECRET_BYTES} bytes, such as from \`openssl rand -base64 32\``,
  });
const origin = z.string('must be an origin such as https://app.example.com').refine(isOrigin, {
  error: 'must be an origin such as https://app.example.com: http or https, no path',
});
// Beyond it, dates come to their end, in JavaScript and in databases.
const CENTURY = 100 * 365 * 24 * 3600;
const seconds = z
  .number('must be a number of seconds')
  .positive('must be more than 0 seconds')
  .max(CENTURY, 'must be at most 100 years, in seconds');
const count = z.int('must be a whole number').positive('must be at least 1');
const flag = z.boolean('must be true or false');
const token = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be a cookie name (RFC 6265)');

const windowRule = z.union(
  [z.literal(false), z.strictObject({ limit: count, window: seconds })],
  'must be false or { limit, window }',
);
const pauseRule = z.union(
  [z.literal(false), z.strictObject({ failures: count, firstPause: seconds, maxPause: seconds })],
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
const pageUrl = z.string().refine((url) => URL.canParse(url), 'must be an absolute URL');
const emailSchema = z.strictObject({
  send: z.custom<EmailOptions['send']>(
    (it) => typeof it === 'function',
    'must be a function that sends a mail',
  ),
  verifyUrl: pageUrl.optional(),
  resetUrl: pageUrl.optional(),
});

const schema = z.strictObject({
  database: z.union([z.string(), z.custom<Sequelize>(isSequelize)], {
    error: 'must be a URL (sqlite:./app.db, mysql://…, mariadb://…, postgres://…) or a Sequelize instance',
  }),
  secret: z.union([
    secret.transform((one) => [one]),
    z.array(secret).min(1, 'must hold one secret at least'),
  ]),
  plugins: z.array(z.unknown(), 'must be a list of plugins').optional(),
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
      touchInterval: seconds.default(60),
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

/** Checks the config and fills in its defaults. Throws a TypeError that names every wrong key and its mend. */
export function readConfig(config: AuthConfig<readonly unknown[]>): Settings {
  const data = readOptions('', schema, config);
  const { session, secret: secrets, baseUrl, httpBasePath, trustedOrigins, rateLimit, email, ...rest } = data;
  const { cookie, ...times } = session;
  return {
    ...rest,
    secrets,
    baseUrl: baseUrl ? new URL(baseUrl).origin : null,
    httpBasePath: httpBasePath ?? null,
    origins: new Set([...(baseUrl ? [baseUrl] : []), ...trustedOrigins].map((url) => new URL(url).origin)),
    session: times,
    rateLimit: rateLimit === false ? null : rateLimitSettings(rateLimit),
    email: email ? mailSettings(email, baseUrl) : null,
    cookie: cookieSettings(cookie, baseUrl),
  };
}

function rateLimitSettings({ store, account, ...rules }: z.infer<typeof rateLimitSchema>) {
  return {
    store: store ?? null,
    rules: {
      signIn: rules.signIn || null,
      signUp: rules.signUp || null,
      mail: rules.mail || null,
      account: account
        ? {
            failures: account.failures,
            firstPauseMs: account.firstPause * 1000,
            maxPauseMs: account.maxPause * 1000,
          }
        : null,
    },
  };
}

function mailSettings(
  { send, verifyUrl, resetUrl }: z.infer<typeof emailSchema>,
  baseUrl?: string,
): MailSettings {
  const page = (path: string, name: string) => {
    if (baseUrl) return new URL(path, baseUrl).href;
    throw new TypeError(
      `latchkey: email.${name} or baseUrl is missing: mails must link to a page of the app`,
    );
  };
  return {
    send,
    pages: {
      'verify-email': verifyUrl ?? page('/verify-email', 'verifyUrl'),
      'reset-password': resetUrl ?? page('/reset-password', 'resetUrl'),
    },
  };
}

function cookieSettings(options: z.infer<typeof schema>['session']['cookie'], baseUrl?: string) {
  const secure = options.secure ?? (baseUrl?.startsWith('https:') || process.env.NODE_ENV === 'production');
  const hostOnly = options.domain === undefined && (options.path ?? '/') === '/';
  const prefix = secure ? (hostOnly ? '__Host-' : '__Secure-') : '';
  const cookie = { path: '/', ...options, secure, name: options.name ?? `${prefix}latchkey` };
  // Browsers drop a cookie that breaks these rules (RFC 6265bis) without a word.
  if (cookie.name.startsWith('__Host-') && !(secure && hostOnly)) {
    throw new TypeError(
      'latchkey: session.cookie.name begins with __Host-: that needs secure, no domain and path /',
    );
  }
  if (cookie.name.startsWith('__Secure-') && !secure) {
    throw new TypeError('latchkey: session.cookie.name begins with __Secure-: that needs secure: true');
  }
  if (cookie.sameSite === 'none' && !secure) {
    throw new TypeError("latchkey: session.cookie.sameSite is 'none': that needs secure: true");
  }
  return cookie;
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
