import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ada, password } from '../../support/app.js';
import type { Shown } from '../../support/page-browser.js';
import {
  createPerson,
  isSignedIn,
  type PagesApp,
  pathOf,
  signInOn,
  startPagesApp,
} from '../../support/pages-app.js';

let people = 0;
/** Over plain http, another host could have set the cookies. */
const HTTPS = { config: { baseUrl: 'https://localhost' } };
const newPerson = () => ({ email: `person-${people++}@example.com`, password: ada.password });

/** Expects that the page asks for the password, and does not say that someone has been signed out. */
function expectPasswordAsked(shown: Shown, help = 'Enter the password of this account.'): void {
  const form = shown.form('confirm');
  expect(shown.status).toBe(401);
  expect(shown.text).toContain(help);
  expect(shown.text).not.toContain('signed out.');
  expect([form.attribute('password', 'aria-invalid'), form.attribute('password', 'autofocus')]).toEqual([
    'true',
    '',
  ]);
  expect([shown.error, shown.links.includes('/auth/sign-in')]).toEqual([null, false]);
}

describe('verify-email', () => {
  const plugins = [password({ sendVerificationOnSignUp: true, signInOnSignUp: true })] as const;
  let app: PagesApp<typeof plugins>;
  beforeAll(async () => {
    app = await startPagesApp(plugins, HTTPS);
  });
  afterAll(() => app.stop());

  const signUp = async (person = newPerson(), at = '/auth/sign-up') => {
    const browser = app.open();
    const page = await browser.open(at);
    const mail = await app.mailOf(person.email, 'verify-email', () =>
      browser.submit(page, 'password', person),
    );
    return { browser, mail, person };
  };
  const isVerified = async (email: string) =>
    (await app.auth.models.User.findOne({ where: { email } }))?.get('emailVerifiedAt') !== null;

  test('the own session confirms by a button, and the answer leads to an address without the token', async () => {
    const { browser, mail, person } = await signUp(newPerson(), '/auth/sign-up?return_to=/deep');
    const page = await browser.open(pathOf(mail.url));
    expect([page.status, page.heading]).toEqual([200, 'Confirm your email']);
    expect(page.text).toContain(person.email);
    expect(page.form('confirm').has('password')).toBe(false);
    expect(await isVerified(person.email)).toBe(false);
    const done = await browser.submit(page, 'confirm');
    expect([done.status, done.location]).toEqual([
      303,
      '/auth/verify-email?done=email-verified&return_to=%2Fdeep',
    ]);
    expect(await isVerified(person.email)).toBe(true);
    const last = await browser.follow(done);
    expect([last.heading, last.error]).toEqual(['Your email is confirmed', null]);
    expect(last.links).toContain('/deep');
  });

  test('another browser needs the password', async () => {
    const { mail, person } = await signUp();
    const other = app.open();
    const page = await other.open(pathOf(mail.url));
    expect(page.form('confirm').has('password')).toBe(true);
    expect(page.links).toContain('/auth/forgot-password');
    expectPasswordAsked(await other.submit(page, 'confirm', { password: '' }));
    const wrong = await other.submit(page, 'confirm', { password: 'sent-only-once' });
    expect(wrong.status).toBe(401);
    expect(wrong.body).not.toContain('sent-only-once');
    expect(wrong.text).toContain(person.email);
    expect(await isVerified(person.email)).toBe(false);
    const done = await other.submit(wrong, 'confirm', { password: person.password });
    expect([done.status, done.location]).toEqual([303, '/auth/verify-email?done=email-verified']);
    expect(await isVerified(person.email)).toBe(true);
    expect((await other.follow(done)).links).toContain('/auth/sign-in');
    expect(await isSignedIn(other)).toBe(false);
  });

  test("a session of another account needs the account's password", async () => {
    const { mail, person } = await signUp();
    const { browser } = await signUp();
    const page = await browser.open(pathOf(mail.url));
    expect(page.form('confirm').has('password')).toBe(true);
    expect((await browser.post('/auth/verify-email/confirm', { token: mail.token })).status).toBe(401);
    expect(await isVerified(person.email)).toBe(false);
  });

  test('the page names the email that was confirmed if another account is signed in', async () => {
    const { mail, person } = await signUp();
    const { browser, person: other } = await signUp();
    const page = await browser.open(pathOf(mail.url));
    const done = await browser.submit(page, 'confirm', { password: person.password });
    const last = await browser.follow(done);
    expect(last.text).toContain(`${person.email} is confirmed.You are signed in as ${other.email}.`);
  });

  test('a used link is no longer valid, and the session of an account that is not verified can ask for another', async () => {
    const { browser, mail, person } = await signUp();
    const nonsense = await browser.open('/auth/verify-email?token=nonsense');
    expect(nonsense.heading).toBe('This link is no longer valid');
    let sent = nonsense;
    const next = await app.mailOf(person.email, 'verify-email', async () => {
      sent = await browser.submit(nonsense, 'send');
    });
    expect([sent.status, sent.location]).toEqual([303, '/auth/verify-email?done=sent']);
    expect((await browser.follow(sent)).text).toContain('The email is on its way.');
    await browser.submit(await browser.open(pathOf(next.url)), 'confirm');
    for (const { token } of [mail, next]) {
      const other = app.open();
      const page = await other.open(`/auth/verify-email?token=${token}`);
      expect([page.heading, page.actions]).toEqual(['This link is no longer valid', []]);
      expect(page.text).toContain('If you have confirmed your email already, just sign in.');
      expect(page.links).toContain('/auth/sign-in');
      expect(page.body).not.toContain(person.email);
      const refused = await other.post('/auth/verify-email/confirm', { token });
      expect([refused.status, refused.heading]).toEqual([400, 'This link is no longer valid']);
    }
  });

  test('a link that is opened or sent twice says that the email is confirmed, and goes on', async () => {
    const { browser, mail, person } = await signUp(newPerson(), '/auth/sign-up?return_to=/deep');
    const first = await browser.open(pathOf(mail.url));
    await browser.submit(first, 'confirm');
    for (const page of [await browser.open(pathOf(mail.url)), await browser.submit(first, 'confirm')]) {
      expect([page.heading, page.error]).toEqual(['Your email is confirmed', null]);
      expect(page.text).toContain(`You are signed in as ${person.email}.`);
      expect(page.links).toContain('/deep');
    }
  });
});

