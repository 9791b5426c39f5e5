import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The folder of `latchkey.tgz`, which the e2e round has packed. */
export const PACKED = String(process.env.LATCHKEY_SPEC_PACKAGE);

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
  async install(name: string, ...packages: string[]): Promise<void> {
    await this.write(name, { 'package.json': '{ "private": true }' });
    // Do not run install scripts, because the scripts of some tools send data about the installation.
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
    const options = { cwd: join(this.folder, name), env: withoutOuter(), maxBuffer: 1e8 };
    await run('npm', ['install', ...flags, join(PACKED, 'latchkey.tgz'), ...packages], options);
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
