import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('..', import.meta.url));
const json = async (path: string) => JSON.parse(await readFile(join(root, path), 'utf8'));

/** The package.json files of the examples, relative to the repository. */
async function manifests(): Promise<string[]> {
  const files = await readdir(join(root, 'examples'), { recursive: true });
  return files
    .filter((path) => path.endsWith('package.json') && !path.includes('node_modules'))
    .map((path) => `examples/${path}`);
}

test('the examples pin exact versions, the ones that the project itself is tested with', async () => {
  const { packages } = await json('package-lock.json');
  const { version } = await json('package.json');
  const paths = await manifests();
  expect(paths.map((path) => path.split('/')[1])).toEqual(
    expect.arrayContaining([
      'behind-nginx',
      'ejs-forms',
      'json-api',
      'observability',
      'pages-own-frame',
      'single-page-app',
      'socket.io',
      'teams',
    ]),
  );
  for (const path of paths) {
    const { dependencies, devDependencies } = await json(path);
    for (const [name, wanted] of Object.entries<string>({ ...dependencies, ...devDependencies })) {
      const own = [packages[`node_modules/${name}`], name === 'express' && packages['node_modules/express4']];
      const tested = own.filter(Boolean).map((one) => one.version);
      if (name === 'latchkey') {
        const folder = join(dirname(path), wanted.replace('file:', ''));
        expect({ path, folder }).toEqual({ path, folder: `examples/latchkey-${version}.tgz` });
      } else if (tested.length > 0)
        expect({ path, name, tested }).toEqual({ path, name, tested: expect.arrayContaining([wanted]) });
      else
        expect({ path, name, wanted }).toEqual({
          path,
          name,
          wanted: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        });
    }
  }
});

test('each example has a README of a page', async () => {
  const overview = await readFile(join(root, 'examples/README.md'), 'utf8');
  const entries = await readdir(join(root, 'examples'), { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  expect(folders.length).toBeGreaterThan(3);
  for (const entry of folders) {
    const page = await readFile(join(root, 'examples', entry.name, 'README.md'), 'utf8');
    expect(page.split('\n').length).toBeLessThan(90);
    expect(overview).toContain(`(${entry.name}/README.md)`);
  }
});

test('docs/moving-in.md has the code of examples/ejs-forms as it is', async () => {
  const script = join(root, 'scripts/moving-in.mjs');
  await promisify(execFile)(process.execPath, [script, '--check']);
});
