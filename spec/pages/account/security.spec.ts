import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { html } from '../../../lib/html.js';
import { authRouter, oauth, requireSession, twoFactor } from '../../../lib/index.js';
import { definePlugin } from '../../../lib/plugin.js';
import { google } from '../../../lib/providers.js';
import { password } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { fixedProvider } from '../../support/fixed-provider.js';
import { attribute, elementsIn, type PageBrowser, type Shown, textOf } from '../../support/page-browser.js';
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
const ENROLMENT = `${PATH}/second-factor`;
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
const plugins = [
  password(),
  twoFactor(),
  oauth(),
  fixedProvider(),
  google({ clientId: 'id', clientSecret: 'secret' }),
  other,
] as const;

let app: PagesApp<typeof plugins>;
let people = 0;
let person: { email: string; password: string };
let id: string;
let browser: PageBrowser;
beforeAll(async () => {
  app = await startPagesApp(plugins, {
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.get('/strict', requireSession(auth, { aal: 2 }), (_req, res) => void res.send('strict'));
    },
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
/** Links an account at a provider to the user. */
const link = (provider: string) =>
  app.auth.models.Account.create({
    id: randomUUID(),
    userId: id,
    provider,
    issuer: `https://${provider}.example`,
    providerAccountId: id,
    scopes: '',
    accessToken: 'sealed',
    relinkRequired: false,
    refreshedAt: new Date(),
    createdAt: new Date(),
    updatedAt: new Date(),
  });
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
    expect([refused.status, refused.error, refused.title]).toEqual([
      401,
      null,
      'Error: Security – localhost',
    ]);
    expect(refused.body).not.toContain(changed);
    const done = await browser.submit(refused, 'change-password', {
      current_password: person.password,
      new_password: changed,
    });
    expect([done.status, done.location]).toEqual([303, `${PATH}?done=password-changed`]);
    expect((await browser.follow(done)).text).toContain('Your password was changed.');
    expect([await isSignedIn(browser), await isSignedIn(elsewhere)]).toEqual([true, false]);
  });

  test('cannot be removed where it is the only sign-in method', async () => {
    const page = await open();
    expect(page.actions).not.toContain(`${PATH}/remove-password`);
    expect(page.text).toContain('Sign-in methods: Password Two-factor authentication');
    expect(page.links).not.toContain('#passkeys');
  });
});

