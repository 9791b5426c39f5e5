import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { demoInBrowser, inBrowser, says } from './browser.js';

const GOOGLE = { GOOGLE_CLIENT_ID: 'ours', GOOGLE_CLIENT_SECRET: 'a secret of ours at Google' };
const grace = { email: 'grace@example.com', username: 'grace', password: 'nanoseconds of wire' };

inBrowser('sign-in with a provider in the demo app', () => {
  const demo = demoInBrowser(GOOGLE);

  test('a new user signs in from a protected page, refreshes tokens, unlinks the account and links it again', async () => {
    const page = await demo.open('/linked-accounts');
    await signInAtProvider(page, 'ada@example.com');
    await page.waitForURL(demo.url('/linked-accounts'));
    await page.getByText('openid, email, profile').waitFor();

    const tokens = async () => (await page.request.get(demo.url('/auth/oauth/demo/tokens'))).json();
    const before = await tokens();
    await page.getByRole('button', { name: 'Refresh tokens' }).click();
    await says(page, 'status', 'Received new tokens from the demo provider.');
    const after = await tokens();
    expect(after.access_token).not.toBe(before.access_token);
    const content = await page.content();
    for (const token of [before, after].flatMap((one) => [
      one.access_token,
      one.refresh_token,
      one.id_token,
    ])) {
      expect(content).not.toContain(token);
    }

    await page.getByRole('button', { name: 'Unlink' }).click();
    await says(page, 'alert', 'This is your only way to sign in.');
    expect(await page.getByText('Received new tokens').isVisible()).toBe(false);
    await page.getByRole('link', { name: 'Account', exact: true }).click();
    await page.locator('#verified').waitFor();
    await page.locator('#set-password').getByLabel('Password').fill('the analytical engine');
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('heading', { name: 'Change your password' }).waitFor();

    await page.getByRole('link', { name: 'Linked accounts' }).click();
    await page.getByRole('button', { name: 'Unlink' }).click();
    await says(page, 'status', 'Your account at the demo provider has been unlinked.');
    await page.getByRole('button', { name: 'Link the demo provider' }).click();
    await continueAs(page, 'ada@example.com');
    await page.getByRole('button', { name: 'Unlink' }).waitFor();
    expect(page.url()).toBe(demo.url('/linked-accounts'));
  });

  test('a user who declines gets a message once and can try again', async () => {
    const page = await demo.open('/sign-up');
    await page.getByRole('button', { name: 'Sign in with the demo provider' }).click();
    await page.getByRole('button', { name: 'Decline' }).click();
    await says(page, 'alert', 'You declined at the provider');
    expect(page.url()).toBe(demo.url('/sign-up'));
    await page.reload();
    expect(await page.getByText('You declined').isVisible()).toBe(false);
    await signInAtProvider(page, 'edsger@example.com');
    await page.waitForURL(demo.url('/account'));
  });

  test('the owner of an account can link a provider with the same email and then sign in with it', async () => {
    const owner = await demo.openSignedUp(grace, '/linked-accounts');
    const page = await demo.open('/sign-in');
    await signInAtProvider(page, grace.email);
    await says(page, 'alert', 'There is already an account with this email.');

    await owner.getByRole('button', { name: 'Link the demo provider' }).click();
    await continueAs(owner, grace.email);
    await owner.getByRole('button', { name: 'Unlink' }).waitFor();

    await signInAtProvider(page, grace.email);
    await page.getByText('{"hello":"grace"}').waitFor();
  });

  test('an account at the provider that belongs to another user cannot be linked', async () => {
    const first = await demo.open('/sign-in');
    await signInAtProvider(first, 'kurt@example.com');
    await first.waitForURL(demo.url('/account'));
    const page = await demo.openSignedUp(
      { ...grace, email: 'hopper@example.com', username: 'hopper' },
      '/linked-accounts',
    );
    await page.getByRole('button', { name: 'Link the demo provider' }).click();
    await continueAs(page, 'kurt@example.com');
    await says(page, 'alert', 'This account at the provider is linked to another user here.');
  });

  test('an email that the provider did not verify is not added to the account', async () => {
    const page = await demo.open('/sign-in');
    await page.getByRole('button', { name: 'Sign in with the demo provider' }).click();
    await page.getByLabel('Email verified').uncheck();
    await continueAs(page, 'somebody@example.com');
    await page.getByText('{"hello":"stranger"}').waitFor();
    expect(await page.locator('#email').textContent()).toBe('none');
  });

  test('a user without a password reauthenticates with the provider', async () => {
    const page = await demo.open('/sign-in');
    await signInAtProvider(page, 'donald@example.com');
    await page.waitForURL(demo.url('/account'));
    await demo.letSignInsAge(3600);
    await page.getByRole('button', { name: 'Download my data' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Sign in with the demo provider' }).click();
    await continueAs(page, 'donald@example.com');
    await page.waitForURL(demo.url('/account'));
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download my data' }).click();
    expect((await download).suggestedFilename()).toBe('my-data.json');
  });

  test('a real provider is offered if the environment contains its client secret', async () => {
    const page = await demo.open('/sign-in');
    await page.getByRole('button', { name: 'Sign in with Google' }).waitFor();
    expect(await page.getByRole('button', { name: 'GitHub' }).isVisible()).toBe(false);
  });

  test('the provider prints nothing to the console', () => {
    expect(demo.output().trim().split('\n')).toHaveLength(2);
  });
});

async function signInAtProvider(page: Page, email: string): Promise<void> {
  await page.getByRole('button', { name: 'Sign in with the demo provider' }).click();
  await continueAs(page, email);
}

async function continueAs(page: Page, email: string): Promise<void> {
  await page.getByRole('heading', { name: 'Demo provider' }).waitFor();
  await page.getByLabel('Email', { exact: true }).fill(email);
  await page.getByRole('button', { name: 'Continue' }).click();
}
