import { execFile } from 'node:child_process';
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
