// Compiles lib/ twice, as ES modules and as CommonJS, into dist/.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
rmSync(`${root}/dist`, { recursive: true, force: true });
for (const format of ['esm', 'cjs']) {
  const tsc = spawnSync(
    process.execPath,
    [`${root}/node_modules/typescript/bin/tsc`, '-p', `tsconfig.${format}.json`],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
  if (tsc.status !== 0) process.exit(tsc.status ?? 1);
}
writeFileSync(`${root}/dist/cjs/package.json`, '{ "type": "commonjs" }\n');
