import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { continueAs, demoInBrowser, inBrowser, says, signIn } from './browser.js';

const PASSWORD = 'an analytical engine';

inBrowser('the demo app in a browser without JavaScript', () => {
  const demo = demoInBrowser();
  const at = (page: Page) => page.url().replace(demo.url(''), '');
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  const fill = (page: Page, label: string, text: string) =>
    page.getByLabel(label, { exact: true }).filter({ visible: true }).fill(text);
  const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name }).waitFor();

  // Not by getByText, which finds nothing in a <noscript>.
  const listed = (page: Page, hasText: string) => page.getByRole('listitem').filter({ hasText });

  async function signUp(email: string, path = '/sign-up'): Promise<Page> {
    const page = await demo.openWithoutScripts(path);
    await fill(page, 'Email', email);
    await fill(page, 'Password', PASSWORD);
    await press(page, 'Sign up');
    return page;
  }

  /** Opens the newest email to somebody with this subject, and follows its link. */
  async function followMail(page: Page, to: string, subject: string): Promise<void> {
    const mail = listed(page, `To ${to}`).filter({ hasText: subject });
    // Emails are sent after the response.
    do await page.goto('/mails');
    while ((await mail.count()) === 0);
    await mail.first().getByRole('link').click();
  }

  test('signs up, says what is wrong, and signs out', async () => {
    const page = await demo.openWithoutScripts('/sign-up');
    await fill(page, 'Email', 'ada@example.com');
    await fill(page, 'Password', 'password');
    await press(page, 'Sign up');
    await says(page, 'alert', /^Please check the password: at least 8 characters/);
    expect(at(page)).toBe('/sign-up?error=validation_failed&error_fields=password');
    await fill(page, 'Email', 'ada@example.com');
    await fill(page, 'Username', 'ada');
    await fill(page, 'Password', PASSWORD);
    await press(page, 'Sign up');
    await heading(page, 'Hello ada');
    expect(at(page)).toBe('/account');
    await press(page, 'Sign out');
    await heading(page, 'Accounts and sessions in a small app');
    const again = await signUp('ada@example.com');
    await says(again, 'alert', /^There is already an account with this email/);
  });

  test('signs in after a wrong password, and goes on to the page that needed a session', async () => {
    await signUp('grace@example.com');
    const page = await demo.openWithoutScripts('/sessions');
    expect(at(page)).toBe('/sign-in?next=%2Fsessions');
    await signIn(page, 'grace@example.com', 'not the password');
    await says(page, 'alert', 'The account name or the password is wrong.');
    await page.getByLabel('Remember me on this device').check();
    await signIn(page, 'grace@example.com', PASSWORD);
    await heading(page, 'Your sessions');
    await listed(page, 'This device').waitFor();
    const other = page.getByRole('listitem').filter({ hasNotText: 'This device' });
    expect(await other.textContent()).toMatch(/Chrome on Linux/);
    await other.getByRole('button', { name: 'End' }).click();
    await says(page, 'status', 'The session has ended.');
    expect(await page.getByRole('listitem').count()).toBe(1);
    await press(page, 'End all');
    await heading(page, 'Accounts and sessions in a small app');
  });

  test('changes a password', async () => {
    const page = await signUp('linus@example.com');
    await fill(page, 'Current password', 'a guess at it');
    await fill(page, 'New password', 'a difference engine');
    await press(page, 'Change password');
    await says(page, 'alert', 'The account name or the password is wrong.');
    await fill(page, 'Current password', PASSWORD);
    await fill(page, 'New password', 'a difference engine');
    await press(page, 'Change password');
    await says(page, 'status', /^Your password has been changed/);
    await press(page, 'Sign out');
    await page.goto('/sign-in');
    await signIn(page, 'linus@example.com', 'a difference engine');
    await heading(page, 'Hello linus@example.com');
  });

  test('confirms an email in another browser, with the password', async () => {
    await signUp('barbara@example.com');
    const page = await demo.openWithoutScripts('/mails');
    await followMail(page, 'barbara@example.com', 'Confirm your email');
    await fill(page, 'Password', 'a guess at it');
    await press(page, 'Confirm my address');
    await says(page, 'alert', 'The account name or the password is wrong.');
    await fill(page, 'Password', PASSWORD);
    await press(page, 'Confirm my address');
    await signIn(page, 'barbara@example.com', PASSWORD);
    await says(page, 'status', 'Your address is confirmed.');
    expect(await page.getByText('Verified').isVisible()).toBe(true);
  });

  test('confirms an email with the session, and resets a forgotten password', async () => {
    const page = await signUp('alan@example.com');
    await press(page, 'Send it again');
    await says(page, 'status', 'We have sent you a new link.');
    await followMail(page, 'alan@example.com', 'Confirm your email');
    expect(await page.getByLabel('Password', { exact: true }).isVisible()).toBe(false);
    await press(page, 'Confirm my address');
    await says(page, 'status', 'Your address is confirmed.');
    await press(page, 'Sign out');

    await page.goto('/forgotten-password');
    await fill(page, 'Email', 'alan@example.com');
    await press(page, 'Send me a link');
    await says(page, 'status', /^If there is an account with this email/);
    await followMail(page, 'alan@example.com', 'Choose a new password');
    await fill(page, 'New password', 'short');
    await press(page, 'Save password');
    await says(page, 'alert', /^Please check the new password/);
    await fill(page, 'New password', 'a difference engine');
    await press(page, 'Save password');
    await says(page, 'status', /^Your new password has been saved/);
    await signIn(page, 'alan@example.com', 'a difference engine');
    await heading(page, 'Hello alan@example.com');
  });

  test('signs in with a provider, sets a password, unlinks and links again', async () => {
    const page = await demo.openWithoutScripts('/sign-in?next=/linked-accounts');
    await page.getByRole('link', { name: 'Sign in with the demo provider' }).click();
    await continueAs(page, 'edsger@example.com');
    await heading(page, 'Linked accounts');
    await page.goto('/account');
    await fill(page, 'Password', PASSWORD);
    await press(page, 'Set password');
    await says(page, 'status', 'You can now also sign in with your password.');
    await page.goto('/linked-accounts');
    await press(page, 'Unlink');
    await says(page, 'status', 'The account has been unlinked.');
    await page.getByRole('link', { name: 'Link the demo provider' }).click();
    await continueAs(page, 'edsger@example.com');
    await listed(page, 'The demo provider is linked since').waitFor();
  });

  test('does not unlink the only way to sign in', async () => {
    const page = await demo.openWithoutScripts('/sign-in?next=/linked-accounts');
    await page.getByRole('link', { name: 'Sign in with the demo provider' }).click();
    // With a verified email, a code by email would be another way.
    await page.getByLabel('Email verified').uncheck();
    await continueAs(page, 'barbara@example.com');
    await heading(page, 'Linked accounts');
    await press(page, 'Unlink');
    await says(page, 'alert', 'This is your only way to sign in. Set a password first.');
  });

  test('asks for the password before somebody’s data is downloaded', async () => {
    const page = await signUp('kurt@example.com');
    await demo.letSignInsAge(3600);
    await page.goto('/account');
    await fill(page, 'Confirm with your password', 'a guess at it');
    await press(page, 'Download my data');
    await says(page, 'alert', 'The account name or the password is wrong.');
    await fill(page, 'Confirm with your password', PASSWORD);
    await press(page, 'Download my data');
    await page.waitForURL(demo.url('/api/my-data'));
    expect(await page.content()).toContain('kurt@example.com');
  });
});
