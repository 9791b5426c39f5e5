import { execFile, fork } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const root = resolve(import.meta.dirname, '../..');

/** Runs spec/support/child.ts as a process of its own, and gives its answer. */
export async function inAnotherProcess<T>(args: string[], env: Record<string, string> = {}): Promise<T> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', 'spec/support/child.ts', ...args],
    { cwd: root, env: { ...process.env, ...env } },
  );
  return JSON.parse(stdout) as T;
}

/**
 * Starts `spec/support/<name>-process.ts`, which gets `task`, says that it is ready, and answers once after it was told
 * to go. Resolves when it is ready. A process that ends before it has answered is an error, not a silence; `kill` ends
 * it where it stands.
 */
export async function startProcess<T>(
  name: string,
  task: object,
): Promise<{ go(): Promise<T>; kill(): void }> {
  const child = fork(resolve(root, `spec/support/${name}-process.ts`), [JSON.stringify(task)], {
    execArgv: ['--import', 'tsx'],
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
  await message();
  return {
    go() {
      const answer = message();
      child.send('go');
      return answer as Promise<T>;
    },
    kill: () => void child.kill('SIGKILL'),
  };
}
