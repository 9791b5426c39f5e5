import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ADDITIONS, APP, carryOut, GATES } from './support/adding.js';
import { TSC } from './support/compiler.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);
const MINUTES = 60_000;

const edits = ADDITIONS.flatMap((addition) => addition.edits);
const sorted = (names: Iterable<string>) => [...new Set(names)].sort();

/** The rows of the table below a heading, each as the text of its cells. */
async function listOf(title: string): Promise<string[][]> {
  const page = await readFile(join(root, 'contributing/architecture.md'), 'utf8');
  const section = page.split(`\n### ${title}\n`)[1]?.split(/\n##/)[0] ?? '';
  return [...section.matchAll(/^\| (`.*) \|$/gm)].map(([, row = '']) => row.split(' | '));
}

const codeIn = (text = '') => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

describe.each(ADDITIONS)(
  'contributing/architecture.md: $title',
  ({ title, name, edits: own, writes = {} }) => {
    test('lists the files that it touches, and no others', async () => {
      const listed = (await listOf(title)).flatMap(([file]) => codeIn(file));
      const named = listed.map((file) => file.replaceAll('<name>', name));
      expect(named.sort()).toEqual(sorted([...own.map(({ file }) => file), ...Object.keys(writes)]));
    });

    test('names the spec that fails without a row', async () => {
      const named = (await listOf(title)).flatMap(([file, , gate]) =>
        codeIn(gate).map((spec) => `${codeIn(file)[0]?.replaceAll('<name>', name)} ${spec}`),
      );
      const asked = own.flatMap(({ file, gate }) => (gate ? `${file} ${gate}` : []));
      expect(named.sort()).toEqual(sorted(asked));
    });

    test('names the commands that write files', async () => {
      const named = (await listOf(title)).flatMap(([file, text]) =>
        codeIn(text).flatMap((code) => (/^npm run /.test(code) ? [[codeIn(file)[0], code]] : [])),
      );
      expect(Object.fromEntries(named)).toEqual(writes);
    });
  },
);

describe('a copy in which everything was added', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await copy();
    await carryOut(folder, edits);
    for (const command of sorted(ADDITIONS.flatMap(({ writes = {} }) => Object.values(writes)))) {
      const [program = '', ...args] = command.split(' ');
      await run(program, args, { cwd: folder });
    }
  }, 5 * MINUTES);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test(
    'compiles, with an app that uses all of it',
    async () => {
      const config = { extends: './tsconfig.json', include: ['lib', 'app.ts'] };
      await writeFile(join(folder, 'tsconfig.app.json'), JSON.stringify(config));
      await writeFile(join(folder, 'app.ts'), APP);
      const { stdout } = await node(folder, ...TSC, '-p', 'tsconfig.app.json', '--pretty', 'false');
      expect(stdout).toBe('');
    },
    5 * MINUTES,
  );

  test(
    'works',
    async () => {
      const { stdout, stderr } = await node(folder, '--import', 'tsx', 'app.ts');
      expect(stderr).not.toMatch(/^\s+at /m);
      expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual({
        badge: [200, 401],
        isRemembered: true,
        route: [204, 'another'],
        rows: 0,
        page: [200, true],
        notices: ['api-key-created', 'api-key-revoked'],
      });
    },
    2 * MINUTES,
  );

  test('is held by gates that are all known', () => {
    expect(sorted(edits.flatMap(({ gate }) => gate ?? []))).toEqual(Object.keys(GATES).sort());
  });

  test(
    'passes the gates, and fails each of them without its rows',
    async () => {
      const tried = Object.keys(GATES).filter((gate) => GATES[gate] !== null);
      expect(await failing(folder, tried)).toEqual([]);
      const files = sorted(edits.map(({ file }) => file));
      for (const file of files)
        await cp(join(root, file), join(folder, file)).catch(() => rm(join(folder, file)));
      await carryOut(
        folder,
        edits.filter(({ gate }) => gate === undefined),
      );
      expect(await failing(folder, tried)).toEqual(tried.sort());
    },
    10 * MINUTES,
  );
});

/** Copies the checkout to a folder. */
async function copy(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-adding-'));
  const left = /(^|\/)(node_modules|dist|data|\.git)$/;
  for (const name of await readdir(root))
    if (!left.test(name))
      await cp(join(root, name), join(folder, name), { recursive: true, filter: (from) => !left.test(from) });
  // The cache in this folder goes with the copy.
  await mkdir(join(folder, 'node_modules'));
  for (const name of await readdir(join(root, 'node_modules')))
    if (name !== '.cache')
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  return folder;
}

/** Runs the tests of gates in a copy, and returns the gates that fail. */
async function failing(folder: string, gates: readonly string[]): Promise<string[]> {
  const pattern = gates.map((gate) => GATES[gate]).join('|');
  // A single process loads lib only once.
  const options = ['-t', pattern, '--maxWorkers=1'];
  const { stdout, stderr } = await node(folder, 'spec/support/run.mjs', ...gates, ...options);
  const ended = [...(stdout + stderr).matchAll(/ (passed|FAILED) +\w+ +(spec\/\S+\.ts)/g)];
  expect(ended.map(([, , gate]) => gate).sort()).toEqual([...gates].sort());
  return ended.flatMap(([, outcome, gate = '']) => (outcome === 'FAILED' ? gate : [])).sort();
}

/** Runs Node in a copy, as a developer would, and returns what it printed even if it fails. */
async function node(folder: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(LATCHKEY_SPEC_|NODE_|JEST_|CI$)/.test(name)),
  );
  const options = { cwd: folder, env, maxBuffer: 2 ** 26 };
  return run(process.execPath, args, options).catch((error: { stdout: string; stderr: string }) => error);
}
