import { afterAll, beforeAll, expect, test } from '@jest/globals';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { field, fill, inBrowser, press, specBrowser } from './browser.js';
import { findOverflow, runAxe } from './checks.js';
import { type OwnApp, startOwnApp } from './own-app.js';
import {
  visitAccount,
  visitAdministration,
  visitClosed,
  visitEmails,
  visitEntrance,
  visitOrganizations,
  visitSecurity,
  visitStrict,
  visitWithoutPassword,
} from './states.js';

const HEIGHT = 800;
const DESKTOP = 1280;
const WIDTHS = [320, 390, DESKTOP];

inBrowser('accessibility of the pages', () => {
  const browser = specBrowser();
  let app: OwnApp;

  beforeAll(async () => {
    app = await startOwnApp();
  });
  afterAll(() => app?.stop());

  test.each([
    ['for everyone', visitEntrance],
    ['that emails lead to', visitEmails],
    ['of an account', visitAccount],
    ['of an account without a password', visitWithoutPassword],
    ['of a second factor', visitSecurity],
    ['for administrators', visitAdministration],
  ])('axe finds nothing on the pages %s, and they fit into every width', async (_which, visit) => {
    const found: string[] = [];
    let seen = 0;
    await visit(app, browser, async (state, page) => {
      seen++;
      found.push(...(await problemsOf(page)).map((problem) => `${state}: ${problem}`));
    });
    expect(found).toEqual([]);
    expect(seen).toBeGreaterThan(5);
  });

  test.each([
    ['asks for more', visitStrict, { isStrict: true }, 5],
    ['closes its sign-up', visitClosed, { signUp: 'closed' }, 1],
    ['has organizations', visitOrganizations, { hasOrganizations: true }, 15],
  ] as const)('axe finds nothing on the pages of an app that %s', async (_what, visit, options, states) => {
    const own = await startOwnApp(options);
    const found: string[] = [];
    let seen = 0;
    try {
      await visit(own, browser, async (state, page) => {
        seen++;
        found.push(...(await problemsOf(page)).map((problem) => `${state}: ${problem}`));
      });
    } finally {
      await own.stop();
    }
    expect([found, seen]).toEqual([[], states]);
  });

  test.each([
    ['with JavaScript', true],
    ['without JavaScript', false],
  ])(
    '%s, one wrong field has the focus and its error, and several are a list that has the focus',
    async (_mode, hasScripts) => {
      const page = await browser.open(app.url('/auth/sign-up'), { javaScriptEnabled: hasScripts });
      expect(await page.title()).toBe('Create an account – Notes');
      await field(page, 'Email').first().fill('someone@example.com');
      await fill(page, 'Password', 'password1');
      await press(page, 'Create an account');
      const password = field(page, 'Password');
      await password.and(page.locator(':focus')).waitFor();
      await page.getByRole('alert').getByText('This password is easy to guess. Choose another.').waitFor();
      expect(await page.title()).toBe('Error: Create an account – Notes');
      expect(await password.getAttribute('aria-invalid')).toBe('true');
      expect(await descriptionOf(page, 'Password')).toMatch(
        /^At least 8 characters\. .* This password is easy to guess\. Choose another\.$/,
      );
      expect(await field(page, 'Username (optional)').getAttribute('aria-invalid')).toBeNull();
      await field(page, 'Email').first().fill('');
      await press(page, 'Create an account');
      const summary = page.getByRole('alert');
      await summary.and(page.locator(':focus')).waitFor();
      await summary.getByRole('link', { name: 'Enter a password.' }).click();
      await password.and(page.locator(':focus')).waitFor();
    },
  );

  test.each([
    ['/auth/sign-in', 'Email or username', 'username webauthn'],
    ['/auth/sign-in', 'Password', 'current-password'],
    ['/auth/sign-up', 'Email', 'email'],
    ['/auth/sign-up', 'Username (optional)', 'username'],
    ['/auth/sign-up', 'Name (optional)', 'name'],
    ['/auth/sign-up', 'Password', 'new-password'],
    ['/auth/forgot-password', 'Email', 'email'],
    ['/auth/sign-in/email', 'Code', 'one-time-code'],
  ])('%s: browsers fill in "%s" as %s', async (path, label, token) => {
    const page = await browser.open(app.url(path));
    expect(await field(page, label).first().getAttribute('autocomplete')).toBe(token);
  });

  test('browsers know which account a new password is for', async () => {
    const barbara = await app.createPerson('barbara@example.com');
    const page = await browser.open(app.url('/notes'));
    await app.signIn(page, barbara, '/auth/account/security#password');
    const form = page.locator('form', { has: field(page, 'New password') });
    expect(await form.locator('[autocomplete="username"]').getAttribute('value')).toBe(barbara.email);
    expect(await field(page, 'Current password').getAttribute('autocomplete')).toBe('current-password');
    expect(await field(page, 'New password').getAttribute('autocomplete')).toBe('new-password');
  });
});

