import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseEnv, promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { TOTP } from 'otpauth';
import { PACKED, Projects, withoutOuter } from '../support/projects.js';

const run = promisify(execFile);
const TARBALL = join(PACKED, 'latchkey.tgz');

/** What `init` would install, so that it has nothing to install in the projects with one installation. */
const LINKED = [
  'express@5',
  'sequelize@6',
  '@photostructure/sqlite@1',
  'pg@8',
  'tsx@4',
  '@types/express@5',
  '@types/node@20',
];

/** The rest of it, in versions that the repository does not have. */
const INSTALLED = ['typescript@5', 'pnpm@12'];

let projects: Projects;
let dependencies: Record<string, string>;
beforeAll(async () => {
  projects = await Projects.create();
  await projects.npm('.', ...INSTALLED);
  await projects.link('.', ...LINKED);
  const { dependencies: all } = JSON.parse(await readFile(join(projects.folder, 'package.json'), 'utf8'));
  // A project that names a driver uses its database.
  const { pg: _, ...others } = all;
  dependencies = { ...others, latchkey: `file:${TARBALL}` };
}, 180_000);
afterAll(() => projects.remove());

const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null) continue;
    // npm starts the app in a process of its own.
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    await once(child, 'exit');
  }
});

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program in a project. It finds the programs of the installation. */
async function call(name: string, command: string, ...args: string[]): Promise<Ended> {
  const PATH = `${join(projects.folder, 'node_modules/.bin')}:${process.env.PATH}`;
  const options = { cwd: join(projects.folder, name), env: { ...withoutOuter(), PATH } };
  return run(command, args, options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

/** Runs `latchkey init` from the installation. */
const init = (name: string, ...args: string[]) =>
  call(
    name,
    process.execPath,
    join(projects.folder, 'node_modules/latchkey/dist/esm/cli.js'),
    'init',
    ...args,
  );

const read = (name: string, file: string) => readFile(join(projects.folder, name, file), 'utf8');

/** All files of a project, but for those of its packages. */
async function filesOf(name: string): Promise<Record<string, string>> {
  const entries = await readdir(join(projects.folder, name), { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const)),
  );
}

/** Starts an app with `npm start`. Resolves when it listens, to its origin and to a function that waits for a line. */
async function start(folder: string) {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((done) => probe.close(done));
  const origin = `http://localhost:${port}`;
  const child = spawn('npm', ['start', '--silent'], {
    cwd: folder,
    env: { ...withoutOuter(), PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const line = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`the app ended without ${pattern}`);
      const found = pattern.exec(value);
      if (found) return found;
    }
  };
  await line(/^http:/);
  return { origin, line };
}

const ADA = { email: 'ada@example.com', password: 'an analytical engine' };

/** Asks as a program does. */
async function post(url: string, body: object, cookie = '') {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie, origin: new URL(url).origin },
    body: JSON.stringify(body),
  });
  const cookies = response.headers.getSetCookie().map((one) => one.split(';')[0]);
  return {
    status: response.status,
    cookie: cookies.join('; '),
    body: await response.json().catch(() => null),
  };
}

/** Signs up, and opens the guarded page before and after it. */
async function signUp(origin: string, path = '/') {
  const browser = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  const refused = await fetch(origin + path, { redirect: 'manual', headers: browser });
  expect([refused.status, refused.headers.get('location')]).toEqual([
    303,
    expect.stringContaining('/auth/sign-in?'),
  ]);
  const signedUp = await post(`${origin}/auth/signup/credential`, ADA);
  expect(signedUp.status).toBe(201);
  const page = await fetch(origin + path, { headers: { cookie: signedUp.cookie } });
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('ada@example.com')]);
  return signedUp.cookie;
}

