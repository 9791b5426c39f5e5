import { execFile } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Projects, withoutOuter } from '../support/projects.js';
import { METHODS, OBJECTS } from './methods.js';

/** The cost of the client's types, in the project of a browser app with the npm package. */

/** The lowest version that docs/code.md names, the last one in JavaScript, and today's, which is the repository's. */
const VERSIONS = { 'typescript5.0': '5.0.4', typescript5: '5.9.3', typescript7: '7' };

const SHAPE = `
  export interface Shape {
    plugins: ${OBJECTS.map((name) => `'${name}'`).join(' | ')};
    fields: { plan: 'free' | 'pro' | null };
    newFields: { plan?: 'free' | 'pro' | null };
    bearer: false;
  }`;

const HEAD = `
  import { createClient } from 'latchkey/client';
  import type { Shape } from './shape.js';
  export const client = createClient<Shape>();`;

const CEREMONIES = ['create', 'signIn', 'completeSignIn', 'reauthenticate', 'undoChange'];

/** Calls every method. */
const ALL = METHODS.map(({ name, parameters, hasInput }) => {
  const given = [...Array(parameters).fill("'id'"), ...(hasInput ? ['{} as never'] : [])];
  return `console.log((await client.${name}(${given.join(', ')})).data);`;
});

/** Exports every method, so TypeScript must be able to name its types. */
const EXPORTED = [...METHODS.map(({ name }) => name), ...CEREMONIES.map((name) => `passkeys.${name}`)].map(
  (path, index) => `export const method${index} = client.${path};`,
);

const ME = `
  const { data, error } = await client.me();
  console.log(error ? error.code : data.user.plan);`;

const OPTIONS = { target: 'es2022', module: 'nodenext', strict: true, skipLibCheck: true, types: [] };

const BUDGETS = { 'every method': 1500, 'client.me()': 1000 };
const FILES: Readonly<Record<string, string>> = {
  'every method': [HEAD, 'export async function all() {', ...ALL, '}'].join('\n'),
  'client.me()': `${HEAD}\nexport async function me() {${ME}}`,
};

let projects: Projects;
beforeAll(async () => {
  projects = await Projects.create();
  const tools = Object.entries(VERSIONS).map(([name, version]) => `${name}@npm:typescript@${version}`);
  await projects.npm('.', ...tools.slice(0, -1));
  // With what a server needs, so that its types would be found.
  const peers = ['express@5', '@types/express@5', 'sequelize@6'];
  await projects.link('.', 'react@19', '@types/react@19', ...peers, ...tools.slice(-1));
  for (const [name, source] of Object.entries(FILES)) {
    await projects.write(folderOf(name), {
      'package.json': '{ "type": "module" }',
      'shape.ts': SHAPE,
      'app.ts': source,
      'tsconfig.json': JSON.stringify({
        compilerOptions: { ...OPTIONS, lib: ['es2022', 'dom'], noEmit: true },
        files: ['app.ts'],
      }),
    });
  }
}, 180_000);
afterAll(() => projects.remove());

const folderOf = (name: string) => name.replace(/\W/g, '');
const compilerOf = (version: string) => join(projects.folder, 'node_modules', version, 'bin/tsc');

/** Compiles a project, and returns what the compiler prints about it. */
async function compile(version: string, folder: string, ...flags: string[]): Promise<string> {
  const options = { cwd: join(projects.folder, folder), env: withoutOuter(), maxBuffer: 1e8 };
  const run = promisify(execFile)(process.execPath, [compilerOf(version), '-p', '.', ...flags], options);
  return (
    await run.catch((error) => {
      throw new Error(`${error.stdout}${error.stderr}`);
    })
  ).stdout;
}

describe.each(Object.keys(VERSIONS))('with %s', (version) => {
  test.each(Object.entries(BUDGETS))('%s costs at most %i instantiations', async (name, most) => {
    const printed = await compile(version, folderOf(name), '--extendedDiagnostics');
    const [, instantiations] = /^Instantiations:\s+(\d+)$/m.exec(printed) ?? [];
    process.stdout.write(`${version}, ${name}: ${instantiations} instantiations\n`);
    expect(Number(instantiations)).toBeGreaterThan(0);
    expect(Number(instantiations)).toBeLessThanOrEqual(most);
  });

  test('a project has no file of the server, or of what the server needs', async () => {
    const printed = await compile(version, folderOf('every method'), '--listFiles');
    const files = printed.split('\n').filter((line) => line.includes('/node_modules/'));
    const packages = files.map((file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1]);
    expect([...new Set(packages)].filter((name) => !/^(typescript|@typescript\/)/.test(name ?? ''))).toEqual([
      'latchkey',
    ]);
    const ours = files
      .filter((file) => file.includes('/node_modules/latchkey/'))
      .map((file) => file.split('/dist/esm/')[1]);
    expect(ours.filter((file) => !/^client(\.d\.ts$|\/)/.test(file ?? ''))).toEqual([]);
  });

  test('a package of a monorepo can export a client, and a second one uses it', async () => {
    const compiler = { ...OPTIONS, lib: ['es2022', 'dom'], composite: true, rootDir: 'src', outDir: 'out' };
    const folder = `mono-${version}`;
    await projects.write(folder, {
      'client/package.json': '{ "name": "@mono/client", "type": "module", "exports": "./out/client.js" }',
      'client/tsconfig.json': JSON.stringify({ compilerOptions: compiler, include: ['src'] }),
      'client/src/shape.ts': SHAPE,
      'client/src/methods.ts': ["import { client } from './client.js';", ...EXPORTED].join('\n'),
      'client/src/client.ts': `${HEAD}
        import { useSession } from 'latchkey/react';
        export const me = () => client.me();
        export const signIn = client.credential.signIn;
        export const state = () => client.session.get();
        export const useUser = () => useSession(client);`,
      'app/package.json': '{ "type": "module" }',
      'app/tsconfig.json': JSON.stringify({
        compilerOptions: compiler,
        include: ['src'],
        references: [{ path: '../client' }],
      }),
      'app/src/app.ts': `
        import { client, me, signIn, useUser } from '@mono/client';
        export const plan = async (): Promise<'free' | 'pro' | null | undefined> => (await me()).data?.user.plan;
        export const step = async () => (await signIn({ credential: 'ada', password: 'x' })).data?.step;
        export const status: 'loading' | 'signed_in' | 'signed_out' = useUser().status;
        // @ts-expect-error: not a method
        client.credential.nothing;
        // @ts-expect-error: not a plan
        client.updateMe({ plan: 'gold' });`,
      'node_modules/@mono/readme': '',
    });
    await symlink(
      join(projects.folder, folder, 'client'),
      join(projects.folder, folder, 'node_modules/@mono/client'),
    );
    await projects.tool(compilerOf(version), ['-b', join(folder, 'app'), '--pretty', 'false']);
  });
});
