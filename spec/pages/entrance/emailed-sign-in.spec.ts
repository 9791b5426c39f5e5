import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { emailSignIn } from '../../../lib/index.js';
import { ada, password } from '../../support/app.js';
import { proveMailbox } from '../../support/email-proof.js';
import { attribute, textOf } from '../../support/page-browser.js';
import { isSignedIn, type PagesApp, pathOf, startPagesApp } from '../../support/pages-app.js';

const plugins = [password(), emailSignIn({ signUp: true })] as const;

let app: PagesApp<typeof plugins>;
beforeAll(async () => {
  app = await startPagesApp(plugins, {
    config: { user: { fields: { fullName: { type: 'string', required: true } } } },
  });
  const { id } = await app.auth.users.create({
    ...ada,
    emailVerified: true,
    fields: { fullName: 'Ada' },
  } as never);
  await proveMailbox(app.auth, id);
});
afterAll(() => app.stop());

type Browser = ReturnType<typeof app.open>;
const ask = async (browser: Browser, email = ada.email, at = '/auth/sign-in') => {
  let answer = await browser.open(at);
  const mail = await app.mailOf(email, 'sign-in-code', async () => {
    const name = at.startsWith('/auth/sign-up') ? 'email' : 'credential';
    answer = await browser.submit(answer, 'send-code', { [name]: email });
  });
  return { mail, answer };
};

describe('by code', () => {
  test('signs in and goes on where the user was', async () => {
    const browser = app.open();
    const { mail, answer } = await ask(browser, ada.email, '/auth/sign-in?return_to=/deep');
    expect([answer.status, answer.location]).toEqual([303, '/auth/sign-in/email?return_to=%2Fdeep']);
    const page = await browser.follow(answer);
    expect(page.form('confirm').attribute('code', 'autocomplete')).toBe('one-time-code');
    const done = await browser.submit(page, 'confirm', { code: mail.code.toLowerCase().replace('-', ' ') });
    expect([done.status, done.location]).toEqual([303, '/deep']);
    expect(await isSignedIn(browser)).toBe(true);
    // Reloading the page of the code leads on.
    expect((await browser.open('/auth/sign-in/email?return_to=/deep')).location).toBe('/deep');
  });

  test('a wrong code is refused, is not sent back, and the right one is still accepted', async () => {
    const browser = app.open();
    const { mail, answer } = await ask(browser, ada.email, '/auth/sign-in?return_to=/deep');
    const wrong = await browser.submit(await browser.follow(answer), 'confirm', { code: 'ZZZZ-ZZZZ' });
    expect([wrong.status, wrong.title]).toEqual([401, 'Error: Enter your code – localhost']);
    // It is said once, beside the field, which has the focus.
    expect([wrong.error, wrong.form('confirm').attribute('code', 'autofocus')]).toEqual([null, '']);
    expect(wrong.text).toContain('This code is wrong.');
    expect(wrong.body).not.toContain('ZZZZ');
    expect((await browser.submit(wrong, 'confirm', { code: mail.code })).location).toBe('/deep');
  });

  test.each([ada.email, 'nobody@example.com'])('an empty code of %s is asked for again', async (email) => {
    const browser = app.open();
    const { mail, answer } = await ask(browser, email, '/auth/sign-up?return_to=/deep');
    const empty = await browser.submit(await browser.follow(answer), 'confirm', { code: '' });
    expect([empty.status, empty.title]).toEqual([422, 'Error: Enter your code – localhost']);
    expect(empty.text).toContain('Enter the code.');
    expect(empty.text).not.toMatch(/no account yet|exactly one/i);
    const form = empty.form('confirm');
    expect([form.attribute('code', 'aria-invalid'), form.attribute('code', 'autofocus')]).toEqual([
      'true',
      '',
    ]);
    const next = await browser.submit(empty, 'confirm', { code: mail.code });
    expect(next.status).toBe(email === ada.email ? 303 : 422);
  });

  test('a code that another tab has used leads on', async () => {
    const browser = app.open();
    const { mail, answer } = await ask(browser, ada.email, '/auth/sign-in?return_to=/deep');
    const page = await browser.follow(answer);
    expect((await browser.submit(page, 'confirm', { code: mail.code })).location).toBe('/deep');
    const late = await browser.submit(page, 'confirm', { code: mail.code });
    expect([late.heading, late.error, late.actions]).toEqual(['You are already signed in', null, []]);
    expect(late.links).toContain('/deep');
  });

  test('after too many wrong codes, the page says so, and emails another code', async () => {
    const browser = app.open();
    const { answer } = await ask(browser);
    let page = await browser.follow(answer);
    for (let tries = 0; tries < 5; tries++)
      page = await browser.submit(page, 'confirm', { code: '00000000' });
    expect(page.error).toContain('This code no longer works');
    // It is said once, and nothing is offered that cannot succeed.
    for (const shown of [page, await browser.open('/auth/sign-in/email')]) {
      expect(shown.text.split('no longer works')).toHaveLength(2);
      expect(shown.text).not.toContain('It works for');
      expect(shown.actions).toEqual(['/auth/sign-in/email/send-code']);
      const [button] = shown.all('button');
      expect([textOf(button!), attribute(button!, 'data-part')]).toEqual([
        'Email me another code',
        'button primary',
      ]);
    }
    const again = await app.mailOf(ada.email, 'sign-in-code', async () => {
      const sent = await browser.submit(page, 'send-code');
      expect(sent.location).toBe('/auth/sign-in/email?done=sent');
    });
    const done = await browser.submit(await browser.open('/auth/sign-in/email'), 'confirm', {
      code: again.code,
    });
    expect(done.location).toBe('/home');
  });

  test('in another browser, the code is refused', async () => {
    const { mail } = await ask(app.open());
    const other = app.open();
    const answer = await other.submit(await other.open('/auth/sign-in/email'), 'confirm', {
      code: mail.code,
    });
    expect(answer.status).toBe(401);
    expect(await isSignedIn(other)).toBe(false);
  });

  test('an email without an account is answered alike', async () => {
    const known = await ask(app.open());
    const browser = app.open();
    const unknown = await ask(browser, 'unknown@example.com');
    expect([unknown.answer.status, unknown.answer.location]).toEqual([
      known.answer.status,
      known.answer.location,
    ]);
  });
});

