import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { admin, credentialPassword } from '../../../lib/index.js';
import { ada, password } from '../../support/app.js';
import { attribute, textOf } from '../../support/page-browser.js';
import { isSignedIn, type PagesApp, pathOf, signInOn, startPagesApp } from '../../support/pages-app.js';

const plugins = [password(), admin({ adminEmails: ['root@example.com'] })] as const;
const NEW = 'a difference engine';

let app: PagesApp<typeof plugins>;
beforeAll(async () => {
  app = await startPagesApp(plugins);
});
afterAll(() => app.stop());

let email: string;
let count = 0;
beforeEach(async () => {
  email = `person-${count++}@example.com`;
  await app.auth.users.create({ email, password: ada.password, emailVerified: true });
});

const ask = async () => {
  const browser = app.open();
  const page = await browser.open('/auth/forgot-password');
  return app.mailOf(email, 'reset-password', () => browser.submit(page, 'send', { email }));
};

describe('a forgotten password', () => {
  test('is asked for by email, whether or not there is an account', async () => {
    for (const typed of [email, 'stranger@example.com']) {
      const browser = app.open();
      const answer = await browser.submit(await browser.open('/auth/forgot-password'), 'send', {
        email: typed,
      });
      expect([answer.status, answer.location]).toEqual([303, '/auth/forgot-password?done=check-mail']);
      const page = await browser.follow(answer);
      expect([page.heading, page.actions]).toEqual(['Check your email', ['/auth/forgot-password/send']]);
      expect(page.text).toContain(`If there is an account with ${typed},`);
    }
  });

  test('is asked for with the email that was typed for a sign-in', async () => {
    const browser = app.open();
    const refused = await signInOn(browser, { email, password: 'not the password' });
    const link = refused.links.find((href) => href.startsWith('/auth/forgot-password'));
    expect(link).toBe('/auth/forgot-password');
    expect((await browser.open('/auth/forgot-password')).form('send').value('email')).toBe(email);
    expect((await app.open().open('/auth/forgot-password')).form('send').value('email')).toBe('');
  });

  test('leads on to the page that the user wanted before', async () => {
    const browser = app.open();
    const signIn = await browser.open('/auth/sign-in?return_to=%2Freports');
    const link = signIn.links.find((href) => href.startsWith('/auth/forgot-password')) ?? '';
    const { url } = await app.mailOf(email, 'reset-password', async () =>
      browser.submit(await browser.open(link), 'send', { email }),
    );
    const page = await browser.open(pathOf(url ?? ''));
    const done = await browser.submit(page, 'set', { new_password: NEW });
    expect(done.location).toBe('/auth/sign-in?done=password-reset&return_to=%2Freports');
    expect((await signInOn(browser, { email, password: NEW }, done.location ?? '')).location).toBe(
      '/reports',
    );
  });

  test('is replaced although another account is signed in, which the next page says', async () => {
    const browser = app.open();
    const other = { email: 'other@example.com', password: ada.password };
    await app.auth.users.create({ ...other, emailVerified: true });
    await signInOn(browser, other);
    const { url } = await ask();
    const done = await browser.submit(await browser.open(pathOf(url ?? '')), 'set', { new_password: NEW });
    const page = await browser.follow(done);
    expect(page.text).toContain('Your password was changed.');
    expect(page.form('password').value('credential')).toBe(email);
  });

  test('is not asked for with a mistyped email, for which no email would come', async () => {
    const browser = app.open();
    const page = await browser.open('/auth/forgot-password');
    const answer = await browser.submit(page, 'send', { email: 'ada@example' });
    expect([answer.status, answer.form('send').attribute('email', 'aria-invalid')]).toEqual([422, 'true']);
  });

  test('the link names the account and sets a new password, and the answer leads to an address without the token', async () => {
    const signedIn = app.open();
    await signInOn(signedIn, { email, password: ada.password });
    const mail = await ask();
    const browser = app.open();
    const page = await browser.open(pathOf(mail.url));
    expect([page.status, page.heading]).toEqual([200, 'Choose a new password']);
    expect(page.text).toContain(email);
    // What follows is said before the button.
    expect(page.text).toMatch(/A new password ends all sessions of the account\.\s*Save the password$/);
    const answer = await browser.submit(page, 'set', { new_password: NEW });
    expect([answer.status, answer.location]).toEqual([303, '/auth/sign-in?done=password-reset']);
    const signIn = await browser.follow(answer);
    expect(signIn.text).toContain('Your password was changed.');
    // The account is filled in, but is not in the address.
    expect(signIn.form('password').value('credential')).toBe(email);
    expect(signIn.form('password').attribute('password', 'autofocus')).toBe('');
    expect((await app.open().open(answer.location ?? '')).body).not.toContain(email);
    expect(await isSignedIn(signedIn)).toBe(false);
    const done = await browser.submit(signIn, 'password', { credential: email, password: NEW });
    expect(done.location).toBe('/home');
  });

  test('a weak password is refused, is not sent back, and the link can be used again', async () => {
    const mail = await ask();
    const browser = app.open();
    const page = await browser.open(pathOf(mail.url));
    const weak = await browser.submit(page, 'set', { new_password: 'short-1' });
    expect([weak.status, weak.title]).toEqual([422, 'Error: Choose a new password – localhost']);
    expect(weak.body).not.toContain('short-1');
    expect(weak.text).toContain(email);
    const answer = await browser.submit(weak, 'set', { new_password: NEW });
    expect(answer.location).toBe('/auth/sign-in?done=password-reset');
  });

  test.each([
    [
      'a used link',
      async () => {
        const mail = await ask();
        await app.open().post('/auth/reset-password/set', { token: mail.token, new_password: NEW });
        return mail.token;
      },
    ],
    ['a made-up token', async () => 'nonsense'],
    ['no token', async () => ''],
  ])('%s is no longer valid, by GET and by POST', async (_title, tokenOf) => {
    const token = await tokenOf();
    const browser = app.open();
    for (const page of [
      await browser.open(`/auth/reset-password?token=${token}`),
      await browser.post('/auth/reset-password/set', { token, new_password: 'yet another password' }),
    ]) {
      expect([page.heading, page.actions]).toEqual(['This link is no longer valid', []]);
      expect(page.links).toEqual(expect.arrayContaining(['/auth/forgot-password', '/auth/sign-in']));
      expect(page.body).not.toContain(email);
    }
    expect((await signInOn(app.open(), { email, password: 'yet another password' })).status).toBe(401);
  });
});

