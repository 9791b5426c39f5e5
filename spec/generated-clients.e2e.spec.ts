import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ada, password, SECRET, type SpecApp, startApp } from './support/app.js';
import { Projects } from './support/projects.js';

const page = await readFile(new URL('../docs/generated-clients.md', import.meta.url), 'utf8');
const [, CLIENT = ''] = /^```ts\n\/\/ sign-in\.ts\n([\s\S]*?)^```$/m.exec(page) ?? [];

const CONFIG = `
  import { createAuth, credentialPassword, twoFactor } from 'latchkey';
  export const auth = createAuth({
    database: 'sqlite:./unused.db',
    secret: '${SECRET}',
    baseUrl: 'http://localhost:3000',
    plugins: [credentialPassword(), twoFactor()],
  });`;

const OPTIONS = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: 'es2022',
  lib: ['es2023', 'dom'],
  module: 'nodenext',
  types: [],
};

let projects: Projects;
let app: SpecApp<readonly []>;
beforeAll(async () => {
  app = (await startApp({ plugins: [password()] })) as never;
  await app.http.post('/auth/signup/credential').send(ada).expect(201);
  projects = await Projects.create();
  const tools = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3'];
  await projects.npm('.', ...tools);
  await projects.link('.', 'sequelize@6', 'express@5', '@photostructure/sqlite@1');
  await projects.write('.', {
    'package.json': JSON.stringify({ private: true, type: 'module' }),
    'latchkey.config.js': CONFIG,
    'sign-in.ts': CLIENT,
    'tsconfig.json': JSON.stringify({ compilerOptions: OPTIONS, files: ['sign-in.ts'] }),
    'main.js': `
      import { signIn } from './sign-in.js';
      const [baseUrl, ...credentials] = process.env.CALL.split('|');
      console.log(await signIn(baseUrl, ...credentials));`,
  });
  await latchkeyAndTypes();
}, 180_000);
afterAll(async () => {
  await projects.remove();
  await app.stop();
});

/** Runs the commands of the page. */
async function latchkeyAndTypes() {
  const [, latchkey] = /^npx latchkey (.*)$/m.exec(page) ?? [];
  const [, types] = /^npx openapi-typescript (.*)$/m.exec(page) ?? [];
  await projects.tool(bin('latchkey/dist/esm/cli.js'), words(latchkey));
  await projects.tool(bin('openapi-typescript/bin/cli.js'), words(types));
}

const words = (command = '') => command.split(' ');
const bin = (path: string) => join(projects.folder, 'node_modules', path);
const compile = () => projects.tool(bin('typescript/bin/tsc'), ['-p', '.']);
const call = (...credentials: string[]) =>
  projects.node('.', 'main.js', { CALL: [`${app.origin}/auth`, ...credentials].join('|') });

describe('docs/generated-clients.md', () => {
  test('its client compiles in strict mode, and tells errors of a server apart', async () => {
    await compile();
    expect(await call(ada.email, ada.password)).toBe(`Hello ${ada.email}`);
    expect(await call(ada.email, 'wrong')).toBe('Wrong email or password.');
    expect(await call('', 'wrong')).toBe('credential must have at least 1 characters');
  });

  test('a code that the route does not return does not compile', async () => {
    await projects.write('.', {
      'sign-in.ts': CLIENT.replace("'invalid_credentials'", "'invalid_password'"),
    });
    await expect(compile()).rejects.toThrow(
      /'"invalid_password"' is not comparable to type .*"invalid_credentials"/,
    );
  });
});
