// playwright-core uses DOM types. The code of the package itself is compiled without them.
/// <reference lib="dom" />
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { connectByUrl } from '../../lib/database/connect.js';
import { adminCredentials, codesIn, type Demo, startDemo } from '../support/demo.js';

// The path that run.mjs found; empty if there is none.
const CHROMIUM = process.env.LATCHKEY_SPEC_BROWSER;
const GOOGLE = { GOOGLE_CLIENT_ID: 'ours', GOOGLE_CLIENT_SECRET: 'a secret of ours at Google' };
const inBrowser = CHROMIUM ? describe : describe.skip;
jest.setTimeout(180_000);

inBrowser('the demo app, as its README says,', () => {
  let data: string;
  let demo: Demo;
  let browser: Browser;
  const complaints: string[] = [];

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'latchkey-demo-'));
    demo = await startDemo(data, GOOGLE);
    const args = ['--no-sandbox', '--headless', '--disable-gpu', '--disable-background-networking'];
    browser = await chromium.launch({ executablePath: CHROMIUM, args });
  });
  afterAll(async () => {
    await browser?.close();
    await demo?.end();
    await rm(data, { recursive: true, force: true });
  });

  async function open(path: string): Promise<Page> {
    const page = await (await browser.newContext({ baseURL: demo.origin })).newPage();
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' && !/^Failed to load resource/.test(message.text()))
        complaints.push(message.text());
    });
    await page.goto(path);
    return page;
  }

  const at = (page: Page, path: string) => page.waitForURL(demo.origin + path);
  const follow = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).first().click();
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click();
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor();

  /** The newest email to an address. Emails are sent after the response. */
  async function mailTo(page: Page, to: string, subject: string) {
    const mail = page
      .getByRole('article')
      .filter({ hasText: `To ${to}` })
      .filter({ hasText: subject });
    do await page.goto('/mails');
    while ((await mail.count()) === 0);
    return mail.first();
  }

  /** Moves all sign-ins an hour into the past. */
  async function letSignInsAge(): Promise<void> {
    const database = connectByUrl(`sqlite:${join(data, 'demo.db')}`);
    const replacements = { past: new Date(Date.now() - 3_600_000) };
    await database?.query('UPDATE sessions SET authenticated_at = :past', { replacements });
    await database?.close();
  }

  async function signInAtProvider(page: Page, email: string): Promise<void> {
    await follow(page, 'Continue with Demo Provider');
    await heading(page, 'Demo provider');
    await page.getByLabel('Email', { exact: true }).fill(email);
    await press(page, 'Continue');
  }

  test('signs up, finds the email, confirms the address, and signs out', async () => {
    const page = await open('/');
    await follow(page, 'Create an account');
    const form = page.locator('form').filter({ has: page.getByLabel('Password') });
    await form.getByLabel('Email').fill('ada@example.com');
    await form.getByLabel('Name', { exact: false }).last().fill('Ada');
    await form.getByLabel('Password', { exact: true }).fill('an analytical engine');
    await form.getByRole('button', { name: 'Create an account' }).click();
    await at(page, '/');
    await page.getByText('You are signed in as ada@example.com.').waitFor();

    await follow(page, 'Open your dashboard');
    await heading(page, 'Hello Ada');
    await page.getByText('{"hello":"ada@example.com"}').waitFor();
    await page.getByText('not confirmed yet').waitFor();
    await axeFindsNothing(page);

    const mail = await mailTo(page, 'ada@example.com', 'Confirm your email');
    await mail.getByText('As a mail program shows it').click();
    const body = mail.locator('iframe').contentFrame();
    // The style of the email applies.
    const button = body.getByRole('link', { name: 'Confirm the address' });
    expect(await button.evaluate((link) => getComputedStyle(link).display)).toBe('inline-block');
    await axeFindsNothing(page);
    await mail.getByRole('link').first().click();
    await press(page, 'Confirm');
    await follow(page, 'Continue');
    await follow(page, 'Open your dashboard');
    await heading(page, 'Hello Ada');
    expect(await page.getByText('not confirmed yet').count()).toBe(0);

    await follow(page, 'Sign out');
    await press(page, 'Sign out');
    await page.waitForURL(/\/auth\/sign-in/);
    await page.goto('/dashboard');
    await at(page, '/auth/sign-in?return_to=%2Fdashboard');
  });

  test('signs in with the demo provider, and goes on to the dashboard', async () => {
    const page = await open('/dashboard');
    await page.getByRole('link', { name: 'Continue with Google' }).waitFor();
    await signInAtProvider(page, 'grace@example.com');
    await at(page, '/dashboard');
    await heading(page, 'Hello Ada Lovelace');
    await page.getByText('{"hello":"grace@example.com"}').waitFor();
  });

  test('says why a sign-in at the provider has failed, and offers another', async () => {
    const page = await open('/auth/sign-in?return_to=%2Fdashboard');
    await follow(page, 'Continue with Demo Provider');
    await press(page, 'Decline');
    await page
      .getByText(/You canceled/)
      .first()
      .waitFor();
    await page.goto('/auth/oauth/demo-provider/callback?state=unknown&code=unknown');
    await at(page, '/auth/sign-in?error=invalid_flow');
    await signInAtProvider(page, 'edsger@example.com');
    await at(page, '/');
  });

  test('leads from a page of the provider that cannot go on back to the app', async () => {
    const page = await open('/auth/sign-in');
    await follow(page, 'Continue with Demo Provider');
    await heading(page, 'Demo provider');
    const atProvider = page.url();
    await page.getByLabel('Email', { exact: true }).fill('radia@example.com');
    await press(page, 'Continue');
    await at(page, '/');
    // As with the back button.
    await page.goto(atProvider);
    await heading(page, 'Start again in the app');
    expect(await page.content()).not.toMatch(/Error|node_modules/);
    await follow(page, 'Back to the latchkey demo');
    await at(page, '/');
  });

  test('asks the administrator for the emailed code, and for a fresh sign-in before all data is shown', async () => {
    const { credential, password } = await adminCredentials(data);
    const before = (await codesIn(demo.origin)).length;
    const page = await open('/dashboard');
    await page.getByLabel('Email or username').fill(credential);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await press(page, 'Sign in');
    await page.waitForURL(/\/auth\/second-factor/);
    while ((await codesIn(demo.origin)).length === before) await page.waitForTimeout(50);
    // A complete code is sent by itself.
    await page.getByLabel('Code').fill((await codesIn(demo.origin))[0] ?? '');
    await at(page, '/dashboard');
    await follow(page, 'Users');
    await page.getByText('admin@example.com').first().waitFor();
    await letSignInsAge();
    await page.goto('/dashboard');
    await follow(page, 'Your data');
    await at(page, '/auth/reauthenticate?return_to=%2Fapi%2Fmy-data');
    await page.getByLabel('Password', { exact: true }).fill(password);
    await press(page, 'Confirm');
    await at(page, '/api/my-data');
    expect(await page.content()).toContain('admin@example.com');
  });

  test('axe finds nothing on the pages of the app and of the provider', async () => {
    const page = await open('/');
    await axeFindsNothing(page);
    await page.goto('/nothing');
    await axeFindsNothing(page);
    await page.goto('/auth/sign-in');
    await follow(page, 'Continue with Demo Provider');
    await heading(page, 'Demo provider');
    await axeFindsNothing(page);
  });

  test('has written nothing to the console, neither in the browser nor on the server', () => {
    expect(complaints).toEqual([]);
    expect(demo.output().trim().split('\n')).toHaveLength(2);
  });
});

async function axeFindsNothing(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(axe.source);
    expect([page.url(), colorScheme, await page.evaluate(runAxe)]).toEqual([page.url(), colorScheme, []]);
  }
}

/** Runs in the page. */
async function runAxe(): Promise<string[]> {
  const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
  const { violations } = await axe.run(document, {
    rules: { 'label-content-name-mismatch': { enabled: true } },
  });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
