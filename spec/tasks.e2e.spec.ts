// playwright-core uses DOM types. The code of the package itself is compiled without them.
/// <reference lib="dom" />
// The programs of the docs' pages about one task each.
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { SMTPServer } from 'smtp-server';
import type { Client } from '../lib/client.js';
import { inBrowser, specBrowser } from './pages/browser/browser.js';
import { ada, SECRET } from './support/app.js';
import { DocsProject, page } from './support/docs-project.js';
import { freePort } from './support/free-port.mjs';
import { withoutOuter } from './support/projects.js';

const PAGES = [
  ...['rotating-secrets.md', 'account.md', 'events.md', 'cloudflare.md', 'email.md'],
  ...['single-page-app.md', 'phone.md'],
];

let project: DocsProject;
beforeAll(async () => {
  project = await DocsProject.create(PAGES, ['express', 'nodemailer', 'cors']);
}, 180_000);
afterEach(() => project.stop());
afterAll(() => project.remove());

/** Starts a program of a page, and returns a function that creates browsers for it. */
async function start(file: string, more: NodeJS.ProcessEnv = {}) {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const database = `sqlite:./${file}.db`;
  const env = { NODE_ENV: 'development', DATABASE_URL: database, AUTH_SECRET: SECRET, BASE_URL: origin };
  await project.start(file, { ...withoutOuter(), ...env, PORT: String(port), ...more });
  return () => new Browser(origin);
}

/** Runs the command line. */
function latchkey(args: readonly string[], env: NodeJS.ProcessEnv) {
  return project.run(['node_modules/latchkey/dist/esm/cli.js', ...args], env);
}

/** A browser without JavaScript, which keeps its cookies. */
class Browser {
  readonly #cookies = new Map<string, string>();

  constructor(readonly origin: string) {}

  async call(path: string, { headers, ...init }: RequestInit = {}): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(new URL(path, this.origin), {
      ...init,
      redirect: 'manual',
      headers: { cookie, ...(headers as Record<string, string>) },
    });
    for (const one of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
      this.#cookies.set(name, value);
    }
    return response;
  }

  send(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
    const json = { 'content-type': 'application/json', ...headers };
    return this.call(path, { method: 'POST', headers: json, body: JSON.stringify(body) });
  }

  /** Opens a page, and submits its form. */
  async submit(path: string, typed: Record<string, string> = {}): Promise<Response> {
    const html = await (await this.call(path)).text();
    const [, action = ''] = /action="([^"]+)"/.exec(html) ?? [];
    const hidden = [...html.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const fields = Object.fromEntries(hidden.map(([, name, value]) => [name, value]));
    return this.call(action, {
      method: 'POST',
      headers: {
        origin: this.origin,
        referer: new URL(path, this.origin).href,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ ...fields, ...typed }),
    });
  }
}

test('rotating-secrets.md: the old secret can be removed, and nobody is signed out', async () => {
  const [old, other] = ['first', 'second'].map((name) => `the ${name} secret is long enough to be one`);
  const database = { ...withoutOuter(), DATABASE_URL: 'sqlite:./rotated.db' };
  const code = (statements: string) => [
    '--input-type=module',
    '-e',
    `import { auth } from './auth.js'; await auth.migrate(); ${statements}; await auth.close();`,
  ];
  const withSecret = (secret = '') => ({ ...database, AUTH_SECRET: secret });
  const signUp = `const { id } = await auth.users.create(${JSON.stringify(ada)});
    console.log((await auth.createSession(id)).token)`;
  const token = (await project.run(code(signUp), withSecret(old))).stdout.trim();
  const look = code(`const headers = { cookie: 'latchkey=${token}' };
    console.log((await auth.getSession({ headers })).user.email)`);
  const both = withSecret(`${other},${old}`);
  expect((await project.run(look, both)).stdout).toBe(`${ada.email}\n`);
  const { stdout } = await latchkey(['rotate', '--config', 'auth.js', '--json'], both);
  expect(JSON.parse(stdout)).toMatchObject({ dryRun: false });
  expect((await project.run(look, withSecret(other))).stdout).toBe(`${ada.email}\n`);
});

test('upgrading.md: the commands of the pipeline migrate once, and nothing is pending afterwards', async () => {
  const commands = [...(await page('upgrading.md')).matchAll(/^- run: npx latchkey (.*)$/gm)].map(
    ([, args = '']) => args.split(' '),
  );
  expect(commands).toHaveLength(2);
  const secret = 'the secret of a pipeline, which is long';
  const env = {
    ...withoutOuter(),
    DATABASE_URL: 'sqlite:./pipeline.db',
    AUTH_SECRET: secret.replace(',', ''),
  };
  const printed: string[] = [];
  for (const args of [...commands, ...commands]) printed.push((await latchkey(args, env)).stdout);
  expect(printed[0]).toContain('0001-core');
  expect(printed[2]).not.toContain('0001-core');
  expect(printed[3]).toBe(printed[1]);
});

