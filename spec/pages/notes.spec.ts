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

  test('is shown once on a page of the account', async () => {
    const browser = await signedIn();
    const page = await browser.open('/auth/account');
    const sent = await browser.submit(page, 'email', { new_email: 'once@example.com' });
    expect(messageOf(await browser.follow(sent))).toContain('An email with a link is on its way');
    const again = await browser.follow(sent);
    expect(messageOf(again)).toBeNull();
    await browser.submit(again, 'cancel-email');
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

describe('a note', () => {
  test('ends with the session, so that the next user of the browser does not read it', async () => {
    const browser = await signedIn();
    const sent = await browser.submit(await browser.open('/auth/account'), 'email', {
      new_email: 'secret@private.example',
    });
    expect((await browser.follow(sent)).text).toContain('secret@private.example');
    await browser.send('POST', '/auth/signout', '{}', {
      'content-type': 'application/json',
      origin: 'http://localhost',
    });
    await signInOn(browser, grace);
    expect((await browser.open('/auth/account?done=email-change-sent')).text).not.toContain('secret@');
  });

  test('is not left by a form of another site, whose words are not shown', async () => {
    const browser = app.open();
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    for (const [path, field] of [
      ['/auth/forgot-password/send', 'email'],
      ['/auth/sign-in/password', 'credential'],
    ] as const) {
      const answer = await browser.post(path, { [field]: 'Call +1 555 0100 @now' }, foreign);
      expect([answer.status, answer.cookies]).toEqual([403, []]);
      expect(answer.body).not.toContain('555');
    }
  });
});

describe('the email that was typed', () => {
  const valueOn = async (browser: PageBrowser, path: string, form: string, field: string) =>
    (await browser.open(path)).form(form).value(field);

  test('is filled in on every page before a sign-in, and can be replaced', async () => {
    const browser = app.open();
    const email = 'typo@exmaple.com';
    const signUp = await browser.open('/auth/sign-up');
    expect(signUp.form('password').value('email')).toBe('');
    await browser.submit(signUp, 'password', { email, password: 'x' });
    expect(await valueOn(browser, '/auth/sign-in', 'password', 'credential')).toBe(email);
    expect(await valueOn(browser, '/auth/forgot-password', 'send', 'email')).toBe(email);
    const again = (await browser.open('/auth/sign-up')).form('password');
    expect([again.value('email'), again.attribute('email', 'data-selects')]).toEqual([email, '']);
    const sent = await browser.submit(await browser.open('/auth/forgot-password'), 'send', {
      email: ada.email,
    });
    const told = await browser.follow(sent);
    expect(told.links).toContain('/auth/forgot-password');
    expect(await valueOn(browser, '/auth/sign-in', 'password', 'credential')).toBe(ada.email);
    const resent = await browser.follow(await browser.submit(told, 'send'));
    expect(resent.text).toContain(`If there is an account with ${ada.email}, another email is on its way.`);
  });

  test('is that of the sign-in which waits for its second step', async () => {
    const browser = app.open();
    await browser.submit(await browser.open('/auth/sign-in'), 'password', {
      credential: grace.email,
      password: 'wrong',
    });
    const page = await browser.open('/auth/sign-in?other=true');
    expect(page.form('password').attribute('credential', 'data-selects')).toBe('');
    expect(page.form('password').attribute('password', 'autofocus')).toBeUndefined();
  });

  test('is sealed, is forgotten with a sign-in, and is not that of another site', async () => {
    const browser = app.open();
    const signIn = await browser.open('/auth/sign-in');
    const sent = await browser.submit(signIn, 'password', { credential: ada.email, password: 'wrong' });
    const [cookie = ''] = sent.cookies.filter((line) => line.startsWith('latchkey-email='));
    expect(cookie).toMatch(/; HttpOnly; SameSite=Lax$/);
    expect(decodeURIComponent(cookie)).not.toContain('ada');
    await signInOn(browser, ada);
    await browser.post('/auth/sign-out/confirm', {});
    expect(await valueOn(browser, '/auth/sign-in', 'password', 'credential')).toBe('');
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    await browser.post('/auth/sign-in/password', { credential: 'eve@evil.example', password: 'x' }, foreign);
    expect(await valueOn(browser, '/auth/sign-in', 'password', 'credential')).toBe('');
  });
});

test('a form that was shown to another user changes nothing', async () => {
  const browser = await signedIn();
  const first = await browser.open('/auth/account');
  // Another account signs in, in another tab.
  await browser.post('/auth/sign-out/confirm', {});
  await signInOn(browser, grace);
  const refused = await browser.post(first.form('email', { new_email: '' }).action, {
    for_user:
      first
        .all('input')
        .map((one) => (attribute(one, 'name') === 'for_user' ? attribute(one, 'value') : ''))
        .find(Boolean) ?? '',
    new_email: 'tab@example.com',
  });
  expect(refused.status).toBe(422);
  expect(refused.error).toContain(
    `You are now signed in as ${grace.email}, but this form was of another account. Nothing was changed.`,
  );
  expect(refused.form('email', { new_email: '' }).value('new_email')).toBe('');
  expect(refused.body).toContain(grace.email);
  // The page now has the forms of this user.
  const done = await browser.submit(refused, 'email', { new_email: 'tab@example.com' });
  expect(done.status).toBe(303);
});

describe('a link to a provider', () => {
  test('leads to the sign-in and back if the session has ended', async () => {
    const browser = app.open();
    const callback = encodeURIComponent('/auth/account/security');
    const answer = await browser.open(`/auth/oauth/fixed/link?callback_url=${callback}`, {
      'sec-fetch-site': 'same-origin',
    });
    expect([answer.status, answer.location]).toEqual([303, `/auth/sign-in?return_to=${callback}`]);
  });

  test('that is not configured leads back with the error', async () => {
    const browser = app.open();
    const answer = await browser.open('/auth/oauth/nobody/authorize?callback_url=%2Fauth%2Fsign-in');
    expect([answer.status, answer.location]).toEqual([303, '/auth/sign-in?error=provider_not_found']);
    expect((await browser.follow(answer)).error).toContain('This service is not available.');
  });

  test.each([
    'auth/sign-in',
    '//evil.example/auth/sign-in',
    'http://[',
    'https://evil.example/auth/sign-in',
    '/home',
  ])('that is not configured does not lead to %s, which is not a page here', async (callback) => {
    const path = `/auth/oauth/nobody/authorize?callback_url=${encodeURIComponent(callback)}`;
    const answer = await app.open().open(path);
    expect([answer.status, answer.location]).toEqual([404, null]);
  });

  test('whose flow is over ends at the sign-in', async () => {
    const browser = app.open();
    const answer = await browser.open('/auth/oauth/fixed/callback?state=unknown&code=unknown');
    expect([answer.status, answer.location]).toEqual([303, '/auth/sign-in?error=invalid_flow']);
    expect((await browser.follow(answer)).error).toContain(
      'took too long, or was started in another browser',
    );
  });

  test('still gets the problem if a program calls the route', async () => {
    const answer = await app.open().open('/auth/oauth/nobody/authorize', { accept: 'application/json' });
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([404, 'provider_not_found']);
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
    // The user has decided so, which is no problem.
    expect([page.status, page.title, page.error]).toEqual([200, 'Sign in – localhost', null]);
    expect(messageOf(page)).toBe('You canceled at Fixed. Try again, or sign in another way.');
    expect(messageOf(await app.open().open(back.location ?? ''))).toBeNull();
  });

  test('is shown on the page of a link', async () => {
    const browser = await signedIn();
    const page = await browser.follow(await refused(browser, '/auth/account/security'));
    expect(messageOf(page)).toBe('You canceled at the other service, so no account was linked.');
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

test('the cookies of pages are of this host alone, even if the session is of a domain', async () => {
  const own = await startPagesApp([password()] as const, {
    config: { baseUrl: 'https://app.example.com', session: { cookie: { domain: 'example.com' } } } as never,
  });
  try {
    const browser = own.open({ host: 'app.example.com' });
    const sent = await browser.post(
      '/auth/forgot-password/send',
      { email: ada.email },
      { origin: 'https://app.example.com' },
    );
    const [note = ''] = sent.cookies.filter((line) => line.includes('-note='));
    expect(note).toMatch(
      /^__Host-latchkey-note=[^;]+; Max-Age=900; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
  } finally {
    await own.stop();
  }
});
