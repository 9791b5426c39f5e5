import { afterEach, describe, expect, test } from '@jest/globals';
import { emailSignIn, oauth } from '../../../lib/index.js';
import { ada, password } from '../../support/app.js';
import { fixedProvider } from '../../support/fixed-provider.js';
import { isSignedIn, type PagesApp, pathOf, signInOn, startPagesApp } from '../../support/pages-app.js';

let app: PagesApp<readonly [ReturnType<typeof password>]>;
const start = async (
  options: Parameters<typeof password>[0] = {},
  more: Parameters<typeof startPagesApp>[1] = {},
) => {
  app = (await startPagesApp([password(options)] as const, more as never)) as never;
};
afterEach(() => app.stop());

const signUp = async (
  browser: ReturnType<typeof app.open>,
  fields: Record<string, string | boolean> = ada,
  at = '/auth/sign-up',
) => browser.submit(await browser.open(at), 'password', fields);

describe('with a password', () => {
  test('an account leads to the sign-in, which says so and goes on where the user was', async () => {
    await start();
    const browser = app.open();
    const answer = await signUp(browser, ada, '/auth/sign-up?return_to=/deep');
    expect([answer.status, answer.location]).toEqual([303, '/auth/sign-in?done=signed-up&return_to=%2Fdeep']);
    const page = await browser.follow(answer);
    expect(page.text).toContain('Your account was created. Sign in.');
    const signedIn = await browser.submit(page, 'password', {
      credential: ada.email,
      password: ada.password,
    });
    expect(signedIn.location).toBe('/deep');
  });

  test('an email that must be confirmed first leads to the mailbox, and after a sign-in too', async () => {
    await start({ requireVerifiedEmail: true });
    const browser = app.open();
    const page = await browser.open('/auth/sign-up?return_to=/deep');
    const mail = await app.mailOf(ada.email, 'verify-email', async () => {
      const answer = await browser.submit(page, 'password', ada);
      expect(answer.location).toBe('/auth/sign-up?done=check-mail&return_to=%2Fdeep');
      const sent = await browser.follow(answer);
      expect([sent.heading, sent.actions]).toEqual(['Check your email', []]);
      expect(sent.text).toContain(
        `We have emailed a link to ${ada.email}. Open it, then sign in. Check your spam folder too.`,
      );
      expect(sent.links).toContain('/auth/sign-in?return_to=%2Fdeep');
    });
    const again = await app.mailOf(ada.email, 'verify-email', async () => {
      const waiting = await browser.follow(await signInOn(browser, ada));
      expect(waiting.heading).toBe('Confirm your email first');
      expect(waiting.text).toContain(`Open the link that we have emailed to ${ada.email}, then sign in.`);
      expect(waiting.text).toContain('To get a new link, sign in again.');
      // Another browser does not learn the address.
      const elsewhere = await app.open().open('/auth/verify-email?waiting=true');
      expect(elsewhere.body).not.toContain(ada.email);
      expect(elsewhere.text).toContain('If we have emailed you a link, open it, then sign in.');
    });
    for (const { token } of [mail, again]) expect(token).not.toBe('');
    const link = await browser.open(`/auth/verify-email?token=${again.token}`);
    await browser.submit(link, 'confirm', { password: ada.password });
    expect((await signInOn(browser, ada)).location).toBe('/home');
  });

  test.each([
    ['no link is emailed', { sendVerificationOnSignUp: false }, ada],
    ['there is no email', { identifier: 'either' }, { username: 'countess', password: ada.password }],
  ] as const)('requireVerifiedEmail leads to the sign-in if %s', async (_title, options, fields) => {
    await start({ requireVerifiedEmail: true, ...options });
    expect((await signUp(app.open(), fields)).location).toBe('/auth/sign-in?done=signed-up');
  });

  test('signInOnSignUp leads on with a session', async () => {
    await start({ signInOnSignUp: true });
    const browser = app.open();
    expect((await signUp(browser, ada, '/auth/sign-up?return_to=/deep')).location).toBe('/deep');
    expect(await isSignedIn(browser)).toBe(true);
  });

  test('a weak password and a wrong email are shown beside their fields, and what was typed is kept', async () => {
    await start(
      { username: true },
      { config: { user: { fields: { fullName: { type: 'string', maxLength: 80 } } } } },
    );
    const browser = app.open();
    const answer = await signUp(browser, {
      email: 'nonsense',
      username: 'countess',
      full_name: 'Ada "A" <Lovelace>',
      password: 'short',
    });
    expect([answer.status, answer.title]).toEqual([422, 'Error: Create an account – localhost']);
    expect(answer.error).toMatch(/Email: .*Password: /);
    const form = answer.form('password');
    expect(['email', 'username', 'full_name', 'password'].map((name) => form.value(name))).toEqual([
      'nonsense',
      'countess',
      'Ada "A" <Lovelace>',
      '',
    ]);
    expect(form.attribute('email', 'aria-invalid')).toBe('true');
    expect(form.attribute('username', 'aria-invalid')).toBeUndefined();
    expect(answer.body).not.toContain('value="short"');
  });

  test('what is missing is shown together with what the rules for emails and passwords reject', async () => {
    const fields = { city: { type: 'string', required: true } } as const;
    await start({}, { config: { user: { fields } } });
    const answer = await signUp(app.open(), { email: 'nonsense', password: 'short', city: '' });
    expect([answer.status, answer.fieldErrors]).toEqual([
      422,
      [
        'Enter an email such as ada@example.com.',
        expect.stringContaining('at least 8 characters'),
        'Fill in this field.',
      ],
    ]);
  });

  test('an email that has an account is refused', async () => {
    await start();
    await app.auth.credential.signUp(ada);
    const answer = await signUp(app.open(), { ...ada, password: 'another long password' });
    expect(answer.status).toBe(409);
    expect(answer.error).not.toBeNull();
  });

  test('optional fields can be left empty, and unchecked booleans are false', async () => {
    const fields = {
      nickname: { type: 'string', maxLength: 40 },
      age: { type: 'integer' },
      birthday: { type: 'date' },
      newsletter: { type: 'boolean' },
      color: { type: 'string', enum: ['red', 'blue'] },
      plan: { type: 'string', enum: ['free', 'paid'], required: true },
    } as const;
    await start({ username: true, signInOnSignUp: true }, { config: { user: { fields } } });
    const browser = app.open();
    const page = await browser.open('/auth/sign-up');
    const answer = await browser.submit(page, 'password', { ...ada, plan: 'paid' });
    expect([answer.status, answer.location, answer.error]).toEqual([303, '/home', null]);
    const me = JSON.parse((await browser.open('/auth/me', { accept: 'application/json' })).body);
    expect(me.user).toMatchObject({
      nickname: null,
      age: null,
      birthday: null,
      newsletter: false,
      color: null,
      plan: 'paid',
      username: null,
    });
  });

  test.each([
    ['username', ['username', 'password'], { username: 'countess' }],
    ['either', ['email', 'username', 'password'], { username: 'countess' }],
    ['either', ['email', 'username', 'password'], { email: ada.email }],
  ] as const)('identifier %j has the fields %j', async (identifier, names, typed) => {
    await start({ identifier, signInOnSignUp: true });
    const browser = app.open();
    const page = await browser.open('/auth/sign-up');
    expect(page.form('password').names).toEqual(names);
    const answer = await browser.submit(page, 'password', { ...typed, password: ada.password });
    expect([answer.status, answer.location, answer.error]).toEqual([303, '/home', null]);
  });

  test('concealExistingEmails answers an email with an account as any other', async () => {
    await start({ concealExistingEmails: true });
    await app.auth.credential.signUp(ada);
    for (const email of [ada.email, 'new@example.com']) {
      const browser = app.open();
      const answer = await signUp(browser, { email, password: 'another long password' });
      expect([answer.status, answer.location]).toEqual([303, '/auth/sign-up?done=check-mail']);
      const page = await browser.follow(answer);
      expect([page.heading, page.actions]).toEqual(['Check your email', []]);
      expect(page.text).toContain(`We have emailed ${email}.`);
      expect(await isSignedIn(browser)).toBe(false);
      // A sign-in before the email is opened is rejected like a wrong password, in words for both.
      const rejected = await signInOn(browser, { email, password: 'yet another password' });
      expect(rejected.error).toContain(
        'The email or the password is wrong, or the email is not confirmed yet. If you have just signed up, open the link that we have emailed to you.',
      );
    }
    expect((await app.open().open('/auth/sign-in')).text).not.toContain('If you have just signed up');
  });

  test('concealExistingEmails emails the owner of an account where to sign in and how to get a new password', async () => {
    await start({ concealExistingEmails: true });
    await app.auth.users.create({ ...ada, emailVerified: true });
    const mail = await app.mailOf(ada.email, 'reset-password', () => signUp(app.open()));
    expect(mail.subject).toBe('You already have an account - localhost');
    expect(mail.text).toBe(
      [
        'Someone signed up with your email, but you already have an account. If it was you, sign in as usual.',
        'http://localhost/auth/sign-in',
        'If you forgot your password, choose a new one here:',
        `http://localhost/auth/reset-password?token=${mail.token}`,
        'The link expires in one hour. If it was not you, ignore this email: nothing has changed.',
        '— localhost\n',
      ].join('\n\n'),
    );
    expect(mail.html).toContain('<a href="http://localhost/auth/sign-in" ');
    const reset = await app.open().open(pathOf(mail.url));
    expect(reset.heading).toBe('Choose a new password');
    const requested = await app.mailOf(ada.email, 'reset-password', async () => {
      const browser = app.open();
      await browser.submit(await browser.open('/auth/forgot-password'), 'send', { email: ada.email });
    });
    expect(requested.subject).toBe('Choose a new password - localhost');
  });
});

