// A process that runs files of specs, as the test runner sees it.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createEmptyTestResult } from '@jest/test-result';
import { formatExecError, formatResultsErrors } from 'jest-message-util';

const PROGRAM = fileURLToPath(new URL('worker.mjs', import.meta.url));
/** A process that has grown beyond this size is replaced, in bytes. */
const MAX_MEMORY = 600 * 2 ** 20;
/** A file that takes longer than this has failed, in milliseconds. Jest's own limit is that of a test. */
const MAX_TIME = 600_000;
const NOT_RUN = { skip: 'pending', todo: 'todo' };

export class SpecProcess {
  #child;
  #exited;
  #memory = 0;
  #output = '';
  /** The files that it has run. */
  #files = [];

  constructor({ testEnvironmentOptions: { env } }) {
    this.#child = fork(PROGRAM, {
      env: { ...process.env, ...env },
      execArgv: ['--no-warnings', '--expose-gc'],
      silent: true,
    });
    this.#exited = new Promise((resolve) =>
      this.#child.once('exit', (code, signal) => resolve(signal ?? code)),
    );
    const collect = (chunk) => {
      this.#output += chunk;
    };
    this.#child.stdout.on('data', collect);
    this.#child.stderr.on('data', collect);
  }

  get isWorn() {
    return this.#memory > MAX_MEMORY || this.#child.exitCode !== null || !this.#child.connected;
  }

  /** Runs a file, and returns its results in Jest's form. */
  async run({ path, context: { config } }, globalConfig) {
    this.#output = '';
    const start = Date.now();
    const result = await this.#resultOf({
      path,
      testTimeout: config.testTimeout ?? globalConfig.testTimeout ?? 5000,
      testNamePattern: globalConfig.testNamePattern,
    });
    const end = Date.now();
    this.#memory = result.memory;
    // Jest says of results without a test only that there is none.
    const [reason] = result.errors;
    if (result.tests.length === 0 && reason) throw Object.assign(new Error(reason), { stack: reason });
    const testResults = result.tests.map(({ titles, status, duration, errors }) => ({
      duration,
      ancestorTitles: titles.slice(0, -1),
      title: titles.at(-1),
      fullName: titles.join(' '),
      status: NOT_RUN[status] ?? (errors.length > 0 ? 'failed' : 'passed'),
      failureMessages: errors,
      failureDetails: [],
    }));
    const count = (status) => testResults.filter((one) => one.status === status).length;
    const unhandled = result.errors.map((stack) =>
      formatExecError({ message: '', stack }, config, globalConfig, path),
    );
    const failures = formatResultsErrors(testResults, config, globalConfig, path);
    const hasFailed = unhandled.length > 0 || failures !== null;
    const earlier =
      this.#files.length > 0 ? `Its process had run before it:\n  ${this.#files.join('\n  ')}\n` : '';
    this.#files.push(path);
    return {
      ...createEmptyTestResult(),
      testFilePath: path,
      displayName: config.displayName,
      cpu: result.cpu,
      failureMessage: hasFailed ? [failures ?? '', ...unhandled, this.#output, earlier].join('\n') : null,
      testExecError: unhandled.length > 0 ? { message: '', stack: result.errors.join('\n') } : undefined,
      numFailingTests: count('failed'),
      numPassingTests: count('passed'),
      numPendingTests: count('pending'),
      numTodoTests: count('todo'),
      perfStats: { start, end, runtime: end - start, slow: false, loadTestEnvironmentStart: start },
      testResults,
    };
  }

  #resultOf(task) {
    const limit = setTimeout(() => this.#child.kill('SIGKILL'), MAX_TIME);
    return new Promise((resolve, reject) => {
      this.#child.once('message', resolve);
      void this.#exited.then((code) => reject(new Error(`its process ended with ${code}\n${this.#output}`)));
      this.#child.send(task);
    }).finally(() => clearTimeout(limit));
  }

  async end() {
    if (this.#child.connected) this.#child.disconnect();
    await this.#exited;
  }
}
