import { expect, test } from '@jest/globals';
import axe from 'axe-core';
import type { ConsoleMessage, Locator, Page } from 'playwright-core';
import { addAuthenticator } from './authenticator.js';
import { scan, switchOn } from './authenticator-app.js';
import { agree, demoInBrowser, inBrowser, says, signInAtProvider } from './browser.js';

const PHONE = { width: 390, height: 844 };
const grace = { email: 'grace@example.com', password: 'nanoseconds of wire' };
const SCHEMES = ['light', 'dark'] as const;

inBrowser('accessibility of the demo app', () => {
  const demo = demoInBrowser();

  /** What axe finds on the page as it is, in the light and the dark theme. */
  async function violations(page: Page): Promise<string[]> {
    const found: string[] = [];
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(axe.source);
      found.push(...(await page.evaluate(runAxe)).map((one) => `${page.url()}, ${colorScheme}: ${one}`));
    }
    return found;
  }

  /** What axe finds on pages as they are at first, and what these pages write to the console. */
  async function visit(page: Page, paths: readonly string[]): Promise<string[]> {
    const found: string[] = [];
    const write = (message: ConsoleMessage) => {
      // A link that does not work any more is looked up, and refused.
      if (!/^Failed to load resource/.test(message.text())) found.push(`${page.url()}: ${message.text()}`);
    };
    page.on('console', write);
    for (const path of paths) {
      await page.goto(demo.url(path));
      await page.waitForLoadState('networkidle');
      found.push(...(await violations(page)));
    }
    page.off('console', write);
    return found;
  }

  test('axe finds nothing on the pages for everyone', async () => {
    const page = await demo.open('/');
    const links = [
      '/reset-password?token=a',
      '/verify-email?token=a',
      '/undo-change?token=a',
      '/second-factor?error=invalid_code',
      '/sign-in/email?token=a&error=other_browser',
      '/sign-in-failed?error=invalid_flow',
    ];
    const found = await visit(page, ['/', '/sign-up', '/sign-in', '/forgotten-password', '/mails', ...links]);
    await page.goto(demo.url('/nothing'));
    found.push(...(await violations(page)));
    await page.goto(demo.url('/sign-up'));
    await page.getByLabel('Email').fill('nobody@example.com');
    await page.getByLabel('Password', { exact: true }).fill('short');
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByText('Password must have at least 8 characters.').waitFor();
    found.push(...(await violations(page)));
    await page.goto(demo.url('/reset-password'));
    await page.getByRole('heading', { name: 'This link is incomplete' }).waitFor();
    found.push(...(await violations(page)));
    await page.goto(demo.url('/sign-in'));
    await page.getByRole('button', { name: 'Sign in with the demo provider' }).click();
    await page.getByRole('heading', { name: 'Demo provider' }).waitFor();
    found.push(...(await violations(page)));
    expect(found).toEqual([]);
  });

  test('axe finds nothing on the pages for the signed-in, for administrators, and in dialogs', async () => {
    const page = await demo.openAsAdmin('/account');
    const own = ['/account', '/security', '/reauthenticate', '/linked-accounts', '/api-keys', '/sessions'];
    const found = await visit(page, [
      ...own,
      '/users',
      '/events',
      '/mails',
      '/sign-in-failed?error=invalid_flow',
    ]);
    await demo.openSignedUp({ ...grace, email: 'hal@example.com' }, '/account');
    await page.goto(demo.url('/users?search=hal@'));
    await page.getByRole('link', { name: 'Manage hal@example.com' }).click();
    await page.getByRole('button', { name: /^End the session/ }).waitFor();
    found.push(...(await violations(page)));
    await page.goto(demo.url('/sessions'));
    await page.getByRole('button', { name: 'End all' }).click();
    await page.getByRole('alertdialog').waitFor();
    found.push(...(await violations(page)));
    await page.goto(demo.url('/api-keys'));
    await page.getByLabel('Name').fill('nightly report');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'Revoke nightly report' }).waitFor();
    found.push(...(await violations(page)));
    await page.goto(demo.url('/account'));
    await page.getByRole('heading', { name: 'Change your password' }).waitFor();
    await demo.letSignInsAge(3600);
    await page.getByRole('button', { name: 'Download my data' }).click();
    await page.getByRole('dialog').waitFor();
    found.push(...(await violations(page)));
    expect(found).toEqual([]);
  });

  test('axe finds nothing on the steps of the second factor, of passkeys, and of the way back', async () => {
    const page = await demo.openVerified({ ...grace, email: 'ida@example.com' }, '/security');
    await addAuthenticator(page);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('button', { name: /^Rename/ }).click();
    const found = await violations(page);
    await page.keyboard.press('Escape');
    await scan(page);
    found.push(...(await violations(page)));
    await page.getByRole('button', { name: 'Cancel' }).click();
    const { codes } = await switchOn(page, demo.codeOf);
    expect(codes).toHaveLength(10);
    await expectFocusIn(page, 'Your recovery codes');
    found.push(...(await violations(page)));
    await demo.letSignInsAge(3600);
    await page.getByRole('button', { name: 'New recovery codes' }).click();
    await agree(page, 'Make new codes');
    await page.getByRole('dialog').getByText('Use a recovery code').click();
    found.push(...(await violations(page)));
    const elsewhere = await demo.open('/undo-change?token=a');
    await elsewhere.getByRole('button', { name: 'Undo it' }).click();
    await says(elsewhere, 'alert', /^The link/);
    found.push(...(await violations(elsewhere)));
    expect(found).toEqual([]);
  });

  test('an error is the description of its field', async () => {
    const page = await demo.open('/sign-up');
    await page.getByLabel('Email').fill('someone@example.com');
    await page.getByLabel('Password', { exact: true }).fill('short');
    await page.getByRole('button', { name: 'Sign up' }).click();
    const field = page.getByLabel('Password', { exact: true });
    await page.getByText('Password must have at least 8 characters.').waitFor();
    expect(await isFocused(field)).toBe(true);
    const describedBy = await field.evaluate((input) =>
      (input.getAttribute('aria-describedby') ?? '')
        .split(' ')
        .map((id) => document.getElementById(id)?.textContent)
        .join(' '),
    );
    expect(describedBy).toMatch(
      /A few words make a good password\. Password must have at least 8 characters\./,
    );
  });

  test('on a phone, messages appear next to the button, which keeps the focus', async () => {
    const page = await demo.openSignedUp(grace, '/account');
    await page.setViewportSize(PHONE);
    await page.getByRole('heading', { name: 'Change your password' }).waitFor();

    const sendAgain = page.getByRole('button', { name: 'Send it again' });
    await sendAgain.click();
    await saysNextTo(sendAgain, 'We have sent you a new link.');
    expect(await isFocused(sendAgain)).toBe(true);

    const download = page.getByRole('button', { name: 'Download my data' });
    await download.click();
    await saysNextTo(download, 'Your data has been downloaded.');
    expect(await isFocused(download)).toBe(true);

    const change = page.getByRole('button', { name: 'Change password' });
    await page.getByLabel('Current password', { exact: true }).fill(grace.password);
    await page.getByLabel('New password', { exact: true }).fill(grace.password);
    await change.click();
    await saysNextTo(change, 'Your password has been changed.');
    expect(await isFocused(change)).toBe(true);
  });

  test('messages are written into elements that were in the page before', async () => {
    for (const path of ['/sign-in', '/sign-up', '/forgotten-password', '/mails']) {
      const page = await demo.open(path);
      const displays = await page
        .locator('[role=status], [role=alert]')
        .evaluateAll((all) => all.map((one) => getComputedStyle(one).display));
      expect([path, displays.length > 0, displays.includes('none')]).toEqual([path, true, false]);
      await page.context().close();
    }
  });

  test('the focus stays in the row whose subject is gone', async () => {
    await demo.openSignedIn(grace, '/account');
    const page = await demo.openSignedIn(grace, '/sessions');
    const other = page.getByRole('listitem').filter({ has: page.locator('.badge[hidden]') });
    await other.first().getByRole('button').click();
    await says(page, 'status', 'has ended');
    await expectFocusIn(page, 'The session on Chrome on Linux has ended.');

    await page.goto(demo.url('/api-keys'));
    await page.getByLabel('Name').fill('short-lived');
    await page.getByRole('button', { name: 'Create key' }).click();
    await expectFocusIn(page, 'Your new key');
    await page.getByRole('button', { name: 'Revoke short-lived' }).click();
    await agree(page, 'Revoke key');
    await says(page, 'status', 'has been revoked');
    await expectFocusIn(page, 'The key “short-lived” has been revoked.');
  });

  test('Escape cancels what cannot be undone, and the focus returns to the button', async () => {
    const page = await demo.openSignedIn(grace, '/sessions');
    const endAll = page.getByRole('button', { name: 'End all' });
    await endAll.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('alertdialog', { name: 'End all sessions?' });
    await dialog.waitFor();
    expect(await isFocused(dialog.getByRole('button', { name: 'Cancel' }))).toBe(true);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await isFocused(endAll)).toBe(true);
    expect((await page.request.get(demo.url('/auth/me'))).status()).toBe(200);
  });

  test('a user can sign in and sign out with the keyboard alone', async () => {
    const page = await demo.open('/sign-in');
    await page.getByRole('button', { name: 'Show password' }).waitFor();
    await tabTo(page, page.getByLabel('Email or username'));
    await page.keyboard.type(grace.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(grace.password);
    await page.keyboard.press('Enter');
    await page.waitForURL(demo.url('/account'));
    await page.getByText('{"hello":"grace@example.com"}').waitFor();
    await tabTo(page, page.getByRole('button', { name: 'Sign out' }));
    await page.keyboard.press('Enter');
    await page.waitForURL(demo.url('/'));
  });

  test('a password can be shown, and is hidden again before it is sent', async () => {
    const page = await demo.open('/sign-in');
    const field = page.getByLabel('Password', { exact: true });
    await page.getByRole('button', { name: 'Show password' }).click();
    expect(await field.getAttribute('type')).toBe('text');
    await page.getByLabel('Email or username').fill(grace.email);
    await field.fill('not her password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await says(page, 'alert', 'is wrong');
    expect(await field.getAttribute('type')).toBe('password');
    await page.getByRole('button', { name: 'Show password' }).waitFor();
  });

  test('forced colors still tell the current page from the others', async () => {
    const page = await demo.openSignedIn(grace, '/sessions');
    await page.emulateMedia({ forcedColors: 'active' });
    const lineUnder = (name: string) =>
      page
        .getByRole('navigation')
        .getByRole('link', { name, exact: true })
        .evaluate((link) => {
          const { textDecorationLine, borderBottomWidth } = getComputedStyle(link);
          // Whatever their color was, forced colors show all borders.
          return textDecorationLine !== 'none' || borderBottomWidth !== '0px';
        });
    expect([await lineUnder('Sessions'), await lineUnder('Account')]).toEqual([true, false]);
  });

  test('after unlinking, the focus and the message are where the account was', async () => {
    const page = await demo.open('/sign-in');
    await signInAtProvider(page, 'ada@example.com');
    await page.locator('#set-password').getByLabel('Password', { exact: true }).fill('the analytical engine');
    await page.getByRole('button', { name: 'Set password' }).click();
    await says(page, 'status', 'You can now also sign in with your password.');
    await expectFocusIn(page, 'Change your password');

    await page.goto(demo.url('/linked-accounts'));
    await page.getByRole('button', { name: 'Unlink' }).click();
    await agree(page, 'Unlink account');
    await says(page, 'status', 'has been unlinked');
    await expectFocusIn(page, 'Your account at the demo provider has been unlinked.');
  });
});

