import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { addAuthenticator, useButtonsOnly } from './authenticator.js';
import {
  field,
  fill,
  follow,
  inBrowser,
  openCard,
  press,
  says,
  showsPage,
  specBrowser,
  unfold,
} from './browser.js';
import { APP, type PackedApp, startPackedApp } from './packed-app.js';

const PASSWORD = 'nanoseconds of wire';
const OTHER = 'a difference engine';
/** What the page that a guard protects says. */
const notesOf = (email: string) => `Notes of ${email}`;

inBrowser('an app of thirty lines', () => {
  const browser = specBrowser();
  let app: PackedApp;

  beforeAll(async () => {
    app = await startPackedApp();
  }, 180_000);
  // All tests share one address, whose limits a fast machine would reach.
  beforeEach(() => app.change('DELETE FROM rate_limits'));
  afterAll(() => app?.stop());

  test('has thirty lines at most, and reports nothing', () => {
    expect(APP.trim().split('\n').length).toBeLessThanOrEqual(30);
    expect(app.lines).toEqual([]);
  });

  describe.each([
    ['with JavaScript', 'on'],
    ['without JavaScript', 'off'],
  ])('%s', (_mode, scripts) => {
    const hasScripts = scripts === 'on';
    const emailOf = (name: string) => `${name}-${scripts}@example.com`;

    /** Opens a page in a browser that no account knows. */
    const open = (path: string) => browser.open(app.url(path), { javaScriptEnabled: hasScripts });
    const goTo = (page: Page, path: string) => page.goto(app.url(path));

    /** Signs up by the pages, and stays signed in. */
    async function signUp(email: string): Promise<Page> {
      const page = await open('/notes');
      await showsPage(page, 'Sign in to Notes');
      await follow(page, 'Create an account');
      await showsPage(page, 'Create an account');
      await fill(page, 'Email', email);
      await fill(page, 'Password', PASSWORD);
      await press(page, 'Create an account');
      await showsPage(page, notesOf(email));
      return page;
    }

    /** Opens the link in the email that a sign-up has sent. */
    async function verify(page: Page, email: string): Promise<void> {
      await page.goto((await app.inbox.next(email, 'verify-email')).url);
      await showsPage(page, 'Confirm your email');
      await press(page, 'Confirm');
      await showsPage(page, 'Your email is confirmed');
      await follow(page, 'Continue');
      await showsPage(page, notesOf(email));
    }

    /** Signs up with a confirmed email without the pages, for tests that are about others, and opens the guarded page. */
    async function signUpVerified(email: string): Promise<Page> {
      const page = await open('/notes');
      const post = async (path: string, data: object) => {
        const response = await page.request.post(app.url(path), { data });
        expect([path, response.ok()]).toEqual([path, true]);
      };
      await post('/auth/signup/credential', { email, password: PASSWORD });
      const { searchParams } = new URL((await app.inbox.next(email, 'verify-email')).url);
      await post('/auth/verify-email', { token: searchParams.get('token') });
      await goTo(page, '/notes');
      await showsPage(page, notesOf(email));
      return page;
    }

    async function signOut(page: Page): Promise<void> {
      await goTo(page, '/auth/account');
      await follow(page, 'Sign out');
      await showsPage(page, 'Sign out');
      await press(page, 'Sign out');
      await says(page, 'status', 'You are signed out.');
    }

    /** Fills in the form with the password. */
    async function signIn(page: Page, email: string, password = PASSWORD): Promise<void> {
      await showsPage(page, 'Sign in to Notes');
      await fill(page, 'Email', email);
      await fill(page, 'Password', password);
      await press(page, 'Sign in');
    }

    /** Enters a code. With scripts, a complete one is sent by itself. */
    async function enterCode(page: Page, code: string, button: string): Promise<void> {
      await fill(page, 'Code', code);
      if (!hasScripts) await press(page, button);
    }

    /** Enters the code that is emailed to a browser that the account does not know. */
    async function enterEmailedCode(page: Page, email: string): Promise<void> {
      await showsPage(page, 'Confirm that it is you');
      await enterCode(page, (await app.inbox.next(email, 'browser-code')).code, 'Continue');
    }

    /** Fills in the page that the link for a new password opens. */
    async function chooseNewPassword(page: Page, password: string): Promise<void> {
      await showsPage(page, 'Choose a new password');
      await fill(page, 'New password', password);
      await press(page, 'Save the password');
      await says(page, 'status', 'Your password was changed. Sign in with it.');
    }

    /** Returns the code that an authenticator app shows. Each counts once: the server forgets the earlier ones. */
    async function codeOf(secret: string): Promise<string> {
      await app.change('UPDATE totp_secrets SET last_step = 0');
      return new TOTP({ secret: Secret.fromBase32(secret) }).generate();
    }

    /** Turns the second factor on. Returns the secret of the authenticator app, and the recovery codes. */
    async function turnOnSecondFactor(page: Page) {
      await goTo(page, '/auth/account/security');
      await press(page, 'Set up an authenticator app');
      await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor();
      const link = page.getByRole('link', { name: 'Open the authenticator app on this device' });
      const secret = new URL((await link.getAttribute('href')) ?? '').searchParams.get('secret') ?? '';
      await fill(page, 'Code from the app', await codeOf(secret));
      if (!hasScripts) await press(page, 'Turn on');
      await says(page, 'status', 'Two-factor authentication is on.');
      await showsPage(page, 'Save your recovery codes');
      const codes = (await page.locator('#recovery-codes').textContent()) ?? '';
      return { secret, codes: codes.split('\n') };
    }

    test('signs up, confirms the email, signs out and signs in', async () => {
      const email = emailOf('grace');
      const page = await signUp(email);
      await verify(page, email);
      await goTo(page, '/auth/account');
      await page.getByText('confirmed', { exact: true }).waitFor();
      await signOut(page);
      await goTo(page, '/notes');
      await signIn(page, email, 'not the password');
      await says(page, 'alert', 'There is a problem');
      await signIn(page, email);
      await showsPage(page, notesOf(email));
    });

    test('signs in with an emailed code, and with the link in the email', async () => {
      const email = emailOf('ida');
      const page = await signUpVerified(email);
      for (const way of ['code', 'url'] as const) {
        await signOut(page);
        await goTo(page, '/notes');
        await fill(page, 'Email', email);
        // Later, it is marked, because it is how the user has signed in last.
        await press(page, /^Email me a code( last used)?$/);
        await showsPage(page, 'Enter your code');
        const mail = await app.inbox.next(email, 'sign-in-code');
        if (way === 'code') await enterCode(page, mail.code, 'Sign in');
        else {
          await page.goto(mail.url);
          await press(page, 'Sign in');
        }
        await showsPage(page, notesOf(email));
      }
    });

    test('signs up with an emailed code', async () => {
      const email = emailOf('hedy');
      const page = await open('/auth/sign-up');
      await fill(page, 'Email', email);
      await press(page, 'Email me a code instead');
      await showsPage(page, 'Enter your code');
      await enterCode(page, (await app.inbox.next(email, 'sign-in-code')).code, 'Sign in');
      await showsPage(page, notesOf(email));
    });

    test('asks for an emailed code in a browser that the account does not know', async () => {
      const email = emailOf('alan');
      await signUpVerified(email);
      const page = await open('/notes');
      await signIn(page, email);
      await showsPage(page, 'Confirm that it is you');
      await enterCode(page, 'AAAA-AAAA', 'Continue');
      await says(page, 'alert', 'This code is wrong');
      await enterEmailedCode(page, email);
      await showsPage(page, notesOf(email));
    });

    test('replaces a forgotten password', async () => {
      const email = emailOf('linus');
      const page = await signUpVerified(email);
      await signOut(page);
      await follow(page, 'Forgot your password?');
      await showsPage(page, 'Reset your password');
      await fill(page, 'Email', email);
      await press(page, 'Email me a link');
      await showsPage(page, 'Check your email');
      await page.goto((await app.inbox.next(email, 'reset-password')).url);
      await showsPage(page, 'Choose a new password');
      await fill(page, 'New password', 'password1');
      await press(page, 'Save the password');
      await says(page, 'alert', 'This password is easy to guess.');
      await chooseNewPassword(page, OTHER);
      await signIn(page, email, OTHER);
      await showsPage(page, notesOf(email));
    });

    test('asks for a second factor, and accepts a recovery code', async () => {
      const email = emailOf('edsger');
      const page = await signUpVerified(email);
      const { secret, codes } = await turnOnSecondFactor(page);
      expect(codes).toHaveLength(10);
      for (const name of ['Copy', 'Download', 'Print'])
        expect(await page.getByRole('button', { name, exact: true }).isVisible()).toBe(hasScripts);
      await follow(page, 'I have saved them');
      await showsPage(page, 'Security');
      await page.goBack();
      await page.getByText('You have 10 recovery codes left.').waitFor();
      expect(await page.getByText(codes[0] ?? '').count()).toBe(0);
      await signOut(page);
      await goTo(page, '/notes');
      await signIn(page, email);
      await showsPage(page, 'Confirm that it is you');
      await page.getByLabel("Don't ask again in this browser for 30 days").check();
      await fill(page, 'Code', await codeOf(secret));
      await press(page, 'Continue');
      await showsPage(page, notesOf(email));
      await signOut(page);
      await signIn(page, email);
      await showsPage(page, notesOf(email));
      await goTo(page, '/auth/account/security#second-factor');
      await page.getByText('In 1 browser, you sign in with the password alone.').waitFor();
      await press(page, 'Ask in every browser again');
      await says(page, 'status', 'From now on, every sign-in asks for the second step again.');
      await signOut(page);
      await signIn(page, email);
      await showsPage(page, 'Confirm that it is you');
      await unfold(page, 'Use a recovery code');
      if (hasScripts) await field(page, 'Recovery code').and(page.locator(':focus')).waitFor();
      await fill(page, 'Recovery code', codes[0] ?? '');
      await press(page, 'Use the recovery code');
      // The next page says how to set up the app of another phone.
      await showsPage(page, 'Security');
      await page.getByText('You have 9 recovery codes left.').waitFor();
    });

    if (hasScripts)
      test('adds a passkey, and signs in with it', async () => {
        const email = emailOf('katherine');
        const page = await signUpVerified(email);
        const device = await addAuthenticator(page);
        await goTo(page, '/auth/account/security');
        await press(page, 'Add a passkey');
        await says(page, 'status', 'The passkey was added.');
        await openCard(page, 'Passkeys');
        await page.getByText('Not used yet.').waitFor();
        expect(await device.count()).toBe(1);
        await useButtonsOnly(page);
        await signOut(page);
        await goTo(page, '/notes');
        await press(page, 'Sign in with a passkey');
        await showsPage(page, notesOf(email));
        await goTo(page, '/auth/account/security#passkeys');
        await page.getByText('Last used on').waitFor();
      });
    else
      test('says that passkeys need JavaScript', async () => {
        const page = await signUpVerified(emailOf('katherine'));
        await goTo(page, '/auth/account/security');
        await page.getByText('Passkeys need JavaScript').waitFor();
        expect(await page.getByRole('button', { name: 'Add a passkey' }).isVisible()).toBe(false);
      });

    test('signs in with a provider that leads back over another host', async () => {
      const email = emailOf('ada');
      const page = await open('/notes');
      await follow(page, 'Continue with Example');
      await showsPage(page, 'Provider');
      await fill(page, 'Email at the provider', email);
      await press(page, 'Agree');
      await showsPage(page, notesOf(email));
      await goTo(page, '/auth/account/security#linked-accounts');
      await page.getByText(/^Linked on/).waitFor();
      await signOut(page);
      await page.getByRole('link', { name: 'Continue with Example last used' }).waitFor();
    });

    test('links an account at a provider, and unlinks it', async () => {
      const page = await signUpVerified(emailOf('radia'));
      await goTo(page, '/auth/account/security');
      await follow(page, 'Link Example');
      await showsPage(page, 'Provider');
      await fill(page, 'Email at the provider', emailOf('radia-at-the-provider'));
      await press(page, 'Agree');
      await says(page, 'status', 'The account was linked.');
      await openCard(page, 'Linked accounts');
      await page.getByText(/^Linked on/).waitFor();
      expect(await page.getByRole('link', { name: 'Link Example' }).count()).toBe(0);
      await unfold(page, 'Unlink');
      await press(page, /^Yes, unlink/);
      await says(page, 'status', 'The account was unlinked.');
      await page.getByText('No account is linked.').waitFor();
      await page.getByRole('link', { name: 'Link Example' }).waitFor();
    });

    test('changes the email', async () => {
      const email = emailOf('barbara');
      const newEmail = emailOf('barbara-new');
      const page = await signUpVerified(email);
      await goTo(page, '/auth/account');
      await fill(page, 'New email', newEmail);
      await press(page, 'Change the email');
      await says(page, 'status', 'An email with a link is on its way to the new address.');
      await page.goto((await app.inbox.next(newEmail, 'verify-new-email')).url);
      await showsPage(page, 'Confirm your new email');
      await press(page, 'Use this email');
      await showsPage(page, 'Your email was changed');
      await follow(page, 'Continue');
      await showsPage(page, 'Profile');
      await goTo(page, '/notes');
      await showsPage(page, notesOf(newEmail));
    });

    test('undoes what an intruder has changed', async () => {
      const email = emailOf('kurt');
      const page = await signUpVerified(email);
      const intruder = await open('/notes');
      await signIn(intruder, email);
      await enterEmailedCode(intruder, email);
      await showsPage(intruder, notesOf(email));
      await goTo(intruder, '/auth/account/security#password');
      await fill(intruder, 'Current password', PASSWORD);
      await fill(intruder, 'New password', OTHER);
      await press(intruder, 'Change the password');
      await says(intruder, 'status', 'Your password was changed.');

      await goTo(page, '/notes');
      await showsPage(page, 'Sign in to Notes');
      const { url } = await app.inbox.next(email, 'password-changed');
      await goTo(intruder, new URL(url).pathname + new URL(url).search);
      await intruder.getByText('Open this link in a browser that your account knows').waitFor();
      await page.goto(url);
      await showsPage(page, 'Undo a change');
      await fill(page, 'Your password from before the change', PASSWORD);
      await press(page, 'Undo the change');
      await showsPage(page, 'The change was undone');
      await page.goto((await app.inbox.next(email, 'reset-password')).url);
      await chooseNewPassword(page, 'a jacquard loom');
      await signIn(page, email, 'a jacquard loom');
      await showsPage(page, notesOf(email));
      await goTo(intruder, '/notes');
      await showsPage(intruder, 'Sign in to Notes');
    });

    test('shows an API key once', async () => {
      const page = await signUpVerified(emailOf('claude'));
      await goTo(page, '/auth/account/api-keys');
      await fill(page, 'Name', 'nightly report');
      await press(page, 'Create the key');
      await page.getByRole('heading', { name: 'Your new key: nightly report' }).waitFor();
      const key = (await page.locator('#new-key').textContent()) ?? '';
      expect(key.length).toBeGreaterThan(30);
      await page.reload();
      await page.getByText('nightly report', { exact: true }).waitFor();
      expect(await page.content()).not.toContain(key);
      await goTo(page, '/notes');
      await page.goBack();
      await page.getByText('nightly report', { exact: true }).waitFor();
      expect(await page.content()).not.toContain(key);
      await unfold(page, 'Revoke');
      await press(page, /^Yes, revoke the key nightly report/);
      await says(page, 'status', 'The key was revoked.');
    });

    test('ends the other sessions', async () => {
      const email = emailOf('tony');
      const page = await signUpVerified(email);
      const other = await open('/notes');
      await signIn(other, email);
      await enterEmailedCode(other, email);
      await showsPage(other, notesOf(email));
      await goTo(page, '/auth/account/sessions');
      await press(page, 'Sign out on all other devices');
      await says(page, 'status', 'All other sessions have ended.');
      await other.reload();
      await showsPage(other, 'Sign in to Notes');
      await goTo(page, '/notes');
      await showsPage(page, notesOf(email));
    });

    test('deletes the account', async () => {
      const email = emailOf('niklaus');
      const page = await signUpVerified(email);
      await goTo(page, '/auth/account');
      await unfold(page, 'Delete');
      await fill(page, `To confirm, type ${email}`, 'another@example.com');
      await press(page, 'Yes, delete my account');
      await says(page, 'alert', 'Nothing was deleted');
      await fill(page, `To confirm, type ${email}`, email);
      await press(page, 'Yes, delete my account');
      await says(page, 'status', 'Your account was deleted.');
      await signIn(page, email);
      await says(page, 'alert', 'There is a problem');
    });

    test('lets an administrator suspend a user', async () => {
      const email = emailOf('mallory');
      const page = await signUpVerified(email);
      const admin = await signUpVerified(emailOf('admin'));
      await goTo(admin, '/auth/administration/users');
      await fill(admin, 'Search', email);
      await press(admin, 'Search');
      await follow(admin, email);
      await showsPage(admin, email);
      await unfold(admin, 'Suspend');
      await fill(admin, 'Reason (optional)', 'spam');
      await press(admin, 'Yes, suspend the user');
      await says(admin, 'status', 'The user is suspended.');
      await goTo(page, '/notes');
      await signIn(page, email);
      await says(page, 'alert', 'suspended');
    });
  });
});
