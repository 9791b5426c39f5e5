import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { emailSignIn, passkeys, twoFactor } from '../../../lib/index.js';
import { ada, password } from '../../support/app.js';
import { attribute, textOf } from '../../support/page-browser.js';
import {
  createPerson,
  createProtected,
  isSignedIn,
  type PagesApp,
  signInOn,
  startPagesApp,
} from '../../support/pages-app.js';
import { addPasskey, authenticator, PAGE } from '../../support/passkeys.js';
import { settled } from '../../support/sessions.js';
import { codeOf, enroll, firstStep, forgetSteps, wrongCode } from '../../support/two-factor.js';

const plugins = [password(), twoFactor()] as const;

let app: PagesApp<typeof plugins>;
let user: Awaited<ReturnType<typeof createProtected>>;
beforeAll(async () => {
  app = await startPagesApp(plugins);
  user = await createProtected(app as never);
});
beforeEach(() => forgetSteps(app as never));
afterAll(() => app.stop());

const TOTP = { method: 'totp' };
const RECOVERY = { method: 'recovery_code' };

/** Gives the password, and opens the page of the second factor. */
const first = async (browser = app.open()) => {
  const answer = await signInOn(browser, ada, '/auth/sign-in?return_to=/deep');
  expect([answer.status, answer.location]).toEqual([303, '/auth/second-factor?return_to=%2Fdeep']);
  return { browser, page: await browser.follow(answer) };
};

test('the code of the authenticator app completes the sign-in, which goes on where the user was', async () => {
  const { browser, page } = await first();
  expect([page.status, page.heading]).toEqual([200, 'Confirm that it is you']);
  expect(await isSignedIn(browser)).toBe(false);
  const form = page.form('confirm', TOTP);
  expect(form.attribute('code', 'autocomplete')).toBe('one-time-code');
  expect(form.attribute('code', 'inputmode')).toBe('numeric');
  const done = await browser.submit(page, 'confirm', { code: codeOf(user.secret) }, TOTP);
  expect([done.status, done.location]).toEqual([303, '/deep']);
  expect(await isSignedIn(browser)).toBe(true);
  // Back in the history.
  expect((await browser.open('/auth/second-factor?return_to=/deep')).location).toBe('/deep');
});

test('the page says which account it is, without most of its letters unless they were typed here', async () => {
  const { page } = await first();
  expect(page.text).toContain(`You are signing in as ${ada.email}.`);
  // A form of the app itself leaves nothing for the pages.
  const other = app.open();
  await other.post('/auth/signin/credential', { credential: ada.email, password: ada.password });
  const again = await other.open('/auth/second-factor');
  expect(again.text).toContain('You are signing in as a…@example.com.');
  expect(again.body).not.toContain(ada.email);
});

test('the button of a recovery code says what it sends', async () => {
  const { page } = await first();
  expect(page.text).toContain('Use the recovery code');
});

test('a recovery code completes it too, once', async () => {
  const [code = ''] = user.recoveryCodes;
  const { browser, page } = await first();
  const done = await browser.submit(page, 'confirm', { code }, RECOVERY);
  expect([done.status, done.location]).toEqual([303, '/deep']);
  const again = await first();
  const refused = await again.browser.submit(again.page, 'confirm', { code }, RECOVERY);
  expect(refused.status).toBe(401);
  expect(await isSignedIn(again.browser)).toBe(false);
});

test('after a recovery code, a user who was on the way to no other page can set up the app again', async () => {
  const code = user.recoveryCodes[1] ?? '';
  const browser = app.open();
  const page = await browser.follow(await signInOn(browser, ada));
  const done = await browser.submit(page, 'confirm', { code }, RECOVERY);
  const next = await browser.follow(done);
  expect(next.heading).toBe('Security');
  expect(next.text).toContain('You are signed in with a recovery code, which no longer works.');
  expect(next.text).toMatch(/You have \d+ recovery codes left\./);
});

