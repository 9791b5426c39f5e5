import { expect, test } from '@jest/globals';
import { agree, demoInBrowser, follow, inBrowser, says, signIn, signOut } from './browser.js';

const grace = { email: 'grace@example.com', username: 'grace', password: 'nanoseconds of wire' };

inBrowser('the accounts of the demo app', () => {
  const demo = demoInBrowser();

  test('a user can sign up, sign in, and list and end sessions, and cannot open the admin pages', async () => {
    const page = await demo.open('/sign-up');
    await page.getByLabel('Email').fill(grace.email);
    await page.getByLabel('Username').fill(grace.username);
    await page.getByLabel('Password', { exact: true }).fill('short');
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByText('Password must have at least 8 characters.').waitFor();
    expect(await page.getByLabel('Password', { exact: true }).getAttribute('aria-invalid')).toBe('true');

    await page.getByLabel('Password', { exact: true }).fill(grace.password);
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByText('{"hello":"grace"}').waitFor();

    await signOut(page);
    await page.waitForURL(demo.url('/'));
    await page.goto(demo.url('/sessions'));
    await signIn(page, grace.username, 'not the password');
    await says(page, 'alert', 'The account name or the password is wrong. Check both and try again.');
    await page.getByLabel('Remember me').check();
    await signIn(page, grace.username, grace.password);

    await page.waitForURL(demo.url('/sessions'));
    await page.getByText('This device').waitFor();
    const [cookie] = await page.context().cookies();
    expect(cookie?.expires).toBeGreaterThan(Date.now() / 1000);

    const elsewhere = await demo.openSignedIn(grace, '/account');
    await elsewhere.getByText('{"hello":"grace"}').waitFor();
    await page.reload();
    const others = page.getByRole('listitem').filter({ hasNot: page.locator('.badge:visible') });
    await others.getByRole('button').click();
    await says(page, 'status', 'has ended');
    await elsewhere.reload();
    await says(elsewhere, 'status', 'Your session has ended. Sign in again.');
    await signIn(elsewhere, grace.username, grace.password);
    await elsewhere.waitForURL(demo.url('/account'));

    expect(await page.getByRole('link', { name: 'Users' }).count()).toBe(0);
    await page.goto(demo.url('/users'));
    await page.getByRole('heading', { name: 'Administrators only' }).waitFor();
    await follow(page.getByRole('link', { name: 'Sessions' }));
    await page.getByRole('button', { name: 'End all' }).click();
    await agree(page, 'End all sessions');
    await page.waitForURL(demo.url('/'));
  });

  test('signing out while the page is still loading leads to the start page', async () => {
    const page = await demo.openSignedUp(
      { email: 'jean@example.com', password: 'eniac ballistics' },
      '/sessions',
    );
    let answered = () => {};
    const late = new Promise<void>((resolve) => {
      answered = resolve;
    });
    await page.route('**/auth/sign-in-methods', async (route) => {
      await page.waitForResponse((response) => response.url().endsWith('/auth/signout'));
      await route.continue();
    });
    page.on('response', (response) => {
      if (response.url().endsWith('/auth/sign-in-methods')) answered();
    });
    // The page that the sign-out leads to is held, so that the late answer certainly comes before it.
    await page.route(demo.url('/'), async (route) => {
      await late;
      await route.continue();
    });
    await page.goto(demo.url('/account'));
    await page.getByText('{"hello":"jean@example.com"}').waitFor();
    await signOut(page);
    await page.waitForURL(demo.url('/'));
  });

  test('the sessions page shows the name of a browser, and the user agent of a program', async () => {
    const page = await demo.openSignedIn(grace, '/sessions');
    const credentials = { credential: grace.email, password: grace.password };
    await fetch(demo.url('/auth/signin/credential'), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'backup-script/2.1' },
      body: JSON.stringify(credentials),
    });
    await page.reload();
    await page.getByText('Chrome on Linux').waitFor();
    await page.getByText('backup-script/2.1').waitFor();
  });

  test('a session that ended in the meantime redirects to the sign-in page and back', async () => {
    const page = await demo.openSignedIn(grace, '/api-keys');
    await page.getByText('You have no keys yet.').waitFor();
    await page.getByLabel('Name').fill('too late');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Create key' }).click();
    await says(page, 'status', 'Your session has ended. Sign in again.');
    await signIn(page, grace.email, grace.password);
    await page.waitForURL(demo.url('/api-keys'));
  });

  test('the sign-in page redirects only within the app, whether or not the user has to sign in', async () => {
    const page = await demo.openSignedIn(grace, '/account');
    const elsewhere = ['https://example.org/', '//example.org', '/\\example.org', 'javascript:alert(1)'];
    for (const next of [...elsewhere, `blob:${demo.url('/x')}`]) {
      await page.goto(demo.url(`/sign-in?next=${encodeURIComponent(next)}`));
      expect(page.url()).toBe(demo.url('/account'));
    }
    await page.goto(demo.url('/sign-in?next=/sessions'));
    expect(page.url()).toBe(demo.url('/sessions'));

    for (const next of ['//example.org', 'javascript:alert(1)']) {
      const visitor = await demo.open(`/sign-in?next=${encodeURIComponent(next)}`);
      await signIn(visitor, grace.email, grace.password);
      await visitor.waitForURL(demo.url('/account'));
    }
  });

  test('the page that a visitor wanted is kept while they sign up', async () => {
    const page = await demo.open('/api-keys');
    await follow(page.getByRole('main').getByRole('link', { name: 'Sign up' }));
    await page.getByLabel('Email').fill('radia@example.com');
    await page.getByLabel('Password', { exact: true }).fill('a spanning tree of words');
    await page.getByRole('button', { name: 'Sign up', exact: true }).click();
    await page.waitForURL(demo.url('/api-keys'));

    const other = await demo.open('/sign-up?next=/sessions');
    await follow(other.getByRole('navigation').getByRole('link', { name: 'Sign in' }));
    await signIn(other, 'radia@example.com', 'a spanning tree of words');
    await other.waitForURL(demo.url('/sessions'));

    const misled = await demo.open('/sign-up?next=//example.org');
    await misled.getByLabel('Email').fill('margaret@example.com');
    await misled.getByLabel('Password', { exact: true }).fill('a priority display');
    await misled.getByRole('button', { name: 'Sign up', exact: true }).click();
    await misled.waitForURL(demo.url('/account'));
  });

  test('after signing out, the back button shows nothing private', async () => {
    const page = await demo.openSignedIn(grace, '/account');
    await page.getByText('{"hello":"grace"}').waitFor();
    await signOut(page);
    await page.waitForURL(demo.url('/'));
    await page.goBack();
    await page.waitForURL(/\/sign-in\?next=%2Faccount$/);

    // Some browsers bring back a page as it was. Chromium does not in this case, so the event is simulated.
    const kept = await demo.openSignedIn(grace, '/account');
    await kept.getByText('{"hello":"grace"}').waitFor();
    await kept.context().clearCookies();
    await kept.evaluate(() => {
      window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    });
    await kept.waitForURL(/\/sign-in\?next=%2Faccount$/);
  });

  test('the page for an unknown path has the navigation and the sign-out button', async () => {
    const page = await demo.openSignedIn(grace, '/nothing');
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await signOut(page);
    await page.waitForURL(demo.url('/'));
    await page.goto(demo.url('/account'));
    await page.waitForURL(/\/sign-in\?next=%2Faccount$/);
  });

  test('after too many attempts, the user is told how long to wait', async () => {
    await demo.openSignedUp({ email: 'alan@example.com', password: 'a universal machine' }, '/');
    const page = await demo.open('/sign-in');
    for (let wrong = 1; wrong <= 5; wrong++) {
      await signIn(page, 'alan@example.com', `guess number ${wrong}`);
      await says(page, 'alert', 'is wrong');
    }
    await signIn(page, 'alan@example.com', 'a universal machine');
    await says(page, 'alert', /Too many attempts\. Try again in \d+ seconds?\./);
  });
});
