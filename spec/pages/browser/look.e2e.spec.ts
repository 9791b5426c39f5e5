import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { fill, inBrowser, press, specBrowser } from './browser.js';
import { type OwnApp, startOwnApp } from './own-app.js';

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 800 };
const WHITE = 'rgb(255, 255, 255)';

inBrowser('the look of the pages', () => {
  const browser = specBrowser();
  let app: OwnApp;

  beforeAll(async () => {
    app = await startOwnApp();
  });
  afterAll(() => app?.stop());

  test('a page before the sign-in is a card on a desktop, and white on a phone', async () => {
    const page = await browser.open(app.url('/auth/sign-in'), { viewport: DESKTOP, colorScheme: 'light' });
    const [body, main] = [page.locator('body'), page.locator('main')];
    expect([await styleOf(main, 'background-color'), await styleOf(main, 'border-top-width')]).toEqual([
      WHITE,
      '1px',
    ]);
    expect(await styleOf(body, 'background-color')).not.toBe(WHITE);
    await page.setViewportSize(PHONE);
    expect(await styleOf(main, 'border-top-width')).toBe('0px');
    expect(await styleOf(body, 'background-color')).toBe(WHITE);
  });

  test('a black icon of a provider is seen in the dark too', async () => {
    const page = await browser.open(app.url('/auth/sign-in'), { colorScheme: 'dark' });
    const icon = page.locator('main img');
    await page.locator('a[href*="/oauth/"]').evaluateAll(([link]) => {
      const image = document.createElement('img');
      image.dataset.part = 'icon';
      link?.prepend(image);
    });
    expect(await styleOf(icon, 'background-color')).toBe(WHITE);
  });

  test('the next steps after an error stand apart from it and from each other', async () => {
    const page = await browser.open(app.url('/auth/sign-up'), { viewport: PHONE });
    const { email } = await app.createPerson('lovelace@example.com');
    await fill(page, 'Email', email);
    await fill(page, 'Password', 'a long enough password');
    await press(page, 'Create an account');
    const errors = page.locator('[data-part="errors"]');
    const boxOf = async (one: Locator) => (await one.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    const [text, first, second] = await Promise.all([
      boxOf(errors.locator('ul')),
      boxOf(errors.getByRole('link', { name: 'Sign in' })),
      boxOf(errors.getByRole('link', { name: 'Reset your password' })),
    ]);
    expect(first.y - (text.y + text.height)).toBeGreaterThan(8);
    expect(second.x - (first.x + first.width)).toBeGreaterThan(16);
  });

  test('an address that fits into a line is not broken, even after the dots that hide its letters', async () => {
    const page = await browser.open(app.url('/auth/forgot-password'), { viewport: PHONE });
    await fill(page, 'Email', 'ada@example.com');
    await press(page, 'Email me a link');
    const address = page.locator('main strong');
    await address.waitFor();
    const heights = await address.evaluate((element) => {
      element.textContent = 'a…@example.com';
      return Array.from({ length: 30 }, () => {
        element.before('word ');
        return element.getBoundingClientRect().height;
      });
    });
    expect(new Set(heights).size).toBe(1);
  });

  test('administrators see a table on a desktop, and a list with the roles of a table on a phone', async () => {
    const page = await browser.open(app.url('/notes'), { viewport: DESKTOP });
    const admin = await app.createPerson('admin@example.com');
    await app.createPerson('ada@example.com');
    await app.signIn(page, admin, '/auth/administration/users');
    const user = page.getByRole('rowheader', { name: 'ada@example.com' });
    const created = page.getByRole('row').filter({ has: user }).getByRole('cell').last();
    expect([await user.count(), await created.count()]).toEqual([1, 1]);
    const topOf = async (one: Locator) => Math.round((await one.boundingBox())?.y ?? 0);
    expect(await topOf(created)).toBe(await topOf(user));
    // What creates a user is above the table, on its right side.
    const create = page.locator('summary', { hasText: 'Create a user' });
    expect(await topOf(create)).toBeLessThan(await topOf(user));
    expect((await create.boundingBox())?.x).toBeGreaterThan(DESKTOP.width / 2);
    await page.setViewportSize(PHONE);
    expect([await user.count(), await created.count()]).toEqual([1, 1]);
    expect(await topOf(created)).toBeGreaterThan(await topOf(user));
    // The five links of the navigation stay in one line.
    const links = page.getByRole('navigation').getByRole('link');
    const tops = await Promise.all((await links.all()).map(topOf));
    expect([tops.length, new Set(tops).size]).toEqual([5, 1]);
  });

  test('the header of an account begins and ends where its column does', async () => {
    const page = await browser.open(app.url('/notes'), { viewport: DESKTOP });
    await app.signIn(page, await app.createPerson('joan@example.com'), '/auth/account');
    const edges = (selector: string) =>
      page.locator(selector).evaluateAll((all) => {
        const boxes = all.map((one) => one.getBoundingClientRect());
        return [Math.min(...boxes.map(({ left }) => left)), Math.max(...boxes.map(({ right }) => right))];
      });
    expect(await edges('header > *')).toEqual(await edges('[data-part="card"]'));
  });

  test('a card that is open is closed at the same place', async () => {
    const page = await browser.open(app.url('/notes'), { viewport: DESKTOP });
    await app.signIn(page, await app.createPerson('mary@example.com'), '/auth/account/security');
    const opener = page.getByRole('region', { name: 'Password' }).locator('summary');
    const closed = await opener.boundingBox();
    await opener.getByText('Change').filter({ visible: true }).waitFor();
    await opener.click();
    await opener.getByText('Close').filter({ visible: true }).waitFor();
    expect(await opener.boundingBox()).toMatchObject({ y: closed?.y });
  });

  test('a question in a list is opened and closed at the same place, on a phone too', async () => {
    const page = await browser.open(app.url('/notes'), { viewport: DESKTOP });
    await app.signIn(page, await app.createPerson('karen@example.com'), '/auth/account/security');
    await page
      .getByRole('region', { name: 'Browsers that you have used' })
      .locator('summary')
      .first()
      .click();
    const opener = page.getByRole('listitem').locator('summary').first();
    const placeOf = () =>
      opener.evaluate((element) => {
        const { right, top } = element.getBoundingClientRect();
        return { right: Math.round(right), top: Math.round(top + scrollY) };
      });
    for (const viewport of [DESKTOP, PHONE]) {
      await page.setViewportSize(viewport);
      const closed = await placeOf();
      await opener.click();
      await opener.getByText('Cancel').filter({ visible: true }).waitFor();
      expect(await placeOf()).toEqual(closed);
      await page.getByRole('button', { name: /^Yes, forget/ }).waitFor();
      await opener.click();
      expect(await placeOf()).toEqual(closed);
    }
  });

  test('a long email is cut, so that the header has one row for it', async () => {
    const email = 'katherine.johnson@langley.research.example.com';
    const page = await browser.open(app.url('/notes'), { viewport: DESKTOP });
    await app.signIn(page, await app.createPerson(email), '/auth/account');
    const shown = page.locator('[data-part="user"] > span');
    expect(await shown.getAttribute('title')).toBe(email);
    for (const width of [320, 390, 800, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      const [text, brand] = [
        await shown.boundingBox(),
        await page.locator('[data-part="brand"]').boundingBox(),
      ];
      expect([width, Math.round((text?.y ?? 0) - (brand?.y ?? 0)) < 8, (text?.height ?? 0) < 40]).toEqual([
        width,
        true,
        true,
      ]);
    }
  });

  test('a button never breaks within a word', async () => {
    const page = await browser.open(app.url('/notes'), { viewport: { width: 320, height: 800 } });
    await app.signIn(page, await app.createPerson('dorothy@example.com'), '/auth/account/security');
    const button = page.getByRole('button', { name: 'Set up an authenticator app' });
    const lines = await button.evaluate((element) => {
      element.style.width = 'min-content';
      return element.clientHeight / Number.parseFloat(getComputedStyle(element).lineHeight);
    });
    // It has five words.
    expect(lines).toBeLessThan(6);
  });

  test('the warning about a key with all rights is shown only while that is chosen', async () => {
    const own = await startOwnApp({ scopes: { 'notes:read': 'Read your notes' } });
    try {
      const page = await browser.open(own.url('/notes'), { viewport: DESKTOP });
      await own.signIn(page, await own.createPerson('ida@example.com'), '/auth/account/api-keys');
      const warning = page.getByText('Anyone who has the key can then use the app as you.');
      expect(await warning.isVisible()).toBe(false);
      await page.getByLabel('Everything that you can do in this app').check();
      expect(await warning.isVisible()).toBe(true);
    } finally {
      await own.stop();
    }
  });

  test('an authenticator app is opened before the QR code on a device with a touch screen', async () => {
    for (const hasTouch of [false, true]) {
      const page = await browser.open(app.url('/notes'), { viewport: PHONE, hasTouch, isMobile: hasTouch });
      await app.signIn(
        page,
        await app.createPerson(`touch-${hasTouch}@example.com`),
        '/auth/account/security',
      );
      await press(page, 'Set up an authenticator app');
      const open = page.getByRole('link', { name: 'Open the authenticator app on this device' });
      const code = page.getByRole('img', { name: 'QR code for your authenticator app' });
      const isFirst = ((await open.boundingBox())?.y ?? 0) < ((await code.boundingBox())?.y ?? 0);
      expect([hasTouch, isFirst]).toEqual([hasTouch, hasTouch]);
    }
  });

  test('a page that shows a key is printed light, with the key and whose it is, and with nothing to press', async () => {
    const page = await browser.open(app.url('/notes'), { viewport: DESKTOP, colorScheme: 'dark' });
    await app.signIn(page, await app.createPerson('grace@example.com'), '/auth/account/api-keys');
    await fill(page, 'Name', 'nightly report');
    await press(page, 'Create the key');
    const key = page.locator('#new-key');
    await key.waitFor();
    expect(await colorsOf(page)).not.toContain(WHITE);
    await page.emulateMedia({ media: 'print' });
    const shown = page.locator('main :is(h2, button, input, a, li)').filter({ visible: true });
    expect(await shown.allTextContents()).toEqual(['Your new key: nightly report']);
    expect(await key.isVisible()).toBe(true);
    const inHeader = page.locator('header').filter({ hasText: 'grace@example.com', visible: true });
    expect(await inHeader.count()).toBe(1);
    for (const part of ['navigation', 'sign-out', 'back', 'footer'])
      expect(await page.locator(`[data-part="${part}"]`).isVisible()).toBe(false);
    expect(await colorsOf(page)).toContain(WHITE);
  });
});

const styleOf = (one: Locator, property: string) =>
  one.evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);

/** Returns the grounds of a page's cards. */
const colorsOf = (page: Page) =>
  page
    .locator('[data-part="card"]')
    .evaluateAll((cards) => cards.map((card) => getComputedStyle(card).backgroundColor));
