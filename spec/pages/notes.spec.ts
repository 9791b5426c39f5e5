import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { oauth, passkeys } from '../../lib/index.js';
import { ada, password } from '../support/app.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { attribute, type PageBrowser, type Shown, textOf } from '../support/page-browser.js';
import { createPerson, type PagesApp, signInOn, startPagesApp } from '../support/pages-app.js';

const grace = { email: 'grace@example.com', password: ada.password };
const plugins = [password(), passkeys(), oauth(), fixedProvider()] as const;
let app: PagesApp<typeof plugins>;
beforeAll(async () => {
  app = await startPagesApp(plugins);
  for (const one of [ada, grace]) await createPerson(app, one);
});
afterAll(() => app.stop());

/** The message of a page about what was done. Null if there is none. */
function messageOf(shown: Shown): string | null {
  const message = shown.elements.find((one) => attribute(one, 'role') === 'status');
  return message ? textOf(message) : null;
}

async function signedIn(one = ada): Promise<PageBrowser> {
  const browser = app.open();
  expect((await signInOn(browser, one)).location).toBe('/home');
  return browser;
}

describe('a message', () => {
  test('is shown on the page that its form leads to, and still after a reload', async () => {
    const browser = await signedIn();
    const { location } = await browser.submit(await browser.open('/auth/sign-out'), 'confirm');
    expect(location).toBe('/auth/sign-in?done=signed-out');
    for (let times = 0; times < 2; times++)
      expect(messageOf(await browser.open(location ?? ''))).toBe('You are signed out.');
  });

  test('is not shown on another page, for another word, or in another browser', async () => {
    const browser = await signedIn();
    const { location } = await browser.submit(await browser.open('/auth/sign-out'), 'confirm');
    expect(messageOf(await browser.open('/auth/sign-in?done=account-deleted'))).toBeNull();
    expect(messageOf(await browser.open('/auth/forgot-password?done=signed-out'))).toBeNull();
    expect(messageOf(await app.open().open(location ?? ''))).toBeNull();
    expect(messageOf(await browser.open(location ?? ''))).toBe('You are signed out.');
  });

  test('that a script leads to is shown in its session alone', async () => {
    const browser = await signedIn();
    const security = await browser.open('/auth/account/security');
    const button = security.all('button').find((one) => attribute(one, 'data-kind') === 'create');
    const next = attribute(button!, 'data-go') ?? '';
    expect(next).toMatch(/^\/auth\/account\/security\?done=passkey-added&sealed=[\w.-]+(#passkeys)?$/);
    expect(messageOf(await browser.open(next.replace(/#.*/, '')))).toBe('The passkey was added.');
    const other = await signedIn(grace);
    expect(messageOf(await other.open(next.replace(/#.*/, '')))).toBeNull();
    expect(messageOf(await browser.open(next.replace(/&.*/, '')))).toBeNull();
    expect(
      messageOf(await browser.open(next.replace('passkey-added', 'linked').replace(/#.*/, ''))),
    ).toBeNull();
  });

  test('is sealed, so that nobody reads the address that an email was sent to', async () => {
    const browser = app.open();
    const sent = await browser.submit(await browser.open('/auth/forgot-password'), 'send', {
      email: ada.email,
    });
    const [note = ''] = sent.cookies.filter((line) => line.startsWith('latchkey-note='));
    expect(note).toMatch(/; HttpOnly; SameSite=Lax$/);
    expect(decodeURIComponent(note)).not.toContain('ada');
  });
});

describe('the error of a provider', () => {
  const refused = async (browser: PageBrowser, page: string) => {
    const shown = await browser.open(page);
    const link = shown.links.find((href) => href.includes('/oauth/fixed/')) ?? '';
    const { location } = await browser.open(link, { 'sec-fetch-site': 'same-origin' });
    const state = new URL(location ?? '').searchParams.get('state');
    return browser.open(`/auth/oauth/fixed/callback?error=access_denied&state=${state}`);
  };

  test('is shown on the page where the user began', async () => {
    const browser = app.open();
    const back = await refused(browser, '/auth/sign-in?return_to=%2Fdeep');
    const page = await browser.follow(back);
    expect([page.status, page.title]).toEqual([200, 'Error: Sign in – localhost']);
    expect(page.error).toContain('You canceled the sign-in at the other service.');
    expect((await app.open().open(back.location ?? '')).error).toBeNull();
  });

  test('is shown on the page of a link', async () => {
    const browser = await signedIn();
    const page = await browser.follow(await refused(browser, '/auth/account/security'));
    expect(page.error).toContain('You canceled at the other service, so no account was linked.');
  });

  test('is not shown because a link begins the flow with an error in its callback', async () => {
    const browser = app.open();
    const callback = encodeURIComponent('/auth/sign-in?error=account_suspended');
    const { location } = await browser.open(`/auth/oauth/fixed/authorize?callback_url=${callback}`);
    const state = new URL(location ?? '').searchParams.get('state');
    const back = await browser.open(`/auth/oauth/fixed/callback?error=access_denied&state=${state}`);
    expect(back.location).toBe('/auth/sign-in?error=access_denied');
    expect((await browser.open('/auth/sign-in?error=account_suspended')).error).toBeNull();
  });
});
