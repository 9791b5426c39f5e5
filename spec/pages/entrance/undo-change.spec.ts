import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { emailSignIn, twoFactor } from '../../../lib/index.js';
import { ada, password } from '../../support/app.js';
import { beforeChange } from '../../support/changes.js';
import { attribute, type Shown, textOf } from '../../support/page-browser.js';
import {
  createPerson,
  createProtected,
  isSignedIn,
  type PagesApp,
  pathOf,
  signInOn,
  startPagesApp,
} from '../../support/pages-app.js';
import { settled } from '../../support/sessions.js';
import { codeOf, forgetSteps, wrongCode } from '../../support/two-factor.js';

const plugins = [password(), twoFactor()] as const;
let app: PagesApp<typeof plugins>;
beforeAll(async () => {
  app = await startPagesApp(plugins);
});
afterAll(() => app.stop());

let people = 0;
let person: typeof ada;
let id: string;
beforeEach(async () => {
  person = { email: `person-${people++}@example.com`, password: ada.password };
  id = await createPerson(app as never, person);
});

/** The errors at the fields of the form, by their names. */
const errorsOf = (shown: Shown) =>
  Object.fromEntries(
    ['password', 'code'].flatMap((name) => {
      const form = shown.form('confirm');
      if (form.attribute(name, 'aria-invalid') !== 'true') return [];
      const id = `${form.attribute(name, 'id')}-error`;
      const error = shown.elements.find((one) => attribute(one, 'id') === id);
      return [[name, error && textOf(error)]];
    }),
  );

/** The first browser of the account, which it knows. */
const known = async () => {
  const browser = app.open();
  await signInOn(browser, person);
  return browser;
};

test('a browser that the account knows undoes the change with the password from before it', async () => {
  const browser = await known();
  const token = await beforeChange(app.auth, id);
  const page = await browser.open(`/auth/undo-change?token=${token}`);
  expect([page.status, page.heading]).toEqual([200, 'Undo a change']);
  expect(page.text).toContain('The password was changed.');
  expect(page.form('confirm').names).toEqual(['token', 'account', 'password']);
  expect(page.text).toContain('If it was you, there is nothing to do.');
  const empty = await browser.submit(page, 'confirm', { password: '' });
  expect(empty.text).toContain('Enter the password that the account had before this change.');
  const of = (name: string, what: string) => empty.form('confirm').attribute(name, what);
  expect([empty.error, of('password', 'aria-invalid'), of('password', 'autofocus')]).toEqual([
    null,
    'true',
    '',
  ]);
  const wrong = await browser.submit(page, 'confirm', { password: 'sent-only-once' });
  expect(wrong.status).toBeGreaterThanOrEqual(400);
  expect(wrong.form('confirm').attribute('password', 'aria-invalid')).toBe('true');
  expect(wrong.body).not.toContain('sent-only-once');
  expect(await isSignedIn(browser)).toBe(true);
  const done = await browser.submit(wrong, 'confirm', { password: person.password });
  expect([done.status, done.location]).toEqual([303, '/auth/undo-change?done=change-undone']);
  // The account has no password now: an intruder can know the one from before the change.
  expect(page.text).toContain('Your password is removed, and you choose a new one by email.');
  const next = await browser.follow(done);
  expect([next.heading, next.actions]).toEqual(['The change was undone', []]);
  expect(next.text).toContain(`Choose a new password with the link that we have emailed to ${person.email}.`);
  expect((await app.open().open('/auth/undo-change?done=change-undone')).heading).toBe(
    'This link is no longer valid',
  );
  expect(await isSignedIn(browser)).toBe(false);
});

test('another browser is asked to open the link elsewhere, and can send nothing', async () => {
  const browser = await known();
  const token = await beforeChange(app.auth, id);
  const other = app.open();
  const page = await other.open(`/auth/undo-change?token=${token}`);
  expect([page.status, page.actions]).toEqual([200, []]);
  expect(page.text).toContain('Open this link in a browser that your account knows');
  const refused = await other.post('/auth/undo-change/confirm', { token, password: person.password });
  expect([refused.status, refused.actions]).toEqual([403, []]);
  expect(await isSignedIn(browser)).toBe(true);
  // The link can still be used where the account is known.
  const done = await browser.submit(await browser.open(`/auth/undo-change?token=${token}`), 'confirm', {
    password: person.password,
  });
  expect(done.location).toBe('/auth/undo-change?done=change-undone');
});