describe('by link', () => {
  test('the link signs in by a button, in the browser that asked, and leads to an address without its token', async () => {
    const browser = app.open();
    const { mail } = await ask(browser, ada.email, '/auth/sign-in?return_to=/deep');
    const page = await browser.open(pathOf(mail.url));
    expect([page.status, page.heading]).toEqual([200, 'Sign in']);
    expect(await isSignedIn(browser)).toBe(false);
    const done = await browser.submit(page, 'confirm');
    expect([done.status, done.location]).toEqual([303, '/deep']);
    expect(await isSignedIn(browser)).toBe(true);
    expect(done.headers['set-cookie']?.join()).not.toContain(mail.token);
  });

  test('in another browser, it says so at once, and the link still works where it was asked for', async () => {
    const browser = app.open();
    const { mail } = await ask(browser);
    const other = app.open();
    const page = await other.open(pathOf(mail.url));
    expect([page.status, page.error, page.heading]).toEqual([
      200,
      null,
      'You asked for this email in another browser',
    ]);
    expect(page.actions).toEqual(['/auth/sign-in/email/send-code']);
    const refused = await other.post('/auth/sign-in/email/confirm', { token: mail.token });
    expect(refused.status).toBe(403);
    expect(refused.error).toContain('You asked for this email in another browser.');
    expect(refused.actions).toEqual(['/auth/sign-in/email/send-code']);
    expect(await isSignedIn(other)).toBe(false);
    const done = await browser.submit(await browser.open(pathOf(mail.url)), 'confirm');
    expect(done.location).toBe('/home');
  });

  test('in another browser, a button emails a code for that browser', async () => {
    const { mail } = await ask(app.open(), ada.email, '/auth/sign-in?return_to=/deep');
    const other = app.open();
    const page = await other.open(pathOf(mail.url));
    // The request of the other browser was for a page, which is not in the address of the link.
    let answer = page;
    const fresh = await app.mailOf(ada.email, 'sign-in-code', async () => {
      answer = await other.submit(page, 'send-code');
    });
    expect([answer.status, answer.location]).toEqual([303, '/auth/sign-in/email?done=sent']);
    expect(fresh.code).not.toBe(mail.code);
    const enter = await other.follow(answer);
    expect(enter.text).toContain(
      `We have emailed a code of 8 digits to ${ada.email}. It works for 10 minutes.`,
    );
    await other.submit(enter, 'confirm', { code: fresh.code });
    expect(await isSignedIn(other)).toBe(true);
  });

  test('a link works once. Then it says so, and leads on', async () => {
    const browser = app.open();
    const { mail } = await ask(browser);
    const page = await browser.open(pathOf(mail.url));
    await browser.submit(page, 'confirm');
    const again = await app.open().submit(page, 'confirm');
    expect([again.status, again.error]).toEqual([401, expect.any(String)]);
    const opened = await browser.open(pathOf(mail.url));
    expect([opened.status, opened.heading, opened.actions]).toEqual([
      200,
      'This link is no longer valid',
      [],
    ]);
    expect(opened.text).toContain(`You are signed in as ${ada.email}.`);
    expect(opened.links).toContain('/home');
    const elsewhere = await app.open().open(pathOf(mail.url));
    expect(elsewhere.body).not.toContain(ada.email);
    expect(elsewhere.links).toContain('/auth/sign-in');
  });
});

