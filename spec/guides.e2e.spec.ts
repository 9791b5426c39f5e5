// playwright-core uses DOM types. The code of the package itself is compiled without them.
/// <reference lib="dom" />
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { chromium, type Page } from 'playwright-core';
import { ada, SECRET } from './support/app.js';
import { blocks, DocsProject, page } from './support/docs-project.js';
import { freePort } from './support/free-port.mjs';
import { withoutOuter } from './support/projects.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

describe('the guides for a project of its own', () => {
  let project: DocsProject;
  let folder: string;

  beforeAll(async () => {
    const packages = ['express', 'supertest', '@jest'];
    project = await DocsProject.create(['testing.md', 'deployment.md', 'forms.md'], packages);
    folder = project.folder;
  }, 180_000);
  afterEach(() => project.stop());
  afterAll(() => project.remove());

  test('testing.md: its tests pass', async () => {
    const jest = join(root, 'node_modules/jest/bin/jest.js');
    const args = ['--experimental-vm-modules', jest, '--rootDir', folder];
    const { stderr } = await run(process.execPath, args, { cwd: folder, env: withoutOuter() });
    expect(stderr).toMatch(/Tests: +5 passed, 5 total/);
  });

  test('testing.md: its tests pass with node:test', async () => {
    const [code = ''] = (await blocks('testing.md', 'js')).filter((one) => one.startsWith('// app.test.js'));
    const [, line = ''] = /`(import [^`]* from 'node:test')`/.exec(await page('testing.md')) ?? [];
    await writeFile(join(folder, 'app.node.js'), code.replace(/import .* from '@jest\/globals'/, line));
    const { stdout } = await run(process.execPath, ['--test', 'app.node.js'], {
      cwd: folder,
      env: withoutOuter(),
    });
    expect(stdout).toMatch(/pass 5\n.*fail 0\n/);
  });

  test('deployment.md: the server is healthy, completes a shutdown, and its database is pruned', async () => {
    const port = await freePort();
    const server = await start('server.js', port);
    expect(await (await fetch(`http://127.0.0.1:${port}/health`)).json()).toEqual({ ok: true });
    server.kill('SIGTERM');
    expect(await once(server, 'exit')).toEqual([0, null]);
    const { stdout } = await run(process.execPath, ['prune.js'], { cwd: folder, env: appEnvironment(port) });
    expect(stdout).toBe('0 rows deleted\n');
  });

  test('deployment.md: of two processes, each knows the sessions of the other, and their end', async () => {
    const ports = [await freePort(), await freePort()] as const;
    for (const port of ports) await start('server.js', port);
    const [here, there] = ports.map((port) => (path: string, cookie: string, body?: object) => {
      const headers = { cookie, 'content-type': 'application/json' };
      const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers };
      return fetch(`http://127.0.0.1:${port}${path}`, init);
    });
    if (!here || !there) throw new Error('no processes');
    const person = { ...ada, email: 'two@example.com' };
    expect((await here('/auth/signup/credential', '', person)).status).toBe(201);
    const body = { credential: person.email, password: person.password };
    const signedIn = await there('/auth/signin/credential', '', body);
    const cookie = signedIn.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ');
    expect(await (await here('/hello', cookie)).json()).toEqual({ hello: person.email });
    expect((await here('/auth/signout', cookie, {})).status).toBe(204);
    expect((await there('/hello', cookie)).status).toBe(401);
  });

  // Runs where Chromium is installed.
  const withChromium = process.env.LATCHKEY_SPEC_BROWSER ? test : test.skip;
  withChromium(
    'forms.md: its pages work in a browser without JavaScript',
    async () => {
      const port = await freePort();
      const env = { NODE_ENV: 'development', DATABASE_URL: 'sqlite:./pages.db', AUTH_SECRET: SECRET };
      await start('pages.js', port, { ...withoutOuter(), ...env, PORT: String(port) });
      const browser = await chromium.launch({
        executablePath: process.env.LATCHKEY_SPEC_BROWSER,
        args: ['--no-sandbox', '--headless', '--disable-gpu', '--disable-background-networking'],
      });
      try {
        const context = await browser.newContext({
          javaScriptEnabled: false,
          baseURL: `http://127.0.0.1:${port}`,
        });
        await usePages(await context.newPage());
      } finally {
        await browser.close();
      }
    },
    180_000,
  );

  async function usePages(page: Page): Promise<void> {
    const open = (path: string) => page.goto(path);
    const send = async (button: string, fields: Record<string, string> = {}) => {
      for (const [label, text] of Object.entries(fields))
        await page.getByLabel(label, { exact: true }).fill(text);
      await page.getByRole('button', { name: button, exact: true }).click();
    };
    const shown = async () => ({
      path: new URL(page.url()).pathname,
      title: await page.title(),
      alert: (await page.getByRole('alert').count()) > 0 ? await page.getByRole('alert').textContent() : null,
    });
    await open('/sign-up');
    await send('Sign up', { Email: ada.email, Password: 'password' });
    expect(await shown()).toEqual({
      path: '/sign-up',
      title: 'Sign up',
      alert: expect.stringMatching(/^Please check the password: /),
    });
    expect(await page.getByLabel('Email', { exact: true }).inputValue()).toBe(ada.email);
    expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe('');
    await page.reload();
    expect(await page.getByLabel('Email', { exact: true }).inputValue()).toBe('');
    await send('Sign up', { Email: ada.email, Password: ada.password });
    expect(await shown()).toEqual({ path: '/', title: 'Welcome back', alert: null });
    expect(await page.getByText(`You are signed in as ${ada.email}.`).count()).toBe(1);
    await send('Sign out');
    expect(await shown()).toEqual({ path: '/', title: 'Welcome', alert: null });
    await open('/account');
    expect((await shown()).path).toBe('/sign-in');
    await send('Sign in', { Email: ada.email, Password: 'not the password' });
    const alert = 'The email or the password is wrong.';
    expect(await shown()).toEqual({ path: '/sign-in', title: 'Sign in', alert });
    expect(page.url()).not.toMatch(/ada|password/);
    expect(await page.getByLabel('Email', { exact: true }).inputValue()).toBe(ada.email);
    await page.getByLabel('Stay signed in').check();
    await send('Sign in', { Password: 'not the password either' });
    expect(await page.getByLabel('Stay signed in').isChecked()).toBe(true);
    await send('Sign in', { Email: ada.email, Password: ada.password });
    expect((await shown()).title).toBe('Welcome back');
    const [cookie] = (await page.context().cookies()).filter(({ name }) => name === 'latchkey');
    expect(cookie?.expires).toBeGreaterThan(Date.now() / 1000);
    await open('/account');
    await send('Change the password', { Password: ada.password, 'New password': 'a difference engine' });
    expect(await shown()).toEqual({ path: '/', title: 'Welcome back', alert: null });
    await open('/account');
    await send('Sign out everywhere');
    expect((await shown()).title).toBe('Welcome');
  }

  // Runs where nginx is installed. Its configuration is the page's, except for ports and files.
  const withNginx = process.env.LATCHKEY_SPEC_NGINX ? test : test.skip;
  withNginx('deployment.md: behind nginx, sessions record the client, whatever it claims', async () => {
    const [first, second, http, https] = [
      await freePort(),
      await freePort(),
      await freePort(),
      await freePort(),
    ];
    await Promise.all([start('server.js', first), start('server.js', second)]);
    const subject = ['-subj', '/CN=app.example.com', '-days', '1'];
    const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')];
    await run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files]);
    const [config = ''] = await blocks('deployment.md', 'nginx');
    const adapted = config
      .replace('127.0.0.1:3000', `127.0.0.1:${first}`)
      .replace('127.0.0.1:3001', `127.0.0.1:${second}`)
      .replace('listen 80', `listen 127.0.0.1:${http}`)
      .replace('listen 443', `listen 127.0.0.1:${https}`)
      .replace(/\S*fullchain.pem/, join(folder, 'cert.pem'))
      .replace(/\S*privkey.pem/, join(folder, 'key.pem'));
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    await writeFile(
      join(folder, 'nginx.conf'),
      `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr;
      events {}
      http { access_log off; ${temporary.join(' ')}\n${adapted}}`,
    );
    const nginx = spawn(String(process.env.LATCHKEY_SPEC_NGINX), ['-c', join(folder, 'nginx.conf')], {
      stdio: 'ignore',
    });
    project.track(nginx);

    const call = (path: string, headers: Record<string, string> = {}, body?: object) =>
      new Promise<{ cookie: string; text: string }>((resolve, reject) => {
        const method = body ? 'POST' : 'GET';
        const sent = { host: 'app.example.com', 'content-type': 'application/json', ...headers };
        const options = { port: https, path, method, headers: sent, rejectUnauthorized: false };
        const request = httpsRequest({ host: '127.0.0.1', ...options }, async (response) => {
          const chunks: Buffer[] = [];
          for await (const chunk of response) chunks.push(chunk);
          resolve({ cookie: String(response.headers['set-cookie']), text: Buffer.concat(chunks).toString() });
        });
        request.on('error', reject).end(body && JSON.stringify(body));
      });
    for (const end = Date.now() + 15_000; ; ) {
      const answer = await call('/health').catch(() => null);
      if (answer?.text === '{"ok":true}') break;
      if (Date.now() > end) throw new Error('nginx does not respond');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await call('/auth/signup/credential', {}, ada);
    const claims = { 'x-forwarded-for': '203.0.113.9' };
    const body = { credential: ada.email, password: ada.password };
    const { cookie, text } = await call('/auth/signin/credential', claims, body);
    expect(cookie).toMatch(/^__Host-latchkey=.*; Secure/);
    expect(JSON.parse(text).session.ip_address).toBe('127.0.0.1');
    const [pair = ''] = cookie.split(';');
    for (const _ of [first, second]) {
      expect((await call('/hello', { cookie: pair })).text).toBe(`{"hello":"${ada.email}"}`);
    }
    const plain = await fetch(`http://127.0.0.1:${http}/hello`, { redirect: 'manual' });
    expect(plain.status).toBe(301);
  });

  const start = (file: string, port: number, env = appEnvironment(port)) => project.start(file, env);

  function appEnvironment(port: number): NodeJS.ProcessEnv {
    return {
      ...withoutOuter(),
      NODE_ENV: 'production',
      DATABASE_URL: 'sqlite:./deployed.db',
      AUTH_SECRET: SECRET,
      BASE_URL: 'https://app.example.com',
      PORT: String(port),
    };
  }
});
