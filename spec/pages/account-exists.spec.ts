import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pages } from '../../lib/pages.js';
import { ada } from '../support/app.js';
import { proveMailbox } from '../support/email-proof.js';
import { type OAuthApp, pathOf, startWithOidc } from '../support/oauth-app.js';
import { visitProvider } from '../support/oidc.js';
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
async function comeBy(browser: PageBrowser, page: string): Promise<Shown> {
  const button = (await browser.open(page)).links.find((href) => href.includes('/oauth/oidc/authorize'));
  const { location } = await browser.open(`${button}`, { 'sec-fetch-site': 'same-origin' });
  const back = await browser.open(pathOf(await visitProvider(`${location}`)));
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
