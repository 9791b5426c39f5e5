// Builds and packs the npm package once for all specs that install it.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PARTS = [
  'lib',
  'scripts',
  'docs',
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'SECURITY.md',
];
const CONFIGS = ['tsconfig.json', 'tsconfig.esm.json', 'tsconfig.cjs.json', 'biome.json'];

/**
 * Packs a copy, because packing builds the package, and specs may read the build output.
 *
 * @returns {{ folder: string, remove(): void }} the folder with `latchkey.tgz`, and `files.json`, its list of files
 */
export function pack() {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-packed-'));
  const copy = join(folder, 'source');
  for (const part of [...PARTS, ...CONFIGS]) cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const args = ['pack', '--json', '--pack-destination', folder];
  const stdout = execFileSync('npm', args, { cwd: copy, env: withoutNpm(process.env), encoding: 'utf8' });
  const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf('[')));
  cpSync(join(folder, filename), join(folder, 'latchkey.tgz'));
  writeFileSync(join(folder, 'files.json'), JSON.stringify(files.map(({ path }) => path)));
  rmSync(copy, { recursive: true, force: true });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The variables of an outer `npm test` would affect a nested npm. */
function withoutNpm(environment) {
  const ofNpm = /^(npm_(package|lifecycle)_.*|npm_(command|config_local_prefix)|INIT_CWD)$/i;
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !ofNpm.test(name)));
}
