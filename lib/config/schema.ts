import { IncomingMessage } from 'node:http';
import type { Sequelize } from 'sequelize';
import * as z from 'zod';
import { isWebhookSecret } from '../crypto/webhook-signature.js';
import { isSequelize } from '../database/connect.js';
import type { RedisClient } from '../limits/redis-store.js';
import { consoleLogger, type Logger } from '../logger.js';
import { NOTICE_KINDS } from '../mail/notice-kinds.js';
import type { WebhookSettings } from '../outbox/webhooks.js';
import { coreTables } from '../tables/core.js';
import type { SessionBridge } from './bridge.js';
import type { EmailOptions, FieldOptions, Hooks, RowModel } from './config.js';
import { isLoopback } from './options.js';

// Express's own properties, and those of its usual middleware.
const TAKEN = new Set(
  (
    'app,body,cookies,file,files,host,hostname,ip,ips,method,next,originalUrl,params,path,protocol,query,rawBody,res,route,' +
    'secure,secret,session,sessionID,sessionStore,signedCookies,stale,fresh,subdomains,user,xhr,baseUrl,login,logout'
  ).split(','),
);

/** The schema of `requestProperty` in the config. */
export const requestPropertySchema = z
  .string('must be the name of a property of requests, such as auth')
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a name of letters, digits and _')
  .refine((name) => !TAKEN.has(name) && !(name in IncomingMessage.prototype), {
    error: 'is a property that requests have already: choose another',
  });

const WHAT_SECRET =
  "must be whsec_ and 24 to 64 random bytes in base64, such as from `node -p \"'whsec_' + require('crypto').randomBytes(32).toString('base64')\"`";
const webhookSecret = z.string(WHAT_SECRET).refine(isWebhookSecret, { error: WHAT_SECRET });
const url = z
  .string('must be a URL such as https://example.com/webhooks')
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    error: 'must be a URL such as https://example.com/webhooks',
    abort: true,
  })
  .refine((text) => new URL(text).username === '' && new URL(text).password === '', {
    error: 'must not contain a username or password: its receiver verifies the signature',
  })
  .refine((text) => process.env.NODE_ENV !== 'production' || isSafe(new URL(text)), {
    error: 'must be https in production, except on this machine',
  });

/** Validates `webhooks`. */
export const webhooksSchema = z
  .array(
    z
      .strictObject({
        url,
        secret: z.union([webhookSecret, z.array(webhookSecret).min(1, 'must contain at least one secret')], {
          error: WHAT_SECRET,
        }),
        events: z.array(z.string('must be the name of an event'), 'must be a list of events').optional(),
      })
      .transform(
        ({ url, secret, events = null }): WebhookSettings => ({
          url: new URL(url).href,
          secrets: [secret].flat(),
          events,
        }),
      ),
    'must be a list of { url, secret, events }',
  )
  .refine((list) => new Set(list.map(({ url }) => url)).size === list.length, {
    error: 'contains the same url twice: put all of its events into one',
  });

function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback(hostname);
}

// As in MySQL's VARCHAR with four bytes a character, of which a row can hold 65,535.
const MAX_LENGTH = 4000;
const INT_32 = 2 ** 31;

const length = z.int('must be a whole number').min(0, 'must be 0 or more');
const bound = z.number('must be a number');

const field = z
  .strictObject({
    type: z.enum(
      ['string', 'integer', 'number', 'boolean', 'date', 'json'],
      "must be 'string', 'integer', 'number', 'boolean', 'date' or 'json'",
    ),
    required: z.boolean('must be true or false').optional(),
    default: z.unknown().optional(),
    maxLength: length
      .min(1, 'must be at least 1')
      .max(MAX_LENGTH, `must be at most ${MAX_LENGTH}`)
      .optional(),
    minLength: length.optional(),
    pattern: z.instanceof(RegExp, { error: 'must be a regular expression' }).optional(),
    enum: z
      .array(z.union([z.string(), z.number()], 'must be a string or a number'), 'must be a list')
      .min(1, 'must list at least one value')
      .optional(),
    minimum: bound.optional(),
    maximum: bound.optional(),
    input: z.enum(['user', 'none'], "must be 'user' or 'none'").optional(),
    output: z.enum(['self', 'admin', 'none'], "must be 'self', 'admin' or 'none'").optional(),
  })
  .superRefine((options, context) => {
    for (const [key, message] of contradictions(options as FieldOptions)) {
      context.addIssue({ code: 'custom', path: [key], message });
    }
  });

