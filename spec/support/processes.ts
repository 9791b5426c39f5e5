import { execFile, fork } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { program } from './program.js';

const root = resolve(import.meta.dirname, '../..');

/**
 * Runs spec/support/child.ts in its own process and returns its result.
 *
 * @param wrapper a program that runs its arguments, such as a shell that sets limits
 */
export async function inAnotherProcess<T>(
  args: string[],
  env: Record<string, string> = {},
  wrapper: string[] = [],
): Promise<T> {
  const child = program(resolve(root, 'spec/support/child.ts'));
  const [command = '', ...rest] = [...wrapper, process.execPath, child, ...args];
  const { stdout } = await promisify(execFile)(command, rest, { cwd: root, env: { ...process.env, ...env } });
  return JSON.parse(stdout) as T;
}

/**
 * Starts `spec/support/<name>-process.ts`, which gets `task`. It reports when it is ready, and sends one
 * result after `go` is called. Resolves when the process is ready. If a process exits before it has sent its
 * result, the call rejects. `kill` ends the process immediately.
 * `exited` is its exit code, once it has ended.
 */
export async function startProcess<T>(
  name: string,
  task: object,
): Promise<{ go(): Promise<T>; kill(): void; readonly exited: Promise<number | null> }> {
  const child = fork(program(resolve(root, `spec/support/${name}-process.ts`)), [JSON.stringify(task)], {
    execArgv: [],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const message = () =>
    new Promise((done, fail) => {
      const onExit = (code: number | null) => fail(new Error(`${name}-process ended with code ${code}`));
      child.once('exit', onExit);
      child.once('message', (value) => {
        child.off('exit', onExit);
        done(value);
      });
    });
  const exited = new Promise<number | null>((done) => child.once('exit', done));
  await message();
  return {
    exited,
    go() {
      const answer = message();
      child.send('go');
      return answer as Promise<T>;
    },
    kill: () => void child.kill('SIGKILL'),
  };
}
