import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, extname, isAbsolute, join, relative, sep } from 'node:path';
import { Refusal } from './output.js';

/** The parts of a package.json that commands use. */
export interface PackageJson {
  readonly name?: string;
  readonly type?: string;
  readonly main?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Reads the package.json of a folder. @returns null if there is none @throws Refusal if it is not valid JSON */
export function readPackageJson(folder: string): PackageJson | null {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return null;
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Refusal(`${relative(process.cwd(), file)} cannot be read: ${(error as Error).message}`);
  }
}

/** Whether Node runs a file as an ES module, by its extension or otherwise by the nearest package.json. */
export function isModule(file: string): boolean {
  const extension = extname(file);
  if (/^\.[mc]/.test(extension)) return extension.startsWith('.m');
  return hasModules(dirname(file));
}

function hasModules(folder: string): boolean {
  const found = readPackageJson(folder);
  if (found) return found.type === 'module';
  const above = dirname(folder);
  return above !== folder && hasModules(above);
}

/** Converts the imports and exports of an ES module in JavaScript to CommonJS. */
export function asCommonJs(source: string): string {
  const exported = [...source.matchAll(/^export (?:function|const) (\w+)/gm)].map(([, name]) => name);
  const body = source
    .replace(/^import (\w+|\{[^}]*\}) from ('[^']+');$/gm, 'const $1 = require($2);')
    .replace(/^export /gm, '');
  return exported.length > 0 ? `${body}\nmodule.exports = { ${exported.join(', ')} };\n` : body;
}

/** The usual names of the file that starts an app. */
const USUAL = ['app', 'server', 'index', 'main'].flatMap((name) =>
  ['', 'src/'].flatMap((folder) =>
    ['ts', 'js', 'mts', 'mjs', 'cts', 'cjs'].map((extension) => `${folder}${name}.${extension}`),
  ),
);

/**
 * Finds the source file that starts the app of a folder: the file that a script runs, `main` of package.json, or a file
 * with a usual name. Files of a build, and files outside the folder, are left out.
 *
 * @returns its path in the folder, or null
 */
export function findEntry(folder: string): string | null {
  const { scripts = {}, main } = readPackageJson(folder) ?? {};
  const run = [scripts.start, scripts.dev].flatMap(
    (script) => script?.replace(PRELOADED, ' ').match(/[\w./-]+\.[mc]?[jt]s\b/g) ?? [],
  );
  const candidates = [...run, ...(main === undefined ? [] : [main]), ...USUAL];
  const isSource = (file: string) => !/^(\.\/)?(dist|build|out|node_modules)\//.test(file);
  const isFile = (file: string) => statSync(join(folder, file), { throwIfNoEntry: false })?.isFile() === true;
  return candidates.find((file) => isSource(file) && isFile(file) && isInside(folder, file)) ?? null;
}

/** The options of Node and its loaders whose value is a file other than the app. */
const PRELOADED = /(?<=^|\s)(-r|--require|--import|--config|--(experimental-)?loader)(=|\s+)\S+/g;

/** Whether an existing file is in a folder, after resolving all symbolic links. */
export function isInside(folder: string, file: string): boolean {
  const path = relative(realpathSync(folder), realpathSync(join(folder, file)));
  return path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}
