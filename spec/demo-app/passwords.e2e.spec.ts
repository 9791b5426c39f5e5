import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { demoInBrowser, follow, inBrowser, says, signIn } from './browser.js';

const PASSWORD = 'nanoseconds of wire';
const NEW_PASSWORD = 'eleven nanoseconds of wire';

inBrowser('emails and passwords in the demo app', () => {
  const demo = demoInBrowser();
  const account = (name: string) => ({ email: `${name}@example.com`, password: PASSWORD });

  /** Follows the link in the newest email to an address. */
  async function followMail(page: Page, to: string, subject: string): Promise<void> {
    await page.goto(demo.url('/mails'));
    const mail = page
      .getByRole('listitem')
      .filter({ hasText: `To ${to}` })
      .filter({ hasText: subject });
    await follow(mail.first().getByRole('link'));
  }

  test('a link in an email verifies the email of the signed-in user, and can be sent again', async () => {
    const page = await demo.openSignedUp(account('ada'), '/account');
    await page.getByText('Your email is not confirmed yet.').waitFor();
    expect(await page.locator('#verified').isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Send it again' }).click();
    await says(page, 'status', 'We have sent you a new link.');
    await page.goto(demo.url('/mails'));
    await page.getByText('To ada@example.com').nth(1).waitFor();

    await followMail(page, 'ada@example.com', 'Confirm your email');
    await page.getByRole('button', { name: 'Confirm my address' }).click();
    await follow(page.getByRole('link', { name: 'Continue' }));
    await page.locator('#verified').waitFor();
    expect(await page.getByText('Your email is not confirmed yet.').isVisible()).toBe(false);

    await page.goBack();
    await page.reload();
    await page.getByRole('button', { name: 'Confirm my address' }).click();
    await says(page, 'alert', /^The link/);
  });

  test.each([
    ['in another browser', 'alan', () => demo.open('/mails')],
    [
      'of a user who is signed in to another account',
      'kurt',
      () => demo.openSignedUp(account('else'), '/mails'),
    ],
  ])('the verification link %s also requires the password', async (_, name, openElsewhere) => {
    await demo.openSignedUp(account(name), '/account');
    const page = await openElsewhere();
    await followMail(page, `${name}@example.com`, 'Confirm your email');
    await page.getByRole('button', { name: 'Confirm my address' }).click();
    await page.getByText('You are not signed in to this account in this browser.').waitFor();
    await page.getByLabel('Password', { exact: true }).fill('a guess at it');
    await page.getByRole('button', { name: 'Confirm my address' }).click();
    await page.getByText('Password is wrong.').waitFor();
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Confirm my address' }).click();
    await page.getByText('Your address is confirmed').waitFor();
  });

  test.each(['/verify-email', '/reset-password'])(
    'a link to %s without a token is reported as incomplete',
    async (path) => {
      const page = await demo.open(path);
      await page.getByRole('heading', { name: 'This link is incomplete' }).waitFor();
      expect(await page.locator('form').isVisible()).toBe(false);
    },
  );

  test('a password reset by email sets a new password and ends all sessions', async () => {
    const elsewhere = await demo.openSignedUp(account('grace'), '/account');
    const page = await demo.open('/sign-in');
    await follow(page.getByRole('link', { name: 'Forgot your password?' }));
    await page.getByLabel('Email').fill('nobody@example.com');
    await page.getByRole('button', { name: 'Send me a link' }).click();
    await says(page, 'status', 'If there is an account with this email, we have sent a link to it.');
    await page.getByLabel('Email').fill('grace@example.com');
    await page.getByRole('button', { name: 'Send me a link' }).click();
    await says(page, 'status', 'If there is an account with this email, we have sent a link to it.');

    await followMail(page, 'grace@example.com', 'Choose a new password');
    await page.getByLabel('New password', { exact: true }).fill('short');
    await page.getByRole('button', { name: 'Save password' }).click();
    await page.getByText('New password must have at least 8 characters.').waitFor();
    await page.getByLabel('New password', { exact: true }).fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Save password' }).click();
    await follow(page.getByRole('main').getByRole('link', { name: 'Sign in' }));
    await signIn(page, 'grace@example.com', NEW_PASSWORD);
    await page.locator('#verified').waitFor();
    expect(await mailsTo(page, 'nobody@example.com')).toBe(0);
    await elsewhere.reload();
    await elsewhere.waitForURL(/\/sign-in/);
  });

  test('a password change requires the current password and ends all other sessions', async () => {
    const page = await demo.openSignedUp(account('barbara'), '/account');
    const elsewhere = await demo.openSignedIn(account('barbara'), '/account');
    await page.getByLabel('Current password', { exact: true }).fill('a guess at it');
    await page.getByLabel('New password', { exact: true }).fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Current password is wrong.').waitFor();
    await page.getByLabel('Current password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Change password' }).click();
    await says(page, 'status', 'Your password has been changed.');

    await elsewhere.reload();
    await elsewhere.waitForURL(/\/sign-in/);
    await signIn(elsewhere, 'barbara@example.com', NEW_PASSWORD);
    await elsewhere.waitForURL(demo.url('/account'));
    await page.reload();
    await page.getByText('{"hello":"barbara@example.com"}').waitFor();
  });

  test('password managers are told whose password it is, and where to change it', async () => {
    const page = await demo.openSignedUp(account('radia'), '/account');
    await page.goto(demo.url('/.well-known/change-password'));
    await page.getByRole('heading', { name: 'Change your password' }).waitFor();
    const usernames = page.locator('input[autocomplete=username]');
    const values = await usernames.evaluateAll((all) =>
      all.map((input) => (input as HTMLInputElement).value),
    );
    expect(values).toEqual(['radia@example.com', 'radia@example.com', 'radia@example.com']);
    expect(await usernames.first().isVisible()).toBe(false);

    await page.goto(demo.url('/forgotten-password'));
    await page.getByLabel('Email').fill('radia@example.com');
    await page.getByRole('button', { name: 'Send me a link' }).click();
    await says(page, 'status', 'we have sent a link to it.');
    await followMail(page, 'radia@example.com', 'Choose a new password');
    await page.getByRole('button', { name: 'Show new password' }).waitFor();
    expect(await usernames.inputValue()).toBe('radia@example.com');
  });

  test('a sensitive action asks for the password if the sign-in is too long ago', async () => {
    const page = await demo.openSignedUp(account('edsger'), '/account');
    await page.getByRole('heading', { name: 'Change your password' }).waitFor();
    await demo.letSignInsAge(3600);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Download my data' }).click();
    await dialog.getByLabel('Password', { exact: true }).waitFor();
    expect(await dialog.locator('input[autocomplete=username]').inputValue()).toBe('edsger@example.com');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await page.getByText('Your data has been downloaded.').isVisible()).toBe(false);

    await page.getByRole('button', { name: 'Download my data' }).click();
    await dialog.getByLabel('Password', { exact: true }).fill('a guess at it');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByText('Password is wrong.').waitFor();
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
    const download = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await says(page, 'status', 'Your data has been downloaded.');
    const data = JSON.parse(await readFile(await (await download).path(), 'utf8'));
    expect(data).toMatchObject({ user: { email: 'edsger@example.com' }, sessions: [{}], apiKeys: [] });

    const again = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download my data' }).click();
    await again;
  });

  /** The number of emails that were sent to an address. */
  async function mailsTo(page: Page, to: string): Promise<number> {
    const { mails } = await (await page.request.get(demo.url('/api/mails'))).json();
    return mails.filter((mail: { to: string }) => mail.to === to).length;
  }
});
