import { bearerCarrier } from './carriers/bearer.js';
import { type Authentication, type RequestLike, toPlainRequest } from './carriers/carrier.js';
import { cookieCarrier } from './carriers/cookie.js';
import type { AuthConfig } from './config.js';
import { Core } from './core.js';
import { connectByUrl, dialectOf } from './database/connect.js';
import { Database } from './database/database.js';
import { AuthError } from './errors.js';
import { type AuthEventListener, type AuthEventName, Events } from './events.js';
import type { Route } from './http/route.js';
import { Limiter, type LimitRules } from './limits/limiter.js';
import { RedisLimitStore } from './limits/redis-store.js';
import { SqlLimitStore } from './limits/sql-store.js';
import type { LimitStore } from './limits/store.js';
import { Mailer } from './mail/mailer.js';
import { usersAndSessions } from './migrations/0001-users-and-sessions.js';
import { rateLimits } from './migrations/0004-rate-limits.js';
import { type MigrateOptions, migrate } from './migrations/migrate.js';
import { defineSession, type Session, type SessionModel } from './models/session.js';
import { defineUser, type User, type UserModel } from './models/user.js';
import { describeApi, type OpenApiDocument } from './openapi.js';
import type { Plugin, PluginApis, PluginParts } from './plugin.js';
import { me } from './routes/me.js';
import { openapi } from './routes/openapi.js';
import { revokeSessions } from './routes/revoke-sessions.js';
import { endSession, listSessions } from './routes/sessions.js';
import { signout } from './routes/signout.js';
import { Sessions } from './sessions.js';
import { DEFAULT_BASE_PATH, readConfig, type Settings } from './settings.js';
import { Users } from './users.js';

const NO_LIMITS: LimitRules = { signIn: null, signUp: null, mail: null, account: null };

const internalsKey = Symbol.for('latchkey.internals');

/** What the router and the guards need of an Auth. */
export interface Internals {
  readonly core: Core;
  readonly routes: readonly Route[];
}

/** Sessions and accounts over one database: what `authRouter` and the guards share, and the programmatic way in. */
export interface Auth {
  /**
   * Who makes a request, whatever it is carried by.
   *
   * @throws AuthError `unauthenticated`, `invalid_session` (401); `unavailable` (503)
   */
  getSession(req: RequestLike): Promise<Authentication>;
  /** A user's live sessions, the newest first. */
  listSessions(userId: string): Promise<Session[]>;
  /** Ends the session that a token opens; says whether there was one. */
  revokeSession(token: string): Promise<boolean>;
  /** Ends all sessions of a user, and every sign-in under way; says how many there were. */
  revokeAllSessions(userId: string): Promise<number>;
  /**
   * Records that the user's email is theirs, for an app that verifies by its own means.
   *
   * @throws AuthError `user_not_found` where there is no such user, or none with an email
   */
  markEmailVerified(userId: string): Promise<User>;
  /** Brings the tables up to date. Safe in any number of processes at once. Returns the migrations that ran. */
  migrate(options?: MigrateOptions): Promise<string[]>;
  /** Deletes what has expired, in batches; says how many rows. Call it now and then, by a timer or a job. */
  prune(): Promise<number>;
  /**
   * Encrypts anew, with the first secret, what an older one encrypted, in batches; says how many rows. Once it has run,
   * the older secret can be taken off the list.
   */
  rotateSecrets(): Promise<number>;
  /**
   * Closes the connections that latchkey opened; the app's own Sequelize instance stays open. Called again, it answers
   * the same promise.
   */
  close(): Promise<void>;
  /**
   * Listens to an event. Returns the function that stops listening.
   *
   * @throws TypeError on a name that is none, and on a listener that is no function
   */
  on<N extends AuthEventName>(name: N, listener: AuthEventListener<N>): () => void;
  /** The OpenAPI 3.1 document of the routes that are on. */
  openapi(): OpenApiDocument;
  /** The Sequelize models, for reading and for joins. Rows that latchkey did not write are not checked by it. */
  readonly models: { readonly User: UserModel; readonly Session: SessionModel };
  /** @internal */
  readonly [internalsKey]: Internals;
}

/** By config object, so that a router and a guard that were given the same one share one Auth and one pool. */
const auths = sharedAcrossCopies('latchkey.auths', () => new WeakMap<object, Auth>());

/**
 * Makes an Auth. Nothing is connected yet: an app can start while its database is down.
 *
 * @throws TypeError that names every mistake in the config, and its mend
 */
