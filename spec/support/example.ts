import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { manifestOf, PACKED, Projects, withoutOuter } from './projects.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const runFile = promisify(execFile);

/** A copy of a folder below `examples`, with the packed latchkey. Its passwords have a low cost. */
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
 * Copies `examples/<name>`, and installs its dependencies: as its README says, or by links to the packages of the
 * repository if it has all of them in these versions. Must be called in a round that packs the npm package.
 *
 * @param more packages that are installed in addition to the packages in its package.json
 */
export async function installExample(name: string, ...more: string[]): Promise<Example> {
  const projects = await Projects.create();
  const folder = join(projects.folder, name);
  const ownFiles = (path: string) => !/node_modules|\.db(-\w+)?$/.test(path.slice(root.length));
  await cp(join(root, 'examples', name), folder, { recursive: true, filter: ownFiles });
  await lowerCosts(folder);
  const linked = await packagesOfRepository([...(await dependenciesOf(folder)), ...more]);
  if (linked) await projects.link(name, ...linked);
  else await npmInstall(folder, ...more);

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
      await projects.remove();
    },
  };
}

/** The cost of an app that hashes passwords itself, and of latchkey, which rehashes those of a lower cost. */
const COSTS = { app: 4, latchkey: 5 };

/** Lowers the cost of the passwords in the sources of an example. */
async function lowerCosts(folder: string): Promise<void> {
  for (const file of await readdir(folder, { recursive: true })) {
    if (!/\.(js|ts)$/.test(file)) continue;
    const source = await readFile(join(folder, file), 'utf8');
    const lowered = source
      .replace(/\bbcrypt\.hash\((\w+), 10\)/g, `bcrypt.hash($1, ${COSTS.app})`)
      .replace(
        /\bcredentialPassword\((\{?)/g,
        (_call, brace: string) => `credentialPassword({ bcryptCost: ${COSTS.latchkey}${brace ? ',' : ' }'}`,
      );
    if (lowered !== source) await writeFile(join(folder, file), lowered);
  }
}

/** The packages in a package.json without latchkey, for example express@5.3.0. */
async function dependenciesOf(folder: string): Promise<string[]> {
  const { dependencies, devDependencies } = await manifestOf(folder);
  const { latchkey: _, ...others } = { ...dependencies, ...devDependencies };
  return Object.entries(others).map(([name, version]) => `${name}@${version}`);
}

/** Under which names the repository has packages, or null if it lacks one of them. */
async function packagesOfRepository(packages: readonly string[]): Promise<string[] | null> {
  const { devDependencies = {} } = await manifestOf(root);
  const found: string[] = [];
  for (const wanted of packages) {
    const [, name = '', version] = /^(.+)@(.+)$/.exec(wanted) ?? [];
    const [alias] =
      Object.entries(devDependencies).find(([, range]) => range === `npm:${name}@^${version}`) ?? [];
    const installed = await manifestOf(join(root, 'node_modules', alias ?? name)).catch(() => null);
    if (installed?.version !== version) return null;
    found.push(alias ? `${name}@npm:${alias}@${version}` : wanted);
  }
  return found;
}

async function npmInstall(folder: string, ...more: string[]): Promise<void> {
  const { dependencies } = await manifestOf(folder);
  const [, tarball] = /^file:(.*)/.exec(dependencies?.latchkey ?? '') ?? [];
  if (tarball) await cp(join(PACKED, 'latchkey.tgz'), join(folder, tarball));
  const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline', '--loglevel=error'];
  await runFile('npm', ['install', ...flags, ...more], { cwd: folder, env: environment() });
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