describe('where users cannot sign up', () => {
  test('the page says so, has no form, and its path takes none', async () => {
    await start({}, { config: { signUp: 'closed' } });
    const page = await app.open().open('/auth/sign-up');
    expect([page.status, page.actions]).toEqual([200, []]);
    expect(page.text).toContain('You cannot sign up here.');
    expect((await app.open().open('/auth/sign-in')).links).not.toContain('/auth/sign-up');
    expect((await app.open().post('/auth/sign-up/password', ada)).status).toBe(404);
  });
});

describe('with one field for the email', () => {
  const startWithCodes = async (mine: Parameters<typeof password>[0] = {}) => {
    app = (await startPagesApp([password(mine), emailSignIn({ signUp: true })] as const)) as never;
  };

  test('the second button needs no password, and a typed one is not sent on', async () => {
    await startWithCodes();
    const browser = app.open();
    const page = await browser.open('/auth/sign-up');
    expect(page.actions).toEqual(['/auth/sign-up/password', '/auth/sign-up/send-code']);
    expect(page.body.match(/name="email"/g)).toHaveLength(1);
    expect(page.text).toMatch(/Email me a code instead\s*With a code, you do not need a password\./);
    const mail = await app.mailOf('new@example.com', 'sign-in-code', async () => {
      const fields = { email: 'new@example.com', password: 'typed for nothing' };
      const answer = await browser.submit(page, 'send-code', fields);
      expect([answer.status, answer.location]).toEqual([303, '/auth/sign-in/email']);
    });
    const confirmed = await browser.submit(await browser.open('/auth/sign-in/email'), 'confirm', {
      code: mail.code,
    });
    expect(confirmed.location).toBe('/home');
    const methods = await browser.open('/auth/sign-in-methods', { accept: 'application/json' });
    expect(JSON.parse(methods.body).password).toBe(false);
  });

  test.each([
    ['', 'Enter an email.'],
    ['new@example', 'Enter an email such as ada@example.com.'],
    ['zoë@example.com', 'Enter an email without accents and other special letters before the @.'],
    ['ada@exämple', 'Enter an email such as ada@example.com.'],
  ])('a code for %j is refused beside the field, and what was typed is kept', async (email, text) => {
    await startWithCodes();
    const browser = app.open();
    const page = await browser.open('/auth/sign-up?return_to=/deep');
    const answer = await browser.submit(page, 'send-code', { email, password: 'sent-only-once' });
    expect([answer.status, answer.error, answer.fieldErrors]).toEqual([422, null, [text]]);
    const form = answer.form('password');
    expect(form.attribute('email', 'aria-invalid')).toBe('true');
    expect([form.value('email'), form.value('return_to')]).toEqual([email, '/deep']);
    expect(answer.body).not.toContain('sent-only-once');
    expect(app.mails).toEqual([]);
  });
});

