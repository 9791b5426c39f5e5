/// <reference lib="dom" />
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { altcha, hcaptcha, turnstile } from '../../../lib/human-check.js';
import { field, fill, inBrowser, press, showsPage, specBrowser } from './browser.js';
import { inFirefox, specFirefox } from './firefox.js';
import { type OwnApp, startOwnApp } from './own-app.js';
import { listen, originOf } from './provider.js';

const PASSWORD = 'nanoseconds of wire';
const ALL = ['signup/credential', 'signin/email', 'passwords/request-reset', 'signin/credential'] as const;

/** Lists what axe finds in a page, and whether it is wider than the window. */
async function problemsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = (await page.evaluate('axe.run()')) as { violations: { id: string }[] };
  const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
  return [...found.violations.map(({ id }) => id), ...(isWide ? ['is wider than the window'] : [])];
}

async function signUp(page: Page, email: string): Promise<void> {
  await field(page, 'Email').first().fill(email);
  await fill(page, 'Password', PASSWORD);
  await press(page, 'Create an account');
}

inBrowser('altcha() in Chromium', () => {
  const browser = specBrowser();
  let app: OwnApp;
  beforeAll(async () => {
    app = await startOwnApp({ humanCheck: altcha({ routes: ALL }) });
  });
  afterAll(() => app?.stop());

  test('a person notices nothing of it, also after a form was refused', async () => {
    const page = await browser.open(app.url('/auth/sign-up'), { viewport: { width: 320, height: 640 } });
    expect(await problemsOf(page)).toEqual([]);
    const used: string[] = [];
    page.on('request', (request) => {
      const { human_token } = request.postDataJSON() ?? {};
      if (human_token) used.push(human_token);
    });
    await app.auth.users.create({ email: 'taken@example.com' });
    await signUp(page, 'taken@example.com');
    await page.getByText('You already have an account with this email.').first().waitFor();
    // The first token is spent: the form gets another one.
    await signUp(page, 'ada@example.com');
    await showsPage(page, 'Notes of ada@example.com');
    expect(used).toHaveLength(2);
    expect(new Set(used).size).toBe(2);
  });

  test('the challenge is solved while the person types', async () => {
    const page = await browser.open(app.url('/auth/forgot-password'));
    const solved = page.waitForEvent('worker').then((worker) => worker.waitForEvent('close'));
    await field(page, 'Email').pressSequentially('ada@example.com');
    await solved;
    await press(page, 'Email me a link');
    await showsPage(page, 'Check your email');
  });

  test('a page that stays open for longer than a challenge is valid still works', async () => {
    const page = await browser.open(app.url('/auth/forgot-password'));
    await fill(page, 'Email', 'ada@example.com');
    const challenge = page.waitForRequest(/human-challenge$/);
    await page.evaluate('Date.now = ((now) => () => now() + 10 * 60 * 1000)(Date.now)');
    await press(page, 'Email me a link');
    await challenge;
    await showsPage(page, 'Check your email');
  });

  test('both buttons of a form are checked', async () => {
    const person = await app.createPerson('grace@example.com');
    const page = await browser.open(app.url('/auth/sign-in'));
    await fill(page, 'Email or username', person.email);
    await press(page, 'Email me a code');
    await showsPage(page, 'Enter your code');
    const other = await browser.open(app.url('/auth/sign-in'));
    await fill(other, 'Email or username', person.email);
    await fill(other, 'Password', person.password);
    await press(other, 'Sign in');
    await showsPage(other, `Notes of ${person.email}`);
  });

  test('if no challenge can be had, the page says so', async () => {
    const page = await browser.open(app.url('/notes'));
    await page.route(/human-challenge$/, (route) => route.abort());
    await page.goto(app.url('/auth/forgot-password'));
    await fill(page, 'Email', 'ada@example.com');
    await press(page, 'Email me a link');
    await page.getByText('We could not confirm that a person has sent this. Try again.').waitFor();
    await page.unroute(/human-challenge$/);
    await press(page, 'Email me a link');
    await showsPage(page, 'Check your email');
  });

  test('without JavaScript, a form is refused', async () => {
    // Playwright disables scripts after the parser has decided not to show <noscript>: Firefox shows it below.
    const page = await browser.open(app.url('/auth/sign-up'), { javaScriptEnabled: false });
    await signUp(page, 'hedy@example.com');
    await page.getByText('Turn on JavaScript, reload this page, and try again.').waitFor();
  });
});

