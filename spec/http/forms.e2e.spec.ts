// playwright-core uses DOM types. The code of the package itself is compiled without them.
/// <reference lib="dom" />
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';
import { authRouter, optionalSession } from '../../lib/index.js';
import { ada, type password, type SpecApp, startApp } from '../support/app.js';

// The path that run.mjs found; empty if there is none.
const CHROMIUM = process.env.LATCHKEY_SPEC_BROWSER;
const inBrowser = CHROMIUM ? describe : describe.skip;
jest.setTimeout(60_000);

const form = (action: string, fields: Record<string, string>, button: string) =>
  `<form method="post" action="${action}">${Object.entries(fields)
    .map(([name, value]) => `<input name="${name}" value="${value}">`)
    .join('')}<button>${button}</button></form>`;

const PAGES: Record<string, string> = {
  '/in': form('/v1/auth/signin/credential', { credential: '', password: '', error_to: '/in' }, 'Sign in'),
  '/up': form('/v1/auth/signup/credential', { email: '', password: '', redirect_to: '/in' }, 'Sign up'),
};

inBrowser('in a browser without JavaScript, a form', () => {
  let app: SpecApp<readonly [ReturnType<typeof password>]>;
  let elsewhere: Server;
  let browser: Browser;
  let page: Page;
  let headers: Record<string, string> = {};

  beforeAll(async () => {
    app = await startApp({
      mount: (mounted, auth) => {
        mounted.use('/v1/auth', authRouter(auth));
        mounted.use(optionalSession(auth), (req, res) => {
          res.set(headers).type('html');
          const whose = req.auth?.user.email ?? 'nobody';
          const everywhere = form('/v1/auth/revoke-sessions', {}, 'Everywhere');
          const out = form('/v1/auth/signout', {}, 'Sign out') + everywhere;
          const { values, error } = auth.formValues(req, res);
          const typed = `<output>${error} ${JSON.stringify(values)}</output>`;
          res.send(`<p>${whose}</p>${out}${PAGES[req.path] ?? ''}${typed}`);
        });
      },
    });
    // Another site: cookies of 127.0.0.1 are not those of localhost.
    elsewhere = createServer((req, res) => {
      const action = `${app.origin}/v1/auth${req.url}`;
      const credentials = { credential: 'eve@example.com', password: ada.password, error_to: '/in' };
      res.setHeader('content-type', 'text/html');
      res.end(form(action, req.url === '/signout' ? {} : credentials, 'Click me'));
    }).listen(0, 'localhost');
    await app.auth.credential.signUp({ ...ada, email: 'eve@example.com' });
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--headless', '--disable-gpu', '--disable-background-networking'],
    });
  });
  afterEach(async () => {
    headers = {};
    await page.context().close();
  });
  afterAll(async () => {
    await browser?.close();
    elsewhere.close();
    await app.stop();
  });

  const open = async (path: string) => {
    const context = await browser.newContext({ javaScriptEnabled: false, baseURL: app.origin });
    page = await context.newPage();
    await page.goto(path);
  };
  const send = async (button: string, fields: Record<string, string> = {}) => {
    for (const [name, text] of Object.entries(fields)) await page.locator(`[name=${name}]`).fill(text);
    await page.getByRole('button', { name: button }).click();
  };
  const whose = async () => [
    page.url().replace(app.origin, ''),
    (await page.locator('p').textContent({ timeout: 10_000 })) ?? '',
  ];
  const typed = () => page.locator('output').textContent({ timeout: 10_000 });
  const signIn = () => send('Sign in', { credential: ada.email, password: ada.password });

  test('signs up, in and out, and shows what was wrong', async () => {
    await open('/up?invited=1');
    await send('Sign up', { email: 'ada', password: 'short' });
    expect(await whose()).toEqual([
      '/up?invited=1&error=validation_failed&error_fields=email,password',
      'nobody',
    ]);
    await send('Sign up', { email: ada.email, password: ada.password });
    expect(await whose()).toEqual(['/in', 'nobody']);
    await send('Sign in', { credential: ada.email, password: 'not the password' });
    expect(await whose()).toEqual(['/in?error=invalid_credentials', 'nobody']);
    await signIn();
    expect(await whose()).toEqual(['/', ada.email]);
    await send('Sign out');
    expect(await whose()).toEqual(['/', 'nobody']);
    // Nothing is left to sign out of.
    await send('Sign out');
    expect(await whose()).toEqual(['/', 'nobody']);
    await send('Everywhere');
    expect(await whose()).toEqual(['/?error=unauthenticated', 'nobody']);
  });

  test('works on pages with a strict policy, which send neither Referer nor Origin', async () => {
    headers = {
      'Referrer-Policy': 'no-referrer',
      'Content-Security-Policy': "default-src 'none'; form-action 'self'",
    };
    await open('/in');
    await send('Sign in', { credential: ada.email, password: 'not the password' });
    expect(await whose()).toEqual(['/in?error=invalid_credentials', 'nobody']);
    expect(await typed()).toBe(`invalid_credentials {"credential":"${ada.email}"}`);
    await page.reload();
    expect(await typed()).toBe('null {}');
    await signIn();
    expect(await whose()).toEqual(['/', ada.email]);
    await send('Sign out');
    expect(await whose()).toEqual(['/', 'nobody']);
    // This form has no error_to.
    await send('Everywhere');
    expect(await page.getByRole('heading').textContent()).toBe('401 Unauthorized');
    expect(await page.content()).toContain('<code>unauthenticated</code>');
    await page.getByRole('link').click();
    expect(await whose()).toEqual(['/', 'nobody']);
  });

  test('of another site signs nobody in or out', async () => {
    await open('/in');
    await signIn();
    const { port } = elsewhere.address() as AddressInfo;
    for (const path of ['/signin/credential', '/signout']) {
      await page.goto(`http://localhost:${port}${path}`);
      await send('Click me');
      expect(page.url()).toBe(`${app.origin}/v1/auth${path}`);
      expect(await page.content()).toMatch(/origin_not_allowed/);
      await page.goto('/');
      expect(await whose()).toEqual(['/', ada.email]);
    }
  });
});
