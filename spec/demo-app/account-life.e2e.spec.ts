import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { agree, demoInBrowser, inBrowser, says, signIn } from './browser.js';

const PASSWORD = 'an analytical engine';

inBrowser('the life of an account in the demo app', () => {
  const demo = demoInBrowser();

  async function followMail(page: Page, to: string): Promise<void> {
    const mail = page
      .getByRole('listitem')
      .filter({ hasText: `To ${to}` })
      .filter({ hasText: 'Confirm your new email' });
    // Emails are sent after the response.
    do await page.goto(demo.url('/mails'));
    while ((await mail.count()) === 0);
    await mail.first().getByRole('link').click();
  }

  /** The script shows this button when it is ready. Before that, browsers send forms without it. */
  const scriptRuns = (page: Page) => page.getByRole('button', { name: 'Download my data' }).waitFor();

  test('a user changes name, username and email, sees the ways to sign in, and closes the account', async () => {
    const page = await demo.openSignedUp({ email: 'ada@example.com', password: PASSWORD }, '/account');
    await scriptRuns(page);
    expect(await page.locator('#ways').textContent()).toBe('password');
    await page.getByLabel('Name', { exact: true }).fill('Ada Lovelace');
    await page.getByLabel('Username', { exact: true }).fill('a b');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^Username must be 3 to 30/).waitFor();
    await page.getByLabel('Username', { exact: true }).fill('ada');
    await page.getByRole('button', { name: 'Save' }).click();
    await says(page, 'status', 'Your name and username have been saved.');
    expect(await page.locator('#full-name').textContent()).toBe('Ada Lovelace');

    await page.getByLabel('New email').fill('lovelace@example.com');
    await page.getByRole('button', { name: 'Send the link' }).click();
    await says(page, 'status', 'We have sent a link to the new address.');
    expect(await page.locator('#email').textContent()).toBe('ada@example.com');
    await followMail(page, 'lovelace@example.com');
    await page.getByRole('button', { name: 'Use this address' }).click();
    // In place of the form or, if the script was not there yet, on the next page.
    await page.getByText('Your email has been changed').first().waitFor();
    await page.goto(demo.url('/account'));
    await scriptRuns(page);
    await page.locator('#email').getByText('lovelace@example.com').waitFor();
    await page.locator('#verified').waitFor();

    await page.getByRole('button', { name: 'Close my account' }).click();
    await agree(page, 'Close my account');
    await page.waitForURL(demo.url('/?done=account-closed'));
    await says(page, 'status', 'Your account has been closed');
    await page.goto(demo.url('/sign-in'));
    await signIn(page, 'lovelace@example.com', PASSWORD);
    await says(page, 'alert', 'The account name or the password is wrong.');
  });

  test('without JavaScript too', async () => {
    const page = await demo.openWithoutScripts('/sign-up');
    const fill = (label: string, text: string) =>
      page.getByLabel(label, { exact: true }).filter({ visible: true }).fill(text);
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    await fill('Email', 'grace@example.com');
    await fill('Password', PASSWORD);
    await press('Sign up');
    await fill('Name', 'Grace Hopper');
    await press('Save');
    await says(page, 'status', 'Your name and username have been saved.');
    expect(await page.locator('#full-name').textContent()).toBe('Grace Hopper');
    await fill('New email', 'hopper@example.com');
    await press('Send the link');
    await says(page, 'status', 'We have sent a link to the new address.');
    await followMail(page, 'hopper@example.com');
    await press('Use this address');
    await says(page, 'status', 'Your email has been changed.');
    expect(await page.locator('#email').textContent()).toBe('hopper@example.com');
    await page.locator('#close').getByLabel('Your password, to confirm').fill('a guess at it');
    await press('Close my account');
    await says(page, 'alert', 'The account name or the password is wrong.');
    await press('Close my account');
    await says(page, 'status', 'Your account has been closed');
  });
});