describe('an invitation', () => {
  const invite = async (to: string) =>
    app.mailOf(to, 'invitation', () => app.auth.admin.createUser({ email: to } as never));

  test('is accepted by choosing a password', async () => {
    const to = 'guest@example.com';
    const mail = await invite(to);
    const browser = app.open();
    const page = await browser.open(pathOf(mail.url));
    expect([page.status, page.heading]).toEqual([200, 'Accept your invitation']);
    expect(page.text).toContain(to);
    const answer = await browser.submit(page, 'set', { new_password: NEW });
    expect(page.body).not.toContain('ends all sessions');
    expect(page.all('button').map(textOf)).toEqual(['Create the password']);
    expect([answer.status, answer.location]).toEqual([303, '/auth/sign-in?done=invitation-accepted']);
    const signIn = await browser.follow(answer);
    expect(signIn.text).toContain('Your account is ready. Sign in.');
    expect(signIn.form('password').value('credential')).toBe(to);
    expect((await signInOn(app.open(), { email: to, password: NEW })).location).toBe('/home');
    const again = await browser.open(pathOf(mail.url));
    expect([again.heading, again.actions]).toEqual(['This link is no longer valid', []]);
    expect(again.text).toContain('ask the people who invited you');
    expect(again.links).toContain('/auth/sign-in');
  });
});

