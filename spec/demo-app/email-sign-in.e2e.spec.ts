import { test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { demoInBrowser, follow, inBrowser, says } from './browser.js';

const SUBJECT = 'Your sign-in code';

inBrowser('a sign-in by email in the demo app', () => {
  const demo = demoInBrowser();
  const ask = async (page: Page, email: string) => {
    const before = await demo.countCodes();
    await page.getByLabel('Email', { exact: true }).fill(email);
    await page.getByRole('button', { name: 'Send me a code' }).click();
    await says(page, 'status', 'We have sent you an email with a code, which works for 10 minutes.');
    return demo.nextCode(before);
  };
  const enter = async (page: Page, code: string) => {
    await page.getByLabel('Code from the email').fill(code);
    await page.locator('#with-code').getByRole('button', { name: 'Sign in' }).click();
  };

  test('makes an account on a laptop, with the mail on a phone', async () => {
    const laptop = await demo.open('/sessions');
    await follow(laptop.getByRole('link', { name: 'Email me a code' }));
    const code = await ask(laptop, 'ada@example.com');
    await enter(laptop, 'BBBB-BBBB');
    await laptop.getByText('The code is wrong').waitFor();
    // The link in the email leads there, and works on the laptop alone.
    const phone = await demo.open('/');
    await phone.goto(await demo.linkIn(phone, 'ada@example.com', SUBJECT));
    await phone.locator('#with-link').getByRole('button', { name: 'Sign in' }).click();
    await phone.getByText(/This link works only in the browser/).waitFor();
    await enter(laptop, code.toLowerCase().replace('-', ' '));
    await laptop.waitForURL(demo.url('/sessions'));
    await laptop.goto(demo.url('/account'));
    await laptop.getByText('ada@example.com').first().waitFor();
  });

  test('follows the link in the browser that asked', async () => {
    const page = await demo.openVerified(
      { email: 'grace@example.com', username: 'grace', password: 'an analytical engine' },
      '/account',
    );
    await follow(page.getByRole('button', { name: 'Sign out' }));
    await page.goto(demo.url('/sign-in/email?next=/sessions'));
    await ask(page, 'grace@example.com');
    await page.goto(await demo.linkIn(page, 'grace@example.com', SUBJECT));
    await page.locator('#with-link').getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(demo.url('/account'));
  });

  test('works without scripts', async () => {
    const page = await demo.openWithoutScripts('/sign-in?next=/sessions');
    await follow(page.getByRole('link', { name: 'Email me a code' }));
    const code = await ask(page, 'lin@example.com');
    await enter(page, 'BBBB-BBBB');
    await says(page, 'alert', /^The code is wrong/);
    const elsewhere = await demo.openWithoutScripts(await demo.linkIn(page, 'lin@example.com', SUBJECT));
    await elsewhere.locator('#with-link').getByRole('button', { name: 'Sign in' }).click();
    await says(elsewhere, 'alert', /^This link works only in the browser/);
    await enter(page, code);
    await page.waitForURL(demo.url('/sessions'));
  });
});
