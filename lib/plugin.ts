import type { RequestHandler } from 'express';
import type { AccountFeatures } from './core/account-features.js';
import type { Contribution } from './core/contribution.js';
import type { Core } from './core/core.js';
import type { Chore } from './database/chores.js';
import { type AuthErrorCode, requireProblems } from './errors.js';
import type { Route } from './http/route.js';
import type { Migration } from './migrations/migration.js';
import { callOf, requireOneOwner } from './owners.js';
import type { asksForCodes, withCodes, withSecondFactors } from './sessions/signed-in.js';
import type { DeclaredColumns } from './tables/column.js';
import type { AddedColumns, AddedToSessions } from './tables/core.js';
import type { ModelsOf } from './tables/model.js';
import type { TableDeclaration } from './tables/table.js';

type Tables = Readonly<Record<string, TableDeclaration>>;

/** A feature that an app can enable, such as `admin({ … })`. Plugins are part of this package. */
export interface Plugin<Name extends string = string, Api = unknown, Models extends object = object> {
  /** The name of its programmatic API: `auth.<name>`. */
  readonly name: Name;
  /**
   * Called by `createAuth`. Its arguments, and the rest of its result, can change in any version. The property `models`
   * exists only in the type system: the Sequelize models that the plugin adds to `auth.models`.
   */
  setup(...context: never[]): { readonly api: Api; readonly models?: Models };
}

/**
 * Everything that a plugin adds to latchkey, except its problems, events, notices and limits. Its `declarations.ts`
 * declares these with `declareProblems`, `declareEvents`, `declareNotices` and `declareLimits`.
 *
 * @internal
 */
export interface PluginSetup<Api = unknown, T extends Tables = Tables> extends Contribution {
  /** The programmatic API, available as `auth.<name>`. */
  readonly api: Api;
  readonly tables?: T;
  /** Changes of the tables and columns, for databases that were created from earlier declarations. */
  readonly migrations?: readonly Migration[];
  /** Creates the routes when a router or the OpenAPI document needs them. Options must be checked before that. */
  routes?(): readonly Route[];
  /** The targets of `/.well-known/<name>`, by name, if the router is mounted at the root of the origin. */
  readonly wellKnown?: Readonly<Record<string, () => string>>;
  /** Creates a handler for paths that are not routes, such as pages. A router calls the handler before the routes. */
  handler?(): RequestHandler;
  /** Whether the app has chosen paths of routes, which `createAuth` then compares with all others: see `Route`. */
  readonly hasChosenPaths?: boolean;
  /** The chores that delete expired rows in `auth.prune()`. */
  readonly expired?: readonly Chore[];
  /** The chores that encrypt values with the first secret in `auth.rotateSecrets()`. */
  readonly sealed?: readonly Chore[];
}

/**
 * A plugin, with the types that only this package knows.
 *
 * @internal
 */
export interface PluginDefinition<Name extends string = string, Api = unknown, T extends Tables = Tables> {
  readonly name: Name;
  /** Additional columns of users. */
  readonly userColumns?: DeclaredColumns;
  /** Additional columns of sessions. Lookups read those that the app's code can see. */
  readonly sessionColumns?: DeclaredColumns;
  /** The indexes of {@link sessionColumns}, by name. */
  readonly sessionIndexes?: NonNullable<TableDeclaration['indexes']>;
  /** What accounts can have because of this plugin. The core needs it before it sets up the plugins. */
  readonly accounts?: AccountFeatures;
  /** The color of the plugin's pages, as `#rrggbb`, which is the default for emails. @default the plugin has no pages */
  readonly accent?: string;
  /** Returns the plugin with settings that make tests fast, for `latchkey/testing`. @default the plugin itself */
  forTests?(): Plugin;
  /**
   * Called once for each Auth. It must not use other plugins' contributions, because they are incomplete until all
   * plugins are set up.
   *
   * @param plugins all plugins in the config, in its order
   * @param routes returns all enabled routes. It must not be called before all plugins are set up
   * @throws TypeError on options that contradict the config or each other
   */
  setup(core: Core, plugins: readonly Plugin[], routes: () => readonly Route[]): PluginSetup<Api, T>;
}

/**
 * Defines a plugin.
 *
 * @internal
 */
export function definePlugin<Name extends string, Api, T extends Tables = Record<never, never>>(
  definition: PluginDefinition<Name, Api, T>,
): Plugin<Name, Api, ModelsOf<T>> {
  return Object.assign(definition, { [CONTRACT]: VERSION });
}

/**
 * The version of what a plugin adds. Increase it with each change of {@link PluginDefinition} or {@link PluginSetup},
 * because what the core of another version does not read would silently have no effect.
 */
const VERSION = 1;

/** The property of a plugin that contains its {@link VERSION}, also if another copy of this package has created it. */
const CONTRACT = Symbol.for('latchkey.plugin');

type ApiOf<P> = P extends { setup(...context: never[]): { readonly api: infer Api } } ? Api : never;
type ModelsIn<P> = P extends { setup(...context: never[]): { readonly models?: infer Models } }
  ? NonNullable<Models>
  : never;
type AllOf<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The programmatic APIs of a list of plugins, by name. Some plugins do not have an API. */
export type PluginApis<P extends readonly Plugin[]> = {
  readonly [X in P[number] as ApiOf<X> extends null ? never : X['name']]: ApiOf<X>;
};