test.each([
  [undefined, 'ask the people who run localhost for help.', []],
  ['https://help.example', 'ask for help:', ['https://help.example']],
])('who has lost everything is told whom to ask: %s', async (support, text, links) => {
  const own = await startPagesApp(plugins, {
    pages: { home: '/home', links: { ...(support && { support }) } },
  });
  await createProtected(own as never);
  const browser = own.open();
  const page = await browser.follow(await signInOn(browser, ada));
  expect(page.text).toContain(`If you have lost your phone and your recovery codes, ${text}`);
  expect([...new Set(page.links)].filter((href) => href.includes('help'))).toEqual(links);
  await own.stop();
});

test('a wrong code is refused, is not sent back, and the right one is still accepted', async () => {
  const { browser, page } = await first();
  const code = wrongCode(user.secret);
  const refused = await browser.submit(page, 'confirm', { code }, TOTP);
  expect([refused.status, refused.title]).toEqual([401, 'Error: Confirm that it is you – localhost']);
  expect([refused.error, refused.fieldErrors]).toEqual([
    null,
    ['This code is wrong, or was already used. Check it, or wait for the next code.'],
  ]);
  expect(refused.form('confirm', TOTP).value('code')).toBe('');
  const done = await browser.submit(refused, 'confirm', { code: codeOf(user.secret) }, TOTP);
  expect(done.location).toBe('/deep');
});

test('each method has fields of its own, and an error is beside the field that was sent', async () => {
  const { browser, page } = await first();
  const ids = (shown: typeof page) =>
    shown.elements.map((one) => attribute(one, 'id')).filter((id) => id !== undefined);
  expect(new Set(ids(page)).size).toBe(ids(page).length);
  const refused = await browser.post('/auth/second-factor/confirm', { method: 'recovery_code' });
  expect(refused.status).toBe(422);
  expect(new Set(ids(refused)).size).toBe(ids(refused).length);
  expect(refused.form('confirm', RECOVERY).attribute('code', 'aria-invalid')).toBe('true');
  expect(refused.form('confirm', TOTP).attribute('code', 'aria-invalid')).toBeUndefined();
  expect(refused.all('details').map((one) => attribute(one, 'open'))).toEqual(['']);
  expect(refused.form('confirm', RECOVERY).attribute('code', 'autofocus')).toBe('');
  expect([refused.error, refused.fieldErrors]).toEqual([null, ['Enter the code.']]);
});

describe('without a sign-in under way', () => {
  test('the page leads to the sign-in by a link', async () => {
    const page = await app.open().open('/auth/second-factor?return_to=/deep');
    expect([page.status, page.actions]).toEqual([200, []]);
    expect(page.text).toContain('There is no sign-in to confirm.');
    expect(page.links).toContain('/auth/sign-in?return_to=%2Fdeep');
  });

  test('a sign-in that has expired is refused', async () => {
    const { browser, page } = await first();
    const before = new Date(Date.now() - 1000);
    await app.auth.models.UnfinishedSignIn.update({ expiresAt: before }, { where: {} });
    const refused = await browser.submit(page, 'confirm', { code: codeOf(user.secret) }, TOTP);
    expect([refused.status, refused.actions]).toEqual([401, []]);
    expect(refused.error).toContain('This sign-in has expired');
    expect(refused.text).not.toContain('There is no sign-in to confirm.');
    expect(refused.links).toContain('/auth/sign-in?return_to=%2Fdeep');
    expect(await isSignedIn(browser)).toBe(false);
  });
});

