/**
 * Returns state that all copies of this package in a process share. `import` and `require` load one copy each, and so
 * does every installed version.
 *
 * @param name the name of the state and the version of its shape, as in `auths/1`. Copies of other versions of the
 *   package read and change the same object, so a change of its shape, or of the meaning of its parts, requires a new
 *   version
 */
export function processWide<T>(name: string, create: () => T): T {
  // In TypeScript, globalThis does not have an index signature.
  const shared = globalThis as unknown as Record<symbol, T>;
  const key = Symbol.for(`latchkey.${name}`);
  shared[key] ??= create();
  return shared[key];
}