inFirefox('altcha() in Firefox', () => {
  let app: OwnApp;
  beforeAll(async () => {
    app = await startOwnApp({ humanCheck: altcha() });
  });
  afterAll(() => app?.stop());

  describe.each([true, false])('with JavaScript: %s', (hasScripts) => {
    const firefox = specFirefox(hasScripts);
    test('a sign-up', async () => {
      const email = `ada-${hasScripts}@example.com`;
      const page = await firefox.open(app.url('/auth/sign-up'));
      await page.fill('Email', email);
      await page.fill('Password', PASSWORD);
      await page.press('Create an account');
      await page.showsPage(hasScripts ? `Notes of ${email}` : 'Create an account');
      if (!hasScripts) await page.says('alert', 'There is a problem');
    });

    test('the sentence about JavaScript', async () => {
      const page = await firefox.openDriven(app.url('/auth/sign-up'));
      const shown = await page.evaluate(() => document.querySelector('noscript > p')?.textContent ?? null);
      const text =
        'This browser cannot be checked, because it runs no scripts. Turn on JavaScript, then reload this page.';
      expect(shown).toBe(hasScripts ? null : text);
    });
  });
});

/** The script of a service, as its documentation describes it, whose widget gives a token when it is asked. */
const scriptOf = (name: string, onClick: boolean) => `
  const widgets = [];
  globalThis.${name} = {
    render(box, options) {
      const button = Object.assign(document.createElement('button'), { type: 'button', textContent: 'I am a person' });
      const give = () => options.callback('token ' + Math.random());
      button.onclick = give;
      box.append(button, Object.assign(document.createElement('textarea'), { name: 'h-captcha-response', hidden: true }));
      globalThis.widgetSize = options.size;
      widgets.push(give);
      if (!${onClick}) setTimeout(give);
      return widgets.length - 1;
    },
    getResponse: () => '',
    execute: (id) => widgets[id](),
    reset: (id) => ${onClick} || setTimeout(widgets[id]),
  };
  globalThis[new URL(document.currentScript.src).searchParams.get('onload')]();`;

inBrowser.each([
  ['turnstile', turnstile, /^https:\/\/challenges\.cloudflare\.com\//, false],
  ['hcaptcha', hcaptcha, /^https:\/\/js\.hcaptcha\.com\//, true],
] as const)('%s() in Chromium', (name, check, script, onClick) => {
  const browser = specBrowser();
  let app: OwnApp;
  let service: Awaited<ReturnType<typeof listen>>;
  const asked: string[] = [];
  beforeAll(async () => {
    service = await listen('127.0.0.1', async (req, res) => {
      let body = '';
      for await (const chunk of req) body += chunk;
      asked.push(new URLSearchParams(body).get('response') ?? '');
      res.end('{"success":true}');
    });
    app = await startOwnApp({
      humanCheck: check({ siteKey: 'site', secret: 'secret', verifyUrl: originOf(service) }),
    });
  });
  afterAll(async () => {
    await app?.stop();
    service?.close();
  });

  test('the widget stands in the form, and its token is sent', async () => {
    const page = await browser.open(app.url('/notes'), { viewport: { width: 320, height: 640 } });
    await page.route(script, (route) =>
      route.fulfill({ contentType: 'text/javascript', body: scriptOf(name, onClick) }),
    );
    await page.goto(app.url('/auth/sign-up'));
    await page.getByRole('button', { name: 'I am a person' }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
    expect(await page.evaluate('widgetSize')).toBe('compact');
    await signUp(page, `${name}@example.com`);
    await showsPage(page, `Notes of ${name}@example.com`);
    expect(asked).toEqual([expect.stringMatching(/^token /)]);
  });

  test('if its script is blocked, the page says so', async () => {
    const page = await browser.open(app.url('/notes'));
    await page.route(script, (route) => route.abort());
    await page.goto(app.url('/auth/forgot-password'));
    await fill(page, 'Email', 'ada@example.com');
    await press(page, 'Email me a link');
    await page.getByText('We could not confirm that a person has sent this. Try again.').waitFor();
  });
});
