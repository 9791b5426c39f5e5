import { UndeclaredError } from './errors.js';

/** A plugin, as the owner of its declarations. */
export interface Owner {
  /** The plugin's name: `auth.<name>`. */
  readonly name: string;
  /** The plugin as written in the config, for error messages. */
  readonly call: string;
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

  /** @throws TypeError if another owner has declared the name */
  add(owner: Owner | null, name: string, value: T): void {
    const known = this.#byName.get(name);
    // Accept the same owner again, because a tool that reloads modules repeats their declarations.
    if (known && known.owner?.name !== owner?.name)
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
  get entries(): [name: string, value: T][] {
    return [...this.#byName].map(([name, { value }]) => [name, value]);
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
      return `${where} contains the ${this.sort} '${name}' of ${owner.call}: add ${owner.call} to plugins, or leave '${name}' out`;
    });
  }
}

function callOf(owner: Owner | null): string {
  return owner?.call ?? 'the core';
}