describe('over plain http', () => {
  test.each(['password', 'link'] as const)(
    'the own session and the browser of the sign-up need the password: %s',
    async (verifyEmailBy) => {
      const signsIn = verifyEmailBy === 'password';
      const options = { sendVerificationOnSignUp: true, signInOnSignUp: signsIn, verifyEmailBy };
      const app = await startPagesApp([password(options)] as const, {
        config: { baseUrl: 'http://app.example.com' },
      });
      const [person, browser] = [newPerson(), app.open()];
      const form = await browser.open('/auth/sign-up');
      const mail = await app.mailOf(person.email, 'verify-email', () =>
        browser.submit(form, 'password', person),
      );
      expect(await isSignedIn(browser)).toBe(signsIn);
      const page = await browser.open(pathOf(mail.url));
      const done = await browser.submit(page, 'confirm', { password: person.password });
      expect([done.status, done.location]).toEqual([303, '/auth/verify-email?done=email-verified']);
      expect(await isSignedIn(browser)).toBe(signsIn);
      await app.stop();
    },
  );
});

describe("verifyEmailBy: 'link'", () => {
  const plugins = [password({ sendVerificationOnSignUp: true, verifyEmailBy: 'link' })] as const;
  let app: PagesApp<typeof plugins>;
  beforeAll(async () => {
    app = await startPagesApp(plugins, HTTPS);
  });
  afterAll(() => app.stop());

  test('the browser of the sign-up needs no password, and another one does', async () => {
    const person = newPerson();
    const browser = app.open();
    const signUp = await browser.open('/auth/sign-up');
    const mail = await app.mailOf(person.email, 'verify-email', () =>
      browser.submit(signUp, 'password', person),
    );
    const other = app.open();
    const page = await other.open(pathOf(mail.url));
    expect(page.form('confirm').has('password')).toBe(false);
    const asks = await other.submit(page, 'confirm');
    expect([asks.status, asks.form('confirm').has('password')]).toEqual([expect.any(Number), true]);
    expect(asks.status).toBeGreaterThanOrEqual(400);
    const done = await browser.submit(await browser.open(pathOf(mail.url)), 'confirm');
    expect([done.status, done.location]).toEqual([303, '/auth/verify-email?done=email-verified']);
  });
});

