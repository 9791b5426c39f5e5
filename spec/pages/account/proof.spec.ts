import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { apiKeys, oauth, twoFactor } from '../../../lib/index.js';
import { actionOf } from '../../../lib/pages/entrance/reauthenticate.js';
import { en } from '../../../lib/words/pages/index.js';
import { ageSessions } from '../../support/account-pages.js';
import { ada, password } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { fixedProvider } from '../../support/fixed-provider.js';
import { attribute, elementsIn, type PageBrowser, type Shown, textOf } from '../../support/page-browser.js';
import {
  createPerson,
  createProtected,
  type PagesApp,
  signInOn,
  startPagesApp,
} from '../../support/pages-app.js';
import { formsIn, pagesIn } from '../../support/pages-walk.js';
import { codeOf, forgetSteps } from '../../support/two-factor.js';

const plugins = [password(), apiKeys(), twoFactor(), oauth(), fixedProvider()] as const;
const SECURITY = '/auth/account/security';

let app: PagesApp<typeof plugins>;
let people = 0;
let person: { email: string; password: string };
let browser: PageBrowser;
beforeAll(async () => {
  app = await startPagesApp(plugins);
});
afterAll(() => app.stop());
const newPerson = () => ({ email: `person-${people++}@example.com`, password: ada.password });
const age = () => ageSessions(app as never);
/** Confirms with the password on the page that a press has led to, and opens the page that it leads back to. */
const confirmed = async (pressed: Shown) => {
  const page = await browser.follow(pressed);
  expect(page.heading).toBe('Confirm that it is you');
  return browser.follow(await browser.submit(page, 'confirm', { password: person.password }));
};
/** The form that a script sends again, and the forms that say that the button has to be pressed again. */
const resuming = (page: Shown) =>
  page
    .all('form')
    .filter((one) => attribute(one, 'data-resumes') !== undefined)
    .map((one) => attribute(one, 'action'));
const AGAIN = 'Nothing was done yet. Press the button again.';
/** The notice at the top of a page whose button has to be pressed again, and the button that its link leads to. */
const pressedAgain = (page: Shown) => {
  const notices = page
    .all('p')
    .filter((one) => attribute(one, 'data-part') === 'warning' && attribute(one, 'role') === 'status');
  const ids = notices.flatMap((notice) =>
    [...elementsIn(notice)].flatMap((one) => attribute(one, 'href')?.slice(1) ?? []),
  );
  return {
    notices: notices.map(textOf),
    buttons: page.all('button').filter((one) => ids.includes(attribute(one, 'id') ?? '')),
    focused: page.elements.filter((one) => attribute(one, 'autofocus') !== undefined),
  };
};
const pressCookies = ({ cookies }: Shown) => cookies.filter((line) => line.startsWith('latchkey-press='));