describe('a forgotten password with a code', () => {
  const plugin = [
    credentialPassword({ resetBy: 'code', bcryptCost: 4 }),
    admin({ adminEmails: ['root@example.com'] }),
  ] as const;
  let codes: PagesApp<typeof plugin>;
  beforeAll(async () => {
    codes = await startPagesApp(plugin);
  });
  afterAll(() => codes.stop());
  beforeEach(async () => {
    await codes.auth.users.create({ email, password: ada.password, emailVerified: true });
  });

  test('is typed on one page with the new password, and leads on to a sign-in', async () => {
    const browser = codes.open();
    const first = await browser.open('/auth/forgot-password?return_to=%2Freports');
    expect(first.text).toContain('We email you a code');
    let answer = first;
    const { code = '' } = await codes.mailOf(email, 'reset-code', async () => {
      answer = await browser.submit(first, 'send', { email });
    });
    expect(answer.location).toBe('/auth/reset-password?done=sent&return_to=%2Freports');
    const page = await browser.follow(answer);
    expect(page.text).toContain(
      `If there is an account with ${email}, we have emailed it a code of 8 digits`,
    );
    const form = page.form('set');
    expect(form.attribute('code', 'autocomplete')).toBe('one-time-code');
    expect(form.attribute('new_password', 'autocomplete')).toBe('new-password');
    const wrong = await browser.submit(page, 'set', { code: '0', new_password: NEW });
    expect([wrong.status, wrong.title]).toEqual([401, 'Error: Choose a new password – localhost']);
    expect(wrong.text).toContain('This code is wrong. Check it in the newest email');
    // The password is never sent back, so the page asks for it again.
    const hint = wrong.elements.find(
      (one) => attribute(one, 'id') === `${wrong.form('set').attribute('new_password', 'id')}-hint`,
    );
    expect(hint && textOf(hint)).toMatch(/^Enter the password again\. At least 8 characters/);
    expect(page.text).not.toContain('Enter the password again.');
    const refused = await browser.submit(wrong, 'set', { code, new_password: 'short' });
    expect([refused.status, refused.text]).toEqual([
      422,
      expect.not.stringContaining('Enter the password again.'),
    ]);
    // The code was not used up, so it stays in its field, and nowhere else.
    expect(refused.form('set').value('code')).toBe(code);
    expect(refused.headers['cache-control']).toContain('no-store');
    expect(`${refused.headers['set-cookie']}`).not.toContain(code);
    const done = await browser.submit(refused, 'set', { new_password: NEW });
    expect(done.location).toBe('/auth/sign-in?done=password-reset&return_to=%2Freports');
    const signIn = await browser.follow(done);
    expect(signIn.form('password').value('credential')).toBe(email);
    expect((await signInOn(browser, { email, password: NEW }, done.location ?? '')).location).toBe(
      '/reports',
    );
  });

  test('is asked for together with the password if both are missing', async () => {
    const browser = codes.open();
    const asked = await browser.submit(await browser.open('/auth/forgot-password'), 'send', { email });
    const page = await browser.follow(asked);
    for (const [new_password, more] of [
      ['', 'Enter a new password.'],
      [NEW, null],
    ] as const) {
      const refused = await browser.submit(page, 'set', { code: '', new_password });
      const form = refused.form('set');
      expect(refused.status).toBe(422);
      expect(refused.text).toContain('Enter the code.');
      expect(refused.text).not.toMatch(/exactly one/i);
      expect(form.attribute('code', 'aria-invalid')).toBe('true');
      if (more !== null) expect(refused.text).toContain(more);
      expect(form.attribute('new_password', 'aria-invalid')).toBe(more === null ? undefined : 'true');
    }
  });

  test('looks the same whether or not there is an account, up to the last code', async () => {
    const shown = [];
    for (const typed of [email, 'stranger@example.com']) {
      const browser = codes.open();
      const asked = await browser.submit(await browser.open('/auth/forgot-password'), 'send', {
        email: typed,
      });
      let page = await browser.follow(asked);
      const seen = [asked.location, page.text.replace(typed, 'x')];
      for (let time = 0; time < 5; time++) {
        page = await browser.submit(page, 'set', { code: '0', new_password: NEW });
        seen.push(page.text.replace(typed, 'x'));
      }
      expect(page.error).toContain('This code no longer works');
      expect(page.actions).toEqual(['/auth/reset-password/send-code']);
      shown.push(seen);
    }
    expect(shown[1]).toEqual(shown[0]);
  });

  test('is mailed again from the page', async () => {
    const browser = codes.open();
    const page = await browser.open('/auth/forgot-password');
    let answer = page;
    const { code = '' } = await codes.mailOf(email, 'reset-code', async () => {
      answer = await browser.submit(page, 'send', { email });
    });
    const asked = await browser.follow(answer);
    const again = await codes.mailOf(email, 'reset-code', async () => {
      answer = await browser.submit(asked, 'send-code', {});
    });
    expect([again.code, answer.location]).toEqual([code, '/auth/reset-password?done=sent-again']);
  });

  test('is emailed to the same address again after too many wrong ones', async () => {
    const browser = codes.open();
    const first = await browser.open('/auth/forgot-password?return_to=%2Freports');
    let page = await browser.follow(await browser.submit(first, 'send', { email }));
    for (let time = 0; time < 5; time++)
      page = await browser.submit(page, 'set', { code: '0', new_password: NEW });
    expect(page.error).toContain('This code no longer works');
    // It is said once, and nothing is offered that cannot succeed.
    for (const shown of [page, await browser.open('/auth/reset-password?return_to=%2Freports')]) {
      expect(shown.text.split('no longer works')).toHaveLength(2);
      expect(shown.text).not.toContain('It works for');
      expect(shown.actions).toEqual(['/auth/reset-password/send-code']);
      expect(shown.links).toContain('/auth/forgot-password?return_to=%2Freports');
      expect(shown.all('button').map(textOf)).toEqual(['Email me another code']);
    }
    let answer = page;
    const { code = '' } = await codes.mailOf(email, 'reset-code', async () => {
      answer = await browser.submit(page, 'send-code');
    });
    expect(answer.location).toBe('/auth/reset-password?done=sent&return_to=%2Freports');
    const done = await browser.submit(await browser.follow(answer), 'set', { code, new_password: NEW });
    expect(done.location).toBe('/auth/sign-in?done=password-reset&return_to=%2Freports');
  });

  test('is not asked for in a browser that has not asked for one, which is led to the first page', async () => {
    const page = await codes.open().open('/auth/reset-password');
    expect([page.heading, page.actions]).toEqual(['Ask for a code first', []]);
    expect(page.links).toContain('/auth/forgot-password');
  });

  test('is not needed for a link that an administrator has sent', async () => {
    const { id = '' } = (await codes.auth.users.find({ email })) ?? {};
    const { url } = await codes.mailOf(email, 'reset-password', () => codes.auth.admin.sendPasswordReset(id));
    const browser = codes.open();
    const page = await browser.open(pathOf(url ?? ''));
    expect(page.text).toContain(`Choose a password for ${email}.`);
    const done = await browser.submit(page, 'set', { new_password: NEW });
    expect(done.location).toBe('/auth/sign-in?done=password-reset');
  });
});
