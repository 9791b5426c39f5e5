import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { emailSignIn, passkeys, twoFactor } from '../../../lib/index.js';
import { ada, password } from '../../support/app.js';
import { attribute, elementsIn } from '../../support/page-browser.js';
import { isSignedIn, type PagesApp, signInOn, startPagesApp } from '../../support/pages-app.js';

const plugins = [password({ username: true }), emailSignIn(), twoFactor(), passkeys()] as const;

let app: PagesApp<typeof plugins>;
beforeAll(async () => {
  app = await startPagesApp(plugins);
  await app.auth.credential.signUp({ ...ada, username: 'countess' } as never);
});
afterAll(() => app.stop());

test('the right password leads home', async () => {
  const browser = app.open();
  const answer = await signInOn(browser, ada);
  expect([answer.status, answer.location]).toEqual([303, '/home']);
  expect(await isSignedIn(browser)).toBe(true);
});

test('a username signs in too', async () => {
  const browser = app.open();
  const page = await browser.open('/auth/sign-in');
  expect(page.form('password').attribute('credential', 'type')).toBe('text');
  const answer = await browser.submit(page, 'password', { credential: 'countess', password: ada.password });
  expect([answer.status, answer.location]).toEqual([303, '/home']);
});

describe('a wrong password', () => {
  test('shows the page with its status, the error in the form, the focus on the password, and what was typed', async () => {
    const browser = app.open();
    const answer = await signInOn(browser, { email: 'Ada@Example.com ', password: 'not the password' });
    expect([answer.status, answer.heading, answer.title]).toEqual([
      401,
      'Sign in to localhost',
      'Error: Sign in – localhost',
    ]);
    expect(answer.error).toContain('There is a problem');
    // A browser gives the focus to the first that asks for it.
    const focused = answer.elements.find((one) => attribute(one, 'autofocus') !== undefined)!;
    expect(attribute(focused, 'name')).toBe('password');
    const box = answer.elements.find((one) => attribute(one, 'data-part') === 'errors')!;
    expect([attribute(box, 'role'), attribute(box, 'autofocus')]).toEqual(['alert', undefined]);
    expect(attribute(focused, 'aria-describedby')?.split(' ')[0]).toBe(attribute(box, 'id'));
    expect([...elementsIn(answer.form('password').element)]).toContain(box);
    expect(answer.form('password').value('credential')).toBe('Ada@Example.com ');
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('is never sent back', async () => {
    const answer = await signInOn(app.open(), { email: ada.email, password: 'sent-only-once <"\'&' });
    expect(answer.body).not.toContain('sent-only-once');
    expect(answer.form('password').attribute('password', 'value')).toBeUndefined();
  });

  test('keeps where the user goes on to, and a checked box', async () => {
    const browser = app.open();
    const page = await browser.open('/auth/sign-in?return_to=%2Fdeep%3Fa%3Db%26c');
    const wrong = await browser.submit(page, 'password', {
      credential: ada.email,
      password: 'wrong',
      remember_me: true,
    });
    expect(wrong.status).toBe(401);
    expect(wrong.form('password').attribute('remember_me', 'checked')).toBe('');
    const answer = await browser.submit(wrong, 'password', { password: ada.password });
    expect([answer.status, answer.location]).toEqual([303, '/deep?a=b&c']);
  });
});

test('the fields have names for password managers', async () => {
  const form = (await app.open().open('/auth/sign-in')).form('password');
  expect(form.attribute('credential', 'autocomplete')).toBe('username webauthn');
  expect(form.attribute('password', 'autocomplete')).toBe('current-password');
});

test('a session ends with the browser unless the box is checked', async () => {
  const lifetime = async (isRemembered: boolean) => {
    const browser = app.open();
    const page = await browser.open('/auth/sign-in');
    const { cookies } = await browser.submit(page, 'password', {
      credential: ada.email,
      password: ada.password,
      ...(isRemembered && { remember_me: true }),
    });
    return /max-age=\d+/i.test(cookies.find((one) => one.startsWith('latchkey=')) ?? '');
  };
  expect([await lifetime(false), await lifetime(true)]).toEqual([false, true]);
});

test('who is signed in goes on', async () => {
  const browser = app.open();
  await signInOn(browser, ada);
  expect((await browser.open('/auth/sign-in')).location).toBe('/home');
  expect((await browser.open('/auth/sign-in?return_to=/reports')).location).toBe('/reports');
  expect((await browser.open('/auth/sign-up?return_to=/reports')).location).toBe('/reports');
});

test('an error or a message in the address alone is not shown, because anyone can write a link', async () => {
  for (const done of ['account-deleted', 'signed-out', 'password-reset']) {
    const page = await app.open().open(`/auth/sign-in?done=${done}`);
    expect([page.status, page.elements.some((one) => attribute(one, 'role') === 'status')]).toEqual([
      200,
      false,
    ]);
  }
  for (const error of [
    'account_suspended',
    'access_denied',
    'nonsense',
    'constructor',
    '__proto__',
    '<b>',
    '',
  ]) {
    const other = await app.open().open(`/auth/sign-in?error=${encodeURIComponent(error)}`);
    expect([other.status, other.error]).toEqual([200, null]);
  }
});

test('the way that was used last is marked', async () => {
  const browser = app.open();
  expect((await browser.open('/auth/sign-in')).text).not.toContain('last used');
  const { code = '' } = await app.mailOf(ada.email, 'sign-in-code', async () =>
    browser.submit(await browser.open('/auth/sign-in'), 'send-code', { credential: ada.email }),
  );
  // A code that was only asked for has not signed anyone in.
  expect((await browser.open('/auth/sign-in')).text).not.toContain('last used');
  await browser.submit(await browser.open('/auth/sign-in/email'), 'confirm', { code });
  await browser.submit(await browser.open('/auth/sign-out'), 'confirm');
  expect((await browser.open('/auth/sign-in')).text).toMatch(/Email me a code last used/);
});

test('a form without fields is refused field by field', async () => {
  const answer = await app.open().post('/auth/sign-in/password', {});
  expect(answer.status).toBe(422);
  expect(answer.error).toMatch(/There is a problem Enter your email or username\.Enter a password\./);
  const form = answer.form('password');
  for (const name of ['credential', 'password']) {
    expect(form.attribute(name, 'aria-invalid')).toBe('true');
    const described = form.attribute(name, 'aria-describedby') ?? '';
    expect(answer.elements.some((one) => attribute(one, 'id') === described)).toBe(true);
  }
});

describe('a code by email', () => {
  test('is asked for with the email that was typed, without the password', async () => {
    const browser = app.open();
    const page = await browser.open('/auth/sign-in?return_to=/deep');
    expect(page.actions).toEqual(['/auth/sign-in/password', '/auth/sign-in/send-code']);
    await app.mailOf(ada.email, 'sign-in-code', async () => {
      const typed = { credential: ada.email, password: 'typed for nothing', remember_me: true };
      const answer = await browser.submit(page, 'send-code', typed);
      expect([answer.status, answer.location]).toEqual([303, '/auth/sign-in/email?return_to=%2Fdeep']);
    });
  });

  test('asks for the password again only if one was sent', async () => {
    const browser = app.open();
    const page = await browser.open('/auth/sign-in');
    const again = 'Enter the password again.';
    expect((await browser.submit(page, 'send-code', {})).text).not.toContain(again);
    expect((await browser.submit(page, 'send-code', { password: 'typed' })).text).toContain(again);
  });

  test('is also sent by a form with the names of the route', async () => {
    const browser = app.open();
    await app.mailOf(ada.email, 'sign-in-code', async () => {
      const answer = await browser.post('/auth/sign-in/send-code', { email: ada.email });
      expect(answer.location).toBe('/auth/sign-in/email');
    });
  });

  test.each(['countess', 'ada@example', ''])('is refused beside the field for %j', async (credential) => {
    const browser = app.open();
    const before = app.mails.length;
    const answer = await browser.submit(await browser.open('/auth/sign-in'), 'send-code', {
      credential,
      remember_me: true,
    });
    expect([answer.status, answer.error, answer.fieldErrors]).toEqual([
      422,
      null,
      [credential ? 'To get a code, enter your email, such as ada@example.com.' : 'Enter an email.'],
    ]);
    const form = answer.form('password');
    expect(form.attribute('credential', 'aria-invalid')).toBe('true');
    expect([form.value('credential'), form.attribute('remember_me', 'checked')]).toEqual([credential, '']);
    expect(app.mails.length).toBe(before);
  });
});

test('what needs no password stands first, and what Enter presses is the sign-in', async () => {
  const page = await app.open().open('/auth/sign-in');
  const order = page.elements
    .filter((one) => one.tagName === 'button' || attribute(one, 'name') === 'credential')
    .map((one) => attribute(one, 'data-kind') ?? attribute(one, 'formaction') ?? one.tagName);
  expect(order).toEqual(['sign-in', 'input', 'button', '/auth/sign-in/send-code']);
});

test('the address of a refused form leads back to its page, and on to where the user was going', async () => {
  const browser = app.open();
  const page = await browser.open('/auth/sign-in?return_to=/deep');
  await browser.submit(page, 'password', { credential: ada.email, password: 'wrong' });
  // The user enters the address in the address bar again.
  const again = await browser.open('/auth/sign-in/password');
  expect([again.status, again.location]).toEqual([303, '/auth/sign-in?return_to=%2Fdeep']);
  expect((await app.open().open('/auth/sign-in/password')).location).toBe('/auth/sign-in');
});

test('a refused form with a long text sets no large cookie', async () => {
  const answer = await app.open().post('/auth/sign-in/password', {
    credential: `${'x'.repeat(5000)}@example.com`,
    password: 'wrong',
  });
  expect(answer.status).toBe(422);
  expect(answer.cookies.filter((one) => one.length > 1000)).toEqual([]);
});

test.each([
  ['email', 'Enter your email.'],
  ['username', 'Enter your username.'],
  ['either', 'Enter your email or username.'],
] as const)(
  'an empty sign-in with the identifier %j asks for what the label names',
  async (identifier, text) => {
    const own = await startPagesApp([password({ identifier })] as const);
    const browser = own.open();
    const answer = await browser.post('/auth/sign-in/password', { password: ada.password });
    expect([answer.status, answer.error, answer.fieldErrors]).toEqual([422, null, [text]]);
    await own.stop();
  },
);

test.each([
  ['email', false, 'The email or the password is wrong.'],
  ['username', true, 'The username or the password is wrong.'],
  ['either', true, 'The email, username or password is wrong.'],
] as const)(
  'a wrong sign-in with the identifier %j says what can be wrong',
  async (identifier, username, text) => {
    const own = await startPagesApp([password({ identifier, username })] as const);
    const answer = await own.open().post('/auth/sign-in/password', { credential: 'ada', password: 'wrong' });
    expect([answer.status, answer.error]).toEqual([401, `There is a problem ${text}`]);
    await own.stop();
  },
);
