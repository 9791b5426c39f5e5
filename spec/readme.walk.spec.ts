import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { transform } from 'esbuild';
import { ada, SECRET } from './support/app.js';
import { TSC } from './support/compiler.js';
import { freePort } from './support/free-port.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);
const tsc = (...args: string[]) =>
  run(process.execPath, [...TSC, ...args], { cwd: root }).catch((error) => {
    throw new Error(error.stdout);
  });

/** Declarations of the names that the code samples use without declaring them. */
const GIVEN = `
  type Latchkey = typeof import('latchkey');
  declare const app: import('express').Express;
  type GivenAuth = import('latchkey').Auth &
    import('latchkey').PluginApis<
      readonly [
        ReturnType<Latchkey['credentialPassword']>,
        ReturnType<Latchkey['admin']>,
        ReturnType<Latchkey['oauth']>,
        ReturnType<Latchkey['apiKeys']>,
        ReturnType<Latchkey['auditLog']>,
        ReturnType<Latchkey['roles']>,
        ReturnType<Latchkey['organizations']>,
        ReturnType<Latchkey['suspension']>,
        ReturnType<Latchkey['twoFactor']>,
        ReturnType<Latchkey['passkeys']>,
        ReturnType<typeof import('latchkey/moving-in')['movingIn']>,
      ]
    >;
  declare const auth: GivenAuth;
  declare const admin: Latchkey['admin'];
  declare const apiKeys: Latchkey['apiKeys'];
  declare const auditLog: Latchkey['auditLog'];
  declare const suspension: Latchkey['suspension'];
  declare const twoFactor: Latchkey['twoFactor'];
  declare const passkeys: Latchkey['passkeys'];
  declare const createAuth: Latchkey['createAuth'];
  declare const credentialPassword: Latchkey['credentialPassword'];
  declare const emailSignIn: Latchkey['emailSignIn'];
  declare const currentUser: Latchkey['currentUser'];
  declare const requireAdmin: Latchkey['requireAdmin'];
  declare const requireSession: Latchkey['requireSession'];
  declare const requireMember: Latchkey['requireMember'];
  declare const createProject: import('express').RequestHandler;
  declare const Project: import('sequelize').ModelStatic<import('sequelize').Model<any, any>>;
  declare const server: import('node:http').Server;
  declare const sequelize: import('sequelize').Sequelize;
  declare const DataTypes: typeof import('sequelize').DataTypes;
  declare const user: import('latchkey').User;
  declare const userId: string;
  declare const sessionId: string;
  declare const token: string;
  declare const password: string;
  declare const currentPassword: string;
  declare const newPassword: string;
  declare const req: import('express').Request;
  declare const res: import('express').Response;
  declare const response: any;
  declare const handle: (event: unknown, context: unknown) => Promise<unknown>;
  /** Of a platform, which is not installed here. */
  declare module '@vercel/functions' {
    export function waitUntil(promise: Promise<unknown>): void;
  }
`;

/** What `latchkey pages eject sign-in` writes, as far as the samples use it. */
const EJECTED = `
  import type { Html, RenderedPageOf } from 'latchkey/pages';
  export declare function signIn(page: RenderedPageOf<'sign-in'>): Html;
`;

/** What docs/client.md shows as `shape.ts`. */
const [, SHAPE = ''] =
  /^```ts\n\/\/ shape\.ts\n([\s\S]*?)^```$/m.exec(await readFile(join(root, 'docs/client.md'), 'utf8')) ?? [];

