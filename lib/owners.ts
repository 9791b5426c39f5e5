import { isDeepStrictEqual } from 'node:util';
import { UndeclaredError } from './errors.js';

/** A plugin, as the owner of its declarations. */
export interface Owner {
  /** The plugin's name: `auth.<name>`. */
  readonly name: string;
}

/** The owner of declarations that do not belong to a plugin. */
export const CORE = null;

interface Declaration<T> {
  readonly owner: Owner | null;
  readonly value: T;
}

/**
 * The declarations of one sort, such as events, by the core and the plugins. A module adds its declarations when it is
 * loaded, and a module can be loaded even if its plugin is not in the config.
 */
export class Declarations<T = null> {
  readonly #byName = new Map<string, Declaration<T>>();

  /** @param sort the sort of declarations, such as `event`, for error messages */
  constructor(private readonly sort: string) {}

  /** @throws TypeError if the name has been declared by another owner, or with another value */
  add(owner: Owner | null, name: string, value: T): void {
    const known = this.#byName.get(name);
    // Accept the same declaration again, because a tool that reloads modules repeats it.
    const isSame = known?.owner?.name === owner?.name && isDeepStrictEqual(known?.value, value);
    if (known && !isSame)
      throw new TypeError(
        `latchkey: the ${this.sort} '${name}' is declared twice: by ${callOf(known.owner)} and by ${callOf(owner)}`,
      );
    this.#byName.set(name, { owner, value });
  }

  has(name: unknown): boolean {
    return this.#byName.has(name as string);
  }

  /** The value of a declaration, if there is one. */
  get(name: string): T | undefined {
    return this.#byName.get(name)?.value;
  }

  /**
   * Checks that a name has been declared, before it is used.
   *
   * @throws UndeclaredError if it has not been declared, because using it might otherwise silently do nothing
   */
  require(name: string): void {
    if (!this.has(name))
      throw new UndeclaredError(
        `latchkey: the ${this.sort} '${name}' has not been declared: its owner must declare it`,
      );
  }

  /** All names, including names of plugins that are not in the config. */
  get names(): string[] {
    return [...this.#byName.keys()];
  }

  /** All values by name. */
  get values(): Readonly<Record<string, T>> {
    return Object.fromEntries([...this.#byName].map(([name, { value }]) => [name, value]));
  }

  /** Returns the names that the core and these plugins have declared. */
  namesOf(plugins: ReadonlySet<string>): string[] {
    return [...this.#byName].flatMap(([name, { owner }]) => (owner && !plugins.has(owner.name) ? [] : name));
  }

  /**
   * Checks names in the config.
   *
   * @param where the option that contains them
   * @param plugins the names of the plugins in the config
   * @returns the error messages for names whose plugin is missing. Unknown names are not checked here
   */
  withoutPlugin(where: string, names: readonly string[], plugins: ReadonlySet<string>): string[] {
    return names.flatMap((name) => {
      const owner = this.#byName.get(name)?.owner;
      if (!owner || plugins.has(owner.name)) return [];
      const call = callOf(owner);
      return `${where} contains the ${this.sort} '${name}' of ${call}: add ${call} to plugins, or leave '${name}' out`;
    });
  }
}

/** Returns a plugin as written in the config, for error messages. */
export function callOf(owner: Owner | null): string {
  return owner ? `${owner.name}()` : 'the core';
}

/** The names that an owner defines. */
export interface Defined {
  /** The owner, for error messages: see {@link callOf}. */
  readonly by: string;
  /** The names with their sort, such as `the table sessions`. */
  readonly names: readonly string[];
  /** How to correct a name that another owner has too. @default the plugin is removed */
  readonly fix?: string;
}

/**
 * Requires that no name is defined twice. Some databases ignore the case of names, so case makes no difference.
 *
 * @throws TypeError with one such name for each pair of owners, and how to correct it
 */
export function requireOneOwner(definitions: readonly Defined[]): void {
  const owners = new Map<string, Defined>();
  const mistakes = new Map<string, string>();
  for (const definition of definitions) {
    for (const name of definition.names) {
      const other = owners.get(name.toLowerCase());
      owners.set(name.toLowerCase(), definition);
      if (!other) continue;
      const pair = `${other.by} and ${definition.by}`;
      if (!mistakes.has(pair)) mistakes.set(pair, `${pair} both define ${name}: ${fixOf(other, definition)}`);
    }
  }
  if (mistakes.size > 0) throw new TypeError(`latchkey: ${[...mistakes.values()].join('; ')}`);
}

function fixOf(one: Defined, other: Defined): string {
  const removed = one.by === callOf(CORE) ? other.by : 'one of them';
  return one.fix ?? other.fix ?? `remove ${removed} from plugins`;
}
