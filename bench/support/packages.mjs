// Imports nothing that has to be installed first.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = new URL('../', import.meta.url);

/** Installs bench/node_modules if it is missing. */
export function installPackages() {
  if (existsSync(new URL('node_modules/.package-lock.json', folder))) return;
  console.log('installing bench/node_modules');
  execFileSync('npm', ['ci', '--no-fund', '--no-audit'], { cwd: fileURLToPath(folder), stdio: 'inherit' });
}