let folder: string;
let project: string;
const examples: string[] = [];
let app: ChildProcess | undefined;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'latchkey-readme-')));
  project = join(folder, 'project');
  const installed = join(project, 'node_modules/latchkey');
  await mkdir(installed, { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await cp(join(root, 'package.json'), join(installed, 'package.json'));
  const installedFiles = join(installed, 'dist/esm');
  // The variable says that `dist` is up to date.
  if (process.env.LATCHKEY_SPEC_BUILT === '1')
    await cp(join(root, 'dist/esm'), installedFiles, { recursive: true });
  else await tsc('-p', 'tsconfig.esm.json', '--outDir', installedFiles);

  // The code of generated-clients.md has a spec of its own.
  const elsewhere = ['generated-clients.md'];
  const pages = (await readdir(join(root, 'docs'))).filter(
    (page) => page.endsWith('.md') && !elsewhere.includes(page),
  );
  for (const page of ['README.md', ...pages.map((name) => `docs/${name}`)]) {
    const text = await readFile(join(root, page), 'utf8');
    for (const [, code = ''] of text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)) examples.push(code);
  }
  await writeFile(join(project, 'package.json'), '{ "type": "module" }');
  await writeFile(join(project, 'given.d.ts'), GIVEN);
  await writeFile(join(project, 'auth.d.ts'), 'export declare const auth: GivenAuth;');
  await mkdir(join(project, 'pages'));
  await writeFile(join(project, 'pages/sign-in.ts'), EJECTED);
  await writeFile(join(project, 'shape.ts'), SHAPE);
  await writeFile(
    join(project, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'es2022',
        module: 'nodenext',
        strict: true,
        skipLibCheck: true,
        types: ['node'],
      },
    }),
  );
}, 180_000);

afterAll(async () => {
  app?.kill();
  await rm(folder, { recursive: true, force: true });
});

test('every TypeScript example in the docs compiles in strict mode', async () => {
  expect(examples.length).toBeGreaterThan(40);
  for (const [index, code] of examples.entries()) {
    await writeFile(join(project, `example-${index}.ts`), `${code}\nexport {};\n`);
  }
  await tsc('-p', project);
});

