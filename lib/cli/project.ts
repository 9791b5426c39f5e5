import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Auth } from '../auth.js';
import { Refusal, usageError } from './output.js';
import { describeSyntaxError } from './syntax-error.js';

/** The names of config files, in the order of the search. */
const NAMES = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts'].map((extension) => `latchkey.config.${extension}`);

/** The exports of the project's config. */
export interface Project {
  readonly auth: Auth;
  /** The Express app for `doctor`, if the config exports it too. */
  readonly app: unknown;
}

/**
 * Loads the project's config.
 *
 * @param given its path; if undefined, `latchkey.config.js` in the folder, or with another extension of `NAMES`
 * @throws Refusal naming the fix
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
  // The exports of a CommonJS module are in the default export.
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
 * Imports a module of the project, which can be TypeScript.
 *
 * @throws Refusal if Node cannot run it, naming the line of a syntax error; and any error that the module throws
 */
export async function importFile(file: string): Promise<Record<string, unknown>> {
  try {
    return await importModule(file);
  } catch (error) {
    throw describeSyntaxError(error, file) ?? error;
  }
}

async function importModule(file: string): Promise<Record<string, unknown>> {
  const url = pathToFileURL(file).href;
  if (!/\.[cm]?ts$/.test(file)) return import(url);
  const tsx = findTsx(file);
  if (tsx) {
    const { tsImport } = await import(pathToFileURL(tsx).href);
    return tsImport(url, url);
  }
  if ((process.features as { typescript?: unknown }).typescript) return import(url);
  throw new Refusal(
    `${basename(file)} is TypeScript, which Node ${process.version} cannot run by itself: run npm install -D tsx, or use Node 22.18 or later`,
  );
}

/**
 * Finds the API of the project's tsx. It supports more of TypeScript than Node does, such as imports of `.js` for
 * `.ts`.
 *
 * @returns null if it is not installed
 */
function findTsx(file: string): string | null {
  try {
    const packageJson = createRequire(file).resolve('tsx/package.json');
    // The path is read from `exports`, because `require` resolves to the CommonJS variant.
    const { exports } = JSON.parse(readFileSync(packageJson, 'utf8'));
    return join(packageJson, '..', exports['./esm/api'].import.default);
  } catch {
    return null;
  }
}
