// The specs' own runner (spec/support/runner): whatever goes wrong in a file of specs must be a failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What Jest says of a file: how many tests passed and failed, and why. */
interface FileResult {
  readonly name: string;
  readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  readonly status: string;
  readonly message: string;
}

/** Runs files of specs, in one process. */
async function runFiles(files: Record<string, string>, args: readonly string[] = []) {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-runner-'));
  const runner = join(root, 'spec/support/runner');
  const config = {
    rootDir: folder,
    projects: [
      {
        rootDir: folder,
        displayName: 'tried',
        testRegex: ['\\.spec\\.mjs$'],
        transform: {},
        runner: join(runner, 'runner.mjs'),
        testEnvironmentOptions: { env: {} },
      },
    ],
    testSequencer: join(runner, 'sequencer.mjs'),
    testTimeout: 1000,
    maxWorkers: 1,
  };
  for (const [name, code] of Object.entries(files)) {
    const imports = "import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';";
    await writeFile(join(folder, name), `${imports}\n${code}`);
  }
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  const jest = join(root, 'node_modules/jest/bin/jest.js');
  const flags = ['--config', join(folder, 'config.json'), '--json', '--outputFile', join(folder, 'out.json')];
  const child = spawn(process.execPath, ['--no-warnings', jest, ...flags, ...args], {
    cwd: folder,
    stdio: 'ignore',
    env: { ...process.env, LATCHKEY_SPEC_ALONE: '' },
  });
  const [code] = await once(child, 'exit');
  const { testResults } = JSON.parse(await readFile(join(folder, 'out.json'), 'utf8')) as {
    testResults: FileResult[];
  };
  await rm(folder, { recursive: true });
  const byName = new Map(testResults.map((one) => [basename(one.name), one]));
  return {
    code,
    order: testResults.map(({ name }) => basename(name)),
    of(name: string) {
      const { assertionResults = [], status, message = '' } = byName.get(name) ?? {};
      return { tests: assertionResults.map((one) => one.status), status, message };
    },
  };
}

const PASSING = "test('one', () => expect(1).toBe(1));";

test('each kind of failure fails its file, and no other', async () => {
  const { code, of } = await runFiles({
    'passing.spec.mjs': PASSING,
    'expected.spec.mjs': "test('one', () => {\n  expect(1).toBe(2);\n});\ntest('two', () => {});",
    'before.spec.mjs': `beforeAll(() => { throw new Error('before') });\n${PASSING}`,
    'after.spec.mjs': `afterAll(() => { throw new Error('after') });\n${PASSING}`,
    'rejected.spec.mjs':
      "test('one', async () => {\n  void Promise.reject(new Error('unhandled'));\n  await new Promise(setImmediate);\n});",
    'thrown.spec.mjs':
      "test('one', async () => {\n  setImmediate(() => { throw new Error('thrown') });\n  await new Promise((done) => setTimeout(done, 20));\n});",
    'endless.spec.mjs': "test('one', () => new Promise(() => {}));",
    'import.spec.mjs': "import './missing.mjs';",
    'loaded.spec.mjs': "throw new Error('loaded');",
    'empty.spec.mjs': 'export {};',
    'environment.spec.mjs': "test('one', () => { process.env.LATCHKEY_LEFT = '1' });",
    'global.spec.mjs': "test('one', () => { globalThis.setTimeout = () => {} });",
    'exit.spec.mjs': "test('one', () => process.exit(0));",
  });
  expect(code).toBe(1);
  expect(of('passing.spec.mjs')).toMatchObject({ tests: ['passed'], status: 'passed' });
  expect(of('expected.spec.mjs').tests).toEqual(['failed', 'passed']);
  expect(of('expected.spec.mjs').message).toContain('expected.spec.mjs:3:13');
  expect(of('before.spec.mjs')).toMatchObject({
    tests: ['failed'],
    message: expect.stringContaining('before'),
  });
  expect(of('after.spec.mjs')).toMatchObject({ status: 'failed', message: expect.stringContaining('after') });
  for (const name of ['rejected', 'thrown', 'endless'])
    expect(of(`${name}.spec.mjs`).tests).toEqual(['failed']);
  const reasons = {
    import: 'missing.mjs',
    loaded: 'loaded',
    empty: 'at least one test',
    environment: 'it leaves process.env.LATCHKEY_LEFT changed',
    global: 'it leaves globalThis.setTimeout changed',
    exit: 'its process ended with 0',
  };
  for (const [name, reason] of Object.entries(reasons))
    expect(of(`${name}.spec.mjs`)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining(reason),
    });
});

test('files share a process, except those that are named so, and -t and --seed choose tests and order', async () => {
  const counting =
    "test('one', () => { globalThis.count = (globalThis.count ?? 0) + 1; expect(globalThis.count).toBe(";
  const files = {
    'a.spec.mjs': `${counting}1) });`,
    'b.spec.mjs': PASSING,
    'c.process.spec.mjs': `${counting}1) });`,
    'd.spec.mjs': `${PASSING}test('other', () => { throw new Error('not asked for') });`,
  };
  const first = await runFiles(files, ['-t', 'one', '--seed', '1']);
  expect(first.code).toBe(0);
  expect(first.of('d.spec.mjs').tests).toEqual(['passed', 'pending']);
  const orderOf = async (seed: string) => (await runFiles(files, ['-t', 'one', '--seed', seed])).order;
  expect(await orderOf('1')).toEqual(first.order);
  expect([await orderOf('2'), await orderOf('3'), await orderOf('4')]).not.toEqual(
    Array(3).fill(first.order),
  );
  const shared = { 'a.spec.mjs': `${counting}1) });`, 'b.spec.mjs': `${counting}1) });` };
  expect((await runFiles(shared)).code).toBe(1);
  expect(
    (await runFiles({ 'a.process.spec.mjs': shared['a.spec.mjs'], 'b.spec.mjs': shared['b.spec.mjs'] })).code,
  ).toBe(0);
});
