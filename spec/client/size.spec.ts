import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';

const KB = 1024;

/** Bundles an entry point as an app does. */
async function bundled(entry: string) {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL(`../../lib/${entry}.ts`, import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    external: ['react'],
  });
  return { code: outputFiles[0]?.contents ?? new Uint8Array(), inputs: Object.keys(metafile.inputs) };
}

describe.each([
  ['client', 5 * KB],
  ['react', KB / 4],
])('latchkey/%s', (entry, most) => {
  test(`has at most ${most} bytes when it is compressed`, async () => {
    const { code } = await bundled(entry);
    expect(code.length).toBeGreaterThan(100);
    expect(brotliCompressSync(code).length).toBeLessThanOrEqual(most);
    expect(gzipSync(code).length).toBeLessThanOrEqual(most);
  });

  test('contains nothing but the client', async () => {
    const { inputs } = await bundled(entry);
    const others = inputs.filter((path) => !path.startsWith('lib/client/') && path !== `lib/${entry}.ts`);
    expect(others).toEqual([]);
  });
});
