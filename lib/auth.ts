import { bearerCarrier } from './carriers/bearer.js';
import { cookieCarrier } from './carriers/cookie.js';
import type { AuthConfig } from './config/schema.js';
import { DEFAULT_BASE_PATH, readConfig, type Settings } from './config/settings.js';
import { CallContext } from './context/call.js';
import { type Authentication, type RequestLike, toPlainRequest } from './core/authentication.js';
import { Core } from './core/core.js';
import { type AuthEventListener, type AuthEventName, Events } from './core/events.js';
import { SecretBox } from './crypto/secret-box.js';
import { connectByUrl, dialectOf } from './database/connect.js';
import { Database } from './database/database.js';
import { AuthError } from './errors.js';
import { describeApi, type OpenApiDocument } from './http/openapi.js';
import type { Route } from './http/route.js';
import { Limiter, type LimitRules } from './limits/limiter.js';
import { RedisLimitStore } from './limits/redis-store.js';
import { SqlLimitStore } from './limits/sql-store.js';
import type { LimitStore } from './limits/store.js';
import { Mailer } from './mail/mailer.js';
import { usersAndSessionsMigration } from './migrations/0001-users-and-sessions.js';
import { rateLimitsMigration } from './migrations/0004-rate-limits.js';
import { oneTimeTokensMigration } from './migrations/0005-one-time-tokens.js';
import { type MigrateOptions, migrate } from './migrations/migrate.js';
import { defineModels, type ModelOf } from './models/model.js';
import { oneTimeTokens } from './models/one-time-token.js';
import { rateLimits } from './models/rate-limit.js';
import { type Session, sessions } from './models/session.js';
import { Table } from './models/table.js';
import { type User, users } from './models/user.js';
import type { Plugin, PluginApis, PluginModels, PluginParts } from './plugin.js';
import { me } from './routes/me.js';
import { openapi } from './routes/openapi.js';
import { revokeSessions } from './routes/revoke-sessions.js';
import { endSession, listSessions } from './routes/sessions.js';
import { signout } from './routes/signout.js';

const NO_LIMITS: LimitRules = { signIn: null, signUp: null, mail: null, account: null };
const TABLES = {
  /** Accounts. */
  User: users,
  /** Sessions. */
  Session: sessions,
  /** Emailed tokens. */
  OneTimeToken: oneTimeTokens,
  /** Counters of the rate limits, unless they are in Redis. */
  RateLimit: rateLimits,
} as const;
const MIGRATIONS = [usersAndSessionsMigration, rateLimitsMigration, oneTimeTokensMigration];

const internalsKey = Symbol.for('latchkey.internals');

/**
 * What the router and the guards use of an Auth.
 *
 * @internal
 */
export interface Internals {
  readonly core: Core;
  readonly routes: readonly Route[];
}

/** The Sequelize models of the core's tables. */
export type CoreModels = { readonly [Name in keyof typeof TABLES]: ModelOf<(typeof TABLES)[Name]> };

/**
 * Sessions and accounts in one database: the object that `authRouter` and the guards share, and the programmatic API.
 */
