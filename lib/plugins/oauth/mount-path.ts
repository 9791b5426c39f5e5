// A router below a parameter, `/:tenant/auth`, has as many paths as there are tenants.
const MAX_PATHS = 1000;
const MAX_VOTES = 100;

/**
 * How a mount path is spelt. Express compares paths without regard to case and tells only how a request has written
 * its own, but a provider compares redirect URIs letter by letter. So the spelling that most requests have counts: one
 * that came in other letters changes nothing for the others, even as the first.
 */
export class MountPaths {
  readonly #spellings = new Map<string, { path: string; votes: number }>();

  /** @param path as a request has it */
  spell(path: string): string {
    const key = path.toLowerCase();
    const known = this.#spellings.get(key);
    if (known?.path === path) known.votes = Math.min(known.votes + 1, MAX_VOTES);
    else if (known && known.votes > 0) known.votes--;
    else if (known || this.#spellings.size < MAX_PATHS) this.#spellings.set(key, { path, votes: 1 });
    return this.#spellings.get(key)?.path ?? path;
  }
}
