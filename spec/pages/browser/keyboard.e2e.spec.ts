import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { codeOf, forgetSteps } from '../../support/two-factor.js';
import { field, inBrowser, says, showsPage, specBrowser } from './browser.js';
import { type OwnApp, startOwnApp } from './own-app.js';
import { secretOn } from './states.js';

const MOST_PRESSES = 60;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

inBrowser('the pages, by keyboard alone', () => {
  const browser = specBrowser();
  let app: OwnApp;

  beforeAll(async () => {
    app = await startOwnApp();
  });
  afterAll(() => app?.stop());

  test.each([
    ['with JavaScript', true],
    ['without JavaScript', false],
  ])('%s, a user signs up, sets up a second factor, and signs in', async (_mode, hasScripts) => {
    const email = `grace-${hasScripts}@example.com`;
    const page = await browser.open(app.url('/auth/sign-up'), { javaScriptEnabled: hasScripts });
    await field(page, 'Email').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(email);
    await tabTo(page, field(page, 'Password'));
    await page.keyboard.type('nanoseconds of wire');
    await tabTo(page, field(page, 'Newsletter'));
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await showsPage(page, `Notes of ${email}`);
    // The link of the email is opened elsewhere.
    await page.goto((await app.inbox.next(email, 'verify-email')).url);
    await tabTo(page, button(page, 'Confirm'));
    await page.keyboard.press('Space');
    await showsPage(page, 'Your email is confirmed');

    await page.goto(app.url('/auth/account'));
    expect(await field(page, 'Newsletter').isChecked()).toBe(true);
    await tabTo(page, page.getByRole('link', { name: 'Security' }));
    await page.keyboard.press('Enter');
    await showsPage(page, 'Security');
    await tabTo(page, button(page, 'Set up an authenticator app'));
    await page.keyboard.press('Enter');
    const secret = await secretOn(page);
    await tabTo(page, field(page, 'Code from the app'));
    await page.keyboard.type(codeOf(secret));
    await page.keyboard.press('Enter');
    await showsPage(page, 'Save your recovery codes');
    await forgetSteps(app);

    await tabTo(page, page.getByRole('link', { name: 'Sign out' }), 'Shift+Tab');
    await page.keyboard.press('Enter');
    await showsPage(page, 'Sign out');
    await tabTo(page, button(page, 'Sign out'));
    await page.keyboard.press('Enter');
    await says(page, 'status', 'You are signed out.');
    await field(page, 'Email or username').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(email);
    await page.keyboard.press('Tab');
    await page.keyboard.type('nanoseconds of wire');
    await tabTo(page, field(page, 'Stay signed in on this device'));
    await page.keyboard.press('Space');
    expect(await field(page, 'Stay signed in on this device').isChecked()).toBe(true);
    await page.keyboard.press('Enter');
    await showsPage(page, 'Confirm that it is you');
    await field(page, 'Code').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(codeOf(secret));
    await page.keyboard.press('Enter');
    await showsPage(page, `Notes of ${email}`);
  });

  test.each(['light', 'dark'] as const)(
    'whatever has the focus is visible, on %s ground',
    async (colorScheme) => {
      const person = await app.createPerson(`ada-${colorScheme}@example.com`);
      const page = await browser.open(app.url('/auth/sign-in'), { colorScheme });
      const unseen: string[] = [];
      await tabThrough(page, unseen);
      await app.signIn(page, person, '/auth/account/security');
      const seen = await tabThrough(page, unseen);
      expect(unseen).toEqual([]);
      expect(seen).toBeGreaterThan(10);
    },
  );

  test('the first link leads to the content', async () => {
    const person = await app.createPerson('barbara@example.com');
    const page = await browser.open(app.url('/notes'));
    await app.signIn(page, person, '/auth/account/sessions');
    await page.keyboard.press('Tab');
    const skip = page.getByRole('link', { name: 'Skip to the content' });
    expect(await isFocused(skip)).toBe(true);
    const { x = -1, y = -1 } = (await skip.boundingBox()) ?? {};
    expect([x, y]).toEqual([0, 0]);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await isFocused(page.locator('main :is(a, summary)').first())).toBe(true);
  });
});

function isFocused(locator: Locator): Promise<boolean> {
  return locator.evaluate((element) => element === document.activeElement);
}

/** Presses a key until an element has the focus. */
async function tabTo(page: Page, target: Locator, key = 'Tab'): Promise<void> {
  await target.first().waitFor();
  for (let press = 0; press < MOST_PRESSES; press++) {
    if (await isFocused(target.first())) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${target} cannot be reached with the keyboard`);
}

/**
 * Presses Tab from the start of a page to its end. Returns how many elements have had the focus.
 *
 * @param unseen gets those that cannot be seen, or have no outline
 */
async function tabThrough(page: Page, unseen: string[]): Promise<number> {
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  let count = 0;
  for (; count < MOST_PRESSES; count++) {
    await page.keyboard.press('Tab');
    const found = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return null;
      const { outlineStyle, outlineWidth, visibility } = getComputedStyle(element);
      const { width, height, right } = element.getBoundingClientRect();
      const isSeen =
        outlineStyle === 'solid' && Number.parseFloat(outlineWidth) >= 2 && visibility === 'visible';
      return {
        html: element.outerHTML.slice(0, 120),
        isSeen: isSeen && width > 0 && height > 0 && right > 0,
      };
    });
    if (!found) break;
    if (!found.isSeen) unseen.push(found.html);
  }
  return count;
}
