import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withoutOuter } from './projects.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const runFile = promisify(execFile);

/** A copy of a folder below `examples`, installed as its README says, with the packed latchkey. */
export interface Example {
  readonly folder: string;
  /** Starts a file that prints the address at which it listens. */
  start(file: string, env?: Record<string, string>): Promise<RunningApp>;
  /** Runs a file to its end. @returns what it printed */
  run(file: string, env?: Record<string, string>, args?: readonly string[]): Promise<string>;
  /** Ends all processes, and deletes the copy. */
  remove(): Promise<void>;
}

/** A process of an example. */
export interface RunningApp {
  /** For example http://localhost:12345 */
  readonly url: string;
  readonly port: number;
  /** Returns the statements that it has sent to the database since the last call. */
  statements(): Promise<string[]>;
  /**
   * Holds back the result of its next statement. `held` resolves when the statement has run; `release` continues it.
   */
  holdNext(): Promise<{ held: Promise<void>; release(): void }>;
  /** Sends SIGTERM. @returns the exit code */
  stop(): Promise<number | null>;
}

/**
 * Copies `examples/<name>`, and installs its dependencies. Must be called in a round that packs the npm package.
 *
 * @param more packages that are installed in addition to the packages in its package.json
 */
export async function installExample(name: string, ...more: string[]): Promise<Example> {
  const parent = await realpath(await mkdtemp(join(tmpdir(), 'latchkey-example-')));
  const folder = join(parent, name);
  const ownFiles = (path: string) => !/node_modules|\.db(-\w+)?$/.test(path.slice(root.length));
  await cp(join(root, 'examples', name), folder, { recursive: true, filter: ownFiles });
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const packed = join(String(process.env.LATCHKEY_SPEC_PACKAGE), 'latchkey.tgz');
  await cp(packed, join(parent, `latchkey-${version}.tgz`));
  const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline'];
  await runFile('npm', ['install', ...flags, '--loglevel=error', ...more], {
    cwd: folder,
    env: environment(),
  });

  const children: ChildProcess[] = [];
  return {
    folder,
    async start(file, env = {}) {
      const app = await start(folder, file, env, children);
      return app;
    },
    async run(file, env = {}, args = []) {
      const { stdout } = await runFile(process.execPath, [...loaders(file), file, ...args], {
        cwd: folder,
        env: { ...environment(), ...env },
      });
      return stdout;
    },
    async remove() {
      for (const child of children) {
        if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL'))
          await once(child, 'exit');
      }
      await rm(parent, { recursive: true, force: true });
    },
  };
}

async function start(
  cwd: string,
  file: string,
  env: Record<string, string>,
  children: ChildProcess[],
): Promise<RunningApp> {
  const child = fork(file, {
    cwd,
    execArgv: ['--require', join(root, 'spec/support/report-statements.cjs'), ...loaders(file)],
    env: { ...environment(), PORT: '0', ...env },
    silent: true,
  });
  children.push(child);
  const errors: string[] = [];
  child.stderr?.on('data', (text) => errors.push(String(text)));
  const url = await addressOf(child, errors);
  const statements: string[] = [];
  child.on('message', (message) => {
    const { sql } = message as { sql?: string };
    if (sql) statements.push(sql);
  });
  return {
    url,
    port: Number(new URL(url).port),
    async statements() {
      // Messages keep their order, so all statements before this question have arrived when it is answered.
      const answered = told(child, 'isReported');
      child.send('report');
      await answered;
      return statements.splice(0);
    },
    async holdNext() {
      const [willHold, held] = [told(child, 'willHold'), told(child, 'isHolding')];
      child.send('hold');
      await willHold;
      return { held, release: () => void child.send('release') };
    },
    async stop() {
      child.kill('SIGTERM');
      const [code] = await once(child, 'exit');
      return code;
    },
  };
}

/** Resolves when the app says so. */
function told(child: ChildProcess, what: string): Promise<void> {
  return new Promise((resolve) => {
    const listener = (message: unknown) => {
      if (!(message as Record<string, boolean>)[what]) return;
      child.off('message', listener);
      resolve();
    };
    child.on('message', listener);
  });
}

async function addressOf(child: ChildProcess, errors: string[]): Promise<string> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  for await (const line of lines) {
    const [url] = /http:\/\/\S+/.exec(line) ?? [];
    if (!url) continue;
    child.stdout?.resume();
    return url;
  }
  throw new Error(`it ended before it listened: ${errors.join('')}`);
}

/** An example in TypeScript is run by tsx. */
function loaders(file: string): string[] {
  return file.endsWith('.ts') ? ['--import', 'tsx'] : [];
}

/** The environment without the variables of the specs and their port. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(withoutOuter()).filter(([name]) => !/^(LATCHKEY_.*|PORT)$/i.test(name));
  return Object.fromEntries(own);
}
