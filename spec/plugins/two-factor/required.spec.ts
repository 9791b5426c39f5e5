import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  admin,
  apiKeys,
  authRouter,
  createAuth,
  emailSignIn,
  optionalSession,
  passkeys,
  requireAdmin,
  requireSession,
  suspension,
  twoFactor,
} from '../../../lib/index.js';
import {
  ada,
  logEveryLine,
  password,
  SECRET,
  type SpecApp,
  sessionCookie,
  startApp,
} from '../../support/app.js';
import { beforeChange } from '../../support/changes.js';
import { mailbox } from '../../support/mailbox.js';
import { addPasskey, authenticator, optionsOf, PAGE, signInWith } from '../../support/passkeys.js';
import { expectProblem } from '../../support/problem.js';
import { settled } from '../../support/sessions.js';
import { codeOf, enroll, firstStep, forgetSteps, secondStep } from '../../support/two-factor.js';

// Who must have a second factor.
let isRequired: (user: { email: string | null; role?: unknown }) => boolean;
const plugins = [
  password(),
  emailSignIn(),
  passkeys(),
  apiKeys(),
  suspension(),
  admin({ adminEmails: ['root@example.com'] }),
  twoFactor({ required: (user) => isRequired(user) }),
] as const;
let app: SpecApp<typeof plugins>;
let mails: ReturnType<typeof mailbox>;
let id: string;
const start = async (baseUrl: string) => {
  isRequired = () => true;
  mails = mailbox();
  app = await startApp({
    plugins,
    config: { baseUrl, email: { send: mails.send } },
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.get('/guarded', requireSession(auth), (_req, res) => void res.json({}));
      express.get('/admin', requireAdmin(auth), (_req, res) => void res.json({}));
      express.get(
        '/optional',
        optionalSession(auth),
        (req, res) => void res.json({ user: req.auth?.user.id ?? null }),
      );
    },
  });
  id = (await app.auth.users.create({ ...ada, emailVerified: true })).id;
};
beforeEach(() => start(PAGE));
afterEach(() => app.stop());

type Browser = ReturnType<typeof app.browser>;
const give = (browser: Browser, code: string) => secondStep(browser, { method: 'email_code', code });
/** Signs in with the password, and the code that is mailed to a browser that the account does not know. */
async function signIn(browser: Browser) {
  const { code } = await mails.mailOf(ada.email, 'browser-code', () => firstStep(browser).expect(200));
  return give(browser, code).expect(200);
}
async function signedIn(): Promise<Browser> {
  const browser = app.browser();
  await signIn(browser);
  return browser;
}
/** A browser with a session of the app's own making, of assurance level 1. */
async function withSession(userId = id): Promise<Browser> {
  const { token } = await app.auth.createSession(userId);
  const browser = app.browser();
  browser.set('cookie', `latchkey=${token}`);
  return browser;
}
const held = (answer: Parameters<typeof expectProblem>[0]) => {
  expectProblem(answer, 403, 'task_required');
  expect(answer.body.task).toBe('enroll_second_factor');
};

