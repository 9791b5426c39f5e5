import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ada, password } from '../support/app.js';
import type { PageBrowser, Shown } from '../support/page-browser.js';
import { type PagesApp, signInOn, startPagesApp } from '../support/pages-app.js';

const plugins = [password({ sendVerificationOnSignUp: true, signInOnSignUp: true })] as const;
let app: PagesApp<typeof plugins>;
let browser: PageBrowser;
beforeAll(async () => {
  app = await startPagesApp(plugins);
  browser = app.open();
});
afterAll(() => app.stop());

/** The shape of the icon above the title of a page, and the title. */
function iconAndTitle({ body }: Shown): readonly (string | undefined)[] {
  const [, icon, title] =
    /<main[^>]*>\n(?:<svg data-part="mark"[^>]*>(.*?)<\/svg>)?<h1>(.*?)<\/h1>/.exec(body) ?? [];
  expect(body.match(/data-part="mark"/g) ?? []).toHaveLength(icon === undefined ? 0 : 1);
  return [/<(rect|circle) /.exec(icon ?? '')?.[1], title];
}

test('an email on its way has an envelope', async () => {
  const form = await browser.open('/auth/forgot-password');
  const sent = await browser.submit(form, 'send', { email: ada.email });
  expect(iconAndTitle(await browser.follow(sent))).toEqual(['rect', 'Check your email']);
  // Nothing was emailed to this browser.
  const stranger = await browser.open('/auth/verify-email?waiting=true');
  expect(iconAndTitle(stranger)).toEqual([undefined, 'Confirm your email']);
});

test('a confirmed email has a tick', async () => {
  const { url } = await app.mailOf(ada.email, 'verify-email', async () =>
    browser.submit(await browser.open('/auth/sign-up'), 'password', ada),
  );
  const waiting = await browser.open('/auth/verify-email?waiting=true');
  expect(iconAndTitle(waiting)).toEqual(['rect', 'Confirm your email first']);
  const link = new URL(url ?? '');
  const page = await browser.open(link.pathname + link.search);
  expect(iconAndTitle(page)).toEqual([undefined, 'Confirm your email']);
  const done = await browser.follow(await browser.submit(page, 'confirm'));
  expect(iconAndTitle(done)).toEqual(['circle', 'Your email is confirmed']);
});

test('a changed email has a tick', async () => {
  const own = app.open();
  await signInOn(own, ada);
  const newEmail = 'lovelace@example.com';
  const { url } = await app.mailOf(newEmail, 'verify-new-email', async () =>
    own.submit(await own.open('/auth/account'), 'email', { new_email: newEmail }),
  );
  const link = new URL(url ?? '');
  const page = await own.open(link.pathname + link.search);
  const typed: Record<string, string> = page.form('confirm').has('password')
    ? { password: ada.password }
    : {};
  const done = await own.follow(await own.submit(page, 'confirm', typed));
  expect(iconAndTitle(done)).toEqual(['circle', 'Your email was changed']);
});

test.each([
  ['/auth/sign-up', 'Create an account'],
  ['/auth/verify-email', 'This link is no longer valid'],
  ['/auth/change-email', 'This link is no longer valid'],
])('%s has no icon above its title', async (path, title) => {
  expect(iconAndTitle(await app.open().open(path))).toEqual([undefined, title]);
});
