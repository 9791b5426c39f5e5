import type { RequestHandler } from 'express';
import { UsersApi } from './accounts/api.js';
import { type CompleteSignInInput, type CompletionApi, completionApi } from './accounts/completion.js';
import { closedAccounts } from './accounts/deletion.js';
import { type ExportApi, exportApi } from './accounts/export.js';
import { type UndoApi, undoApi } from './accounts/undo.js';
import { type AuthConfig, readConfig } from './config/config.js';
import type { FieldsOptions } from './config/user.js';
import { once } from './context/once.js';
import { Core } from './core/core.js';
import { searchPathOf } from './database/connect.js';
import { defaultDetails } from './errors.js';
import { requireAuthentication } from './http/admit.js';
import { type FormsApi, formsApi } from './http/form-values.js';
import { describeApi, type OpenApiDocument } from './http/openapi.js';
import { type OwnSignIn, ownSignIn } from './http/own-sign-in.js';
import type { Route } from './http/route.js';
import { endingWithObject } from './known-keys.js';
import type { Migration } from './migrations/migration.js';
import { type OwnTables, ownTables } from './migrations/other-tools.js';
import type { AuthEventListener, AuthEventName } from './outbox/events.js';
import { Webhooks } from './outbox/webhooks.js';
import { phrases } from './phrases.js';
import {
  accountFeatures,
  addedColumns,
  addedToSessions,
  inOrder,
  type NamedSetup,
  type Plugin,
  type PluginApis,
  type PluginModels,
  setUpPlugins,
  type VerifiesByCode,
  type WithSecondFactors,
} from './plugin.js';
import { processWide } from './process-wide.js';
import { allRoutes } from './routes/routes.js';
import { type Acting, checkActing } from './sessions/acting.js';
import {
  type Authentication,
  type RequestLike,
  type TransactionOption,
  toPlainRequest,
} from './sessions/request.js';
import type { IssuedSession } from './sessions/signed-in.js';
import type { Shaped, ShapeOf } from './shape.js';
import { type CoreModels, languageColumns, type Session, type User, withCoreTables } from './tables/core.js';
import { modelsOf } from './tables/model.js';
import type { TableDeclaration } from './tables/table.js';
import { allMigrations, type Chores, choresOf, type Upkeep, upkeep } from './upkeep.js';
import type { WithFields } from './users/field-types.js';
import { refusal } from './words/catalogue.js';
import { ownEmailWords } from './words/emails/index.js';

const internalsKey = Symbol.for('latchkey.internals');

/**
 * The parts of an Auth that the router, the guards and the command line use.
 *
 * @internal
 */
export interface Internals {
  readonly core: Core;
  /** Returns the routes, which are created on the first call, because a process without a router does not need them. */
  routes(): readonly Route[];
  /** Returns the handlers of paths that are not routes. */
  handlers(): readonly RequestHandler[];
  /** Where `/.well-known/<name>` leads, by name. */
  readonly wellKnown: ReadonlyMap<string, () => string>;
  readonly chores: Chores;
  readonly migrations: readonly Migration[];
  /** The declarations of all tables, by the names of their models. */
  readonly tables: Readonly<Record<string, TableDeclaration>>;
  /** The tables as other tools see them. */
  readonly ownTables: OwnTables;
}

/** Options of `auth.getSession`. */
export interface GetSessionOptions extends TransactionOption {
  /**
   * The requests that are admitted while an administrator acts as the user: see `admin({ actAs })`. `read` admits requests
   * whose `method` is GET or HEAD, except upgrades. A request without a method counts as a write.
   * @default 'read'
   */
  acting?: Acting;
}

/** Options of `auth.revokeAllSessions`. */
export interface RevokeAllOptions extends TransactionOption {
  /**
   * The id of a session that continues. It has no effect if it is not the id of an active session of this user.
   * @default none
   */
  except?: string | undefined;
}

/**
 * Sessions and accounts in one database: the object that `authRouter` and the guards share, and the programmatic API.
 */
