import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from './support/free-port.mjs';
import { PACKED, withoutOuter } from './support/projects.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);
const text = await readFile(join(root, 'README.md'), 'utf8');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
/** The blocks of one language in a section. */
const blocks = (section: string, language: string) =>
  [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) => code,
  );
const [, install = ''] = /^## Install it\n([\s\S]*?)^## /m.exec(text) ?? [];
const [pack = '', create = '', init = '', startExample = ''] = blocks(install, 'sh');
const [example = ''] = blocks(text, 'ts');
const [session = ''] = blocks(install, 'console');
const [, driver = ''] = /^\| SQLite, on Node 20 \| `(.*)` \|$/m.exec(install) ?? [];

let parent: string;
let env: NodeJS.ProcessEnv;
let server: ChildProcess | undefined;

/** Runs lines of the README in a shell. Resolves to what they print. */
const shell = async (folder: string, lines: string, ...more: string[]) =>
  (await run('sh', ['-ec', lines, ...more], { cwd: join(parent, folder), env, maxBuffer: 1e8 })).stdout;

beforeAll(async () => {
  parent = await realpath(await mkdtemp(join(tmpdir(), 'latchkey-clone-')));
  await mkdir(join(parent, 'home'));
  const { stdout: cache } = await run('npm', ['config', 'get', 'cache'], { env: withoutOuter() });
  env = {
    ...withoutOuter(),
    HOME: join(parent, 'home'),
    npm_config_cache: cache.trim(),
    npm_config_prefer_offline: 'true',
  };
});

/** Starts the app with a line of the README. Resolves when the app prints that it listens. */
async function start(line: string, more: NodeJS.ProcessEnv = {}): Promise<void> {
  server = spawn('sh', ['-ec', line], {
    cwd: join(parent, 'app'),
    env: { ...env, ...more },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const printed of createInterface({ input: server.stdout as NodeJS.ReadableStream }))
    if (printed.startsWith('http://')) return;
  throw new Error(`the app ended: ${line}`);
}

async function stop(): Promise<void> {
  if (server?.exitCode !== null) return;
  // The shell has started the app in a process of its own.
  process.kill(-(server.pid ?? 0), 'SIGTERM');
  await once(server, 'exit');
  server = undefined;
}

afterAll(async () => {
  await stop();
  await rm(parent, { recursive: true, force: true });
});

test('the commands of the README make the package in a clone, and the apps that it serves', async () => {
  await makePackage();
  await shell('latchkey', create);
  expect(driver).toMatch(/^npm install /);
  await shell('app', driver);

  const port = String(await freePort());
  const atPort = (code: string) => code.replaceAll('3000', port);
  await start(init, { PORT: port });
  const first = await fetch(`http://localhost:${port}/`, { headers: { accept: 'text/html' } });
  expect([new URL(first.url).pathname, first.status]).toEqual(['/auth/sign-in', 200]);
  await stop();
  await shell('app', 'rm app.db*');

  // The line that it prints is the only thing that the README's example does not have.
  await writeFile(
    join(parent, 'app/app.js'),
    atPort(example).replace(/(listen\(\d+)/, '$1, () => console.log("http://")'),
  );
  await start(startExample);

  const [, ...steps] = session.split(/^\$ /m);
  expect(steps.length).toBe(5);
  for (const step of steps) {
    const [, command = '', response = ''] = /^((?:.*\\\n)*.*\n)([\s\S]*)$/.exec(step) ?? [];
    const printed = await shell('app', atPort(command));
    expect(shapeOf(printed)).toEqual(shapeOf(response));
  }
  const page = await fetch(`http://localhost:${port}/hello`, { headers: { accept: 'text/html' } });
  expect([new URL(page.url).pathname, page.status]).toEqual(['/auth/sign-in', 200]);
}, 400_000);

/** Creates the package in a clone. In CI, whose checkout is a clone, these commands have just been run. */
async function makePackage() {
  expect(pack).toBe('npm ci && npm pack\n');
  const clone = join(parent, 'latchkey');
  if (process.env.LATCHKEY_SPEC_BUILT === '1')
    return cp(join(PACKED, 'latchkey.tgz'), join(clone, `latchkey-${version}.tgz`));
  const notCloned =
    /^(\.git|node_modules|dist|.*\.tgz|(demo-app|bench)\/data|(bench|examples)\/.*node_modules)$/;
  await cp(root, clone, { recursive: true, filter: (path) => !notCloned.test(relative(root, path)) });
  return shell('latchkey', pack);
}

/** The status, the cookies and the first key of a response: the README shortens the rest, and tokens are random. */
function shapeOf(response: string) {
  return {
    status: /^HTTP\/1\.1 .*?(?=\r?$)/m.exec(response)?.[0],
    cookies: [...response.matchAll(/^Set-Cookie: ([\w-]+)=/gm)].map(([, name]) => name),
    body: /^\{"\w+":("[^"]*"|\{"\w+")/m.exec(response)?.[0],
  };
}
