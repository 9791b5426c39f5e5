/// <reference lib="dom" />
import type { Page } from 'playwright-core';
import type { Page as FirefoxPage } from 'puppeteer-core';
import { addAuthenticator, addFirefoxAuthenticator } from '../pages/browser/authenticator.js';

/** A page with a client, in any browser. */
export interface ClientPage {
  /** Runs a function in the page. */
  evaluate<Result>(run: () => Result | Promise<Result>): Promise<Result>;
  evaluate<Result, Given>(run: (given: Given) => Result | Promise<Result>, given: Given): Promise<Result>;
  /** Waits until an element is in the document. */
  has(selector: string): Promise<void>;
  /** Opens the same page in a second tab of the same browser. */
  tab(): Promise<ClientPage>;
  /** Loads the page again, and runs a function before its scripts. */
  reloadAfter(run: () => void): Promise<void>;
  /** Gives the browser an authenticator without passkeys. */
  addAuthenticator(): Promise<void>;
}

export function inChromium(page: Page): ClientPage {
  return {
    evaluate: <Result, Given>(run: (given: Given) => Result | Promise<Result>, given?: Given) =>
      page.evaluate(run as (given: unknown) => Result, given),
    has: (selector) => page.locator(selector).waitFor({ state: 'attached' }),
    async tab() {
      const tab = await page.context().newPage();
      await tab.goto(page.url());
      return inChromium(tab);
    },
    async reloadAfter(run) {
      await page.addInitScript(run);
      await page.reload();
    },
    addAuthenticator: async () => void (await addAuthenticator(page)),
  };
}

export function inFirefox(page: FirefoxPage): ClientPage {
  return {
    evaluate: <Result, Given>(run: (given: Given) => Result | Promise<Result>, given?: Given) =>
      page.evaluate(run as (given: unknown) => Result, given) as Promise<Result>,
    has: async (selector) => void (await page.waitForSelector(selector)),
    async tab() {
      const tab = await page.browserContext().newPage();
      await tab.goto(page.url());
      return inFirefox(tab);
    },
    async reloadAfter(run) {
      await page.evaluateOnNewDocument(run);
      await page.reload();
    },
    addAuthenticator: () => addFirefoxAuthenticator(page),
  };
}