test('account.md: the button ends the other sessions, and this one continues', async () => {
  const open = await start('devices.js');
  const [phone, laptop] = [open(), open()];
  await phone.send('/auth/signup/credential', ada, { 'user-agent': '<b>phone</b>' });
  await laptop.send('/auth/signin/credential', { credential: ada.email, password: ada.password });
  const listed = await (await laptop.call('/devices')).text();
  expect(listed).toContain('<li>This device, last used ');
  expect(listed).toContain('<li>&#60;b&#62;phone&#60;/b&#62;, last used ');
  const answer = await laptop.submit('/devices');
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/devices']);
  expect((await phone.call('/devices')).status).toBe(401);
  expect(await (await laptop.call('/devices')).text()).not.toContain('phone');
});

test('events.md: a sign-up is a message in the channel', async () => {
  const messages: unknown[] = [];
  const slack = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    messages.push(JSON.parse(Buffer.concat(chunks).toString()));
    response.end('ok');
    slack.emit('message');
  }).listen(0, '127.0.0.1');
  await once(slack, 'listening');
  try {
    const { port } = slack.address() as AddressInfo;
    const open = await start('slack.js', { SLACK_WEBHOOK_URL: `http://127.0.0.1:${port}/services/T0/B0/x` });
    const arrived = once(slack, 'message');
    const { user } = (await (await open().send('/auth/signup/credential', ada)).json()) as {
      user: { id: string };
    };
    await arrived;
    expect(messages).toEqual([{ text: `A new user signed up: ${user.id}` }]);
  } finally {
    slack.close();
  }
});

test.each([
  ['the CDN', '127.0.0.1', '203.0.113.9'],
  ['anything else', '192.0.2.1', '127.0.0.1'],
])(
  'cloudflare.md: the address in a header counts if it comes from the CDN: %s',
  async (_from, trusted, recorded) => {
    const open = await start('cloudflare.js', { TRUSTED_PROXIES: trusted });
    const browser = open();
    const email = `${trusted}@example.com`;
    await browser.send('/auth/signup/credential', { ...ada, email }, { 'x-forwarded-for': '203.0.113.9' });
    expect(await (await browser.call('/address')).json()).toEqual({ address: recorded });
  },
);

