import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { agree, demoInBrowser, follow, inBrowser, says, signIn } from './browser.js';

const PASSWORD = 'nanoseconds of wire';

inBrowser('how administrators manage users in the demo app', () => {
  const demo = demoInBrowser();
  const account = (name: string) => ({ email: `${name}@example.com`, password: PASSWORD });

  /** Opens the administrators' page of a user. */
  async function manage(email: string): Promise<Page> {
    const page = await demo.openAsAdmin(`/users?search=${email}`);
    await follow(page.getByRole('link', { name: `Manage ${email}` }));
    await page.getByRole('heading', { name: email }).waitFor();
    return page;
  }

  test('a new user is invited by email, and chooses a password', async () => {
    const page = await demo.openAsAdmin('/users');
    await page.getByLabel('Email', { exact: true }).fill('not an address');
    await page.getByLabel('Username', { exact: true }).fill('no');
    await page.getByRole('button', { name: 'Create user' }).click();
    expect(page.url()).toBe(demo.url('/users'));
    await page.getByLabel('Email', { exact: true }).fill('ada@example.com');
    await page.getByRole('button', { name: 'Create user' }).click();
    await page.getByText(/^Username must/).waitFor();
    await page.getByLabel('Username', { exact: true }).fill('ada');
    await page.getByRole('button', { name: 'Create user' }).click();
    await says(page, 'status', 'Created. An invitation was sent to ada@example.com.');
    await page.getByText('The user is not signed in anywhere.').waitFor();

    const ada = await demo.open('/mails');
    const mail = ada.getByRole('listitem').filter({ hasText: 'To ada@example.com' });
    await follow(mail.filter({ hasText: 'Your new account' }).getByRole('link'));
    await ada.getByLabel('New password', { exact: true }).fill(PASSWORD);
    await ada.getByRole('button', { name: 'Save password' }).click();
    await follow(ada.getByRole('main').getByRole('link', { name: 'Sign in' }));
    await signIn(ada, 'ada', PASSWORD);
    await ada.locator('#verified').waitFor();
  });

  test('a user can be renamed, and gets a link to choose a new password', async () => {
    await demo.openSignedUp(account('bob'), '/account');
    const page = await manage('bob@example.com');
    await page.getByLabel('Name', { exact: true }).fill('Bob Boole');
    await page.getByLabel('Username', { exact: true }).fill('Bob');
    await page.getByRole('button', { name: 'Save' }).click();
    await says(page, 'status', 'Saved.');
    await page.reload();
    await page.waitForFunction(
      () => (document.getElementById('username') as HTMLInputElement).value === 'bob',
    );
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Bob Boole');
    await page.getByRole('button', { name: 'Send a link' }).click();
    await says(page, 'status', 'A link was sent.');
    await page.goto(demo.url('/mails'));
    const mail = page.getByRole('listitem').filter({ hasText: 'To bob@example.com' });
    await mail.filter({ hasText: 'Choose a new password' }).first().waitFor();
  });

  test('the sessions of a user can be seen and ended', async () => {
    const user = await demo.openSignedUp(account('cora'), '/account');
    const page = await manage('cora@example.com');
    await page.getByRole('button', { name: /^End the session on Chrome/ }).click();
    await says(page, 'status', /^The session on Chrome.* has ended\./);
    await user.reload();
    await user.waitForURL(/\/sign-in/);
  });

  test('a suspended user is signed out, and cannot sign in until they are reinstated', async () => {
    const user = await demo.openSignedUp(account('dan'), '/account');
    const page = await manage('dan@example.com');
    await page.getByLabel('Reason').fill('spam');
    await page.getByLabel('Until').fill('2099-12-31T12:00');
    await page.getByRole('button', { name: 'Suspend' }).click();
    await says(page, 'status', 'dan@example.com is suspended.');
    await page.getByText(/^Suspended until .*2099.*: spam$/).waitFor();
    await page.getByText('The user is not signed in anywhere.').waitFor();

    await user.reload();
    await user.waitForURL(/\/sign-in/);
    await signIn(user, 'dan@example.com', 'not the password');
    await says(user, 'alert', /^The account name or the password is wrong/);
    await signIn(user, 'dan@example.com', PASSWORD);
    await says(user, 'alert', /^This account is suspended/);

    await page.goto(demo.url('/users?search=dan@'));
    await page.getByText('Suspended', { exact: true }).waitFor();
    await follow(page.getByRole('link', { name: 'Manage dan@example.com' }));
    await page.getByRole('button', { name: 'Reinstate' }).click();
    await says(page, 'status', 'dan@example.com can sign in again.');
    await signIn(user, 'dan@example.com', PASSWORD);
    await user.waitForURL(/\/account/);
  });

  test('deleting a user asks first, and for the password if the sign-in was a while ago', async () => {
    const user = await demo.openSignedUp(account('eve'), '/account');
    const page = await manage('eve@example.com');
    await page.getByRole('button', { name: 'Delete user' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
    await demo.letSignInsAge(3600);
    await page.getByRole('button', { name: 'Delete user' }).click();
    await agree(page, 'Delete user');
    await page
      .getByRole('dialog')
      .getByLabel('Password', { exact: true })
      .fill(await demo.adminPassword());
    await page.getByRole('dialog').getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(demo.url('/users'));
    await page.goto(demo.url('/users?search=eve@'));
    await page.getByText('No users found.').waitFor();
    await user.reload();
    await user.waitForURL(/\/sign-in/);
  });

  test('administrators can neither suspend nor delete themselves, and unknown users are reported', async () => {
    const page = await manage('admin@example.com');
    await page.getByText('This is your own account.').waitFor();
    for (const name of ['Suspend', 'Delete user'])
      expect(await page.getByRole('button', { name }).isVisible()).toBe(false);
    await page.goto(demo.url('/users/01900000-0000-7000-8000-000000000000'));
    await says(page, 'alert', /^There is no such user/);
    expect(await page.getByRole('button', { name: 'Save' }).isVisible()).toBe(false);
  });
});
