import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { Output } from '../../lib/cli/output.js';
import { createProgram, run } from '../../lib/cli/program.js';
import { SECRET } from '../support/app.js';
import { type CliProject, startProject } from '../support/cli.js';

const configFor = (database: string) => `createAuth({
  database: '${database}',
  secret: '${SECRET}',
  plugins: [credentialPassword()],
})`;
const CONFIG = `import { createAuth, credentialPassword } from 'latchkey';
  console.error('loaded');
  export const auth = ${configFor('sqlite:./app.db')};`;

/** The folder is not read by these calls. */
const PACKAGE = { version: '1.0.0', folder: '' };

let project: CliProject;
beforeAll(async () => {
  project = await startProject('tsx');
  await project.write({ 'package.json': '{ "type": "module" }', 'latchkey.config.js': CONFIG });
}, 180_000);
afterAll(() => project.remove());

describe('docs/command-line.md', () => {
  const { command } = createProgram(process, PACKAGE);
  const all = (of: Command, path: string): [string, Command][] => [
    [path, of],
    ...of.commands.flatMap((one) => all(one, `${path} ${one.name()}`)),
  ];

  const every = all(command, '');
  const page = readFileSync(new URL('../../docs/command-line.md', import.meta.url), 'utf8');

  test.each(every.filter(([, { commands }]) => commands.length === 0))('lists%s', (path, one) => {
    const called = `${path} ${one.usage().replace('[options]', '')}`.replace(/\s+/g, ' ').trim();
    const [what] = one.description().split(/(?<=\.)\s/);
    expect(page).toContain(`\n| \`${called}\` | ${what} |`);
  });

  test('names only options that exist', () => {
    const known = every.flatMap(([, one]) => one.options.map(({ long }) => long));
    const named = [...page.matchAll(/(?<=[`\s(])--[a-z-]+/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe('the command line', () => {
  test('prints its help, and fails without a command', async () => {
    const help = await project.run(['--help']);
    expect([help.code, help.stderr]).toEqual([0, '']);
    expect(help.stdout).toMatch(/^Usage: latchkey /);
    const none = await project.run([]);
    expect([none.code, none.stdout]).toEqual([2, '']);
    expect(none.stderr).toMatch(/^Usage: latchkey /);
  });

  test('prints the help of each command', async () => {
    const { stdout: whole } = await project.run(['help']);
    expect(whole).toBe((await project.run(['--help'])).stdout);
    const { stdout: nested } = await project.run(['help', 'users', 'create']);
    expect(nested).toBe((await project.run(['users', 'create', '--help'])).stdout);
    const unknown = await project.run(['help', 'users', 'creat']);
    expect([unknown.code, unknown.stdout]).toEqual([2, '']);
    expect(unknown.stderr).toBe(
      'latchkey: there is no command users creat: run latchkey help for the list\n',
    );
  });

  test.each([
    [['migrat'], "unknown command 'migrat'"],
    [['migrate', '--bogus'], "unknown option '--bogus'"],
    [['migrate', '--undo', 'some'], 'It must be a whole number, or all.'],
    [['users', 'list', '--limit', '0'], 'It must be a whole number from 1 to 200.'],
    [['users', 'find'], "missing required argument 'user'"],
    [['migrate', 'now'], 'too many arguments'],
  ])('%j is a wrong call', async (args, message) => {
    const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
    expect([await run(args, PACKAGE, streams), streams.stdout.read()]).toEqual([2, null]);
    const stderr = String(streams.stderr.read());
    expect(stderr).toMatch(/^latchkey: /);
    expect(stderr).toContain(message);
  });

  test('secret prints a secret, a new one each time, and needs no config', async () => {
    const once = await project.run(['secret', '--config', 'nothing.js']);
    const again = await project.run(['secret', '--json']);
    expect(once.stdout).toMatch(/^[\w-]{43}\n$/);
    expect(JSON.parse(again.stdout).secret).toMatch(/^[\w-]{43}$/);
    expect(once.stdout).not.toContain(JSON.parse(again.stdout).secret);
  });

  test('openapi prints the document of the config, or writes it to a file that it replaces', async () => {
    const { code, stdout, stderr } = await project.run(['openapi']);
    expect([code, stderr]).toEqual([0, 'loaded\n']);
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({ openapi: '3.1.0', paths: { '/signin/credential': expect.anything() } });
    expect(JSON.parse((await project.run(['openapi', '--json'])).stdout)).toEqual(document);
    await project.write({ 'client/openapi.json': 'an older one' });
    const file = join(project.folder, 'client/openapi.json');
    const written = await project.run(['openapi', '--out', 'client/openapi.json']);
    const count = Object.values<object>(document.paths).flatMap(Object.keys).length;
    expect(written.stdout).toBe(
      `Wrote the OpenAPI document with ${count} operations to client/openapi.json\n`,
    );
    expect(await readFile(file, 'utf8')).toBe(stdout);
    const json = await project.run(['openapi', '--out', 'client/new/openapi.json', '--json']);
    expect(JSON.parse(json.stdout)).toEqual({
      file: join(project.folder, 'client/new/openapi.json'),
      operations: count,
    });
    const folder = await project.run(['openapi', '--out', 'client']);
    expect([folder.code, folder.stderr]).toEqual([2, expect.stringContaining('latchkey: --out: EISDIR')]);
  });

  test('an interrupt ends it cleanly', async () => {
    await project.run(['migrate']);
    const child = project.start(['users', 'create', '--email', 'ada@example.com', '--password-stdin']);
    let stderr = '';
    for await (const chunk of child.stderr as NodeJS.ReadableStream) {
      // It now waits for the password.
      if (stderr === '') child.kill('SIGINT');
      stderr += chunk;
    }
    const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode];
    expect([code, stderr]).toEqual([130, 'loaded\nInterrupted.\n']);
  });
});

describe('the config', () => {
  test('is looked for in the folder', async () => {
    const { code, stderr } = await project.run(['migrate', '--config', 'nothing.js']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--config: there is no file')]);
    const empty = await startProject();
    const { code: none, stderr: why } = await empty.run(['migrate']);
    expect([none, why]).toEqual([
      2,
      expect.stringMatching(/^latchkey: there is no latchkey\.config\.js in .*export/),
    ]);
    await empty.remove();
  });

  test.each([
    [
      'a default export',
      'default.js',
      `import { createAuth, credentialPassword } from 'latchkey';
      export default ${configFor('sqlite::memory:')};`,
    ],
    [
      'a promise',
      'later.mjs',
      `import { createAuth, credentialPassword } from 'latchkey';
      export const auth = Promise.resolve(${configFor('sqlite::memory:')});`,
    ],
    [
      'TypeScript',
      'typed.ts',
      `import { createAuth, credentialPassword, type Auth } from 'latchkey';
      export const auth: Auth = ${configFor('sqlite::memory:')};`,
    ],
  ])('may be %s', async (_what, file, source) => {
    await project.write({ [file]: source });
    const { code, stdout, stderr } = await project.run(['migrate', '--json', '--config', file]);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout).migrations).toContain('0001-core');
  });

  test('in TypeScript says what Node lacks without tsx', async () => {
    const bare = await startProject();
    await bare.write({ 'package.json': '{ "type": "module" }', 'latchkey.config.ts': CONFIG });
    const { code, stderr } = await bare.run(['migrate']);
    // Since 22.18, Node strips types itself.
    if ((process.features as { typescript?: unknown }).typescript) expect(code).toBe(0);
    else
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^latchkey: .*is TypeScript.*npm install -D tsx.*\n$/),
      ]);
    await bare.remove();
  });

  test.each([
    [
      'no Auth',
      "export const auth = { secret: 'x' };",
      /^latchkey: broken\.js does not export an Auth as auth: /,
    ],
    [
      'an invalid one',
      "import { createAuth } from 'latchkey'; export const auth = createAuth({ database: 'sqlite:x', secret: 'short' });",
      /^latchkey: secret .*\n$/,
    ],
    [
      'one that throws',
      "throw new Error('no such variable');",
      /^latchkey: Error: no such variable\n {4}at /,
    ],
  ])('%s is a failure', async (_what, source, message) => {
    await project.write({ 'broken.js': source });
    const { code, stdout, stderr } = await project.run(['migrate', '--config', 'broken.js']);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(message)]);
    const json = await project.run(['migrate', '--json', '--config', 'broken.js']);
    expect(JSON.parse(json.stdout).error.message).toEqual(expect.any(String));
    expect(json.code).toBe(1);
  });

  test.each(['wrong.js', 'wrong.cjs', 'wrong.ts', 'imports-wrong.js'])(
    'with a syntax error names the file and the line: %s',
    async (file) => {
      const wrong = 'const one = 1;\nconst two = ;\n';
      await project.write({ [file]: wrong });
      if (file.startsWith('imports'))
        await project.write({ [file]: "import './imported.js';", 'imported.js': wrong });
      const { code, stdout, stderr } = await project.run(['migrate', '--config', file]);
      expect([code, stdout]).toEqual([1, '']);
      const named = file.startsWith('imports') ? 'imported.js' : file;
      const [first] = stderr.split('\n');
      expect(first).toMatch(/^latchkey: .*Unexpected/);
      expect(first).toContain(`${join(project.folder, named)}, line 2: `);
      expect(stderr).not.toContain('    at ');
    },
  );

  test('gets the variables of --env-file', async () => {
    const source = CONFIG.replace(`'${SECRET}'`, 'process.env.SECRET_OF_FILE');
    await project.write({ 'env.js': source, '.env.spec': `SECRET_OF_FILE="${SECRET}"\n` });
    const args = ['migrate', '--config', 'env.js'];
    expect((await project.run(args)).code).toBe(1);
    expect((await project.run([...args, '--env-file', '.env.spec'])).code).toBe(0);
    // Node 20 looks for this option everywhere on its command line, and refuses the file itself, with 9.
    expect([2, 9]).toContain((await project.run([...args, '--env-file', 'nothing'])).code);
  });
});

describe('what is printed', () => {
  const streams = (isTTY: boolean) => ({
    stdout: new PassThrough(),
    stderr: Object.assign(new PassThrough(), { isTTY }),
  });

  test('progress is for terminals', () => {
    const [terminal, pipe] = [streams(true), streams(false)];
    for (const one of [terminal, pipe]) {
      const out = new Output(one, false);
      out.progress('1 row …');
      out.result({}, 'done');
    }
    expect(String(terminal.stderr.read())).toContain('1 row …');
    expect([pipe.stderr.read(), String(pipe.stdout.read())]).toEqual([null, 'done\n']);
  });

  test.each([true, false])('progress of what takes long is for pipes too; as JSON: %s', (isJson) => {
    const pipe = streams(false);
    const out = new Output(pipe, isJson, 0);
    out.progress('sessions: 100 rows deleted …');
    out.result({ rows: 100 }, 'done');
    expect(String(pipe.stderr.read())).toBe('sessions: 100 rows deleted …\n');
    expect(String(pipe.stdout.read())).toBe(isJson ? '{"rows":100}\n' : 'done\n');
  });

  test('what users have written controls no terminal', () => {
    const one = streams(true);
    new Output(one, false).result({}, 'name: \u001b]0;owned\u0007\u202e');
    expect(String(one.stdout.read())).toBe('name: \ufffd]0;owned\ufffd\ufffd\n');
  });
});
