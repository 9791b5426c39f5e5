import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../../lib/auth.js';
import { admin, passkeys, suspension, twoFactor } from '../../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../../support/app.js';
import { mailbox } from '../../support/mailbox.js';
import { addPasskey, authenticator, optionsOf, PAGE } from '../../support/passkeys.js';
import { expectProblem } from '../../support/problem.js';
import { settled } from '../../support/sessions.js';
import { codeOf, enroll, firstStep, forgetSteps, secondStep } from '../../support/two-factor.js';

// Passkeys that a user has made their second factor.
const plugins = [
  password(),
  passkeys(),
  suspension(),
  admin({ adminEmails: ['root@example.com'] }),
  twoFactor(),
] as const;
let app: SpecApp<typeof plugins>;
let mails: ReturnType<typeof mailbox>;
let id: string;
let browser: Browser;
let device: ReturnType<typeof authenticator>;
let passkeyId: string;
beforeEach(async () => {
  mails = mailbox();
  app = await startApp({ plugins, config: { baseUrl: PAGE, email: { send: mails.send } } });
  id = (await app.auth.users.create({ ...ada, emailVerified: true })).id;
  browser = app.browser();
  await firstStep(browser).expect(200);
  device = authenticator();
  passkeyId = (await addPasskey(browser, device)).id;
});
afterEach(() => app.stop());

type Browser = ReturnType<typeof app.browser>;
const put = (on: boolean, one = browser) => one.put('/auth/two-factor/passkeys').send({ on });
const stateOf = async () => (await browser.get('/auth/two-factor').expect(200)).body;
const methods = async () => (await firstStep(app.browser()).expect(200)).body.second_factor?.methods ?? [];
/** Shows the passkey, so that the session has aal 2. */
async function show(one = browser): Promise<void> {
  const passkey = device.get(await optionsOf(one, '/reauthenticate/options'));
  await one.post('/auth/reauthenticate').send({ passkey }).expect(204);
}
async function switchedOn(): Promise<string[]> {
  return (await put(true).expect(200)).body.recovery_codes;
}

describe('switched on', () => {
  test('are asked for after the password, and recovery codes come with it', async () => {
    const other = app.browser();
    await firstStep(other).expect(200);
    const before = await browser.get('/auth/me');
    const notice = await mails.mailOf(ada.email, 'second-factor-enabled', async () => {
      const { body, headers } = await put(true).expect(200);
      expect(body.recovery_codes).toHaveLength(10);
      expect(body.user.id).toBe(id);
      expect(body.session).toMatchObject({ id: before.body.session.id, aal: 1 });
      expect(headers['set-cookie']).toBeDefined();
    });
    expect(notice.text).toContain('also requires one of your passkeys');
    await other.get('/auth/me').expect(401);
    expect(await stateOf()).toEqual({
      totp: false,
      recovery_codes_left: 10,
      passkeys: true,
      required: false,
    });
    const again = app.browser();
    expect((await firstStep(again).expect(200)).body.second_factor.methods).toEqual([
      'recovery_code',
      'passkey',
    ]);
    const response = device.get(await optionsOf(again, '/signin/second-factor/options'));
    const { session } = (await secondStep(again, { method: 'passkey', response }).expect(200)).body;
    expect(session.aal).toBe(2);
    expect((await app.auth.models.User.findByPk(id))?.get('secondFactorAt')).toBeInstanceOf(Date);
  });

  test('take a recovery code too, and give new ones only where none are left', async () => {
    const [code = ''] = await switchedOn();
    const other = app.browser();
    await firstStep(other).expect(200);
    await secondStep(other, { method: 'recovery_code', code }).expect(200);
    expect((await put(true, other).expect(200)).body).not.toHaveProperty('recovery_codes');
    const renewed = await other.post('/auth/two-factor/recovery-codes').expect(200);
    expect(renewed.body.recovery_codes).toHaveLength(10);
    await app.auth.models.RecoveryCode.destroy({ where: {} });
    await mails.mailOf(ada.email, 'recovery-codes-renewed', async () => {
      expect((await put(true, other).expect(200)).body.recovery_codes).toHaveLength(10);
    });
  });

  test('again, while another request uses the last code: new codes are hashed without a lock', async () => {
    await switchedOn();
    await show();
    const { core } = internalsOf(app.auth);
    const { codes, status } = core.factors!;
    const read = status.read.bind(status);
    status.read = async (...args) => {
      const found = await read(...args);
      await app.auth.models.RecoveryCode.destroy({ where: {} });
      status.read = read;
      return found;
    };
    let isLocked = false;
    const change = core.change.bind(core);
    core.change = ((userId, by, work) =>
      change(userId, by, async (...args) => {
        isLocked = true;
        try {
          return await work(...args);
        } finally {
          isLocked = false;
        }
      })) as typeof core.change;
    const prepare = codes.prepare.bind(codes);
    const locks: boolean[] = [];
    codes.prepare = (userId) => {
      locks.push(isLocked);
      return prepare(userId);
    };
    expect(await switchedOn()).toHaveLength(10);
    expect(locks).toEqual([false]);
    await settled(app.auth);
    expect(mails.mails.filter(({ kind }) => kind === 'recovery-codes-renewed')).toHaveLength(1);
    expect(await stateOf()).toMatchObject({ recovery_codes_left: 10 });
  });

  test('again ends no session, and tells nobody', async () => {
    await switchedOn();
    await show();
    const other = app.browser();
    await firstStep(other).expect(200);
    const response = device.get(await optionsOf(other, '/signin/second-factor/options'));
    await secondStep(other, { method: 'passkey', response }).expect(200);
    await settled(app.auth as never);
    const before = mails.mails.length;
    await put(true, other).expect(200);
    await settled(app.auth as never);
    expect(mails.mails).toHaveLength(before);
    await browser.get('/auth/me').expect(200);
  });

  test('keep sensitive changes from a session that has not shown one', async () => {
    await switchedOn();
    const reason = 'second_factor_required';
    expectProblem(await put(false), 403, reason);
    expectProblem(await browser.delete(`/auth/passkeys/${passkeyId}`), 403, reason);
    expectProblem(await browser.post('/auth/two-factor/totp'), 403, reason);
    await show();
    await put(false).expect(200);
  });
});

