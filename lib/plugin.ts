import type { Core } from './core.js';
import type { Route } from './http/route.js';
import type { Migration } from './migrations/migration.js';

/** What a plugin adds. */
export interface PluginParts<Api> {
  /** Its programmatic operations: they become `auth.<name>`. */
  readonly api: Api;
  readonly routes?: readonly Route[];
  /** The steps of its tables, after the core's. */
  readonly migrations?: readonly Migration[];
  /** Deletes what has expired, and answers how many rows. */
  prune?(): Promise<number>;
  /** Waits for what was begun and not waited for, before the connections are closed. */
  settle?(): Promise<void>;
  /** Seals with the first secret what an older one sealed, and answers how many rows. */
  rotateSecrets?(): Promise<number>;
}

/** A feature that an app can switch on. */
export interface Plugin<Name extends string = string, Api = unknown> {
  readonly name: Name;
  /** Called once for each Auth. @throws TypeError on options that make no sense */
  setup(core: Core, siblings: readonly Plugin[]): PluginParts<Api>;
}

/** The programmatic operations of a list of plugins, each under its plugin's name; some plugins have none. */
export type PluginApis<P extends readonly Plugin[]> = {
  readonly [X in P[number] as ReturnType<X['setup']>['api'] extends null ? never : X['name']]: ReturnType<
    X['setup']
  >['api'];
};