/** Returns what is wrong with a page as it is: in both schemes, at every width, and with text of twice the size. */
async function problemsOf(page: Page): Promise<string[]> {
  const found = await page.evaluate(checkStructure);
  await page.evaluate(axe.source);
  for (const [colorScheme, width] of [
    ['light', DESKTOP],
    ['dark', 390],
    ['light', 320],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: HEIGHT });
    found.push(...(await page.evaluate(runAxe)).map((problem) => `${colorScheme}, ${width}: ${problem}`));
  }
  for (const size of ['', '200%'])
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: HEIGHT });
      await page.evaluate((fontSize) => {
        document.documentElement.style.fontSize = fontSize;
      }, size);
      found.push(...(await page.evaluate(findOverflow)).map((what) => `${width} ${size}: ${what}`));
    }
  await page.evaluate(() => document.documentElement.removeAttribute('style'));
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: DESKTOP, height: HEIGHT });
  return found;
}

/** Runs in the page. */
function checkStructure(): string[] {
  const found: string[] = [];
  const [h1, ...others] = [...document.querySelectorAll('h1')];
  if (!h1 || others.length > 0) found.push('there is not exactly one h1');
  const isRefused = document.querySelector('main [role="alert"]') !== null;
  // The app's name is not in the title twice.
  const heading = h1?.textContent?.replace(/ to Notes$/, '');
  const title = `${isRefused ? 'Error: ' : ''}${heading} – Notes`;
  if (document.title !== title) found.push(`the title is ${document.title}, not ${title}`);
  const focused = document.activeElement;
  // A wrong password is typed again at once, and its error is read with the field.
  const box = document.querySelector('[data-part="errors"]')?.id || 'none';
  if (
    isRefused &&
    !focused?.matches(`[data-part="errors"], [aria-invalid="true"], [aria-describedby~="${box}"]`)
  )
    found.push('the focus is not at the errors, or at the field of one');
  for (const input of document.querySelectorAll(
    'input:not([type="hidden"], [type="checkbox"], [type="radio"])',
  ))
    if (!input.hasAttribute('autocomplete')) found.push(`${input.id} has no autocomplete`);
  for (const element of document.querySelectorAll('[aria-describedby]'))
    for (const id of element.getAttribute('aria-describedby')?.split(' ') ?? [])
      if (!document.getElementById(id)) found.push(`${id} describes ${element.id}, and is not there`);
  for (const error of document.querySelectorAll('[data-part="field"] [data-part="error"]'))
    if (!document.querySelector(`[aria-invalid="true"][aria-describedby~="${error.id}"]`))
      found.push(`${error.id} does not describe its field`);
  for (const button of document.querySelectorAll('button[data-part~="danger"]'))
    if (!/^Yes, /.test(button.textContent) || !button.closest('details'))
      found.push(`"${button.textContent}" is not the answer to a question`);
  for (const opener of document.querySelectorAll('summary[data-part]'))
    if (!/^(Close|Cancel): /.test(opener.querySelector('[data-part="closes"]')?.textContent ?? ''))
      found.push(`"${opener.textContent}" has no word that closes`);
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) found.push(`${id} is there twice`);
  return found;
}

/** Returns the text that describes a field. */
function descriptionOf(page: Page, label: string): Promise<string> {
  return field(page, label).evaluate((input) =>
    (input.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id) => document.getElementById(id)?.textContent)
      .join(' '),
  );
}
