import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { DEFAULT_ROUTES } from '../../lib/config/human-check.js';
import type { Route } from '../../lib/http/route.js';
import { Codes } from './codes.js';
import { type Method, methodsOf } from './methods.js';
import { servers } from './servers.js';
import { interfacesOf, methodByRoute } from './signatures.js';
import { Source, tsdoc } from './source.js';
import { Types } from './types.js';

/** The files of lib/client that are written by hand, with the types that the generated files need. */
const WRITTEN_BY_HAND = {
  '../account-export.js': ['AccountExport'],
  '../result.js': ['Call', 'CallOptions'],
  '../shape.js': ['AnyShape'],
  '../steps.js': ['SignedIn', 'Waiting', 'WithStep'],
  '../transport.js': ['Routes'],
};

const root = new URL('../../', import.meta.url);

/** The folder of the generated files. */
export const folder = new URL('lib/client/generated/', root);

/** Returns the sources of the generated files, by their names. */
export async function generated(): Promise<ReadonlyMap<string, string>> {
  const all = servers();
  const types = new Types();
  const methods = methodsOf(all, types);
  const source = new Source(types);
  const codes = new Codes(all);
  const interfaces = interfacesOf(methods, source, codes);
  const shapes = source.declarations();
  const bodies = {
    'by-route.ts': [methodByRoute(interfaces)],
    'codes.ts': codes.declarations(),
    'methods.ts': interfaces.map(({ source }) => source),
    'routes.ts': routesOf(interfaces.flatMap(({ methods }) => methods)),
    'shapes.ts': shapes.map(({ source }) => source),
  };
  const names: Readonly<Record<string, readonly string[]>> = {
    ...WRITTEN_BY_HAND,
    './codes.js': codes.names,
    './methods.js': interfaces.map(({ name }) => name),
    './shapes.js': shapes.map(({ name }) => name),
  };
  const files = Object.entries(bodies).map(async ([file, declarations]) => {
    const body = declarations.join('\n\n');
    const imports = Object.entries(names)
      .filter(([from]) => from !== `./${file.replace('.ts', '.js')}`)
      .flatMap(([from, exported]) => importOf(from, exported, body));
    const head = '// Written by `npm run client` from the declarations of the routes: do not edit.';
    return [file, await formatted([head, imports.join('\n'), body, ''].join('\n\n'))] as const;
  });
  return new Map(await Promise.all(files));
}

/** Returns a route as the client has it. */
function textOf({ path, method, session, asksHuman }: Route, hasInput: boolean): string {
  const isHuman = asksHuman !== undefined && DEFAULT_ROUTES.includes(asksHuman);
  const words = [hasInput && 'input', session, isHuman && 'human'].filter((word) => typeof word === 'string');
  const letters = words.map((word) => word.charAt(0));
  return [path.replace(/:\w+/g, ':'), method.toUpperCase(), ...letters].join(' ');
}

/** Returns the declarations of the routes, in an object with the objects and methods of the client. */
function routesOf(methods: readonly Method[]): readonly string[] {
  interface Tree {
    [name: string]: Tree | string;
  }
  const tree: Tree = {};
  for (const { name, route, input } of methods) {
    const path = name.split('.');
    const method = path.pop() as string;
    const object = path.reduce((node, key) => {
      node[key] ??= {};
      return node[key] as Tree;
    }, tree);
    object[method] = textOf(route, input !== null);
  }
  const plugins = Object.entries(tree).flatMap(([name, one]) => (typeof one === 'string' ? [] : `'${name}'`));
  return [
    `${tsdoc('The plugins whose routes the client can call, by their names on the server')}export type ClientPlugin = ${plugins.sort().join(' | ')};`,
    `${tsdoc('The routes, by the methods of the client that call them', '@internal')}export const ROUTES = ${JSON.stringify(tree)} satisfies Routes;`,
  ];
}

function importOf(from: string, names: readonly string[], source: string): readonly string[] {
  const code = source.replace(/\/\*\*[\s\S]*?\*\//g, '');
  const used = names.filter((name) => new RegExp(`\\b${name}\\b`).test(code)).sort();
  return used.length > 0 ? [`import type { ${used.join(', ')} } from '${from}';`] : [];
}

/** Formats a source as the linter wants it. */
async function formatted(source: string): Promise<string> {
  const biome = fileURLToPath(new URL('node_modules/@biomejs/biome/bin/biome', root));
  const child = spawn(
    process.execPath,
    [biome, 'check', '--write', '--stdin-file-path=lib/client/generated/x.ts'],
    {
      cwd: root,
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  child.stdin.end(source);
  return text(child.stdout);
}
