import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Projects } from './support/projects.js';
import { IN_JAVASCRIPT, NAMES, OUTCOME } from './support/round-trip.js';

const page = await readFile(new URL('../docs/bundlers.md', import.meta.url), 'utf8');

/** The files on the page, which name themselves in their first line. */
const files = Object.fromEntries(
  [...page.matchAll(/^```js\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)].map(([, name = '', code = '']) => [name, code]),
);

/** The entry of a bundle. Its environment says what it does. */
const SERVER = `
  import express from 'express';
  import { ${NAMES} } from 'latchkey';
  async function main() {
    const config = { database: process.env.DATABASE };
    // Loads the driver of another database, without connecting.
    await createAuth({ database: process.env.OTHER, secret: 'x'.repeat(40) }).close();
    ${IN_JAVASCRIPT}
    console.log(outcome);
  }
  main().catch((error) => { console.log(String(error.stack)); });`;

/** webpack without its command line, which is a package of its own. */
const WEBPACK = `
  import webpack from 'webpack';
  import config from './webpack.config.js';
  webpack(config, (error, stats) => {
    if (!error && !stats.hasErrors() && !stats.hasWarnings()) return;
    console.error(error ?? stats.toString());
    process.exitCode = 1;
  });`;

const DATABASES = { DATABASE: 'sqlite::memory:', OTHER: 'postgres://ada:hushhush@127.0.0.1:1/app' };

const NEEDS_PACKAGE = process.getBuiltinModule('node:sqlite') === undefined;

let projects: Projects;
beforeAll(async () => {
  projects = await Projects.create();
  const tools = ['esbuild@0.28', 'tsup@9.0.0', 'typescript@5.9.3', 'webpack@5.112.2'];
  await projects.install('.', 'sequelize@6', 'express@5', 'pg@8', '@photostructure/sqlite@1', ...tools);
  const { dependencies } = JSON.parse(await readFile(join(projects.folder, 'package.json'), 'utf8'));
  await projects.write('app', {
    'package.json': JSON.stringify({ type: 'module', dependencies }),
    'server.js': SERVER,
    'webpack.mjs': WEBPACK,
    ...files,
  });
}, 180_000);
afterAll(() => projects.remove());

const bundles = {
  esbuild: { make: 'build.mjs', file: 'dist/server.mjs' },
  tsup: { make: '../node_modules/tsup/dist/cli-default.js', file: 'dist/server.mjs' },
  webpack: { make: 'webpack.mjs', file: 'dist/server.mjs' },
  'esbuild in one file': { make: 'build-one-file.mjs', file: 'dist/server.cjs' },
};

test('docs/bundlers.md has a config for each bundler', () => {
  expect(Object.keys(files)).toEqual([
    'build.mjs',
    'tsup.config.js',
    'webpack.config.js',
    'build-one-file.mjs',
  ]);
});

describe.each(Object.entries(bundles))('a bundle of %s', (_name, { make, file }) => {
  beforeAll(async () => {
    await projects.node('app', make);
  });

  test('signs users up and in, and finds the drivers', async () => {
    expect(await projects.node('app', file, DATABASES)).toBe(OUTCOME);
  });
});

describe('a bundle that contains too much', () => {
  const notInstalled = ['ioredis', '@node-rs/argon2', '@simplewebauthn/server'];
  const external = ['pg-hstore', 'bcrypt', 'express', ...notInstalled];

  // Newer versions of Node have SQLite.
  (NEEDS_PACKAGE ? test : test.skip)('says that the package for SQLite is installed, but lost', async () => {
    const options = { outfile: 'dist/whole.cjs', bundle: true, platform: 'node', format: 'cjs', external };
    await projects.write('app', {
      'whole.mjs': `
        import { build } from 'esbuild';
        await build({ entryPoints: ['server.js'], logLevel: 'silent', ...${JSON.stringify(options)} });`,
    });
    await projects.node('app', 'whole.mjs');
    const said = await projects.node('app', 'dist/whole.cjs', { ...DATABASES, OTHER: 'sqlite::memory:' });
    expect(said).toContain('latchkey: SQLite needs @photostructure/sqlite on Node v20');
    expect(said).toContain('The package is installed, but cannot be loaded. If your app is bundled');
    expect(said).not.toContain('npm install');
  });

  test('says that the driver of another database is installed, but lost', async () => {
    const externals = Object.fromEntries(external.map((name) => [name, `commonjs ${name}`]));
    await projects.write('app', {
      'lost.mjs': `
        import webpack from 'webpack';
        const output = { path: import.meta.dirname + '/dist', filename: 'lost.cjs' };
        const externals = ${JSON.stringify(externals)};
        webpack({ mode: 'none', target: 'node', entry: './server.js', output, externals }, () => {});`,
    });
    await projects.node('app', 'lost.mjs');
    const said = await projects.node('app', 'dist/lost.cjs', DATABASES);
    expect(said).toContain(
      'latchkey: database is postgres://…, whose driver pg is installed, but Sequelize cannot load it',
    );
    expect(said).not.toMatch(/npm install|hushhush/);
  });
});
