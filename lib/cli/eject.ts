import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, extname, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { PAGE_NAMES } from '../pages/options.js';
import { asCommonJs, isModule } from './modules.js';
import { EXIT, type Output, Refusal, usageError } from './output.js';

interface EjectOptions {
  readonly out?: string;
  readonly force?: boolean;
}

/**
 * Adds `latchkey pages`, which does not need a config.
 *
 * @param folder the folder of this package
 */
export function addPages(parent: Command, output: (command: Command) => Output, folder: string): void {
  const pages = parent.command('pages').description('Change the pages of pages().').helpCommand(false);
  pages
    .command('eject')
    .description('Copy the source of a page into your app, so that you can change it.')
    .argument('<page>', 'the name of the page, such as sign-in')
    .option('--out <file>', 'the file (default: pages/<page>.ts, or .js without a tsconfig.json)')
    .option('--force', 'replace an existing file')
    .action((page: string, options: EjectOptions, command: Command) =>
      eject(new Renderers(join(folder, 'dist/eject')), page, options, output(command)),
    );
}

async function eject(
  renderers: Renderers,
  page: string,
  { out, force = false }: EjectOptions,
  output: Output,
): Promise<void> {
  const name = page.replaceAll('/', '-');
  if (!PAGE_NAMES.some((one) => one === page))
    throw usageError(`there is no page ${page}: the pages are ${PAGE_NAMES.join(', ')}`);
  const file = resolve(out ?? join('pages', `${name}${existsSync('tsconfig.json') ? '.ts' : '.js'}`));
  const source = renderers.sourceFor(file, name);
  await write(file, source, force);
  const called = renderers.functionOf(name);
  output.result(
    { page, file, function: called },
    `Wrote the function ${called} to ${shown(file)}. To use it, adapt the import path to your file:

  import { ${called} } from './${shown(file)
    .replaceAll('\\', '/')
    .replace(/\.([mc]?)ts$/, '.$1js')}';

  pages({
    render: (page) => (page.name === '${page}' ? page.document(${called}(page)) : undefined),
  })`,
  );
}

/** Writes a file. Unless forced, it replaces nothing, not even a symbolic link whose target is missing. */
async function write(file: string, source: string, force: boolean): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, source, { flag: force ? 'w' : 'wx' });
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && syscall === 'open')
      throw new Refusal(`${shown(file)} exists: add --force to replace it`, 'exists', EXIT.usage);
    throw usageError(`--out: ${shown(file)} cannot be written: ${message}`);
  }
}

/** The functions that render the pages, which the build has written. */
class Renderers {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  functionOf(name: string): string {
    const [, found = ''] = /^export function (\w+)/m.exec(this.#read(`${name}.ts`)) ?? [];
    return found;
  }

  /** Returns the source in the language and the module format of a file. */
  sourceFor(file: string, name: string): string {
    const extension = extname(file);
    const isDeclaration = /\.d\.[mc]?ts$/.test(file);
    if (/^\.[mc]?ts$/.test(extension) && !isDeclaration) return this.#read(`${name}.ts`);
    if (!/^\.[mc]?js$/.test(extension))
      throw usageError(`--out: ${shown(file)} must be a .ts or .js file, such as ${name}.ts`);
    const source = this.#read(`${name}.js`);
    return isModule(file) ? source : asCommonJs(source);
  }

  #read(file: string): string {
    return readFileSync(join(this.#folder, file), 'utf8');
  }
}

function shown(file: string): string {
  return relative(process.cwd(), file);
}