describe('latchkey init in an empty folder', () => {
  /** Where nothing is installed. */
  let outside: Projects;
  beforeAll(async () => {
    outside = await Projects.create();
    await mkdir(join(outside.folder, 'app'));
  });
  afterAll(() => outside.remove());

  test('leads to an app with a second factor, in two commands', async () => {
    const folder = join(outside.folder, 'app');
    const args = ['--yes', '--package', TARBALL, 'latchkey', 'init'];
    const { stdout, stderr } = await run('npx', args, { cwd: folder, env: withoutOuter() });
    const variables = parseEnv(await readFile(join(folder, '.env'), 'utf8'));
    expect(variables.AUTH_SECRET).toMatch(/^[\w-]{43}$/);
    expect(stdout + stderr).not.toContain(variables.AUTH_SECRET);
    expect(stdout).toMatch(/^Database: sqlite .*, language: JavaScript .*\nWrote \.gitignore, \.env, /);
    expect((await readFile(join(folder, '.gitignore'), 'utf8')).split('\n')).toContain('.env');
    expect((await stat(join(folder, '.env'))).mode & 0o077).toBe(0);

    const { origin, line } = await start(folder);
    const cookie = await signUp(origin);
    const forPasswords = await fetch(`${origin}/.well-known/change-password`, { redirect: 'manual' });
    expect(forPasswords.headers.get('location')).toBe('/auth/account/security#password');
    const [, emailed] = await line(/^(\d{8})$/m);
    expect((await post(`${origin}/auth/verify-email`, { code: emailed }, cookie)).status).toBe(200);
    const enrolled = await post(`${origin}/auth/two-factor/totp`, {}, cookie);
    const totp = new TOTP({ secret: enrolled.body.secret });
    const code = totp.generate();
    expect((await post(`${origin}/auth/two-factor/totp/confirm`, { code }, cookie)).status).toBe(200);
    const { email: credential, password } = ADA;
    const signIn = await post(`${origin}/auth/signin/credential`, { credential, password });
    expect(signIn.body).toMatchObject({ second_factor: { methods: expect.arrayContaining(['totp']) } });
  }, 240_000);

  test('writes what docs/start.md shows', async () => {
    const page = await readFile(new URL('../../docs/start.md', import.meta.url), 'utf8');
    for (const file of ['latchkey.config.js', 'app.js'])
      expect(page).toContain(`\`\`\`js\n${await readFile(join(outside.folder, 'app', file), 'utf8')}\`\`\``);
  });
});