describe('who has no second factor', () => {
  test('gets a session that opens nothing until one is set up', async () => {
    const browser = app.browser();
    const before = await signIn(browser);
    expect(before.body.session).toMatchObject({ aal: 1, tasks: ['enroll_second_factor'] });
    for (const path of ['/guarded', '/auth/devices', '/auth/api-keys']) held(await browser.get(path));
    expect((await browser.get('/optional').expect(200)).body).toEqual({ user: null });
    expect((await browser.get('/auth/two-factor').expect(200)).body).toEqual({
      totp: false,
      recovery_codes_left: 0,
      passkeys: false,
      required: true,
    });
    const begun = await browser.post('/auth/two-factor/totp').expect(201);
    const code = codeOf(begun.body.secret);
    const done = await browser.post('/auth/two-factor/totp/confirm').send({ code }).expect(200);
    expect(done.body.session).toMatchObject({ aal: 2, tasks: [] });
    expect(sessionCookie(done)?.value).not.toBe(sessionCookie(before)?.value);
    await browser.get('/guarded').expect(200);
    expect((await browser.get('/optional')).body).toEqual({ user: id });
  });

  test('can set a passkey up, which is the second factor from then on', async () => {
    const browser = app.browser();
    const before = await signIn(browser);
    const device = authenticator();
    const response = device.create(await optionsOf(browser, '/passkeys/options'));
    const { body, headers } = await browser.post('/auth/passkeys').send({ response }).expect(201);
    expect(body.session).toMatchObject({ aal: 2, tasks: [] });
    expect(body.session.amr).toEqual(expect.arrayContaining(['pwd', 'email', 'swk', 'mfa']));
    expect(body.recovery_codes).toHaveLength(10);
    expect(body.passkey).toMatchObject({ name: 'Passkey' });
    expect(body.user.id).toBe(id);
    expect(headers['set-cookie']).toBeDefined();
    expect(before.body.session.id).toBe(body.session.id);
    await browser.get('/guarded').expect(200);
    expect((await browser.get('/auth/two-factor')).body).toMatchObject({
      passkeys: true,
      recovery_codes_left: 10,
    });
    // One change, of which one notice tells.
    await settled(app.auth as never);
    const told = mails.mails.filter(({ kind }) => /passkey-added|second-factor-enabled/.test(kind));
    expect(told.map(({ kind }) => kind)).toEqual(['second-factor-enabled']);
    // It stays one without the rule.
    isRequired = () => false;
    const { second_factor } = (await firstStep(app.browser()).expect(200)).body;
    expect(second_factor.methods).toEqual(['recovery_code', 'passkey']);
    // A second one is only added.
    const another = await browser.post('/auth/passkeys').send({
      response: authenticator().create(await optionsOf(browser, '/passkeys/options')),
    });
    expect(Object.keys(another.body)).toEqual(['passkey']);
  });

  test('must have signed in recently to set one up', async () => {
    const browser = await signedIn();
    await app.auth.models.Session.update({ authenticatedAt: new Date(0) }, { where: {} });
    expectProblem(await browser.post('/auth/two-factor/totp'), 403, 'reauthentication_required');
    expectProblem(await browser.post('/auth/passkeys/options').send({}), 403, 'reauthentication_required');
    await browser.post('/auth/reauthenticate').send({ password: ada.password }).expect(204);
    held(await browser.get('/guarded'));
    await enroll(browser);
    await browser.get('/guarded').expect(200);
  });

  test('cannot make a session fresh by the password in a browser that the account does not know', async () => {
    const browser = await withSession();
    await app.auth.models.Session.update({ authenticatedAt: new Date(0) }, { where: {} });
    for (const typed of [ada.password, 'not the password at all']) {
      const answer = await browser.post('/auth/reauthenticate').send({ password: typed });
      const { detail } = expectProblem(answer, 403, 'reauthentication_required');
      expect(detail).toContain('Sign in again');
      // A request that accepts the password in place of a recent sign-in asks for no less.
      expectProblem(
        await browser.delete('/auth/me').send({ password: typed }),
        403,
        'reauthentication_required',
      );
    }
    expectProblem(await browser.post('/auth/two-factor/totp'), 403, 'reauthentication_required');
    // Whom the rule does not name can, as before.
    isRequired = () => false;
    await browser.post('/auth/reauthenticate').send({ password: ada.password }).expect(204);
  });

  test('cannot use or make API keys until then, by code neither', async () => {
    isRequired = () => false;
    const { key } = await app.auth.apiKeys.create(id, { name: 'program' });
    const call = () => app.http.get('/guarded').set('authorization', `ApiKey ${key}`);
    await call().expect(200);
    isRequired = () => true;
    held(await call());
    await expect(app.auth.apiKeys.create(id, { name: 'other' })).rejects.toMatchObject({
      code: 'task_required',
    });
    await enroll(await signedIn());
    await call().expect(200);
    await app.auth.apiKeys.create(id, { name: 'other' });
  });

  test('is held from the next request of a living session on, and no longer than the rule says so', async () => {
    isRequired = () => false;
    const browser = await withSession();
    expect((await browser.get('/auth/me')).body.session.tasks).toEqual([]);
    await browser.get('/guarded').expect(200);
    isRequired = () => true;
    held(await browser.get('/guarded'));
    expect((await browser.get('/auth/sessions')).body.sessions[0].tasks).toEqual(['enroll_second_factor']);
    isRequired = () => false;
    await browser.get('/guarded').expect(200);
  });

  test('cannot be chosen by whoever knows the password: an unknown browser is asked for a code first', async () => {
    const known = await signedIn();
    await known.post('/auth/signout').expect(204);
    const again = await firstStep(known).expect(200);
    expect(again.body.session.tasks).toEqual(['enroll_second_factor']);
    const { second_factor } = (await firstStep(app.browser()).expect(200)).body;
    expect(second_factor.methods).toEqual(['email_code']);
    const inCode = await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
    expect(inCode).toMatchObject({ secondFactor: { methods: ['email_code'] } });
    // Whom the rule does not name signs in as before.
    isRequired = () => false;
    expect((await firstStep(app.browser()).expect(200)).body.session).toMatchObject({ tasks: [] });
  });

  test('can verify the email first, which setting one up requires', async () => {
    const grace = { email: 'grace@example.com', password: 'a moth in a relay' };
    const browser = app.browser();
    await browser.post('/auth/signup/credential').send(grace).expect(201);
    expect((await firstStep(browser, grace).expect(200)).body.session.tasks).toEqual([
      'enroll_second_factor',
    ]);
    expectProblem(await browser.post('/auth/two-factor/totp'), 403, 'email_not_verified');
    const ask = () => browser.post('/auth/email-verifications').send({}).expect(202);
    const { token } = await mails.mailOf(grace.email, 'verify-email', ask);
    await browser.post('/auth/verify-email').send({ token, password: grace.password }).expect(200);
    await enroll(browser);
    await browser.get('/guarded').expect(200);
  });

  test('needs no code in the browser in which the account was made', async () => {
    // Only a Secure cookie can say which browser it was.
    await app.stop();
    await start(PAGE.replace('http:', 'https:'));
    const browser = app.browser();
    const grace = { email: 'grace@example.com', password: 'a moth in a relay' };
    await browser.post('/auth/signup/credential').send(grace).expect(201);
    await app.auth.markEmailVerified((await app.auth.users.find({ email: grace.email }))!.id);
    expect((await firstStep(browser, grace).expect(200)).body.session.aal).toBe(1);
    expect((await firstStep(app.browser(), grace).expect(200)).body.second_factor.methods).toEqual([
      'email_code',
    ]);
  });
});

