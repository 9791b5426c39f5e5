import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  agree,
  continueAs,
  demoInBrowser,
  follow,
  inBrowser,
  says,
  signIn,
  signInAtProvider,
} from './browser.js';

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

    await follow(page.getByRole('link', { name: 'Account', exact: true }));
    await page.locator('#verified').waitFor();
    expect(await page.locator('#ways').textContent()).toBe('demo, a code by email');
    await page.locator('#set-password').getByLabel('Password', { exact: true }).fill('the analytical engine');
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('heading', { name: 'Change your password' }).waitFor();

    await follow(page.getByRole('link', { name: 'Linked accounts' }));
    await page.getByRole('button', { name: 'Unlink' }).click();
    await agree(page, 'Unlink account');
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
    await page.waitForURL(demo.url('/sign-up'));
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
    await continueAs(page, 'someone-else@example.com');
    await says(page, 'alert', 'This is not the account at the provider that you have linked here.');

    await page.getByRole('button', { name: 'Download my data' }).click();
    await dialog.getByRole('button', { name: 'Sign in with the demo provider' }).click();
    await continueAs(page, 'donald@example.com');
    await page.waitForURL(demo.url('/account'));
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download my data' }).click();
    expect((await download).suggestedFilename()).toBe('my-data.json');
  });

  test('tokens that can no longer be used lead to linking the account again', async () => {
    const page = await demo.open('/linked-accounts');
    await signInAtProvider(page, 'barbara@example.com');
    const again = page.getByRole('button', { name: 'Link the account again' });
    await page.getByRole('button', { name: 'Refresh tokens' }).waitFor();
    expect(await again.isVisible()).toBe(false);

    await demo.restart();
    await page.getByRole('button', { name: 'Refresh tokens' }).click();
    await says(page, 'alert', 'Link the account again.');
    await again.click();
    await continueAs(page, 'barbara@example.com');
    await page.waitForURL(demo.url('/linked-accounts'));
    await page.getByRole('button', { name: 'Refresh tokens' }).click();
    await says(page, 'status', 'Received new tokens from the demo provider.');
  });

  test('a sign-in that the provider cannot continue ends at a page with the way back to the app', async () => {
    const page = await demo.open('/sign-in');
    await page.getByRole('button', { name: 'Sign in with the demo provider' }).click();
    await page.getByRole('heading', { name: 'Demo provider' }).waitFor();
    const atProvider = page.url();
    await continueAs(page, 'radia@example.com');
    await page.waitForURL(demo.url('/account'));
    // As with the back button.
    await page.goto(atProvider);
    await startAgain(page);
    await page.waitForURL(demo.url('/account'));

    const late = await demo.open('/sign-in');
    await late.getByRole('button', { name: 'Sign in with the demo provider' }).click();
    await late.getByRole('heading', { name: 'Demo provider' }).waitFor();
    await demo.restart();
    await late.getByRole('button', { name: 'Continue' }).click();
    await startAgain(late);
    await late.waitForURL(demo.url('/sign-in'));
  });

  test('a return from the provider that is too late leads to a page that says why, also after it was reloaded', async () => {
    const page = await demo.open('/auth/oauth/demo/callback?state=unknown&code=unknown');
    await page.waitForURL(demo.url('/sign-in-failed?error=invalid_flow'));
    await says(page, 'alert', 'is already complete, or took too long');
    await page.reload();
    await says(page, 'alert', 'is already complete, or took too long');
    await page.goto(demo.url('/sign-in-failed?error=toString'));
    await says(page, 'alert', 'That did not work.');
    await follow(page.getByRole('link', { name: 'Try again' }));
    await page.waitForURL(demo.url('/sign-in'));
  });

  test('if the providers cannot be loaded, the page says so, and the form still works', async () => {
    const page = await demo.openSignedUp(
      { ...grace, email: 'dorothy@example.com', username: 'dorothy' },
      '/',
    );
    // The page that is left must not ask for the account in between: it would go to the sign-in page by itself.
    await page.goto('about:blank');
    await page.context().clearCookies();
    await page.route('**/api/providers', (route) => route.abort());
    await page.goto(demo.url('/sign-in'));
    await says(page, 'alert', 'The app cannot be reached.');
    await signIn(page, 'dorothy', grace.password);
    await page.waitForURL(demo.url('/account'));
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

async function startAgain(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Start again in the app' }).waitFor();
  expect(await page.content()).not.toMatch(/Error|node_modules/);
  await follow(page.getByRole('link', { name: 'Back to the latchkey demo' }));
}