describe('switched off', () => {
  test('are a way to sign in, and no more', async () => {
    await switchedOn();
    await show();
    const token = (await browser.get('/auth/me')).body.session.id;
    const notice = await mails.mailOf(ada.email, 'second-factor-disabled', async () => {
      const { body } = await put(false).expect(200);
      expect(body.session).toMatchObject({ id: token, aal: 2 });
    });
    expect(notice.text).toContain('no longer requires one of your passkeys');
    expect(await methods()).toEqual([]);
    expect(await stateOf()).toMatchObject({ passkeys: false, recovery_codes_left: 0 });
    expect(await app.auth.passkeys.list(id)).toHaveLength(1);
    await put(false).expect(200);
  });

  test('by removing the last one', async () => {
    await switchedOn();
    await show();
    const second = await addPasskey(browser, authenticator());
    await browser.delete(`/auth/passkeys/${passkeyId}`).expect(204);
    expect(await stateOf()).toMatchObject({ passkeys: true });
    const notice = await mails.mailOf(ada.email, 'passkey-removed', () =>
      browser.delete(`/auth/passkeys/${second.id}`).expect(204),
    );
    expect(notice.text).toContain('It was your last passkey');
    expect(await stateOf()).toMatchObject({ passkeys: false, recovery_codes_left: 0 });
    expect(await methods()).toEqual([]);
  });

  test('by an administrator, who leaves the passkeys where they are', async () => {
    await switchedOn();
    const ended: object[] = [];
    app.auth.on('second_factor.disabled', (event) => void ended.push(event));
    await app.auth.twoFactor.disable(id);
    expect(await methods()).toEqual([]);
    expect(await app.auth.passkeys.list(id)).toHaveLength(1);
    expect(ended).toEqual([expect.objectContaining({ userId: id, adminId: null, factor: 'passkeys' })]);
  });

  test('by code that removes the last one', async () => {
    await switchedOn();
    await app.auth.passkeys.remove(id, passkeyId);
    expect(await methods()).toEqual([]);
    expect((await app.auth.twoFactor.status(id)).passkeys).toBe(false);
  });
});