test('a browser that is too new says since when the account knows it, and names one that works', async () => {
  await known();
  const newer = app.open();
  await signInOn(newer, person);
  const token = await beforeChange(app.auth, id);
  const page = await newer.open(`/auth/undo-change?token=${token}`);
  expect([page.status, page.actions]).toEqual([200, []]);
  expect(page.text).toMatch(
    /This browser was too new when the change was made: your account has known it only since .* UTC\./,
  );
  expect(page.text).toMatch(/The link works in:\s*Firefox on Linux, known since .* UTC/);
  // The session can still keep others out of the account.
  expect(page.links).toContain('/auth/account/security#password');
  expect(page.links).toContain('/auth/account/sessions');
  expect(page.links).not.toContain('/auth/forgot-password');
  expect(page.text.indexOf('The link works only in a browser')).toBeLessThan(
    page.text.indexOf('The link works in:'),
  );
  // The email names the browser to everyone who has the link, but not the time.
  const unknown = await app.open().open(`/auth/undo-change?token=${token}`);
  expect(unknown.text).toMatch(/The link works in:\s*Firefox on Linux/);
  expect(unknown.text).not.toMatch(/known since|too new/);
  expect(unknown.links.filter((href) => /account|forgot/.test(href))).toEqual(['/auth/forgot-password']);
  // The session of another account can do nothing for this one.
  const other = app.open();
  const stranger = { ...person, email: `stranger-${person.email}` };
  await createPerson(app as never, stranger);
  await signInOn(other, stranger);
  const foreign = await other.open(`/auth/undo-change?token=${token}`);
  expect(foreign.links).not.toContain('/auth/account/sessions');
});

test('another browser does not learn the email that the account has by now', async () => {
  await known();
  const token = await beforeChange(app.auth, id);
  const renamed = `very.private-${people}@example.com`;
  await app.auth.models.User.update({ email: renamed } as never, { where: { id } });
  const { body } = await app.open().open(`/auth/undo-change?token=${token}`);
  expect(body).not.toContain('very.private');
  expect(body).toContain('v…@example.com');
});

test('a change of the email is told with both addresses, of which the former mailbox learns one', async () => {
  const browser = await known();
  const former = person.email;
  const changed = `changed-${people}@example.com`;
  const link = await app.mailOf(changed, 'verify-new-email', async () =>
    browser.submit(await browser.open('/auth/account'), 'email', { new_email: changed }),
  );
  const notice = await app.mailOf(former, 'email-changed', async () =>
    browser.submit(await browser.open(pathOf(link.url)), 'confirm', {}),
  );
  const page = await app.open().open(pathOf(notice.url));
  expect(page.text).toContain(`The email was changed from ${former} to c…@example.com.`);
  expect(page.text).not.toContain('Account');
  expect(page.body).not.toContain(changed);
});

test.each([
  ['mailto:help@example.com?subject=Undo', ['mailto:help@example.com?subject=Undo'], 'help@example.com'],
  ['/help', ['/help'], 'Support'],
  ['http://localhost/help', ['http://localhost/help'], 'Support'],
  // The token is in the address of the page, so the page leads to no other origin.
  ['https://help.example/start', [], 'https://help.example/start'],
  [undefined, [], 'the people who run this app'],
])('in another browser, it says where to ask for help: %s', async (support, links, text) => {
  const own = await startPagesApp(plugins, {
    pages: { home: '/home', links: { terms: 'https://terms.example', ...(support && { support }) } },
  });
  const id = await createPerson(own as never, person);
  await signInOn(own.open(), person);
  const token = await beforeChange(own.auth, id);
  const page = await own.open().open(`/auth/undo-change?token=${token}`);
  expect(page.text).toContain('If you do not have such a browser, ask');
  expect(page.text).toContain(text);
  expect([...new Set(page.links)].filter((href) => /help|terms/.test(href))).toEqual(links);
  expect(page.all('button').map((one) => attribute(one, 'data-copied'))).toEqual(['Copied']);
  await own.stop();
});

test('a link that works in no browser is not to be opened in another one', async () => {
  const own = await startPagesApp(plugins);
  const token = await beforeChange(own.auth, await createPerson(own as never, person));
  const page = await own.open().open(`/auth/undo-change?token=${token}`);
  expect(page.text).toContain('This link works in no browser');
  expect(page.text).toContain('Ask the people who run this app for help.');
  expect(page.text).not.toMatch(/Open this link|such a browser/);
  expect(page.all('button')).toEqual([]);
  await own.stop();
});

