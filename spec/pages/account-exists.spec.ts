import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pages } from '../../lib/pages.js';
import { ada } from '../support/app.js';
import { proveMailbox } from '../support/email-proof.js';
import { type OAuthApp, pathOf, startWithOidc } from '../support/oauth-app.js';
import { type Person, visitProvider } from '../support/oidc.js';
import { PageBrowser, type Shown } from '../support/page-browser.js';
import { signInOn } from '../support/pages-app.js';

let app: OAuthApp;
beforeAll(async () => {
  ({ app } = await startWithOidc({ providers: () => [pages({ home: '/home' }) as never] }));
  const { id } = await app.auth.users.create({ ...ada, emailVerified: true });
  await proveMailbox(app.auth, id);
});
afterAll(() => app.stop());

/** Presses a provider's button on a page, and returns to the app. */
async function comeBy(browser: PageBrowser, page: string, person?: Person): Promise<Shown> {
  const button = (await browser.open(page)).links.find((href) => href.includes('/oauth/oidc/authorize'));
  const { location } = await browser.open(`${button}`, { 'sec-fetch-site': 'same-origin' });
  const back = await browser.open(pathOf(await visitProvider(`${location}`, person)));
  return back;
}

test.each([
  ['sign-in', '', '/auth/account/security#linked-accounts'],
  ['sign-in', '?return_to=%2Freports', '/auth/account/security?return_to=%2Freports#linked-accounts'],
  ['sign-up', '', '/auth/account/security#linked-accounts'],
])(
  'who comes to %s%s by a provider, but has an account already, signs in to it and can link',
  async (name, query, to) => {
    const browser = new PageBrowser(app.origin);
    const back = await comeBy(browser, `/auth/${name}${query}`);
    expect(back.location).toMatch(new RegExp(`^/auth/${name}\\?.*error=account_exists`));
    expect(back.location).not.toContain('ada');
    const page = await browser.follow(back);
    expect(page.text).toContain('You already have an account with the email');
    const step = page.links.find((href) => href.startsWith('/auth/sign-in'));
    const signIn = name === 'sign-in' ? page : await browser.open(`${step}`);
    const form = signIn.form('password');
    expect(form.value('credential')).toBe(ada.email);
    // A wrong password does not lose the way.
    const wrong = await browser.submit(signIn, 'password', { password: 'not the password' });
    expect(wrong.form('password').value('credential')).toBe(ada.email);
    const done = await browser.submit(wrong, 'password', { password: ada.password });
    expect(done.location).toBe(to);
    // The next sign-in in this browser leads home again.
    await browser.submit(await browser.open('/auth/sign-out'), 'confirm');
    expect((await signInOn(browser, ada)).location).toBe('/home');
  },
);

test('no link of another site fills an email in or leads to the linked accounts', async () => {
  const browser = new PageBrowser(app.origin);
  const back = await comeBy(browser, '/auth/sign-in');
  const other = new PageBrowser(app.origin);
  const page = await other.follow(back);
  expect(page.form('password').value('credential')).toBe('');
  expect((await signInOn(other, ada, `${back.location}`)).location).toBe('/home');
});

test('a sign-in by a provider that creates the account says so, once, and only in this browser', async () => {
  const browser = new PageBrowser(app.origin);
  const person = { sub: 'grace', email: 'grace@example.com', email_verified: true };
  const back = await comeBy(browser, '/auth/sign-in?return_to=%2Freports', person);
  const told = await browser.open(`${back.location}`);
  expect(told.location).toBe('/auth/account?done=account-created&return_to=%2Freports');
  const page = await browser.follow(told);
  expect(page.text).toContain(
    'Welcome. We have created a new account for grace@example.com. If you expected an existing account, sign out and sign in with another email or in another way.',
  );
  expect(page.links).toEqual(expect.arrayContaining(['/reports', '/auth/sign-out']));
  expect((await browser.open(`${back.location}`)).location).toBe('/reports');
  const again = new PageBrowser(app.origin);
  const second = await comeBy(again, '/auth/sign-in', person);
  expect((await again.open(`${second.location}`)).location).toBe('/home');
});

test('a sign-up by a provider leads on without these words', async () => {
  const browser = new PageBrowser(app.origin);
  const person = { sub: 'hedy', email: 'hedy@example.com', email_verified: true };
  const back = await comeBy(browser, '/auth/sign-up?return_to=%2Freports', person);
  expect((await browser.open(`${back.location}`)).location).toBe('/reports');
});