describe('beside an authenticator app', () => {
  let secret: string;
  beforeEach(async () => {
    ({ secret } = await enroll(browser));
    await forgetSteps(app);
  });

  test('do not shut out an account whose passkeys have gone otherwise', async () => {
    await put(true).expect(200);
    await app.auth.models.Passkey.destroy({ where: {} });
    await browser.delete('/auth/two-factor/totp').expect(204);
    expect(await methods()).toEqual([]);
    expect(await stateOf()).toMatchObject({ totp: false, passkeys: false });
  });

  test('stay when the app is switched off, with the recovery codes', async () => {
    expect((await put(true).expect(200)).body).not.toHaveProperty('recovery_codes');
    const notice = await mails.mailOf(ada.email, 'second-factor-disabled', () =>
      browser.delete('/auth/two-factor/totp').expect(204),
    );
    expect(notice.text).toContain('It still requires one of your passkeys');
    expect(await stateOf()).toMatchObject({ totp: false, passkeys: true, recovery_codes_left: 10 });
    expect(await methods()).toEqual(['recovery_code', 'passkey']);
  });

  test('leave the app when they are switched off', async () => {
    await put(true).expect(200);
    const notice = await mails.mailOf(ada.email, 'second-factor-disabled', () => put(false).expect(200));
    expect(notice.text).toContain('It still requires a code from your authenticator app');
    expect(await stateOf()).toMatchObject({ totp: true, passkeys: false, recovery_codes_left: 10 });
    const other = app.browser();
    await firstStep(other).expect(200);
    await secondStep(other, { method: 'totp', code: codeOf(secret) }).expect(200);
  });
});

test('cannot be switched on without a passkey, a recent sign-in, or a verified email', async () => {
  await app.auth.passkeys.remove(id, passkeyId);
  expect(expectProblem(await put(true), 409, 'no_passkey').detail).toBe(
    'You have no passkey. Add one first.',
  );
  await app.auth.models.Session.update({ authenticatedAt: new Date(0) }, { where: {} });
  expectProblem(await put(true), 403, 'reauthentication_required');
  await browser.post('/auth/reauthenticate').send({ password: ada.password }).expect(204);
  await addPasskey(browser, device);
  await app.auth.users.changeEmail(id, 'other@example.com');
  expectProblem(await put(true), 403, 'email_not_verified');
});

test('the sign-ins in progress end when one is removed, because they can have begun with it', async () => {
  const { secret } = await enroll(browser);
  await forgetSteps(app);
  const other = app.browser();
  await firstStep(other).expect(200);
  await browser.delete(`/auth/passkeys/${passkeyId}`).expect(204);
  expectProblem(await secondStep(other, { method: 'totp', code: codeOf(secret) }), 401, 'sign_in_expired');
  await browser.get('/auth/me').expect(200);
});

test('of two browsers that switch them on, one goes on', async () => {
  const other = app.browser();
  await firstStep(other).expect(200);
  const answers = await Promise.all([put(true), put(true, other)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  const codes = answers.flatMap(({ body }) => body.recovery_codes ?? []);
  expect(codes).toHaveLength(10);
  const last = app.browser();
  await firstStep(last).expect(200);
  await secondStep(last, { method: 'recovery_code', code: codes[0] }).expect(200);
});

describe('an undo', () => {
  const undo = (body: object) => browser.post('/auth/undo-change').send({ password: ada.password, ...body });

  test('of switching them on switches them off', async () => {
    const { token } = await mails.mailOf(ada.email, 'second-factor-enabled', () => put(true).expect(200));
    await undo({ token }).expect(200);
    expect(await app.auth.twoFactor.status(id)).toMatchObject({ passkeys: false, recoveryCodesLeft: 0 });
  });

  test('of switching them off takes a recovery code of then, and switches them on', async () => {
    const codes = await switchedOn();
    await show();
    const { token } = await mails.mailOf(ada.email, 'second-factor-disabled', () => put(false).expect(200));
    expectProblem(await undo({ token }), 403, 'proof_required', ['second_factor', 'passkey']);
    expectProblem(await undo({ token, code: '000000' }), 401, 'invalid_code');
    await undo({ token, recovery_code: codes[0] }).expect(200);
    expect(await app.auth.twoFactor.status(id)).toMatchObject({ passkeys: true, recoveryCodesLeft: 9 });
    expect((await app.auth.models.User.findByPk(id))?.get('secondFactorAt')).toBeInstanceOf(Date);
  });

  test('of removing the last one brings it back as the second factor', async () => {
    const codes = await switchedOn();
    await show();
    const remove = () => browser.delete(`/auth/passkeys/${passkeyId}`).expect(204);
    const { token } = await mails.mailOf(ada.email, 'passkey-removed', remove);
    await undo({ token, recovery_code: codes[0] }).expect(200);
    expect(await app.auth.twoFactor.status(id)).toMatchObject({ passkeys: true, recoveryCodesLeft: 9 });
    expect(await app.auth.passkeys.list(id)).toHaveLength(1);
  });
});
