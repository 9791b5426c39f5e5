// playwright-core describes its pages in the DOM's types; what goes into the package is compiled without them.
/// <reference lib="dom" />
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, jest } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';
import { connectByUrl } from '../../lib/database/connect.js';
import { adminCredentials, type Demo, startDemo } from '../support/demo.js';

const CHROMIUM = '/usr/bin/chromium';
// Several times what it takes on a machine that has nothing else to do.
const PATIENCE_MS = 20_000;
const TEST_MS = 60_000;

/** A person who signs up with a password. */
export interface Account {
  readonly email: string;
  readonly username?: string;
  readonly password: string;
}

export const inBrowser = existsSync(CHROMIUM) || process.env.CI ? describe : describe.skip;
if (inBrowser === describe.skip) {
  process.stderr.write(`Not run: the demo in a browser. There is no ${CHROMIUM}; install chromium.\n`);
}

/** A demo of a spec file's own, with a browser. After each test, no page may have complained of a script or its CSP. */
export function demoInBrowser(env: Record<string, string> = {}) {
  let browser: Browser;
  let demo: Demo;
  let data: string;
  const complaints: string[] = [];
  jest.setTimeout(TEST_MS);

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'latchkey-demo-'));
    demo = await startDemo(data, env);
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--headless', '--disable-gpu', '--disable-background-networking'],
    });
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await demo?.end();
    await rm(data, { recursive: true, force: true });
  });

  /** A page in a browser that knows nothing yet. */
  async function blank(): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) complaints.push(message.text());
    });
    return page;
  }

  /** The same at a page of the demo. */
  async function open(path: string): Promise<Page> {
    const page = await blank();
    await page.goto(demo.origin + path);
    return page;
  }

  /** Past the forms, for what is not about them: calls a route, and then opens a page as whom it answered for. */
  async function openAfter(route: string, body: object, path: string): Promise<Page> {
    const page = await blank();
    // The page's own: what it calls has the page's cookies, and gives it those that are set.
    const response = await page.request.post(demo.origin + route, { data: body });
    if (!response.ok()) throw new Error(`${route} answered ${response.status()}: ${await response.text()}`);
    await page.goto(demo.origin + path);
    return page;
  }

  return {
    open,
    openSignedUp: (account: Account, path: string) => openAfter('/auth/signup/credential', account, path),
    openSignedIn: ({ email, password }: Account, path: string) =>
      openAfter('/auth/signin/credential', { credential: email, password }, path),
    openAsAdmin: async (path: string) =>
      openAfter('/auth/signin/credential', await adminCredentials(data), path),
    url: (path: string) => demo.origin + path,
    output: () => demo.output(),

    /** As if everybody had signed in so long ago. */
    async letSignInsAge(seconds: number): Promise<void> {
      const database = connectByUrl(`sqlite:${join(data, 'demo.db')}`);
      const then = new Date(Date.now() - seconds * 1000);
      await database?.query('UPDATE sessions SET authenticated_at = :then', { replacements: { then } });
      await database?.close();
    },
  };
}

/** Fills in the form of the sign-in page. */
export async function signIn(page: Page, credential: string, password: string): Promise<void> {
  await page.getByLabel('Email or username').fill(credential);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** What the page says was done, or what is wrong. */
export function says(page: Page, role: 'status' | 'alert', text: string | RegExp): Promise<void> {
  return page.getByRole(role).getByText(text).waitFor();
}
