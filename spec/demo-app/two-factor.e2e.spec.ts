import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { addAuthenticator } from './authenticator.js';
import { scan, switchOn } from './authenticator-app.js';
import {
  agree,
  continueAs,
  demoInBrowser,
  follow,
  inBrowser,
  says,
  signIn,
  signInAtProvider,
  signOut,
} from './browser.js';

const PASSWORD = 'nanoseconds of wire';
const CODE = /^[0-9a-z]{4}(-[0-9a-z]{4}){5}$/;

inBrowser('the second factor in the demo app', () => {
  const demo = demoInBrowser();
  const account = (name: string) => ({ email: `${name}@example.com`, password: PASSWORD });
  const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Confirm that it is you' });

  /** A new account with a second factor. */
  async function withApp(name: string) {
    const page = await demo.openVerified(account(name), '/security');
    return { page, ...(await switchOn(page, demo.codeOf)) };
  }

  async function enterCode(page: Page, code: string): Promise<void> {
    await page.getByLabel('Code', { exact: true }).fill(code);
    await page.getByRole('button', { name: 'Continue' }).click();
  }

  test('a user switches the app on with a QR code, and saves the recovery codes', async () => {
    const page = await demo.openVerified(account('ada'), '/security');
    const elsewhere = await demo.openSignedIn(account('ada'), '/account');
    const secret = await scan(page);
    const shown = await page.getByRole('img', { name: 'QR code' }).boundingBox();
    expect(Math.min(shown?.width ?? 0, shown?.height ?? 0)).toBeGreaterThan(150);
    expect(await page.getByRole('link', { name: 'open it in an app' }).getAttribute('href')).toContain(
      `secret=${secret.replaceAll(' ', '')}`,
    );
    await page.getByLabel('Code from the app').fill('12345');
    await page.locator('#enrolment').getByRole('button', { name: 'Switch on' }).click();
    await page.getByText('The code is wrong').waitFor();
    await page.getByLabel('Code from the app').fill(await demo.codeOf(secret));
    await page.locator('#enrolment').getByRole('button', { name: 'Switch on' }).click();
    await says(page, 'status', 'The authenticator app is on. All your other sessions have ended.');
    await page.getByText('10 recovery codes are left.').waitFor();
    await elsewhere.reload();
    await elsewhere.waitForURL(/\/sign-in/);

    const codes = await page.locator('#codes li').allTextContents();
    expect(codes).toEqual(Array.from({ length: 10 }, () => expect.stringMatching(CODE)));
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe('recovery-codes.txt');
    const text = await readFile(await file.path(), 'utf8');
    expect(text).toContain('ada@example.com');
    for (const code of codes) expect(text).toContain(code);

    await page.evaluate(() => {
      window.print = () => document.body.setAttribute('data-printed', '');
    });
    await page.getByRole('button', { name: 'Print' }).click();
    await page.locator('[data-printed]').waitFor();
    await page.emulateMedia({ media: 'print' });
    // biome-ignore lint/performance/useDomNodeTextContent: only what can be seen
    const onPaper = await page.locator('body').innerText();
    for (const code of codes) expect(onPaper).toContain(code);
    expect(onPaper).toContain('ada@example.com');
    expect(onPaper).not.toMatch(/Passkeys|Sign out|Download|Switch off/);
    await page.emulateMedia({ media: null });

    await page.getByRole('button', { name: 'I have saved them' }).click();
    const content = await page.content();
    for (const secretText of [...codes, secret, secret.replaceAll(' ', '')])
      expect(content).not.toContain(secretText);
  });

  test('whoever cancels has switched nothing on', async () => {
    const page = await demo.openVerified(account('alan'), '/security');
    const secret = await scan(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Switch on' }).and(page.locator(':focus')).waitFor();
    expect(await page.content()).not.toContain(secret);
    const again = await demo.openSignedIn(account('alan'), '/account');
    await again.getByText('{"hello":"alan@example.com"}').waitFor();
  });

  test('a sign-in asks for the code, and goes on to the page that needed it', async () => {
    const { secret } = await withApp('grace');
    const page = await demo.open('/sessions');
    await signIn(page, 'grace@example.com', PASSWORD);
    await page.waitForURL(/\/second-factor/);
    await page.getByRole('heading', { name: 'One more step' }).waitFor();
    expect((await page.request.get(demo.url('/auth/me'))).status()).toBe(401);
    // Not offered, because the account has none.
    expect(await page.getByRole('button', { name: 'Use your passkey' }).isVisible()).toBe(false);
    await enterCode(page, '000');
    await page.getByText('The code is wrong').waitFor();
    await enterCode(page, await demo.codeOf(secret));
    await page.waitForURL(demo.url('/sessions'));
    // It is used up.
    await page.goto(demo.url('/second-factor'));
    await enterCode(page, await demo.codeOf(secret));
    await says(page, 'alert', /^This sign-in took too long, or has been completed already/);
  });

  test('a recovery code signs in once', async () => {
    const { codes } = await withApp('barbara');
    for (const used of [false, true]) {
      const page = await demo.open('/sign-in?next=/security');
      await signIn(page, 'barbara@example.com', PASSWORD);
      await page.waitForURL(/\/second-factor/);
      await page.getByText('I do not have my phone').click();
      await page.getByLabel('Recovery code').fill(codes[0] ?? '');
      await page.getByRole('button', { name: 'Use this code' }).click();
      await page.getByText(used ? 'The code is wrong' : '9 recovery codes are left.').waitFor();
    }
  });

  test('a passkey is a second step too, and enough without a password', async () => {
    const { page } = await withApp('radia');
    const device = await addAuthenticator(page);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await says(page, 'status', 'has been added');
    await signOut(page);
    await page.waitForURL(demo.url('/'));
    await device.confirms(false);
    await page.goto(demo.url('/sign-in?next=/security'));
    await signIn(page, 'radia@example.com', PASSWORD);
    await page.waitForURL(/\/second-factor/);
    await device.confirms(true);
    await page.getByRole('button', { name: 'Use your passkey' }).click();
    await page.waitForURL(demo.url('/security'));

    await signOut(page);
    await page.waitForURL(demo.url('/'));
    await page.goto(demo.url('/sign-in?next=/security'));
    await page.waitForURL(demo.url('/security'));
  });

  test('a sign-in at a provider asks for the code as well', async () => {
    const page = await demo.open('/sign-in');
    await signInAtProvider(page, 'edsger@example.com');
    await page.waitForURL(demo.url('/account'));
    await page.goto(demo.url('/security'));
    const { secret } = await switchOn(page, demo.codeOf);
    for (const start of ['/sign-in?next=/linked-accounts', '/linked-accounts']) {
      const again = await demo.open(start);
      await signInAtProvider(again, 'edsger@example.com');
      await again.waitForURL(/\/second-factor/);
      await enterCode(again, await demo.codeOf(secret));
      await again.waitForURL(demo.url('/linked-accounts'));
    }
  });

  test('a change of how to sign in asks for the code, and takes no password in its place', async () => {
    const { page, secret, codes } = await withApp('kurt');
    await demo.letSignInsAge(3600);
    await page.goto(demo.url('/api-keys'));
    await page.getByLabel('Name').fill('nightly report');
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = dialogOf(page);
    await dialog.getByText('You signed in a while ago.').waitFor();
    expect(await dialog.getByLabel('Password', { exact: true }).isVisible()).toBe(false);
    await dialog.getByLabel('Code from your authenticator app').fill('000000');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByText('The code is wrong').waitFor();
    await dialog.getByLabel('Code from your authenticator app').fill(await demo.codeOf(secret));
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('shown only once').waitFor();

    await demo.letSignInsAge(3600);
    await page.goto(demo.url('/linked-accounts'));
    await page.getByRole('button', { name: 'Link the demo provider' }).click();
    await dialog.getByText('Use a recovery code').click();
    await dialog.getByLabel('Recovery code').fill(codes[3] ?? '');
    await dialog.getByRole('button', { name: 'Use this code' }).click();
    await continueAs(page, 'kurt@provider.example');
    await page.getByRole('button', { name: 'Unlink' }).waitFor();

    await demo.letSignInsAge(3600);
    await page.goto(demo.url('/account'));
    await page.getByLabel('Current password', { exact: true }).fill(PASSWORD);
    await page.getByLabel('New password', { exact: true }).fill('eleven nanoseconds of wire');
    await page.getByRole('button', { name: 'Change password' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await page.getByText('Your password has been changed').isVisible()).toBe(false);
  });

  test('a new email takes the code when it is asked for, and when its link is used', async () => {
    const { page, secret } = await withApp('niklaus');
    const dialog = dialogOf(page);
    const confirm = async () => {
      await dialog.getByLabel('Code from your authenticator app').fill(await demo.codeOf(secret));
      await dialog.getByRole('button', { name: 'Continue' }).click();
    };
    await demo.letSignInsAge(3600);
    await page.goto(demo.url('/account'));
    await page.getByLabel('New email').fill('wirth@example.com');
    await page.getByRole('button', { name: 'Send the link' }).click();
    await confirm();
    await says(page, 'status', 'We have sent a link to the new address.');
    const link = await demo.linkIn(page, 'wirth@example.com', 'Confirm your new email');

    // Somebody with the mailbox and the password.
    const elsewhere = await demo.open('/');
    await elsewhere.goto(link);
    await elsewhere.getByRole('button', { name: 'Use this address' }).click();
    await elsewhere.locator('#password').fill(PASSWORD);
    await elsewhere.getByRole('button', { name: 'Use this address' }).click();
    await says(elsewhere, 'alert', /^Your account has a second factor. Sign in first/);

    await demo.letSignInsAge(3600);
    await page.goto(link);
    await page.getByRole('button', { name: 'Use this address' }).click();
    await confirm();
    await page.getByRole('heading', { name: 'Your email has been changed' }).waitFor();
  });

  test('new codes replace the earlier ones, and the app can be switched off', async () => {
    const { page, codes } = await withApp('donald');
    await page.getByRole('button', { name: 'New recovery codes' }).click();
    await agree(page, 'Make new codes');
    await page
      .locator('#codes')
      .getByText(codes[0] ?? '')
      .waitFor({ state: 'detached' });
    const renewed = await page.locator('#codes li').allTextContents();
    expect(renewed.filter((code) => codes.includes(code))).toEqual([]);

    const elsewhere = await demo.open('/sign-in?next=/security');
    await signIn(elsewhere, 'donald@example.com', PASSWORD);
    await elsewhere.waitForURL(/\/second-factor/);
    await elsewhere.getByText('I do not have my phone').click();
    await elsewhere.getByLabel('Recovery code').fill(codes[0] ?? '');
    await elsewhere.getByRole('button', { name: 'Use this code' }).click();
    await elsewhere.getByText('The code is wrong').waitFor();
    await elsewhere.getByLabel('Recovery code').fill(renewed[0] ?? '');
    await elsewhere.getByRole('button', { name: 'Use this code' }).click();
    await elsewhere.getByText('9 recovery codes are left.').waitFor();

    await page.getByRole('button', { name: 'Switch off' }).click();
    await agree(page, 'Switch off');
    await says(page, 'status', 'The authenticator app is off.');
    const again = await demo.openSignedIn(account('donald'), '/account');
    await again.getByText('{"hello":"donald@example.com"}').waitFor();
  });

  test('an administrator disables it for a user who has lost phone and codes', async () => {
    await withApp('dorothy');
    const admin = await demo.openAsAdmin('/users?search=dorothy');
    await follow(admin.getByRole('link', { name: 'Manage dorothy@example.com' }));
    await admin.getByRole('button', { name: 'Disable second factor' }).click();
    await agree(admin, 'Disable second factor');
    await says(admin, 'status', 'The second factor is off.');
    const page = await demo.openSignedIn(account('dorothy'), '/security');
    await page.getByRole('button', { name: 'Switch on' }).waitFor();
    await demo.linkIn(page, 'dorothy@example.com', 'Your second factor is off');
  });

  test('without JavaScript, a sign-in asks for the code, and so does what needs it', async () => {
    const { secret, codes } = await withApp('linus');
    const page = await demo.openWithoutScripts('/sign-in?next=/sessions');
    await signIn(page, 'linus@example.com', PASSWORD);
    await page.waitForURL(/\/second-factor/);
    await enterCode(page, '000000');
    await says(page, 'alert', 'The code is wrong');
    await enterCode(page, await demo.codeOf(secret));
    await page.getByRole('heading', { name: 'Your sessions' }).waitFor();

    await demo.letSignInsAge(3600);
    await page.goto('/account');
    await page.getByLabel('New email').fill('torvalds@example.com');
    await page.getByRole('button', { name: 'Send the link' }).click();
    await says(page, 'alert', /Confirm that it is you, then try again/);
    await page.getByRole('link', { name: 'Confirm that it is you', exact: true }).click();
    await page.getByLabel('Code from your authenticator app').fill('000000');
    await page.getByRole('button', { name: 'Continue' }).click();
    await says(page, 'alert', 'The code is wrong');
    await page.getByText('I do not have my phone').click();
    await page.getByLabel('Recovery code').fill(codes[1] ?? '');
    await page.getByRole('button', { name: 'Use this code' }).click();
    await page.waitForURL(demo.url('/account'));
    await page.getByLabel('New email').fill('torvalds@example.com');
    await page.getByRole('button', { name: 'Send the link' }).click();
    await says(page, 'status', 'We have sent a link to the new address.');

    await demo.letSignInsAge(3600);
    await page.goto('/linked-accounts');
    await page.getByRole('link', { name: 'Confirm that it is you, to link it' }).click();
    await page.getByLabel('Code from your authenticator app').fill(await demo.codeOf(secret));
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('link', { name: 'Link the demo provider' }).click();
    await continueAs(page, 'linus@provider.example');
    await page.getByRole('listitem').filter({ hasText: 'is linked since' }).waitFor();
  });
});