/** Runs in the page. The rule about visible labels is not among those that axe runs by default. */
async function runAxe(): Promise<string[]> {
  const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
  const { violations } = await axe.run(document, {
    rules: { 'label-content-name-mismatch': { enabled: true } },
  });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

function isFocused(locator: Locator): Promise<boolean> {
  return locator.evaluate((element) => element === document.activeElement);
}

/** Expects that the focus is at an element with a text. It must not be at the body, which contains all texts. */
async function expectFocusIn(page: Page, text: string): Promise<void> {
  await page.locator(':focus').filter({ hasText: text }).waitFor();
  expect(await page.evaluate(() => document.activeElement?.localName)).not.toBe('body');
}

/** Expects a message that can be seen together with the button, without scrolling. */
async function saysNextTo(button: Locator, text: string): Promise<void> {
  const page = button.page();
  await says(page, 'status', text);
  const at = await page.getByRole('status').getByText(text).boundingBox();
  const pressed = await button.boundingBox();
  expect(Math.abs((at?.y ?? 0) - (pressed?.y ?? 0))).toBeLessThan(150);
}

/** Presses Tab until an element has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let press = 0; press < 30; press++) {
    await page.keyboard.press('Tab');
    if (await isFocused(target)) return;
  }
  throw new Error(`${target} cannot be reached with the keyboard`);
}