describe('latchkey init', () => {
  test('changes nothing when it is run twice, and replaces only with --force', async () => {
    await projects.write('twice', { 'package.json': JSON.stringify({ type: 'module', dependencies }) });
    expect((await init('twice')).code).toBe(0);
    const before = await filesOf('twice');
    const again = await init('twice', '--json');
    expect([again.code, JSON.parse(again.stdout)]).toMatchObject([0, { written: [], installed: [] }]);
    expect(await filesOf('twice')).toEqual(before);

    const changed = { '.env': 'AUTH_SECRET=mine', 'latchkey.config.js': '// mine\n' };
    await projects.write('twice', { ...changed, '.gitignore': 'secrets' });
    const refused = await init('twice');
    expect([refused.code, refused.stderr]).toEqual([
      2,
      'latchkey: latchkey.config.js exists: add --force to replace it\n',
    ]);
    expect(await read('twice', '.gitignore')).toBe('secrets');

    expect((await init('twice', '--force')).code).toBe(0);
    expect(await read('twice', '.gitignore')).toBe('secrets\n.env\nnode_modules/\napp.db*\n');
    // Data that was encrypted with a secret can only be read with it.
    expect(await read('twice', '.env')).toBe('AUTH_SECRET=mine\nDATABASE_URL=sqlite:./app.db\n');
    expect(await filesOf('twice')).toMatchObject({
      [join(projects.folder, 'twice/latchkey.config.js')]:
        before[join(projects.folder, 'twice/latchkey.config.js')],
    });
  });

  test.each([
    ['js', 'module'],
    ['js', 'commonjs'],
    ['ts', 'module'],
    ['ts', 'commonjs'],
  ])(
    'writes an app as .%s in a package of the type %s',
    async (extension, type) => {
      const name = `new-${extension}-${type}`;
      await projects.write(name, { 'package.json': JSON.stringify({ type, dependencies }) });
      const { code, stderr } = await init(name, ...(extension === 'ts' ? ['--typescript'] : []));
      expect([code, stderr]).toEqual([0, '']);
      if (extension === 'ts') {
        const tsc = join(projects.folder, 'node_modules/typescript/bin/tsc');
        expect(await call(name, process.execPath, tsc)).toEqual({ code: 0, stdout: '', stderr: '' });
      }
      const { origin } = await start(join(projects.folder, name));
      await signUp(origin);
    },
    30_000,
  );

  test.each([
    ['app.js', 'module'],
    ['server.js', 'commonjs'],
    ['index.mjs', 'commonjs'],
    ['src/server.ts', 'module'],
    ['src/server.ts', 'commonjs'],
  ])(
    'prints the lines to add to %s of the type %s',
    async (entry, type) => {
      const name = `existing-${entry.replace(/\W/g, '-')}-${type}`;
      const isTypeScript = entry.endsWith('.ts');
      const usesImport = isTypeScript || type === 'module' || entry.endsWith('.mjs');
      const app = `${usesImport ? "import express from 'express';" : "const express = require('express');"}
      const app = express();
      app.listen(process.env.PORT, () => console.log('http://localhost:' + process.env.PORT));\n`;
      const packageJson = {
        type,
        scripts: { start: `${isTypeScript ? 'tsx' : 'node'} ${entry}`, build: 'true' },
        dependencies,
      };
      await projects.write(name, { 'package.json': JSON.stringify(packageJson), [entry]: app });
      const { code, stdout, stderr } = await init(name);
      expect([code, stderr]).toEqual([0, '']);
      expect(await read(name, entry)).toBe(app);
      expect(JSON.parse(await read(name, 'package.json')).scripts).toMatchObject(packageJson.scripts);

      // The app with these lines.
      const [, lines = ''] = /^Add these lines to .*\n\n([\s\S]*?)\n\nCreate the tables/m.exec(stdout) ?? [];
      const [, imports = '', mount = ''] =
        /^([\s\S]*)\n\n([\s\S]*)$/.exec(lines.split('\n\n  // In front')[0] ?? '') ?? [];
      const guard = "app.get('/account', requireSession(auth), (req, res) => void res.json(req.auth));\n";
      await projects.write(name, {
        [entry]: `${imports}\n${app.replace('= express();', `= express();\n${mount}\n${guard}`)}`,
      });
      const migrated = await call(name, 'npm', 'run', '--silent', 'auth:migrate');
      expect([migrated.code, migrated.stderr]).toEqual([0, '']);
      const { origin } = await start(join(projects.folder, name));
      await signUp(origin, '/account');
    },
    30_000,
  );

  test('writes the languages, and keeps them when it is run again', async () => {
    await projects.write('languages', { 'package.json': JSON.stringify({ type: 'module', dependencies }) });
    const languages = ['--language', 'de, en', '--language', 'pt-BR,de'];
    const { code, stdout } = await init('languages', ...languages);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('\nLanguages of pages, emails and errors: de, en, pt-BR (--language).\n'),
    ]);
    const locale = "\n  locale: { default: 'de', languages: ['de', 'en', 'pt-BR'] },\n";
    expect(await read('languages', 'latchkey.config.js')).toContain(locale);
    const again = await init('languages', '--json');
    expect([again.code, JSON.parse(again.stdout)]).toMatchObject([
      0,
      { written: [], languages: ['de', 'en', 'pt-BR'] },
    ]);
    const { origin } = await start(join(projects.folder, 'languages'));
    const page = await fetch(`${origin}/auth/sign-in`, { headers: { 'accept-language': 'fr, pt;q=0.5' } });
    expect(await page.text()).toContain('<html lang="pt-BR"');

    expect((await init('languages', '--force', '--language', 'fr')).code).toBe(0);
    expect(await read('languages', 'latchkey.config.js')).toContain("\n  locale: { default: 'fr' },\n");
    expect((await init('languages', '--json')).stdout).toContain('"languages":["fr"]');
  }, 60_000);

  test('lists the languages if it does not know one', async () => {
    await projects.write('unknown', { 'package.json': JSON.stringify({ type: 'module', dependencies }) });
    const { code, stderr } = await init('unknown', '--language', 'de,nl');
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/latchkey does not have the language 'nl'\. Choose from en, de, .*ar\./),
    ]);
    expect(Object.keys(await filesOf('unknown'))).toHaveLength(1);
  });

  test('refuses an .env that git tracks, and hides the secret in one that it does not track', async () => {
    const packageJson = JSON.stringify({ type: 'module', dependencies });
    await projects.write('tracked', { 'package.json': packageJson, '.env': 'PORT=1\n' });
    await chmod(join(projects.folder, 'tracked/.env'), 0o644);
    await call('tracked', 'git', 'init', '--quiet');
    await call('tracked', 'git', 'add', '.env');
    const { code, stderr } = await init('tracked');
    expect([code, stderr]).toEqual([1, expect.stringContaining('run git rm --cached .env')]);
    expect(await read('tracked', '.env')).toBe('PORT=1\n');

    await call('tracked', 'git', 'rm', '--quiet', '--cached', '.env');
    expect((await init('tracked')).code).toBe(0);
    expect(await read('tracked', '.env')).toMatch(/^PORT=1\nAUTH_SECRET=/);
    expect((await stat(join(projects.folder, 'tracked/.env'))).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['leads out of the folder', '../outside.env', 1],
    ['dangles', 'nothing.env', 1],
    ['leads to a file in the folder', 'inside.env', 0],
  ])('with an .env that is a link and %s, it writes only in the folder', async (what, target, exit) => {
    const name = `linked-${what.replaceAll(' ', '-')}`;
    const packageJson = JSON.stringify({ type: 'module', dependencies });
    await projects.write(name, { 'package.json': packageJson, 'inside.env': '' });
    await projects.write('.', { 'outside.env': '' });
    await symlink(target, join(projects.folder, name, '.env'));
    const { code, stderr } = await init(name);
    expect([code, stderr]).toEqual([
      exit,
      exit === 0 ? '' : expect.stringContaining('.env is a symbolic link'),
    ]);
    expect(await read('.', 'outside.env')).toBe('');
    expect(await readdir(join(projects.folder, name))).not.toContain('nothing.env');
  });

  test('finds the app among the files of its scripts, and quotes its folder', async () => {
    await projects.write('quoted', {
      'package.json': JSON.stringify({
        type: 'module',
        main: 'my src/server.js',
        scripts: {
          start: 'node -r ./hook.cjs --import=./hook.cjs ../outside.js',
          dev: 'tool --config hook.cjs folder.js',
        },
        dependencies,
      }),
      'hook.cjs': '',
      '../outside.js': '',
      'folder.js/index.js': '',
      'my src/server.js': '',
    });
    const { code, stdout } = await init('quoted', '--json');
    expect([code, JSON.parse(stdout).app]).toEqual([0, 'my src/server.js']);
    const { scripts } = JSON.parse(await read('quoted', 'package.json'));
    expect(scripts['auth:migrate']).toBe('latchkey migrate --config "my src/latchkey.config.js"');
  });

  test('installs with the package manager whose lockfile is there', async () => {
    const packageJson = JSON.stringify({
      private: true,
      dependencies: { ...dependencies, sequelize: undefined },
    });
    await projects.write('pnpm', {
      'package.json': packageJson,
      'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
    });
    const { code, stdout } = await init('pnpm');
    expect([code, stdout]).toEqual([0, expect.stringContaining('Installed sequelize@6.')]);
    expect(await read('pnpm', 'pnpm-lock.yaml')).toContain('sequelize');
  });

  test('says what to run if the package manager fails', async () => {
    await projects.write('offline', {
      'package.json': JSON.stringify({ dependencies: { ...dependencies, sequelize: undefined } }),
    });
    await projects.write('offline', {
      '.npmrc': 'registry=http://127.0.0.1:1\nfetch-retries=0\nprefer-offline=false\n',
    });
    const { code, stderr } = await init('offline', '--database', 'postgres');
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/\nlatchkey: npm failed \(1\)\. .*, run npm install sequelize@6 pg@8\n$/),
    ]);
  });
});

