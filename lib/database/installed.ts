import { join } from 'node:path';

/**
 * Whether the app's main file or a file in the current folder can load a package. If so, but latchkey cannot, then
 * latchkey is usually part of a bundle that does not contain the package.
 */
export function isInstalled(name: string): boolean {
  // A bundler would replace an imported `createRequire`, because it follows calls of it in the same way as `require`.
  const { createRequire } = process.getBuiltinModule('node:module');
  return [process.argv[1] ?? '', join(process.cwd(), 'index.js')].some((file) => {
    try {
      return createRequire(file).resolve(name) !== '';
    } catch {
      return false;
    }
  });
}