describe('in a browser that the account does not know', () => {
  let codes: PagesApp<typeof plugins>;
  beforeAll(async () => {
    codes = await startPagesApp([password({ unknownBrowser: 'code' }), twoFactor()] as const);
    await codes.auth.users.create({ ...ada, emailVerified: true });
  });
  // The emails that a test asks for last follow its responses.
  afterEach(() => settled(codes.auth));
  afterAll(() => codes.stop());

  test('an emailed code completes the sign-in', async () => {
    const browser = codes.open();
    let answer = await browser.open('/auth/sign-in?return_to=/deep');
    const first = answer;
    const mail = await codes.mailOf(ada.email, 'browser-code', async () => {
      answer = await browser.submit(first, 'password', { credential: ada.email, password: ada.password });
    });
    expect(answer.location).toBe('/auth/second-factor?return_to=%2Fdeep');
    const page = await browser.follow(answer);
    expect(page.text).toContain(
      `We have emailed a code of 8 digits to ${ada.email}, because this browser is new to your account.`,
    );
    expect(page.text).not.toContain('Wrong email?');
    const again = await browser.follow(await browser.submit(page, 'send'));
    expect([again.status, again.url]).toEqual([200, '/auth/second-factor?done=sent-again&return_to=%2Fdeep']);
    // It is said once.
    expect(
      again
        .all('p')
        .filter((one) => attribute(one, 'role') === 'status')
        .map(textOf),
    ).toEqual([
      `Another email is on its way to ${ada.email}. If none comes, use the newest one that you have.`,
    ]);
    expect(again.text).not.toContain('The email is on its way.');
    const code = { method: 'email_code' };
    const wrong = await browser.submit(again, 'confirm', { code: 'ZZZZ-ZZZZ' }, code);
    expect([wrong.status, wrong.form('confirm', code).value('code')]).toEqual([401, '']);
    await settled(codes.auth);
    const latest = codes.mails.at(-1)?.code || mail.code;
    const done = await browser.submit(wrong, 'confirm', { code: latest }, code);
    expect([done.status, done.location]).toEqual([303, '/deep']);
  });

  test('an email that was asked for too often is not sent, and the page says that the code still works', async () => {
    const browser = codes.open();
    const page = await browser.follow(await signInOn(browser, ada));
    expect(page.all('button').map(textOf)).toContain('Send the email again');
    let answer = page;
    for (let time = 0; time < 4; time++) answer = await browser.submit(page, 'send');
    expect([answer.status, answer.error]).toEqual([
      429,
      'There is a problem We cannot send this email again for now. Use the newest one that you have.',
    ]);
    expect(answer.form('confirm', { method: 'email_code' }).has('code')).toBe(true);
  });

  test('after a sign-in that another tab has completed, the page says so and leads on', async () => {
    const browser = codes.open();
    let answer = await browser.open('/auth/sign-in?return_to=/deep');
    const first = answer;
    const { code } = await codes.mailOf(ada.email, 'browser-code', async () => {
      answer = await browser.submit(first, 'password', { credential: ada.email, password: ada.password });
    });
    const page = await browser.follow(answer);
    const method = { method: 'email_code' };
    expect((await browser.submit(page, 'confirm', { code }, method)).location).toBe('/deep');
    const late = await browser.submit(page, 'confirm', { code }, method);
    expect([late.heading, late.error, late.actions]).toEqual(['You are already signed in', null, []]);
    expect(late.text).toContain(`You are signed in as ${ada.email}.`);
    expect(late.links).toContain('/deep');
  });

  test('after too many wrong codes, the page leads to the sign-in', async () => {
    const browser = codes.open();
    const page = await browser.follow(await signInOn(browser, ada));
    let answer = page;
    for (let time = 0; time < 5; time++)
      answer = await browser.submit(page, 'confirm', { code: 'ZZZZ-ZZZZ' }, { method: 'email_code' });
    expect([answer.status, answer.actions]).toEqual([401, []]);
    expect(answer.error).toContain('a wrong code was entered too often. Sign in again to get a new code.');
    expect(answer.text).not.toContain('There is no sign-in to confirm.');
    expect(answer.links.filter((href) => href === '/auth/sign-in')).toHaveLength(1);
  });
});