describe('latchkey init beside another tool', () => {
  const APP = `import express from 'express';\nexpress().listen(process.env.PORT);\n`;
  const packageJson = (more: object = {}) =>
    JSON.stringify({
      type: 'module',
      scripts: { start: 'node app.js' },
      dependencies: { ...dependencies, ...more },
    });
  const DRIZZLE = `export default {\n  dialect: 'sqlite',\n  schema: './schema.js',\n};\n`;
  const FILTERED = DRIZZLE.replace('{', "{\n  tablesFilter: ['!auth_*'],");

  test('excludes its tables in the config of Drizzle, once', async () => {
    await projects.write('drizzle', {
      'package.json': packageJson({ 'drizzle-orm': '1' }),
      'app.js': APP,
      'drizzle.config.js': DRIZZLE,
    });
    const { code, stdout } = await init('drizzle', '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      {
        database: 'sqlite',
        tablePrefix: 'auth_',
        tools: [{ name: 'Drizzle', files: ['drizzle.config.js'] }],
        written: expect.arrayContaining(['drizzle.config.js', 'latchkey.config.js']),
        toAdd: [],
      },
    ]);
    expect(await read('drizzle', 'drizzle.config.js')).toBe(FILTERED);
    expect(await read('drizzle', 'latchkey.config.js')).toContain("\n  tablePrefix: 'auth_',\n");
    const before = await filesOf('drizzle');
    const again = await init('drizzle');
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('Nothing to write')]);
    expect(await filesOf('drizzle')).toEqual(before);
  });

  test('prints the lines for what it does not edit, with all tables', async () => {
    await projects.write('several', {
      'package.json': packageJson(),
      'app.js': APP,
      '.env': 'DATABASE_URL=file:./dev.db\n',
      'drizzle.config.js': DRIZZLE.replace('export default', 'const config ='),
      'prisma/schema.prisma': 'datasource db {\n  provider = "sqlite"\n}\n',
      'prisma/dev.db': '',
    });
    const { code, stdout, stderr } = await init('several');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain("Set this in drizzle.config.js:\n\n  tablesFilter: ['!auth_*'],\n");
    const [, external = ''] = /\n {2}tables: \{ external: \[(.*)\] \},\n/.exec(stdout) ?? [];
    // The tables of a plugin are among them.
    expect(external.split(', ')).toEqual(
      expect.arrayContaining(["'auth_users'", "'auth_totp_secrets'", "'auth_latchkey_migrations'"]),
    );
    expect(await read('several', 'prisma/schema.prisma')).not.toContain('auth_');
    // It cannot use the URL of Prisma, but it can use its file.
    expect(await read('several', '.env')).toContain('\nAUTH_DATABASE_URL=sqlite:./prisma/dev.db\n');
    expect(await read('several', 'latchkey.config.js')).toContain('process.env.AUTH_DATABASE_URL');
  });

  test.each([
    ['the config of Drizzle', { 'drizzle.config.ts': "export default { dialect: 'postgresql' };" }],
    ['the schema of Prisma', { 'schema.prisma': 'datasource db { provider = "postgresql" }' }],
    ['DATABASE_URL', { '.env': 'DATABASE_URL=postgresql://localhost/app\n' }],
  ])('uses the database of %s', async (_what, files) => {
    await projects.write('database', { 'package.json': packageJson({ pg: '8', mysql2: '3' }), ...files });
    const { code, stdout } = await init('database', '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { database: 'postgres', tablePrefix: 'auth_' }]);
    await rm(join(projects.folder, 'database'), { recursive: true });
  });

  test('keeps the prefix of a config that it has written before', async () => {
    await projects.write('later', { 'package.json': packageJson() });
    expect((await init('later')).code).toBe(0);
    await projects.write('later', { 'drizzle.config.js': DRIZZLE });
    const { code, stdout } = await init('later', '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { written: [], tablePrefix: '' }]);
    const [{ lines }] = JSON.parse(stdout).toAdd;
    expect(lines).toEqual([expect.stringMatching(/^tablesFilter: \['!users', .*'!totp_secrets'/)]);
  });

  test('leaves a config of Drizzle that is a link as it is, and prints the line', async () => {
    await projects.write('linked-drizzle', { 'package.json': packageJson(), 'app.js': APP });
    await projects.write('.', { 'outside.config.js': DRIZZLE });
    await symlink('../outside.config.js', join(projects.folder, 'linked-drizzle/drizzle.config.js'));
    const { code, stdout } = await init('linked-drizzle');
    expect([code, stdout]).toEqual([0, expect.stringContaining("tablesFilter: ['!auth_*'],")]);
    expect(await read('.', 'outside.config.js')).toBe(DRIZZLE);
  });
});

describe('latchkey init at a terminal', () => {
  /** Runs it in a terminal. Answers each question with the next answer. */
  async function atTerminal(
    name: string,
    answers: readonly string[],
  ): Promise<{ code: number; shown: string }> {
    const { '@photostructure/sqlite': _, ...others } = dependencies;
    await projects.write(name, {
      'package.json': JSON.stringify({ type: 'module', dependencies: { ...others, pg: '8' } }),
    });
    const cli = join(projects.folder, 'node_modules/latchkey/dist/esm/cli.js');
    const child = spawn('script', ['-qec', `${process.execPath} ${cli} init`, '/dev/null'], {
      cwd: join(projects.folder, name),
      env: withoutOuter(),
      detached: true,
    });
    children.push(child);
    let shown = '';
    let answered = 0;
    for await (const chunk of child.stdout) {
      shown += chunk;
      // The control characters after a question can arrive later than the question.
      const asked = shown.match(/(Database|Language) \(.*?\): \S*G/g) ?? [];
      const answer = answers[answered];
      if (asked.length <= answered || answer === undefined) continue;
      answered++;
      child.stdin.write(answer);
    }
    const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode];
    return { code, shown };
  }

  test('asks for the database and the language', async () => {
    const { code, shown } = await atTerminal('asked', ['oracle\r', '\r', 'typescript\r']);
    expect([code, shown.match(/(Database|Language) \(.*?\): /g)]).toEqual([
      0,
      [
        'Database (sqlite, mysql, [postgres]): ',
        'Database (sqlite, mysql, [postgres]): ',
        'Language ([javascript], typescript): ',
      ],
    ]);
    expect(await read('asked', 'latchkey.config.ts')).toContain("'postgres://localhost/app'");
  });

  test('writes nothing when it is interrupted', async () => {
    const { code } = await atTerminal('interrupted', ['\u0003']);
    expect(code).toBe(130);
    expect(await readdir(join(projects.folder, 'interrupted'))).toEqual(['package.json']);
  });
});