describe('an authenticator app', () => {
  test('is set up with the key that the page shows until it is confirmed', async () => {
    const begun = await browser.submit(await open(), 'set-up-app', {});
    expect([begun.status, begun.location]).toEqual([303, ENROLMENT]);
    const page = await browser.follow(begun);
    expect(page.heading).toBe('Set up your authenticator app');
    const key = keyOn(page);
    expect(key).toHaveLength(32);
    expect(page.body).toContain('<svg role="img" aria-label="QR code for your authenticator app"');
    expect(keyOn(await browser.open(ENROLMENT))).toBe(key);
    // A script sends a complete code, and can copy the key. The key has no spaces, because not every app ignores them.
    const [code] = page.all('input').filter((one) => attribute(one, 'name') === 'code');
    expect([attribute(code!, 'data-part'), attribute(code!, 'data-length')]).toEqual(['code', '6']);
    const shownKey = page.elements.find((one) => attribute(one, 'id') === 'app-key');
    expect(textOf(shownKey!)).toBe(key);
    expect(page.all('button').some((one) => attribute(one, 'data-copy') === 'app-key')).toBe(true);
    const refused = await browser.submit(page, 'confirm-app', { code: wrongCode(key) });
    expect([refused.status, keyOn(refused), refused.heading]).toEqual([401, key, page.heading]);
    expect(refused.form('confirm-app').attribute('code', 'aria-invalid')).toBe('true');
    // Another session of the account does not see it.
    const elsewhere = app.open();
    await signInOn(elsewhere, person);
    expect((await elsewhere.open(ENROLMENT)).location).toBe(PATH);
    const done = await browser.submit(refused, 'confirm-app', { code: codeOf(key) });
    expect([done.status, done.location]).toEqual([303, `${ENROLMENT}?done=second-factor-on`]);
    const shown = await browser.follow(done);
    const codes = codesOn(shown);
    expect(codes).toHaveLength(10);
    expect([shown.heading, shown.links.includes(PATH)]).toEqual(['Save your recovery codes', true]);
    expect(shown.text).toContain('They are shown only now');
    // They are not shown again.
    expect((await browser.follow(done)).heading).toBe('Security');
    const after = await open();
    expect(codesOn(after)).toEqual([]);
    expect(after.text).toContain('You have 10 recovery codes left.');
  });

  test('begun again has another key', async () => {
    const first = keyOn(await browser.follow(await browser.submit(await open(), 'set-up-app', {})));
    const second = keyOn(await browser.follow(await browser.submit(await open(), 'set-up-app', {})));
    expect(second).not.toBe(first);
    expect(keyOn(await browser.open(ENROLMENT))).toBe(second);
  });

  test('asks for a recent sign-in, and leads to it', async () => {
    const page = await open();
    await app.auth.models.Session.update({ authenticatedAt: new Date(0) }, { where: { userId: id } });
    const pressed = await browser.submit(page, 'set-up-app', {});
    expect(pressed.location).toBe(`/auth/reauthenticate?return_to=${encodeURIComponent(PATH)}`);
  });

  test('leads to the recent sign-in at the press, back, and at last to the page that needs it', async () => {
    await app.auth.models.Session.update({ authenticatedAt: new Date(0) }, { where: { userId: id } });
    const page = await browser.open(`${PATH}?return_to=/strict`);
    const reauthentication = await browser.follow(await browser.submit(page, 'set-up-app', {}));
    const done = await browser.submit(reauthentication, 'confirm', { password: person.password });
    expect(done.location).toBe(`${PATH}?return_to=%2Fstrict`);
    const back = await browser.follow(done);
    const begun = await browser.submit(back, 'set-up-app', {});
    expect(begun.location).toBe(`${ENROLMENT}?return_to=%2Fstrict`);
    const confirmed = await browser.follow(begun);
    const codes = await browser.follow(
      await browser.submit(confirmed, 'confirm-app', { code: codeOf(keyOn(confirmed)) }),
    );
    expect(codes.links).toContain('/strict');
  });

  test('that was started again in another tab says so, and shows the new QR code', async () => {
    const first = await browser.follow(await browser.submit(await open(), 'set-up-app', {}));
    const second = await browser.follow(await browser.submit(await open(), 'set-up-app', {}));
    expect(keyOn(second)).not.toBe(keyOn(first));
    const refused = await browser.submit(first, 'confirm-app', { code: codeOf(keyOn(first)) });
    expect(refused.status).toBe(401);
    expect(refused.text).toContain(
      'This setup was started again in another tab. Scan the new QR code, and enter its code.',
    );
    expect(refused.text).not.toContain('Wait for the next code');
    expect(keyOn(refused)).toBe(keyOn(second));
    const wrong = await browser.submit(refused, 'confirm-app', { code: wrongCode(keyOn(refused)) });
    expect(wrong.text).toContain('Wait for the next code');
    expect(wrong.text).not.toContain('in another tab');
    const done = await browser.submit(wrong, 'confirm-app', { code: codeOf(keyOn(wrong)) });
    expect(done.status).toBe(303);
  });

  test('that is no longer there leads back, and says why', async () => {
    const page = await browser.follow(await browser.submit(await open(), 'set-up-app', {}));
    const code = codeOf(keyOn(page));
    await rows(app.database, 'DELETE FROM totp_enrolments');
    const answer = await browser.submit(page, 'confirm-app', { code });
    expect([answer.status, answer.location]).toEqual([303, `${PATH}?done=set-up-expired`]);
    expect((await browser.follow(answer)).text).toContain('This took too long, or was completed already.');
  });

  test('asks for a confirmed email before the press, and emails the link', async () => {
    const hedy = { email: `hedy-${people++}@example.com`, password: person.password };
    await app.auth.users.create(hedy);
    const one = app.open();
    await signInOn(one, hedy);
    const page = await one.open(PATH);
    expect(page.actions).not.toContain(`${PATH}/set-up-app`);
    expect(page.text).toContain(`Confirm that ${hedy.email} is your email.`);
    const mail = await app.mailOf(hedy.email, 'verify-email', async () => {
      const done = await one.submit(page, 'verify-email', {});
      expect(done.location).toBe(`${PATH}?done=sent`);
      const sent = await one.follow(done);
      expect(sent.text).toContain(`Open the link that we have emailed to ${hedy.email}. Check your spam`);
      expect(textOf(sent.form('verify-email').element)).toContain('Email me a new link');
    });
    await one.submit(await one.open(pathOf(mail.url)), 'confirm', {});
    const after = await one.open(PATH);
    expect(after.actions).toContain(`${PATH}/set-up-app`);
    expect(after.actions).not.toContain(`${PATH}/verify-email`);
  });

  test('that another page needs is asked for with the reason, which no link of another site can show', async () => {
    const reason = 'The page that you opened needs two-factor authentication.';
    expect((await browser.open(`${PATH}?done=second-factor-needed`)).text).not.toContain(reason);
    const led = await browser.open('/strict');
    expect(led.location).toBe(`${PATH}?done=second-factor-needed&return_to=%2Fstrict`);
    expect((await browser.follow(led)).text).toContain(reason);
  });
});

