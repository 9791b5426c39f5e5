// Finds the file of an import. In TypeScript, the file of a relative import of `.js` is the one that ends with `.ts`.
// Jest keeps for a whole worker what a resolver has found, but not what `moduleNameMapper` has.
import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';

const packages = `${sep}node_modules${sep}`;

export default function resolve(path, options) {
  const { basedir, defaultResolver } = options;
  if (/^\.{1,2}\/.*\.js$/.test(path) && !basedir.includes(packages)) {
    const source = join(basedir, path.replace(/\.js$/, '.ts'));
    if (existsSync(source)) return source;
  }
  return defaultResolver(path, options);
}
