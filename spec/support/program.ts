import { rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { buildSync } from 'esbuild';

const root = resolve(import.meta.dirname, '../..');
// The folder is in the project, because the program loads the project's packages.
const folder = join(root, 'node_modules/.cache/latchkey-programs', String(process.pid));
const built = new Map<string, string>();

/**
 * Bundles the program of a process into one file. It starts twice as fast as a program that is compiled file by file.
 */
export function program(entry: string): string {
  const known = built.get(entry);
  if (known !== undefined) return known;
  if (built.size === 0) process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, basename(entry).replace(/\.ts$/, '.mjs'));
  buildSync({
    entryPoints: [entry],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
  });
  built.set(entry, outfile);
  return outfile;
}
