import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { authRouter, emailSignIn, oauth, requireSession, twoFactor } from '../../../lib/index.js';
import { ada, password } from '../../support/app.js';
import { fixedProvider } from '../../support/fixed-provider.js';
import { createProtected, type PagesApp, signInOn, startPagesApp } from '../../support/pages-app.js';
import { codeOf, forgetSteps, wrongCode } from '../../support/two-factor.js';

const plugins = [password(), emailSignIn(), twoFactor(), oauth(), fixedProvider()] as const;

let app: PagesApp<typeof plugins>;
beforeAll(async () => {
  app = await startPagesApp(plugins, {
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.get(
        '/sensitive',
        requireSession(auth, { freshWithin: 60 }),
        (_req, res) => void res.send('done'),
      );
      express.get('/strong', requireSession(auth, { aal: 2 }), (_req, res) => void res.send('done'));
    },
  });
});
afterAll(() => app.stop());

let count = 0;
const person = () => ({ email: `person-${count++}@example.com`, password: ada.password });
/** Opens a page that needs a fresh session, with one that is not. */
const refused = async (someone: typeof ada) => {
  const browser = app.open();
  await signInOn(browser, someone);
  await app.auth.models.Session.update({ authenticatedAt: new Date(0) }, { where: {} });
  const answer = await browser.open('/sensitive?a=b&c');
  expect([answer.status, answer.location]).toEqual([
    303,
    '/auth/reauthenticate?return_to=%2Fsensitive%3Fa%3Db%26c',
  ]);
  return { browser, page: await browser.follow(answer) };
};

test('a password leads on', async () => {
  const someone = person();
  await app.auth.credential.signUp(someone);
  const { browser, page } = await refused(someone);
  expect([page.status, page.form('confirm').names]).toEqual([200, ['return_to', 'password']]);
  expect(page.text).toContain(`You are signed in as ${someone.email}.`);
  const wrong = await browser.submit(page, 'confirm', { password: 'sent-only-once' });
  expect([wrong.status, wrong.title]).toEqual([401, 'Error: Confirm that it is you – localhost']);
  expect(wrong.body).not.toContain('sent-only-once');
  const done = await browser.submit(wrong, 'confirm', { password: someone.password });
  expect([done.status, done.location]).toEqual([303, '/sensitive?a=b&c']);
  expect((await browser.open('/sensitive')).body).toBe('done');
});

test('the page has ways out: another password, back to the account or home, and the sign-out last', async () => {
  const someone = person();
  await app.auth.credential.signUp(someone);
  const { browser, page } = await refused(someone);
  // The page of the guard would lead back here.
  expect(page.links.slice(-3)).toEqual([expect.any(String), '/home', '/auth/sign-out']);
  expect(page.links).toContain('/auth/forgot-password?return_to=%2Fsensitive%3Fa%3Db%26c');
  const cancel = async (returnTo: string) =>
    (await browser.open(`/auth/reauthenticate?return_to=${encodeURIComponent(returnTo)}`)).links.at(-2);
  expect(await cancel('/auth/account/security?a=b')).toBe('/auth/account/security?a=b');
  expect(await cancel('/auth/administration/users')).toBe('/home');
  expect(await cancel('/elsewhere')).toBe('/home');
});

/** Opens the page with a session of an account without a password, and emails the code. */
async function codeSent() {
  const someone = person();
  await app.auth.users.create({ email: someone.email, emailVerified: true });
  const browser = app.open();
  const signIn = await browser.open('/auth/sign-in');
  const mail = await app.mailOf(someone.email, 'sign-in-code', () =>
    browser.submit(signIn, 'send-code', { credential: someone.email }),
  );
  await browser.submit(await browser.open('/auth/sign-in/email'), 'confirm', { code: mail.code });
  await app.auth.models.Session.update({ authenticatedAt: new Date(0) }, { where: {} });
  const page = await browser.visit('/sensitive');
  let answer = page;
  const { code } = await app.mailOf(someone.email, 'sign-in-code', async () => {
    answer = await browser.submit(page, 'send-code');
  });
  return { someone, browser, page, answer, code, sent: await browser.follow(answer) };
}

