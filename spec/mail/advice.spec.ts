import { afterEach, expect, test } from '@jest/globals';
import { admin, emailSignIn, twoFactor } from '../../lib/index.js';
import { ada, password } from '../support/app.js';
import { beforeChange } from '../support/changes.js';
import {
  createPerson,
  createProtected,
  type PagesApp,
  pathOf,
  signInOn,
  startPagesApp,
} from '../support/pages-app.js';
import { secondStep, wrongCode } from '../support/two-factor.js';

const plugins = [
  password({ sendVerificationOnSignUp: true }),
  emailSignIn(),
  twoFactor(),
  admin({ adminEmails: ['root@example.com'] }),
] as const;

let app: PagesApp<typeof plugins>;
afterEach(() => app.stop());

const start = async (more: object = {}) => {
  app = await startPagesApp(plugins, { config: { appName: 'Example', ...more } });
};
const json = { 'content-type': 'application/json', accept: 'application/json' };
const post = (browser: ReturnType<typeof app.open>, path: string, body: object) =>
  browser.send('POST', `/auth${path}`, JSON.stringify(body), json);

/** The paragraphs of an email. */
const partsOf = ({ text }: { readonly text: string }) => text.trimEnd().split('\n\n');

/** The date in words, so many days from now. */
const inDays = (days: number) => {
  const date = new Date(Date.now() + days * 24 * 60 * 60 * 1000);
  const month = date.toLocaleString('en', { month: 'long', timeZone: 'UTC' });
  return `${date.getUTCDate()} ${month} ${date.getUTCFullYear()}`;
};

const requestChange = async (to: string) => {
  const browser = app.open();
  await signInOn(browser, ada);
  await post(browser, '/email-changes', { new_email: to });
};

const CASES: Readonly<
  Record<string, { page: string; act: () => PromiseLike<unknown>; to?: string; person?: () => unknown }>
> = {
  'email-change-requested': { page: 'account/security', act: () => requestChange('new@example.com') },
  'email-change-conflict': {
    page: 'sign-in',
    to: 'eve@example.com',
    async act() {
      await createPerson(app, { email: 'eve@example.com' });
      await requestChange('eve@example.com');
    },
  },
  'new-password-required': {
    page: 'sign-in',
    act: async () => app.auth.users.requireNewPassword((await app.auth.users.find({ email: ada.email }))!.id),
  },
  'reset-password': {
    page: 'forgot-password',
    async act() {
      const { id } = (await app.auth.users.find({ email: ada.email }))!;
      await app.auth.undoChange(await beforeChange(app.auth, id), { trusted: true });
    },
  },
};

test.each(Object.entries(CASES))(
  'the advice in %s links to the page of pages() where users follow it',
  async (kind, { page, act, to = ada.email }) => {
    await start();
    await createPerson(app, ada);
    const mail = await app.mailOf(to, kind, act);
    const url = `http://localhost/auth/${page}`;
    expect(partsOf(mail)).toContain(url);
    expect(mail.html).toContain(`<a href="${url}" `);
    // It is a page, or leads to the sign-in.
    expect([200, 303]).toContain((await app.open().open(pathOf(url))).status);
    // The undo link and its token stay what `url` and `token` mean.
    if (kind !== 'reset-password') expect([mail.url, mail.token]).toEqual(['', '']);
  },
);

test('a warning about wrong codes links to the page where the password is changed', async () => {
  await start();
  const { secret } = await createProtected(app as never);
  const browser = app.browser();
  await browser
    .post('/auth/signin/credential')
    .send({ credential: ada.email, password: ada.password })
    .expect(200);
  const mail = await app.mailOf(ada.email, 'second-factor-attempts', async () => {
    for (let tries = 0; tries < 10; tries++)
      await secondStep(browser, { method: 'totp', code: wrongCode(secret) }).expect(401);
  });
  expect(partsOf(mail).slice(-3)).toEqual([
    'If it was not you, change your password now. Two-factor authentication has protected your account.',
    'http://localhost/auth/account/security',
    '— Example',
  ]);
});

test('the code of a reauthentication links to the sessions', async () => {
  await start();
  await createPerson(app, { email: ada.email });
  const browser = app.open();
  const page = await browser.open('/auth/sign-in');
  const { code } = await app.mailOf(ada.email, 'sign-in-code', () =>
    browser.submit(page, 'send-code', { credential: ada.email }),
  );
  await browser.submit(await browser.open('/auth/sign-in/email'), 'confirm', { code });
  const mail = await app.mailOf(ada.email, 'sign-in-code', () => post(browser, '/reauthenticate/email', {}));
  expect(partsOf(mail)).toContain('http://localhost/auth/account/sessions');
});

test('a page of the app replaces a page of pages()', async () => {
  app = await startPagesApp(plugins, { pages: { own: { 'sign-in': '/login' } } });
  await createPerson(app, ada);
  const mail = await app.mailOf(ada.email, 'new-password-required', CASES['new-password-required']!.act);
  expect(partsOf(mail)).toContain('http://localhost/login');
});

test('an emailed code says for how long it works', async () => {
  await start();
  await createPerson(app, { email: ada.email });
  const browser = app.open();
  const page = await browser.open('/auth/sign-in');
  const mail = await app.mailOf(ada.email, 'sign-in-code', () =>
    browser.submit(page, 'send-code', { credential: ada.email }),
  );
  expect(partsOf(mail)[2]).toMatch(/^The code works for 10 minutes, until \d+ \w+ \d{4} at \d\d:\d\d UTC\.$/);
});

test('a link says how long it works and, for a day or longer, until when', async () => {
  await start();
  const verify = await app.mailOf(ada.email, 'verify-email', () => app.auth.credential.signUp(ada));
  expect(verify.text).toMatch(`The link expires in 24 hours, on ${inDays(1)} at `);
  const invited = await app.mailOf('eve@example.com', 'invitation', () =>
    app.auth.admin.createUser({ email: 'eve@example.com' }),
  );
  expect(invited.text).toMatch(`The link expires in 7 days, on ${inDays(7)} at `);
  const reset = await app.mailOf(ada.email, 'reset-password', () =>
    app.auth.credential.requestPasswordReset({ email: ada.email }),
  );
  expect(reset.text).toContain('The link expires in one hour. If it was not you,');
  const changed = await app.mailOf(ada.email, 'password-changed', async () =>
    post(app.open(), '/passwords/reset', { token: reset.token, new_password: 'a difference engine' }),
  );
  expect(changed.text).toContain(`this link within 7 days, until ${inDays(7)}: `);
});

test('a reset link that an administrator sends says so', async () => {
  await start();
  const id = await createPerson(app, ada);
  const mail = await app.mailOf(ada.email, 'reset-password', () => app.auth.admin.sendPasswordReset(id));
  expect(partsOf(mail)[0]).toBe(
    'An administrator of Example asks you to choose a new password for your account. Choose one here:',
  );
  expect(mail.text).not.toMatch(/Someone|\{/);
});
