import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PLUGIN_FOLDERS } from './support/every-plugin.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

describe('the build without a plugin', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-without-'));
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    for (const file of ['tsconfig.json', 'tsconfig.esm.json', 'package.json'])
      await cp(join(root, file), join(folder, file));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('covers every plugin', async () => {
    expect((await readdir(join(root, 'lib/plugins'))).sort()).toEqual([...PLUGIN_FOLDERS].sort());
  });

  test('is noticed where the entry points still name the plugin', async () => {
    const [plugin = ''] = PLUGIN_FOLDERS;
    await libWithout(plugin);
    expect((await tsc()).stdout).toContain(`'./plugins/${plugin}/`);
  }, 180_000);

  test.each(PLUGIN_FOLDERS)(
    '%s needs a change to the entry points only',
    async (plugin) => {
      const lib = await libWithout(plugin);
      await withoutExportsOf(plugin, join(lib, 'index.ts'));
      await withoutExportsOf(plugin, join(lib, 'providers.ts'));
      const { stdout } = await tsc();
      expect(stdout).toBe('');
    },
    180_000,
  );

  async function libWithout(plugin: string): Promise<string> {
    const lib = join(folder, 'lib');
    await rm(lib, { recursive: true, force: true });
    await cp(join(root, 'lib'), lib, { recursive: true });
    await rm(join(lib, 'plugins', plugin), { recursive: true });
    return lib;
  }

  async function withoutExportsOf(plugin: string, file: string): Promise<void> {
    const source = await readFile(file, 'utf8');
    const kept = source.replace(new RegExp(`^export [^;]*'\\./plugins/${plugin}/[^;]*;\\n`, 'gm'), '');
    await writeFile(file, kept.trim() || 'export {};\n');
  }

  async function tsc(): Promise<{ stdout: string }> {
    const args = [
      join(root, 'node_modules/typescript/bin/tsc'),
      '-p',
      'tsconfig.esm.json',
      '--noEmit',
      'true',
      '--pretty',
      'false',
    ];
    return run(process.execPath, args, { cwd: folder }).catch((error: { stdout: string }) => {
      // Only complaints about types are expected here.
      if (!/error TS/.test(error.stdout)) throw error;
      return error;
    });
  }
});
