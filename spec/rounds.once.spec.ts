import { execFileSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('..', import.meta.url));
const specs = (await readdir(`${root}spec`, { recursive: true }))
  .filter((path) => path.endsWith('.spec.ts'))
  .map((path) => `${root}spec/${path}`);

/** What Jest is told in a round. */
function configOf(round: string): { testMatch: string[]; testPathIgnorePatterns: string[] } {
  const script = `import('./jest.config.mjs').then(({ default: config }) => console.log(JSON.stringify(config)))`;
  const { LATCHKEY_SPEC_EXPRESS: _, ...env } = process.env;
  const LATCHKEY_SPEC_FILES = round;
  return JSON.parse(
    execFileSync(process.execPath, ['-e', script], {
      cwd: root,
      env: { ...env, LATCHKEY_SPEC_FILES },
      encoding: 'utf8',
    }),
  );
}

/** A pattern for each of the alternatives in a list, such as `a/(b|c)`, which has no list in it. */
function alternativesOf(pattern: string): string[] {
  const [whole, list = ''] = /(?<!\\)\((?!\?)([^()]*\|[^()]*)\)(?!\?)/.exec(pattern) ?? [];
  return whole === undefined ? [pattern] : list.split('|').map((one) => pattern.replace(whole, `(${one})`));
}

test.each(['mysql', 'postgres', 'express4'])(
  'each pattern of specs that are not in the round %s is that of a spec',
  (round) => {
    const patterns = configOf(round).testPathIgnorePatterns.flatMap(alternativesOf);
    expect(patterns.length).toBeGreaterThan(2);
    const stale = patterns.filter((pattern) => !specs.some((path) => new RegExp(pattern).test(path)));
    expect(stale).toEqual([]);
  },
);

test('each pattern of specs that are in the round express4 is that of a spec', () => {
  const globs = configOf('express4').testMatch.flatMap((glob) => {
    const [whole = '', list = ''] = /\{([^{}]*)\}/.exec(glob) ?? [];
    return list.split(',').map((one) => glob.replace(whole, one));
  });
  expect(globs.length).toBeGreaterThan(5);
  const stale = globs.filter((glob) => {
    const pattern = glob
      .replaceAll('.', '\\.')
      .replaceAll('**', '.@')
      .replaceAll('*', '[^/]*')
      .replaceAll('@', '*');
    return !specs.some((path) => new RegExp(`${pattern}$`).test(path));
  });
  expect(stale).toEqual([]);
});

test('every spec is in a round', () => {
  const jest = `${root}node_modules/jest/bin/jest.js`;
  const listed = ['sqlite', 'e2e', 'examples'].flatMap((round) => {
    const options = { NODE_OPTIONS: '--experimental-vm-modules --no-warnings', LATCHKEY_SPEC_FILES: round };
    const env = { ...process.env, ...options };
    const out = execFileSync(process.execPath, [jest, '--listTests'], { cwd: root, env, encoding: 'utf8' });
    return out.trim().split('\n');
  });
  expect([...new Set(listed)].sort()).toEqual([...specs].sort());
});