test('email.md: the link in the email verifies after a click, with the password elsewhere', async () => {
  let received = '';
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      stream.on('data', (chunk) => {
        received += chunk;
      });
      stream.on('end', () => {
        done();
        server.emit('mail');
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.server.address() as AddressInfo;
    const open = await start('verify.js', { SMTP_URL: `smtp://127.0.0.1:${port}?ignoreTLS=true` });
    const [owner, elsewhere] = [open(), open()];
    await owner.send('/auth/signup/credential', ada);
    const arrived = once(server, 'mail');
    await owner.call('/auth/email-verifications', { method: 'POST', headers: { origin: owner.origin } });
    await arrived;
    const text = received.replace(/=\r?\n/g, '').replace(/=3D/g, '=');
    const { pathname, search } = new URL(/http:\/\/\S+\/verify-email\?token=[\w-]+/.exec(text)?.[0] ?? '');
    const refused = await elsewhere.submit(pathname + search);
    expect(refused.headers.get('location')).toContain('error=');
    const answer = await elsewhere.submit(pathname + search, { password: ada.password });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/verified']);
    const { user } = (await (await owner.call('/auth/me')).json()) as { user: { email_verified_at: string } };
    expect(user.email_verified_at).toEqual(expect.any(String));
  } finally {
    await new Promise<void>((resolve) => server.close(resolve));
  }
});

test('single-page-app.md: one server has the routes and the files of the app', async () => {
  await mkdir(join(project.folder, 'dist'));
  await writeFile(join(project.folder, 'dist/index.html'), '<!doctype html><title>App</title>');
  const browser = (await start('app.js'))();
  expect((await browser.send('/auth/signup/credential', ada)).status).toBe(201);
  expect(await (await browser.call('/api/hello')).json()).toEqual({ hello: ada.email });
  expect(await (await browser.call('/any/page')).text()).toContain('<title>App</title>');
  expect((await browser.call('/api/other')).status).toBe(404);
});

/** What a page's script exports, in the browser. */
declare const app: { readonly client: Client<PageShape>; hello(): Promise<Response> };

interface PageShape {
  plugins: 'credential';
  fields: object;
  newFields: object;
  bearer: true;
}

inBrowser('single-page-app.md: an app with another origin than its API', () => {
  const browser = specBrowser();

  /** Starts an API at `localhost`, opens a page at another port of `host`, and signs a user up there. */
  async function signUpAt(host: string, server: string, script: string) {
    const [apiPort, pagePort] = [await freePort(), await freePort()];
    const [api, origin] = [`http://localhost:${apiPort}`, `http://${host}:${pagePort}`];
    const { outputFiles } = await build({
      entryPoints: [join(project.folder, script)],
      define: { 'import.meta.env.VITE_API_URL': JSON.stringify(api) },
      bundle: true,
      write: false,
      format: 'iife',
      globalName: 'app',
    });
    const database = `sqlite:./${host}-${script}.db`;
    await start(server, { PORT: String(apiPort), BASE_URL: api, APP_ORIGIN: origin, DATABASE_URL: database });
    const pages = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end(`<!doctype html><title>App</title><script>${outputFiles[0]?.text}</script>`);
    }).listen(pagePort, host);
    await once(pages, 'listening');
    const page = await browser.open(origin).finally(() => {
      pages.closeAllConnections();
      pages.close();
    });
    const { error } = await page.evaluate((person) => app.client.credential.signUp(person), ada);
    expect(error).toBeNull();
    return { page, api, origin };
  }

  const isSignedIn = (page: Page) => page.evaluate(async () => (await app.client.me()).error === null);
  const helloStatus = (page: Page) => page.evaluate(async () => (await app.hello()).status);

  test('on one site, the cookie works', async () => {
    const { page, api, origin } = await signUpAt('localhost', 'api.js', 'client.js');
    expect([await isSignedIn(page), await helloStatus(page)]).toEqual([true, 200]);
    const wrong = { credential: ada.email, password: 'a difference engine' };
    const retryAfter = await page.evaluate(async (given) => {
      for (;;) {
        const { error } = await app.client.credential.signIn(given);
        if (error?.code !== 'invalid_credentials') return error?.retryAfter;
      }
    }, wrong);
    expect(retryAfter).toEqual(expect.any(Number));
    const signUpFrom = (from: string) =>
      fetch(`${api}/auth/signup/credential`, {
        method: 'POST',
        headers: { Origin: from, 'Content-Type': 'application/json' },
        body: JSON.stringify({ ...ada, email: 'eve@example.com' }),
      });
    const refused = await signUpFrom('http://localhost:1');
    expect([refused.status, await refused.json()]).toEqual([
      403,
      expect.objectContaining({ code: 'origin_not_allowed' }),
    ]);
    const { headers } = await signUpFrom(origin);
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(headers.get('access-control-allow-credentials')).toBe('true');
  });

  test('on two sites, the cookie does not work, and bearer tokens do', async () => {
    const { page } = await signUpAt('127.0.0.1', 'api.js', 'client.js');
    expect([await isSignedIn(page), await helloStatus(page)]).toEqual([false, 401]);
    const code = await readFile(join(project.folder, 'api.js'), 'utf8');
    const changed = code
      .replace('plugins:', 'bearerEnabled: true, plugins:')
      .replace('credentials: true,', '');
    await writeFile(join(project.folder, 'bearer-api.js'), changed);
    const { page: other } = await signUpAt('127.0.0.1', 'bearer-api.js', 'bearer-client.js');
    expect([await isSignedIn(other), await helloStatus(other)]).toEqual([true, 200]);
    expect(await other.evaluate(() => localStorage.getItem('token'))).toMatch(/^lks_/);
    await other.evaluate(() => app.client.signOut());
    expect(await other.evaluate(() => localStorage.getItem('token'))).toBeNull();
  });
});

test('phone.md: the app stays signed in after a restart, and keeps its device', async () => {
  const open = await start('phone-api.js');
  // The secure store of a phone, in a file.
  const store = `
    import { existsSync, readFileSync, writeFileSync } from 'node:fs';
    const values = existsSync('store.json') ? JSON.parse(readFileSync('store.json', 'utf8')) : {};
    const save = async () => writeFileSync('store.json', JSON.stringify(values));
    export const getItemAsync = async (key) => values[key] ?? null;
    export const setItemAsync = (key, value) => save(void (values[key] = value));
    export const deleteItemAsync = (key) => save(void delete values[key]);`;
  const folder = join(project.folder, 'node_modules/expo-secure-store');
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
  await writeFile(join(folder, 'index.js'), store);
  const inApp = async (expression: string) => {
    const code = `import { client, hello } from './phone-client.js';
      console.log(JSON.stringify(await (${expression})));`;
    const env = { ...withoutOuter(), EXPO_PUBLIC_API_URL: open().origin };
    return JSON.parse((await project.run(['--input-type=module', '-e', code], env)).stdout);
  };
  const kept = async () => JSON.parse(await readFile(join(project.folder, 'store.json'), 'utf8'));
  await inApp(`client.credential.signUp(${JSON.stringify(ada)})`);
  const first = await kept();
  expect(first).toEqual({ token: expect.stringMatching(/^lks_/), device: expect.any(String) });
  expect(await inApp('hello().then((response) => response.json())')).toEqual({ hello: ada.email });
  expect((await inApp('client.devices()')).data.devices).toMatchObject([{ current: true }]);
  await inApp('client.signOut()');
  expect(await kept()).toEqual({ device: first.device });
  const credentials = { credential: ada.email, password: ada.password };
  await inApp(`client.credential.signIn(${JSON.stringify(credentials)})`);
  expect((await inApp('client.devices()')).data.devices).toHaveLength(1);
});
