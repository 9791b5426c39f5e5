// How the processes of specs load modules: TypeScript is compiled, `@jest/globals` are the functions of the runner, and
// Express can be Express 4.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const { version } = require('@swc/core/package.json');

const globals = new URL('globals.mjs', import.meta.url).href;
const cache = fileURLToPath(new URL('../../../node_modules/.cache/latchkey-specs', import.meta.url));
mkdirSync(cache, { recursive: true });

export function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: globals, format: 'module', shortCircuit: true };
  if (specifier === 'express' && process.env.LATCHKEY_SPEC_EXPRESS === '4') return next('express4', context);
  const { parentURL = '' } = context;
  if (/^\.{1,2}\/.*\.js(\?|$)/.test(specifier) && !parentURL.includes('/node_modules/')) {
    const source = new URL(specifier.replace(/\.js(?=\?|$)/, '.ts'), parentURL);
    if (existsSync(source)) return { url: source.href, format: 'module', shortCircuit: true };
  }
  return next(specifier, context);
}

export function load(url, context, next) {
  const isTypeScript = /^file:.*\.ts(\?|$)/.test(url) && !url.includes('/node_modules/');
  return isTypeScript
    ? { format: 'module', source: compiled(fileURLToPath(url)), shortCircuit: true }
    : next(url, context);
}

/** Compiles a file, with its source map. Later runs find what has been compiled once. */
export function compiled(path) {
  const code = readFileSync(path, 'utf8');
  const hash = createHash('sha256').update(`${version} ${path}\n${code}`).digest('hex');
  const file = join(cache, `${hash}.js`);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  // Large, and rarely needed.
  const { transformSync } = require('@swc/core');
  const { code: made } = transformSync(code, {
    filename: path,
    sourceMaps: 'inline',
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    module: { type: 'es6' },
  });
  // Other processes see the whole file or none.
  writeFileSync(`${file}.${process.pid}`, made);
  renameSync(`${file}.${process.pid}`, file);
  return made;
}
