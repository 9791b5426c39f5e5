import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { switchOn } from './authenticator-app.js';
import { demoInBrowser, follow, inBrowser, says, signIn } from './browser.js';

const PASSWORD = 'nanoseconds of wire';
const INTRUDERS = 'eleven microseconds of wire';

const account = (name: string) => ({ email: `${name}@example.com`, password: PASSWORD });

function peopleOf(demo: ReturnType<typeof demoInBrowser>) {
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

  /** Changes the password in another browser, as somebody who knows it. */
  async function intrude(name: string): Promise<Page> {
    const intruder = await demo.openSignedIn(account(name), '/account');
    await intruder.getByLabel('Current password', { exact: true }).fill(PASSWORD);
    await intruder.getByLabel('New password', { exact: true }).fill(INTRUDERS);
    await intruder.getByRole('button', { name: 'Change password' }).click();
    await says(intruder, 'status', 'Your password has been changed.');
    return intruder;
  }

  return { followMail, intrude };
}

inBrowser('notices in the demo app, and the way back', () => {
  const demo = demoInBrowser();
  const { followMail, intrude } = peopleOf(demo);

  test('the owner undoes what was done after a sign-in from a new device, and chooses a new password', async () => {
    const page = await demo.openVerified(account('ada'), '/account');
    const intruder = await intrude('ada');
    await followMail(page, 'ada@example.com', 'A sign-in from a new device');
    await page.getByRole('heading', { name: 'This was not me' }).waitFor();
    expect(page.url()).toBe(demo.url('/undo-change'));
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Undo it' }).click();
    await page.getByRole('heading', { name: 'Your account is yours again' }).waitFor();
    await page.getByText('All that was done since the sign-in from a new device has been undone.').waitFor();
    await intruder.reload();
    await intruder.waitForURL(/\/sign-in/);
    await signIn(intruder, 'ada@example.com', INTRUDERS);
    await says(intruder, 'alert', 'The account name or the password is wrong.');

    await followMail(page, 'ada@example.com', 'Choose a new password');
    await page.getByLabel('New password', { exact: true }).fill('a difference engine');
    await page.getByRole('button', { name: 'Save password' }).click();
    await follow(page.getByRole('main').getByRole('link', { name: 'Sign in' }));
    await signIn(page, 'ada@example.com', 'a difference engine');
    await page.getByText('{"hello":"ada@example.com"}').waitFor();
  });

  test('the link asks for the password of before, in a browser that the account knew', async () => {
    const page = await demo.openVerified(account('grace'), '/account');
    await intrude('grace');
    const elsewhere = await demo.open('/mails');
    await followMail(elsewhere, 'grace@example.com', 'Your password was changed');
    await elsewhere.getByRole('heading', { name: 'Open the link in another browser' }).waitFor();
    const undo = page.getByRole('button', { name: 'Undo it' });
    expect(await elsewhere.getByRole('button', { name: 'Undo it' }).isVisible()).toBe(false);
    await followMail(page, 'grace@example.com', 'Your password was changed');
    const password = page.getByLabel('Password', { exact: true });
    await password.fill(INTRUDERS);
    expect(await page.getByLabel('Code from your authenticator app').isVisible()).toBe(false);
    await undo.click();
    await page.getByText('Password is wrong.').waitFor();
    await password.fill(PASSWORD);
    await undo.click();
    await page.getByText('The new password has been undone.').waitFor();

    await followMail(page, 'grace@example.com', 'Your password was changed');
    await undo.click();
    await says(page, 'alert', /^The link/);
  });

  test('a second factor that was switched on is undone with what there was before it', async () => {
    const page = await demo.openVerified(account('kurt'), '/security');
    await switchOn(page, demo.codeOf);
    await followMail(page, 'kurt@example.com', 'Your second factor is on');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Undo it' }).click();
    await page.getByText('The second factor that was switched on has been undone.').waitFor();
  });

  test('a link without its token is reported as incomplete', async () => {
    const page = await demo.open('/undo-change');
    await page.getByRole('heading', { name: 'This link is incomplete' }).waitFor();
    expect(await page.getByRole('button', { name: 'Undo it' }).isVisible()).toBe(false);
  });
});

// With a demo of its own, because one address can sign in and undo only so often.
inBrowser('the way back in the demo app', () => {
  const demo = demoInBrowser();
  const { intrude } = peopleOf(demo);

  test('works without JavaScript too', async () => {
    const owner = await demo.openVerified(account('alan'), '/account');
    await intrude('alan');
    const page = await demo.openWithoutScripts('/mails');
    const link = await demo.linkIn(page, 'alan@example.com', 'Your password was changed');
    await page.goto(link);
    await page.getByRole('button', { name: 'Undo it' }).click();
    await says(page, 'alert', /^Open the link in a browser that your account has known/);
    await page.context().addCookies(await owner.context().cookies());
    await page.goto(link);
    await page.getByRole('button', { name: 'Undo it' }).click();
    await says(page, 'alert', /^Open the link in a browser that your account has known/);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Undo it' }).click();
    await says(page, 'status', /^The change has been undone/);
    expect(await page.getByRole('button', { name: 'Undo it' }).isVisible()).toBe(false);
  });
});
