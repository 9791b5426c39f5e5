import type { Sequelize } from 'sequelize';
import * as z from 'zod';
import { isSequelize } from '../database/connect.js';
import type { RedisClient } from '../limits/redis-store.js';
import { consoleLogger, type Logger } from '../logger.js';
import { NOTICE_KINDS } from '../mail/notice-kinds.js';
import type { SessionBridge } from './bridge.js';
import type { EmailOptions } from './config.js';
import { requestPropertySchema } from './request-property.js';
import { hooksSchema, userSchema } from './user-schema.js';
import { webhooksSchema } from './webhook-schema.js';

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
const NOT_A_BRIDGE =
  'must be a bridge from latchkey/bridges: call it, as in bridges: [authJsSessions({ … })]';
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
const rateLimitSchema = z
  .strictObject({
    store: z
      .union(
        [
          z.string().regex(/^rediss?:/, 'must be a Redis URL (redis://…), or a client of ioredis or redis'),
          z.custom<RedisClient>((it) => typeof (it as { eval?: unknown })?.eval === 'function'),
        ],
        'must be a Redis URL, or a client of ioredis or redis',
      )
      .optional(),
    keyPrefix: z
      .string()
      .regex(/^[!-~]{1,100}$/, 'must be 1 to 100 printable ASCII characters, without spaces')
      .optional(),
    signIn: windowRule.default({ limit: 20, window: 60 }),
    signUp: windowRule.default({ limit: 20, window: 60 }),
    mail: windowRule.default({ limit: 3, window: 60 }),
    passwordCheck: windowRule.default({ limit: 60, window: 60 }),
    passwordChange: windowRule.default({ limit: 5, window: 3600 }),
    usernameCheck: windowRule.default({ limit: 60, window: 60 }),
    passkeyOptions: windowRule.default({ limit: 60, window: 60 }),
    account: pauseRule.default({ failures: 5, firstPause: 15, maxPause: 900 }),
  })
  .refine(({ store, keyPrefix }) => keyPrefix === undefined || store !== undefined, {
    error: 'is for Redis: set store too, or use tablePrefix for counters in the database',
    path: ['keyPrefix'],
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
  invitationUrl: page.optional(),
  changeEmailUrl: page.default('/change-email'),
  undoUrl: page.default('/undo-change'),
  notices: z
    .union([z.boolean(), z.array(z.enum(NOTICE_KINDS))], {
      error: `must be true, false, or a list of ${NOTICE_KINDS.join(', ')}`,
    })
    .default(true),
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
  bridges: z.array(z.custom<SessionBridge>(isBridge, NOT_A_BRIDGE), 'must be a list of bridges').default([]),
  baseUrl: origin.optional(),
  httpBasePath: z
    .string('must be a path such as /auth')
    .regex(/^(\/[A-Za-z0-9._~-]+)+$/, 'must be a path such as /auth, without a trailing slash')
    .optional(),
  bearerEnabled: flag.default(false),
  forms: flag.default(true),
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
  outbox: z
    .strictObject({
      interval: z
        .union(
          [z.literal(false), z.number().min(1).max(3600)],
          'must be false, or a number of seconds from 1 to 3600',
        )
        .default(15),
    })
    .prefault({}),
  webhooks: webhooksSchema.default([]),
  user: userSchema.prefault({}),
  hooks: hooksSchema.prefault({}),
  requestProperty: requestPropertySchema.default('auth'),
  signUp: z.enum(['open', 'closed'], "must be 'open' or 'closed'").default('open'),
  account: z
    .strictObject({ update: flag.default(true), changeEmail: flag.default(true), delete: flag.default(true) })
    .prefault({}),
  accountDeletion: z
    .strictObject({
      graceDays: z
        .int('must be a whole number of days')
        .min(0, 'must be 0 days or more')
        .max(3650, 'must be at most 3650 days')
        .default(0),
    })
    .prefault({}),
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

function isBridge(value: unknown): boolean {
  const { idIn, find, end } = (value ?? {}) as Partial<Record<string, unknown>>;
  return [idIn, find, end].every((one) => typeof one === 'function');
}

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