test('a used or made-up link is no longer valid', async () => {
  const browser = await known();
  const token = await beforeChange(app.auth, id);
  await browser.post('/auth/undo-change/confirm', { token, password: person.password });
  for (const page of [
    await browser.open(`/auth/undo-change?token=${token}`),
    await browser.open('/auth/undo-change?token=nonsense'),
    await browser.open('/auth/undo-change'),
    await browser.post('/auth/undo-change/confirm', { token, password: person.password }),
  ])
    expect([page.heading, page.actions]).toEqual(['This link is no longer valid', []]);
  const page = await app.open().open('/auth/undo-change?token=nonsense');
  expect(page.links).toEqual(expect.arrayContaining(['/auth/sign-in', '/auth/forgot-password']));
  expect(page.text).toContain('If you did not make the change, ask the people who run this app for help.');
  const other = { ...person, email: `other-${person.email}` };
  await createPerson(app as never, other);
  const session = app.open();
  await signInOn(session, other);
  const own = await session.open('/auth/undo-change?token=nonsense');
  expect(own.links).not.toContain('/auth/sign-in');
  expect(own.links).toEqual(
    expect.arrayContaining(['/auth/account/security#password', '/auth/account/sessions']),
  );
});

test('a deleted account is restored, in words of its own in the emails and on the pages', async () => {
  const own = await startPagesApp(plugins, {
    config: { accountDeletion: { graceDays: 10 }, appName: 'Example' },
  });
  await createPerson(own as never, person);
  const browser = own.open();
  await signInOn(browser, person);
  const mail = await own.mailOf(person.email, 'account-deleted', async () => {
    const page = await browser.open('/auth/account');
    await browser.submit(page, 'delete', { confirmation: person.email });
  });
  const on = /In 10 days, on (\d+ \w+ \d{4}), it will be permanently deleted/.exec(mail.text)?.[1];
  expect(mail.text).toContain(`restore the account here within 10 days, until ${on}:`);
  expect(mail.html).toContain('>Restore the account</a>');
  const page = await browser.open(pathOf(mail.url));
  expect(page.heading).toBe('Restore your account');
  expect(page.text).not.toContain('ater change');
  expect(page.text).toContain('Restore the account');
  expect(page.text).not.toMatch(/undo it|Undo/);
  const empty = await browser.submit(page, 'confirm', { password: '' });
  expect(empty.text).toContain('Enter the password of this account.');
  expect(empty.text).not.toContain('before this change');
  expect(empty.form('confirm').attribute('password', 'aria-invalid')).toBe('true');
  const recovered = own.mailOf(person.email, 'account-recovered', async () => {});
  const reset = await own.mailOf(person.email, 'reset-password', async () => {
    const done = await browser.submit(page, 'confirm', { password: person.password });
    expect(done.location).toBe('/auth/undo-change?done=account-restored');
    expect((await browser.follow(done)).heading).toBe('Your account was restored');
  });
  expect((await recovered).subject).toBe('Your account was restored - Example');
  expect(reset.text).toMatch(/^Your account was restored\. All sessions have ended/);
  await own.stop();
});

test('an account that has no password is restored without a word about one', async () => {
  const browser = await known();
  await app.auth.models.User.update({ passwordHash: null } as never, { where: { id } });
  const token = await beforeChange(app.auth, id, 'account-deleted');
  const page = await browser.open(`/auth/undo-change?token=${token}`);
  expect(page.heading).toBe('Restore your account');
  expect(page.text).not.toContain('Your password is removed');
  const recovered = await app.mailOf(person.email, 'account-recovered', async () => {
    const next = await browser.follow(await browser.submit(page, 'confirm'));
    expect(next.heading).toBe('Your account was restored');
    expect(next.text).not.toContain('emailed');
    expect(next.links).toContain('/auth/sign-in');
  });
  expect(recovered.text).not.toContain('password');
  await settled(app.auth);
  const kinds = app.mails.filter(({ to }) => to === person.email).map(({ kind }) => kind);
  expect(kinds).not.toContain('reset-password');
});

test('the owner of a deleted account who asks for a code is told that it can be restored', async () => {
  const own = await startPagesApp([password(), emailSignIn()] as const, {
    config: { accountDeletion: { graceDays: 10 } },
  });
  await createPerson(own as never, person);
  const browser = own.open();
  await signInOn(browser, person);
  await browser.submit(await browser.open('/auth/account'), 'delete', { confirmation: person.email });
  const mail = await own.mailOf(person.email, 'no-account', async () =>
    own.open().post('/auth/sign-in/send-code', { email: person.email }),
  );
  expect(mail.subject).toBe('Your account was deleted - localhost');
  expect(mail.text).toMatch(
    /Your account was deleted on \d+ \w+ \d{4}\. Until \d+ \w+ \d{4}, it can be restored: with the link in our email about the deletion, or by the people who run this app\./,
  );
  expect(mail.text).not.toContain('no account');
  await own.stop();
});

