// Node's `import()` costs several promises each time.
let loaded: typeof import('bcrypt') | undefined;

/** bcrypt, whose native part is loaded on first use instead of at startup. */
export async function bcrypt(): Promise<typeof import('bcrypt')> {
  loaded ??= (await import('bcrypt')).default;
  return loaded;
}