describe('a code in place of a password', () => {
  const PERSON = {
    email: 'new@example.com',
    username: 'countess',
    full_name: 'Ada <b>',
    tax_id: 'DE 1',
    plan: 'paid',
  };
  const startWithFields = async () => {
    app = (await startPagesApp(
      [password({ username: true }), emailSignIn({ signUp: true })] as const,
      {
        config: {
          user: {
            fields: {
              fullName: { type: 'string', required: true, maxLength: 4000 },
              plan: { type: 'string', enum: ['free', 'paid'] },
              taxId: { type: 'string', output: 'none' },
              age: { type: 'integer' },
            },
          },
        },
      } as never,
    )) as never;
  };
  const ask = async (browser: ReturnType<typeof app.open>, fields: Record<string, string>) => {
    const page = await browser.open('/auth/sign-up?return_to=/deep');
    let answer = page;
    const { code } = await app.mailOf(PERSON.email, 'sign-in-code', async () => {
      answer = await browser.submit(page, 'send-code', { ...fields, password: 'sent-only-once' });
    });
    return { code, page: await browser.follow(answer) };
  };
  const user = async () => JSON.stringify(await app.auth.users.find({ email: PERSON.email }));

  test('gets the own fields that were typed, and says what it cannot keep', async () => {
    await startWithFields();
    const browser = app.open();
    const { code, page } = await ask(browser, PERSON);
    expect(page.form('confirm').value('full_name')).toBe(PERSON.full_name);
    expect(page.text).toContain('Not kept from the sign-up: Username, Tax id.');
    for (const secret of [PERSON.tax_id, 'sent-only-once']) expect(page.body).not.toContain(secret);
    // Neither a wrong code nor another email loses them.
    const wrong = await browser.submit(page, 'confirm', { code: '00000000' });
    expect(wrong.form('confirm').value('full_name')).toBe(PERSON.full_name);
    const again = await app.mailOf(PERSON.email, 'sign-in-code', async () => {
      await browser.submit(wrong, 'send-code');
    });
    const reopened = await browser.open('/auth/sign-in/email?return_to=/deep');
    const done = await browser.submit(reopened, 'confirm', { code: again.code });
    expect([again.code, done.location]).toEqual([code, '/deep']);
    expect(await user()).toMatch(/"fullName":"Ada <b>".*"plan":"paid"/);
  });

  test('says at once what is wrong with what was typed, and nothing of what was not', async () => {
    await startWithFields();
    const browser = app.open();
    const { code, page } = await ask(browser, { email: PERSON.email, age: '45.5' });
    const asked = await browser.submit(page, 'confirm', { code });
    expect([asked.status, asked.title]).toEqual([422, 'Error: Create your account – localhost']);
    const of = (name: string, what: string) => asked.form('confirm').attribute(name, what);
    expect(asked.text).toContain('Enter a whole number, such as 45.');
    expect([of('age', 'aria-invalid'), of('age', 'autofocus'), of('full_name', 'aria-invalid')]).toEqual([
      'true',
      '',
      undefined,
    ]);
    const done = await browser.submit(asked, 'confirm', { code, full_name: 'Ada', age: '45' });
    expect(done.location).toBe('/deep');
  });

  test('asks for what is too long to be kept, or was not typed', async () => {
    await startWithFields();
    const browser = app.open();
    const { code, page } = await ask(browser, { ...PERSON, full_name: 'x'.repeat(2000) });
    expect(page.text).toContain('Not kept from the sign-up: Username, Full name, Plan, Tax id.');
    const asked = await browser.submit(page, 'confirm', { code });
    expect(asked.status).toBe(422);
    expect(asked.text).toContain('Not kept from the sign-up: Username.');
    const done = await browser.submit(asked, 'confirm', { code, full_name: 'Ada' });
    expect(done.location).toBe('/deep');
    expect(await user()).toContain('"fullName":"Ada"');
  });

  test('keeps what was typed if it is refused', async () => {
    await startWithFields();
    const browser = app.open();
    const page = await browser.open('/auth/sign-up');
    const refused = await browser.submit(page, 'send-code', {
      ...PERSON,
      email: '',
      password: 'sent-only-once',
    });
    const form = refused.form('password');
    expect(['username', 'full_name', 'plan', 'tax_id'].map((name) => form.value(name))).toEqual([
      PERSON.username,
      PERSON.full_name,
      PERSON.plan,
      '',
    ]);
    expect(refused.body).not.toContain('sent-only-once');
  });

  test('from the sign-in page gets nothing of an earlier sign-up', async () => {
    await startWithFields();
    const browser = app.open();
    await ask(browser, PERSON);
    const signIn = await browser.open('/auth/sign-in');
    const { body } = await browser.follow(
      await browser.submit(signIn, 'send-code', { credential: 'other@example.com' }),
    );
    expect(body).not.toMatch(/countess|Not kept|full_name/);
  });
});