/**
 * An API whose sign-ins can be pending, if the list of plugins includes `twoFactor`, or `credentialPassword` with
 * `verifyEmailBy: 'code'` and `requireVerifiedEmail`.
 */
export type WithSecondFactors<Api, P extends readonly Plugin[]> = string extends P[number]['name']
  ? Api
  : true extends VerifiesByCode<P>
    ? WithCodes<Pending<Api>>
    : 'twoFactor' extends P[number]['name']
      ? Pending<Api>
      : Api;

type Pending<Api> = Api extends { readonly [withSecondFactors]?: infer Demanding }
  ? NonNullable<Demanding>
  : Api;

type WithCodes<Api> = Api extends { readonly [withCodes]?: infer Demanding } ? NonNullable<Demanding> : Api;

/** Whether the list of plugins contains `credentialPassword` with a code that verifies emails at sign-ins. */
export type VerifiesByCode<P extends readonly Plugin[]> = string extends P[number]['name']
  ? false
  : ApiOf<Extract<P[number], { readonly name: 'credential' }>> extends infer Api extends object
    ? Api extends { readonly [asksForCodes]?: infer Asks }
      ? true extends Asks
        ? true
        : false
      : false
    : false;

/** The Sequelize models of a list of plugins, by name. */
export type PluginModels<P extends readonly Plugin[]> = {
  readonly [Name in keyof AllOf<ModelsIn<P[number]>>]: AllOf<ModelsIn<P[number]>>[Name];
};

/**
 * The parts of a plugin that has been set up, with the plugin's name.
 *
 * @internal
 */
export type NamedSetup = PluginSetup &
  Pick<PluginDefinition, 'name' | 'userColumns' | 'sessionColumns' | 'sessionIndexes'>;

/**
 * Returns plugins in the order of their names, so that the order in the config does not matter.
 *
 * @internal
 * @throws TypeError if a plugin is listed twice, or comes from another version of latchkey
 */
export function inOrder(plugins: readonly Plugin[] = []): readonly Plugin[] {
  const other = plugins.find(
    (plugin) => ((plugin as { [CONTRACT]?: number })[CONTRACT] ?? VERSION) !== VERSION,
  );
  if (other)
    throw new TypeError(
      `latchkey: the plugin ${other.name} comes from another version of latchkey: install one version only`,
    );
  const sorted = [...plugins].sort(byName);
  const twice = sorted.find(({ name }, index) => name === sorted[index - 1]?.name);
  if (twice) throw new TypeError(`latchkey: plugins contains ${twice.name} twice; remove one`);
  return sorted;
}

/**
 * Sets up plugins, in the order of their names.
 *
 * @internal
 * @param listed the plugins in the order of the config, in which users see what several plugins add
 * @param routes returns all enabled routes, once the plugins are set up
 * @throws TypeError if a plugin has a problem that has not been declared, and errors that plugins throw on their options
 */
export function setUpPlugins(
  listed: readonly Plugin[],
  core: Core,
  routes: () => readonly Route[],
): NamedSetup[] {
  const definitions = inOrder(listed) as readonly PluginDefinition[];
  return definitions.map((plugin) => {
    const { name, userColumns, sessionColumns, sessionIndexes } = plugin;
    const declared = { name, userColumns, sessionColumns, sessionIndexes };
    const parts = { ...declared, ...plugin.setup(core, listed, routes) };
    requireProblems(`the plugin ${name}`, problemsOf(parts));
    return parts;
  });
}

/**
 * Returns the problems that a plugin adds to other routes. Problems of its own routes are checked when these are
 * created.
 */
function problemsOf(parts: PluginSetup): AuthErrorCode[] {
  const { accountProblems = [], carriers = [], reauthentications = [], stepMethods = [] } = parts;
  const others = [...carriers, ...reauthentications, ...stepMethods];
  return [...accountProblems, ...others.flatMap(({ problems = [] }) => problems)];
}

/**
 * Returns the columns that plugins add to users. The core needs them before it sets up the plugins.
 *
 * @internal
 */
export function addedColumns(plugins: readonly Plugin[]): readonly AddedColumns[] {
  const definitions = plugins as readonly PluginDefinition[];
  return definitions.map(({ name, userColumns = {} }) => ({ by: callOf({ name }), columns: userColumns }));
}

/**
 * Returns the columns that plugins add to sessions. The core needs them before it sets up the plugins.
 *
 * @internal
 */
export function addedToSessions(plugins: readonly Plugin[]): readonly AddedToSessions[] {
  const definitions = plugins as readonly PluginDefinition[];
  return definitions.flatMap(({ name, sessionColumns: columns, sessionIndexes: indexes = {} }) =>
    columns ? [{ by: callOf({ name }), columns, indexes }] : [],
  );
}

/**
 * Returns what accounts can have because of plugins.
 *
 * @internal
 * @throws TypeError if two plugins provide the same
 */
export function accountFeatures(plugins: readonly Plugin[]): AccountFeatures {
  const definitions = plugins as readonly PluginDefinition[];
  requireOneOwner(
    definitions.map(({ name, accounts = {} }) => ({
      by: callOf({ name }),
      names: Object.keys(accounts).map((feature) => `the ${feature} of accounts`),
    })),
  );
  return Object.assign({}, ...definitions.map(({ accounts }) => accounts));
}

/** @internal */
export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
