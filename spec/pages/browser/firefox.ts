// puppeteer-core uses DOM types. The code of the package itself is compiled without them.
/// <reference lib="dom" />
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, jest } from '@jest/globals';
import puppeteer, { type Browser, type ElementHandle, type Page } from 'puppeteer-core';

// The path that run.mjs found; empty if there is none.
const FIREFOX = process.env.LATCHKEY_SPEC_FIREFOX;
// Several times as long as needed on an idle machine.
const WAIT_MS = 30_000;
const TEST_MS = 180_000;
const POLL_MS = 50;

export const inFirefox = FIREFOX ? describe : describe.skip;

/**
 * Starts Firefox for a part of a spec file. After each test, checks that no page reported a script error or a violation
 * of its Content-Security-Policy.
 *
 * @param hasPasskeys whether `addFirefoxAuthenticator` works
 */
export function specFirefox(hasScripts: boolean, hasPasskeys = false) {
  let browser: Browser;
  const complaints: string[] = [];
  jest.setTimeout(TEST_MS);

  beforeAll(async () => {
    browser = await puppeteer.launch({
      browser: 'firefox',
      executablePath: FIREFOX,
      timeout: TEST_MS,
      args: hasPasskeys ? ['--remote-allow-system-access'] : [],
      extraPrefsFirefox: {
        'javascript.enabled': hasScripts,
        // Firefox waits for a real security key otherwise.
        ...(hasPasskeys && {
          'security.webauth.webauthn_enable_softtoken': true,
          'security.webauth.webauthn_enable_usbtoken': false,
        }),
      },
    });
  }, TEST_MS);
  afterEach(async () => {
    for (const context of browser.browserContexts())
      if (context !== browser.defaultBrowserContext()) await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(() => browser?.close());

  /** Opens a page in a browser context of its own, with its own cookies. */
  async function openDriven(url: string): Promise<Page> {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error}`));
    await page.goto(url);
    return page;
  }
  return {
    openDriven,
    /** Opens a page like `openDriven`, for specs that use it as a person does. */
    open: async (url: string) => new FirefoxPage(await openDriven(url)),
  };
}

/**
 * A page in Firefox. If JavaScript is off, Firefox still runs the functions of a driver in the page, but no timers and no
 * promises. So this class waits outside of the page, and uses the keyboard, because a click of the driver waits in the page.
 */
export class FirefoxPage {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  async goTo(url: string): Promise<void> {
    await this.#page.goto(url);
  }

  /** Goes back. Does not wait until the page is loaded, because a page from the browser's cache is not. */
  back(): Promise<void> {
    return this.#page.evaluate(() => history.back());
  }

  /** Waits until the page with this title is shown. */
  async showsPage(title: string): Promise<void> {
    await this.#find('h1', title);
  }

  /** Waits until the address of the page has this path and query. */
  async isAt(path: string): Promise<void> {
    await until(`the page is at ${path}`, async () => {
      const { pathname, search } = new URL(await this.#page.evaluate(() => location.href));
      return pathname + search === path;
    });
  }

  /** Waits until the page says something: that it is done (`status`), or why it is refused (`alert`). */
  async says(role: 'status' | 'alert', text: string): Promise<void> {
    await this.#find(`:is([role="${role}"], [role="${role}"] *)`, text);
  }

  async press(name: string): Promise<void> {
    await this.#activate('button', name);
  }

  async follow(name: string): Promise<void> {
    await this.#activate('a', name);
  }

  /** Opens a part of the page that is closed. */
  async unfold(name: string): Promise<void> {
    await this.#activate('summary', name);
  }

  /** Types a text in place of the one that is in a field. */
  async fill(label: string, text: string): Promise<void> {
    const input = await this.#field(label);
    await input.evaluate((element) => element.select());
    await input.focus();
    await this.#page.keyboard.type(text);
  }

  async valueOf(label: string): Promise<string> {
    return (await this.#field(label)).evaluate((element) => element.value);
  }

  /** Returns the address that a link leads to. */
  async addressOf(link: string): Promise<URL> {
    const found = await this.#find<HTMLAnchorElement>('a', link);
    return new URL(await found.evaluate((element) => element.href));
  }

  /** Whether an element that a selector finds has the focus. */
  hasFocus(selector: string): Promise<boolean> {
    return this.#page.evaluate((selector) => document.activeElement?.matches(selector) ?? false, selector);
  }

  content(): Promise<string> {
    return this.#page.content();
  }

  async #activate(tag: 'a' | 'button' | 'summary', name: string): Promise<void> {
    await (await this.#find(tag, name)).focus();
    await this.#page.keyboard.press('Enter');
  }

  async #field(label: string): Promise<ElementHandle<HTMLInputElement>> {
    const found = await this.#find<HTMLLabelElement>('label', label);
    return (await found.evaluateHandle((element) => element.control)) as ElementHandle<HTMLInputElement>;
  }

  /** Waits for the first visible element with a text. */
  #find<T extends Element>(selector: string, text: string): Promise<ElementHandle<T>> {
    return until(`${selector} with the text "${text}" is visible`, async () => {
      const found = await this.#page.evaluateHandle(
        (selector, text) =>
          [...document.querySelectorAll(selector)].find(
            (one) => one.checkVisibility() && one.textContent?.trim() === text,
          ),
        selector,
        text,
      );
      return found.asElement() as ElementHandle<T> | null;
    });
  }
}

/**
 * Asks the page until its answer is not empty. An error is not the end, because a page that is being replaced cannot be
 * asked.
 */
async function until<T>(condition: string, ask: () => Promise<T>): Promise<NonNullable<T>> {
  const end = Date.now() + WAIT_MS;
  let failure: unknown;
  while (Date.now() < end) {
    try {
      const answer = await ask();
      if (answer) return answer;
    } catch (error) {
      failure = error;
    }
    await delay(POLL_MS);
  }
  throw new Error(`within ${WAIT_MS} ms, not true: ${condition}`, { cause: failure });
}
