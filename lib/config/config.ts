import { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import type { Sequelize } from 'sequelize';
import * as z from 'zod';
import { isSequelize } from '../database/connect.js';
import type { ProblemDetails } from '../errors.js';
import { consoleLogger, Log, type Logger } from '../logger.js';
import { declaredNotices } from '../mail/notice-kinds.js';
import { declaredEvents } from '../outbox/events.js';
import { Telemetry } from '../telemetry.js';
import {
  type AccountDeletionOptions,
  type AccountOptions,
  accountDeletionSchema,
  accountSchema,
} from './account.js';
import { type EmailOptions, emailSchema, emailSettings, PAGE } from './email.js';
import { type Hooks, hooksSchema } from './hooks.js';
import { type HumanCheckOptions, humanCheckSchema } from './human-check.js';
import { type LocaleOptions, localeField, localeSchema, localeSettings } from './locale.js';
import { flag, isLoopback, readOptions, schemaOf } from './options.js';
import { type OutboxOptions, outboxSchema, type WebhookOptions, webhooksSchema } from './outbox.js';
import { type RateLimitOptions, rateLimitSchema, rateLimitSettings } from './rate-limit.js';
import { type SessionOptions, sessionSchema, sessionSettings } from './session.js';
import { type TasksOptions, tasksSchema } from './tasks.js';
import { type FieldsOptions, type UserOptions, userSchema, userSettings } from './user.js';

/** A scheme of the header `Authorization` that clients use to send a session token. */
export type BearerScheme = 'Bearer' | 'Token';

/** How clients send a session token. */
export interface BearerOptions {
  /**
   * A scheme that is accepted in addition to `Bearer`, for clients that cannot be changed: `Authorization: Token …`.
   * @default none
   */
  scheme?: 'Token';
}

/** @internal */
export const bearerSchema = schemaOf<BearerOptions>()({
  scheme: z.literal('Token', "must be 'Token', which is accepted in addition to Bearer").optional(),
});

/** The config of `createAuth`, `authRouter` and the guards. */
export interface AuthConfig<
  P = readonly unknown[],
  F extends FieldsOptions = FieldsOptions,
  B extends boolean = boolean,
> {
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
  /**
   * The app's public URL: its origin, such as `https://app.example.com`. If a proxy removes the beginning of the path
   * before it passes on a request, include that part too, such as `https://example.com/app`.
   * @default none
   */
  baseUrl?: string;
  /**
   * The name of the app: 1 to 64 characters on one line. It is in the subject and the signature of every email,
   * browsers show it with passkeys, and authenticator apps show it with their codes.
   * @default the host of `baseUrl`; without `baseUrl`, emails do not name the app
   */
  appName?: string;
  /**
   * The path of the routes if the router is mounted at the root of the app, and where redirects, redirect URIs and links
   * expect them below `baseUrl`. Set it if the router is mounted in an `express.Router()` or at a path with parameters, or
   * if another process has the router, because latchkey cannot learn these paths.
   * @default the path at which `app.use` mounts the router; at the root, `/auth`
   */
  httpBasePath?: string;
  /** Whether session tokens are also accepted as `Authorization: Bearer`, and returned at sign-in. @default false */
  bearerEnabled?: B;
  /** How clients send a session token, if `bearerEnabled` is true. @default as `Authorization: Bearer` only */
  bearer?: BearerOptions;
  /** Whether the routes that a page calls also accept HTML forms, and respond to them with redirects. @default true */
  forms?: boolean;
  /** Other origins that can send the session cookie, and to which browsers can be redirected. @default [] */
  trustedOrigins?: readonly string[];
  /** The lifetime of sessions, and the attributes of their cookie. @default see {@link SessionOptions} */
  session?: SessionOptions;
  /**
   * Rate limits for sign-ins, sign-ups and emails; `false` disables all of them.
   * @default on, in the database
   */
  rateLimit?: false | RateLimitOptions;
  /**
   * How latchkey checks that a person sends a request, before it creates an account or sends an email: `altcha()`,
   * `turnstile()` or `hcaptcha()` from `latchkey/human-check`, or your own `{ verify }`.
   * @default none
   */
  humanCheck?: HumanCheckOptions;
  /** Enables email verification and password reset. @default none */
  email?: EmailOptions;
  /** The retries of emails and webhooks that could not be sent immediately. @default see {@link OutboxOptions} */
  outbox?: OutboxOptions;
  /** Endpoints that get events as signed POST requests. @default [] */
  webhooks?: readonly WebhookOptions[];
  /** The app's own data about users. @default only an email and a username */
  user?: UserOptions<F>;
  /** The languages of pages, emails and error responses. @default English alone */
  locale?: LocaleOptions;
  /** Functions of the app that run when accounts are created, changed and deleted. @default none */
  hooks?: Hooks;
  /**
   * The property of requests that guards set, if another package uses `req.auth`. `currentUser` and `currentSession`
   * work with any name.
   * @default 'auth'
   */
  requestProperty?: string;
  /**
   * Returns the body of an error response of the routes and guards, in place of the problem: any value that JSON can
   * represent. The status and the headers stay, and the type becomes `application/json`. If the function throws or
   * returns nothing, the response contains the problem, and the failure is logged once. If an HTML form fails and no
   * page can show the error, the browser gets a small HTML page, which this function does not change.
   * @default none, the problem itself (RFC 9457)
   */
  problems?(problem: ProblemDetails, req: Request): unknown;
  /**
   * Who can create accounts. With `closed`, every sign-up is refused. Administrators, your code and imports can still
   * create accounts.
   * @default 'open'
   */
  signUp?: 'open' | 'closed';
  /** The routes that let users change their own account. @default all of them */
  account?: AccountOptions;
  /** How accounts are deleted, such as after a grace period. @default they are deleted immediately */
  accountDeletion?: AccountDeletionOptions;
  /**
   * Steps that users must complete before they can use the app, such as accepting new terms. Until then, their sessions
   * have open tasks, and guards reject them, unless the guard names the task.
   * @default {}
   */
  tasks?: TasksOptions;
  /** A prefix for all table names: lower-case letters, digits and `_`. @default '' */
  tablePrefix?: string;
  /**
   * Whether latchkey records spans and metrics with OpenTelemetry, through your app's own `@opentelemetry/api`. Start
   * your SDK before you create the Auth. If the package is missing, `auth.migrate()` throws.
   * @default false
   */
  telemetry?: boolean;
  /**
   * The logger that latchkey writes to. pino and bunyan get an object for each line, and other loggers get a string.
   * @default warnings and errors go to the console, as lines of text
   */
  logger?: Logger;
}

// The properties of requests that Express and its usual middleware set.
const TAKEN = new Set(
  (
    'app,body,cookies,file,files,host,hostname,ip,ips,method,next,originalUrl,params,path,protocol,query,rawBody,res,route,' +
    'secure,secret,session,sessionID,sessionStore,signedCookies,stale,fresh,subdomains,user,xhr,baseUrl,login,logout'
  ).split(','),
);

const requestProperty = z
  .string('must be the name of a property of requests, such as auth')
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a name of letters, digits and _')
  .refine((name) => !TAKEN.has(name) && !(name in IncomingMessage.prototype), {
    error: 'is a property that requests already have: choose another name',
  });

const MIN_SECRET_BYTES = 32;

const NO_SECRET = `is missing: set it to ${MIN_SECRET_BYTES} random bytes, such as from \`npx latchkey secret\``;
const secret = z
  .string({ error: ({ input }) => (input === undefined ? NO_SECRET : 'must be a string') })
  .refine((value) => Buffer.byteLength(value) >= MIN_SECRET_BYTES, {
    error: `is too short: set it to at least ${MIN_SECRET_BYTES} bytes, such as from \`npx latchkey secret\``,
  });
const origin = z.string('must be an origin such as https://app.example.com').refine(isOrigin, {
  error: 'must be an origin such as https://app.example.com: http or https, no path',
});
const PUBLIC_URL =
  'must be a URL such as https://app.example.com: http or https, with a path only if a proxy removes it, and no query';
const publicUrl = z.string(PUBLIC_URL).refine((url) => originAndPathOf(url) !== null, PUBLIC_URL);
const APP_NAME = 'must be a name of 1 to 64 characters on one line';
const appName = z
  .string(APP_NAME)
  .trim()
  .regex(/^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u, APP_NAME);
const plugin = z.custom<unknown>((it) => typeof (it as { setup?: unknown } | null)?.setup === 'function', {
  error: ({ input }) => notAPlugin(input),
});

/** @internal */
export const configSchema = () =>
  schemaOf<AuthConfig>()({
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
            .refine(
              (list) => new Set(list).size === list.length,
              'contains the same secret twice: remove one',
            ),
        ],
        {
          error: ({ input }) => (input === undefined ? NO_SECRET : 'must be a string or a list of strings'),
        },
      )
      .transform((one) => [one].flat()),
    plugins: z.array(plugin, 'must be a list of plugins').default([]),
    baseUrl: publicUrl.optional(),
    appName: appName.optional(),
    httpBasePath: z
      .string('must be a path such as /auth')
      .regex(/^(\/[A-Za-z0-9._~-]+)+$/, 'must be a path such as /auth, without a trailing slash')
      .optional(),
    bearerEnabled: flag.default(false),
    bearer: bearerSchema.optional(),
    forms: flag.default(true),
    trustedOrigins: z.array(origin, 'must be a list of origins').default([]),
    session: sessionSchema.prefault({}),
    rateLimit: z
      .union([z.literal(false), rateLimitSchema], 'must be false, or an object of rules')
      .prefault({}),
    humanCheck: humanCheckSchema.optional(),
    email: emailSchema.optional(),
    outbox: outboxSchema.prefault({}),
    webhooks: webhooksSchema.default([]),
    user: userSchema.prefault({}),
    locale: localeSchema.prefault({}),
    hooks: hooksSchema.prefault({}),
    requestProperty: requestProperty.default('auth'),
    problems: z
      .custom<NonNullable<AuthConfig['problems']>>(
        (it) => typeof it === 'function',
        'must be a function of a problem and a request',
      )
      .optional(),
    signUp: z.enum(['open', 'closed'], "must be 'open' or 'closed'").default('open'),
    account: accountSchema.prefault({}),
    accountDeletion: accountDeletionSchema.prefault({}),
    tasks: tasksSchema.default({}),
    tablePrefix: z
      .string()
      .regex(
        /^([a-z][a-z0-9_]{0,29})?$/,
        'must be at most 30 characters of a-z, 0-9 and _, starting with a letter',
      )
      .default(''),
    telemetry: flag.default(false),
    logger: z
      .custom<Logger>(
        (it) =>
          ['debug', 'info', 'warn', 'error'].every((name) => typeof (it as never)?.[name] === 'function'),
        'must have the methods debug, info, warn and error',
      )
      .default(consoleLogger),
  });

