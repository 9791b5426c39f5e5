import { execFileSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { wordsOf } from './support/runner/weight.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const WORDS = ['db', 'express', 'walk', 'e2e', 'process'];
const specs = (await readdir(`${root}spec`, { recursive: true }))
  .filter((path) => path.endsWith('.spec.ts'))
  .map((path) => `${root}spec/${path}`);

/** The files that Jest runs in a project. */
function filesOf(project: string): string[] {
  const jest = `${root}node_modules/jest/bin/jest.js`;
  const env = { ...process.env, LATCHKEY_SPEC_PROJECTS: project };
  const listed = execFileSync(process.execPath, [jest, '--listTests'], { cwd: root, env, encoding: 'utf8' });
  return listed.trim().split('\n').sort();
}

test('the words in the name of each spec are known', () => {
  expect(specs.length).toBeGreaterThan(300);
  const unknown = specs.filter((path) => wordsOf({ path }).some((word) => !WORDS.includes(word)));
  expect(unknown).toEqual([]);
});

test.each([
  ['specs', (words: string[]) => !words.includes('walk') && !words.includes('e2e')],
  ['walks', (words: string[]) => words.includes('walk')],
  ['e2e', (words: string[]) => words.includes('e2e')],
  ['express4', (words: string[]) => words.includes('express')],
  ['mysql', (words: string[]) => words.includes('db')],
  ['postgres', (words: string[]) => words.includes('db')],
])('the project %s runs the files whose names say so', (project, isIn) => {
  const expected = specs.filter((path) => isIn(wordsOf({ path })));
  expect(expected.length).toBeGreaterThan(20);
  expect(filesOf(project)).toEqual(expected.sort());
});
