import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { requireSession } from '../../../lib/index.js';
import { codeOf, forgetSteps, wrongCode } from '../../support/two-factor.js';
import { addAuthenticator, useButtonsOnly } from './authenticator.js';
import { field, inBrowser, says, specBrowser } from './browser.js';
import { type OwnApp, type Person, startOwnApp } from './own-app.js';

/**
 * What people do with the pages, on a phone of 390 pixels. Each task has one mistake in it, and succeeds at the first
 * attempt. It takes no more pages and presses than the table says; the mistake costs one more press.
 */
const TASKS: readonly (readonly [
  task: string,
  pages: number,
  presses: number,
  run: (phone: Phone) => Promise<void>,
])[] = [
  [
    'sign up, and confirm the email',
    3,
    3,
    async (phone) => {
      await phone.open('/auth/sign-up');
      await phone.sees('Create an account');
      await phone.fill('Email', 'sign-up@example.com');
      await phone.fill('Password', 'password1');
      await phone.press('Create an account');
      await phone.isTold('This password is easy to guess. Choose another.');
      await phone.fill('Password', PASSWORD);
      await phone.press('Create an account');
      await phone.arrives('sign-up@example.com');
      await phone.openMail('sign-up@example.com', 'verify-email');
      await phone.sees('Confirm your email');
      await phone.press('Confirm');
      await phone.sees('Your email is confirmed');
      await phone.follow('Continue');
      await phone.arrives('sign-up@example.com');
    },
  ],
  [
    'sign out, and sign in',
    2,
    3,
    async (phone) => {
      const person = await phone.signedIn('sign-in@example.com', '/auth/account');
      await phone.follow('Sign out');
      await phone.sees('Sign out');
      await phone.press('Sign out');
      await phone.sees('Sign in to Notes');
      await phone.fill('Email or username', person.email);
      await phone.fill('Password', 'not the password');
      await phone.press('Sign in');
      await phone.isTold('The email, username or password is wrong.');
      await phone.fill('Password', person.password);
      await phone.press('Sign in');
      await phone.arrives(person.email);
    },
  ],
  [
    'sign in with an emailed code',
    2,
    3,
    async (phone) => {
      const person = await phone.person('code@example.com');
      await phone.open('/auth/sign-in');
      await phone.sees('Sign in to Notes');
      await phone.fill('Email or username', person.email);
      await phone.press('Email me a code');
      await phone.sees('Enter your code');
      await phone.reads(person.email);
      await phone.fill('Code', '00000000');
      await phone.isTold('This code is wrong. Check it in the newest email, and try again.');
      const { code = '' } = await phone.app.inbox.next(person.email, 'sign-in-code');
      // A complete code is sent by itself.
      await phone.fill('Code', code);
      await phone.arrives(person.email);
    },
  ],
  [
    'open the link of an emailed code in another browser',
    2,
    3,
    async (phone) => {
      const person = await phone.person('elsewhere@example.com');
      await phone.open('/auth/sign-in');
      await phone.fill('Email or username', person.email);
      await phone.press('Email me a code');
      const { url = '' } = await phone.app.inbox.next(person.email, 'sign-in-code');
      const other = await phone.another();
      await other.openUrl(url);
      await other.press('Sign in here instead');
      await other.sees('Enter your code');
      const { code = '' } = await phone.app.inbox.next(person.email, 'sign-in-code');
      await other.fill('Code', code);
      await other.arrives(person.email);
    },
  ],
  [
    'replace a forgotten password',
    5,
    5,
    async (phone) => {
      const person = await phone.person('forgotten@example.com');
      await phone.open('/auth/sign-in');
      await phone.sees('Sign in to Notes');
      await phone.fill('Email or username', person.email);
      await phone.follow('Forgot your password?');
      await phone.sees('Reset your password');
      // The email has come along.
      await phone.press('Email me a link');
      await phone.sees('Check your email');
      await phone.openMail(person.email, 'reset-password');
      await phone.sees('Choose a new password');
      await phone.fill('New password', 'password1');
      await phone.press('Save the password');
      await phone.isTold('This password is easy to guess. Choose another.');
      await phone.fill('New password', 'a difference engine');
      await phone.press('Save the password');
      await phone.sees('Sign in to Notes');
      await phone.fill('Password', 'a difference engine');
      await phone.press('Sign in');
      await phone.arrives(person.email);
    },
  ],
  [
    'turn on two-factor authentication',
    2,
    3,
    async (phone) => {
      await phone.signedIn('factor@example.com', '/auth/account/security');
      await phone.sees('Security');
      await phone.press('Set up an authenticator app');
      const secret = await phone.secret();
      await phone.fill('Code from the app', wrongCode(secret));
      await phone.isTold(/^This is not the code that your app shows now/);
      expect(await phone.isFocused('Code from the app')).toBe(true);
      await phone.fill('Code from the app', await phone.code(secret));
      await phone.reads('Save your recovery codes');
      await phone.follow('I have saved them');
    },
  ],
  [
    'sign in with an authenticator app',
    2,
    2,
    async (phone) => {
      const { person, secret } = await phone.protectedPerson('totp@example.com');
      await phone.open('/auth/sign-in');
      await phone.sees('Sign in to Notes');
      await phone.enter(person);
      await phone.sees('Confirm that it is you');
      await phone.fill('Code', wrongCode(secret));
      await phone.isTold('This code is wrong, or was already used. Check it, or wait for the next code.');
      await phone.fill('Code', await phone.code(secret));
      await phone.arrives(person.email);
    },
  ],
  [
    'sign in with a recovery code',
    3,
    3,
    async (phone) => {
      const { person, codes } = await phone.protectedPerson('recovery@example.com');
      await phone.open('/auth/sign-in');
      await phone.sees('Sign in to Notes');
      await phone.enter(person);
      await phone.sees('Confirm that it is you');
      await phone.unfold('Use a recovery code');
      // A person types an O for a zero, and spaces for hyphens.
      await phone.fill('Recovery code', (codes[0] ?? '').replaceAll('-', ' ').replaceAll('0', 'O'));
      await phone.press('Use the recovery code');
      // The next page says how to set up the app of another phone.
      await phone.sees('Security');
    },
  ],
  [
    'create a passkey, and sign in with it',
    2,
    2,
    async (phone) => {
      const person = await phone.person('passkey@example.com');
      const device = await phone.passkeys();
      await phone.open('/auth/sign-in');
      await phone.sees('Sign in to Notes');
      await phone.enter(person);
      await phone.sees('Sign in without a password next time');
      await device.confirms(true);
      await phone.press('Create a passkey');
      await phone.arrives(person.email);
      expect(await device.count()).toBe(1);
    },
  ],
  [
    'continue with a provider after declining there',
    3,
    2,
    async (phone) => {
      await phone.open('/auth/sign-in');
      await phone.sees('Sign in to Notes');
      await phone.follow('Continue with Example');
      await phone.declines();
      await says(phone.page, 'status', 'You canceled at Example. Try again, or sign in another way.');
      await phone.follow('Continue with Example');
      await phone.agrees('provider@example.com');
      await phone.arrives('provider@example.com');
    },
  ],
  [
    'use a provider with the email of an account',
    2,
    2,
    async (phone) => {
      const { email } = await phone.person('taken@example.com');
      await phone.open('/auth/sign-up');
      await phone.sees('Create an account');
      await phone.fill('Email', email);
      await phone.fill('Password', PASSWORD);
      await phone.press('Create an account');
      await phone.isTold('You already have an account with this email.');
      await phone.follow('Sign in', 'first');
      await phone.sees('Sign in to Notes');
    },
  ],
  [
    'change the email',
    3,
    3,
    async (phone) => {
      await phone.signedIn('change@example.com', '/auth/account');
      await phone.sees('Profile');
      await phone.fill('New email', 'changed@example');
      await phone.press('Change the email');
      await phone.isTold(/^Enter an email such as/);
      await phone.fill('New email', 'changed@example.com');
      await phone.press('Change the email');
      await says(phone.page, 'status', 'An email with a link is on its way to the new address.');
      await phone.openMail('changed@example.com', 'verify-new-email');
      await phone.sees('Confirm your new email');
      await phone.press('Use this email');
      await phone.sees('Your email was changed');
    },
  ],
  [
    'create an API key',
    1,
    1,
    async (phone) => {
      await phone.signedIn('key@example.com', '/auth/account/api-keys');
      await phone.sees('API keys');
      await phone.fill('Name', ' ');
      await phone.press('Create the key');
      await phone.isTold(/^Enter a name/);
      await phone.fill('Name', 'nightly report');
      await phone.press('Create the key');
      await phone.reads('Your new key: nightly report');
    },
  ],
  [
    'invite a colleague, who joins with a new account',
    2,
    2,
    async (phone) => {
      const colleague = 'colleague@example.com';
      await phone.signedIn('inviter@example.com', '/auth/account/organizations');
      await phone.sees('Organizations');
      await phone.fill('Name', 'Engines & Co.');
      await phone.press('Create');
      await phone.sees('Engines & Co.');
      await phone.fill('Email', 'colleague@example');
      await phone.press('Invite');
      await phone.isTold(/^Enter an email such as/);
      await phone.fill('Email', colleague);
      await phone.press('Invite');
      await says(phone.page, 'status', 'The invitation is on its way by email.');
      const other = await phone.another();
      await other.openMail(colleague, 'organization-invitation');
      await other.sees('Join Engines & Co.');
      await other.reads('inviter@example.com');
      await other.fill('Password', 'password1');
      await other.press('Create the account and join Engines & Co.');
      await other.isTold('This password is easy to guess. Choose another.');
      await other.fill('Password', PASSWORD);
      await other.press('Create the account and join Engines & Co.');
      await other.sees('Engines & Co.');
      await says(other.page, 'status', 'You are now a member of Engines & Co.');
      await other.reads('inviter@example.com');
    },
  ],
  [
    'join an organization with the account of the email, in a browser of someone else',
    3,
    4,
    async (phone) => {
      const owner = await phone.app.createPerson('founder@example.com');
      const names = { name: 'Looms', slug: 'looms', ownerId: owner.id };
      const { id } = await phone.app.auth.organizations.create(names);
      const invited = await phone.person('joining@example.com');
      await phone.app.auth.organizations.invite(id, { email: invited.email, role: 'admin' });
      await phone.signedIn('family@example.com', '/notes');
      await phone.openMail(invited.email, 'organization-invitation');
      await phone.sees('Join Looms');
      await phone.press('Sign out and continue');
      await says(phone.page, 'status', 'You are signed out.');
      await phone.follow('Sign in');
      await phone.sees('Sign in to Notes');
      // The email has come along.
      await phone.fill('Password', invited.password);
      await phone.press('Sign in');
      await phone.sees('Join Looms');
      await phone.press('Join Looms');
      await says(phone.page, 'status', 'You are now a member of Looms.');
      expect((await phone.app.auth.organizations.ofUser(invited.id)).organizations).toMatchObject([
        { slug: 'looms', role: 'admin' },
      ]);
    },
  ],
  [
    'end the other sessions',
    1,
    1,
    async (phone) => {
      const person = await phone.signedIn('others@example.com', '/auth/account');
      const other = await phone.another();
      await phone.app.signIn(other.page, person, '/auth/account');
      await phone.open('/auth/account/sessions');
      await phone.sees('Sessions');
      await phone.press('Sign out on all other devices');
      await says(phone.page, 'status', 'All other sessions have ended.');
    },
  ],
  [
    'download the data after a while, which asks who it is at the press',
    3,
    2,
    async (phone) => {
      const person = await phone.signedIn('data@example.com', '/auth/account');
      await phone.app.letSignInsAge();
      await phone.open('/auth/account');
      await phone.sees('Profile');
      await phone.press('Download my data');
      await phone.sees('Confirm that it is you');
      await phone.fill('Password', 'not the password');
      await phone.press('Confirm');
      await phone.isTold('This is not your current password.');
      await phone.fill('Password', person.password);
      const download = phone.page.waitForEvent('download');
      await phone.press('Confirm');
      await (await download).cancel();
    },
  ],
  [
    'delete the account',
    2,
    2,
    async (phone) => {
      const { email } = await phone.signedIn('delete@example.com', '/auth/account');
      await phone.sees('Profile');
      await phone.unfold('Delete');
      const typed = phone.page.locator('form[action$="/account/delete"] input[name="confirmation"]');
      await typed.fill('delet@example.com');
      await phone.press('Yes, delete my account');
      await phone.isTold('This does not match. Nothing was deleted.');
      await typed.fill(email);
      await phone.press('Yes, delete my account');
      await says(phone.page, 'status', 'Your account was deleted.');
      await phone.sees('Sign in to Notes');
    },
  ],
  [
    'suspend and delete a user, as an administrator',
    3,
    5,
    async (phone) => {
      const { email } = await phone.person('mallory@example.com');
      await phone.signedIn('admin@example.com', '/auth/administration/users');
      await phone.sees('Users');
      await phone.follow(email);
      await phone.sees(email);
      await phone.unfold('Suspend');
      await phone.press('Yes, suspend the user');
      await says(phone.page, 'status', 'The user is suspended.');
      await phone.unfold('Delete');
      await phone.fill(/^To confirm, type /, 'malory@example.com');
      await phone.press('Yes, delete the user');
      await phone.isTold('This does not match. Nothing was deleted.');
      await phone.fill(/^To confirm, type /, email);
      await phone.press('Yes, delete the user');
      await says(phone.page, 'status', 'The user was deleted.');
      await phone.sees('Users');
    },
  ],
  [
    'accept an invitation',
    3,
    3,
    async (phone) => {
      const email = 'invited@example.com';
      const root = await phone.another();
      await root.signedIn('admin@example.com', '/auth/account');
      const { origin } = phone.app;
      const invited = await root.page.request.post(`${origin}/auth/admin/users`, {
        data: { email },
        headers: { origin },
      });
      expect(invited.status()).toBe(201);
      await phone.openMail(email, 'invitation');
      await phone.sees('Accept your invitation');
      await phone.fill('Password', 'password1');
      await phone.press('Create the password');
      await phone.isTold('This password is easy to guess. Choose another.');
      await phone.fill('Password', PASSWORD);
      await phone.press('Create the password');
      await says(phone.page, 'status', 'Your account is ready. Sign in.');
      await phone.sees('Sign in to Notes');
      await phone.fill('Password', PASSWORD);
      await phone.press('Sign in');
      await phone.arrives(email);
    },
  ],
  [
    'open a page that requires a second factor, without one',
    3,
    3,
    async (phone) => {
      await phone.signedIn('strict@example.com', '/strict');
      await phone.sees('Security');
      await says(phone.page, 'status', /needs a second factor|needs two-factor authentication/);
      await phone.press('Set up an authenticator app');
      await phone.fill('Code from the app', await phone.code(await phone.secret()));
      await phone.follow('I have saved them');
      await phone.reads('Strict');
    },
  ],
  [
    'save a form after the session has ended elsewhere',
    3,
    3,
    async (phone) => {
      const person = await phone.signedIn('expired@example.com', '/auth/account');
      await phone.sees('Profile');
      await phone.page.context().clearCookies();
      await phone.fill('Name (optional)', 'Grace');
      await phone.press('Save your details');
      await phone.sees('You have been signed out');
      await phone.reads('What you entered was not saved.');
      expect(await phone.page.getByRole('navigation').count()).toBe(0);
      await phone.follow('Sign in');
      await phone.enter(person);
      await phone.sees('Profile');
    },
  ],
  [
    'undo what an intruder has changed',
    2,
    1,
    async (phone) => {
      const person = await phone.signedIn('undo@example.com', '/auth/account');
      const intruder = await phone.another();
      await intruder.page.request.post(`${phone.app.origin}/auth/signin/credential`, {
        data: { credential: person.email, password: person.password },
      });
      const changed = await intruder.page.request.post(`${phone.app.origin}/auth/passwords/change`, {
        data: { current_password: person.password, new_password: 'a difference engine' },
        headers: { origin: phone.app.origin },
      });
      expect(changed.status()).toBe(200);
      await phone.openMail(person.email, 'password-changed');
      await phone.sees('Undo a change');
      await phone.fill('Your password from before the change', 'not that one');
      await phone.press('Undo the change');
      await phone.isTold('This was not your password before the change.');
      await phone.fill('Your password from before the change', person.password);
      await phone.press('Undo the change');
      await phone.sees('The change was undone');
    },
  ],
];