/** What an option requires of the type, and of other options. */
function* contradictions(options: FieldOptions): Generator<readonly [key: string, message: string]> {
  const { type, minLength = 0, maxLength = 255, minimum, maximum } = options;
  for (const key of ['maxLength', 'minLength', 'pattern'] as const) {
    if (options[key] !== undefined && type !== 'string') yield [key, "is for type: 'string'"];
  }
  for (const key of ['minimum', 'maximum'] as const) {
    if (options[key] !== undefined && type !== 'integer' && type !== 'number')
      yield [key, "is for type: 'integer' or 'number'"];
  }
  if (minLength > maxLength) yield ['minLength', 'must be at most maxLength'];
  if (minimum !== undefined && maximum !== undefined && minimum > maximum)
    yield ['minimum', 'must be at most maximum'];
  if (type === 'integer' && [minimum, maximum].some((one) => one !== undefined && !isInt32(one)))
    yield [
      minimum !== undefined && !isInt32(minimum) ? 'minimum' : 'maximum',
      'must be an integer of 32 bits',
    ];
  const wanted = type === 'string' ? 'string' : 'number';
  if (options.enum && !['string', 'integer', 'number'].includes(type))
    yield ['enum', "is for type: 'string', 'integer' or 'number'"];
  else if (options.enum?.some((value) => typeof value !== wanted))
    yield ['enum', `must list ${wanted}s only, as type says`];
  // Nobody could sign up.
  if (options.required && options.input === 'none' && options.default === undefined)
    yield ['required', "needs a default with input: 'none', since users cannot give a value"];
}

function isInt32(value: number): boolean {
  return Number.isInteger(value) && value >= -INT_32 && value < INT_32;
}

// What the routes' bodies and responses have beside the fields.
const OTHERS = ['password', 'credential', 'fields', 'user', 'session', 'token', 'rememberMe', 'redirectTo'];
const MORE = ['errorTo', 'secondFactorTo', 'newEmail', 'via', 'prototype', 'toJSON', 'dataValues'];
const PLUGINS = ['suspendedAt', 'suspendedUntil', 'suspensionReason', 'emailVerified', 'isAdmin', 'apiKey'];
const PROTOTYPE = Object.getOwnPropertyNames(Object.prototype);
const RESERVED = new Set([
  ...Object.keys(coreTables.User.columns),
  ...OTHERS,
  ...MORE,
  ...PLUGINS,
  ...PROTOTYPE,
]);

const name = z
  .string()
  .regex(
    /^[a-z][a-zA-Z0-9]{0,39}$/,
    'must be a name in camelCase, of letters and digits, with at most 40 characters',
  )
  .refine(
    (key) => !/[A-Z]{2}/.test(key),
    'must not have two capitals in a row: its name in JSON could not be read back',
  )
  .refine((key) => !RESERVED.has(key), 'is a name that latchkey uses: choose another');

// Not `instanceof`: the app may use another copy of Sequelize.
const model = z.custom<RowModel>(
  (it) => typeof it === 'function' && typeof (it as Partial<RowModel>).getAttributes === 'function',
  'must be a Sequelize model',
);

/** The schema of `user` in the config. */
export const userSchema = z
  .strictObject({
    fields: z.record(name, field, 'must be an object of fields').default({}),
    model: model.optional(),
    foreignKey: z.string("must be the name of the model's attribute with the account's id").optional(),
  })
  .superRefine((options, context) => {
    const [key, message] =
      options.model && options.foreignKey === undefined
        ? ['foreignKey', "is missing: name the model's attribute with the account's id"]
        : ['foreignKey', 'is for user.model: set that too'];
    if ((options.model === undefined) !== (options.foreignKey === undefined))
      context.addIssue({ code: 'custom', path: [key], message });
    if (options.foreignKey !== undefined && Object.hasOwn(options.fields, options.foreignKey))
      context.addIssue({
        code: 'custom',
        path: ['fields', options.foreignKey],
        message: "is user.foreignKey, which holds the account's id: leave it out",
      });
  });

const HOOKS = [
  'beforeCreateUser',
  'createRow',
  'afterCreateUser',
  'afterUpdateUser',
  'beforeDeleteUser',
] as const;
const hook = z
  .custom<(...given: never[]) => unknown>((it) => typeof it === 'function', 'must be a function')
  .optional();

/** The schema of `hooks` in the config. */
export const hooksSchema = z
  .strictObject(Object.fromEntries(HOOKS.map((key) => [key, hook])))
  .transform((hooks) => hooks as Hooks);

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
