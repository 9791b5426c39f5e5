// playwright-core uses DOM types. The code of the package itself is compiled without them.
/// <reference lib="dom" />
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { SHIPPED_LANGUAGES } from '../../lib/languages/shipped.js';
import { inBrowser, specBrowser } from '../pages/browser/browser.js';
import { findOverflow, runAxe } from '../pages/browser/checks.js';
import { type OwnApp, type Person, startOwnApp } from '../pages/browser/own-app.js';

const VIEWPORT = { width: 320, height: 800 };
const others = SHIPPED_LANGUAGES.filter((tag) => tag !== 'en');

/** Shows a state of the pages, without knowing its words. */
type State = (page: Page, app: OwnApp, person: Person) => Promise<unknown>;

const opens =
  (path: string): State =>
  (page, app) =>
    page.goto(app.url(path));

/** Fills the fields of a form and sends it, and waits until the page says why it is refused. */
async function refused(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  const form = page.locator('form', { has: page.locator('[name="password"]') }).first();
  for (const [name, value] of Object.entries(values)) await form.locator(`[name="${name}"]`).fill(value);
  await form.locator('[name="password"]').press('Enter');
  await page.locator('main').getByRole('alert').filter({ visible: true }).first().waitFor();
}

const STATES: Readonly<Record<string, State>> = {
  'sign-in': opens('/auth/sign-in'),
  'sign-in, refused': (page, _app, { email }) => refused(page, { credential: email, password: 'wrong' }),
  'sign-up': opens('/auth/sign-up'),
  'sign-up, refused': (page) => refused(page, { email: 'hedy@example.com', password: 'password1' }),
  'forgot-password': opens('/auth/forgot-password'),
  'sign-in/email': opens('/auth/sign-in/email'),
  'reset-password, invalid': opens('/auth/reset-password?token=invalid'),
  account: (page, app, person) => app.signIn(page, person, '/auth/account'),
  security: opens('/auth/account/security'),
  sessions: opens('/auth/account/sessions'),
};

inBrowser('the pages in other languages', () => {
  const browser = specBrowser();
  let app: OwnApp;
  beforeAll(async () => {
    app = await startOwnApp({ locale: { languages: [...SHIPPED_LANGUAGES] } });
  });
  afterAll(() => app?.stop());

  test.each(others)(
    '%s: axe finds nothing, everything fits into 320 pixels, and runs in its direction',
    async (tag) => {
      const person = await app.createPerson(`${tag.toLowerCase()}@example.com`);
      const page = await browser.open(app.url('/auth/sign-in'), { locale: tag, viewport: VIEWPORT });
      const found: string[] = [];
      for (const [state, show] of Object.entries(STATES)) {
        await show(page, app, person);
        await page.evaluate(axe.source);
        const dir = tag === 'ar' ? 'rtl' : 'ltr';
        const problems = [
          ...(await page.evaluate(findOverflow)),
          ...(await page.evaluate(runAxe)),
          ...(await page.evaluate(findDirections, { tag, dir } as const)),
        ];
        found.push(...problems.map((problem) => `${state}: ${problem}`));
      }
      expect(found).toEqual([]);
    },
  );
});

/** Runs in the page. Returns what has another language or direction than it should have. */
function findDirections({ tag, dir }: { readonly tag: string; readonly dir: 'ltr' | 'rtl' }): string[] {
  const found: string[] = [];
  const root = document.documentElement;
  if (root.lang !== tag) found.push(`the language is ${root.lang}`);
  if (getComputedStyle(document.body).direction !== dir) found.push(`the direction is not ${dir}`);
  const text = document
    .createTreeWalker(document.querySelector('h1') ?? root, NodeFilter.SHOW_TEXT)
    .nextNode();
  const letterAt = (index: number) => {
    const range = document.createRange();
    range.setStart(text as Node, index);
    range.setEnd(text as Node, index + 1);
    return range.getBoundingClientRect().left;
  };
  const isRightToLeft = letterAt(0) > letterAt(1);
  if (isRightToLeft !== (dir === 'rtl'))
    found.push(`the heading begins at ${letterAt(0)}: ${text?.textContent}`);
  for (const input of document.querySelectorAll(
    '[type="email"], [type="password"], [inputmode="numeric"], [autocomplete~="one-time-code"], [autocomplete~="username"]',
  ))
    if (getComputedStyle(input).direction !== 'ltr') found.push(`not from left to right: ${input.outerHTML}`);
  return found;
}
