import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A project in its own folder, with latchkey installed. */
export interface CliProject {
  readonly folder: string;
  /** Writes files of the project. */
  write(files: Readonly<Record<string, string>>): Promise<void>;
  /** Starts `latchkey` with these arguments. */
  start(args: readonly string[], environment?: NodeJS.ProcessEnv): ChildProcess;
  /** Runs it to its end. */
  run(args: readonly string[], environment?: NodeJS.ProcessEnv, input?: string): Promise<Ended>;
  /**
   * Runs it to its end in a process that the project keeps, which takes a tenth of the time. What a command leaves open ends
   * only with the project.
   */
  call(args: readonly string[], environment?: NodeJS.ProcessEnv, input?: string): Promise<Ended>;
  remove(): Promise<void>;
}

/** Creates a project, with the command line bundled from its source. @param packages the other installed packages */
export async function startProject(...packages: string[]): Promise<CliProject> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'latchkey-cli-')));
  const installed = await putLatchkeyInto(folder);
  for (const name of packages)
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));

  const program = join(installed, 'dist/esm/cli.js');
  const { NODE_OPTIONS: _, NODE_ENV: __, ...outer } = process.env;
  const start = (args: readonly string[], environment: NodeJS.ProcessEnv = {}) =>
    spawn(process.execPath, ['--no-warnings', program, ...args], {
      cwd: folder,
      env: { ...outer, ...environment },
    });
  let kept: ReturnType<typeof keepProcess> | undefined;
  return {
    folder,
    start,
    async write(files) {
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), content);
      }
    },
    async run(args, environment, input = '') {
      const child = start(args, environment);
      // The process might have ended before it has read its input.
      child.stdin?.on('error', () => undefined).end(input);
      const [stdout, stderr, [code]] = await Promise.all([
        text(child.stdout as NodeJS.ReadableStream),
        text(child.stderr as NodeJS.ReadableStream),
        once(child, 'exit'),
      ]);
      return { code, stdout, stderr };
    },
    call(...given) {
      kept ??= keepProcess(program, folder, outer);
      return kept.call(...given);
    },
    async remove() {
      await kept?.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a process that runs the command line of a project as often as it is asked to, one run after the other. */
export function keepProcess(program: string, folder: string, env: NodeJS.ProcessEnv = {}) {
  const path = join(root, 'spec/support/cli-process.mjs');
  const child = fork(path, [program, folder], { cwd: folder, env, execArgv: ['--no-warnings'] });
  const exited = once(child, 'exit').then(() => [null]);
  let last: Promise<unknown> = Promise.resolve();
  const ask = async (args: readonly string[], environment: NodeJS.ProcessEnv, input: string) => {
    const answered = once(child, 'message');
    child.send({ args, env: { ...env, ...environment }, input });
    const [answer] = await Promise.race([answered, exited]);
    if (!answer) throw new Error(`its process has ended: latchkey ${args.join(' ')}`);
    return answer as Ended;
  };
  return {
    call(args: readonly string[], environment: NodeJS.ProcessEnv = {}, input = '') {
      const answer = last.then(() => ask(args, environment, input));
      last = answer.catch(() => undefined);
      return answer;
    },
    async end() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

/**
 * Puts latchkey, bundled from its source, into the `node_modules` of a folder. `LATCHKEY_SPEC_BUILT` says that the
 * bundle in `dist` is up to date.
 *
 * @returns the folder of the package
 */
export async function putLatchkeyInto(folder: string): Promise<string> {
  const installed = join(folder, 'node_modules/latchkey');
  const bundled = join(installed, 'dist/esm');
  await mkdir(bundled, { recursive: true });
  await copyFile(join(root, 'package.json'), join(installed, 'package.json'));
  if (process.env.LATCHKEY_SPEC_BUILT === '1') {
    for (const file of await readdir(join(root, 'dist/esm')))
      if (file.endsWith('.js')) await copyFile(join(root, 'dist/esm', file), join(bundled, file));
  } else {
    const { bundle } = (await import(join(root, 'scripts/bundle.mjs'))) as {
      bundle(outdir: string): Promise<void>;
    };
    await bundle(bundled);
  }
  await symlink(join(root, 'node_modules'), join(installed, 'node_modules'));
  return installed;
}
