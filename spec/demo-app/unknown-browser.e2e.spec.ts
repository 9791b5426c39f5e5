import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { demoInBrowser, follow, inBrowser, says, signIn } from './browser.js';

const PASSWORD = 'an analytical engine';

inBrowser('a sign-in in an unknown browser in the demo app', () => {
  const demo = demoInBrowser();
  const account = (name: string) => ({ email: `${name}@example.com`, username: name, password: PASSWORD });
  const enter = async (page: Page, code: string) => {
    await page.getByLabel('Code from the email').fill(code);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };

  test('asks for the code from the email, and goes on to the page that needed it', async () => {
    const home = await demo.openVerified(account('ada'), '/account');
    const before = await demo.countCodes();
    const page = await demo.open('/sessions');
    await signIn(page, 'ada@example.com', PASSWORD);
    await page.waitForURL(/\/second-factor/);
    // The account has no second factor.
    for (const other of ['With your authenticator app', 'With a passkey'])
      expect(await page.getByRole('heading', { name: other }).isVisible()).toBe(false);
    await enter(page, 'BBBB-BBBB');
    await page.getByText('The code is wrong').waitFor();
    const code = await demo.nextCode(before);
    await page.getByRole('button', { name: 'Send the code again' }).click();
    await says(page, 'status', 'We have sent you the code again.');
    expect(await demo.nextCode(before + 1)).toBe(code);
    await enter(page, code.toLowerCase().replace('-', ' '));
    await page.waitForURL(demo.url('/sessions'));
    // Where the account was made and verified, the password is enough.
    await follow(home.getByRole('button', { name: 'Sign out' }));
    await home.goto(demo.url('/sign-in'));
    await signIn(home, 'ada@example.com', PASSWORD);
    await home.waitForURL(demo.url('/account'));
  });

  test('works without scripts', async () => {
    await demo.openVerified(account('grace'), '/account');
    const before = await demo.countCodes();
    const page = await demo.openWithoutScripts('/sign-in?next=/sessions');
    await signIn(page, 'grace@example.com', PASSWORD);
    await page.waitForURL(/\/second-factor/);
    const code = await demo.nextCode(before);
    await page.getByRole('button', { name: 'Send the code again' }).click();
    await says(page, 'status', 'We have sent you the code again.');
    await enter(page, 'BBBB-BBBB');
    await says(page, 'alert', /^The code is wrong/);
    await enter(page, code);
    await page.waitForURL(demo.url('/sessions'));
  });
});
