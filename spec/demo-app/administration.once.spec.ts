import { expect, test } from '@jest/globals';
import { postJson } from '../support/demo.js';
import { demoInBrowser, inBrowser, says } from './browser.js';

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
    await page.getByRole('button', { name: `End the sessions of ${grace.email}` }).click();
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
    expect(await page.getByLabel('User', { exact: false }).first().inputValue()).toBe(grace.email);
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

  test('the user list has pages that can be browsed in both directions', async () => {
    for (let i = 0; i < 10; i++) {
      const account = { email: `person${i}@example.com`, password: 'a good long passphrase' };
      expect((await postJson(demo.url('/auth/signup/credential'), account)).status).toBe(201);
    }
    const page = await demo.openAsAdmin('/users');
    await page.getByText('person9@example.com').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('admin@example.com').waitFor();
    expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Previous' }).click();
    await page.getByText('person9@example.com').waitFor();
  });

  test('the event list has pages, newest first', async () => {
    const page = await demo.openAsAdmin('/events');
    const times = page.locator('li > span');
    await times.first().waitFor();
    expect(await times.count()).toBe(20);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Previous', disabled: false }).waitFor();
    expect(await times.count()).toBeGreaterThan(0);
  });
});
