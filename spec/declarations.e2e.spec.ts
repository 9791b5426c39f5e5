import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as breachCheck from '../lib/breach-check.js';
import * as latchkey from '../lib/index.js';
import * as movingIn from '../lib/moving-in.js';
import * as nodemailer from '../lib/nodemailer.js';
import * as providers from '../lib/providers.js';
import * as sqlite from '../lib/sqlite.js';
import * as testing from '../lib/testing.js';
import { everyPlugin } from './support/every-plugin.js';
import { Projects } from './support/projects.js';

/**
 * A package of a monorepo exports its Auth, with `declaration: true`, and a second package uses it. TypeScript must be
 * able to name every type that it infers, so an entry point must export it.
 */

/** The lowest version that docs/code.md names, and today's. */
const VERSIONS = ['typescript5.0', 'typescript7'];

const ADMIN = "admin({ adminEmails: ['root@example.com'] })";
const PLUGINS: Readonly<Record<string, string>> = {
  admin: ADMIN,
  apiKeys: 'apiKeys()',
  auditLog: `auditLog(), ${ADMIN}`,
  credential: 'credentialPassword({ username: true })',
  oauth: "oauth(), google({ clientId: 'app', clientSecret: 'secret' })",
  passkeys: 'passkeys()',
  suspension: `suspension(), ${ADMIN}`,
  twoFactor: 'twoFactor()',
};
const ALL = [...new Set(Object.values(PLUGINS).flatMap((list) => list.split(/, (?=\w+\()/)))].join(', ');
const MODULES: Readonly<Record<string, string>> = { none: '', ...PLUGINS, all: ALL };

const moduleWith = (plugins: string) => `
  import { admin, apiKeys, auditLog, createAuth, credentialPassword } from 'latchkey';
  import { oauth, passkeys, suspension, twoFactor } from 'latchkey';
  import { google } from 'latchkey/providers';
  export const auth = createAuth({
    database: 'sqlite:./app.db',
    secret: process.env.AUTH_SECRET,
    plugins: [${plugins}],
    user: { fields: { name: { type: 'string', required: true }, plan: { type: 'string', enum: ['free', 'pro'] } } },
  });`;

/** Has TypeScript infer and name the types of a function's input and result. */
const NAMED = `
  export function named<A extends unknown[], R>(work: (...input: A) => R): { input: A; result: Awaited<R> } {
    return work as never;
  }`;

/** The operations of an Auth with every plugin, such as `auth.apiKeys.create`. */
function operations(): string[] {
  const auth = latchkey.createAuth({
    database: 'sqlite:./unused.db',
    secret: 'a secret for specs, of 32 bytes and more',
    baseUrl: 'http://localhost:3000',
    email: { send: () => undefined },
    plugins: [...everyPlugin(), providers.google({ clientId: 'app', clientSecret: 'secret' })],
  });
  const { models, ...rest } = auth;
  const groups = { '': rest, ...rest };
  return [
    ...Object.keys(models).map((name) => `models.${name}`),
    ...Object.entries(groups).flatMap(([group, value]) =>
      methodsOf(value).map((name) => (group ? `${group}.${name}` : name)),
    ),
  ].map((path) => `auth.${path}`);
}

function methodsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const prototype = Object.getPrototypeOf(value);
  const inherited = prototype === Object.prototype ? [] : Object.getOwnPropertyNames(prototype);
  const names = [...Object.keys(value), ...inherited].filter((name) => name !== 'constructor');
  return names.filter((name) => typeof (value as Record<string, unknown>)[name] === 'function');
}

/** A module that exports every operation, and what it takes and returns. */
const OPERATIONS = [
  "import { auth } from './all.js';",
  "import { named } from './named.js';",
  ...operations().map((path, index) =>
    path.startsWith('auth.models.')
      ? `export const o${index} = ${path};`
      : `export const o${index} = ${path}; export const n${index} = named(${path});`,
  ),
].join('\n');

const ENTRIES = {
  '': latchkey,
  'breach-check': breachCheck,
  'moving-in': movingIn,
  nodemailer,
  providers,
  sqlite,
  testing,
};

/** A module that exports what every function of every entry point takes and returns. */
const FUNCTIONS = [
  "import { named } from './named.js';",
  ...Object.entries(ENTRIES).flatMap(([entry, exports], index) => [
    `import * as e${index} from 'latchkey${entry && `/${entry}`}';`,
    ...Object.entries(exports)
      .filter(([, value]) => typeof value === 'function' && !/^class/.test(String(value)))
      .map(([name]) => `export const ${name}${index} = named(e${index}.${name});`),
  ]),
].join('\n');