describe('who has a second factor', () => {
  let secret: string;
  let owner: Browser;
  beforeEach(async () => {
    owner = await signedIn();
    ({ secret } = await enroll(owner));
    await forgetSteps(app);
  });

  test('is asked for it in a session that has not shown it, by guards and routes', async () => {
    const browser = await withSession();
    for (const path of ['/guarded', '/auth/devices'])
      expectProblem(await browser.get(path), 403, 'second_factor_required');
    expectProblem(await browser.get('/guarded').set('accept', 'text/html'), 403, 'second_factor_required');
    expect((await browser.get('/optional').expect(200)).body).toEqual({ user: null });
    expect((await browser.get('/auth/me').expect(200)).body.session).toMatchObject({ aal: 1, tasks: [] });
    const { token } = await app.auth.createSession(id);
    const request = { headers: { cookie: `latchkey=${token}` } };
    await expect(app.auth.getSession(request)).rejects.toMatchObject({ code: 'second_factor_required' });
    const fields = {
      current_password: ada.password,
      new_password: 'a difference engine',
      error_to: '/profile',
    };
    const form = await browser.post('/auth/passwords/change').type('form').send(fields);
    expect(form.headers.location).toBe('/profile?error=second_factor_required');
    const renewed = await browser
      .post('/auth/reauthenticate')
      .send({ code: codeOf(secret) })
      .expect(204);
    browser.set('cookie', `latchkey=${sessionCookie(renewed)?.value}`);
    await browser.get('/guarded').expect(200);
  });

  test('keeps API keys, and makes them', async () => {
    const { key } = await app.auth.apiKeys.create(id, { name: 'program' });
    await app.http.get('/guarded').set('authorization', `ApiKey ${key}`).expect(200);
  });

  test('cannot remove the last one', async () => {
    expectProblem(await owner.delete('/auth/two-factor/totp'), 409, 'second_factor_demanded');
    const device = authenticator();
    const { id: passkeyId } = await addPasskey(owner, device);
    await owner.delete('/auth/two-factor/totp').expect(204);
    expectProblem(await owner.delete(`/auth/passkeys/${passkeyId}`), 409, 'second_factor_demanded');
    isRequired = () => false;
    await owner.delete(`/auth/passkeys/${passkeyId}`).expect(204);
  });

  test('loses it to an administrator and to code, and then has to set one up again', async () => {
    await app.auth.twoFactor.disable(id);
    expect((await firstStep(owner).expect(200)).body.session.tasks).toEqual(['enroll_second_factor']);
  });
});

