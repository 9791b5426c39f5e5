import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { EmailedCodes, nameOf } from '../../lib/crypto/emailed-codes.js';
import { digestInHex } from '../../lib/crypto/token.js';
import { admin, suspension, twoFactor } from '../../lib/index.js';
import { ada, password, SECRET, type SpecApp, sessionCookie, signedIn, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { mailbox } from '../support/mailbox.js';
import { expectProblem } from '../support/problem.js';
import { ago, settled } from '../support/sessions.js';
import { codeOf, enroll, firstStep, forgetSteps, secondStep } from '../support/two-factor.js';

// A right password in a browser that the account does not know, with `unknownBrowser: 'code'`.
const plugins = [
  password({ unknownBrowser: 'code' }),
  twoFactor(),
  suspension(),
  admin({ adminEmails: ['admin@example.com'] }),
] as const;
let app: SpecApp<typeof plugins>;
let mails: ReturnType<typeof mailbox>;
let id: string;
let secret: string;
const grace = { email: 'grace@example.com', password: 'a moth in a relay' };
beforeEach(async () => {
  mails = mailbox();
  app = await startApp({
    plugins,
    config: { baseUrl: 'https://app.example.com', bearerEnabled: true, email: { send: mails.send } },
  });
  id = (await app.auth.users.create({ ...ada, emailVerified: true })).id;
});
afterEach(() => app.stop());

type Browser = ReturnType<typeof app.browser>;

/** Enters the right password. @returns the code that is mailed */
async function codeFor(browser: Browser): Promise<string> {
  const mail = await mails.mailOf(ada.email, 'browser-code', () => firstStep(browser).expect(200));
  return mail.code;
}
const give = (browser: Browser, code: string) => secondStep(browser, { method: 'email_code', code });
const again = (browser: Browser) => browser.post('/auth/signin/second-factor/send').send({});
/** A browser in which the account has signed in. */
async function known(): Promise<Browser> {
  const browser = app.browser();
  await give(browser, await codeFor(browser)).expect(200);
  return browser;
}
const other = (code: string) => `${code.slice(0, -1)}${code.endsWith('2') ? '3' : '2'}`;
/** Grace, with a second factor. */
async function withFactor(): Promise<typeof ada> {
  const browser = await signedIn(app, grace);
  const { id: hers } = (await app.auth.users.find({ email: grace.email }))!;
  await app.auth.markEmailVerified(hers);
  ({ secret } = await enroll(browser));
  return grace;
}
/** Resets the password to what it was. */
async function reset(browser: Browser): Promise<void> {
  const { token } = await mails.mailOf(ada.email, 'reset-password', () =>
    browser.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202),
  );
  await browser.post('/auth/passwords/reset').send({ token, new_password: ada.password }).expect(204);
}
const kinds = async () => {
  await settled(app.auth);
  return mails.mails.map(({ kind }) => kind);
};