/** Starts an example in a folder of its own. @returns its origin */
async function start(name: string, code: string): Promise<string> {
  app?.kill();
  const port = await freePort();
  await writeFile(join(project, `${name}.ts`), code.replaceAll('3000', String(port)));
  await tsc('-p', project);
  await mkdir(join(project, name));
  app = spawn(process.execPath, [join(project, `${name}.js`)], {
    cwd: join(project, name),
    env: { ...process.env, AUTH_SECRET: SECRET, NODE_ENV: 'development', NODE_OPTIONS: '' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return `http://localhost:${port}`;
}

/** Where a password manager finds the page for a new password. */
async function pageOfPassword(origin: string) {
  const { status, headers } = await fetch(`${origin}/.well-known/change-password`, { redirect: 'manual' });
  return [status, headers.get('location')];
}

test('the first example of docs/pages.md leads browsers to its pages', async () => {
  const page = await readFile(join(root, 'docs/pages.md'), 'utf8');
  const origin = await start('pages-example', /^```ts\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '');
  await expect(firstAnswer(`${origin}/dashboard`)).resolves.toBe(401);
  const shown = await fetch(`${origin}/dashboard`, { headers: { accept: 'text/html' } });
  expect([shown.status, new URL(shown.url).pathname]).toEqual([200, '/auth/sign-in']);
  expect(await pageOfPassword(origin)).toEqual([302, '/auth/account/security#password']);
});

test('the first example of the README serves sign-up, sign-in and its own route', async () => {
  const origin = await start('first', examples[0] ?? '');
  const post = (path: string, body: object) =>
    fetch(origin + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  await expect(firstAnswer(`${origin}/hello`)).resolves.toBe(401);
  expect((await post('/auth/signup/credential', ada)).status).toBe(201);
  const signedIn = await post('/auth/signin/credential', { credential: ada.email, password: ada.password });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const hello = await fetch(`${origin}/hello`, { headers: { cookie } });
  expect(await hello.json()).toEqual({ hello: ada.email });
  expect(await pageOfPassword(origin)).toEqual([302, '/auth/account/security#password']);
});

/** Pages whose first code cannot run here, and why. */
const CANNOT_RUN: Readonly<Record<string, string>> = {
  'account.md': 'it runs in a browser',
  'beside-drizzle.md': 'it is the config of drizzle-kit',
  'beside-prisma.md': 'it is the config of Prisma',
  'bridges.md': 'it reads the database of the app before the move',
  'bundlers.md': 'it bundles the server of the app',
  'generated-clients.md': 'it uses a generated client',
  'migrating/express-session-passport.md': 'it is the app before the move',
  'migrating/own-table.md': 'it reads the database of the app before the move',
  'moving-in.md': 'it is the app before the move',
};

/** The environment that pages read, as they say that it is; all other variables are secrets. */
const GIVEN_ENVIRONMENT = {
  AUTH_SECRET: SECRET.replaceAll(',', ''),
  BASE_URL: 'http://localhost:3000',
  APP_ORIGIN: 'http://localhost:5173',
  PORT: '0',
  SMTP_URL: 'smtp://127.0.0.1:1025',
  SLACK_WEBHOOK_URL: 'https://hooks.slack.com/services/T0/B0/x',
  TRUSTED_PROXIES: '127.0.0.1',
  CRM_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
  MICROSOFT_TENANT: 'common',
};

/** What the first code of a page imports from the app, which the page before it has made. */
const AUTH = `
  import { admin, apiKeys, createAuth, credentialPassword } from 'latchkey';
  export const auth = createAuth({
    database: 'sqlite::memory:',
    secret: process.env.AUTH_SECRET,
    baseUrl: 'http://localhost:3000',
    email: { send() {} },
    plugins: [credentialPassword(), apiKeys(), admin({ adminEmails: ['owner@example.com'] })],
  });
  await auth.migrate();
`;

/** Imports each file in a folder of its own, one after the other, and prints which of them fail. */
const IMPORT_ALL = `
  import { writeFileSync } from 'node:fs';
  const failed = {};
  let current;
  const fail = (error) => { failed[current] ??= String(error?.message ?? error); };
  process.on('uncaughtException', fail).on('unhandledRejection', fail);
  const given = { ...process.env };
  for (current of process.argv.slice(2)) {
    process.chdir(current);
    Object.assign(process.env, given);
    await import(current + '/example.mjs').catch(fail);
    await new Promise(setImmediate);
  }
  writeFileSync('../failed.json', JSON.stringify(failed));
  process.exit(0);
`;

test('the first code of each page of docs runs as it is pasted', async () => {
  const pages = await readdir(join(root, 'docs'), { recursive: true });
  const folders: string[] = [];
  const environment: Record<string, string> = { ...GIVEN_ENVIRONMENT };
  for (const page of pages.filter((name) => name.endsWith('.md')).sort()) {
    const text = await readFile(join(root, 'docs', page), 'utf8');
    const [, loader, code] = /^```(ts|js)\n([\s\S]*?)^```$/m.exec(text) ?? [];
    if (code === undefined || page in CANNOT_RUN) continue;
    const place = join(project, 'pasted', page.replaceAll('/', '-'));
    const { code: runs } = await transform(code.replaceAll('listen(3000', 'listen(0'), {
      loader: loader as 'ts' | 'js',
    }).catch((error: Error) => ({ code: `throw new Error(${JSON.stringify(error.message)})` }));
    await mkdir(place, { recursive: true });
    await writeFile(join(place, 'example.mjs'), runs);
    await writeFile(join(place, 'auth.js'), AUTH);
    for (const [, name = ''] of code.matchAll(/process\.env\.(\w+)/g))
      environment[name] ??= /DATABASE/.test(name) ? 'sqlite::memory:' : SECRET;
    folders.push(place);
  }
  expect(folders.length).toBeGreaterThan(40);
  await writeFile(join(project, 'import-all.mjs'), IMPORT_ALL);
  await run(process.execPath, [join(project, 'import-all.mjs'), ...folders], {
    env: { PATH: process.env.PATH, NODE_ENV: 'development', ...environment },
    timeout: 120_000,
  });
  const failed = JSON.parse(await readFile(join(project, 'pasted/failed.json'), 'utf8')) as object;
  expect(
    Object.fromEntries(Object.entries(failed).map(([place, error]) => [place.split('/').at(-1), error])),
  ).toEqual({});
});

/** The status of the first response of an app that is starting. */
async function firstAnswer(url: string): Promise<number> {
  for (const end = Date.now() + 15_000; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    try {
      return (await fetch(url)).status;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}