test('an undo of the enrolment of a passkey removes it', async () => {
  await app.auth.models.User.update({ createdAt: new Date() }, { where: { id } });
  const browser = await signedIn();
  const response = authenticator().create(await optionsOf(browser, '/passkeys/options'));
  const enrol = () => browser.post('/auth/passkeys').send({ response }).expect(201);
  const { token, text } = await mails.mailOf(ada.email, 'second-factor-enabled', enrol);
  expect(text).toContain('A passkey was added');
  await browser.post('/auth/undo-change').send({ token, password: ada.password }).expect(200);
  expect(await app.auth.passkeys.list(id)).toEqual([]);
  expect(await app.auth.twoFactor.status(id)).toMatchObject({ passkeys: false, recoveryCodesLeft: 0 });
});

describe('a passkey from before', () => {
  const device = authenticator();
  /** In which the account has first signed in. */
  let browser: Browser;
  beforeEach(async () => {
    isRequired = () => false;
    browser = app.browser();
    await firstStep(browser).expect(200);
    await addPasskey(browser, device);
    expect((await firstStep(app.browser()).expect(200)).body.session.aal).toBe(1);
    isRequired = () => true;
  });

  test('is asked for after every other way to sign in', async () => {
    const browser = app.browser();
    const { second_factor } = (await firstStep(browser).expect(200)).body;
    expect(second_factor.methods).toEqual(['passkey']);
    const response = device.get(await optionsOf(browser, '/signin/second-factor/options'));
    const { session } = (await secondStep(browser, { method: 'passkey', response }).expect(200)).body;
    expect(session).toMatchObject({ aal: 2, tasks: [] });
    const other = app.browser();
    const ask = () => other.post('/auth/signin/email').send({ email: ada.email }).expect(202);
    const { code } = await mails.mailOf(ada.email, 'sign-in-code', ask);
    const emailed = await other.post('/auth/signin/email/confirm').send({ code }).expect(200);
    expect(emailed.body.second_factor.methods).toEqual(['passkey']);
    expect((await signInWith(app.browser(), device)).body.session).toMatchObject({ aal: 2, tasks: [] });
  });

  test('is asked for in a living session', async () => {
    expectProblem(await (await withSession()).get('/guarded'), 403, 'second_factor_required');
  });

  test('is removed when an administrator disables the second factor', async () => {
    const disable = () => app.auth.twoFactor.disable(id);
    const { text } = await mails.mailOf(ada.email, 'second-factor-disabled', disable);
    expect(text).toContain('Its passkeys and recovery codes were deleted');
    expect(await app.auth.passkeys.list(id)).toEqual([]);
    expect((await signIn(app.browser())).body.session.tasks).toEqual(['enroll_second_factor']);
  });

  test('is asked for by an undo, as a sign-in asked for it', async () => {
    await signInWith(browser, device);
    const token = await beforeChange(app.auth as never, id);
    const undo = (body: object) =>
      browser.post('/auth/undo-change').send({ token, password: ada.password, ...body });
    expectProblem(await undo({}), 403, 'proof_required', ['second_factor', 'passkey']);
    // Codes of the account do, and come back with it.
    const codes = (await browser.post('/auth/two-factor/recovery-codes').expect(200)).body.recovery_codes;
    const later = await beforeChange(app.auth as never, id);
    await undo({ token: later, recovery_code: codes[0] }).expect(200);
    expect(await app.auth.twoFactor.status(id)).toMatchObject({ passkeys: false, recoveryCodesLeft: 9 });
  });

  test('takes the recovery codes with it, which a new one does not bring back', async () => {
    const browser = app.browser();
    await signInWith(browser, device);
    const old = (await browser.post('/auth/two-factor/recovery-codes').expect(200)).body.recovery_codes;
    const [passkey] = await app.auth.passkeys.list(id);
    await app.auth.passkeys.remove(id, String(passkey?.id));
    expect((await app.auth.twoFactor.status(id)).recoveryCodesLeft).toBe(0);
    const owner = await signedIn();
    const response = device.create(await optionsOf(owner, '/passkeys/options'));
    const { recovery_codes } = (await owner.post('/auth/passkeys').send({ response }).expect(201)).body;
    expect(recovery_codes).toHaveLength(10);
    expect(recovery_codes).not.toContain(old[0]);
  });

  test('is no task in the list of an administrator, and not an attribute that the app sees', async () => {
    await withSession();
    for (const session of await app.auth.admin.listUserSessions(id)) expect(session.tasks).toEqual([]);
    const { user } = await app.auth.createSession(id);
    expect(JSON.stringify(user)).not.toMatch(/passkey/i);
    expect(Object.keys(user)).not.toContain('hasPasskey');
  });

  test('stays if the function fails while an administrator disables the second factor', async () => {
    isRequired = () => {
      throw new Error('gone');
    };
    await app.auth.twoFactor.disable(id);
    expect(await app.auth.passkeys.list(id)).toHaveLength(1);
  });

  test('is not dropped by the first proof of the mailbox', async () => {
    await app.auth.models.User.update({ mailboxProvedAt: null, emailProof: 'app' }, { where: { id } });
    const browser = app.browser();
    const ask = () => browser.post('/auth/signin/email').send({ email: ada.email }).expect(202);
    const { code } = await mails.mailOf(ada.email, 'sign-in-code', ask);
    await browser.post('/auth/signin/email/confirm').send({ code }).expect(200);
    const response = device.get(await optionsOf(browser, '/signin/second-factor/options'));
    const done = await secondStep(browser, { method: 'passkey', response }).expect(200);
    expect(done.body.password_removed).toBe(true);
    expect(await app.auth.passkeys.list(id)).toHaveLength(1);
  });
});

