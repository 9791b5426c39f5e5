import type { Contribution } from './core/contribution.js';
import type { Core } from './core/core.js';
import type { Route } from './http/route.js';
import type { Migration } from './migrations/migration.js';
import type { ModelOf } from './models/model.js';
import type { TableDeclaration } from './models/table.js';

type Tables = Readonly<Record<string, TableDeclaration>>;

/**
 * Everything that a plugin adds to latchkey, except its problems, events and kinds of email, which are declared in
 * modules of their own with `declareProblems`, `declareEvents` and by extending interfaces.
 *
 * @internal
 */
export interface PluginParts<Api, T extends Tables = Tables> extends Contribution {
  /** The programmatic API, available as `auth.<name>`. */
  readonly api: Api;
  /** The tables, by the names of their models. */
  readonly tables?: T;
  readonly migrations?: readonly Migration[];
  /** The routes. Called after all plugins are set up. */
  routes?(): readonly Route[];
  /** Deletes expired rows. @returns the number of rows */
  prune?(): Promise<number>;
  /** Waits for background work, before the connections are closed. */
  settle?(): Promise<void>;
  /** Re-encrypts data with the first secret. @returns the number of rows */
  rotateSecrets?(): Promise<number>;
}

/** A feature that an app can enable, such as `admin({ … })`. All plugins are part of this package. */
export interface Plugin<Name extends string = string, Api = unknown, T extends Tables = Tables> {
  /** The name under which its API is available: `auth.<name>`. */
  readonly name: Name;
  /**
   * Called once for each Auth. It must not use other plugins' contributions, which are incomplete until all are set up.
   *
   * @internal
   * @throws TypeError if the options conflict with the config or each other
   */
  setup(core: Core, plugins: readonly Plugin[]): PluginParts<Api, T>;
  /** For the type system only: makes passing `admin` instead of `admin({ … })` a type error. */
  readonly call?: never;
  /** For the type system only: what the plugin adds to an Auth. */
  readonly adds?: { readonly api: Api; readonly tables: T };
}

type ApiOf<P> = P extends { setup(...args: never[]): { readonly api: infer Api } }
  ? Api
  : P extends { readonly adds?: { readonly api: infer Api } }
    ? Api
    : never;
type TablesOf<P> = P extends { readonly adds?: { readonly tables: infer T } } ? T : never;
type AllOf<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The programmatic APIs of a list of plugins, by name. Some plugins have none. */
export type PluginApis<P extends readonly Plugin[]> = {
  readonly [X in P[number] as ApiOf<X> extends null ? never : X['name']]: ApiOf<X>;
};

/** The Sequelize models of a list of plugins, by name. */
export type PluginModels<P extends readonly Plugin[]> = {
  readonly [Name in keyof AllOf<TablesOf<P[number]>>]: ModelOf<AllOf<TablesOf<P[number]>>[Name]>;
};