describe('a right password', () => {
  test('begins no session in an unknown browser, and mails a code that does', async () => {
    const browser = app.browser();
    const mail = await mails.mailOf(ada.email, 'browser-code', async () => {
      const answer = await firstStep(browser, ada, { remember_me: true }).set(
        'user-agent',
        'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
      );
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        second_factor: {
          methods: ['email_code'],
          expires_at: expect.any(String),
          pending_token: expect.stringMatching(/^lkp_/),
        },
      });
      expect(sessionCookie(answer)).toBeUndefined();
    });
    expect(await app.auth.listSessions(id)).toEqual([]);
    expect(mail.code).toMatch(/^\d{8}$/);
    expect(mail.subject).not.toContain(mail.code);
    expect(mail.details).toMatchObject({ device: 'Firefox on Windows', ip: '127.0.0.1' });
    expect(mail.url).toBe('https://app.example.com/forgot-password');
    for (const body of [mail.text, mail.html])
      for (const part of [mail.code, mail.url, 'Firefox on Windows']) expect(body).toContain(part);

    const typed = ` ${mail.code.toLowerCase().replace('-', ' ')} `;
    const { body } = await give(browser, typed).expect(200);
    expect(body).toMatchObject({ user: { id }, session: { aal: 1, amr: ['pwd', 'email'] } });
    await browser.get('/auth/me').expect(200);
    // It is fresh, as after any sign-in.
    await browser.post('/auth/two-factor/totp').expect(201);
    const [session] = await app.auth.listSessions(id);
    const lifetime = session!.expiresAt.getTime() - session!.createdAt.getTime();
    expect(lifetime).toBeGreaterThan(7 * 24 * 3600 * 1000);
  });

  test('is enough in a browser that the account knows', async () => {
    const browser = await known();
    const before = await kinds();
    await browser.post('/auth/signout').expect(204);
    const { body } = await firstStep(browser).expect(200);
    expect(body.session.amr).toEqual(['pwd']);
    expect(await kinds()).toEqual(before);
  });

  test('is told in the new browser once the code has come, as a sign-in is', async () => {
    await known();
    const before = await kinds();
    const browser = app.browser();
    const code = await codeFor(browser);
    expect(await kinds()).toEqual([...before, 'browser-code']);
    await give(browser, code).expect(200);
    expect(await kinds()).toEqual([...before, 'browser-code', 'new-device']);
  });

  test('of an account whose email nobody has vouched for is told', async () => {
    await app.auth.users.create(grace);
    const { body } = await firstStep(app.browser(), grace).expect(200);
    expect(body.session.amr).toEqual(['pwd']);
  });

  test('of an account with a second factor is followed by that', async () => {
    const hers = await withFactor();
    const browser = app.browser();
    const { body } = await firstStep(browser, hers).expect(200);
    expect(body.second_factor.methods).toEqual(['totp', 'recovery_code']);
    await forgetSteps(app);
    const done = await secondStep(browser, { method: 'totp', code: codeOf(secret) }).expect(200);
    expect(done.body.session.aal).toBe(2);
    expect(await kinds()).not.toContain('browser-code');
  });

  test('in code without a request comes from an unknown browser, and createSession asks for nothing', async () => {
    const signedIn = await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
    if (!('secondFactor' in signedIn)) throw new Error('a session');
    const { pendingToken } = signedIn.secondFactor;
    const mail = await mails.mailOf(ada.email, 'browser-code', async () => {
      const { expiresAt } = await app.auth.sendSignInCode({ pendingToken });
      expect(expiresAt).toEqual(signedIn.secondFactor.expiresAt);
    });
    const issued = await app.auth.completeSignIn({ pendingToken, method: 'email_code', code: mail.code });
    expect(issued.session.amr).toEqual(['pwd', 'email']);
    expect((await app.auth.createSession(id)).session.aal).toBe(1);
  });

  test('of a client that names its device is known by the name', async () => {
    const signIn = (device: string) =>
      app.http
        .post('/auth/signin/credential')
        .set('latchkey-device', device)
        .send({ credential: ada.email, password: ada.password });
    let pending = '';
    const { code } = await mails.mailOf(ada.email, 'browser-code', async () => {
      pending = (await signIn('new').expect(200)).body.second_factor.pending_token;
    });
    const { body } = await app.http
      .post('/auth/signin/second-factor')
      .set('latchkey-device', 'new')
      .send({ method: 'email_code', code, pending_token: pending })
      .expect(200);
    expect((await signIn(body.device_token).expect(200)).body).toHaveProperty('session');
  });
});