describe('the function', () => {
  test('gets the user as guards show them, everywhere', async () => {
    const seen = new Set<string>();
    isRequired = (user) => {
      seen.add(Object.keys(user).sort().join());
      return true;
    };
    const browser = await signedIn();
    await browser.get('/guarded');
    await browser.get('/auth/two-factor');
    await enroll(browser);
    expect([...seen]).toHaveLength(1);
  });

  test('names the user if it fails, and that is logged', async () => {
    const browser = await withSession();
    logEveryLine(app.auth);
    for (const broken of [
      () => {
        throw new Error('gone');
      },
      () => undefined,
      () => Promise.reject(new Error('late')),
    ]) {
      isRequired = broken as never;
      app.log.length = 0;
      held(await browser.get('/guarded'));
      expect(app.log.join()).toMatch(
        /required of twoFactor\(\) (has failed|must return a boolean), so the user must/,
      );
    }
  });
});

describe('administrators', () => {
  test('must have one, and others need not', async () => {
    await app.stop();
    const only = [
      password(),
      suspension(),
      passkeys(),
      admin({ adminEmails: ['root@example.com'] }),
      twoFactor({ required: 'administrators' }),
    ] as const;
    const other = await startApp({
      plugins: only,
      config: { baseUrl: PAGE },
      mount(express, auth) {
        express.use('/auth', authRouter(auth));
        express.get('/admin', requireAdmin(auth), (_req, res) => void res.json({}));
      },
    });
    app = other as never;
    const root = await other.auth.users.create({
      email: 'root@example.com',
      password: ada.password,
      emailVerified: true,
    });
    const user = await other.auth.users.create({ ...ada, emailVerified: true });
    const browser = other.browser();
    await firstStep(browser, { email: root.email as string, password: ada.password }).expect(200);
    held(await browser.get('/admin'));
    held(await browser.get('/auth/admin/users'));
    await enroll(browser);
    await browser.get('/admin').expect(200);
    await browser.get('/auth/admin/users').expect(200);
    expect((await other.auth.twoFactor.status(root.id)).required).toBe(true);
    expect((await other.auth.twoFactor.status(user.id)).required).toBe(false);
    expect((await firstStep(other.browser()).expect(200)).body.session.tasks).toEqual([]);
  });

  test('cannot be named without a plugin that has them, nor anything else', () => {
    const auth = (required: unknown) => () =>
      createAuth({
        database: 'sqlite::memory:',
        secret: SECRET,
        plugins: [password(), twoFactor({ required: required as 'never' })],
      });
    expect(auth('administrators')).toThrow(/add admin\(\) to plugins/);
    expect(auth('admins')).toThrow(/'never', 'administrators', 'everybody', or a function/);
    expect(auth(true)).toThrow(/required/);
  });
});