describe('change-email', () => {
  const plugins = [password()] as const;
  let app: PagesApp<typeof plugins>;
  let person: ReturnType<typeof newPerson>;
  let browser: ReturnType<typeof app.open>;
  let email: string;
  beforeAll(async () => {
    app = await startPagesApp(plugins);
  });
  beforeEach(async () => {
    person = newPerson();
    email = `new-${person.email}`;
    await createPerson(app as never, person);
    browser = app.open();
    await signInOn(browser, person);
  });
  afterAll(() => app.stop());

  const ask = () =>
    app.mailOf(email, 'verify-new-email', () =>
      browser.send('POST', '/auth/email-changes', JSON.stringify({ new_email: email }), {
        'content-type': 'application/json',
      }),
    );
  const emailOf = async (signedIn = browser) =>
    JSON.parse((await signedIn.open('/auth/me', { accept: 'application/json' })).body).user?.email;

  test('the own session confirms by a button, and the page names both emails', async () => {
    const mail = await ask();
    const page = await browser.open(pathOf(mail.url));
    expect([page.status, page.heading]).toEqual([200, 'Confirm your new email']);
    expect(page.text).toContain(`Use ${email} as the email of your account.`);
    expect(page.text).toContain(`Your current email is ${person.email}.`);
    expect(page.form('confirm').names).toEqual(['token', 'confirmed']);
    expect(page.text).toContain('You will be signed out on all other devices.');
    const done = await browser.submit(page, 'confirm');
    expect([done.status, done.location]).toEqual([303, '/auth/change-email?done=email-changed']);
    const changed = await browser.follow(done);
    expect([changed.heading, changed.links.includes('/auth/account')]).toEqual([
      'Your email was changed',
      true,
    ]);
    expect(changed.text).toContain(`Your email is now ${email}.`);
    expect(await emailOf()).toBe(email);
    const again = await browser.open(pathOf(mail.url));
    expect([again.heading, again.actions]).toEqual(['This link is no longer valid', []]);
    expect(again.text).toContain(`The email of your account is ${email}.`);
    const elsewhere = await app.open().open(pathOf(mail.url));
    expect(elsewhere.text).toContain('just sign in with it');
    expect(elsewhere.body).not.toContain(person.email);
  });

  test('another browser needs the password', async () => {
    const mail = await ask();
    const other = app.open();
    const page = await other.open(pathOf(mail.url));
    expect(page.links).toContain('/auth/forgot-password');
    const help = 'Enter the password of this account, or open this link where you are signed in.';
    expectPasswordAsked(await other.submit(page, 'confirm', { password: '' }), help);
    const wrong = await other.submit(page, 'confirm', { password: 'sent-only-once' });
    expect(wrong.status).toBe(401);
    expect(wrong.body).not.toContain('sent-only-once');
    // The account does not have the new email yet, so the other pages do not fill it in.
    expect((await other.open('/auth/forgot-password')).body).not.toContain(email);
    expect(await emailOf()).toBe(person.email);
    const done = await other.submit(wrong, 'confirm', { password: person.password });
    expect([done.status, done.location]).toEqual([303, '/auth/change-email?done=email-changed']);
    // All sessions have ended, which is said before and after, and the sign-in knows the email.
    expect(page.text).toContain('You will be signed out everywhere.');
    const told = await other.follow(done);
    expect(told.text).toContain(
      `Your email is now ${email}. Your sessions have ended. Sign in with the new email.`,
    );
    expect((await other.open('/auth/sign-in')).form('password').value('credential')).toBe(email);
    expect((await signInOn(app.open(), { ...person, email })).location).toBe('/home');
  });

  test('another browser shows the same whether or not the account has a password', async () => {
    const withPassword = await app.open().open(pathOf((await ask()).url));
    expect(withPassword.text).toContain('Open this link where you are signed in');
    expect(withPassword.text).toContain('Or enter the password of the account here, if it has one.');
    await app.auth.models.User.update({ passwordHash: null } as never, {
      where: { email: person.email } as never,
    });
    const without = await app.open().open(pathOf((await ask()).url));
    expect(without.text).toBe(withPassword.text);
    const confirmed = await browser.submit(await browser.open(pathOf((await ask()).url)), 'confirm');
    expect(confirmed.status).toBe(303);
  });

  test('a made-up link is no longer valid', async () => {
    for (const page of [
      await browser.open('/auth/change-email?token=nonsense'),
      await browser.open('/auth/change-email'),
      await browser.post('/auth/change-email/confirm', { token: 'nonsense' }),
    ])
      expect([page.heading, page.actions]).toEqual(['This link is no longer valid', []]);
  });
});

