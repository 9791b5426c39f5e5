// playwright-core uses DOM types. The code of the package itself is compiled without them.
/// <reference lib="dom" />
import { afterAll, afterEach, beforeAll, describe, expect, jest } from '@jest/globals';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';

// The path that run.mjs found; empty if there is none.
const CHROMIUM = process.env.LATCHKEY_SPEC_BROWSER;
// Several times as long as needed on an idle machine.
const WAIT_MS = 30_000;
const TEST_MS = 180_000;

export const inBrowser = CHROMIUM ? describe : describe.skip;

/**
 * Starts a browser for a spec file. After each test, checks that no page reported a script error or a violation of its
 * Content-Security-Policy.
 */
export function specBrowser(ignoreDefaultArgs: readonly string[] = []) {
  let browser: Browser;
  const complaints: string[] = [];
  jest.setTimeout(TEST_MS);

  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      ignoreDefaultArgs: [...ignoreDefaultArgs],
      args: ['--no-sandbox', '--headless', '--disable-gpu', '--disable-background-networking'],
    });
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(() => browser?.close());

  return {
    /** Opens a page in a browser context of its own, with its own cookies. */
    async open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
      const context = await browser.newContext(options);
      context.setDefaultTimeout(WAIT_MS);
      context.on('weberror', (error) => complaints.push(String(error.error())));
      context.on('console', (message) => {
        // A refused request is reported too, but it can be what a test is about.
        if (message.type() === 'error' && !/^Failed to load resource/.test(message.text()))
          complaints.push(`${message.page()?.url()}: ${message.text()}`);
      });
      const page = await context.newPage();
      await page.goto(url);
      return page;
    },
    /** Returns what pages have reported, for a test that expects it. */
    takeComplaints: (): string[] => complaints.splice(0),
  };
}

/** Waits until the page with this title is shown. */
export function showsPage(page: Page, title: string | RegExp): Promise<void> {
  return page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
}

export function press(page: Page, name: string | RegExp): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click();
}

export function follow(page: Page, name: string | RegExp): Promise<void> {
  return page.getByRole('link', { name, exact: true }).click();
}

/** Opens a part of a page that is closed. */
export function unfold(page: Page, name: string): Promise<void> {
  return page.locator('summary').getByText(name).filter({ visible: true }).click();
}

/** Returns a card of an account's page. */
export function card(page: Page, title: string): Locator {
  return page.getByRole('region', { name: title, exact: true });
}

/** Opens a card that shows only its state. */
export function openCard(page: Page, title: string): Promise<void> {
  return card(page, title).locator('summary').first().click();
}

export function fill(page: Page, label: string, text: string): Promise<void> {
  return field(page, label).fill(text);
}

/** Returns the field with this label that is visible. */
export function field(page: Page, label: string): Locator {
  return page.getByLabel(label, { exact: true }).filter({ visible: true });
}

/** Waits until the page says something: that it is done (`status`), or why it is refused (`alert`). */
export function says(page: Page, role: 'status' | 'alert', text: string | RegExp): Promise<void> {
  return page.getByRole(role).getByText(text).waitFor();
}
