import { expect, test } from '@jest/globals';
import { postJson } from '../support/demo.js';
import { agree, demoInBrowser, inBrowser, says } from './browser.js';

const grace = { email: 'grace@example.com', password: 'nanoseconds of wire' };

inBrowser('the admin pages of the demo app', () => {
  const demo = demoInBrowser();

  test('an administrator can find a user and end their sessions', async () => {
    const user = await demo.openSignedUp(grace, '/account');
    const page = await demo.openAsAdmin('/account');
    await page.getByRole('link', { name: 'Users' }).click();
    await page.getByText('admin@example.com').waitFor();
    await page.getByLabel('Search').fill('GRACE');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('admin@example.com').waitFor({ state: 'detached' });
    // All matching users fit on one page.
    expect(await page.getByRole('button', { name: 'Next' }).isVisible()).toBe(false);
    await page.getByRole('button', { name: `End sessions of ${grace.email}` }).click();
    await agree(page, 'End sessions');
    await says(page, 'status', 'grace@example.com: 1 session ended');

    await user.reload();
    await user.waitForURL(/\/sign-in/);
  });

  test('all links of the header fit next to the brand name', async () => {
    const page = await demo.openAsAdmin('/users');
    await page.setViewportSize({ width: 1100, height: 700 });
    const name = await page.locator('.brand').boundingBox();
    const last = await page.getByRole('button', { name: 'Sign out' }).boundingBox();
    expect(last?.y).toBeLessThan((name?.y ?? 0) + (name?.height ?? 0));
  });

  test('events can be filtered by user and by kind', async () => {
    const wrong = { credential: grace.email, password: 'not her password' };
    await postJson(demo.url('/auth/signin/credential'), wrong);
    const page = await demo.openAsAdmin('/users');
    await page.getByRole('link', { name: `Events of ${grace.email}` }).click();
    const events = page.getByRole('listitem');
    const kinds = () => events.locator('strong').allTextContents();
    await events.getByText('sign_in.failed').waitFor();
    await page.getByText(`Events of ${grace.email}`).waitFor();
    expect(new Set(await kinds())).toEqual(
      new Set([
        'user.created',
        'session.created',
        'admin.sessions_revoked',
        'session.revoked',
        'sign_in.failed',
      ]),
    );

    await events.getByText('by admin@example.com').waitFor();
    await events
      .getByText(/ · session …[0-9a-f]{6}$/)
      .first()
      .waitFor();

    await page.getByLabel('Kind of event').selectOption('user.created');
    await page.getByRole('button', { name: 'Show' }).click();
    await events.getByText('session.created').first().waitFor({ state: 'detached' });
    expect(await kinds()).toEqual(['user.created']);

    await page.getByRole('searchbox').fill('nobody@example.com');
    await page.getByRole('button', { name: 'Show' }).click();
    await says(page, 'status', 'There is no such user.');
  });

  test('search and page are in the URL, so that reloading and going back and forward keep them', async () => {
    await demo.addUsers(25, 'person');
    const page = await demo.openAsAdmin('/users');
    const next = page.getByRole('button', { name: 'Next' });
    const rows = page.getByRole('listitem');
    const first = () => rows.first().locator('strong').textContent();
    await page.getByLabel('Search').fill('person');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('person24@example.com').waitFor();
    await next.click();
    await page.getByText('person14@example.com').waitFor();
    await next.click();
    await page.getByText('person4@example.com').waitFor();
    expect(await next.getAttribute('aria-disabled')).toBe('true');
    expect(await next.evaluate((button) => button === document.activeElement)).toBe(true);

    await page.reload();
    await page.getByText('person4@example.com').waitFor();
    expect(await page.getByLabel('Search').inputValue()).toBe('person');
    await page.getByRole('button', { name: 'Previous' }).click();
    await page.getByText('person14@example.com').waitFor();
    await page.goBack();
    await page.getByText('person4@example.com').waitFor();
    await page.goForward();
    await page.getByText('person14@example.com').waitFor();
    await page.getByRole('button', { name: 'Previous' }).click();
    await page.getByText('person24@example.com').waitFor();
    expect(await first()).toBe('person24@example.com');

    // In another tab, the URL alone has to be enough.
    await next.click();
    await page.getByText('person14@example.com').waitFor();
    const other = await demo.openAsAdmin(page.url().slice(demo.url('').length));
    await other.getByText('person14@example.com').waitFor();
    await other.getByRole('button', { name: 'Previous' }).click();
    await other.getByText('person24@example.com').waitFor();

    await page.getByLabel('Search').fill('nobody at all');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('No users found.').waitFor();
    await page.goBack();
    await page.getByText('person14@example.com').waitFor();
  });

  test('the events of a user are found by anything that identifies the user, and otherwise there is a choice', async () => {
    await demo.addUsers(25, 'ann');
    await demo.addUsers(1, null);
    const page = await demo.openAsAdmin('/events');
    const find = async (text: string) => {
      await page.getByRole('searchbox').fill(text);
      await page.getByRole('button', { name: 'Show', exact: true }).click();
    };
    await find('ann');
    await says(page, 'status', 'Several users match. Choose one.');
    await page.getByRole('link', { name: 'More users that match' }).waitFor();
    expect(await page.getByRole('listitem').count()).toBe(21);
    await page.getByRole('link', { name: 'ann24@example.com' }).click();
    await page.getByText('Events of ann24@example.com').waitFor();
    await page.getByText('No events found.').waitFor();
    await page.reload();
    await page.getByText('Events of ann24@example.com').waitFor();

    await find('ann');
    await page.getByRole('link', { name: 'More users that match' }).click();
    await page.waitForURL(demo.url('/users?search=ann'));
    await page.getByText('ann24@example.com').waitFor();

    await page.goto(demo.url('/users'));
    const nameless = page.getByRole('listitem').filter({ hasText: 'User …' });
    const link = nameless.getByRole('link', { name: /^Events of User …/ });
    const id = new URL((await link.getAttribute('href')) ?? '', page.url()).searchParams.get('user_id') ?? '';
    await link.click();
    await page.getByText(`Events of User …${id.slice(-6)}`).waitFor();
    await page.getByRole('link', { name: 'Show all users' }).click();
    await page.getByRole('listitem').getByText('session.created').first().waitFor();
    await find(id);
    await page.getByText(`Events of User …${id.slice(-6)}`).waitFor();
  });

  test('the event list has pages, newest first, and the kind is in the URL', async () => {
    const page = await demo.openAsAdmin('/events');
    await page.getByLabel('Kind of event').selectOption('session.created');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.waitForURL(/kind=session\.created/);
    await page.reload();
    await page.getByRole('listitem').getByText('session.created').first().waitFor();
    expect(await page.getByLabel('Kind of event').inputValue()).toBe('session.created');
    const kinds = await page.getByRole('listitem').locator('strong').allTextContents();
    expect(new Set(kinds)).toEqual(new Set(['session.created']));
  });
});
