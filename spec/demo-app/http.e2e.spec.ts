import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  adminCredentials,
  type Demo,
  postHalf,
  refusesConnections,
  signInAsAdmin,
  spawnDemo,
  startDemo,
} from '../support/demo.js';

const FOR_ALL = [
  '/',
  '/sign-in',
  '/sign-in/email',
  '/sign-up',
  '/forgotten-password',
  '/reset-password',
  '/verify-email',
  '/change-email',
  '/second-factor',
  '/undo-change',
  '/mails',
  '/sign-in-failed',
];
const FOR_THE_SIGNED_IN = [
  '/account',
  '/security',
  '/reauthenticate',
  '/linked-accounts',
  '/api-keys',
  '/sessions',
  '/users',
  '/events',
];

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

  test.each(FOR_ALL)('%s is public and contains no inline script', async (path) => {
    const response = await fetch(demo.origin + path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch('text/html');
    expect(response.headers.get('content-security-policy')).toMatch("default-src 'self'");
    expect(await response.text()).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/);
  });

  test('pages that need a script say so without one', async () => {
    const [cookie] = (await signInAsAdmin(demo, data)).headers.getSetCookie();
    const withNotice = async (path: string, cookie = '') => {
      const page = await (await fetch(demo.origin + path, { headers: { cookie } })).text();
      return /<noscript>.*needs JavaScript.*<\/noscript>/.test(page);
    };
    for (const path of FOR_ALL) expect([path, await withNotice(path)]).toEqual([path, false]);
    for (const path of FOR_THE_SIGNED_IN) {
      const needsScript = ['/security', '/api-keys', '/users', '/events'].includes(path);
      expect([path, await withNotice(path, cookie?.split(';')[0])]).toEqual([path, needsScript]);
    }
  });

  test('what is in the address of a page is not HTML', async () => {
    const markup = '" onfocus="alert()"><script src=//evil.example></script>';
    const names = ['next', 'token', 'error', 'error_fields', 'done', 'ended'];
    for (const path of FOR_ALL)
      for (const next of [markup, `/${markup}`]) {
        const query = new URLSearchParams(names.map((name) => [name, next]));
        const page = await (await fetch(`${demo.origin}${path}?${query}`)).text();
        expect([path, /<script src=\/\/evil|" onfocus/.test(page)]).toEqual([path, false]);
      }
    const text = await (await fetch(`${demo.origin}/sign-in?error=constructor&done=__proto__`)).text();
    expect(text).toContain('That did not work.');
    expect(text).not.toContain('function');
  });

  test('password managers find the page where a password can be changed', async () => {
    const response = await fetch(`${demo.origin}/.well-known/change-password`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([302, '/account#your-password']);
    const nothing = 'resource-that-should-not-exist-whose-status-code-should-not-be-200';
    expect((await fetch(`${demo.origin}/.well-known/${nothing}`)).status).toBe(404);
  });

  test.each(FOR_THE_SIGNED_IN)('%s redirects to the sign-in page without a session', async (path) => {
    const response = await fetch(demo.origin + path, { redirect: 'manual' });
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe(`/sign-in?next=${encodeURIComponent(path)}`);
  });

  const LINKED_TO = ['/mails', '/verify-email', '/reset-password', '/forgotten-password', '/nothing'];
  test.each(LINKED_TO)('%s shows the navigation that matches the user', async (path) => {
    const links = async (cookie: string) => {
      const headers = { accept: 'text/html', cookie };
      const [header] = (await (await fetch(demo.origin + path, { headers })).text()).split('</header>');
      return ['/sign-in', '/account', '/users'].filter((link) => header?.includes(`<a href="${link}">`));
    };
    const [cookie] = (await signInAsAdmin(demo, data)).headers.getSetCookie();
    expect(await links(cookie?.split(';')[0] ?? '')).toEqual(['/account', '/users']);
    expect(await links('')).toEqual(['/sign-in']);
    expect(await links('latchkey=a-session-that-has-ended')).toEqual(['/sign-in']);
  });

  test('the HTML files of guarded pages cannot be requested directly', async () => {
    for (const path of ['/users.html', '/pages/users.html', '/..%2fpages%2fusers.html']) {
      expect((await fetch(demo.origin + path)).status).toBe(404);
    }
  });

  test('requests for another host name are redirected to the app’s origin', async () => {
    const ask = (path: string) =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const headers = { host: 'demo.example' };
        get(demo.origin + path, { headers }, (response) => resolve(response.resume())).once('error', reject);
      });
    const page = await ask('/sign-in?next=/account');
    expect([page.statusCode, page.headers.location]).toEqual([307, `${demo.origin}/sign-in?next=/account`]);
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

  test('the theme is stored in a cookie of the app, next to the session cookie', async () => {
    const chosen = await fetch(`${demo.origin}/theme`, {
      method: 'POST',
      body: new URLSearchParams({ theme: 'dark' }),
    });
    const cookie = `${(await signInAsAdmin(demo, data)).headers.get('set-cookie')?.split(';')[0]}; ${chosen.headers.get('set-cookie')?.split(';')[0]}`;
    expect(await (await fetch(`${demo.origin}/theme.css`, { headers: { cookie } })).text()).toMatch(
      'color-scheme: dark;',
    );
    expect((await fetch(`${demo.origin}/auth/me`, { headers: { cookie } })).status).toBe(200);
    const nonsense = await fetch(`${demo.origin}/theme.css`, { headers: { cookie: 'theme=j:{"a":"}"}' } });
    expect(await nonsense.text()).toMatch('color-scheme: light dark;');
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