describe('recovery codes that are renewed', () => {
  test('are shown once on their page, and the card counts them', async () => {
    const page = await browser.follow(await browser.submit(await open(), 'set-up-app', {}));
    const first = codesOn(
      await browser.follow(await browser.submit(page, 'confirm-app', { code: codeOf(keyOn(page)) })),
    );
    const card = await open();
    expect(card.text).toContain('Your current recovery codes will no longer work.');
    const done = await browser.submit(card, 'renew-codes', {});
    expect(done.location).toBe(`${ENROLMENT}?done=codes-renewed`);
    const shown = await browser.follow(done);
    expect(codesOn(shown)).toHaveLength(10);
    expect(codesOn(shown)).not.toEqual(expect.arrayContaining(first));
    expect(shown.text).toContain('The previous codes no longer work.');
    const again = await browser.follow(done);
    expect([again.heading, codesOn(again)]).toEqual(['Security', []]);
  });

  test('are deleted with the authenticator app, as the card says before and after', async () => {
    const page = await browser.follow(await browser.submit(await open(), 'set-up-app', {}));
    await browser.submit(page, 'confirm-app', { code: codeOf(keyOn(page)) });
    const card = await open();
    expect(card.text).toContain('This turns off two-factor authentication and deletes your recovery codes.');
    const done = await browser.submit(card, 'disable-app', {});
    expect(done.location).toBe(`${PATH}?done=second-factor-off`);
    expect((await browser.follow(done)).text).toContain('Two-factor authentication is off.');
    expect(await app.auth.twoFactor.status(id)).toMatchObject({ totp: false, recoveryCodesLeft: 0 });
  });
});

