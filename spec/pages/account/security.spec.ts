import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { html } from '../../../lib/html.js';
import { oauth, twoFactor } from '../../../lib/index.js';
import { definePlugin } from '../../../lib/plugin.js';
import { password } from '../../support/app.js';
import { fixedProvider } from '../../support/fixed-provider.js';
import type { PageBrowser, Shown } from '../../support/page-browser.js';
import {
  createPerson,
  isSignedIn,
  type PagesApp,
  pathOf,
  signInOn,
  startPagesApp,
} from '../../support/pages-app.js';
import { codeOf, wrongCode } from '../../support/two-factor.js';

const PATH = '/auth/account/security';
const EVIL = '<img src=x onerror=alert(1)>';

/** A plugin of somebody else's, which adds a card. */
const other = definePlugin({
  name: 'other',
  setup: () => ({
    api: null,
    forPages: {
      card: async ({ user }) => ({
        title: `Card of ${EVIL}`,
        content: html`<p>for ${user.email} ${EVIL}</p>`,
      }),
    },
  }),
});
const plugins = [password(), twoFactor(), oauth(), fixedProvider(), other] as const;

let app: PagesApp<typeof plugins>;
let people = 0;
let person: { email: string; password: string };
let id: string;
let browser: PageBrowser;
beforeAll(async () => {
  app = await startPagesApp(plugins, {
    config: { tasks: { terms: { open: (user) => user.email?.startsWith('task') === true, page: '/terms' } } },
  });
});
afterAll(() => app.stop());
beforeEach(async () => {
  person = { email: `user-${people++}@example.com`, password: 'an analytical engine' };
  id = await createPerson(app as never, person);
  browser = app.open();
  expect((await signInOn(browser, person)).location).toBe('/home');
});

const open = () => browser.open(PATH);
/** The key of the authenticator app that a page shows. */
const keyOn = ({ text }: Shown) =>
  /in the app: ?((?:[A-Z2-7]{4} ?){8})/.exec(text)?.[1]?.replaceAll(' ', '') ?? '';
const codesOn = ({ text }: Shown) => text.match(/\b[0-9a-z]{4}(?:-[0-9a-z]{4}){2}\b/g) ?? [];

describe('the password', () => {
  test('is changed with the present one, and other sessions end', async () => {
    const elsewhere = app.open();
    await signInOn(elsewhere, person);
    const changed = 'a difference engine';
    const refused = await browser.submit(await open(), 'change-password', {
      current_password: 'wrong',
      new_password: changed,
    });
    expect([refused.status, refused.error === null]).toEqual([401, false]);
    expect(refused.body).not.toContain(changed);
    const done = await browser.submit(refused, 'change-password', {
      current_password: person.password,
      new_password: changed,
    });
    expect([done.status, done.location]).toEqual([303, `${PATH}?done=password-changed#password`]);
    expect((await browser.follow(done)).text).toContain('Your password was changed.');
    expect([await isSignedIn(browser), await isSignedIn(elsewhere)]).toEqual([true, false]);
  });

  test('cannot be removed where it is the only sign-in method', async () => {
    const page = await open();
    expect(page.actions).not.toContain(`${PATH}/remove-password`);
    expect(page.text).toContain('Sign-in methods Password');
  });
});

describe('an authenticator app', () => {
  test('is set up with the key that the page shows until it is confirmed', async () => {
    const begun = await browser.submit(await open(), 'set-up-app', {});
    expect([begun.status, begun.location]).toEqual([303, `${PATH}#second-factor`]);
    const page = await browser.follow(begun);
    const key = keyOn(page);
    expect(key).toHaveLength(32);
    expect(page.body).toContain('<svg role="img" aria-label="QR code for your authenticator app"');
    expect(keyOn(await open())).toBe(key);
    const refused = await browser.submit(page, 'confirm-app', { code: wrongCode(key) });
    expect([refused.status, keyOn(refused)]).toEqual([401, key]);
    // Another session of the account does not see it.
    const elsewhere = app.open();
    await signInOn(elsewhere, person);
    expect(keyOn(await elsewhere.open(PATH))).toBe('');
    const done = await browser.submit(refused, 'confirm-app', { code: codeOf(key) });
    expect([done.status, done.location]).toEqual([303, `${PATH}?done=second-factor-on#second-factor`]);
    const shown = await browser.follow(done);
    expect(codesOn(shown)).toHaveLength(10);
    expect(shown.text).toContain('You have 10 recovery codes left.');
    for (const again of [await open(), await browser.follow(done)]) {
      expect(codesOn(again)).toEqual([]);
      expect(keyOn(again)).toBe('');
    }
  });

  test('begun again has another key', async () => {
    const first = keyOn(await browser.follow(await browser.submit(await open(), 'set-up-app', {})));
    const second = keyOn(await browser.follow(await browser.submit(await open(), 'set-up-app', {})));
    expect(second).not.toBe(first);
    expect(keyOn(await open())).toBe(second);
  });

  test('asks for a recent sign-in, and leads to it', async () => {
    const page = await open();
    await app.auth.models.Session.update({ authenticatedAt: new Date(0) }, { where: { userId: id } });
    const refused = await browser.submit(page, 'set-up-app', {});
    expect(refused.status).toBe(403);
    expect(refused.links).toContain(`/auth/reauthenticate?return_to=${encodeURIComponent(PATH)}`);
  });
});

test('an account at a provider is linked by a link, and a refusal does not say that it was', async () => {
  const page = await open();
  const link = page.links.find((href) => pathOf(href).startsWith('/auth/oauth/'));
  expect(link).toContain('/link?callback_url=');
  const back = await browser.open(`${PATH}?done=linked&error=access_denied`);
  expect(back.text).not.toContain('The account was linked.');
});

test('a browser is forgotten with the password, and another one stays', async () => {
  const page = await open();
  const [action = ''] = page.actions.filter((one) => one.includes('/forget-browser/'));
  const done = await browser.submit(page, action.split('/').slice(-2).join('/'), {});
  expect([done.status, done.location]).toEqual([303, `${PATH}?done=browser-forgotten#browsers`]);
  expect((await open()).actions.filter((one) => one.includes('/forget-browser/'))).toEqual([]);
});

test('a plugin adds a card, whose values are escaped', async () => {
  const page = await open();
  expect(page.text).toContain(`Card of ${EVIL} for ${person.email} ${EVIL}`);
  expect(page.elements.filter(({ tagName }) => tagName === 'img')).toEqual([]);
});

test('changes are listed by name', async () => {
  await app.auth.credential.changePassword({
    userId: id,
    sessionId: (await app.auth.listSessions(id))[0]?.id ?? '',
    currentPassword: person.password,
    newPassword: 'a difference engine',
  });
  await signInOn(browser, { ...person, password: 'a difference engine' });
  expect((await open()).text).toContain('The password was changed');
});

describe('while a task is open', () => {
  test('the page shows only the cards that do it', async () => {
    await app.auth.users.requireNewPassword(id);
    // Its email is proven, so the password opens nothing at all.
    const refused = await signInOn(app.open(), person);
    expect(refused.status).toBe(403);
  });

  test('the sign-in page leads to the page of the task', async () => {
    const tasked = { email: `task-${people++}@example.com`, password: person.password };
    await createPerson(app as never, tasked);
    const visitor = app.open();
    await signInOn(visitor, tasked);
    expect((await visitor.open('/auth/sign-in?return_to=/deep')).location).toBe('/terms?return_to=%2Fdeep');
  });
});