test('password managers find the account and the rules of a new password', async () => {
  await start();
  const form = (await app.open().open('/auth/sign-up')).form('password');
  expect(form.attribute('email', 'autocomplete')).toBe('username');
  expect(form.attribute('password', 'passwordrules')).toBe('minlength: 8');
  expect(form.attribute('password', 'enterkeyhint')).toBe('go');
});

describe('with an emailed code', () => {
  const withCodes = async () => {
    app = (await startPagesApp([password(), emailSignIn({ signUp: true })] as const)) as never;
  };

  test('an account is created in the browser that asked', async () => {
    await withCodes();
    const browser = app.open();
    const page = await browser.open('/auth/sign-up?return_to=/deep');
    let answer = page;
    const mail = await app.mailOf('new@example.com', 'sign-in-code', async () => {
      answer = await browser.submit(page, 'send-code', { email: 'new@example.com' });
    });
    expect([answer.status, answer.location]).toEqual([303, '/auth/sign-in/email?return_to=%2Fdeep']);
    const confirmed = await browser.submit(await browser.follow(answer), 'confirm', { code: mail.code });
    expect([confirmed.status, confirmed.location]).toEqual([303, '/deep']);
    expect(await isSignedIn(browser)).toBe(true);
  });

  test('a link in the same browser goes on where the user was, although the email does not say where', async () => {
    await withCodes();
    const browser = app.open();
    const page = await browser.open('/auth/sign-up?return_to=/deep');
    const mail = await app.mailOf('new@example.com', 'sign-in-code', () =>
      browser.submit(page, 'send-code', { email: 'new@example.com' }),
    );
    expect(mail.url).not.toContain('deep');
    const link = await browser.open(`/auth/sign-in/email?token=${mail.token}`);
    const confirmed = await browser.submit(link, 'confirm');
    expect([confirmed.status, confirmed.location]).toEqual([303, '/deep']);
  });
});

test('an account that exists is not signed in by its sign-up', async () => {
  await start({ signInOnSignUp: true });
  await app.auth.credential.signUp(ada);
  const browser = app.open();
  await signUp(browser);
  expect(await isSignedIn(browser)).toBe(false);
  expect((await signInOn(browser, ada)).location).toBe('/home');
});

test('a sign-up that a provider refuses ends at the page, with the reason', async () => {
  app = (await startPagesApp([password(), oauth(), fixedProvider()] as const)) as never;
  const browser = app.open();
  const page = await browser.open('/auth/sign-up?return_to=/deep');
  const link = page.links.find((href) => href.includes('/oauth/fixed/authorize')) ?? '';
  const leaving = await browser.open(link);
  const state = new URL(leaving.location ?? '').searchParams.get('state');
  const back = await browser.open(`/auth/oauth/fixed/callback?error=access_denied&state=${state}`);
  expect(back.location).toMatch(/^\/auth\/sign-up\?.*return_to=%2Fdeep/);
  const refused = await browser.follow(back);
  expect([refused.status, refused.title, refused.error]).toEqual([
    200,
    'Create an account – localhost',
    null,
  ]);
  expect(refused.text).toContain('You canceled at Fixed. Try again, or sign in another way.');
});
