import type { Contribution } from './core/contribution.js';
import type { Core } from './core/core.js';
import type { Route } from './http/route.js';
import type { Migration } from './migrations/migration.js';
import type { ModelOf } from './models/model.js';
import type { TableDeclaration } from './models/table.js';

type Tables = Readonly<Record<string, TableDeclaration>>;

/** A feature that an app can switch on, such as `admin({ … })`. Plugins are part of this package. */
export interface Plugin<Name extends string = string, Api = unknown, T extends Tables = Tables> {
  /** What its operations are called: `auth.<name>`. */
  readonly name: Name;
  /** Called by `createAuth`. What it gets, and what else it returns, may change at any time. */
  setup(...context: never[]): { readonly api: Api; readonly tables?: T };
}

/**
 * What a plugin declares: everything by which it changes latchkey. Its problems, events and kinds of mail are declared
 * where they are written, by `declareProblems`, `declareEvents` and the interfaces that they extend.
 *
 * @internal
 */
export interface PluginParts<Api = unknown, T extends Tables = Tables> extends Contribution {
  /** Its programmatic operations: they become `auth.<name>`. */
  readonly api: Api;
  /** Its tables, by the names of their models. */
  readonly tables?: T;
  readonly migrations?: readonly Migration[];
  /** Its routes, built after every plugin has been set up. */
  routes?(): readonly Route[];
  /** Deletes expired rows. @returns how many */
  prune?(): Promise<number>;
  /** Waits, before the connections are closed, for what no call waited for. */
  settle?(): Promise<void>;
  /** Encrypts with the first secret what an older one encrypted. @returns how many rows */
  rotateSecrets?(): Promise<number>;
}

/** @internal */
export interface PluginDefinition<Name extends string = string, Api = unknown, T extends Tables = Tables> {
  readonly name: Name;
  /**
   * Called once for each Auth. It must not use what other plugins contribute: that is complete only afterwards.
   *
   * @throws TypeError on options that contradict the config or each other
   */
  setup(core: Core, plugins: readonly Plugin[]): PluginParts<Api, T>;
}

/**
 * Makes a plugin.
 *
 * @internal
 */
export function definePlugin<Name extends string, Api, T extends Tables = Record<never, never>>(
  definition: PluginDefinition<Name, Api, T>,
): Plugin<Name, Api, T> {
  return definition;
}

type ApiOf<P> = P extends { setup(...context: never[]): { readonly api: infer Api } } ? Api : never;
type TablesOf<P> = P extends { setup(...context: never[]): { readonly tables?: infer T } }
  ? NonNullable<T>
  : never;
type AllOf<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The programmatic operations of a list of plugins, each under its plugin's name; some plugins have none. */
export type PluginApis<P extends readonly Plugin[]> = {
  readonly [X in P[number] as ApiOf<X> extends null ? never : X['name']]: ApiOf<X>;
};

/** The Sequelize models of the tables of a list of plugins. */
export type PluginModels<P extends readonly Plugin[]> = {
  readonly [Name in keyof AllOf<TablesOf<P[number]>>]: ModelOf<AllOf<TablesOf<P[number]>>[Name]>;
};
