import { UndeclaredError } from './errors.js';

/** A plugin, as the owner of what it declares. */
export interface Owner {
  /** The plugin's name: `auth.<name>`. */
  readonly name: string;
  /** The plugin as written in the config, for error messages. */
  readonly call: string;
}

/** The owner of what belongs to no plugin. */
export const CORE = null;

interface Declaration<T> {
  readonly owner: Owner | null;
  readonly value: T;
}

/**
 * What the core and the plugins declare of one sort, such as events. A module declares its own when it is loaded, and a
 * module can be loaded although its plugin is not in the config.
 */
export class Declarations<T = null> {
  readonly #byName = new Map<string, Declaration<T>>();

  /** @param sort what they are, for error messages, such as `event` */
  constructor(private readonly sort: string) {}

  /** @throws TypeError if another owner has declared the name */
  add(owner: Owner | null, name: string, value: T): void {
    const known = this.#byName.get(name);
    // A tool that reloads modules declares the same again.
    if (known && known.owner?.name !== owner?.name)
      throw new TypeError(
        `latchkey: the ${this.sort} '${name}' is declared twice: by ${callOf(known.owner)} and by ${callOf(owner)}`,
      );
    this.#byName.set(name, { owner, value });
  }

  has(name: unknown): boolean {
    return this.#byName.has(name as string);
  }

  /**
   * Checks a name that is about to be used.
   *
   * @throws UndeclaredError because otherwise nothing might happen, and nobody would learn of it
   */
  require(name: string): void {
    if (!this.has(name))
      throw new UndeclaredError(`latchkey: nobody has declared the ${this.sort} '${name}': its owner has to`);
  }

  /** All names, including those of plugins that are not in the config. */
  get names(): string[] {
    return [...this.#byName.keys()];
  }

  /** All values by name. */
  get entries(): [name: string, value: T][] {
    return [...this.#byName].map(([name, { value }]) => [name, value]);
  }

  /** The names that the core and these plugins have declared. */
  namesOf(plugins: ReadonlySet<string>): string[] {
    return [...this.#byName].flatMap(([name, { owner }]) => (owner && !plugins.has(owner.name) ? [] : name));
  }

  /**
   * Checks names in the config.
   *
   * @param where the option that contains them
   * @param plugins the names of the plugins in the config
   * @returns what to say of those whose plugin is missing. Unknown names are not checked here
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
