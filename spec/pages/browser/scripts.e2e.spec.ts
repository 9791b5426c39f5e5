import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page, Request } from 'playwright-core';
import { codeOf } from '../../support/two-factor.js';
import {
  card,
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
import { type OwnApp, startOwnApp } from './own-app.js';
import { listen, originOf } from './provider.js';
import { secretOn } from './states.js';

const HOUR = 3600_000;

inBrowser('the scripts of the pages', () => {
  const browser = specBrowser(['--disable-back-forward-cache']);
  let app: OwnApp;
  let others: Server;

  beforeAll(async () => {
    app = await startOwnApp();
    // A site of others that shows the page in a frame.
    others = await listen('127.0.0.1', (req, res) => {
      const src = new URLSearchParams(req.url?.slice(2)).get('src');
      res.setHeader('Content-Type', 'text/html').end(`<!doctype html><iframe src="${src}"></iframe>`);
    });
  });
  afterAll(async () => {
    others?.close();
    await app?.stop();
  });

  /** Opens a page of a new account. */
  async function openSignedIn(name: string, path: string): Promise<Page> {
    const page = await browser.open(app.url('/notes'));
    await app.signIn(page, await app.createPerson(`${name}@example.com`), path);
    return page;
  }

  /** Returns the forms that a page sends from now on. */
  function formsOf(page: Page): Request[] {
    const sent: Request[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(request);
    });
    return sent;
  }

  test('a refused form replaces the main part of the page, which stays', async () => {
    const page = await openSignedIn('grace', '/auth/account/security');
    const body = await page.locator('body').elementHandle();
    await openCard(page, 'Password');
    await fill(page, 'Current password', 'not the password');
    await fill(page, 'New password', 'a difference engine');
    await press(page, 'Change the password');
    await field(page, 'Current password').and(page.locator(':focus[aria-invalid]')).waitFor();
    expect(await body?.evaluate((element) => element.isConnected)).toBe(true);
    expect(page.url()).toBe(app.url('/auth/account/security'));
    expect(await page.title()).toBe('Error: Security – Notes');
    // What the scripts add is there again.
    expect(await page.getByRole('button', { name: 'Show Current password' }).isVisible()).toBe(true);
    expect(await page.getByRole('button', { name: 'Add a passkey' }).isVisible()).toBe(true);
    await press(page, 'Set up an authenticator app');
    await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor();
    await page.locator('form[action$="/confirm-app"]').waitFor();
    await press(page, 'Start again with a new QR code');
    await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor();
  });

  test('recovery codes are downloaded as a file, copied and printed', async () => {
    const page = await openSignedIn('evelyn', '/auth/account/security');
    await press(page, 'Set up an authenticator app');
    await fill(page, 'Code from the app', codeOf(await secretOn(page)));
    await showsPage(page, 'Save your recovery codes');
    const codes = await page.locator('#recovery-codes').textContent();
    const downloading = page.waitForEvent('download');
    await press(page, 'Download');
    const file = await downloading;
    expect(file.suggestedFilename()).toBe('recovery-codes.txt');
    expect(await readFile(await file.path(), 'utf8')).toBe(
      `Recovery codes for Notes (evelyn@example.com)\n\n${codes}\n`,
    );
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await press(page, 'Copy');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(codes);
    await page.evaluate(() => {
      window.print = () => {
        document.body.dataset.printed = 'true';
      };
    });
    await press(page, 'Print');
    await page.locator('[data-printed]').waitFor();
  });

  test('an address opens the card that it names, at first and later', async () => {
    const page = await openSignedIn('adele', '/auth/account/security#password');
    await field(page, 'New password').waitFor();
    await page.getByRole('link', { name: 'Password', exact: true }).click();
    expect(await card(page, 'Browsers that you have used').getByText('this browser').isVisible()).toBe(false);
    await page.goto(app.url('/auth/account/security#browsers'));
    await card(page, 'Browsers that you have used').getByText('this browser').waitFor();
  });

  test('a form is sent once, however often its button is pressed until the next page is there', async () => {
    const page = await openSignedIn('ada', '/auth/account/api-keys');
    const sent = formsOf(page);
    let pressed: () => void = () => {};
    await page.exposeFunction('reportPress', () => pressed());
    await page.route(app.url('/auth/account/api-keys'), async (route) => {
      // The page that follows comes only after the button was pressed again.
      await new Promise<void>((resolve) => {
        pressed = resolve;
      });
      await route.continue();
    });
    await fill(page, 'Name', 'nightly report');
    await page.evaluate(() => {
      const button = document.querySelector<HTMLElement>('form[action$="/create"] [data-part~="primary"]');
      setInterval(() => {
        button?.click();
        void (globalThis as unknown as { reportPress(): Promise<void> }).reportPress();
      }, 10);
    });
    await page.getByRole('heading', { name: 'Your new key: nightly report' }).waitFor();
    expect(sent).toHaveLength(1);
    expect(await page.locator('summary').getByText('Revoke').filter({ visible: true }).count()).toBe(1);
  });

  test('without a network, a form says that it was not sent, and can be sent again', async () => {
    const page = await openSignedIn('ida', '/auth/account');
    await page.route('**/auth/account/profile', (route) => route.abort(), { times: 1 });
    const sent = formsOf(page);
    await fill(page, 'Name (optional)', 'Ida');
    await press(page, 'Save your details');
    await says(page, 'alert', 'The form could not be sent. Check the network, and try again.');
    await press(page, 'Save your details');
    await says(page, 'status', 'Your details are saved.');
    expect(sent.map((request) => request.isNavigationRequest())).toEqual([false, false]);
  });

  test('a file is saved, and the page stays', async () => {
    const page = await openSignedIn('mary', '/auth/account');
    const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Download my data')]);
    expect(download.suggestedFilename()).toBe('account-data.json');
    const { user } = JSON.parse(await readFile(await download.path(), 'utf8'));
    expect(user.email).toBe('mary@example.com');
    expect(page.url()).toBe(app.url('/auth/account'));
    // The page works as before.
    await fill(page, 'Name (optional)', 'Mary');
    await press(page, 'Save your details');
    await says(page, 'status', 'Your details are saved.');
  });

  test('a password can be shown, and is hidden before it is sent', async () => {
    const page = await browser.open(app.url('/auth/sign-in'));
    const password = field(page, 'Password');
    await fill(page, 'Email or username', 'nobody-here@example.com');
    await password.fill('not the password');
    await press(page, 'Show Password');
    expect(await password.getAttribute('type')).toBe('text');
    await press(page, 'Hide Password');
    expect(await password.getAttribute('type')).toBe('password');
    await press(page, 'Show Password');
    const typeAtSubmit = page.evaluate(
      () =>
        new Promise((resolve) => {
          document.addEventListener('submit', () => {
            resolve(document.querySelector('[name="password"]')?.getAttribute('type'));
          });
        }),
    );
    await press(page, 'Sign in');
    expect(await typeAtSubmit).toBe('password');
    await says(page, 'alert', 'There is a problem');
  });

  test('a second button sends the form to its own address, without what is missing', async () => {
    const page = await browser.open(app.url('/auth/sign-up'));
    const sent = formsOf(page);
    await press(page, 'Email me a code instead');
    await says(page, 'alert', 'Enter an email.');
    expect(page.url()).toBe(app.url('/auth/sign-up'));
    await fill(page, 'Email', 'mina@example.com');
    await press(page, 'Email me a code instead');
    await showsPage(page, 'Enter your code');
    expect(sent.map((request) => new URL(request.url()).pathname)).toEqual([
      '/auth/sign-up/send-code',
      '/auth/sign-up/send-code',
    ]);
  });

  test('a complete code is sent once by itself, and a wrong one can be corrected', async () => {
    const { email } = await app.createPerson('rosa@example.com');
    const page = await browser.open(app.url('/auth/sign-in'));
    await fill(page, 'Email or username', email);
    await press(page, 'Email me a code');
    await showsPage(page, 'Enter your code');
    const sent = formsOf(page);
    await field(page, 'Code').pressSequentially('0123-456');
    expect(sent).toHaveLength(0);
    await field(page, 'Code').press('7');
    await says(page, 'alert', 'This code is wrong.');
    expect(sent).toHaveLength(1);
    await field(page, 'Code').pressSequentially((await app.inbox.next(email, 'sign-in-code')).code);
    await showsPage(page, `Notes of ${email}`);
    expect(sent).toHaveLength(2);
  });

  test('a code verifies the email of a sign-up, and another one is typed with the new password', async () => {
    const own = await startOwnApp({ hasCodes: true });
    const email = 'emmy@example.com';
    const page = await browser.open(own.url('/auth/sign-up'));
    await fill(page, 'Email', email);
    await fill(page, 'Password', 'symmetries and laws');
    await press(page, 'Create an account');
    await showsPage(page, 'Confirm your email');
    // A complete code is sent by itself.
    await field(page, 'Code').pressSequentially((await own.inbox.next(email, 'verification-code')).code);
    await showsPage(page, 'Your email is confirmed');
    await page.context().clearCookies();
    await page.goto(own.url('/auth/forgot-password'));
    await fill(page, 'Email', email);
    await press(page, 'Email me a code');
    await showsPage(page, 'Choose a new password');
    const sent = formsOf(page);
    await field(page, 'Code').pressSequentially((await own.inbox.next(email, 'reset-code')).code);
    await fill(page, 'New password', 'a difference engine');
    expect(sent).toHaveLength(0);
    await press(page, 'Save the password');
    await showsPage(page, 'Sign in to Notes');
    expect(await field(page, 'Email or username').inputValue()).toBe(email);
    await fill(page, 'Password', 'a difference engine');
    await press(page, 'Sign in');
    await showsPage(page, `Notes of ${email}`);
    await own.stop();
  });

  test('the email that was typed goes along to the next page, but not in its address', async () => {
    const page = await browser.open(app.url('/auth/sign-in'));
    await fill(page, 'Email or username', 'ruth@example.com');
    await follow(page, 'Forgot your password?');
    await showsPage(page, 'Reset your password');
    expect(await field(page, 'Email').inputValue()).toBe('ruth@example.com');
    expect(page.url()).toBe(app.url('/auth/forgot-password'));
    await follow(page, 'Back to sign-in');
    await showsPage(page, 'Sign in to Notes');
    expect(await field(page, 'Email or username').inputValue()).toBe('ruth@example.com');
    // It is taken along once.
    await page.reload();
    expect(await field(page, 'Email or username').inputValue()).toBe('');
    // It wins over the one that the server has remembered.
    await fill(page, 'Email or username', 'sent@example.com');
    await fill(page, 'Password', 'not the password');
    await press(page, 'Sign in');
    await says(page, 'alert', 'There is a problem');
    await fill(page, 'Email or username', 'typed@example.com');
    await follow(page, 'Forgot your password?');
    await showsPage(page, 'Reset your password');
    expect(await field(page, 'Email').inputValue()).toBe('typed@example.com');
  });

  test('what was typed in another form stays, whether or not the form is accepted, and is restored once', async () => {
    const page = await openSignedIn('lise', '/auth/account');
    const name = field(page, 'Name (optional)');
    await name.fill('Lise');
    await fill(page, 'Username', '!');
    await press(page, 'Save the username');
    await page.locator('[aria-invalid="true"]').waitFor();
    expect(await name.inputValue()).toBe('Lise');
    await page.getByText('Not saved yet.').waitFor();
    expect(await name.getAttribute('aria-describedby')).toBe(
      await page.getByText('Not saved yet.').getAttribute('id'),
    );
    await fill(page, 'Username', 'lise');
    await press(page, 'Save the username');
    await says(page, 'status', 'Your username is saved.');
    expect(await name.inputValue()).toBe('Lise');
    await page.reload();
    expect(await name.inputValue()).toBe('');
    expect(await page.getByText('Not saved yet.').count()).toBe(0);
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });

  test('a form whose session has ended says so, without the navigation, and leads back to its page', async () => {
    const page = await openSignedIn('hypatia', '/auth/account');
    const other = await page.context().newPage();
    await other.goto(app.url('/auth/sign-out'));
    await press(other, 'Sign out');
    await says(other, 'status', 'You are signed out.');
    await fill(page, 'Name (optional)', 'Hypatia');
    await press(page, 'Save your details');
    await showsPage(page, 'You have been signed out');
    const text = 'Sign in again to continue. What you entered was not saved.';
    expect(await page.locator('main p').first().textContent()).toBe(text);
    // It looks like a page before a sign-in.
    expect(await page.locator('body').getAttribute('data-part')).toBe('entrance');
    expect(await page.getByRole('link', { name: 'Sign out' }).count()).toBe(0);
    expect(await page.getByRole('navigation').count()).toBe(0);
    await follow(page, 'Sign in');
    await fill(page, 'Email or username', 'hypatia@example.com');
    await fill(page, 'Password', 'nanoseconds of wire');
    await press(page, 'Sign in');
    await page.waitForURL(app.url('/auth/account'));
  });

  test('the address of an undo link is copied, to be opened in a browser that the account knows', async () => {
    const page = await openSignedIn('copier', '/auth/account/security');
    const changed = await page.request.post(app.url('/auth/passwords/change'), {
      data: { current_password: 'nanoseconds of wire', new_password: 'a difference engine' },
      headers: { origin: new URL(app.url('/')).origin },
    });
    expect(changed.status()).toBe(200);
    const { url } = await app.inbox.next('copier@example.com', 'password-changed');
    const other = await browser.open(url);
    await other.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await press(other, 'Copy the link');
    await other.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await other.evaluate(() => navigator.clipboard.readText())).toBe(url);
  });

  test('the key is copied', async () => {
    const page = await openSignedIn('claude', '/auth/account/api-keys');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await fill(page, 'Name', 'nightly report');
    await press(page, 'Create the key');
    await press(page, 'Copy');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const key = await page.locator('#new-key').textContent();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
    expect(key).toMatch(/^lkk_/);
  });

  test.each([
    ['en-GB', 'Asia/Kolkata', '31 Jan 2026, 12:00'],
    ['en-US', 'America/New_York', 'Jan 31, 2026, 1:30\u202fAM'],
    // The pages are in English, so their times are too.
    ['de-DE', 'Europe/Berlin', 'Jan 31, 2026, 7:30\u202fAM'],
  ])('a browser for %s shows times in its time zone, %s', async (locale, timezoneId, local) => {
    const page = await browser.open(app.url('/notes'), { locale, timezoneId });
    const vera = await app.createPerson(`${locale}@example.com`);
    await app.auth.createSession(vera.id);
    await app.auth.models.Session.update(
      { createdAt: new Date('2026-01-31T06:30:00Z'), lastActiveAt: new Date(Date.now() - 3.5 * HOUR) },
      { where: { userId: vera.id } },
    );
    await app.signIn(page, vera, '/auth/account/sessions');
    const item = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: 'Sign out' }) });
    await item.getByText(`Signed in: ${local}`).waitFor();
    await item.getByText('Last active: 3 hours ago').waitFor();
    const button = page.getByRole('button', {
      name: `Sign out on An unknown device, signed in ${local}`,
    });
    // A session that has ended meanwhile cannot be ended, so the main part of the page is replaced.
    const main = await page.locator('main').elementHandle();
    await page.evaluate(() => {
      document.querySelector('form[action*="/end/"]')?.setAttribute('action', 'sessions/end/x');
    });
    await button.click();
    await page.getByRole('alert').waitFor();
    expect(await main?.evaluate((element) => element.isConnected)).toBe(false);
    await item.getByText(`Signed in: ${local}`).waitFor();
  });

  test('after a sign-out, the way back shows nothing of the account', async () => {
    const page = await openSignedIn('kurt', '/auth/account');
    await page.getByRole('main').getByText('kurt@example.com').first().waitFor();
    await follow(page, 'Sign out');
    await showsPage(page, 'Sign out');
    await press(page, 'Sign out');
    await says(page, 'status', 'You are signed out.');
    for (let steps = 0; steps < 2; steps++) {
      await page.goBack();
      await showsPage(page, 'Sign in to Notes');
    }
    expect(await page.content()).not.toContain('kurt@example.com');
  });

  test('a page that comes back from the cache of the browser is loaded again', async () => {
    const page = await openSignedIn('alan', '/auth/account');
    const other = await page.context().newPage();
    await other.goto(app.url('/auth/sign-out'));
    await press(other, 'Sign out');
    await says(other, 'status', 'You are signed out.');
    await page.getByRole('main').getByText('alan@example.com').first().waitFor();
    // Chromium keeps no page with `no-store` in that cache for long, so the spec plays its part.
    await page.evaluate(() => {
      dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    });
    await showsPage(page, 'Sign in to Notes');
    expect(await page.content()).not.toContain('alan@example.com');
  });

  test('two links in two tabs change their own accounts', async () => {
    const people = [await app.createPerson('tony@example.com'), await app.createPerson('edgar@example.com')];
    const first = await browser.open(app.url('/notes'));
    const tabs = [first, await first.context().newPage()];
    for (const [index, page] of tabs.entries()) {
      const email = people[index]?.email ?? '';
      await page.goto(app.url('/auth/forgot-password'));
      await fill(page, 'Email', email);
      await press(page, 'Email me a link');
      // The email can arrive before the response, which would interrupt the navigation to its link.
      await showsPage(page, 'Check your email');
      await page.goto((await app.inbox.next(email, 'reset-password')).url);
      await page.getByText(`Choose a password for ${email}.`).waitFor();
      await fill(page, 'New password', `the password of ${email}`);
    }
    for (const page of tabs) {
      await press(page, 'Save the password');
      await says(page, 'status', 'Your password was changed.');
      expect(page.url()).not.toContain('token');
    }
    for (const { email } of people) {
      const page = await browser.open(app.url('/notes'));
      await app.signIn(page, { email, password: `the password of ${email}` }, '/notes');
      await showsPage(page, `Notes of ${email}`);
    }
  });

  test('no other site can show a page in a frame', async () => {
    const page = await browser.open(`${originOf(others)}/?src=${app.url('/auth/sign-in')}`);
    expect(browser.takeComplaints().join()).toContain("frame-ancestors 'none'");
    expect(page.frames().map((frame) => frame.url())).not.toContain(app.url('/auth/sign-in'));
  });

  test('what the policy of a page forbids is reported, so the other specs would fail', async () => {
    const page = await browser.open(app.url('/auth/sign-in'));
    const reported = page.waitForEvent('console');
    await page.evaluate(() => {
      document.body.append(
        Object.assign(document.createElement('script'), { textContent: 'document.title = ""' }),
      );
    });
    expect((await reported).text()).toContain('script-src');
    expect(await page.title()).toBe('Sign in – Notes');
    expect(browser.takeComplaints()).toHaveLength(1);
  });

  test('a part of a form that was open stays open when the form is refused', async () => {
    const page = await openSignedIn('linus', '/notes');
    await page.goto(app.url('/auth/account'));
    await unfold(page, 'Delete');
    await fill(page, 'To confirm, type linus@example.com', 'grace@example.com');
    await press(page, 'Yes, delete my account');
    await says(page, 'alert', 'This does not match. Nothing was deleted.');
    expect(await page.getByRole('button', { name: 'Yes, delete my account' }).isVisible()).toBe(true);
  });
});
