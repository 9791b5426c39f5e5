import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { TSC } from './support/compiler.js';
import { startLyingProvider } from './support/lying-provider.js';
import { PACKED, Projects, withoutOuter } from './support/projects.js';
import { IN_JAVASCRIPT, IN_TYPESCRIPT, NAMES, OUTCOME } from './support/round-trip.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

/** The entry points of the package, such as `latchkey/pages`. */
const ENTRIES = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports)
  .filter((path) => path !== './package.json')
  .map((path) => `latchkey${path.slice(1)}`);

/** A test file for Jest, in CommonJS: signs in with the OpenID provider ISSUER, and is refused by one that is down. */
const SIGN_IN_WITH_PROVIDER = `
  const { createServer } = require('node:http');
  const express = require('express');
  const { authRouter, createAuth, credentialPassword, oauth } = require('latchkey');
  const { oidc } = require('latchkey/providers');

  let auth, origin, server;
  const lines = [];
  beforeAll(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    origin = 'http://127.0.0.1:' + server.address().port;
    const client = { clientId: 'app', clientSecret: 'the client secret' };
    const warn = (...args) => lines.push(args.join(' '));
    auth = createAuth({
      database: 'sqlite::memory:',
      secret: 'a secret for specs, of 32 bytes and more',
      baseUrl: origin,
      logger: { debug() {}, info() {}, warn, error: warn },
      plugins: [
        credentialPassword({ bcryptCost: 4 }),
        oauth(),
        oidc({ id: 'work', issuer: process.env.ISSUER, trustEmailVerified: true, ...client }),
        oidc({ id: 'down', issuer: 'http://127.0.0.1:1', ...client }),
      ],
    });
    await auth.migrate();
    server.on('request', express().use('/auth', authRouter(auth)));
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await auth.close();
  });

  const visit = (url, cookie = '') => fetch(url, { redirect: 'manual', headers: { cookie } });
  const cookiesOf = (response) => response.headers.getSetCookie().map((line) => line.split(';')[0]).join('; ');

  test('signs in with a provider', async () => {
    const start = await visit(origin + '/auth/oauth/work/authorize?callback_url=/welcome');
    const atProvider = await visit(start.headers.get('location'));
    const back = await visit(atProvider.headers.get('location'), cookiesOf(start));
    expect([lines, back.headers.get('location')]).toEqual([[], '/welcome']);
    const me = await visit(origin + '/auth/me', cookiesOf(back));
    expect((await me.json()).user.email).toBe('ada@example.com');
  });

  test('says why a provider failed', async () => {
    expect((await visit(origin + '/auth/oauth/down/authorize')).status).toBe(502);
    expect(lines.join()).toContain('provider down failed: TypeError: fetch failed (bad port)');
  });
`;

/** A test file for Jest, in CommonJS: a token that the app has signed itself stands for a session. */
const OWN_TOKEN = `
  const { createHmac } = require('node:crypto');
  const { createAuth } = require('latchkey');
  const { jwtSessions, movingIn } = require('latchkey/moving-in');

  test('accepts a token of the app', async () => {
    const until = new Date(Date.now() + 60_000);
    const bridge = jwtSessions({ keys: 'a secret', algorithms: ['HS256'], userId: ({ sub }) => sub, until });
    const database = 'sqlite::memory:';
    const plugins = [movingIn({ bridges: [bridge] })];
    const auth = createAuth({ database, secret: 'a secret for specs, of 32 bytes and more', plugins });
    await auth.migrate();
    const { id: sub } = await auth.users.create({ email: 'ada@example.com' });
    const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const input = part({ alg: 'HS256' }) + '.' + part({ sub, exp: Math.floor(Date.now() / 1000) + 60 });
    const token = input + '.' + createHmac('sha256', 'a secret').update(input).digest('base64url');
    const { user } = await auth.getSession({ headers: { authorization: 'Bearer ' + token } });
    expect(user.id).toBe(sub);
    await auth.close();
  });
`;

