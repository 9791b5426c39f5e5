import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
});

test.each([
  ['GPL-3.0-only', false],
  ['(AGPL-3.0 AND MIT)', false],
  [undefined, false],
  ['SEE LICENSE IN LICENSE.md', false],
  ['(MIT OR GPL-3.0)', true],
])('a dependency of a dependency with the licence %s', (license, isAllowed) => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-licences-'));
  const packages = {
    '': { dependencies: { a: '1' }, devDependencies: { c: '1' } },
    'node_modules/a': { version: '1.0.0', license: 'MIT', dependencies: { b: '1' } },
    'node_modules/a/node_modules/b': { version: '1.0.0', license },
    'node_modules/c': { version: '1.0.0', license: 'GPL-3.0-only' },
  };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }));
  const { status, stderr } = licences(folder);
  rmSync(folder, { recursive: true });
  expect([status === 0, stderr.includes('b@1.0.0')]).toEqual([isAllowed, !isAllowed]);
});
