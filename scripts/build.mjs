// Builds lib/ into dist/: the declarations of its modules, and the code of each entry point in one file with what it
// shares with the others in a second, as ES modules and as CommonJS. Hundreds of small files would take Node longer to
// load, and so would zod, of which a part is used here.
import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { exports, dependencies, peerDependencies } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
const entryPoints = Object.keys(exports)
  .filter((path) => path !== './package.json')
  .map((path) => `${root}/lib/${path === '.' ? 'index' : path.slice(2)}.ts`);

rmSync(`${root}/dist`, { recursive: true, force: true });
declare('esm');
declare('cjs');
const shared = { logLevel: 'warning', platform: 'node', target: 'node20.19' };
await build({
  ...shared,
  entryPoints,
  outdir: `${root}/dist/esm`,
  format: 'esm',
  bundle: true,
  splitting: true,
  chunkNames: 'shared-[hash]',
  external: Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => [name, `${name}/*`]),
});
await build({
  ...shared,
  entryPoints: readdirSync(`${root}/dist/esm`)
    .filter((name) => name.endsWith('.js'))
    .map((name) => `${root}/dist/esm/${name}`),
  outdir: `${root}/dist/cjs`,
  format: 'cjs',
  // With `require`, which Jest can follow without its flag for ES modules.
  supported: { 'dynamic-import': false },
});
writeFileSync(`${root}/dist/cjs/package.json`, '{ "type": "commonjs" }\n');
// Its licence wants to be with every copy.
copyFileSync(`${root}/node_modules/zod/LICENSE`, `${root}/dist/zod.LICENSE`);

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
