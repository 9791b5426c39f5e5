import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Auth } from '../auth.js';
import { Refusal, usageError } from './output.js';

/** In the order in which they are looked for. */
const NAMES = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts'].map((extension) => `latchkey.config.${extension}`);

/** What the project's config exports. */
export interface Project {
  readonly auth: Auth;
  /** The app on Express, if it is exported too, for `doctor`. */
  readonly app: unknown;
}

/**
 * Loads the project's config.
 *
 * @param given its path; undefined for `latchkey.config.js` and its like in the folder
 * @throws Refusal naming the mend
 */
export async function loadProject(given: string | undefined, folder: string): Promise<Project> {
  const file =
    given === undefined ? NAMES.map((name) => join(folder, name)).find(existsSync) : resolve(folder, given);
  if (file === undefined)
    throw usageError(
      `there is no latchkey.config.js in ${folder}. Create one that exports your Auth as auth, or name another file: --config path/to/auth.js`,
    );
  if (!existsSync(file)) throw usageError(`--config: there is no file ${file}`);
  const name = basename(file);
  const exported = await importFile(file);
  // A CommonJS module is the default export.
  const inner = (exported.default ?? {}) as Partial<Project>;
  const auth = await (exported.auth ?? inner.auth ?? exported.default);
  if (!isAuth(auth))
    throw new Refusal(`${name} does not export an Auth as auth: add export const auth = createAuth({ … })`);
  return { auth, app: exported.app ?? inner.app };
}

function isAuth(value: unknown): value is Auth {
  return typeof value === 'object' && value !== null && Symbol.for('latchkey.internals') in value;
}

/**
 * Imports a module of the project, which may be TypeScript.
 *
 * @throws Refusal if Node cannot run it, and what the module throws
 */
export async function importFile(file: string): Promise<Record<string, unknown>> {
  const url = pathToFileURL(file).href;
  if (!/\.[cm]?ts$/.test(file)) return import(url);
  const tsx = findTsx(file);
  if (tsx) {
    const { tsImport } = await import(pathToFileURL(tsx).href);
    return tsImport(url, url);
  }
  if ((process.features as { typescript?: unknown }).typescript) return import(url);
  throw new Refusal(
    `${basename(file)} is TypeScript, which Node ${process.version} does not run by itself: npm install -D tsx, or use Node 22.18 or later`,
  );
}

/**
 * The API of the project's tsx. It runs more of TypeScript than Node, such as imports of .js for .ts.
 *
 * @returns null if it is not installed
 */
function findTsx(file: string): string | null {
  try {
    const packageJson = createRequire(file).resolve('tsx/package.json');
    // Not resolved by `require`, which finds the CommonJS variant.
    const { exports } = JSON.parse(readFileSync(packageJson, 'utf8'));
    return join(packageJson, '..', exports['./esm/api'].import.default);
  } catch {
    return null;
  }
}