describe('verify-email with a code', () => {
  const plugins = [password({ verifyEmailBy: 'code', signInOnSignUp: true })] as const;
  let app: PagesApp<typeof plugins>;
  beforeAll(async () => {
    app = await startPagesApp(plugins, HTTPS);
  });
  afterAll(() => app.stop());

  const signUp = async (person = newPerson(), at = '/auth/sign-up') => {
    const browser = app.open();
    const page = await browser.open(at);
    let answer = page;
    const { code = '' } = await app.mailOf(person.email, 'verification-code', async () => {
      answer = await browser.submit(page, 'password', person);
    });
    return { browser, code, answer, person };
  };

  test('a sign-up leads to the field for the code, which leads on', async () => {
    const { browser, code, answer, person } = await signUp(newPerson(), '/auth/sign-up?return_to=/deep');
    expect(answer.location).toBe('/auth/verify-email?done=sent&return_to=%2Fdeep');
    const page = await browser.follow(answer);
    expect(page.text).toContain(`We have emailed a code of 8 digits to ${person.email}`);
    expect(page.form('confirm').attribute('code', 'autocomplete')).toBe('one-time-code');
    expect(page.links).toContain('/deep');
    expect(page.text).toContain('Is the email wrong? Change it on your profile.');
    expect(page.links).toContain('/auth/account');
    const wrong = await browser.submit(page, 'confirm', { code: '0' });
    expect([wrong.status, wrong.title]).toEqual([401, 'Error: Confirm your email – localhost']);
    const done = await browser.submit(wrong, 'confirm', { code });
    expect(done.location).toBe('/auth/verify-email?done=email-verified&return_to=%2Fdeep');
    const last = await browser.follow(done);
    expect(last.heading).toBe('Your email is confirmed');
    expect(last.links).toContain('/deep');
  });

  test('after too many wrong codes, only another code is offered', async () => {
    const { browser, answer } = await signUp();
    const page = await browser.follow(answer);
    let over = page;
    for (let time = 0; time < 5; time++) over = await browser.submit(page, 'confirm', { code: '00000000' });
    expect([over.heading, over.actions]).toEqual(['Confirm your email', ['/auth/verify-email/send']]);
    expect(over.error).toContain('This code no longer works');
    expect(over.text).toContain('Email me a new code');
    expect(over.text).not.toContain('It works for');
  });

  test('a session without a code can ask for one, from the account too', async () => {
    const { person } = await signUp();
    const browser = app.open();
    await signInOn(browser, person);
    const page = await browser.open('/auth/verify-email');
    expect(page.actions).toEqual(['/auth/verify-email/send']);
    let answer = page;
    const { code = '' } = await app.mailOf(person.email, 'verification-code', async () => {
      const profile = await browser.open('/auth/account');
      expect(profile.text).toContain('Email me a code to confirm it');
      expect(profile.text).not.toContain('Email me a link to confirm it');
      answer = await browser.submit(profile, 'verify-email', {});
    });
    expect(answer.location).toBe('/auth/verify-email?done=sent&return_to=%2Fauth%2Faccount');
    const done = await browser.submit(await browser.follow(answer), 'confirm', { code });
    expect((await browser.follow(done)).heading).toBe('Your email is confirmed');
  });

  test('without a session, the page leads to the sign-in', async () => {
    const page = await app.open().open('/auth/verify-email');
    expect(page.links).toContain('/auth/sign-in');
    expect(page.actions).toEqual([]);
  });
});