const PASSWORD = 'nanoseconds of wire';

type Browser = ReturnType<typeof specBrowser>;

/** A person with a phone, whose pages and presses are counted. */
class Phone {
  pages = 0;
  presses = 0;
  mistakes = 0;

  private constructor(
    readonly app: OwnApp,
    readonly browser: Browser,
    readonly page: Awaited<ReturnType<Browser['open']>>,
  ) {}

  static async of(app: OwnApp, browser: Browser): Promise<Phone> {
    const options = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    return new Phone(app, browser, await browser.open('about:blank', options));
  }

  /** Another browser, whose pages and presses are not counted. */
  another(): Promise<Phone> {
    return Phone.of(this.app, this.browser);
  }

  async openUrl(url: string): Promise<void> {
    await this.page.goto(url);
  }

  open(path: string): Promise<void> {
    return this.openUrl(this.app.url(path));
  }

  async openMail(to: string, kind: string): Promise<void> {
    await this.openUrl((await this.app.inbox.next(to, kind)).url ?? '');
  }

  /** Waits for the page with this title, and counts it. */
  async sees(title: string): Promise<void> {
    await this.page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
    // Nobody scrolls sideways on a phone.
    expect(await this.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    this.pages++;
  }

  /** Waits for the app's own page. */
  arrives(email: string): Promise<void> {
    return this.page.getByRole('heading', { level: 1, name: `Notes of ${email}`, exact: true }).waitFor();
  }

  async reads(text: string): Promise<void> {
    await this.page.getByText(text).first().waitFor();
  }

  /** Waits for the error that follows a mistake, which is in view. */
  async isTold(text: string | RegExp): Promise<void> {
    const error = this.page.getByRole('alert').getByText(text);
    await error.waitFor();
    const box = await error.boundingBox();
    expect(box && box.y >= -box.height && box.y < 844).toBe(true);
    this.mistakes++;
  }

  async press(name: string | RegExp): Promise<void> {
    const found = this.page.getByRole('button', { name, exact: true }).filter({ visible: true });
    await found.click();
    this.presses++;
  }

  async follow(name: string, which: 'only' | 'first' = 'only'): Promise<void> {
    const found = this.page.getByRole('link', { name, exact: true });
    await (which === 'first' ? found.first() : found).click();
    this.presses++;
  }

  async unfold(name: string): Promise<void> {
    await this.page.locator('summary').getByText(name).filter({ visible: true }).click();
    this.presses++;
  }

  fill(label: string | RegExp, text: string): Promise<void> {
    return this.page.getByLabel(label, { exact: true }).filter({ visible: true }).fill(text);
  }

  isFocused(label: string): Promise<boolean> {
    return field(this.page, label).evaluate((input) => input === document.activeElement);
  }

  async enter({ email, password }: Person): Promise<void> {
    await this.fill('Email or username', email);
    await this.fill('Password', password);
    await this.press('Sign in');
  }

  person(email: string): Promise<Person & { readonly id: string }> {
    return this.app.createPerson(email);
  }

  async signedIn(email: string, path: string): Promise<Person> {
    const person = await this.person(email).catch(() => ({ email, password: PASSWORD }));
    await this.app.signIn(this.page, person, path);
    return person;
  }

  async protectedPerson(email: string) {
    const person = await this.person(email);
    const other = await this.another();
    await this.app.signIn(other.page, person, '/auth/account');
    const call = async (path: string, data: object) =>
      (
        await other.page.request.post(this.app.url(path), { data, headers: { origin: this.app.origin } })
      ).json();
    const { secret } = await call('/auth/two-factor/totp', {});
    const { recovery_codes: codes } = await call('/auth/two-factor/totp/confirm', { code: codeOf(secret) });
    return { person, secret: secret as string, codes: codes as readonly string[] };
  }

  /** Returns the key of the authenticator app that is shown. */
  async secret(): Promise<string> {
    const link = this.page.getByRole('link', { name: 'Open the authenticator app on this device' });
    return new URL((await link.getAttribute('href')) ?? '').searchParams.get('secret') ?? '';
  }

  async code(secret: string): Promise<string> {
    await forgetSteps(this.app as never);
    return codeOf(secret);
  }

  async passkeys() {
    const device = await addAuthenticator(this.page);
    await useButtonsOnly(this.page);
    return device;
  }

  /** Declines at the provider, which leads back with an error. */
  async declines(): Promise<void> {
    await this.page.getByRole('heading', { level: 1, name: 'Provider' }).waitFor();
    const at = new URL(this.page.url()).searchParams;
    const back = new URL(at.get('redirect_uri') ?? '');
    back.searchParams.set('error', 'access_denied');
    back.searchParams.set('state', at.get('state') ?? '');
    await this.openUrl(back.href);
    this.pages++;
  }

  async agrees(email: string): Promise<void> {
    await this.page.getByLabel('Email at the provider').fill(email);
    await this.page.getByRole('button', { name: 'Agree' }).click();
    this.pages++;
  }
}

inBrowser('a person on a phone', () => {
  const browser = specBrowser();
  let app: OwnApp;
  beforeAll(async () => {
    app = await startOwnApp({ hasOrganizations: true });
    app.express.get('/strict', requireSession(app.auth, { aal: 2 }), (_req, res) => {
      res.send('<!doctype html><html lang="en"><title>Strict</title><h1>Strict</h1>');
    });
  }, 120_000);
  afterAll(() => app?.stop());

  test.each(TASKS)('%s', async (_task, pages, presses, run) => {
    const phone = await Phone.of(app, browser);
    await run(phone);
    expect([phone.pages <= pages, phone.presses <= presses + phone.mistakes]).toEqual([true, true]);
  });
});