/** A test file for Jest, in CommonJS, with `latchkey/testing`. */
const TEST_WITH_TESTING = `
  const getSession = (auth, headers) => auth.getSession({ headers });
  const { signedIn, testAuth } = require('latchkey/testing');
  const auth = testAuth();
  afterAll(() => auth.close());

  test('a session ends by the clock of the tests', async () => {
    const { headers, user } = await signedIn(auth, { email: 'ada@example.com' });
    expect((await getSession(auth, headers)).user.id).toBe(user.id);
    auth.testing.advance(86400);
    await expect(getSession(auth, headers)).rejects.toThrow();
    await auth.testing.reset();
    expect(await auth.users.get(user.id)).toBeNull();
  });

  test('fake timers do not stop it', async () => {
    const { headers, user } = await signedIn(auth);
    jest.useFakeTimers();
    try {
      for (let time = 0; time < 3; time++)
        expect((await getSession(auth, headers)).user.id).toBe(user.id);
      const both = await Promise.all([getSession(auth, headers), getSession(auth, headers)]);
      expect(both.map((one) => one.user.id)).toEqual([user.id, user.id]);
    } finally {
      jest.useRealTimers();
    }
    expect((await getSession(auth, headers)).user.id).toBe(user.id);
  });
`;

/** Prints the address of every module that Node's loader of ES modules loads. */
const LOG_LOADED = `import { writeSync } from 'node:fs';
  export async function load(url, context, next) {
    writeSync(1, url + '\\n');
    return next(url, context);
  }`;

/** Makes an Auth with every plugin, and a router; then signs somebody up. Prints what CommonJS has loaded until each. */
const LIST_LOADED = `exports.plugins = (latchkey, { google }) => [
    latchkey.credentialPassword({ bcryptCost: 4 }),
    latchkey.twoFactor(),
    latchkey.oauth(),
    google({ clientId: 'app', clientSecret: 'the client secret' }),
    latchkey.passkeys({ rpName: 'App' }),
    latchkey.apiKeys(),
    latchkey.suspension(),
    latchkey.auditLog(),
    latchkey.admin({ adminEmails: ['ada@example.com'] }),
  ];
  exports.used = async ({ authRouter, createAuth }, plugins) => {
    const auth = createAuth({
      database: 'sqlite::memory:',
      secret: 'a secret for specs, of 32 bytes and more',
      baseUrl: 'http://localhost:3000',
      email: { send() {} },
      plugins,
    });
    authRouter(auth);
    console.log(Object.keys(require.cache).join('\\n') + '\\nsigned up');
    await auth.migrate();
    await auth.credential.signUp({ email: 'ada@example.com', password: 'an analytical engine' });
    console.log(Object.keys(require.cache).join('\\n'));
    await auth.close();
  };`;

/** The names of the packages in a list of files and addresses. */
function packagesIn(files: string): Set<string> {
  const names = files.matchAll(/node_modules\/((?:@[^/\n]+\/)?[^/\n]+)\/(?!.*node_modules\/)/g);
  return new Set([...names].map(([, name = '']) => name));
}

/** The database is next to the project's own files. */
const configWith = (name: string) => `const config = { database: ${JSON.stringify(`sqlite:./${name}.db`)} };`;

