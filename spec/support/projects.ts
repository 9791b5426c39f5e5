import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** The folder of `latchkey.tgz`, which the e2e round has packed. */
export const PACKED = String(process.env.LATCHKEY_SPEC_PACKAGE);

const TARBALL = join(PACKED, 'latchkey.tgz');

/**
 * Projects of apps, in a temporary folder. Projects in its subfolders use the folder's `node_modules`, so one
 * installation is enough for all of them.
 */
export class Projects {
  private constructor(readonly folder: string) {}

  static async create(): Promise<Projects> {
    return new Projects(await realpath(await mkdtemp(join(tmpdir(), 'latchkey-projects-'))));
  }

  /** Installs the npm package and others, for the projects within a folder. */
  install(name: string, ...packages: string[]): Promise<void> {
    return this.npm(name, TARBALL, ...packages);
  }

  /** Installs other packages only, for the projects within a folder. */
  async npm(name: string, ...packages: string[]): Promise<void> {
    await this.write(name, { 'package.json': '{ "private": true }' });
    // Do not run install scripts, because the scripts of some tools send data about the installation.
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
    const options = { cwd: join(this.folder, name), env: withoutOuter(), maxBuffer: 1e8 };
    await run('npm', ['install', ...flags, ...packages], options);
  }

  /**
   * Unpacks the npm package, and links to packages of the repository: those that it depends on, and others, such as
   * `express@5`. It takes a fraction of npm's time, and is for specs that do not test the installation. The projects
   * find no other package of the repository, but the linked ones find their own dependencies there. So it is not for
   * specs of what a bundle contains, or of how TypeScript names the types of dependencies.
   *
   * Packages that the repository does not have are installed by `npm`, which must come first: it deletes the links.
   */
  async link(name: string, ...packages: string[]): Promise<void> {
    const folder = join(this.folder, name);
    const latchkey = join(folder, 'node_modules/latchkey');
    await mkdir(latchkey, { recursive: true });
    await run('tar', ['-xzf', TARBALL, '-C', latchkey, '--strip-components=1']);
    await linkPrograms(latchkey, 'latchkey');
    const added: Record<string, string> = { latchkey: `file:${TARBALL}` };
    for (const wanted of packages) {
      const [, alias, original, range] = /^(?:(.+)@npm:)?(.+)@(.+)$/.exec(wanted) ?? [];
      if (!original) throw new Error(`${wanted} has no version, such as ${wanted}@1`);
      const version = await linkToRepository(folder, alias ?? original, original);
      if (version !== range && !version.startsWith(`${range}.`))
        throw new Error(`the repository has ${original} ${version}, but ${wanted} was asked for`);
      added[alias ?? original] = alias ? `npm:${original}@^${version}` : `^${version}`;
    }
    for (const dependency of Object.keys((await manifestOf(latchkey)).dependencies ?? {}))
      if (!(dependency in added)) await linkToRepository(folder, dependency, dependency);
    const { dependencies, ...others } = await manifestOf(folder).catch(() => ({ private: true }) as Manifest);
    const manifest = { ...others, dependencies: { ...dependencies, ...added } };
    await this.write(name, { 'package.json': JSON.stringify(manifest) });
  }

  /** Writes files of a project. */
  async write(name: string, files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(this.folder, name, path)), { recursive: true });
      await writeFile(join(this.folder, name, path), text);
    }
  }

  /** Runs a file of a project. Resolves to what it prints. */
  async node(name: string, file: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
    const options = { cwd: join(this.folder, name), env: { ...withoutOuter(), ...env } };
    return (await run(process.execPath, [file], options)).stdout.trim();
  }

  /** Runs a program. If it fails, the error contains its output. */
  async tool(bin: string, args: string[], env: Readonly<Record<string, string>> = {}): Promise<void> {
    const options = { cwd: this.folder, env: { ...withoutOuter(), ...env }, maxBuffer: 1e8 };
    await run(process.execPath, [bin, ...args], options).catch((error) => {
      throw new Error(`${error.stdout}\n${error.stderr}`);
    });
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

interface Manifest {
  readonly version?: string;
  readonly bin?: string | Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Reads a package.json. */
export async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
}

/** Links to a package of the repository. @returns its version */
async function linkToRepository(folder: string, name: string, original: string): Promise<string> {
  const target = await realpath(join(root, 'node_modules', original)).catch(() => {
    throw new Error(`the repository does not have ${original}`);
  });
  const path = join(folder, 'node_modules', name);
  await mkdir(dirname(path), { recursive: true });
  // Fails if npm has installed the package, perhaps in another version.
  await symlink(target, path);
  // Two versions of a package would have the same programs.
  if (name === original) await linkPrograms(path, name);
  return String((await manifestOf(target)).version);
}

/** Makes the programs of a package available, as npm does. */
async function linkPrograms(path: string, name: string): Promise<void> {
  const { bin = {} } = await manifestOf(path);
  const programs = typeof bin === 'string' ? { [name.replace(/^@.*\//, '')]: bin } : bin;
  const folder = join(path.slice(0, -name.length), '.bin');
  for (const [program, file] of Object.entries(programs)) {
    await mkdir(folder, { recursive: true });
    await symlink(relative(folder, join(path, file)), join(folder, program));
  }
}

/**
 * The environment without the variables of an outer `npm test` and Jest, which would affect a nested npm and
 * node, and without colors, which would be part of what a program prints.
 */
export function withoutOuter(): NodeJS.ProcessEnv {
  const ofOthers =
    /^(npm_(package|lifecycle)_.*|npm_(command|config_local_prefix)|INIT_CWD|NODE_(ENV|OPTIONS)|JEST_.*|FORCE_COLOR|CLICOLOR.*)$/i;
  const own = Object.entries(process.env).filter(([name]) => !ofOthers.test(name));
  return { ...Object.fromEntries(own), NO_COLOR: '1' };
}
