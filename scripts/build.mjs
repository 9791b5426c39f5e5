// Builds lib/ into dist/: the declarations of its modules, and the code of each entry point in one file with what it
// shares with the others in a second, as ES modules and as CommonJS. Hundreds of small files would take Node longer to
// load, and so would zod, of which a part is used here. The command line is an ES module only.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundle, target } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

rmSync(`${root}/dist`, { recursive: true, force: true });
await Promise.all([declare('esm'), declare('cjs')]);
const bundled = await bundle(`${root}/dist/esm`);
await build({
  ...target,
  entryPoints: readdirSync(`${root}/dist/esm`)
    .filter((name) => name.endsWith('.js') && name !== 'cli.js')
    .map((name) => `${root}/dist/esm/${name}`),
  outdir: `${root}/dist/cjs`,
  format: 'cjs',
  // With `require`, which Jest can follow without its flag for ES modules.
  supported: { 'dynamic-import': false },
});
await import('./eject.mjs');
writeFileSync(`${root}/dist/cjs/package.json`, '{ "type": "commonjs" }\n');
// Their licences want to be with every copy.
for (const folder of bundled)
  copyFileSync(join(root, folder, 'LICENSE'), `${root}/dist/${basename(folder)}.LICENSE`);

async function declare(format) {
  const compiler = `${root}/node_modules/typescript/bin/tsc`;
  // Each further checker works out shared types again.
  const options = ['--emitDeclarationOnly', '--checkers', '1'];
  const tsc = spawn(process.execPath, [compiler, '-p', `tsconfig.${format}.json`, ...options], {
    cwd: root,
    stdio: 'inherit',
  });
  const [code] = await once(tsc, 'exit');
  if (code !== 0) process.exit(code ?? 1);
}
