import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';

const KB = 1024;

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Bundles an export as an app that imports it does. Returns the files, of which a page loads the first one. */
async function bundled(entry: string, name: string) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `export { ${name} } from './lib/${entry}.js';`, resolveDir: root },
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    outdir: '.',
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    external: ['react'],
  });
  return {
    files: outputFiles.map(({ contents }) => contents),
    first: Object.values(metafile.outputs)[0],
    inputs: Object.keys(metafile.inputs).filter((path) => path !== '<stdin>'),
  };
}

function expectAtMost(most: number, code: Uint8Array): void {
  expect(code.length).toBeGreaterThan(100);
  expect(brotliCompressSync(code).length).toBeLessThanOrEqual(most);
  expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(most);
}

describe.each([
  ['client', 'createClient', 4 * KB],
  ['react', 'useSession', KB / 4],
])('latchkey/%s: %s', (entry, name, most) => {
  test(`has at most ${most} bytes when it is compressed`, async () => {
    const { files } = await bundled(entry, name);
    expectAtMost(most, files[0] ?? new Uint8Array());
  });

  test('contains nothing but the client', async () => {
    const { inputs } = await bundled(entry, name);
    const others = inputs.filter((path) => !path.startsWith('lib/client/') && path !== `lib/${entry}.ts`);
    expect(others).toEqual([]);
  });
});

test('a page loads what few pages need later, in two files of at most half a KB', async () => {
  const { files, first } = await bundled('client', 'createClient');
  expect(first?.entryPoint).toBe('<stdin>');
  // Without static imports, the first file is all that a page loads at the start.
  expect(first?.imports.map(({ kind }) => kind)).toEqual(['dynamic-import', 'dynamic-import']);
  expect(files).toHaveLength(3);
  for (const file of files.slice(1)) expectAtMost(KB / 2, file);
});
