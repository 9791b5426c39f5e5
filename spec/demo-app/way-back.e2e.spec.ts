import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { addAuthenticator } from './authenticator.js';
import { switchOn } from './authenticator-app.js';
import { agree, demoInBrowser, follow, inBrowser, says, signIn } from './browser.js';

const PASSWORD = 'nanoseconds of wire';
const INTRUDERS = 'eleven microseconds of wire';
const ADA = { email: 'ada@example.com', password: PASSWORD };
const EVE = 'eve@example.com';

inBrowser('an account of the demo app that is taken over', () => {
  const demo = demoInBrowser();

  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

  /** Opens the newest email to somebody with this subject, and follows its link. */
  async function followMail(page: Page, to: string, subject: string): Promise<void> {
    await demo.linkIn(page, to, subject);
    await page.goto(demo.url('/mails'));
    const mail = page
      .getByRole('listitem')
      .filter({ hasText: `To ${to}` })
      .filter({ hasText: subject });
    await follow(mail.first().getByRole('link'));
  }

  async function addPasskey(page: Page, name: string): Promise<void> {
    await page.getByLabel('Name', { exact: true }).fill(name);
    await press(page, 'Add a passkey');
    await says(page, 'status', `The passkey “${name}” has been added.`);
  }

  /** What an intruder does who knows the password: everything. */
  async function takeOver(): Promise<Page> {
    const page = await demo.openSignedIn(ADA, '/account');
    await page.getByLabel('New email').fill(EVE);
    await press(page, 'Send the link');
    await followMail(page, EVE, 'Confirm your new email');
    await press(page, 'Use this address');
    await page.getByText('Your email has been changed').first().waitFor();
    await page.goto(demo.url('/account'));
    await page.getByLabel('Current password', { exact: true }).fill(PASSWORD);
    await page.getByLabel('New password', { exact: true }).fill(INTRUDERS);
    await press(page, 'Change password');
    await says(page, 'status', 'Your password has been changed.');
    await page.goto(demo.url('/security'));
    await addAuthenticator(page);
    await addPasskey(page, 'Mine');
    await press(page, 'Remove Ada’s phone');
    await agree(page, 'Remove passkey');
    await says(page, 'status', 'The passkey “Ada’s phone” has been removed.');
    await switchOn(page, demo.codeOf);
    return page;
  }

  test('is its owner’s again by the link in the first email, and nothing leads forward again', async () => {
    const owner = await demo.openVerified(ADA, '/security');
    const phone = await addAuthenticator(owner);
    await addPasskey(owner, 'Ada’s phone');
    const intruder = await takeOver();
    await owner.goto(demo.url('/account'));
    await owner.waitForURL(/\/sign-in/);

    await followMail(owner, ADA.email, 'A sign-in from a new device');
    await owner.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await press(owner, 'Undo it');
    await owner.getByRole('heading', { name: 'Your account is yours again' }).waitFor();

    // The intruder is out, with whatever there is.
    await intruder.goto(demo.url('/security'));
    await intruder.waitForURL(/\/sign-in/);
    for (const [email, password] of [
      [EVE, INTRUDERS],
      [ADA.email, INTRUDERS],
      [ADA.email, PASSWORD],
    ] as const) {
      await intruder.goto(demo.url('/sign-in'));
      await signIn(intruder, email, password);
      await says(intruder, 'alert', 'The account name or the password is wrong.');
    }
    for (const subject of ['Your password was changed', 'Your second factor is on']) {
      await followMail(intruder, EVE, subject);
      await press(intruder, 'Undo it');
      await says(intruder, 'alert', /^The link/);
    }

    // The owner chooses a password, and the passkey is there again, but is not to sign in by itself.
    await phone.confirms(false);
    await followMail(owner, ADA.email, 'Choose a new password');
    await owner.getByLabel('New password', { exact: true }).fill('a difference engine');
    await press(owner, 'Save password');
    await follow(owner.getByRole('main').getByRole('link', { name: 'Sign in' }));
    await signIn(owner, ADA.email, 'a difference engine');
    await owner.getByText('{"hello":"ada@example.com"}').waitFor();
    await owner.goto(demo.url('/security'));
    await press(owner, 'Rename Ada’s phone');
    expect(await owner.getByText('Mine', { exact: true }).count()).toBe(0);
  });
});
