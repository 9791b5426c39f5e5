import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';

/** A call from one file of lib into another. */
interface Entry {
  readonly file: string;
  readonly name: string;
  /** Null if Express calls it. */
  readonly by: { readonly file: string; readonly name: string } | null;
  /** Whether it is a function that the file has passed in while it waits. */
  readonly isCallback: boolean;
  readonly depth: number;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const GUARDED = 'A cookie on a guarded route';
const SIGN_IN = 'POST /signin/credential';
const CALLBACK = 'GET /oauth/:provider/callback';

let page = '';
let walks = new Map<string, readonly Entry[]>();

beforeAll(async () => {
  const args = ['--import', 'tsx', 'scripts/walks.mjs', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, maxBuffer: 2 ** 26 });
  const drawn = JSON.parse(stdout) as { page: string; walks: { title: string; entries: Entry[] }[] };
  page = drawn.page;
  walks = new Map(drawn.walks.map(({ title, entries }) => [title, entries]));
});

describe('the paths of requests in contributing/architecture.md', () => {
  test('are what npm run docs:walks draws', () => {
    expect(readFileSync(`${root}contributing/architecture.md`, 'utf8')).toBe(page);
  });

  test('are three', () => {
    expect([...walks.keys()]).toEqual([GUARDED, SIGN_IN, CALLBACK]);
  });

  test.each([
    [GUARDED, 'guards/guards'],
    [SIGN_IN, 'router'],
    [CALLBACK, 'router'],
  ])('%s: is drawn from %s to the database', (title, start) => {
    expect(entriesOf(title)[0]?.file).toBe(start);
    expect(entriesOf(title).map(({ file }) => file)).toContain('database/driver');
    const [, picture = ''] = new RegExp(`\\*\\*${title}\\*\\*\n\n\`\`\`mermaid\n([^\`]*)`).exec(page) ?? [];
    expect(picture).toContain(`n1["1 ${start}"]`);
    expect(picture).toMatch(/n\d+\[\("\d+ database"\)\]/);
    expect(picture).toMatch(/n\d+ --> n\d+\n/);
  });
});

describe('the rules of the paths', () => {
  // Files everywhere use these rooms, as often as they need.
  const isShared = ({ file }: Entry) => /^(errors|logger|owners|context|crypto|database|tables)\b/.test(file);

  test('a guarded request enters no file twice on its way to the database, nor on its way back', () => {
    const entries = entriesOf(GUARDED);
    const deepest = entries.reduce((one, other) => (other.depth > one.depth ? other : one));
    const turn = entries.indexOf(deepest);
    for (const way of [entries.slice(0, turn), entries.slice(turn)]) {
      const own = way.filter((entry) => !isShared(entry) && !entry.isCallback);
      expect(own.length).toBeGreaterThan(2);
      expect(own.map(({ file }) => file)).toEqual([...new Set(own.map(({ file }) => file))]);
    }
  });

  // A sign-in asks once what it still needs: a second answer could differ from the first.
  test.each([SIGN_IN, CALLBACK])('%s: enters the second-factor rules once, from the sign-in', (title) => {
    expect(callersOf(title, 'sessions/second-factor')).toEqual(['sessions/sign-in']);
    expect(callersOf(title, 'sessions/sign-in')).toEqual(['core/core']);
  });
});

function entriesOf(title: string): readonly Entry[] {
  return walks.get(title) ?? [];
}

/** The files that enter a file, each as often as it does. */
function callersOf(title: string, file: string) {
  const entries = entriesOf(title).filter((entry) => entry.file === file && !entry.isCallback);
  return entries.map(({ by }) => by?.file);
}
