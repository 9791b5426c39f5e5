import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { addAuthenticator } from './authenticator.js';
import { AGAIN, agree, demoInBrowser, inBrowser, says, signIn } from './browser.js';

const PASSWORD = 'nanoseconds of wire';

inBrowser('passkeys in the demo app', () => {
  const demo = demoInBrowser();

  /** A new account with a passkey, on a device that confirms at once. */
  async function withPasskey(name: string, path = '/security') {
    const account = { email: `${name}@example.com`, password: PASSWORD };
    const page = await demo.openVerified(account, '/security');
    const device = await addAuthenticator(page);
    await add(page, 'My phone');
    await says(page, 'status', 'The passkey “My phone” has been added.');
    if (path !== '/security') await page.goto(demo.url(path));
    return { page, device, account };
  }

  async function add(page: Page, name: string): Promise<void> {
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
  }

  /** Ends the session of a page, which stays where it is. */
  async function signOut(page: Page): Promise<void> {
    await page.request.post(demo.url('/auth/signout'), {
      headers: { Origin: demo.url('') },
      ...AGAIN,
    });
  }

  const passkey = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name });

  test('a user adds a passkey, renames it, and removes it', async () => {
    const { page } = await withPasskey('ada');
    await passkey(page, 'My phone').getByText('On one device').waitFor();
    await passkey(page, 'My phone').getByText('Never used').waitFor();
    await page.getByRole('button', { name: 'Rename My phone' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rename the passkey' });
    expect(await dialog.getByLabel('New name').inputValue()).toBe('My phone');
    await dialog.getByLabel('New name').fill('   ');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await dialog.getByText(/^New name must /).waitFor();
    await dialog.getByLabel('New name').fill('My old phone');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await dialog.waitFor({ state: 'hidden' });
    const rename = page.getByRole('button', { name: 'Rename My old phone' });
    await rename.and(page.locator(':focus')).waitFor();

    await page.getByRole('button', { name: 'Remove My old phone' }).click();
    await agree(page, 'Remove passkey');
    await says(page, 'status', 'The passkey “My old phone” has been removed.');
    await page.reload();
    await page.getByText('You have no passkeys yet.').waitFor();
  });

  test('the browser signs in with a passkey from the list at the field of the account’s name', async () => {
    const { page, account } = await withPasskey('grace');
    await signOut(page);
    await page.goto(demo.url('/sign-in?next=/security'));
    await page.waitForURL(demo.url('/security'));
    await passkey(page, 'My phone').getByText('Last used').waitFor();
    const { session } = await (await page.request.get(demo.url('/auth/me'))).json();
    expect(session).toMatchObject({ aal: 2, amr: ['swk', 'user', 'mfa'].map(() => expect.any(String)) });
    expect(account.email).toBe((await (await page.request.get(demo.url('/auth/me'))).json()).user.email);
  });

  test('as long as nobody chooses a passkey, the button and the password work', async () => {
    const { page, device, account } = await withPasskey('alan');
    await signOut(page);
    await device.confirms(false);
    const field = page.getByLabel('Email or username');
    await page.goto(demo.url('/sign-in'));
    expect(await field.getAttribute('autocomplete')).toBe('username webauthn');
    await signIn(page, account.email, 'a guess at it');
    await says(page, 'alert', 'is wrong');
    await signIn(page, account.email, PASSWORD);
    await page.waitForURL(demo.url('/account'));

    await signOut(page);
    // Without the list, or the device would choose in it.
    await page.addInitScript(() => {
      PublicKeyCredential.isConditionalMediationAvailable = async () => false;
    });
    await page.goto(demo.url('/sign-in'));
    await device.confirms(true);
    await page.getByLabel('Remember me on this device').check();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.waitForURL(demo.url('/account'));
    const [cookie] = (await page.context().cookies()).filter(({ name }) => name === 'latchkey');
    expect(cookie?.expires).toBeGreaterThan(Date.now() / 1000);
  });

  test('a browser from before 2025 converts what WebAuthn needs by itself', async () => {
    const account = { email: 'edsger@example.com', password: PASSWORD };
    const page = await demo.openVerified(account, '/account');
    await addAuthenticator(page);
    await page.addInitScript(() => {
      const { prototype, ...statics } = PublicKeyCredential as unknown as Record<string, object>;
      for (const name of ['parseCreationOptionsFromJSON', 'parseRequestOptionsFromJSON'])
        Object.defineProperty(PublicKeyCredential, name, { value: undefined });
      Object.defineProperty(prototype ?? statics, 'toJSON', { value: undefined });
    });
    await page.goto(demo.url('/security'));
    await add(page, 'An old browser');
    await says(page, 'status', 'The passkey “An old browser” has been added.');
    // It knows the one that is there, so the server's list has been converted too.
    await add(page, 'The same again');
    await says(page, 'alert', 'This device has a passkey for your account already.');
    await signOut(page);
    await page.goto(demo.url('/sign-in?next=/security'));
    await passkey(page, 'An old browser').getByText('Last used').waitFor();
  });

  test('a passkey that was removed, and one that nobody confirms, do not sign in', async () => {
    const { page, device } = await withPasskey('kurt');
    await page.getByRole('button', { name: 'Remove My phone' }).click();
    await agree(page, 'Remove passkey');
    await says(page, 'status', 'has been removed');
    expect(await device.count()).toBe(1);
    await signOut(page);
    await page.goto(demo.url('/sign-in'));
    await says(page, 'alert', /^The passkey could not be verified/);

    const elsewhere = await demo.open('/sign-in');
    await addAuthenticator(elsewhere);
    await elsewhere.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await says(elsewhere, 'alert', 'No passkey was used');
  });

  test('an account whose email is not confirmed is told so', async () => {
    const page = await demo.openSignedUp({ email: 'new@example.com', password: PASSWORD }, '/security');
    await page.getByText('Confirm your email first.').waitFor();
    expect(await page.getByRole('button', { name: 'Add a passkey' }).isVisible()).toBe(false);
    expect(await page.getByRole('button', { name: 'Switch on' }).isVisible()).toBe(false);
  });

  test('a browser without passkeys offers none', async () => {
    const page = await demo.openVerified({ email: 'lynx@example.com', password: PASSWORD }, '/account');
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'PublicKeyCredential'));
    await page.goto(demo.url('/security'));
    await page.getByText('This browser has no passkeys.').waitFor();
    expect(await page.getByRole('button', { name: 'Add a passkey' }).isVisible()).toBe(false);
    await signOut(page);
    await page.goto(demo.url('/sign-in'));
    await page.getByRole('button', { name: 'Sign in with the demo provider' }).waitFor();
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).isVisible()).toBe(false);
  });

  test('a passkey confirms what needs a fresh sign-in', async () => {
    const { page } = await withPasskey('barbara');
    await demo.letSignInsAge(3600);
    await page.getByRole('button', { name: 'Remove My phone' }).click();
    await agree(page, 'Remove passkey');
    const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await dialog.getByText('You signed in a while ago.').waitFor();
    await dialog.getByRole('button', { name: 'Use a passkey' }).click();
    await says(page, 'status', 'The passkey “My phone” has been removed.');
  });
});
