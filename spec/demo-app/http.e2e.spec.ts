import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  adminCredentials,
  type Demo,
  postHalf,
  postJson,
  refusesConnections,
  signInAsAdmin,
  spawnDemo,
  startDemo,
} from '../support/demo.js';

const PAGES = ['/', '/mails', '/nothing'];

let data: string;
let demo: Demo;

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'latchkey-demo-'));
  demo = await startDemo(data);
});

afterAll(async () => {
  await demo?.end();
  await rm(data, { recursive: true, force: true });
});

describe('the demo app over HTTP', () => {
  test('the first start prints the address, and creates files that only their owner can read', async () => {
    expect(demo.output()).toContain(demo.origin);
    expect(demo.output()).toContain('admin-password.txt');
    for (const file of ['secret', 'admin-password.txt']) {
      expect((await stat(join(data, file))).mode & 0o777).toBe(0o600);
    }
    expect((await stat(data)).mode & 0o077).toBe(0);
  });

  test.each(PAGES)('%s is a page without inline scripts, under the policy of the app', async (path) => {
    const response = await fetch(demo.origin + path, { headers: { accept: 'text/html' } });
    expect(response.headers.get('content-type')).toMatch('text/html');
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'self'; .*frame-ancestors 'none'/,
    );
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.text()).not.toMatch(/<script(?![^>]* src=)|<style| on\w+=/);
  });

  test('the pages of accounts are those of pages(), with their own policy', async () => {
    for (const path of ['/auth/sign-in', '/auth/sign-up', '/auth/forgot-password']) {
      const response = await fetch(demo.origin + path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; /);
    }
  });

  test('the dashboard leads a browser without a session to the sign-in page, and a program to nothing', async () => {
    const ask = (accept: string) =>
      fetch(`${demo.origin}/dashboard`, { headers: { accept }, redirect: 'manual' });
    const response = await ask('text/html');
    expect([response.status, response.headers.get('location')]).toEqual([
      303,
      '/auth/sign-in?return_to=%2Fdashboard',
    ]);
    expect(await (await ask('application/json')).json()).toMatchObject({ code: 'unauthenticated' });
  });

  test('the dashboard shows who is signed in, and links the users to administrators only', async () => {
    const cookieOf = (response: Response) => response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const show = async (cookie: string) =>
      (await fetch(`${demo.origin}/dashboard`, { headers: { cookie } })).text();
    const admin = await show(cookieOf(await signInAsAdmin(demo, data)));
    expect(admin).toContain('<h1>Hello admin@example.com</h1>');
    expect(admin).toContain('href="/auth/administration/users"');
    const ada = { email: 'ada@example.com', password: 'an analytical engine', name: '<b>Ada</b>' };
    const user = await show(cookieOf(await postJson(`${demo.origin}/auth/signup/credential`, ada)));
    expect(user).toContain('<h1>Hello &lt;b&gt;Ada&lt;/b&gt;</h1>');
    expect(user).not.toContain('/auth/administration/users');
    expect(await show('latchkey=a-session-that-has-ended')).not.toContain('Hello');
  });

  test('the mailbox shows emails in a frame where nothing can run', async () => {
    const frames = (await (await fetch(`${demo.origin}/mails`)).text()).match(/<iframe[^>]*>/g) ?? [];
    expect(frames.length).toBeGreaterThan(0);
    expect(
      frames.filter((frame) => !frame.startsWith('<iframe sandbox="" srcdoc="&lt;!doctype html&gt;')),
    ).toEqual([]);
  });

  test('password managers find the page where a password can be changed', async () => {
    const response = await fetch(`${demo.origin}/.well-known/change-password`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([
      302,
      '/auth/account/security#password',
    ]);
    const nothing = 'resource-that-should-not-exist-whose-status-code-should-not-be-200';
    expect((await fetch(`${demo.origin}/.well-known/${nothing}`)).status).toBe(404);
  });

  test('requests for another host name are redirected to the app’s origin', async () => {
    const ask = (path: string) =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const headers = { host: 'demo.example' };
        get(demo.origin + path, { headers }, (response) => resolve(response.resume())).once('error', reject);
      });
    const page = await ask('/mails?a=1');
    expect([page.statusCode, page.headers.location]).toEqual([307, `${demo.origin}/mails?a=1`]);
    expect((await ask('/api/mails')).statusCode).toBe(307);
  });

  test('the JSON route accepts a bearer token and rejects requests without a credential', async () => {
    const refused = await fetch(`${demo.origin}/api/hello`);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('content-type')).toMatch('application/problem+json');

    const token = (await signInAsAdmin(demo, data)).headers.get('set-auth-token');
    const answer = await fetch(`${demo.origin}/api/hello`, { headers: { authorization: `Bearer ${token}` } });
    expect(await answer.json()).toEqual({ hello: 'admin@example.com' });
  });

  test('an unknown path returns a page to browsers and a problem response to programs', async () => {
    const page = await fetch(`${demo.origin}/nothing`, { headers: { accept: 'text/html' } });
    expect([page.status, await page.text()]).toEqual([
      404,
      expect.stringContaining('There is nothing at this address'),
    ]);
    const problem = await fetch(`${demo.origin}/api/nothing`);
    expect(await problem.json()).toMatchObject({ status: 404, title: 'Not Found' });
  });

  test('an API key needs the scope for the reports, and a fresh sign-in is needed for all data', async () => {
    const token = (await signInAsAdmin(demo, data)).headers.get('set-auth-token');
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const keyFor = async (scopes: string[]) => {
      const body = JSON.stringify({ name: 'reports', scopes });
      return (await (await fetch(`${demo.origin}/auth/api-keys`, { method: 'POST', headers, body })).json())
        .key;
    };
    const get = async (path: string, key: string) => {
      const response = await fetch(demo.origin + path, { headers: { 'X-Service-API-Key': key } });
      return [response.status, await response.json()];
    };
    const key = await keyFor(['reports:read']);
    expect(await get('/api/reports', key)).toEqual([200, { sign_ins: expect.any(Array) }]);
    expect(await get('/api/hello', key)).toEqual([403, expect.objectContaining({ code: 'scope_required' })]);
    expect(await get('/api/my-data', key)).toEqual([
      403,
      expect.objectContaining({ code: 'session_required' }),
    ]);
    const other = await keyFor([]);
    expect(await get('/api/hello', other)).toEqual([200, { hello: 'admin@example.com' }]);
    expect(await get('/api/reports', other)).toEqual([
      403,
      expect.objectContaining({ code: 'insufficient_scope' }),
    ]);
    const mine = await (await fetch(`${demo.origin}/api/my-data`, { headers })).json();
    expect(mine).toMatchObject({ user: { email: 'admin@example.com' }, apiKeys: [{}, {}] });
  });
});