describe('a card', () => {
  const detailsOf = (page: Shown, action: string) =>
    page
      .all('details')
      .filter((one) =>
        [...elementsIn(one)].some(
          ({ tagName, attrs }) =>
            tagName === 'form' && attrs.some(({ value }) => value === `${PATH}/${action}`),
        ),
      )
      .map((one) => attribute(one, 'open') !== undefined);

  test('is closed, says its state, and opens where a form was refused', async () => {
    const page = await open();
    expect(detailsOf(page, 'change-password')).toEqual([false]);
    const refused = await browser.submit(page, 'change-password', {
      current_password: 'wrong',
      new_password: 'x',
    });
    expect(detailsOf(refused, 'change-password')).toEqual([true]);
    expect(page.text).toContain('Two-factor authentication Off If you turn it on,');
    expect(page.text).toContain('Browsers that you have used 1 browser.');
    expect(page.text).toContain('Recent changes Nothing was changed in the last 30 days.');
  });

  test('has its name inside what is closed, so that browsers open it for a link', async () => {
    const page = await open();
    const target = page.elements.find((one) => attribute(one, 'id') === 'password');
    expect(target?.parentNode).toMatchObject({ tagName: 'details' });
  });

  test('has no field for a password in a form that needs a recent sign-in', async () => {
    const [action = ''] = (await open()).actions.filter((one) => one.includes('/forget-browser/'));
    const name = action.split('/').slice(-2).join('/');
    expect((await open()).form(name).names).toEqual([]);
    await app.auth.models.Session.update({ authenticatedAt: new Date(0) }, { where: { userId: id } });
    expect((await open()).form(name).names).toEqual([]);
  });
});

test('the password can be removed only beside two other sign-in methods', async () => {
  expect((await open()).actions).not.toContain(`${PATH}/remove-password`);
  for (const provider of ['fixed', 'google']) {
    await link(provider);
    const page = await open();
    expect(page.actions.includes(`${PATH}/remove-password`)).toBe(provider === 'google');
  }
});

describe('an account with neither email nor username', () => {
  beforeEach(async () => {
    await link('fixed');
    await app.auth.models.User.update({ email: null, emailVerifiedAt: null }, { where: { id } });
  });

  test('has a password that is not listed as a sign-in method, and cannot unlink its only one', async () => {
    const page = await open();
    expect(page.text).toContain('Sign-in methods: Fixed Two-factor');
    expect(page.text).toContain(
      'You cannot sign in with your password yet. First add an email on your profile.',
    );
    expect(page.text).toContain(
      'Fixed is the only way to sign in to your account. Before you unlink it, add an email or link another account.',
    );
    expect(page.actions.filter((one) => /\/unlink|\/remove-password/.test(one))).toEqual([]);
    expect(page.actions).toContain(`${PATH}/change-password`);
    await link('google');
    expect((await open()).actions).toEqual(
      expect.arrayContaining([`${PATH}/unlink/fixed`, `${PATH}/unlink/google`]),
    );
  });

  test('is offered no password before it has an email', async () => {
    await app.auth.models.User.update({ passwordHash: null }, { where: { id } });
    const page = await open();
    expect(page.actions).not.toContain(`${PATH}/set-password`);
    expect(page.text).toContain(
      'Your account has no password. To set one, first add an email on your profile.',
    );
    expect(page.all('a').find((one) => textOf(one) === 'Add an email')).toMatchObject({
      attrs: expect.arrayContaining([{ name: 'href', value: '/auth/account' }]),
    });
    expect(page.text).toContain('Before you unlink it, set a password or link another account.');
  });
});

test('the only account at a provider cannot be unlinked, and the page says what to add first', async () => {
  await link('fixed');
  expect((await open()).actions).toContain(`${PATH}/unlink/fixed`);
  await app.auth.models.User.update({ passwordHash: null }, { where: { id } });
  const page = await open();
  expect(page.text).toContain('If you set one, you can also sign in with your email and this password.');
  expect(page.actions).not.toContain(`${PATH}/unlink/fixed`);
  expect(page.text).toContain(
    'Fixed is the only way to sign in to your account. Before you unlink it, set a password or link another account.',
  );
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
  expect([done.status, done.location]).toEqual([303, `${PATH}?done=browser-forgotten`]);
  expect((await open()).actions.filter((one) => one.includes('/forget-browser/'))).toEqual([]);
});