describe('with requireVerifiedEmail and codes', () => {
  const plugins = [
    password({ verifyEmailBy: 'code', requireVerifiedEmail: true, username: true, identifier: 'either' }),
  ] as const;
  const support = 'mailto:help@example.com';
  let app: PagesApp<typeof plugins>;
  beforeAll(async () => {
    app = await startPagesApp(plugins, { ...HTTPS, pages: { home: '/home', links: { support } } });
  });
  afterAll(() => app.stop());

  const signUp = async (browser: ReturnType<typeof app.open>, person: Record<string, string>) =>
    browser.submit(await browser.open('/auth/sign-up?return_to=/deep'), 'password', person);

  test('the page of the second step asks for the code after a sign-in, as the sign-up has said', async () => {
    const person = newPerson();
    const browser = app.open();
    const signedUp = await signUp(browser, person);
    expect(signedUp.location).toBe('/auth/sign-in?done=signed-up-to-confirm&return_to=%2Fdeep');
    const signIn = await browser.follow(signedUp);
    expect(signIn.text).toContain(
      'Your account was created. Sign in, and we email you a code to confirm your email.',
    );
    let answer = signIn;
    const { code = '' } = await app.mailOf(person.email, 'verification-code', async () => {
      answer = await browser.submit(signIn, 'password', {
        credential: person.email.toUpperCase(),
        password: person.password,
      });
    });
    const page = await browser.follow(answer);
    expect(page.heading).toBe('Confirm your email');
    const done = await browser.submit(page, 'confirm', { code }, { method: 'email_code' });
    expect(done.location).toBe('/deep');
    expect(await isSignedIn(browser)).toBe(true);
  });

  test('a mistyped address is shown to the user who has typed it, with what to do', async () => {
    const [person, username] = [newPerson(), 'countess'];
    const browser = app.open();
    await signUp(browser, { ...person, username });
    const page = await browser.follow(await signInOn(browser, person, '/auth/sign-in?return_to=/deep'));
    expect(page.text).toContain(`We have emailed a code of 8 digits to ${person.email}.`);
    expect(page.text).toContain(
      'Wrong email? Sign up again with the right one or contact support: help@example.com',
    );
    expect(page.links).toContain('/auth/sign-up?return_to=%2Fdeep');
    expect(page.links).toContain(support);
    // A user who has not typed it might not be the one who has chosen it.
    const other = app.open();
    const masked = await other.follow(
      await signInOn(other, { email: username, password: person.password }, '/auth/sign-in'),
    );
    expect(masked.text).toContain(`${person.email[0]}…@example.com`);
    expect(masked.body).not.toContain(person.email);
    expect(masked.text).toContain('Wrong email?');
  });

  test('after too many wrong codes, the page keeps its heading and says what a sign-in brings', async () => {
    const person = newPerson();
    const browser = app.open();
    await signUp(browser, person);
    const page = await browser.follow(await signInOn(browser, person));
    let answer = page;
    for (let time = 0; time < 5; time++)
      answer = await browser.submit(page, 'confirm', { code: '00000000' }, { method: 'email_code' });
    expect([answer.heading, answer.actions]).toEqual(['Confirm your email', []]);
    expect(answer.error).toContain('Sign in again to get a new code.');
  });

  test('a sign-up without an email fills in the username where the user signs in', async () => {
    const username = 'byron';
    const browser = app.open();
    const signedUp = await signUp(browser, { username, password: newPerson().password });
    expect(signedUp.location).toBe('/auth/sign-in?done=signed-up&return_to=%2Fdeep');
    const page = await browser.follow(signedUp);
    expect(page.form('password').value('credential')).toBe(username);
  });
});

test('a concealed sign-up leads to the field for the code, whether or not the address is taken', async () => {
  const plugins = [password({ verifyEmailBy: 'code', concealExistingEmails: true })] as const;
  const app = await startPagesApp(plugins, HTTPS);
  const [taken, person] = [newPerson(), newPerson()];
  await app.auth.users.create({ ...taken, emailVerified: true });
  const texts = [];
  for (const [one, kind] of [
    [taken, 'account-exists'],
    [person, 'verification-code'],
  ] as const) {
    const browser = app.open();
    let answer = await browser.open('/auth/sign-up');
    const { code = '' } = await app.mailOf(one.email, kind, async () => {
      answer = await browser.submit(answer, 'password', one);
    });
    expect(answer.location).toBe('/auth/verify-email?done=sent');
    const page = await browser.follow(answer);
    texts.push(page.text.replaceAll(one.email, 'x'));
    if (one === taken) continue;
    const done = await browser.submit(page, 'confirm', { code });
    expect(done.location).toBe('/auth/verify-email?done=email-verified');
    expect((await browser.follow(done)).heading).toBe('Your email is confirmed');
    expect((await signInOn(browser, person)).status).toBe(303);
  }
  expect(texts[1]).toBe(texts[0]);
  await app.stop();
});
