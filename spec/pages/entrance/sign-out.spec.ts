import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { twoFactor } from '../../../lib/index.js';
import { ada, password } from '../../support/app.js';
import { isSignedIn, type PagesApp, signInOn, startPagesApp } from '../../support/pages-app.js';

const plugins = [password(), twoFactor()] as const;
let app: PagesApp<typeof plugins>;
beforeAll(async () => {
  app = await startPagesApp(plugins);
  await app.auth.credential.signUp(ada);
});
afterAll(() => app.stop());

test('a GET asks, and only the form signs out', async () => {
  const browser = app.open();
  await signInOn(browser, ada);
  const page = await browser.open('/auth/sign-out');
  expect([page.status, page.heading]).toEqual([200, 'Sign out']);
  expect(page.text).toContain(`You are signed in as ${ada.email}.`);
  expect(page.links).toContain('/home');
  expect(await isSignedIn(browser)).toBe(true);
  const answer = await browser.submit(page, 'confirm');
  expect([answer.status, answer.location]).toEqual([303, '/auth/sign-in?done=signed-out']);
  expect(await isSignedIn(browser)).toBe(false);
  expect((await browser.follow(answer)).text).toContain('You are signed out.');
});

test('without a session, it leads to the sign-in', async () => {
  expect((await app.open().open('/auth/sign-out')).location).toBe('/auth/sign-in');
});

test('a form that is sent twice shows no error', async () => {
  const browser = app.open();
  await signInOn(browser, ada);
  const page = await browser.open('/auth/sign-out');
  await browser.submit(page, 'confirm');
  const again = await browser.follow(await browser.submit(page, 'confirm'));
  expect([again.status, again.heading, again.error]).toEqual([200, 'Sign in to localhost', null]);
});