/** The base path if the router is mounted at the root of the app and none is configured. */
export const DEFAULT_BASE_PATH = '/auth';

/**
 * Validates the config and fills in defaults.
 *
 * @throws TypeError naming every invalid key and how to fix it
 */
export function readConfig(config: AuthConfig<readonly unknown[]>) {
  const { secret: secrets, webhooks, ...options } = readOptions('', configSchema, config);
  requirePlugins(config, namesOf(options.plugins));
  if (options.bearer && !options.bearerEnabled)
    throw new TypeError(
      'latchkey: bearer requires session tokens in a header: set bearerEnabled to true too',
    );
  const settings = settingsOf(options);
  warnAbout(settings, config.session?.idleTimeout);
  return { settings, secrets, webhooks };
}

/** The config with defaults filled in, without its secrets. */
export type Settings = Readonly<ReturnType<typeof readConfig>['settings']>;

function settingsOf(options: Omit<z.output<ReturnType<typeof configSchema>>, 'secret' | 'webhooks'>) {
  // Leave out the plugins, because they contain the secrets of providers.
  const {
    plugins,
    session,
    baseUrl,
    httpBasePath,
    trustedOrigins,
    rateLimit,
    email,
    telemetry,
    logger,
    ...others
  } = options;
  const { bearer, appName: givenName, locale: givenLocale, ...rest } = others;
  const locale = localeSettings(givenLocale);
  const log = new Log(logger);
  const { origin = null, path: publicPath = '' } = (baseUrl && originAndPathOf(baseUrl)) || {};
  const appName = givenName ?? (origin === null ? null : new URL(origin).hostname);
  return {
    ...rest,
    /** The schemes of the header `Authorization` for session tokens. Empty without `bearerEnabled`. */
    bearerSchemes: rest.bearerEnabled ? ['Bearer' as const, ...(bearer?.scheme ? [bearer.scheme] : [])] : [],
    ...sessionSettings(session, baseUrl),
    log,
    /** Null if it is not enabled. */
    telemetry: telemetry ? new Telemetry(log) : null,
    locale,
    user: userSettings(rest.user, localeField(locale)),
    /** The origin and {@link publicPath}. */
    baseUrl: origin === null ? null : origin + publicPath,
    origin,
    /** Null without `appName` and `baseUrl`. */
    appName,
    /** The path before the app's own paths in every URL that browsers see, such as `/app`, which a proxy removes. */
    publicPath,
    /** Null if not configured. The base path is then the mount path, or `/auth` at the root. */
    httpBasePath: httpBasePath ?? null,
    /** The app's own origin and the trusted origins. */
    origins: originsOf(baseUrl, trustedOrigins),
    /** Null if rate limits are disabled. */
    rateLimit: rateLimitSettings(rateLimit),
    /** Null if `email` is not configured. */
    email: email
      ? emailSettings(email, { appName, origin, publicPath, accent: accentOf(plugins) }, namesOf(plugins))
      : null,
  };
}