test('an account without a password gets a code by email', async () => {
  const { someone, browser, page, answer, code, sent } = await codeSent();
  expect([page.heading, page.actions]).toEqual([
    'Confirm that it is you',
    ['/auth/reauthenticate/send-code'],
  ]);
  expect(answer.location).toBe('/auth/reauthenticate?done=sent&return_to=%2Fsensitive');
  const masked = someone.email.replace(/(?<=^.)[^@]*/, '…');
  expect(page.text).toContain(`We email a code to ${masked}.`);
  expect(sent.text).toContain(`We have emailed a code of 8 digits to ${masked}. It works for 10 minutes.`);
  const wrong = await browser.submit(sent, 'confirm', { email_code: 'ZZZZ-ZZZZ' });
  expect(wrong.status).toBe(401);
  const done = await browser.submit(wrong, 'confirm', { email_code: code });
  expect([done.status, done.location]).toEqual([303, '/sensitive']);
});

test('after too many wrong codes, the page says so once, and offers only another code', async () => {
  const { someone, browser, sent, code } = await codeSent();
  let page = sent;
  for (let tries = 0; tries < 4; tries++)
    page = await browser.submit(page, 'confirm', { email_code: '00000000' });
  expect([page.error, page.fieldErrors]).toEqual([null, [expect.stringContaining('This code is wrong')]]);
  expect(page.form('confirm').has('email_code')).toBe(true);
  page = await browser.submit(page, 'confirm', { email_code: '00000000' });
  for (const shown of [page, await browser.post('/auth/reauthenticate/confirm', { email_code: code })]) {
    expect([shown.status, shown.error]).toEqual([401, expect.stringContaining('This code no longer works')]);
    expect(shown.text.split('no longer works')).toHaveLength(2);
    expect(shown.text).not.toContain('It works for');
    expect(shown.actions).toEqual(['/auth/reauthenticate/send-code']);
  }
  let again = page;
  const fresh = await app.mailOf(someone.email, 'sign-in-code', async () => {
    again = await browser.submit(page, 'send-code');
  });
  const done = await browser.submit(await browser.follow(again), 'confirm', { email_code: fresh.code });
  expect(done.location).toBe('/sensitive');
});

describe('with a second factor', () => {
  test('a code or a recovery code leads on, and the password alone is not offered', async () => {
    const someone = person();
    const { secret, recoveryCodes } = await createProtected(app as never, someone);
    const browser = app.open();
    const second = await browser.follow(await signInOn(browser, someone));
    await browser.submit(second, 'confirm', { code: codeOf(secret) }, { method: 'totp' });
    await forgetSteps(app as never);
    const age = () => app.auth.models.Session.update({ authenticatedAt: new Date(0) }, { where: {} });
    await age();
    const page = await browser.visit('/sensitive');
    const wrong = await browser.submit(page, 'confirm', { code: wrongCode(secret) }, { code: '' });
    expect([wrong.status, wrong.form('confirm', { code: '' }).value('code')]).toEqual([401, '']);
    const done = await browser.submit(wrong, 'confirm', { code: codeOf(secret) }, { code: '' });
    expect([done.status, done.location]).toEqual([303, '/sensitive']);
    await age();
    const again = await browser.visit('/sensitive');
    const [recovery_code = ''] = recoveryCodes;
    const recovered = await browser.submit(again, 'confirm', { recovery_code }, { recovery_code: '' });
    expect([recovered.status, recovered.location]).toEqual([303, '/sensitive']);
  });
});

test('without a session, the page leads to the sign-in and back', async () => {
  const answer = await app.open().open('/auth/reauthenticate?return_to=/sensitive');
  expect([answer.status, answer.location]).toEqual([303, '/auth/sign-in?return_to=%2Fsensitive']);
});
