import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const script = resolve(import.meta.dirname, '../scripts/licences.mjs');
const licences = (...given: string[]) =>
  spawnSync(process.execPath, [script, ...given], { encoding: 'utf8' });

test('every package that an app gets with this one has a permissive licence', () => {
  const { status, stdout, stderr } = licences();
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^bcrypt@\S+: MIT$/m);
  expect(stdout).toMatch(/^express@\S+: MIT$/m);
  expect(stdout).not.toMatch(/^(jest|typescript)@/m);
  const [, bundled] = stdout.split('\nIn the published files:\n');
  expect(bundled).toMatch(/^commander@\S+: MIT\nzod@\S+: MIT\n\n/);
});

test.each([
  ['GPL-3.0-only', false],
  ['(AGPL-3.0 AND MIT)', false],
  [undefined, false],
  ['SEE LICENSE IN LICENSE.md', false],
  ['(MIT OR GPL-3.0)', true],
])(
  'a package with the licence %s, as a dependency of a dependency or in the published files',
  (license, isAllowed) => {
    for (const bundled of ['', 'node_modules/d']) {
      const { status, stderr } = licencesOf(license, bundled);
      expect([status === 0, stderr.includes(`${bundled ? 'd' : 'b'}@1.0.0`)]).toEqual([
        isAllowed,
        !isAllowed,
      ]);
    }
  },
);

/** @param bundled the folder of a package in the published files, which has the licence then; otherwise a dependency has it */
function licencesOf(license: string | undefined, bundled: string) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-licences-'));
  const packages = {
    '': { dependencies: { a: '1' }, devDependencies: { c: '1' } },
    'node_modules/a': { version: '1.0.0', license: 'MIT', dependencies: { b: '1' } },
    'node_modules/a/node_modules/b': { version: '1.0.0', license: bundled ? 'MIT' : license },
    'node_modules/c': { version: '1.0.0', license: 'GPL-3.0-only' },
    'node_modules/d': { version: '1.0.0', license },
  };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }));
  mkdirSync(join(folder, 'scripts'));
  const bundle = `export const bundle = async () => ${JSON.stringify(bundled ? [bundled] : [])};`;
  writeFileSync(join(folder, 'scripts/bundle.mjs'), bundle);
  const ended = licences(folder);
  rmSync(folder, { recursive: true });
  return ended;
}