test('a plugin adds a card, whose values are escaped', async () => {
  const page = await open();
  expect(page.text).toContain(`Card of ${EVIL} for ${person.email} ${EVIL}`);
  expect(page.elements.filter(({ tagName }) => tagName === 'img')).toEqual([]);
});

test('changes are listed by name and time', async () => {
  await app.auth.credential.changePassword({
    userId: id,
    sessionId: (await app.auth.listSessions(id))[0]?.id ?? '',
    currentPassword: person.password,
    newPassword: 'a difference engine',
  });
  await signInOn(browser, { ...person, password: 'a difference engine' });
  const page = await open();
  expect(page.text).toContain('The password was changed');
  expect(page.text).not.toContain('<time');
});

test('a change says whether its link undoes it, or only support can, because the account knew no browser', async () => {
  const change = (currentPassword: string, newPassword: string) =>
    app.auth.credential.changePassword({ userId: id, currentPassword, newPassword });
  await change(person.password, 'a difference engine');
  await signInOn(browser, { ...person, password: 'a difference engine' });
  expect((await open()).text).toMatch(/The password was changed\s*can be undone/);
  await rows(app.database, `DELETE FROM known_devices WHERE user_id = '${id}'`);
  await change('a difference engine', 'another difference engine');
  await signInOn(browser, { ...person, password: 'another difference engine' });
  const { text } = await open();
  expect(text).toMatch(/The password was changed\s*only support can undo it/);
  expect(text).not.toContain('can be undone');
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

describe('an email that was mistyped at sign-up', () => {
  const start = (required: 'everybody' | 'never', signUp: 'open' | 'closed' = 'open') =>
    startPagesApp([password(), twoFactor({ required })] as const, { config: { signUp } });
  const mistyped = { email: 'ada@exmaple.com', password: 'an analytical engine' };

  test('can be replaced by another sign-up in one press while the second factor waits for it', async () => {
    const own = await start('everybody');
    await own.auth.users.create(mistyped);
    const visitor = own.open();
    await signInOn(visitor, mistyped);
    const page = await visitor.open(`${PATH}?return_to=/deep`);
    expect(page.text).toContain('Is the email wrong? Sign out, then sign up again with the right one.');
    // The email cannot be changed while the task is open.
    expect(page.text).not.toContain('Change it on your profile.');
    const out = await visitor.submit(page, 'start-over');
    expect(out.location).toBe('/auth/sign-up?done=signed-out&return_to=%2Fdeep');
    const signUp = await visitor.follow(out);
    expect([signUp.heading, await isSignedIn(visitor)]).toEqual(['Create an account', false]);
    expect(signUp.text).toContain('You are signed out.');
    await own.stop();
  });

  test('leads to no sign-up where users cannot sign up', async () => {
    const own = await start('everybody', 'closed');
    await own.auth.users.create(mistyped);
    const visitor = own.open();
    await signInOn(visitor, mistyped);
    const page = await visitor.open(PATH);
    expect(page.text).toContain('Confirm your email');
    expect(page.text).not.toContain('sign up again');
    await own.stop();
  });

  test('can be changed on the profile if no task is open', async () => {
    const own = await start('never');
    await own.auth.users.create(mistyped);
    const visitor = own.open();
    await signInOn(visitor, mistyped);
    const page = await visitor.open(PATH);
    expect(page.text).toContain('Is the email wrong? Change it on your profile.');
    expect(page.text).not.toContain('sign up again');
    await own.stop();
  });

  test.each(['link', 'code'] as const)(
    'is confirmed with a button that says what is emailed: a %s',
    async (verifyEmailBy) => {
      const own = await startPagesApp([password({ verifyEmailBy }), twoFactor()] as const);
      await own.auth.users.create(mistyped);
      const visitor = own.open();
      await signInOn(visitor, mistyped);
      expect((await visitor.open(PATH)).text).toContain(`Email me a ${verifyEmailBy} to confirm it`);
      await own.stop();
    },
  );
});
