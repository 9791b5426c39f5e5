// A process that runs files of specs, one after the other. It loads latchkey and the packages once for all of them.
import { existsSync, readFileSync } from 'node:fs';
import module, { SourceMap } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import v8 from 'node:v8';
import { jestExpect } from '@jest/expect';
import { addEventHandler, getState, resetState, run } from 'jest-circus';
import * as hooks from './hooks.mjs';

// Most functions run for too short a time to be worth optimizing.
v8.setFlagsFromString('--interrupt-budget=1000000');

// In this thread, hooks are faster, but Node 20 has only those of another one.
if (module.registerHooks) module.registerHooks(hooks);
else module.register('./hooks.mjs', import.meta.url);

// Sequelize reads the stack of an error for each statement on SQLite, so stacks are mapped to the source only where
// a failure is reported.
Error.prepareStackTrace = (error, frames) => [String(error), ...frames].join('\n    at ');

/** How much a process grows before garbage is collected after a file, in bytes. */
const GARBAGE = 150 * 2 ** 20;
/** The resident memory after garbage was last collected, in bytes; at first, what a process has without much garbage. */
let kept = 200 * 2 ** 20;

addEventHandler(({ name, test }) => {
  if (name === 'test_start')
    jestExpect.setState({ currentTestName: titlesOf(test).join(' '), suppressedErrors: [] });
  if (name === 'test_done') test.errors.push(...jestExpect.getState().suppressedErrors);
});

// Nobody waited for these. The test that runs has failed, or else the file.
const unhandled = (error) => {
  const { currentlyRunningTest, unhandledErrors } = getState();
  (currentlyRunningTest?.errors ?? unhandledErrors).push(error);
};
process.on('uncaughtException', unhandled);
process.on('unhandledRejection', unhandled);

process.on('message', async ({ path, testTimeout, testNamePattern }) => {
  process.send(await runFile(path, testTimeout, testNamePattern));
});
process.on('disconnect', () => process.exit());

async function runFile(path, testTimeout, testNamePattern) {
  const restore = keep();
  const used = cpu();
  const { unhandledErrors: late } = getState();
  resetState();
  const state = getState();
  state.testTimeout = testTimeout;
  state.testNamePattern = testNamePattern ? new RegExp(testNamePattern, 'i') : null;
  state.unhandledErrors.push(...late);
  jestExpect.setState({ testPath: path, suppressedErrors: [] });
  let tests = [];
  try {
    await import(pathToFileURL(path));
    tests = (await run()).testResults;
  } catch (error) {
    state.unhandledErrors.push(error);
  }
  for (const name of restore()) state.unhandledErrors.push(new Error(`it leaves ${name} changed`));
  return {
    tests: tests.map(({ testPath, status, duration, errors }) => ({
      titles: testPath.slice(1),
      status,
      duration,
      errors: errors.map(mapped),
    })),
    // Those of hooks come with the place of the hook.
    errors: state.unhandledErrors.splice(0).map((given) => {
      const error = Array.isArray(given) ? (given[0] ?? given[1]) : given;
      return mapped(error?.stack ?? String(error));
    }),
    cpu: cpu() - used,
    memory: memory(),
  };
}

/** The resident memory in bytes. V8 collects garbage late on a machine with much memory, and there are several processes. */
function memory() {
  if (process.memoryUsage.rss() > kept + GARBAGE) {
    globalThis.gc();
    kept = process.memoryUsage.rss();
  }
  return process.memoryUsage.rss();
}

/** The seconds of CPU time of this process and, on Linux, of those that it started and that have ended. */
function cpu() {
  const { user, system } = process.cpuUsage();
  let ofChildren = 0;
  try {
    // What follows the name, which can contain spaces, starts with the third field. Hundredths of a second.
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    ofChildren = (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {}
  return (user + system) / 1e6 + ofChildren;
}

/** Keeps what files could change for others. The function that it returns restores it, and returns what had changed. */
function keep() {
  const environment = { ...process.env };
  const values = Object.entries(Object.getOwnPropertyDescriptors(globalThis)).filter(
    ([, one]) => 'value' in one,
  );
  const folder = process.cwd();
  return () => {
    const changed = values.filter(([name, { value }]) => !Object.is(globalThis[name], value));
    for (const [name, descriptor] of changed) Object.defineProperty(globalThis, name, descriptor);
    const names = changed.map(([name]) => `globalThis.${name}`);
    for (const name of new Set([...Object.keys(environment), ...Object.keys(process.env)])) {
      if (process.env[name] === environment[name]) continue;
      names.push(`process.env.${name}`);
      if (Object.hasOwn(environment, name)) process.env[name] = environment[name];
      else delete process.env[name];
    }
    if (process.cwd() === folder) return names;
    process.chdir(folder);
    return [...names, 'the working directory'];
  };
}

function titlesOf(test) {
  const titles = [];
  for (let one = test; one?.parent; one = one.parent) titles.unshift(one.name);
  return titles;
}

/** Replaces the places in a stack with the places in the source. */
function mapped(stack) {
  return stack.replace(/(file:\/\/[^\s)]+?):(\d+):(\d+)/g, (_place, url, line, column) => {
    const path = fileURLToPath(url);
    const entry = sourceMapOf(path)?.findEntry(line - 1, column - 1);
    if (entry?.originalLine === undefined) return `${path}:${line}:${column}`;
    return `${path}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
}

/** The source map of a file that was compiled here. A file of a spec's own project might be deleted by now. */
function sourceMapOf(path) {
  if (!path.endsWith('.ts') || path.includes('/node_modules/') || !existsSync(path)) return undefined;
  const [, data] = /sourceMappingURL=data:application\/json;base64,(.*)\s*$/.exec(hooks.compiled(path));
  return new SourceMap(JSON.parse(Buffer.from(data, 'base64').toString()));
}
