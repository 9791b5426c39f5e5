// Bundles the entry points as ES modules: each in one file, and what they share in others. zod and commander, of which
// parts are used, are among them; the dependencies are not. Entry points for browsers share nothing with the others.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { exports, dependencies, peerDependencies } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));

// The texts of some languages would be twice as large if they were escaped.
export const target = { logLevel: 'warning', platform: 'node', target: 'node20.19', charset: 'utf8' };

const BROWSER = { platform: 'neutral', target: 'es2022' };
const FOR_BROWSERS = ['client', 'react'];

/**
 * @param outdir the folder of the bundles; without one, nothing is written
 * @returns the packages whose code is in them, by their folders, such as node_modules/zod
 */
export async function bundle(outdir) {
  const paths = Object.keys(exports).filter((one) => one !== './package.json');
  const names = paths.map((path) => (path === '.' ? 'index' : path.slice(2)));
  const ofServer = names.filter((name) => !FOR_BROWSERS.includes(name));
  const shared = {
    ...target,
    absWorkingDir: root,
    metafile: true,
    write: outdir !== undefined,
    outdir: outdir ?? `${root}/dist`,
    format: 'esm',
    bundle: true,
    splitting: true,
    chunkNames: 'shared-[hash]',
    external: Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => [name, `${name}/*`]),
  };
  const builds = await Promise.all([
    build({
      ...shared,
      plugins: [{ name: 'modules-of-node', setup: useBuiltInModules }],
      entryPoints: { cli: `${root}/lib/cli/main.ts`, ...sources(ofServer) },
    }),
    build({ ...shared, ...BROWSER, entryPoints: sources(FOR_BROWSERS) }),
  ]);
  const files = builds.flatMap(({ metafile }) =>
    Object.values(metafile.outputs).flatMap(({ inputs }) =>
      Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0),
    ),
  );
  return [...new Set(files.flatMap(packageOf))].sort();
}

/** The source files of entry points, by their names. */
function sources(names) {
  return Object.fromEntries(names.map((name) => [name, `${root}/lib/${name}.ts`]));
}

/** The folder of the package that a file belongs to. None for a file of this one. */
function packageOf(path) {
  return /^.*node_modules\/(@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? [];
}

/** An ES module has no `require`, with which commander, a CommonJS package, loads Node's modules. */
function useBuiltInModules({ onLoad }) {
  onLoad({ filter: /node_modules[/\\]commander[/\\].*\.js$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replace(
      /require\(('node:\w+')\)/g,
      'globalThis.process.getBuiltinModule($1)',
    ),
  }));
}