describe('the page for the code', () => {
  test('says where the code went, also after a wrong one, and how it is typed', async () => {
    const browser = app.open();
    const { answer } = await ask(browser);
    const page = await browser.follow(answer);
    const text = `We have emailed a code of 8 digits to ${ada.email}. It works for 10 minutes. Check your spam folder too.`;
    expect(page.text).toContain(text);
    const form = page.form('confirm');
    expect(form.attribute('code', 'inputmode')).toBe('numeric');
    expect(form.attribute('code', 'data-length')).toBe('8');
    const wrong = await browser.submit(page, 'confirm', { code: 'ZZZZ-ZZZZ' });
    expect([wrong.status, wrong.text.includes(text)]).toEqual([401, true]);
    // Another page of the same browser does not know the address.
    const other = await app.open().open('/auth/sign-in/email');
    expect(other.body).not.toContain(ada.email);
    expect(other.text).toContain('To sign in with a code, ask for one in this browser.');
    expect(other.text).not.toContain('We have emailed');
  });

  test('asks for another code for the same address, and keeps where the user goes on and for how long', async () => {
    const browser = app.open();
    const start = await browser.open('/auth/sign-in?return_to=/deep');
    let page = start;
    await app.mailOf(ada.email, 'sign-in-code', async () => {
      const typed = { credential: ada.email, remember_me: true };
      page = await browser.follow(await browser.submit(start, 'send-code', typed));
    });
    let answer = page;
    const { code } = await app.mailOf(ada.email, 'sign-in-code', async () => {
      answer = await browser.submit(page, 'send-code');
    });
    expect([answer.status, answer.location]).toEqual([
      303,
      '/auth/sign-in/email?done=sent-again&return_to=%2Fdeep',
    ]);
    const again = await browser.follow(answer);
    expect(again.text).toContain(`Another email is on its way to ${ada.email}.`);
    expect(again.text).not.toContain('We have emailed');
    expect(again.all('p').filter((one) => attribute(one, 'role') === 'status').length).toBe(1);
    const done = await browser.submit(again, 'confirm', { code });
    expect(done.location).toBe('/deep');
    expect(done.cookies.find((one) => one.startsWith('latchkey='))).toMatch(/max-age=\d+/i);
  });
});

test.each(['code', 'token'] as const)(
  'a new account by %s is asked for the fields that it must have',
  async (by) => {
    const email = `new-${by}@example.com`;
    const browser = app.open();
    const { mail, answer } = await ask(browser, email, '/auth/sign-up?return_to=/deep');
    const page = by === 'code' ? await browser.follow(answer) : await browser.open(pathOf(mail.url));
    const typed: Record<string, string> = by === 'code' ? { code: mail.code } : {};
    const asks = await browser.submit(page, 'confirm', typed);
    // The code was right, so nothing is wrong yet, and it is not asked for again.
    expect([asks.status, asks.error, asks.title]).toEqual([422, null, 'Create your account – localhost']);
    expect(asks.text).toContain(`${email} has no account yet. Complete this to create one.`);
    const form = asks.form('confirm');
    expect(form.attribute('full_name', 'autofocus')).toBe('');
    expect(form.attribute('full_name', 'aria-invalid')).toBeUndefined();
    expect(form.attribute(by, 'type')).toBe('hidden');
    expect(textOf(asks.all('button')[0]!)).toBe('Create an account');
    // A browser would not send it.
    const empty = await browser.post(form.action, {
      ...Object.fromEntries(form.filled({}, false)),
      full_name: '',
    });
    expect([empty.status, empty.form('confirm').attribute('full_name', 'aria-invalid')]).toEqual([
      422,
      'true',
    ]);
    const done = await browser.submit(empty, 'confirm', { full_name: 'New' });
    expect([done.status, done.location]).toEqual([303, '/deep']);
  },
);