export interface Auth {
  /**
   * Authenticates a request by any enabled kind of credential.
   *
   * @throws AuthError `unauthenticated`, `invalid_session` (401); `unavailable` (503)
   */
  getSession(req: RequestLike): Promise<Authentication>;
  /** Lists a user's active sessions, newest first. */
  listSessions(userId: string): Promise<Session[]>;
  /** Revokes the session with this token. Resolves to whether it was active. */
  revokeSession(token: string): Promise<boolean>;
  /** Revokes all sessions of a user, and every sign-in in progress. Resolves to the number of active sessions. */
  revokeAllSessions(userId: string): Promise<number>;
  /**
   * Marks a user's email as verified, for apps that verify emails themselves. If it was unverified, the account's API
   * keys, links to providers and emailed links are removed, since someone else may have signed up with the address. The
   * password and the sessions are kept, so call it only if the owner of the mailbox is signed in or has entered the
   * password.
   *
   * @throws AuthError `user_not_found` if the user does not exist or has no email
   */
  markEmailVerified(userId: string): Promise<User>;
  /**
   * Runs pending migrations, or undoes applied ones. Safe to call in several processes at once. Resolves to the names
   * of the migrations that ran.
   */
  migrate(options?: MigrateOptions): Promise<string[]>;
  /** Deletes expired rows in batches. Resolves to their number. Call it regularly, from a timer or a job. */
  prune(): Promise<number>;
  /**
   * Re-encrypts data with the first secret, in batches. Resolves to the number of rows. Afterwards the older secrets
   * can be removed from the config.
   */
  rotateSecrets(): Promise<number>;
  /**
   * Waits for background work, then closes the connections that latchkey opened. The app's own Sequelize instance stays
   * open. Calling it again returns the same promise.
   */
  close(): Promise<void>;
  /**
   * Adds a listener for an event. Returns a function that removes it.
   *
   * @throws TypeError if the event is unknown or the listener is not a function
   */
  on<N extends AuthEventName>(name: N, listener: AuthEventListener<N>): () => void;
  /** Generates the OpenAPI 3.1 document of the enabled routes. */
  openapi(): OpenApiDocument;
  /**
   * The Sequelize models of all tables with their associations, for the app's own queries. Their default scope excludes
   * hashes, encrypted tokens and other internals. Writes through them are not validated by latchkey.
   */
  readonly models: CoreModels;
  /** @internal */
  readonly [internalsKey]: Internals;
}

/** An Auth with the APIs and models of its plugins. */
export type AuthWith<P extends readonly Plugin[]> = Auth &
  PluginApis<P> & { readonly models: PluginModels<P> };

/** Keyed by config object, so that a router and guards that get the same one share one Auth and one pool. */
const auths = sharedAcrossCopies('latchkey.auths', () => new WeakMap<object, Auth>());

/**
 * Creates an Auth, or returns the existing one for the same config object. It does not connect yet, so an app can start
 * while its database is down.
 *
 * @example
 * const auth = createAuth({
 *   database: 'sqlite:./app.db',
 *   secret: process.env.AUTH_SECRET,
 *   plugins: [credentialPassword()],
 * });
 * await auth.migrate();
 *
 * @throws TypeError naming every mistake in the config and how to fix it
 */
export function createAuth<const P extends readonly Plugin[] = readonly []>(
  config: AuthConfig<P>,
): AuthWith<P> {
  const known = auths.get(config) ?? makeAuth(config);
  auths.set(config, known);
  return known as AuthWith<P>;
}

function makeAuth(config: AuthConfig<readonly Plugin[]>): Auth {
  const { settings, secrets } = readConfig(config);
  const { logger } = settings;
  const context = new CallContext();
  const database = openDatabase(settings, context);
  const limits = limitStore(settings, database);
  let parts: readonly NamedParts[] = [];
  const core = new Core(
    settings,
    context,
    database,
    new Events(context, logger),
    new Limiter(limits, settings.rateLimit?.rules ?? NO_LIMITS, context),
    settings.email && new Mailer(settings.email, context, logger),
    new SecretBox(secrets),
    (sessions) => [
      ...(settings.bearerEnabled ? [bearerCarrier(sessions)] : []),
      cookieCarrier(sessions, settings.cookie.name),
    ],
    (core) => {
      parts = setUp(config.plugins ?? [], core);
      return parts;
    },
  );
  const routes: Route[] = [
    me(core),
    listSessions(core),
    endSession(core),
    signout(core),
    revokeSessions(core),
    ...parts.flatMap((part) => part.routes?.() ?? []),
  ];
  routes.push(openapi(core, routes));
  const pluginMigrations = parts.flatMap(({ migrations = [] }) => migrations);
  const migrations = [...MIGRATIONS, ...pluginMigrations.sort((a, b) => (a.name < b.name ? -1 : 1))];

  const auth: Auth = {
    getSession: (req) => getSession(core, req),
    listSessions: (userId) => core.sessions.list(userId),
    revokeSession: (token) => core.sessions.revokeByToken(token),
    revokeAllSessions: (userId) => core.sessions.revokeAll(userId),
    markEmailVerified: (userId) => core.proveEmail(userId, ['password', 'sessions']),
    migrate: (options) => migrate(database, migrations, options),
    prune: () =>
      sumOf([() => core.prune(), limits?.prune.bind(limits), ...parts.map((part) => part.prune?.bind(part))]),
    rotateSecrets: () => sumOf(parts.map((part) => part.rotateSecrets?.bind(part))),
    close: once(async () => {
      // From now on, the same config creates a new Auth.
      auths.delete(config);
      await core.settle();
      await Promise.all(parts.map((part) => part.settle?.()));
      await limits?.close();
      if (typeof settings.database === 'string') await database.sequelize.close();
    }),
    on: (name, listener) => core.events.on(name, listener),
    openapi: () => describeApi(core, routes, settings.httpBasePath ?? DEFAULT_BASE_PATH),
    models: defineModels(
      database,
      Object.assign({}, TABLES, ...parts.map(({ tables }) => tables)) as typeof TABLES,
    ),
    [internalsKey]: { core, routes },
  };
  const apis = parts.filter(({ api }) => api !== null).map(({ name, api }) => [name, api]);
  return Object.freeze({ ...Object.fromEntries(apis), ...auth });
}

