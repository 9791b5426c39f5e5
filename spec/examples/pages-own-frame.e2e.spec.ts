import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';
import { ada, SECRET } from '../support/app.js';
import { type Example, installExample, type RunningApp } from '../support/example.js';

let example: Example;
let app: RunningApp;
let browser: Browser;

beforeAll(async () => {
  example = await installExample('pages-own-frame');
  app = await example.start('server.js', { AUTH_SECRET: SECRET });
  browser = await chromium.launch({
    executablePath: String(process.env.LATCHKEY_SPEC_BROWSER),
    args: ['--no-sandbox', '--headless', '--disable-gpu', '--disable-background-networking'],
  });
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await example?.remove();
});

describe.each([true, false])('examples/pages-own-frame, with JavaScript: %s', (javaScriptEnabled) => {
  let page: Page;
  const violations: string[] = [];
  const email = `js-${javaScriptEnabled}@example.com`;
  beforeAll(async () => {
    page = await (await browser.newContext({ javaScriptEnabled })).newPage();
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) violations.push(message.text());
    });
  });
  afterAll(() => page.context().close());

  test('a visitor signs up in the frame of the site', async () => {
    await page.goto(`${app.url}/recipes`);
    await expect(page.getByRole('heading', { level: 1 }).textContent()).resolves.toBe('Welcome back, baker');
    await page.getByRole('link', { name: 'Join' }).click();
    await page.getByRole('navigation').getByRole('link', { name: 'Recipes' }).waitFor();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(ada.password);
    await page.getByRole('button', { name: 'Create an account' }).click();
    await page.getByRole('heading', { name: `Recipes of ${email}` }).waitFor();
  });

  test('the own template shows what was typed and why it was refused', async () => {
    await page.goto(`${app.url}/auth/sign-out`);
    await page.getByRole('heading', { level: 1, name: 'Leave the kitchen?' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Welcome back, baker' }).waitFor();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill('a wrong guess');
    await page.getByRole('button', { name: 'Open the kitchen' }).click();
    await page.getByRole('alert').waitFor();
    await expect(page.getByLabel('Email').inputValue()).resolves.toBe(email);
    await expect(page.getByLabel('Password').inputValue()).resolves.toBe('');
    await page.getByLabel('Password').fill(ada.password);
    await page.getByRole('button', { name: 'Open the kitchen' }).click();
    await page.getByRole('heading', { name: `Recipes of ${email}` }).waitFor();
  });

  test('the account is in the frame too, under the policy of the site', async () => {
    await page.goto(`${app.url}/auth/account/security`);
    await page.getByRole('navigation').getByRole('link', { name: 'Bread & Butter' }).waitFor();
    await page.getByRole('heading', { level: 1, name: 'Security' }).waitFor();
    const response = await page.reload();
    expect(response?.headers()['content-security-policy']).toBe(
      "default-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(violations).toEqual([]);
  });
});
