import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { putLatchkeyInto } from './cli.js';
import { withoutOuter } from './projects.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** Returns a page of the docs. */
export const page = (name: string) => readFile(join(root, 'docs', name), 'utf8');

/** Returns the code blocks of a page in one language. */
export const blocks = async (name: string, language: string) =>
  [...(await page(name)).matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) => code,
  );

/** A project with this package, in which the programs of the docs run. */
export class DocsProject {
  readonly #children: ChildProcess[] = [];

  private constructor(readonly folder: string) {}

  /**
   * Creates the project.
   *
   * @param pages pages of the docs. Each of their code blocks that starts with the name of a file becomes that file
   * @param packages other packages that the programs import
   */
  static async create(pages: readonly string[], packages: readonly string[]): Promise<DocsProject> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'latchkey-docs-')));
    await putLatchkeyInto(folder);
    for (const name of packages)
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    await writeFile(join(folder, 'package.json'), '{ "type": "module", "jest": { "transform": {} } }');
    for (const name of pages) {
      for (const code of await blocks(name, 'js')) {
        const [, file] = /^\/\/ (\S+\.js)\n/.exec(code) ?? [];
        if (file) await writeFile(join(folder, file), code);
      }
    }
    return new DocsProject(folder);
  }

  /** Runs a program to its end. */
  run(args: readonly string[], env: NodeJS.ProcessEnv = withoutOuter()) {
    return run(process.execPath, args, { cwd: this.folder, env });
  }

  /** Starts a program, and waits until it prints that it is listening. */
  async start(file: string, env: NodeJS.ProcessEnv): Promise<ChildProcess> {
    const child = spawn(process.execPath, [file], {
      cwd: this.folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.track(child);
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    return child;
  }

  /** Ends a process together with the others. */
  track(child: ChildProcess): void {
    this.#children.push(child);
  }

  /** Ends the programs that are running. */
  async stop(): Promise<void> {
    for (const child of this.#children.splice(0))
      if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}