describe('a session that is not recent', () => {
  beforeEach(async () => {
    person = newPerson();
    await createPerson(app as never, person);
    browser = app.open();
    expect((await signInOn(browser, person)).location).toBe('/home');
    await age();
  });

  test.each([
    ['/auth/account', ['email', 'download', 'delete']],
    ['/auth/account/api-keys', ['create']],
    [SECURITY, ['set-up-app']],
  ])('sees the forms of %s as any other, without a password', async (path, forms) => {
    const page = await browser.open(path);
    for (const name of forms) expect(page.form(name).names).not.toContain('password');
    expect(page.links.filter((href) => href.startsWith('/auth/reauthenticate'))).toEqual(
      // The provider is no form, so its link cannot wait.
      path === SECURITY
        ? [`/auth/reauthenticate?return_to=${encodeURIComponent(`${SECURITY}#linked-accounts`)}`]
        : [],
    );
  });

  test('is asked at the press, and comes back to what was typed, which a script sends once', async () => {
    const pressed = await browser.submit(await browser.open('/auth/account'), 'email', {
      new_email: 'new@example.com',
    });
    expect(pressed.location).toBe('/auth/reauthenticate?return_to=%2Fauth%2Faccount');
    const back = await confirmed(pressed);
    expect(back.form('email').value('new_email')).toBe('new@example.com');
    expect(resuming(back)).toEqual(['/auth/account/email']);
    expect(back.text.split(AGAIN)).toHaveLength(2);
    // Nothing has happened on the way.
    expect(app.mails.filter(({ to }) => to === 'new@example.com')).toEqual([]);
    const again = await browser.open('/auth/account');
    expect([again.form('email').value('new_email'), resuming(again)]).toEqual(['', []]);
    const done = await browser.submit(back, 'email');
    expect(done.location).toBe('/auth/account?done=email-change-sent');
  });

  test('reads what it confirms, and no link of another site says it', async () => {
    const named = 'To change your email, confirm that it is you.';
    const pressed = await browser.submit(await browser.open('/auth/account'), 'email', {
      new_email: 'new@example.com',
    });
    const page = await browser.follow(pressed);
    expect(page.text).toContain(named);
    const wrong = await browser.submit(page, 'confirm', { password: 'not the password' });
    expect(wrong.text).toContain(named);
    // Another page drops the form that waits.
    const other = await browser.open(`/auth/reauthenticate?return_to=${encodeURIComponent(SECURITY)}`);
    expect(other.text).toContain('For your security, confirm that it is you before you continue.');
    expect((await browser.open(pressed.location ?? '')).text).not.toContain(named);
  });

  test('comes back to an open card, and to the page that it came from', async () => {
    const page = await browser.open(`${SECURITY}?return_to=/deep`);
    const back = await confirmed(await browser.submit(page, 'set-up-app'));
    expect([back.url, resuming(back)]).toEqual([`${SECURITY}?return_to=%2Fdeep`, [`${SECURITY}/set-up-app`]]);
    const begun = await browser.submit(back, 'set-up-app');
    expect(begun.location).toBe(`${SECURITY}/second-factor?return_to=%2Fdeep`);
    await age();
    const [forget = ''] = (await browser.open(SECURITY)).actions.filter((one) => one.includes('/forget-'));
    const name = forget.split('/').slice(-2).join('/');
    const forgotten = await confirmed(await browser.submit(await browser.open(SECURITY), name));
    expect(resuming(forgotten)).toEqual([forget]);
    expect(
      forgotten.all('details').filter((one) => attribute(one, 'open') !== undefined).length,
    ).toBeGreaterThan(0);
  });

  test('presses once more to delete the account, with what was typed', async () => {
    const typed = { confirmation: person.email };
    const back = await confirmed(await browser.submit(await browser.open('/auth/account'), 'delete', typed));
    expect([back.form('delete').value('confirmation'), resuming(back)]).toEqual([person.email, []]);
    expect(back.text).toContain(AGAIN);
    const { notices, buttons, focused } = pressedAgain(back);
    expect(notices).toEqual(['You have confirmed that it is you. Continue with “Yes, delete”.']);
    // The page opens at the button, without a script too.
    expect(focused).toEqual(buttons);
    expect(buttons.map(textOf)).toEqual(['Yes, delete my account']);
    const [details] = back.all('details').filter((one) => [...elementsIn(one)].includes(buttons[0] as never));
    expect(attribute(details as never, 'open')).toBe('');
    const done = await browser.submit(back, 'delete');
    expect(done.location).toBe('/auth/sign-in?done=account-deleted');
  });

  test('comes back to the new email, and not to the one that waits for its link', async () => {
    browser = app.open();
    await signInOn(browser, person);
    const asked = await browser.submit(await browser.open('/auth/account'), 'email', {
      new_email: 'first@example.com',
    });
    const page = await browser.follow(asked);
    expect(page.text).toContain('Waiting for you to open the link at first@example.com.');
    await age();
    const back = await confirmed(await browser.post('/auth/account/email', { new_email: 'new@example.com' }));
    expect(resuming(back)).toEqual(['/auth/account/email']);
    expect(pressedAgain(back).focused).toHaveLength(1);
  });

  test('keeps what was typed if it goes back without confirming, and sends nothing', async () => {
    await browser.submit(await browser.open('/auth/account'), 'email', { new_email: 'new@example.com' });
    const back = await browser.open('/auth/account');
    expect([back.form('email').value('new_email'), resuming(back)]).toEqual(['new@example.com', []]);
    expect(back.text).not.toContain(AGAIN);
    expect(pressedAgain(back)).toEqual({ notices: [], buttons: [], focused: [] });
  });

  /** Types a new address, and presses its button. */
  const pressEmail = async () =>
    browser.submit(await browser.open('/auth/account'), 'email', { new_email: 'new@example.com' });
  /** Confirms who the user is, to continue with another page. */
  const confirmFor = async (path: string) => {
    const page = await browser.open(`/auth/reauthenticate?return_to=${encodeURIComponent(path)}`);
    return browser.submit(page, 'confirm', { password: person.password });
  };
  /** Opens the page of the press, as a link of the app does. */
  const comeBack = () => browser.open('/auth/account', { 'sec-fetch-site': 'same-origin' });

  test.each([SECURITY, '/auth/account/api-keys', '/auth/account/sessions'])(
    'drops the press when %s is opened',
    async (path) => {
      await pressEmail();
      await browser.open(path);
      await app.auth.models.Session.update({ authenticatedAt: new Date() }, { where: {} });
      const back = await comeBack();
      expect([back.form('email').value('new_email'), resuming(back)]).toEqual(['', []]);
      expect(back.text).not.toContain(AGAIN);
    },
  );

  test.each(['/sensitive', SECURITY])('drops the press when it confirms for %s', async (path) => {
    await pressEmail();
    expect((await confirmFor(path)).location).toBe(path);
    const back = await comeBack();
    expect([back.form('email').value('new_email'), resuming(back)]).toEqual(['', []]);
  });

  test('drops the press when another tab confirms for another page', async () => {
    const other = await browser.open('/auth/reauthenticate?return_to=/sensitive');
    await pressEmail();
    await browser.submit(other, 'confirm', { password: person.password });
    expect(resuming(await comeBack())).toEqual([]);
  });

  test('keeps the press while the page of its confirmation is opened again', async () => {
    const pressed = await pressEmail();
    for (let times = 0; times < 2; times++) await browser.follow(pressed);
    expect(resuming(await confirmed(pressed))).toEqual(['/auth/account/email']);
  });

  test.each([
    ['a link of another site', 'cross-site'],
    ['a sibling subdomain', 'same-site'],
    ['the address bar', 'none'],
    ['a browser without the header', ''],
  ])('presses once more if %s opens the page', async (_from, site) => {
    const page = await browser.follow(await pressEmail());
    await browser.submit(page, 'confirm', { password: person.password });
    const back = await browser.open('/auth/account', { 'sec-fetch-site': site });
    expect([back.form('email').value('new_email'), resuming(back)]).toEqual(['new@example.com', []]);
    expect(back.text.split(AGAIN)).toHaveLength(2);
    expect(resuming(await comeBack())).toEqual([]);
    expect((await browser.submit(back, 'email')).location).toBe('/auth/account?done=email-change-sent');
  });

  test('keeps no secret, and nothing that another site has sent or another session can see', async () => {
    const secrets = { new_email: 'new@example.com', password: '' };
    const pressed = await browser.post('/auth/account/email', secrets);
    const [cookie = ''] = pressCookies(pressed);
    expect(cookie).toMatch(/; HttpOnly; SameSite=Lax$/);
    expect(decodeURIComponent(cookie)).not.toContain('new@');
    const key = await browser.post('/auth/account/security/set-password', { new_password: 'typed-secret' });
    expect(key.body).not.toContain('typed-secret');
    await browser.submit(await browser.open('/auth/account'), 'email', { new_email: 'new@example.com' });
    await browser.post('/auth/sign-out/confirm', {});
    await signInOn(browser, person);
    expect((await browser.open('/auth/account')).form('email').value('new_email')).toBe('');
    await age();
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const refused = await browser.post('/auth/account/email', { new_email: 'e@evil.example' }, foreign);
    expect([refused.status, pressCookies(refused)]).toEqual([403, []]);
  });
});

describe.each(['a second factor', 'no password'])('with %s, a session that is not recent', (has) => {
  let secret = '';
  beforeAll(async () => {
    browser = app.open();
    person = newPerson();
    if (has === 'no password') {
      const id = await createPerson(app as never, person);
      await signInOn(browser, person);
      await rows(app.database, 'UPDATE users SET password_hash = NULL WHERE id = ?', [id] as never);
    } else {
      ({ secret } = await createProtected(app as never, person));
      await signInOn(browser, person);
      const page = await browser.open('/auth/second-factor');
      const typed = { code: codeOf(secret) };
      expect((await browser.submit(page, 'confirm', typed, { method: 'totp' })).location).toBe('/home');
      await forgetSteps(app as never);
    }
    await age();
  });

  test('sees the forms too, and is asked at the press', async () => {
    const page = await browser.open('/auth/account/api-keys');
    const pressed = await browser.submit(page, 'create', { name: 'nightly', expires_in: '30' });
    expect(pressed.location).toBe('/auth/reauthenticate?return_to=%2Fauth%2Faccount%2Fapi-keys');
    if (has === 'no password') return;
    const confirm = await browser.follow(pressed);
    const back = await browser.follow(
      await browser.submit(confirm, 'confirm', { code: codeOf(secret) }, { code: '' }),
    );
    expect([back.form('create').value('name'), back.form('create').value('expires_in')]).toEqual([
      'nightly',
      '30',
    ]);
    expect((await browser.submit(back, 'create')).status).toBe(303);
    await age();
  });

  test('confirms before it types a new password, which is not kept', async () => {
    const page = await browser.open(SECURITY);
    for (const form of ['change-password', 'set-password'])
      expect(page.actions).not.toContain(`${SECURITY}/${form}`);
    expect(page.links).toContain(
      `/auth/reauthenticate?return_to=${encodeURIComponent(`${SECURITY}#password`)}`,
    );
  });
});

test('every form that needs a recent sign-in has words for what it does', () => {
  const forms = formsIn(pagesIn(app.auth))
    .filter(({ form: { route }, page: { kind } }) => kind === 'account' && route.sensitive)
    .map(({ page, form }) => actionOf(page.name, form.name));
  expect(forms).toContain('account/email');
  expect(forms.filter((name) => en.reauthenticate.actions[name] === undefined)).toEqual([]);
});
