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
 * Packs the package. `dist` can be out of date, and specs may read it, so a copy is built and packed, unless
 * `LATCHKEY_SPEC_BUILT` says that `dist` has just been built.
 *
 * @returns {{ folder: string, remove(): void }} the folder with `latchkey.tgz`, and `files.json`, its list of files
 */
export function pack() {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-packed-'));
  const isBuilt = process.env.LATCHKEY_SPEC_BUILT === '1';
  const cwd = isBuilt ? root : copyTo(join(folder, 'source'));
  const args = ['pack', '--json', '--pack-destination', folder, ...(isBuilt ? ['--ignore-scripts'] : [])];
  const stdout = execFileSync('npm', args, { cwd, env: withoutNpm(process.env), encoding: 'utf8' });
  const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf('[')));
  cpSync(join(folder, filename), join(folder, 'latchkey.tgz'));
  writeFileSync(join(folder, 'files.json'), JSON.stringify(files.map(({ path }) => path)));
  if (!isBuilt) rmSync(cwd, { recursive: true, force: true });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function copyTo(copy) {
  for (const part of [...PARTS, ...CONFIGS]) cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** The variables of an outer `npm test` would affect a nested npm. */
function withoutNpm(environment) {
  const ofNpm = /^(npm_(package|lifecycle)_.*|npm_(command|config_local_prefix)|INIT_CWD)$/i;
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !ofNpm.test(name)));
}