function namesOf(plugins: readonly unknown[]): ReadonlySet<string> {
  return new Set(plugins.map((plugin) => (plugin as { readonly name: string }).name));
}

/** Returns the color of the pages of a plugin. */
function accentOf(plugins: readonly unknown[]): string | undefined {
  return plugins
    .map((plugin) => (plugin as { readonly accent?: string }).accent)
    .find((accent) => accent !== undefined);
}

/** @throws TypeError if the config names a notice, event or hook of a plugin that is not in `plugins` */
function requirePlugins(
  { email, webhooks = [], hooks = {} }: AuthConfig,
  plugins: ReadonlySet<string>,
): void {
  const notices = typeof email?.notices === 'object' ? email.notices : [];
  const events = webhooks.flatMap((webhook) => webhook.events ?? []);
  const mistakes = [
    ...declaredNotices.withoutPlugin('email.notices', notices, plugins),
    ...declaredEvents.withoutPlugin('webhooks', [...new Set(events)], plugins),
    ...(plugins.has('organizations') ? [] : OF_ORGANIZATIONS.filter((name) => hooks[name])).map(
      (name) => `hooks.${name} requires organizations(): add it to plugins`,
    ),
  ];
  if (mistakes.length > 0) throw new TypeError(`latchkey: ${mistakes.join('; ')}`);
}