test('an account with passkeys alone reads why there is one more step', async () => {
  const own = await startPagesApp([password(), twoFactor(), passkeys()] as const, {
    config: { baseUrl: PAGE },
  });
  await createPerson(own as never, ada);
  const client = own.browser();
  await firstStep(client).expect(200);
  await addPasskey(client, authenticator());
  await client.put('/auth/two-factor/passkeys').send({ on: true }).expect(200);
  const browser = own.open();
  const page = await browser.follow(await signInOn(browser, ada));
  expect(page.text).toContain('Your password was correct. Now use your passkey.');
  // The user has not entered the password, but an emailed code, for example.
  await own.auth.models.UnfinishedSignIn.update({ amr: 'otp' } as never, { where: {} });
  expect((await browser.open('/auth/second-factor')).text).toContain('One more step: use your passkey.');
  await own.stop();
});

test('a sign-in by email that removes the password leads to Security, also if a script completes it', async () => {
  const own = await startPagesApp([password(), twoFactor(), passkeys(), emailSignIn()] as const, {
    config: { baseUrl: PAGE },
  });
  for (const byScript of [false, true]) {
    const person = { email: `first-${byScript}@example.com`, password: ada.password };
    const { id } = await own.auth.users.create({ ...person, emailVerified: true });
    const owner = own.browser();
    await firstStep(owner, person).expect(200);
    const { secret } = await enroll(owner);
    await addPasskey(owner, authenticator());
    await forgetSteps(own as never);
    const browser = own.open({ host: 'localhost:3000' });
    const mail = await own.mailOf(person.email, 'sign-in-code', async () =>
      browser.submit(await browser.open('/auth/sign-in?return_to=/deep'), 'send-code', {
        credential: person.email,
      }),
    );
    const codePage = await browser.open('/auth/sign-in/email?return_to=/deep');
    const second = await browser.submit(codePage, 'confirm', { code: mail.code });
    expect(second.location).toBe('/auth/second-factor?return_to=%2Fdeep');
    const page = await browser.follow(second);
    const dropped =
      '/auth/account/security?done=password-dropped&return_to=%2Fdeep%3Fpassword_removed%3Dtrue';
    // A passkey completes the sign-in by a script, which reads the next page from its button.
    const [button] = page.all('button').filter((one) => attribute(one, 'data-passkey') !== undefined);
    expect(button && [attribute(button, 'data-go'), attribute(button, 'data-dropped')]).toEqual([
      '/deep',
      dropped,
    ]);
    if (byScript) {
      const body = JSON.stringify({ method: 'totp', code: codeOf(secret) });
      const json = { 'content-type': 'application/json', accept: 'application/json' };
      const answer = await browser.send('POST', '/auth/signin/second-factor', body, json);
      expect(JSON.parse(answer.body)).toMatchObject({ password_removed: true });
    } else {
      const done = await browser.submit(page, 'confirm', { code: codeOf(secret) }, TOTP);
      expect(done.location).toBe(dropped);
    }
    expect((await browser.open(dropped)).text).toContain('We removed the password of this account');
    expect((await own.auth.users.get(id))?.email).toBe(person.email);
  }
  await own.stop();
});

