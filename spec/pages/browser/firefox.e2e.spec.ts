import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { codeOf, forgetSteps } from '../../support/two-factor.js';
import { type FirefoxPage, inFirefox, specFirefox } from './firefox.js';
import { type OwnApp, type Person, startOwnApp } from './own-app.js';

const PASSWORD = 'nanoseconds of wire';
/** The title of the page that a guard protects. */
const notesOf = (email: string) => `Notes of ${email}`;

inFirefox('the pages in Firefox', () => {
  let app: OwnApp;

  beforeAll(async () => {
    app = await startOwnApp();
  });
  afterAll(() => app?.stop());

  describe.each([
    ['with JavaScript', true],
    ['without JavaScript', false],
  ])('%s', (_mode, hasScripts) => {
    const firefox = specFirefox(hasScripts);
    const emailOf = (name: string) => `${name}-${hasScripts}@example.com`;

    async function signIn(page: FirefoxPage, { email, password }: Person): Promise<void> {
      await page.showsPage('Sign in to Notes');
      await page.fill('Email or username', email);
      await page.fill('Password', password);
      await page.press('Sign in');
    }

    /** Opens a page as a new account. */
    async function openSignedIn(name: string, path: string) {
      const person = await app.createPerson(emailOf(name));
      const page = await firefox.open(app.url(path));
      await signIn(page, person);
      return { person, page };
    }

    async function signOut(page: FirefoxPage): Promise<void> {
      await page.goTo(app.url('/auth/account'));
      await page.follow('Sign out');
      await page.showsPage('Sign out');
      await page.press('Sign out');
      await page.says('status', 'You are signed out.');
    }

    test('signs up, confirms the email, signs out and signs in', async () => {
      const email = emailOf('grace');
      const page = await firefox.open(app.url('/notes'));
      await page.showsPage('Sign in to Notes');
      await page.follow('Create an account');
      await page.showsPage('Create an account');
      await page.fill('Email', email);
      await page.fill('Password', PASSWORD);
      await page.press('Create an account');
      await page.showsPage(notesOf(email));
      await page.goTo((await app.inbox.next(email, 'verify-email')).url);
      await page.showsPage('Confirm your email');
      await page.press('Confirm');
      await page.showsPage('Your email is confirmed');
      await signOut(page);
      await signIn(page, { email, password: 'not the password' });
      await page.says('alert', 'There is a problem');
      await signIn(page, { email, password: PASSWORD });
      await page.showsPage(notesOf(email));
    });

    test('signs in with an emailed code', async () => {
      const { email } = await app.createPerson(emailOf('ida'));
      const page = await firefox.open(app.url('/notes'));
      await page.fill('Email or username', email);
      await page.press('Email me a code');
      await page.showsPage('Enter your code');
      await page.fill('Code', (await app.inbox.next(email, 'sign-in-code')).code);
      // With scripts, a complete code is sent by itself.
      if (!hasScripts) await page.press('Sign in');
      await page.showsPage(notesOf(email));
    });

    test('asks for the code of an authenticator app', async () => {
      const { page, person } = await openSignedIn('edsger', '/auth/account/security');
      await page.press('Set up an authenticator app');
      const link = await page.addressOf('Open the authenticator app on this device');
      const secret = link.searchParams.get('secret') ?? '';
      await page.fill('Code from the app', codeOf(secret));
      if (!hasScripts) await page.press('Turn on');
      await page.showsPage('Save your recovery codes');
      await signOut(page);
      await forgetSteps(app);
      await signIn(page, person);
      await page.showsPage('Confirm that it is you');
      await page.fill('Code', codeOf(secret));
      if (!hasScripts) await page.press('Continue');
      await page.showsPage(notesOf(person.email));
    });

    test('signs in with a provider that leads back over another host', async () => {
      const email = emailOf('ada');
      const page = await firefox.open(app.url('/notes'));
      await page.follow('Continue with Example');
      await page.showsPage('Provider');
      await page.fill('Email at the provider', email);
      await page.press('Agree');
      await page.showsPage(notesOf(email));
    });

    test('replaces a forgotten password', async () => {
      const { email } = await app.createPerson(emailOf('linus'));
      const page = await firefox.open(app.url('/auth/sign-in'));
      await page.fill('Email or username', email);
      await page.follow('Forgot your password?');
      await page.showsPage('Reset your password');
      if (!hasScripts) await page.fill('Email', email);
      await page.press('Email me a link');
      await page.showsPage('Check your email');
      await page.goTo((await app.inbox.next(email, 'reset-password')).url);
      await page.showsPage('Choose a new password');
      await page.fill('New password', 'a difference engine');
      await page.press('Save the password');
      await page.says('status', 'Your password was changed. Sign in with it.');
      await signIn(page, { email, password: 'a difference engine' });
      await page.showsPage(notesOf(email));
    });

    test('after a sign-out, the way back shows nothing of the account', async () => {
      const { page, person } = await openSignedIn('kurt', '/notes');
      await page.showsPage(notesOf(person.email));
      await signOut(page);
      for (const query of ['', '?return_to=%2Fauth%2Faccount']) {
        await page.back();
        await page.isAt(`/auth/sign-in${query}`);
        await page.showsPage('Sign in to Notes');
        expect(await page.content()).not.toContain(person.email);
      }
    });

    test('a refused form keeps what was typed, and the field with the error has the focus', async () => {
      const page = await firefox.open(app.url('/auth/sign-up'));
      await page.fill('Email', 'someone@example.com');
      await page.fill('Username (optional)', 'someone');
      await page.fill('Password', 'password1');
      await page.press('Create an account');
      await page.says('alert', 'This password is easy to guess. Choose another.');
      expect(await page.hasFocus('[name="password"]')).toBe(true);
      expect(await page.valueOf('Email')).toBe('someone@example.com');
      expect(await page.valueOf('Username (optional)')).toBe('someone');
    });
  });
});