const OF_ORGANIZATIONS = ['createOrganization', 'deleteOrganization'] as const;

function originsOf(baseUrl: string | undefined, trusted: readonly string[]): ReadonlySet<string> {
  return new Set([...(baseUrl ? [baseUrl] : []), ...trusted].map((url) => new URL(url).origin));
}

/** Warns about settings that are allowed but rarely intended. */
function warnAbout({ baseUrl, cookie, email, session, log }: Settings, idleTimeout = 0): void {
  if (baseUrl?.startsWith('https:') && !cookie.secure) {
    log.warn(
      'config.insecure_cookie',
      'session.cookie.secure is false although baseUrl is https: browsers also send the cookie over plain http',
      { cause: null },
    );
  }
  if (idleTimeout > session.lifetime) {
    log.warn(
      'config.idle_timeout',
      'session.idleTimeout is longer than session.lifetime, so it has no effect: set it to a shorter time, in seconds',
      { cause: null },
    );
  }
  const isPlain = baseUrl?.startsWith('http:') && !isLoopback(new URL(baseUrl).hostname);
  if (isPlain && process.env.NODE_ENV === 'production') {
    const refused = cookie.secure ? ', and browsers reject the Secure cookie' : '';
    log.warn(
      'config.plain_http',
      `baseUrl is http in production: passwords and session tokens are sent unencrypted${refused}`,
      { cause: null },
    );
  }
  const pages = email
    ? [email.verifyUrl, email.resetUrl, email.invitationUrl, email.changeEmailUrl, email.undoUrl]
    : [];
  if (!baseUrl && pages.some((page) => page.startsWith('/') || page.startsWith(PAGE))) {
    log.warn(
      'config.relative_links',
      'links in emails are relative without baseUrl: set it, or set the pages in email to URLs',
      { cause: null },
    );
  }
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
  return originAndPathOf(value)?.path === '';
}

/** Returns a URL's origin, and its path without a trailing slash. Null if the URL is not in its normalized form. */
function originAndPathOf(value: string): { readonly origin: string; readonly path: string } | null {
  if (!URL.canParse(value)) return null;
  const { protocol, hostname, pathname, origin } = new URL(value);
  // Wildcards are not supported. A URL with credentials, a query or a path that is spelled in another way does not
  // match.
  const [, path] = /^[a-z]+:\/\/[^/?#@\\*]+((?:\/[A-Za-z0-9._~-]+)*)\/?$/i.exec(value) ?? [];
  const isSame = path !== undefined && pathname.replace(/\/$/, '') === path;
  return isSame && hostname !== '' && /^https?:$/.test(protocol) ? { origin, path } : null;
}