describe('a code', () => {
  let browser: Browser;
  let code: string;
  beforeEach(async () => {
    browser = app.browser();
    code = await codeFor(browser);
  });

  test('works once', async () => {
    await give(browser, code).expect(200);
    expectProblem(await give(browser, code), 401, 'sign_in_expired');
  });

  test('that is wrong five times ends the sign-in, also the right one', async () => {
    for (let attempt = 1; attempt < 5; attempt++)
      expectProblem(await give(browser, other(code)), 401, 'invalid_code');
    expectProblem(await give(browser, other(code)), 401, 'sign_in_expired');
    expectProblem(await give(browser, code), 401, 'sign_in_expired');
    // The next one is another code.
    expect(await codeFor(browser)).not.toBe(code);
  });

  test('does not follow from the secret and what a client knows', async () => {
    const its = app.browser();
    const { body } = await firstStep(its).expect(200);
    const name = `browser ${digestInHex(body.second_factor.pending_token)} ${ada.email}`;
    expectProblem(await give(its, new EmailedCodes([SECRET]).codeFor(name)), 401, 'invalid_code');
  });

  test('reports each wrong one', async () => {
    const failed: unknown[] = [];
    app.auth.on('sign_in.failed', (event) => failed.push(event));
    await give(browser, other(code)).expect(401);
    expect(failed).toEqual([expect.objectContaining({ userId: id, method: 'email_code' })]);
  });

  test('is good for its own sign-in alone', async () => {
    const elsewhere = app.browser();
    const its = await codeFor(elsewhere);
    expect(its).not.toBe(code);
    expectProblem(await give(elsewhere, code), 401, 'invalid_code');
    await give(elsewhere, its).expect(200);
    await give(browser, code).expect(200);
  });

  test('is no second factor, and none takes its place', async () => {
    for (const method of ['totp', 'recovery_code'])
      expectProblem(await secondStep(browser, { method, code }), 401, 'invalid_code');
    const hers = app.browser();
    const { body } = await firstStep(hers, await withFactor()).expect(200);
    expectProblem(await give(hers, code), 401, 'invalid_code');
    // Nor would one that fitted this sign-in.
    const name = `browser ${digestInHex(body.second_factor.pending_token)} ${grace.email}`;
    const fitting = new EmailedCodes([SECRET]).codeFor(name);
    expectProblem(await give(hers, fitting), 401, 'invalid_code');
    expectProblem(await again(hers), 409, 'email_code_not_offered');
  });

  test('ends nothing but itself when the account has got a second factor since', async () => {
    const at = await app.auth.createSession(id);
    const header = `Bearer ${at.token}`;
    // The app's word is no proof, so the factor needs a sign-in of its own.
    await app.http
      .post('/auth/reauthenticate')
      .set('authorization', header)
      .send({ password: ada.password })
      .expect(204);
    const begun = (await app.http.post('/auth/two-factor/totp').set('authorization', header)).body;
    await app.http
      .post('/auth/two-factor/totp/confirm')
      .set('authorization', header)
      .send({ code: codeOf(begun.secret) })
      .expect(200);
    expectProblem(await give(browser, code), 401, 'sign_in_expired');
    expect((await firstStep(browser).expect(200)).body.second_factor.methods).toContain('totp');
  });

  test.each<[string, () => PromiseLike<unknown>]>([
    ['a revoke-all', () => app.auth.revokeAllSessions(id)],
    ['a new password', () => app.auth.users.setPassword(id, 'a difference engine')],
    ['a suspension', () => app.auth.suspension.suspend(id)],
    ['its user', () => app.auth.users.delete(id)],
    ['signing out in that browser', () => browser.post('/auth/signout').expect(204)],
  ])('ends with %s', async (_what, end) => {
    await end();
    expectProblem(await give(browser, code), 401, 'sign_in_expired');
  });

  test('opens no account whose email is another one since', async () => {
    await app.auth.models.User.update({ email: 'other@example.com' }, { where: { id } });
    expectProblem(await give(browser, code), 401, 'invalid_code');
  });

  test('ends after ten minutes', async () => {
    await app.auth.models.UnfinishedSignIn.update({ expiresAt: ago(1000) }, { where: {} });
    expectProblem(await give(browser, code), 401, 'sign_in_expired');
    expectProblem(await again(browser), 401, 'sign_in_expired');
  });

  test('is mailed again three times, and stays the same', async () => {
    for (let time = 1; time <= 3; time++) {
      const mail = await mails.mailOf(ada.email, 'browser-code', async () => {
        const { body } = await again(browser).expect(202);
        expect(new Date(body.expires_at).getTime()).toBeGreaterThan(Date.now());
      });
      expect(mail.code).toBe(code);
    }
    const refused = await again(browser);
    expectProblem(refused, 429, 'rate_limited');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    await give(browser, code).expect(200);
  });

  test('is mailed again with the browser in which the password was typed', async () => {
    const signedIn = await app.auth.credential.signIn({
      credential: ada.email,
      password: ada.password,
      ip: '192.0.2.7',
      userAgent: 'curl/8.0',
    });
    const pendingToken = 'secondFactor' in signedIn ? signedIn.secondFactor.pendingToken : '';
    await settled(app.auth);
    const mail = await mails.mailOf(ada.email, 'browser-code', () =>
      app.auth.sendSignInCode({ pendingToken, ip: '198.51.100.9', userAgent: 'wget/1.0' }),
    );
    expect(mail.details).toMatchObject({ ip: '192.0.2.7', device: 'curl' });
  });

  test('is not in the database, nor what it is made from without the secret', async () => {
    const all = JSON.stringify([
      await rows(app.database, 'SELECT * FROM unfinished_sign_ins'),
      await rows(app.database, 'SELECT * FROM outbox'),
    ]);
    expect(all).not.toContain(code);
    expect(all).not.toContain(code.replace('-', ''));
  });
});

