import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TSC } from './support/compiler.js';
import { PLUGIN_FOLDERS } from './support/every-plugin.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

/** In which of the builds each plugin is. Any two differ in both directions, since all have the same number of builds. */
const BUILDS = 6;
const PLACES = Array.from({ length: 2 ** BUILDS }, (_, places) => places).filter(
  (places) => places.toString(2).replaceAll('0', '').length === 2,
);
const isIn = (build: number) => (_plugin: string, index: number) => ((PLACES[index] ?? 0) >> build) % 2 === 1;

/** Builds with some of the plugins. Every plugin is missing in one that has a given other plugin. */
const builds = Array.from({ length: BUILDS }, (_, build) => PLUGIN_FOLDERS.filter(isIn(build)));

describe('a build without some of the plugins', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-without-'));
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    for (const file of ['tsconfig.json', 'tsconfig.esm.json', 'package.json'])
      await cp(join(root, file), join(folder, file));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('is tried for every two plugins', async () => {
    expect((await readdir(join(root, 'lib/plugins'))).sort()).toEqual([...PLUGIN_FOLDERS].sort());
    for (const one of PLUGIN_FOLDERS)
      for (const other of PLUGIN_FOLDERS.filter((plugin) => plugin !== one))
        expect(builds.filter((build) => build.includes(one) && !build.includes(other))).not.toEqual([]);
  });

  test('is noticed where the entry points still name them', async () => {
    const [, ...others] = PLUGIN_FOLDERS;
    await libWith(others);
    expect((await tsc()).stdout).toContain(`'./plugins/${PLUGIN_FOLDERS[0]}/`);
  }, 180_000);

  test.each(builds.map((build) => ({ build })))(
    'needs a change to the entry points only: only $build',
    async ({ build }) => {
      const lib = await libWith(build);
      for (const plugin of PLUGIN_FOLDERS.filter((one) => !build.includes(one)))
        for (const entry of ['index.ts', 'providers.ts', 'breach-check.ts'])
          await withoutExportsOf(plugin, join(lib, entry));
      expect((await tsc()).stdout).toBe('');
    },
    180_000,
  );

  async function libWith(plugins: readonly string[]): Promise<string> {
    const lib = join(folder, 'lib');
    await rm(lib, { recursive: true, force: true });
    await cp(join(root, 'lib'), lib, { recursive: true });
    for (const plugin of PLUGIN_FOLDERS.filter((one) => !plugins.includes(one)))
      await rm(join(lib, 'plugins', plugin), { recursive: true });
    return lib;
  }

  async function withoutExportsOf(plugin: string, file: string): Promise<void> {
    const source = await readFile(file, 'utf8');
    const kept = source.replace(new RegExp(`^export [^;]*'\\./plugins/${plugin}/[^;]*;\\n`, 'gm'), '');
    await writeFile(file, kept.trim() ? kept : 'export {};\n');
  }

  async function tsc(): Promise<{ stdout: string }> {
    const args = [
      ...TSC,
      '-p',
      'tsconfig.esm.json',
      '--noEmit',
      'true',
      '--pretty',
      'false',
      // Most files are the same in all builds.
      '--incremental',
      'true',
      '--tsBuildInfoFile',
      join(folder, 'build-info.json'),
    ];
    return run(process.execPath, args, { cwd: folder }).catch((error: { stdout: string }) => {
      // Only complaints about types are expected here.
      if (!/error TS/.test(error.stdout)) throw error;
      return error;
    });
  }
});
