import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SECRET } from '../support/app.js';
import { ONE_CHECKER } from '../support/compiler.js';
import { Projects, withoutOuter } from '../support/projects.js';

const FIELDS = `
  plan: { type: 'string', enum: ['free', "it's all"] },
  seats: { type: 'integer', required: true },
  newsletter: { type: 'boolean', required: true, default: false },
  bornAt: { type: 'date' },
  level: { type: 'number', enum: [1, 2.5] },
  settings: { type: 'json' },
  credit: { type: 'number', input: 'none' },
  referrer: { type: 'string', output: 'none' },`;

const IMPORTS = `import { admin, apiKeys, auditLog, createAuth, credentialPassword, emailSignIn } from 'latchkey';
  import { oauth, passkeys, suspension, twoFactor } from 'latchkey';
  import { google } from 'latchkey/providers';`;

const EVERY = `credentialPassword(), emailSignIn(), oauth(), passkeys(), suspension(), twoFactor(), apiKeys(),
  auditLog(), admin({ adminEmails: ['root@example.com'] }), google({ clientId: 'app', clientSecret: 'secret' })`;

const authWith = (plugins: string, more = '') => `createAuth({
  database: 'sqlite:./unused.db',
  secret: '${SECRET}',
  baseUrl: 'http://localhost:3000',
  email: { send: () => undefined },
  plugins: [${plugins}],
  ${more}
})`;

const CONFIGS = {
  bare: authWith(''),
  every: authWith(EVERY, `bearerEnabled: true, user: { fields: {${FIELDS}} },`),
  languages: authWith('credentialPassword()', "locale: { languages: ['en', 'pt-BR'] },"),
};

let projects: Projects;
beforeAll(async () => {
  projects = await Projects.create();
  const peers = ['sequelize@6', 'express@5', '@photostructure/sqlite@1'];
  await projects.link('.', ...peers, '@types/express@5', '@types/node@20', 'typescript@7');
  for (const [name, auth] of Object.entries(CONFIGS)) {
    await projects.write(name, {
      'package.json': '{ "type": "module" }',
      'latchkey.config.js': `${IMPORTS} export const auth = ${auth};`,
      'src/auth.ts': `${IMPORTS}
        import type { HasShape } from 'latchkey';
        import type { Shape } from '../latchkey-shape.js';
        export const auth = ${auth} satisfies HasShape<Shape>;`,
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          target: 'es2022',
          module: 'nodenext',
          strict: true,
          skipLibCheck: true,
          types: ['node'],
          noEmit: true,
        },
        include: ['src'],
      }),
    });
  }
}, 180_000);
afterAll(() => projects.remove());

/** Runs `latchkey client`. */
async function client(name: string, ...args: string[]) {
  const bin = join(projects.folder, 'node_modules/.bin/latchkey');
  const options = { cwd: join(projects.folder, name), env: withoutOuter() };
  return promisify(execFile)(bin, ['client', ...args], options).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
  );
}

const shape = (name: string) => readFile(join(projects.folder, name, 'latchkey-shape.ts'), 'utf8');
const compile = (name: string) =>
  projects.tool(join(projects.folder, 'node_modules/typescript/bin/tsc'), [
    '-p',
    name,
    '--pretty',
    'false',
    ...ONE_CHECKER,
  ]);

test.each(Object.keys(CONFIGS))('writes the shape of an Auth: %s', async (name) => {
  const { code, stdout } = await client(name);
  expect([code, stdout.split('\n')[0]]).toEqual([
    0,
    'Wrote latchkey-shape.ts. To get a compile error when it is out of date:',
  ]);
  await compile(name);
  expect(await client(name, '--check')).toEqual({ code: 0, stdout: 'latchkey-shape.ts is up to date.\n' });
});

test('names plugins and fields', async () => {
  expect(await shape('bare')).toContain('plugins: never;');
  expect(await shape('languages')).toContain("locale?: 'en' | 'pt-BR' | null;");
  const every = await shape('every');
  expect(every).toContain("plan: 'free' | 'it\\'s all' | null;");
  expect(every).toContain('born_at?: string | null;');
  expect(every).toContain('newsletter?: boolean;');
  expect(every.match(/credit|referrer/g)).toEqual(['credit', 'referrer']);
});

test('a folder as the file is a wrong call', async () => {
  for (const more of [[], ['--check']]) {
    const { code, stdout } = await client('every', '--out', 'src', '--json', ...more);
    expect([code, JSON.parse(stdout).error]).toEqual([
      2,
      {
        code: 'usage',
        message: expect.stringMatching(/^--out: src cannot be read: EISDIR.* src\/latchkey-shape\.ts$/),
      },
    ]);
  }
});

test('what is not up to date is found, whatever formatted it, and does not compile', async () => {
  const source = await shape('every');
  await projects.write('every', { 'latchkey-shape.ts': source.replace('plugins: ', 'plugins:\n    | ') });
  expect((await client('every', '--check')).code).toBe(0);
  await projects.write('every', { 'latchkey-shape.ts': source.replace(" | 'twoFactor'", '') });
  const { code, stdout } = await client('every', '--check', '--json');
  expect([code, JSON.parse(stdout)]).toEqual([1, { file: expect.any(String), isCurrent: false }]);
  await expect(compile('every')).rejects.toThrow('Type \'"twoFactor"\' is not assignable to type');
  expect((await client('every')).code).toBe(0);
  expect(await shape('every')).toBe(source);
});