export interface Auth extends OwnSignIn, FormsApi, CompletionApi, UndoApi, ExportApi, Upkeep {
  /**
   * Authenticates a request by any enabled kind of credential. Like a guard, it rejects a request from another site if
   * the request has an unsafe `method` and is authenticated by the cookie. Unlike a guard, it does not check the scopes
   * of an API key: check `apiKey.scopes` before you act on a key that has some.
   *
   * @throws AuthError `unauthenticated`, `invalid_session` (401); `origin_not_allowed`, `acting_session`, `task_required`
   *   (403); `unavailable` (503)
   * @throws TypeError for unknown options
   */
  getSession(req: RequestLike, options?: GetSessionOptions): Promise<Authentication>;
  /** Accounts, for the app's own code. */
  readonly users: UsersApi;
  /** Lists a user's active sessions, newest first. */
  listSessions(userId: string, options?: TransactionOption): Promise<Session[]>;
  /** Revokes the session with this token. Resolves to whether it was active. */
  revokeSession(token: string, options?: TransactionOption): Promise<boolean>;
  /**
   * Revokes all sessions of a user, and every sign-in in progress. Resolves to the number of active sessions that it
   * revoked.
   *
   * @throws TypeError for unknown options
   */
  revokeAllSessions(userId: string, options?: RevokeAllOptions): Promise<number>;
  /**
   * Marks a user's email as verified, for apps that verify emails themselves (`emailProof` is then `app`). Nothing is
   * removed from the account, so call it only if the owner of the mailbox is signed in or has entered the password. The
   * call does not prove access to the mailbox: the owner's first password reset by email removes everything that was
   * attached to the account before, except a second factor.
   *
   * @throws AuthError `user_not_found` if the user does not exist or has no email
   */
  markEmailVerified(userId: string, options?: TransactionOption): Promise<User>;
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

/** An Auth with arbitrary plugins and fields. */
export interface AnyAuth extends Pick<Auth, 'getSession' | 'migrate' | 'close' | 'openapi'> {
  /** @internal */
  readonly [internalsKey]: Internals;
}

/** An Auth with the APIs and models of its plugins. */
export type AuthWith<
  P extends readonly Plugin[],
  F extends FieldsOptions = Record<never, never>,
  B extends boolean = boolean,
> = WithFields<CompletesAtOnce<P>, F> &
  WithFields<Auth, F> & {
    readonly [Name in keyof PluginApis<P>]: WithFields<WithSecondFactors<PluginApis<P>[Name], P>, F>;
  } & { readonly models: PluginModels<P> } & Shaped<ShapeOf<P, F, B>>;

/** `auth.completeSignIn`, whose result is always a session if no code verifies emails. */
type CompletesAtOnce<P extends readonly Plugin[]> =
  true extends VerifiesByCode<P>
    ? unknown
    : { completeSignIn(input: CompleteSignInInput): Promise<IssuedSession> };

/** The Auths by config object, so that a router and guards that get the same config share one Auth and one pool. */
const auths = processWide('auths/1', () => new WeakMap<object, Auth>());

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
export function createAuth<
  const P extends readonly Plugin[] = readonly [],
  const F extends FieldsOptions = Record<never, never>,
  const B extends boolean = false,
>(config: AuthConfig<P, F, B>): AuthWith<P, F, B> {
  const known = auths.get(config) ?? makeAuth(config);
  auths.set(config, known);
  return known as unknown as AuthWith<P, F, B>;
}

function makeAuth(config: AuthConfig<readonly Plugin[]>): Auth {
  const { core, parts, routes, webhooks } = assemble(config);
  const { database } = core;
  // Create the routes now if the app has chosen paths, so that `createAuth` throws the error of a wrong path.
  if (parts.some(({ hasChosenPaths }) => hasChosenPaths)) routes();
  const chores = choresOf(core, parts);
  const migrations = allMigrations(parts);
  const tables = withCoreTables({ User: core.users.declaration, Session: core.sessions.declaration }, parts);
  const models = modelsOf(database, tables);
  const { dialect, sequelize } = database;
  const asSeenByOthers = ownTables(Object.values(tables), {
    prefix: core.settings.tablePrefix,
    dialect,
    schema: searchPathOf(sequelize),
  });
  const auth: Auth = {
    async getSession(req, options) {
      const { acting = 'read' } = options ?? {};
      const find = async () =>
        core.tasks.admit(await requireAuthentication(core, toPlainRequest(req), undefined, acting));
      // Without a transaction, a request costs no context.
      if (!options) return find();
      checkActing('auth.getSession', acting);
      return core.call('auth.getSession', options, ['acting'], find);
    },
    users: new UsersApi(core),
    listSessions: (userId, options = {}) =>
      core.call('auth.listSessions', options, [], () => core.sessions.list(userId)),
    revokeSession: (token, options = {}) =>
      core.call('auth.revokeSession', options, [], () => core.sessions.revokeByToken(token)),
    ...ownSignIn(core),
    ...formsApi(core),
    ...completionApi(core),
    ...undoApi(core),
    ...exportApi(core),
    revokeAllSessions: (userId, options = {}) =>
      core.call('auth.revokeAllSessions', options, ['except'], () =>
        core.sessions.revokeAll(userId, options.except),
      ),
    markEmailVerified: (userId, options = {}) =>
      core.call('auth.markEmailVerified', options, [], () => core.proveEmail(userId)),
    // After an Auth is closed, the same config creates a new one.
    ...upkeep(core, {
      migrations,
      tables: asSeenByOthers,
      chores,
      webhooks,
      onClose: () => auths.delete(config),
    }),
    on: (name, listener) => core.events.on(name, listener),
    openapi: () => describeApi(core, routes(), core.basePath.known),
    get models() {
      return models();
    },
    [internalsKey]: {
      core,
      routes,
      handlers: () => parts.flatMap(({ handler }) => handler?.() ?? []),
      wellKnown: new Map(parts.flatMap(({ wellKnown = {} }) => Object.entries(wellKnown))),
      chores,
      migrations,
      tables,
      ownTables: asSeenByOthers,
    },
  };
  const apis = parts.filter(({ api }) => api !== null).map(({ name, api }) => [name, api]);
  endingWithObject('auth', auth, OF_REQUESTS);
  return Object.freeze(Object.assign(auth, Object.fromEntries(apis)));
}

/** The functions whose first argument is a request, which can be an object with headers. */
const OF_REQUESTS = ['getSession', 'establishSession', 'endSession', 'formValues'] as const;

function assemble(config: AuthConfig<readonly Plugin[]>) {
  const { webhooks: endpoints, ...options } = readConfig(config);
  const plugins = inOrder(config.plugins);
  let parts: readonly NamedSetup[] = [];
  const routes = once(() => allRoutes(core, parts));
  const core: Core = new Core({
    ...options,
    addedColumns: [
      ...addedColumns(plugins),
      ...(options.settings.locale.tags.length > 1
        ? [{ by: 'locale.languages', columns: languageColumns, fix: 'rename the other one' }]
        : []),
    ],
    addedToSessions: addedToSessions(plugins),
    accountFeatures: accountFeatures(plugins),
    setUp(core) {
      parts = setUpPlugins(config.plugins ?? [], core, routes);
      return [closedAccounts(), ...parts];
    },
  });
  // The codes of errors are complete when all plugins are set up.
  core.languages.checkWords('errors', { problems: defaultDetails(), phrases, refusal });
  core.languages.checkWords('emails', ownEmailWords);
  core.languages.checkPages();
  const { outbox, telemetry, log } = core.settings;
  const webhooks = new Webhooks(core, endpoints);
  webhooks.listenTo(core.events);
  if (outbox.interval !== false) core.outbox.startTimer(outbox.interval);
  telemetry?.loaded().catch((error) => {
    log.error('telemetry.not_loaded', 'no telemetry is recorded', { err: error });
  });
  return { core, parts, routes, webhooks };
}

/**
 * Returns the internals of an Auth, or of the Auth for a config. Their key is a registered symbol, because the Auth
 * might come from another copy of this module.
 *
 * @internal
 */
export function internalsOf(authOrConfig: AnyAuth | AuthConfig<readonly Plugin[]>): Internals {
  if (typeof authOrConfig !== 'object' || authOrConfig === null) {
    throw new TypeError('latchkey: pass the result of createAuth, or its config');
  }
  const auth = internalsKey in authOrConfig ? authOrConfig : createAuth(authOrConfig);
  return auth[internalsKey];
}
