import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const script = resolve(import.meta.dirname, '../scripts/release-check.mjs');
const READY = {
  'package.json': JSON.stringify({
    name: 'latchkey',
    version: '1.2.0',
    description: 'accounts',
    license: 'MIT',
    author: 'Ada',
    homepage: 'https://example.com',
    repository: 'https://example.com/latchkey.git',
    bugs: 'https://example.com/issues',
    files: ['CHANGELOG.md', 'SECURITY.md'],
  }),
  'package-lock.json': '{ "version": "1.2.0" }',
  'CHANGELOG.md': '# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2027-01-01\n\n- Accounts\n',
  'README.md': 'npm install latchkey',
  'SECURITY.md': 'Report it',
  LICENSE: 'MIT',
};

let folder: string;
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], { cwd: folder });
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-release-'));
  git('init', '-q');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Checks a clone with these files. Null stands for a file that is missing. */
function checkOf(changes: Readonly<Record<string, string | null>>) {
  for (const [name, text] of Object.entries({ ...READY, ...changes }))
    if (text === null) rmSync(join(folder, name), { force: true });
    else writeFileSync(join(folder, name), text);
  git('add', '-A');
  git('commit', '-q', '--allow-empty', '-m', 'Changes');
  return check();
}

function check() {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' });
  return { status, stdout, missing: stderr.split('\n').filter(Boolean) };
}

test('accepts a package that has everything', () => {
  expect(checkOf({})).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^Nothing is missing for latchkey 1\.2\.0\./),
    missing: [],
  });
});

const without = (...names: string[]) =>
  JSON.stringify({
    ...JSON.parse(READY['package.json']),
    ...Object.fromEntries(names.map((name) => [name, undefined])),
  });

test.each<[string, Readonly<Record<string, string | null>>, string[]]>([
  [
    'fields',
    { 'package.json': without('author', 'homepage', 'repository', 'bugs') },
    [
      'package.json has no author',
      'package.json has no homepage',
      'package.json has no repository',
      'package.json has no bugs',
    ],
  ],
  [
    'published files',
    { 'package.json': without('files') },
    [
      'files in package.json does not include SECURITY.md',
      'files in package.json does not include CHANGELOG.md',
    ],
  ],
  [
    'a public package',
    { 'package.json': JSON.stringify({ ...JSON.parse(READY['package.json']), private: true }) },
    ['package.json is private'],
  ],
  ['a licence', { LICENSE: null }, ['there is no LICENSE']],
  [
    'the version in the lockfile',
    { 'package-lock.json': '{ "version": "1.1.0" }' },
    ['package-lock.json has another version than package.json'],
  ],
  ...['', ' - soon'].map((rest): [string, Readonly<Record<string, string>>, string[]] => [
    `the date of the version in the changelog, such as in "[1.2.0]${rest}"`,
    { 'CHANGELOG.md': `## [Unreleased]\n\n## [1.2.0]${rest}\n` },
    ['CHANGELOG.md has no section "## [1.2.0] - <date>"'],
  ]),
  [
    'changes under the version',
    { 'CHANGELOG.md': '## [Unreleased]\n\n### Added\n\n- More\n\n## [1.2.0] - 2027-01-01\n' },
    ['CHANGELOG.md has changes under Unreleased: move them to the section of the version'],
  ],
  [
    'a text for after the release',
    { 'README.md': 'It is not published on npm yet' },
    ['README.md says that nothing has been published'],
  ],
])('names what is missing: %s', (_what, changes, missing) => {
  expect(checkOf(changes)).toEqual({ status: 1, stdout: '', missing });
});

test('names changes that are not committed', () => {
  checkOf({});
  writeFileSync(join(folder, 'README.md'), 'changed');
  expect(check().missing).toEqual(['git has changes that are not committed:', ' M README.md']);
});

test('the changelog begins with what is not released, and with the version of the package', () => {
  const [changes, manifest] = ['CHANGELOG.md', 'package.json'].map((name) =>
    readFileSync(resolve(import.meta.dirname, '..', name), 'utf8'),
  );
  const [unreleased, latest] = [...String(changes).matchAll(/^## (\[.*?\])/gm)].map(([, name]) => name);
  expect([unreleased, latest]).toEqual(['[Unreleased]', `[${JSON.parse(String(manifest)).version}]`]);
});

test('this repository lacks what only its owner can say, until it is there', () => {
  const { author, homepage, repository, bugs } = JSON.parse(
    readFileSync(resolve(import.meta.dirname, '../package.json'), 'utf8'),
  );
  const { stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  for (const [name, value] of Object.entries({ author, homepage, repository, bugs }))
    expect([name, stderr.includes(`package.json has no ${name}\n`)]).toEqual([name, value === undefined]);
});