describe('starting and stopping the demo app', () => {
  test('a port that is in use is reported with a suggestion', async () => {
    const second = spawnDemo({ DEMO_DATA: data, PORT: new URL(demo.origin).port });
    expect(await second.exit).toBe(1);
    expect(second.output()).toMatch(/Port \d+ is taken.*PORT=\d+ npm run demo/);
  });

  test.each([
    ['PORT', 'abc'],
    ['PORT', '70000'],
    ['PORT', '-1'],
    ['PROVIDER_PORT', '1.5'],
  ])('%s=%s is reported in one line', async (variable, value) => {
    const refused = spawnDemo({ DEMO_DATA: data, [variable]: value });
    expect(await refused.exit).toBe(1);
    expect(refused.output()).toBe(`${variable} must be a whole number from 1 to 65535, not "${value}".\n`);
  });

  test('SIGTERM completes the current request, then exits with 0, and the data and the secret are kept', async () => {
    const secret = await readFile(join(data, 'secret'), 'utf8');
    const token = (await signInAsAdmin(demo, data)).headers.get('set-auth-token');
    const underWay = await postHalf(`${demo.origin}/auth/signin/credential`, await adminCredentials(data));

    demo.child.kill('SIGTERM');
    await refusesConnections(demo.origin);
    demo.child.kill('SIGTERM');
    expect(await underWay.finish()).toBe(200);
    const answered = Date.now();
    expect(await demo.exit).toBe(0);
    // Node's own keep-alive would hold it for 5 s.
    expect(Date.now() - answered).toBeLessThan(5000);

    demo = await startDemo(data);
    expect(await readFile(join(data, 'secret'), 'utf8')).toBe(secret);
    const me = await fetch(`${demo.origin}/auth/me`, { headers: { authorization: `Bearer ${token}` } });
    expect(me.status).toBe(200);
  });
});