export function createAuth<const P extends readonly Plugin[] = readonly []>(
  config: AuthConfig<P>,
): Auth & PluginApis<P> {
  const known = auths.get(config);
  if (known) return known as Auth & PluginApis<P>;

  const settings = readConfig(config);
  const database = openDatabase(settings);
  const models = { User: defineUser(database), Session: defineSession(database) };
  const events = new Events(settings.logger);
  const users = new Users(database, models.User);
  const sessions = new Sessions(database, settings, events);
  const limits = limitStore(settings, database);
  const limiter = new Limiter(limits, settings.rateLimit?.rules ?? NO_LIMITS);
  const mailer = settings.email && new Mailer(settings.email, settings.logger);
  const core = new Core(settings, database, users, sessions, events, limiter, mailer);
  if (settings.bearerEnabled) core.carriers.push(bearerCarrier(sessions));
  core.carriers.push(cookieCarrier(sessions, settings.cookie.name));

  const parts = setUp(config.plugins ?? [], core);
  const routes: Route[] = [
    me(core),
    listSessions(core),
    endSession(core),
    signout(core),
    revokeSessions(core),
  ];
  routes.push(...parts.flatMap((part) => part.routes ?? []), openapi(core, routes));
  const ofPlugins = parts.flatMap((part) => part.migrations ?? []);
  const migrations = [usersAndSessions, rateLimits, ...ofPlugins.sort((a, b) => (a.name < b.name ? -1 : 1))];

  const auth: Auth = {
    getSession: async (req) => core.getSession(toPlainRequest(req)),
    listSessions: (userId) => sessions.list(userId),
    revokeSession: (token) => sessions.revokeByToken(token),
    revokeAllSessions: (userId) => sessions.revokeAll(userId),
    markEmailVerified: (userId) => markEmailVerified(core, userId),
    migrate: (options) => migrate(database, migrations, options),
    prune: () =>
      sumOf([
        () => sessions.prune(),
        limits?.prune.bind(limits),
        ...parts.map((part) => part.prune?.bind(part)),
      ]),
    rotateSecrets: () => sumOf(parts.map((part) => part.rotateSecrets?.bind(part))),
    close: once(async () => {
      // The same config makes a new Auth after this.
      auths.delete(config);
      await sessions.settle();
      await mailer?.settle();
      await Promise.all(parts.map((part) => part.settle?.()));
      await limits?.close();
      if (typeof settings.database === 'string') await database.sequelize.close();
    }),
    on: (name, listener) => events.on(name, listener),
    openapi: () => describeApi(core, routes, settings.httpBasePath ?? DEFAULT_BASE_PATH),
    models,
    [internalsKey]: { core, routes },
  };
  const apis = parts.filter(({ api }) => api !== null).map(({ name, api }) => [name, api]);
  const complete = Object.freeze({ ...Object.fromEntries(apis), ...auth });
  auths.set(config, complete);
  return complete as Auth & PluginApis<P>;
}

/** The inside of an Auth, or of the one that a config makes. By symbol: it may come from another copy of this module. */
export function internalsOf(authOrConfig: Auth | AuthConfig<readonly Plugin[]>): Internals {
  if (typeof authOrConfig !== 'object' || authOrConfig === null) {
    throw new TypeError('latchkey: give what createAuth answered, or the config for it');
  }
  const auth = internalsKey in authOrConfig ? authOrConfig : createAuth(authOrConfig);
  return auth[internalsKey];
}

function openDatabase({ database, tablePrefix }: Settings): Database {
  const sequelize = typeof database === 'string' ? connectByUrl(database) : database;
  if (!sequelize) {
    throw new TypeError(
      'latchkey: database must be a well-formed URL that begins with sqlite:, mysql://, mariadb:// or postgres://',
    );
  }
  const dialect = dialectOf(sequelize);
  if (!dialect) {
    throw new TypeError(
      `latchkey: database is a Sequelize instance for ${sequelize.getDialect()}; it must be for mysql, mariadb, postgres or sqlite`,
    );
  }
  return new Database(sequelize, dialect, tablePrefix);
}

/** Null where nothing is limited. */
function limitStore({ rateLimit, tablePrefix }: Settings, database: Database): LimitStore | null {
  if (rateLimit === null) return null;
  if (rateLimit.store === null) return new SqlLimitStore(database);
  return new RedisLimitStore(rateLimit.store, `latchkey:${tablePrefix}`);
}

function setUp(plugins: readonly Plugin[], core: Core): (PluginParts<unknown> & { name: string })[] {
  const names = new Set<string>();
  for (const plugin of plugins) {
    if (names.has(plugin.name))
      throw new TypeError(`latchkey: plugins holds ${plugin.name} twice; remove one`);
    names.add(plugin.name);
  }
  return plugins.map((plugin) => ({ name: plugin.name, ...plugin.setup(core, plugins) }));
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work();
    return running;
  };
}

/** Runs one after the other, those that there are. */
async function sumOf(counts: ((() => Promise<number>) | undefined)[]): Promise<number> {
  let sum = 0;
  for (const count of counts) sum += (await count?.()) ?? 0;
  return sum;
}

async function markEmailVerified(core: Core, userId: string): Promise<User> {
  const before = await core.users.findById(userId);
  if (!before?.email) throw new AuthError('user_not_found');
  if (await core.users.markEmailVerified(userId)) core.events.emit('user.email_verified', { userId });
  return (await core.users.findById(userId)) ?? before;
}

function sharedAcrossCopies<T>(name: string, make: () => T): T {
  const shared = globalThis as unknown as Record<symbol, T>;
  const key = Symbol.for(name);
  shared[key] ??= make();
  return shared[key];
}