describe('with a second factor', () => {
  test('the page asks for a code from before the change, or for a recovery code', async () => {
    const someone = { email: `protected-${people++}@example.com`, password: ada.password };
    const { secret, recoveryCodes, userId } = await createProtected(app as never, someone);
    const browser = app.open();
    const second = await browser.follow(await signInOn(browser, someone));
    await browser.submit(second, 'confirm', { code: codeOf(secret) }, { method: 'totp' });
    await forgetSteps(app as never);
    await app.auth.models.User.update({ createdAt: new Date(Date.now() - 40 * 86_400_000) } as never, {
      where: { id: userId },
    });
    await app.database.sequelize.query("UPDATE known_devices SET created_at = '2020-01-01 00:00:00'");
    const first = await beforeChange(app.auth, userId);
    const page = await browser.open(`/auth/undo-change?token=${first}`);
    expect(page.form('confirm').names).toEqual(['token', 'account', 'password', 'code']);
    expect(page.text).toContain('Code from your authenticator app, or a recovery code');
    expect(page.text).not.toContain('optional');
    const empty = await browser.submit(page, 'confirm', {});
    expect(errorsOf(empty)).toEqual({
      password: 'Enter the password that the account had before this change.',
      code: 'Enter a code from your authenticator app, or a recovery code.',
    });
    const missing = await browser.submit(page, 'confirm', { password: someone.password });
    expect(missing.status).toBe(403);
    expect(errorsOf(missing)).toEqual({
      code: 'Enter a code from your authenticator app, or a recovery code.',
    });
    const wrongCodes = [
      [
        wrongCode(secret),
        'This code is wrong, or was already used. Wait for the next code of the app that you had before the change.',
      ],
      [
        'wrong-wrong-wrong',
        'This recovery code is wrong, or was already used. Enter one that you had before the change.',
      ],
    ] as const;
    for (const [code, text] of wrongCodes) {
      const wrong = await browser.submit(missing, 'confirm', { password: someone.password, code });
      expect(errorsOf(wrong)).toEqual({ code: text });
      expect(wrong.body).not.toContain(code);
    }
    const spaced = codeOf(secret).replace(/^.../, '$& ');
    const done = await browser.submit(missing, 'confirm', { password: someone.password, code: spaced });
    expect([done.status, done.location]).toEqual([303, '/auth/undo-change?done=change-undone']);
    const again = await beforeChange(app.auth, userId);
    const [code = ''] = recoveryCodes;
    const recovered = await browser.submit(
      await browser.open(`/auth/undo-change?token=${again}`),
      'confirm',
      { password: someone.password, code },
    );
    expect([recovered.status, recovered.location]).toEqual([303, '/auth/undo-change?done=change-undone']);
  });

  test('a deleted account is restored with the password and a code, and the error is at what is missing', async () => {
    const own = await startPagesApp(plugins, { config: { accountDeletion: { graceDays: 10 } } });
    const { secret } = await createProtected(own as never, person);
    const browser = own.open();
    const second = await browser.follow(await signInOn(browser, person));
    await browser.submit(second, 'confirm', { code: codeOf(secret) }, { method: 'totp' });
    await forgetSteps(own as never);
    // The account had known this browser for long.
    await own.auth.models.User.update({ createdAt: new Date(Date.now() - 40 * 86_400_000) } as never, {
      where: { email: person.email },
    });
    await own.database.sequelize.query("UPDATE known_devices SET created_at = '2020-01-01 00:00:00'");
    const mail = await own.mailOf(person.email, 'account-deleted', async () => {
      await browser.submit(await browser.open('/auth/account'), 'delete', { confirmation: person.email });
    });
    const page = await browser.open(pathOf(mail.url));
    const missing = await browser.submit(page, 'confirm', { password: person.password });
    expect(errorsOf(missing)).toEqual({
      code: 'Enter a code from your authenticator app, or a recovery code.',
    });
    expect(missing.text).not.toContain('Enter the password of');
    const without = await browser.submit(page, 'confirm', { code: codeOf(secret) });
    expect(errorsOf(without)).toEqual({ password: 'Enter the password of this account.' });
    const wrong = await browser.submit(page, 'confirm', { password: 'wrong', code: codeOf(secret) });
    expect(errorsOf(wrong)).toEqual({ password: 'This is not the password of this account.' });
    const done = await browser.submit(page, 'confirm', { password: person.password, code: codeOf(secret) });
    expect(done.location).toBe('/auth/undo-change?done=account-restored');
    await own.stop();
  });
});