describe('a browser is known for a day', () => {
  test.each<[string, (browser: Browser) => Promise<void>]>([
    ['in which the password was reset', reset],
    [
      'in which the account was made',
      async (browser) => {
        await app.auth.users.delete(id);
        await browser.post('/auth/signup/credential').send(ada).expect(201);
        ({ id } = (await app.auth.users.find({ email: ada.email }))!);
        await app.auth.markEmailVerified(id);
      },
    ],
    [
      'in which the email was verified with the password',
      async (browser) => {
        await app.auth.users.delete(id);
        ({ id } = await app.auth.users.create(ada));
        const { token } = await mails.mailOf(ada.email, 'verify-email', () =>
          app.auth.credential.sendVerification({ userId: id }),
        );
        await browser.post('/auth/verify-email').send({ token, password: ada.password }).expect(200);
      },
    ],
  ])('%s', async (_which, act) => {
    const browser = app.browser();
    await act(browser);
    const { body } = await firstStep(browser).expect(200);
    expect(body.session.amr).toEqual(['pwd']);
    // Elsewhere it is not.
    expect((await firstStep(app.browser()).expect(200)).body).toHaveProperty('second_factor');
  });

  test('and no longer, nor for another account', async () => {
    const browser = app.browser();
    await browser.post('/auth/signup/credential').send(grace).expect(201);
    const { id: hers } = (await app.auth.users.find({ email: grace.email }))!;
    await app.auth.markEmailVerified(hers);
    expect((await firstStep(browser).expect(200)).body).toHaveProperty('second_factor');
    await app.auth.models.RecentBrowser.update({ expiresAt: ago(1000) }, { where: {} });
    expect((await firstStep(browser, grace).expect(200)).body).toHaveProperty('second_factor');
    await app.auth.prune();
    expect(await app.auth.models.RecentBrowser.count()).toBe(0);
  });

  test('but not once a device was forgotten elsewhere', async () => {
    const shared = app.browser();
    await reset(shared);
    await firstStep(shared).expect(200);
    const [device] = await app.auth.models.Device.findAll({ where: { userId: id } });
    const home = await known();
    await home.delete(`/auth/devices/${device?.get('id')}`).expect(204);
    await shared.post('/auth/signout').expect(204);
    expect((await firstStep(shared).expect(200)).body).toHaveProperty('second_factor');
  });

  test('but not after a new password elsewhere', async () => {
    const browser = app.browser();
    await reset(browser);
    const at = await app.auth.createSession(id);
    await app.http
      .post('/auth/passwords/change')
      .set('authorization', `Bearer ${at.token}`)
      .send({ current_password: ada.password, new_password: 'a difference engine' })
      .expect(200);
    const second = await firstStep(browser, { ...ada, password: 'a difference engine' }).expect(200);
    expect(second.body).toHaveProperty('second_factor');
  });

  test('for the code alone: a sign-in there is told', async () => {
    await reset(app.browser());
    await known();
    const browser = app.browser();
    await reset(browser);
    await mails.mailOf(ada.email, 'new-device', () => firstStep(browser).expect(200));
  });
});

describe('emails after a right password', () => {
  test('have windows of their own, which no stranger uses up', async () => {
    await app.stop();
    app = await startApp({
      plugins,
      config: {
        baseUrl: 'http://app.example.com',
        bearerEnabled: true,
        email: { send: mails.send },
        rateLimit: {
          mail: { limit: 2, window: 3600 },
          mailAddress: { limit: 8, window: 3600 },
          signIn: false,
        },
      },
    });
    await app.auth.users.create({ ...ada, emailVerified: true });
    const ask = (client: Pick<Browser, 'post'>) =>
      client.post('/auth/passwords/request-reset').send({ email: ada.email });
    for (let count = 0; count < 7; count++) await ask(app.http).expect(202);
    const browser = app.browser();
    await codeFor(browser);
    await mails.mailOf(ada.email, 'reset-password', () => ask(browser).expect(202));
    // The address is used up, which must not tell that a password is right, nor keep it from the owner.
    expectProblem(await ask(browser), 429, 'rate_limited');
    await codeFor(app.browser());
    // The third code of the account is not mailed. The answer is as ever.
    const before = mails.mails.length;
    expect((await firstStep(app.browser()).expect(200)).body).toHaveProperty('second_factor');
    await settled(app.auth);
    expect(mails.mails).toHaveLength(before);
  });

  test('that are left out have no code that could be guessed, until it is emailed', async () => {
    await app.stop();
    app = await startApp({
      plugins,
      config: {
        baseUrl: 'http://app.example.com',
        bearerEnabled: true,
        email: { send: mails.send },
        rateLimit: { mail: { limit: 1, window: 3600 } },
      },
    });
    await app.auth.users.create({ ...ada, emailVerified: true });
    await codeFor(app.browser());
    const browser = app.browser();
    const { body } = await firstStep(browser).expect(200);
    await settled(app.auth);
    expect(mails.mails.filter(({ kind }) => kind === 'browser-code')).toHaveLength(1);
    const hash = digestInHex(body.second_factor.pending_token);
    const found = await rows<{ salt: Buffer; token_hash: Buffer }>(
      app.database,
      'SELECT salt, token_hash FROM unfinished_sign_ins',
    );
    const row = found.find(({ token_hash }) => Buffer.from(token_hash).toString('hex') === hash);
    const code = new EmailedCodes([SECRET]).codeFor(
      nameOf(['browser', hash, ada.email], Buffer.from(row!.salt)),
    );
    expectProblem(await give(browser, code), 401, 'invalid_code');
    // In the next hour, the same code is emailed, and is right.
    await rows(app.database, 'DELETE FROM rate_limits');
    const mail = await mails.mailOf(ada.email, 'browser-code', () => again(browser).expect(202));
    expect(mail.code).toBe(code);
    await give(browser, code).expect(200);
  });
});