/** The second package. Its complaints show whether the declarations of the first one say everything. */
const APP = `
  import express from 'express';
  import { authRouter, credentialPassword, currentUser, requireAdmin, requireSession } from 'latchkey';
  import { auth } from '@mono/auth/all.js';
  declare module 'latchkey' { interface Register { auth: typeof auth; strict: true } }
  export const app: express.Express = express();
  app.use('/auth', authRouter(auth));
  app.get('/name', requireSession(auth), (req, res) => { res.json(currentUser(req).name.length); });
  app.get('/plan', requireAdmin(auth), (req, res) => {
    const plan: 'free' | 'pro' | null | undefined = req.auth?.user.plan;
    res.json(plan);
  });
  app.get('/unguarded', (req, res) => {
    // @ts-expect-error: with strict, it can be undefined
    res.json(req.auth.user.plan);
  });
  export const key = async (id: string): Promise<string> => (await auth.apiKeys.create(id, { name: 'x' })).key;
  export const count = (): Promise<number> => auth.models.ApiKey.count();
  export const health = async (): Promise<boolean> => (await auth.health()).ready.signIns;
  export const providers = async (id: string) => (await auth.oauth.accounts(id)).map(({ provider }) => provider);
  export const misspelled: unknown[] = [
    // @ts-expect-error: the option is identifier
    credentialPassword({ username: true, identifer: 'either' }),
    // @ts-expect-error: the option is passwordRules.minLength
    credentialPassword({ passwordRules: { common: true, minLenght: 12 } }),
  ];
  export const none: string[] = [
    // @ts-expect-error: not among the models
    auth.models.Nothing,
    // @ts-expect-error: not an operation
    auth.apiKeys.nothing,
    // @ts-expect-error: the fields of users are known
    auth.users.create({ email: 'ada@example.com', fields: {} }),
  ];`;

const COMPILER = {
  target: 'es2022',
  module: 'nodenext',
  moduleResolution: 'nodenext',
  strict: true,
  composite: true,
  types: ['node'],
  rootDir: 'src',
  outDir: 'out',
};

let projects: Projects;
const complaints: Record<string, string[]> = {};

beforeAll(async () => {
  projects = await Projects.create();
  await projects.npm('.', 'typescript5.0@npm:typescript@5.0.4');
  // As pnpm does, this leaves out what the types of Express depend on, which npm installs beside them.
  const packages = ['sequelize@6', 'express@5', '@types/express@5', '@types/node@20'];
  await projects.link('.', ...packages, 'typescript7@npm:typescript@7');
  await Promise.all(VERSIONS.map(build));
}, 180_000);

afterAll(() => projects.remove());

/** Compiles both packages with a version of TypeScript. */
async function build(version: string): Promise<void> {
  await projects.write(version, {
    'auth/package.json': '{ "name": "@mono/auth", "type": "module", "exports": { "./*.js": "./out/*.js" } }',
    'auth/tsconfig.json': JSON.stringify({ compilerOptions: COMPILER, include: ['src'] }),
    ...Object.fromEntries(
      Object.entries(MODULES).map(([name, plugins]) => [`auth/src/${name}.ts`, moduleWith(plugins)]),
    ),
    'auth/src/named.ts': NAMED,
    'auth/src/operations.ts': OPERATIONS,
    'auth/src/functions.ts': FUNCTIONS,
    'app/package.json': '{ "type": "module" }',
    'app/tsconfig.json': JSON.stringify({
      compilerOptions: COMPILER,
      include: ['src'],
      references: [{ path: '../auth' }],
    }),
    'app/src/app.ts': APP,
    // As a package manager links the packages of a monorepo.
    'node_modules/@mono/readme': '',
  });
  await symlink(
    join(projects.folder, version, 'auth'),
    join(projects.folder, version, 'node_modules/@mono/auth'),
  );
  const compiler = join(projects.folder, 'node_modules', version, 'bin/tsc');
  const output = await projects.tool(compiler, ['-b', join(version, 'app'), '--pretty', 'false']).then(
    () => '',
    (error: Error) => error.message,
  );
  if (output && !output.includes('error TS')) throw new Error(output);
  complaints[version] = output
    .split('\n')
    .filter((line) => line.includes('error TS') && !isInternal(line) && !isOfOpenidClient(line));
}

/** Whether the complaint is about the types of openid-client, which need TypeScript 5.1. */
function isOfOpenidClient(line: string): boolean {
  return line.includes('node_modules/openid-client/') && line.includes('error TS2380');
}

/** Whether TypeScript does not know an operation that a group has for the rest of latchkey only. */
function isInternal(line: string): boolean {
  return /operations\.ts.* error TS2339: Property '\w+' does not exist on type/.test(line);
}

describe.each(VERSIONS)('with %s', (version) => {
  const complaintsAbout = (file: string) =>
    complaints[version]?.filter((line) => line.includes(`/src/${file}.ts(`));

  test.each(Object.keys(MODULES))('a package can export an Auth whose plugins are: %s', (name) => {
    expect(complaintsAbout(name)).toEqual([]);
  });

  test('it can export whatever the operations take and return', () => {
    expect(complaintsAbout('operations')).toEqual([]);
  });

  test('it can export whatever the functions of the entry points take and return', () => {
    expect(complaintsAbout('functions')).toEqual([]);
  });

  test('a second package gets all types, and there is nothing else to complain about', () => {
    expect(complaints[version]).toEqual([]);
  });
});