describe('with browsers that users can trust', () => {
  const TRUST = "Don't ask again in this browser for 1 day";
  const named = new Set<string>();
  const trusting = [
    password(),
    twoFactor({ trustDevices: { days: 1 }, required: ({ id }) => named.has(id) }),
  ] as const;
  let own: PagesApp<typeof trusting>;
  let enrolled: Awaited<ReturnType<typeof createProtected>>;
  beforeAll(async () => {
    own = await startPagesApp(trusting);
    enrolled = await createProtected(own as never);
  });
  beforeEach(() => forgetSteps(own as never));
  afterAll(() => own.stop());
  const open = async (browser = own.open()) => {
    const answer = await signInOn(browser, ada);
    return { browser, answer, page: await browser.follow(answer) };
  };

  test('a browser is chosen beside the code, also after a wrong one, until every one is asked again', async () => {
    const { browser, page } = await open();
    expect(page.text).toContain(TRUST);
    expect(page.form('confirm', RECOVERY).has('trust_device')).toBe(false);
    const wrong = { code: wrongCode(enrolled.secret), trust_device: 'true' };
    const refused = await browser.submit(page, 'confirm', wrong, TOTP);
    expect(refused.form('confirm', TOTP).attribute('trust_device', 'checked')).toBe('');
    const right = { code: codeOf(enrolled.secret), trust_device: 'true' };
    await browser.submit(refused, 'confirm', right, TOTP);
    await browser.submit(await browser.open('/auth/sign-out'), 'confirm');
    expect((await open(browser)).answer.location).toBe('/home');
    expect(await isSignedIn(browser)).toBe(true);

    const security = await browser.open('/auth/account/security');
    expect(security.text).toContain('In 1 browser, you sign in with the password alone.');
    expect(security.text).toContain('The password alone signs you in there until');
    // Without a password, the trust counts for nothing.
    const where = { email: ada.email };
    const found = await own.auth.models.User.unscoped().findOne({ attributes: ['passwordHash'], where });
    const passwordHash = found?.get('passwordHash');
    expect(passwordHash).toBeTruthy();
    await own.auth.models.User.update({ passwordHash: null } as never, { where });
    const without = await browser.open('/auth/account/security');
    expect(without.text).not.toMatch(/password alone/);
    await own.auth.models.User.update({ passwordHash } as never, { where });
    const done = await browser.submit(security, 'ask-again');
    expect(done.location).toBe('/auth/account/security?done=browsers-not-trusted');
    const after = await browser.follow(done);
    expect(after.text).toContain('From now on, every sign-in asks for the second step again.');
    expect(after.actions.filter((one) => one.endsWith('/ask-again'))).toEqual([]);
    await browser.submit(await browser.open('/auth/sign-out'), 'confirm');
    expect((await open(browser)).page.text).toContain(TRUST);
  });

  test('a user who must have a second factor is not offered the choice', async () => {
    named.add(enrolled.userId);
    expect((await open()).page.text).not.toContain("Don't ask again");
    named.clear();
  });

  test('a sign-in without the password offers no choice, for which the trust would not count', async () => {
    const mailed = await startPagesApp([
      password(),
      twoFactor({ trustDevices: { days: 1 } }),
      emailSignIn(),
    ] as const);
    const { secret } = await createProtected(mailed as never);
    const browser = mailed.open();
    const mail = await mailed.mailOf(ada.email, 'sign-in-code', async () =>
      browser.submit(await browser.open('/auth/sign-in'), 'send-code', { credential: ada.email }),
    );
    const codePage = await browser.open('/auth/sign-in/email');
    const page = await browser.follow(await browser.submit(codePage, 'confirm', { code: mail.code }));
    expect(page.form('confirm', TOTP).has('trust_device')).toBe(false);
    expect(page.text).not.toContain("Don't ask again");
    // A form that was sent all the same leaves no trust behind.
    const body = JSON.stringify({ method: 'totp', code: codeOf(secret), trust_device: true });
    const json = { 'content-type': 'application/json', accept: 'application/json' };
    expect((await browser.send('POST', '/auth/signin/second-factor', body, json)).status).toBe(200);
    const status = await browser.open('/auth/two-factor', { accept: 'application/json' });
    expect(JSON.parse(status.body)).toMatchObject({ trusted_devices: 0 });
    await mailed.stop();
  });

  test('an emailed code offers no choice', async () => {
    const plugins = [password({ unknownBrowser: 'code' }), twoFactor({ trustDevices: { days: 1 } })] as const;
    const other = await startPagesApp(plugins);
    await other.auth.users.create({ ...ada, emailVerified: true });
    const browser = other.open();
    const page = await browser.follow(await signInOn(browser, ada));
    expect(page.text).toContain('We have emailed a code');
    expect(page.text).not.toContain("Don't ask again");
    await other.stop();
  });
});
