// Builds lib/ into dist/: the declarations of its modules, and the code of each entry point in one file with what it
// shares with the others in a second, as ES modules and as CommonJS. Hundreds of small files would take Node longer to
// load, and so would zod, of which a part is used here. The command line is an ES module only.
import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundle, target } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

rmSync(`${root}/dist`, { recursive: true, force: true });
declare('esm');
declare('cjs');
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

function declare(format) {
  const compiler = `${root}/node_modules/typescript/bin/tsc`;
  const tsc = spawnSync(
    process.execPath,
    [compiler, '-p', `tsconfig.${format}.json`, '--emitDeclarationOnly'],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
  if (tsc.status !== 0) process.exit(tsc.status ?? 1);
}
