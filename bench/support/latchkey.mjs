// latchkey as its users get it: the packed npm package, unpacked into bench/node_modules.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { bench, data, root } from './machine.mjs';

/** Builds and packs the working tree, which `import 'latchkey'` finds from then on. Its dependencies are the root's. */
export function installLatchkey() {
  mkdirSync(data, { recursive: true });
  const run = (command, args) => execFileSync(command, args, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
  const packed = run('npm', ['pack', '--json', '--pack-destination', data]);
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('[')));
  const folder = `${bench}node_modules/latchkey`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  run('tar', ['-xzf', `${data}/${filename}`, '-C', folder, '--strip-components=1']);
  rmSync(`${data}/${filename}`);
}