/**
 * The internals of an Auth, or of the Auth for a config. Keyed by a symbol, since it may come from another copy of this
 * module.
 *
 * @internal
 */
export function internalsOf(authOrConfig: Auth | AuthConfig<readonly Plugin[]>): Internals {
  if (typeof authOrConfig !== 'object' || authOrConfig === null) {
    throw new TypeError('latchkey: pass the result of createAuth, or its config');
  }
  const auth = internalsKey in authOrConfig ? authOrConfig : createAuth(authOrConfig);
  return auth[internalsKey];
}

function openDatabase({ database, tablePrefix }: Settings, context: CallContext): Database {
  const sequelize = typeof database === 'string' ? connectByUrl(database) : database;
  if (!sequelize) {
    throw new TypeError(
      'latchkey: database must be a valid URL that starts with sqlite:, mysql://, mariadb:// or postgres://',
    );
  }
  const dialect = dialectOf(sequelize);
  if (!dialect) {
    throw new TypeError(
      `latchkey: database is a Sequelize instance for ${sequelize.getDialect()}; it must be for mysql, mariadb, postgres or sqlite`,
    );
  }
  return new Database(sequelize, dialect, tablePrefix, context);
}

/** Null if rate limits are disabled. */
function limitStore({ rateLimit, tablePrefix }: Settings, database: Database): LimitStore | null {
  if (rateLimit === null) return null;
  if (rateLimit.store === null) return new SqlLimitStore(database, new Table(database, rateLimits));
  return new RedisLimitStore(rateLimit.store, `latchkey:${tablePrefix}`);
}

type NamedParts = PluginParts<unknown> & { readonly name: string };

function setUp(plugins: readonly Plugin[], core: Core): NamedParts[] {
  const names = plugins.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) throw new TypeError(`latchkey: plugins contains ${twice} twice; remove one`);
  // Sorted by name, so that the order in the config does not matter.
  const sorted = [...plugins].sort((a, b) => (a.name < b.name ? -1 : 1));
  return sorted.map((plugin) => ({ name: plugin.name, ...plugin.setup(core, sorted) }));
}

async function getSession(core: Core, req: RequestLike): Promise<Authentication> {
  const authentication = await core.authenticate(toPlainRequest(req));
  if (!authentication) throw new AuthError('unauthenticated');
  return authentication;
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work();
    return running;
  };
}

/** Runs the given functions in sequence and adds up their results. */
async function sumOf(counts: ((() => Promise<number>) | undefined)[]): Promise<number> {
  let sum = 0;
  for (const count of counts) sum += (await count?.()) ?? 0;
  return sum;
}

function sharedAcrossCopies<T>(name: string, make: () => T): T {
  const shared = globalThis as unknown as Record<symbol, T>;
  const key = Symbol.for(name);
  shared[key] ??= make();
  return shared[key];
}
