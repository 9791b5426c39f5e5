import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { password } from '../../support/app.js';
import type { PageBrowser } from '../../support/page-browser.js';
import { type PagesApp, startPagesApp } from '../../support/pages-app.js';

const plugins = [password({ identifier: 'either', signInOnSignUp: true })] as const;
const person = { username: 'countess', password: 'a long enough password' };

let app: PagesApp<typeof plugins>;
let browser: PageBrowser;
beforeAll(async () => {
  app = await startPagesApp(plugins, { config: { accountDeletion: { graceDays: 10 } } });
  browser = app.open();
});
afterAll(() => app.stop());

test('a sign-up says that one of email and username is enough, and has one error if both are empty', async () => {
  const page = await browser.open('/auth/sign-up');
  const hint = 'Enter an email, a username or both. Without an email, you cannot reset a forgotten password.';
  expect(page.text).toContain(hint);
  expect(page.text).not.toContain('(optional)');
  const empty = await browser.submit(page, 'password', { password: person.password });
  expect([empty.status, empty.error]).toEqual([422, null]);
  expect(empty.fieldErrors).toEqual(['Enter an email, a username or both.']);
  expect((await browser.submit(empty, 'password', person)).status).toBe(303);
});

test('the profile offers to add an email', async () => {
  const { text } = await browser.open('/auth/account');
  expect(text).toContain('Add an email');
  expect(text).toContain('Once you open it, your account has this email.');
  expect(text).not.toMatch(/Change the email|New email|Your email changes/);
});

test('no page speaks of emails that the user does not get', async () => {
  const { text } = await browser.open('/auth/account/security');
  expect(text).toContain('Browsers that you have used');
  expect(text).not.toMatch(/you get an email|link in the email/);
});

test('a deletion says who can restore the account', async () => {
  const page = await browser.open('/auth/account');
  expect(page.text).toContain('Until then, only the people who run this app can restore it.');
  expect(page.text).not.toContain('a link that we email to you');
  await browser.submit(page, 'delete', { confirmation: person.username });
  const rejected = await app.open().post('/auth/sign-in/password', {
    credential: person.username,
    password: person.password,
  });
  expect(rejected.error).toContain(
    'it can be restored: with the link in the email about the deletion, if there is one, or by the people who run this app.',
  );
});