describe('the npm package', () => {
  let projects: Projects;
  let packed: string[];

  beforeAll(async () => {
    packed = JSON.parse(await readFile(join(PACKED, 'files.json'), 'utf8'));
    projects = await Projects.create();
    const peers = ['sequelize@6', '@photostructure/sqlite@1'];
    await Promise.all([
      projects.install('.', ...peers, 'express@5', '@types/express@5', '@types/node@20'),
      projects.install('express4', ...peers, 'express@4'),
    ]);
  }, 180_000);

  afterAll(() => projects.remove());

  test('contains the build and the documentation and nothing else', () => {
    const expected =
      /^(dist\/(esm|cjs)\/.+\.(js|d\.ts)|dist\/cjs\/package\.json|dist\/(zod|commander)\.LICENSE|dist\/eject\/[a-z-]+\.[jt]s|docs\/(migrating\/)?[\w-]+\.md|[A-Z]+(\.md)?|package\.json)$/;
    expect(packed.filter((path) => !expected.test(path))).toEqual([]);
    for (const path of ['README.md', 'LICENSE', 'CHANGELOG.md', 'dist/esm/index.js', 'dist/cjs/index.d.ts']) {
      expect(packed).toContain(path);
    }
    expect(packed.filter((path) => /^[A-Z]/.test(path)).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
    ]);
  });

  test('works in an ES module', async () => {
    await projects.write('esm', {
      'main.mjs': `import express from 'express';
        import { ${NAMES} } from 'latchkey';
        ${configWith('esm')}
        ${IN_JAVASCRIPT}
        console.log(outcome);`,
    });
    expect(await projects.node('esm', 'main.mjs')).toBe(OUTCOME);
  });

  test('works in a CommonJS module', async () => {
    await projects.write('cjs', {
      'main.cjs': `const express = require('express');
        const { ${NAMES} } = require('latchkey');
        (async () => {
          ${configWith('cjs')}
          ${IN_JAVASCRIPT}
          console.log(outcome);
        })();`,
    });
    expect(await projects.node('cjs', 'main.cjs')).toBe(OUTCOME);
  });

  test.each(['mjs', 'cjs'])('loads packages when they are used (main.%s)', async (extension) => {
    const name = `loaded-${extension}`;
    await projects.write(name, {
      'main.cjs': `const { plugins, used } = require('../loaded.cjs');
        const latchkey = require('latchkey');
        void used(latchkey, plugins(latchkey, require('latchkey/providers')));`,
      'main.mjs': `import { plugins, used } from '../loaded.cjs';
        import * as latchkey from 'latchkey';
        import * as providers from 'latchkey/providers';
        await used(latchkey, plugins(latchkey, providers));`,
    });
    await projects.write('.', { 'hooks.mjs': LOG_LOADED, 'loaded.cjs': LIST_LOADED });
    const hooks =
      'import { register } from "node:module"; register("../hooks.mjs", "file://" + process.cwd() + "/")';
    const flag = `--import=data:text/javascript,${encodeURIComponent(hooks)}`;
    const options = { cwd: join(projects.folder, name), env: withoutOuter() };
    const { stdout } = await run(process.execPath, [flag, `main.${extension}`], options);
    const [atStart, afterSignUp] = stdout.split('signed up').map(packagesIn);
    // Express and Sequelize bring others.
    const { dependencies, peerDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    const known = Object.keys({ ...dependencies, ...peerDependencies });
    // Express itself loads negotiator.
    const first = ['cookie', 'express', 'negotiator', 'sequelize'];
    expect(known.filter((one) => atStart?.has(one)).sort()).toEqual(first);
    expect(atStart).toContain('latchkey');
    expect(known.filter((one) => afterSignUp?.has(one))).toEqual(
      expect.arrayContaining(['@zxcvbn-ts/language-common', 'bcrypt']),
    );
  });

  test('keeps what plugins declare when an app is bundled', async () => {
    await projects.write('bundle', {
      'main.mjs': `import { apiKeys, createAuth, credentialPassword } from 'latchkey';
        const auth = createAuth({
          database: 'sqlite:./bundle.db',
          secret: 'a secret for specs, of 32 bytes and more',
          plugins: [credentialPassword(), apiKeys()],
        });
        auth.on('api_key.created', () => {});
        const headers = { 'x-service-api-key': 'junk' };
        const refused = await auth.getSession({ headers }).catch((error) => error.code);
        console.log(refused, Object.keys(auth.openapi().paths).includes('/api-keys'));
        await auth.close();`,
    });
    await build({
      entryPoints: [join(projects.folder, 'bundle', 'main.mjs')],
      outfile: join(projects.folder, 'bundle', 'bundled.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      // What has native parts or loads modules by name stays outside.
      external: ['sequelize', 'bcrypt', 'express', 'ioredis', '@node-rs/argon2', '@photostructure/sqlite'],
    });
    // One that is bundled resolves what is outside as latchkey would.
    expect(await projects.node('bundle', 'bundled.mjs')).toBe('invalid_api_key true');
  });

  test('shares one Auth between its ESM and CommonJS builds', async () => {
    await projects.write('both', {
      'main.mjs': `import { createRequire } from 'node:module';
        import { AuthError, createAuth, currentUser } from 'latchkey';
        const required = createRequire(import.meta.url)('latchkey');
        const config = { database: 'sqlite:./both.db', secret: 'a secret for specs, of 32 bytes and more' };
        const answers = [createAuth(config) === required.createAuth(config)];
        try { required.currentUser({}); } catch (error) { answers.push(error instanceof AuthError); }
        try { currentUser({}); } catch (error) { answers.push(error instanceof required.AuthError); }
        console.log(answers.join(' '));`,
    });
    expect(await projects.node('both', 'main.mjs')).toBe('true true true');
  });

  test.each(['ts', 'cts'])(
    'works in strict TypeScript (main.%s) that also checks all declarations',
    async (extension) => {
      const name = `typescript-${extension}`;
      await projects.write(name, {
        'tsconfig.json': JSON.stringify({
          compilerOptions: {
            target: 'es2022',
            module: 'nodenext',
            strict: true,
            noUncheckedIndexedAccess: true,
            skipLibCheck: false,
            types: ['node'],
            outDir: 'out',
          },
        }),
        'package.json': '{ "type": "module" }',
        [`main.${extension}`]: `import type { AddressInfo } from 'node:net';
        import express = require('express');
        import { ${NAMES} } from 'latchkey';
        ${ENTRIES.map((entry, index) => `import type * as entry${index} from '${entry}';`).join('\n')}
        async function main() {
          ${configWith(name)}
          ${IN_TYPESCRIPT}
          console.log(outcome);
        }
        void main();`.replace(/import express = .*/, (line) =>
          extension === 'cts' ? line : "import express from 'express';",
        ),
      });
      const [tsc, ...options] = TSC;
      await projects.tool(tsc, [...options, '-p', join(projects.folder, name)]);
      expect(await projects.node(name, `out/main.${extension === 'cts' ? 'cjs' : 'js'}`)).toBe(OUTCOME);
    },
  );

  test('works in a CommonJS project with Jest, providers included', async () => {
    await projects.write('jest', {
      'package.json': '{ "jest": { "transform": {} } }',
      'main.test.js': `const express = require('express');
        const { ${NAMES} } = require('latchkey');
        test('serves', async () => {
          ${configWith('jest')}
          ${IN_JAVASCRIPT}
          expect(outcome).toBe(${JSON.stringify(OUTCOME)});
        });`,
      'provider.test.js': SIGN_IN_WITH_PROVIDER,
      'token.test.js': OWN_TOKEN,
      'testing.test.js': TEST_WITH_TESTING,
    });
    const provider = await startLyingProvider();
    try {
      // Without the flag for ES modules that the specs themselves need.
      await projects.tool(
        join(root, 'node_modules/jest/bin/jest.js'),
        ['--rootDir', join(projects.folder, 'jest')],
        { ISSUER: provider.issuer },
      );
    } finally {
      await provider.stop();
    }
  });

  test.each([
    [
      'an ES module',
      'command-esm',
      '{ "type": "module" }',
      "import { createAuth } from 'latchkey'; export const auth =",
    ],
    ['CommonJS', 'command-cjs', '{}', "const { createAuth } = require('latchkey'); exports.auth ="],
  ])('has a command that takes a config in %s', async (_what, name, json, beginning) => {
    const config =
      "createAuth({ database: 'sqlite:./app.db', secret: 'a secret for specs, of 32 bytes and more' });";
    await projects.write(name, { 'package.json': json, 'latchkey.config.js': `${beginning} ${config}` });
    const latchkey = (...args: string[]) =>
      run(join(projects.folder, 'node_modules/.bin/latchkey'), args, {
        cwd: join(projects.folder, name),
        env: withoutOuter(),
      });
    expect(JSON.parse((await latchkey('migrate', '--json')).stdout).migrations).toContain('0001-core');
    expect((await latchkey('migrate')).stdout).toBe('The tables are up to date.\n');
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    expect((await latchkey('--version')).stdout).toBe(`${version}\n`);
  });

  test('works with Express 4', async () => {
    await projects.write('express4', {
      'main.mjs': `import express from 'express';
        import { ${NAMES} } from 'latchkey';
        ${configWith('express4')}
        ${IN_JAVASCRIPT}
        console.log(outcome);`,
    });
    expect(await projects.node('express4', 'main.mjs')).toBe(OUTCOME);
  });
});