describe('the first proof of the mailbox', () => {
  const MESSAGE =
    'We removed the password of this account, because it was set before you confirmed your email.';
  const strangers = async (email: string) => {
    await app.auth.credential.signUp({ email, password: ada.password, fields: { fullName: 'Eve' } } as never);
    return email;
  };

  test.each(['code', 'link'])(
    'by %s leads to Security, which says that it has removed the password',
    async (by) => {
      const email = await strangers(`first-${by}@example.com`);
      const browser = app.open();
      const { mail, answer } = await ask(browser, email, '/auth/sign-in?return_to=/deep');
      const page = await (by === 'code' ? browser.follow(answer) : browser.open(pathOf(mail.url)));
      const done = await browser.submit(page, 'confirm', by === 'code' ? { code: mail.code } : {});
      expect(done.location).toBe(
        '/auth/account/security?done=password-dropped&return_to=%2Fdeep%3Fpassword_removed%3Dtrue',
      );
      const told = await browser.follow(done);
      expect(told.text).toContain(MESSAGE);
      expect(told.links).toContain('/deep?password_removed=true');
      const set = await browser.submit(told, 'set-password', { new_password: 'a difference engine' });
      expect(set.location).toBe('/auth/account/security?done=password-set');
      // The next sign-in removes nothing, and a link alone puts no words on the page.
      const next = app.open();
      const asked = await ask(next, email);
      const again = await next.submit(await next.follow(asked.answer), 'confirm', { code: asked.mail.code });
      expect(again.location).toBe('/home');
      const page2 = await next.open('/auth/account/security?done=password-dropped&return_to=/deep');
      expect(page2.text).not.toContain(MESSAGE);
    },
  );

  test('says nothing of a password where there was none', async () => {
    const { id } = await app.auth.users.create({
      email: 'none@example.com',
      fields: { fullName: 'N' },
    } as never);
    expect(id).toBeDefined();
    const browser = app.open();
    const { mail, answer } = await ask(browser, 'none@example.com');
    const done = await browser.submit(await browser.follow(answer), 'confirm', { code: mail.code });
    expect(done.location).toBe('/home');
  });
});

describe('a sign-in that creates an account', () => {
  let open: PagesApp<typeof plugins>;
  beforeAll(async () => {
    open = await startPagesApp(plugins);
  });
  afterAll(() => open.stop());

  const signIn = async (email: string, at: string) => {
    const browser = open.open();
    let answer = await browser.open(at);
    const { code } = await open.mailOf(email, 'sign-in-code', async () => {
      const name = at.startsWith('/auth/sign-up') ? 'email' : 'credential';
      answer = await browser.submit(answer, 'send-code', { [name]: email });
    });
    return { browser, done: await browser.submit(await browser.follow(answer), 'confirm', { code }) };
  };

  test('says so, for a user who has an account with another email', async () => {
    const { browser, done } = await signIn('new@example.com', '/auth/sign-in?return_to=/deep');
    expect(done.location).toBe('/auth/account?done=account-created&return_to=%2Fdeep');
    const told = await browser.follow(done);
    expect(told.text).toContain(
      'Welcome. We have created a new account for new@example.com. If you expected an existing account, sign out and sign in with another email.',
    );
    expect(told.links).toEqual(expect.arrayContaining(['/deep', '/auth/sign-out']));
    // A link of another site does not say it.
    expect((await signIn('new@example.com', '/auth/sign-in')).done.location).toBe('/home');
    const other = app.open();
    expect((await other.open('/auth/account?done=account-created')).text).not.toContain('Welcome');
  });

  test('does not say so to a user who has signed up', async () => {
    expect((await signIn('other@example.com', '/auth/sign-up?return_to=/deep')).done.location).toBe('/deep');
  });
});
