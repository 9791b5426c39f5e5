import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ErrorRequestHandler } from 'express';
import { admin, authRouter, requireSession, twoFactor } from '../../lib/index.js';
import { ada, password } from '../support/app.js';
import { createPerson, type PagesApp, signInOn, startPagesApp } from '../support/pages-app.js';

const plugins = [password(), twoFactor()] as const;
const POLICY = "default-src 'self'; frame-ancestors 'none'";
let app: PagesApp<typeof plugins>;
beforeAll(async () => {
  app = await startPagesApp(plugins, {
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.use(requireSession(auth));
    },
  });
  await createPerson(app, ada);
});
afterAll(() => app.stop());

/** Sends a path as it is, which `fetch` would change. */
function statusOf(path: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(app.origin);
    request({ hostname, port, path, headers: { accept: 'text/html', ...headers } }, (res) => {
      res.resume();
      resolve(res.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

describe('a guard leads a browser to the sign-in', () => {
  test.each(['//', '//[', '//evil.example:99999/x', '/%', '/%E0%A4%A', '/\\evil.example', '/?a=%'])(
    'from the path %s',
    async (path) => {
      expect(await statusOf(path)).toBe(303);
    },
  );

  test('behind HTTP Basic, whose header the browser sends by itself', async () => {
    expect(await statusOf('/guarded', { authorization: 'Basic eDp5' })).toBe(303);
    expect(await statusOf('/guarded', { authorization: 'Bearer x' })).toBe(401);
  });
});

test('a page never leads to itself', async () => {
  const answer = await app.open().open('/auth/account', { authorization: 'Bearer x' });
  expect(answer.location).not.toBe('/auth/account');
  const signIn = await app.open().open('/auth/sign-in', { authorization: 'Basic eDp5' });
  expect(signIn.status).toBe(200);
});

test('a page with the token of a link gives the token to no other page', async () => {
  const answer = await app.open().open('/auth/reset-password?token=lkm_x');
  expect(answer.body).toContain('<meta name="referrer" content="strict-origin">');
  const without = await app.open().open('/auth/reset-password');
  expect(without.body).not.toContain('name="referrer"');
});

test('the address of a form leads to its page, with the token of its link', async () => {
  const answer = await app.open().open('/auth/reset-password/set?token=lkm_x');
  expect(answer.location).toBe('/auth/reset-password?token=lkm_x');
});

describe('a path that cannot be decoded', () => {
  const PATHS = [
    ['an asset', 'GET', '/auth/assets/%E0%A4%A'],
    ['a page', 'GET', '/auth/administration/users/%'],
    ['a form', 'POST', '/auth/administration/users/%ff/delete'],
    ['a route', 'GET', '/auth/admin/users/%zz'],
    ['a route for other methods', 'DELETE', '/auth/sessions/%E0%A4%A'],
    ['a page with a query', 'GET', '/auth/administration/users/%?a=%'],
  ] as const;
  let strict: PagesApp<readonly [...typeof plugins, ReturnType<typeof admin>]>;
  const errors: unknown[] = [];
  beforeAll(async () => {
    strict = await startPagesApp([...plugins, admin({ adminEmails: [ada.email] })] as const, {
      mount(express, auth) {
        express.use('/auth', authRouter(auth));
        express.get('/auth/own/:id', (_req, res) => void res.send('own'));
        express.use(((error, _req, res, _next) => {
          errors.push(error);
          res.status(418).send(String(error.stack));
        }) satisfies ErrorRequestHandler);
      },
    });
  });
  afterAll(() => strict.stop());

  const send = (method: string, path: string, accept: string) =>
    new Promise<{ status: number | undefined; type: string | undefined; body: string }>((resolve, reject) => {
      const { hostname, port } = new URL(strict.origin);
      const sent = request({ hostname, port, method, path, headers: { accept } }, async (res) => {
        let body = '';
        for await (const chunk of res) body += chunk;
        resolve({ status: res.statusCode, type: res.headers['content-type'], body });
      });
      sent.on('error', reject).end();
    });

  test.each(PATHS)(
    'of %s gets a small page in a browser, and a problem otherwise',
    async (_what, method, path) => {
      const page = await send(method, path, 'text/html,*/*;q=0.8');
      expect([page.status, page.type]).toEqual([400, 'text/html; charset=utf-8']);
      expect(page.body).toContain('href="/home"');
      expect(page.body).not.toMatch(/URIError|node_modules/);
      const problem = await send(method, path, 'application/json');
      expect([problem.status, problem.type]).toEqual([400, 'application/problem+json; charset=utf-8']);
      expect(JSON.parse(problem.body).code).toBe('invalid_request');
      expect(errors).toEqual([]);
    },
  );

  test('of the app gets to the app', async () => {
    expect((await send('GET', '/auth/own/%', 'text/html')).status).toBe(418);
    expect(errors.splice(0)).toHaveLength(1);
  });
});

describe('in the frame of an app', () => {
  let framed: PagesApp<typeof plugins>;
  let rendered: unknown;
  beforeAll(async () => {
    framed = await startPagesApp(plugins, {
      pages: { home: '/home', render: () => rendered as string },
      mount(express, auth) {
        express.use((_req, res, next) => {
          res.setHeader('Content-Security-Policy', POLICY);
          next();
        });
        express.use('/auth', authRouter(auth));
      },
    });
  });
  afterAll(() => framed.stop());

  test('a page keeps the policy of the app, after a refused form too', async () => {
    rendered = undefined;
    const browser = framed.open();
    const page = await browser.open('/auth/sign-in');
    rendered = '<!doctype html><title>Ours</title>';
    const shown = await browser.open('/auth/sign-in');
    expect([shown.body, shown.headers['content-security-policy']]).toEqual([rendered, POLICY]);
    const refused = await browser.submit(page, 'password', {
      credential: 'x@example.com',
      password: 'wrong',
    });
    expect([refused.status, refused.body]).toEqual([401, rendered]);
    expect(refused.headers['content-security-policy']).toBe(POLICY);
  });

  test.each([5, {}, true])('%p is no document', async (value) => {
    rendered = value;
    expect((await framed.open().open('/auth/sign-in')).status).toBe(500);
  });
});

describe('options', () => {
  test.each([
    [{ own: { signin: '/login' } }, /pages: own must name pages: sign-in, /],
    [{ home: 'dashboard' }, /pages: home must be a path/],
    [{ unknown: true } as never, /unknown is not an option/],
  ])('%j is a TypeError', async (options, message) => {
    await expect(startPagesApp(plugins, { pages: options })).rejects.toThrow(message);
  });

  test('home cannot be a page that signs in', async () => {
    await expect(startPagesApp(plugins, { pages: { home: '/auth/sign-in' } })).rejects.toThrow(
      'home must not be a route of latchkey or a page where users sign in',
    );
  });

  test('auth.pages.url names the pages that there are', () => {
    expect(app.auth.pages.url('sign-in', { returnTo: '/reports' })).toBe(
      '/auth/sign-in?return_to=%2Freports',
    );
    for (const name of ['constructor', 'nowhere', 'account/api-keys'])
      expect(() => app.auth.pages.url(name)).toThrow('there is no page');
  });
});

test('a session that has ended meanwhile is asked to sign in, and to return', async () => {
  const browser = app.open();
  await signInOn(browser, ada);
  const page = await browser.open('/auth/account');
  await app.auth.revokeAllSessions((await app.auth.users.find({ email: ada.email }))?.id ?? '');
  const answer = await browser.submit(page, 'email', { new_email: 'new@example.com' });
  expect(answer.status).toBe(401);
  expect(answer.body).toContain('/auth/sign-in?return_to=%2Fauth%2Faccount');
});
