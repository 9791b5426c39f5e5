import { afterEach, describe, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import { internalsOf } from '../../lib/auth.js';
import { passkeys, twoFactor } from '../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { beforeChange, byUser } from '../support/changes.js';
import { rows } from '../support/database.js';
import { proveMailbox, takeMailbox } from '../support/email-proof.js';
import { importUsers } from '../support/import-users.js';
import { mailbox } from '../support/mailbox.js';
import { addPasskey, authenticator, PAGE } from '../support/passkeys.js';
import { expectProblem } from '../support/problem.js';
import { ago, DAY } from '../support/sessions.js';
import { codeOf, enroll, firstStep, forgetSteps, secondStep, wrongCode } from '../support/two-factor.js';

// What an undo shows in addition to its link: where, and what a sign-in showed before the change.
const plugins = () => [password(), twoFactor(), passkeys()] as const;

let app: SpecApp<ReturnType<typeof plugins>>;
let mails: ReturnType<typeof mailbox>;
afterEach(() => app.stop());

type Browser = ReturnType<typeof app.browser>;

const start = async (config: object = {}) => {
  mails = mailbox();
  app = await startApp({
    plugins: plugins(),
    config: { baseUrl: PAGE, ...config, email: { send: mails.send } },
  });
};
/** Ada, whose account is as old as this, in the browser in which she first signed in. */
const startWithAda = async (days = 0, config: object = {}) => {
  await start(config);
  const { id } = await app.auth.users.create(ada);
  await proveMailbox(app.auth, id);
  const browser = app.browser();
  await firstStep(browser).expect(200);
  await age(days);
  return { id, browser };
};
/** Makes the account and what it has so far older. */
const age = async (days: number) => {
  const time = { at: ago(days * DAY) };
  for (const table of ['users', 'known_devices', 'passkeys'])
    await rows(app.database, `UPDATE ${table} SET created_at = :at`, time);
};
const undo = (browser: Browser, body: object) => browser.post('/auth/undo-change').send(body);
const lookUp = (browser: Browser, token: string) => browser.post('/auth/undo-change/lookup').send({ token });
const missingIn = async (browser: Browser, token: string) =>
  (await lookUp(browser, token).expect(200)).body.missing;

describe('the browser', () => {
  test('is the first one of a young account, and no later one', async () => {
    const { id, browser } = await startWithAda(29);
    const later = app.browser();
    await firstStep(later).expect(200);
    const token = await beforeChange(app.auth, id);
    expect(await missingIn(browser, token)).toEqual(['password']);
    for (const other of [later, app.browser()]) expect(await missingIn(other, token)).toEqual(['browser']);
  });

  test('is one that the account had known for 30 days when the change was made', async () => {
    const { id, browser } = await startWithAda(40);
    const [old, young] = [app.browser(), app.browser()];
    for (const one of [old, young]) await firstStep(one).expect(200);
    const [, second, third] = await rows<{ id: string }>(
      app.database,
      'SELECT id FROM known_devices ORDER BY created_at, id',
    );
    const made = (days: number, row?: { id: string }) =>
      rows(app.database, 'UPDATE known_devices SET created_at = :at WHERE id = :id', {
        at: ago(days * DAY),
        id: row?.id,
      });
    await made(31, second);
    await made(29, third);
    const token = await beforeChange(app.auth, id);
    for (const one of [browser, old]) expect(await missingIn(one, token)).toEqual(['password']);
    expect(await missingIn(young, token)).toEqual(['browser']);
    // It does not become one by waiting.
    await made(31, third);
    await rows(app.database, 'UPDATE account_changes SET created_at = :at', { at: ago(6 * DAY) });
    expect(await missingIn(young, token)).toEqual(['browser']);
  });

  test('of an imported account is the first one for 30 days after its first sign-in here', async () => {
    await start();
    await importUsers(app.auth, [
      {
        email: ada.email,
        emailVerified: true,
        passwordHash: await bcrypt.hash(ada.password, 4),
        createdAt: ago(400 * DAY),
      },
    ]);
    const [browser, later] = [app.browser(), app.browser()];
    for (const one of [browser, later]) await firstStep(one).expect(200);
    const { id } = (await app.auth.users.find({ email: ada.email }))!;
    const token = await beforeChange(app.auth, id);
    expect(await missingIn(browser, token)).toEqual(['password']);
    expect(await missingIn(later, token)).toEqual(['browser']);
  });

  test('of an account that nobody used for long is none', async () => {
    await start();
    const { id } = await app.auth.users.create(ada);
    await rows(app.database, 'UPDATE users SET created_at = :at', { at: ago(40 * DAY) });
    const browser = app.browser();
    await firstStep(browser).expect(200);
    expect(await missingIn(browser, await beforeChange(app.auth, id))).toEqual(['browser']);
  });

  test('counts for 30 days after it was forgotten, so that a thief does not forget it first', async () => {
    const { id, browser } = await startWithAda(40);
    await byUser(app.auth, id, (own) => app.auth.users.setPassword(id, 'the words of a thief', own));
    const forgotten = (days: number) =>
      rows(app.database, 'UPDATE known_devices SET forgotten_at = :at', { at: ago(days * DAY) });
    const token = await beforeChange(app.auth, id);
    await forgotten(29);
    expect(await missingIn(browser, token)).toEqual(['password']);
    await forgotten(31);
    expect(await missingIn(browser, token)).toEqual(['browser']);
  });

  test('that an undo dropped proves nothing later, and the one that showed it is known again', async () => {
    const { id, browser } = await startWithAda(40);
    const other = app.browser();
    await firstStep(other).set('user-agent', 'curl/8.5').expect(200);
    await age(40);
    // A thief has made the account forget the one that shows it.
    await rows(app.database, 'UPDATE known_devices SET forgotten_at = :at WHERE name IS NULL', {
      at: new Date(),
    });
    const token = await beforeChange(app.auth, id);
    await undo(browser, { token, password: ada.password }).expect(200);
    const next = await beforeChange(app.auth, id);
    expect(await missingIn(browser, next)).toEqual(['password']);
    // Known again a day after the undo, as if it had always been.
    await rows(app.database, 'UPDATE account_changes SET created_at = :at', {
      at: new Date(Date.now() + DAY),
    });
    expect(await missingIn(browser, next)).toEqual(['password']);
    expect(await missingIn(other, next)).toEqual(['browser']);
  });

  test('of a thief does not escape an undo by having been forgotten before', async () => {
    const { id, browser } = await startWithAda(40);
    const thiefs = app.browser();
    await firstStep(thiefs).expect(200);
    await age(40);
    const token = await beforeChange(app.auth, id);
    const { devices } = (await thiefs.get('/auth/devices').expect(200)).body;
    const own = devices.find(({ current }: { current: boolean }) => current);
    await thiefs.delete(`/auth/devices/${own.id}`).expect(204);
    await rows(app.database, 'UPDATE known_devices SET forgotten_at = :at WHERE forgotten_at IS NOT NULL', {
      at: ago(1000),
    });
    await undo(browser, { token, password: ada.password }).expect(200);
    expect(await missingIn(thiefs, await beforeChange(app.auth, id))).toEqual(['browser']);
  });

  test('of a thief is not the first one of an imported account that is used no more', async () => {
    await start();
    const passwordHash = await bcrypt.hash(ada.password, 4);
    await importUsers(app.auth, [{ email: ada.email, emailVerified: true, passwordHash }]);
    const { id } = (await app.auth.users.find({ email: ada.email }))!;
    await firstStep(app.browser()).expect(200);
    const times = { created: ago(400 * DAY), used: ago(98 * DAY) };
    await rows(app.database, 'UPDATE known_devices SET created_at = :created, last_used_at = :used', times);
    await rows(app.database, 'UPDATE users SET first_used_at = :created', times);
    const thiefs = app.browser();
    await firstStep(thiefs).expect(200);
    await app.auth.prune();
    expect(await rows(app.database, 'SELECT id FROM known_devices')).toHaveLength(1);
    expect(await missingIn(thiefs, await beforeChange(app.auth, id))).toEqual(['browser']);
  });

  test('is kept for as long as the link of a closed account works', async () => {
    const { id, browser } = await startWithAda(40, { accountDeletion: { graceDays: 60 } });
    const { token } = await mails.mailOf(ada.email, 'account-deleted', () =>
      browser.delete('/auth/me').expect(204),
    );
    const at = { at: ago(38 * DAY), used: ago(90 * DAY), made: ago(140 * DAY) };
    await rows(app.database, 'UPDATE account_changes SET created_at = :at', at);
    const old = 'UPDATE known_devices SET forgotten_at = :at, last_used_at = :used, created_at = :made';
    await rows(app.database, old, at);
    await rows(app.database, 'UPDATE users SET created_at = :made', at);
    await firstStep(app.browser()).expect(403);
    await app.auth.prune();
    expect(await missingIn(browser, token)).toEqual(['password']);
    expect(await app.auth.users.get(id)).toMatchObject({ email: ada.email });
  });

  test('that a first proof dropped is never one', async () => {
    await start();
    const stranger = app.browser();
    const { id } = await app.auth.users.create(ada);
    await firstStep(stranger).expect(200);
    await takeMailbox(app.auth, id);
    await app.auth.users.setPassword(id, ada.password);
    const owner = app.browser();
    await firstStep(owner).expect(200);
    const token = await beforeChange(app.auth, id);
    expect(await missingIn(owner, token)).toEqual(['password']);
    expect(await missingIn(stranger, token)).toEqual(['browser']);
  });

  test('is named in the notice; where there is none, the notice says whom to ask', async () => {
    const { id, browser } = await startWithAda();
    await rows(app.database, "UPDATE known_devices SET name = 'Firefox on Windows'");
    const change = (next: string) =>
      mails.mailOf(ada.email, 'password-changed', () =>
        byUser(app.auth, id, (own) => app.auth.users.setPassword(id, next, own)),
      );
    expect((await change('a difference engine')).text).toContain(
      'Open it on a device that you used before this change, such as Firefox on Windows.',
    );
    await rows(app.database, 'UPDATE users SET created_at = :at', { at: ago(40 * DAY) });
    const none = await change('another engine');
    expect(none.details?.browsers).toEqual([]);
    expect(none.text).toContain(
      'If it was not you, ask the people who run localhost. To undo what was done, support needs this link within 7 days',
    );
    expect(none.text).toContain(`: ${none.url}\n`);
    expect(await missingIn(browser, none.token)).toEqual(['browser']);
    expect(await app.auth.undoChange(none.token, { trusted: true })).toEqual({ undone: 'password-changed' });
  });
});

describe('what a sign-in showed before the change', () => {
  test.each([
    ['nothing', [], []],
    ['a password', ['password'], ['password']],
    ['a passkey', ['passkey'], ['passkey']],
    ['password and passkey', ['password', 'passkey'], ['password', 'passkey']],
    ['password and second factor', ['password', 'factor'], ['password', 'second_factor']],
    ['a second factor without a password', ['factor'], ['second_factor']],
    ['all', ['password', 'factor', 'passkey'], ['password', 'second_factor', 'passkey']],
  ])('is missing as far as there was any: %s', async (_what, has, missing) => {
    const { id, browser } = await startWithAda();
    if (has.includes('passkey')) await addPasskey(browser, authenticator());
    if (has.includes('factor')) await enroll(browser);
    if (!has.includes('password')) await rows(app.database, 'UPDATE users SET password_hash = NULL');
    const token = await beforeChange(app.auth, id);
    expect(await missingIn(browser, token)).toEqual(missing);
    expect(await missingIn(app.browser(), token)).toEqual(['browser']);
    const refused = await undo(app.browser(), { token, password: ada.password });
    expectProblem(refused, 403, 'proof_required', ['browser']);
    if (missing.length === 0) await undo(browser, { token }).expect(200);
    else expectProblem(await undo(browser, { token }), 403, 'proof_required', missing);
  });

  test('is both password and code', async () => {
    const { id, browser } = await startWithAda();
    const { secret, recoveryCodes } = await enroll(browser);
    await forgetSteps(app);
    const token = await beforeChange(app.auth, id);
    const code = codeOf(secret);
    expectProblem(await undo(browser, { token, code }), 403, 'proof_required', ['password']);
    const partly = await undo(browser, { token, password: ada.password });
    expectProblem(partly, 403, 'proof_required', ['second_factor']);
    const wrong = { token, password: ada.password, code: wrongCode(secret) };
    expectProblem(await undo(browser, wrong), 401, 'invalid_code');
    const none = { token, password: 'wrong', recovery_code: recoveryCodes[0] };
    expectProblem(await undo(browser, none), 401, 'invalid_credentials');
    await undo(browser, { token, password: ada.password, code }).expect(200);
  });

  test('is a second factor that was switched off since, and its code counts as used', async () => {
    const { id, browser } = await startWithAda();
    const { secret } = await enroll(browser);
    await forgetSteps(app);
    const token = await beforeChange(app.auth, id);
    const code = codeOf(secret);
    await browser.post('/auth/reauthenticate').send({ code }).expect(204);
    await browser.delete('/auth/two-factor/totp').expect(204);
    // It was used before the app was removed.
    expectProblem(await undo(browser, { token, password: ada.password, code }), 401, 'invalid_code');
    await undo(browser, { token, password: ada.password, code: codeOf(secret, 1) }).expect(200);
    expect(await app.auth.twoFactor.status(id)).toMatchObject({ totp: true });
  });

  test('is one code for one undo, though two links are used at once', async () => {
    const { id, browser } = await startWithAda();
    const { secret } = await enroll(browser);
    await forgetSteps(app);
    const links = [await beforeChange(app.auth, id), await beforeChange(app.auth, id)];
    const proof = { password: ada.password, code: codeOf(secret) };
    const answers = await Promise.all(links.map((token) => undo(browser, { token, ...proof })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('holds a recovery code and a passkey up for no wrong codes', async () => {
    const { id, browser } = await startWithAda(0, { rateLimit: { signIn: false } });
    const phone = authenticator();
    await addPasskey(browser, phone);
    const { secret, recoveryCodes } = await enroll(browser);
    await forgetSteps(app);
    const token = await beforeChange(app.auth, id);
    const other = app.browser();
    await firstStep(other).expect(200);
    while ((await secondStep(other, { method: 'totp', code: wrongCode(secret) })).status !== 429);
    const held = { token, password: ada.password, code: codeOf(secret) };
    expectProblem(await undo(browser, held), 429, 'rate_limited');
    for (const wrong of ['wrong', 'wrong again'])
      expectProblem(await secondStep(other, { method: 'recovery_code', code: wrong }), 401, 'invalid_code');
    await secondStep(other, { method: 'recovery_code', code: recoveryCodes[1] }).expect(200);
    const proof = { password: ada.password, recovery_code: recoveryCodes[0] };
    await undo(browser, { token, ...proof }).expect(200);
  });

  test('is the earlier password for the link of a sign-in too, where an undo has left none', async () => {
    const { id, browser } = await startWithAda();
    await undo(browser, { token: await beforeChange(app.auth, id), password: ada.password }).expect(200);
    const { token } = await mails.mailOf(ada.email, 'new-device', async () => {
      const issued = await app.auth.createSession(id);
      const { core } = internalsOf(app.auth);
      const request = { headers: {} };
      await core.context.forClient({ ip: null, userAgent: null, request }, () =>
        core.signInGate.attach(issued),
      );
    });
    expect(await missingIn(browser, token)).toEqual(['password']);
  });

  test('is the next step’s code at the first sign-in after it', async () => {
    const { id, browser } = await startWithAda();
    const { secret } = await enroll(browser);
    await forgetSteps(app);
    const token = await beforeChange(app.auth, id);
    await undo(browser, { token, password: ada.password, code: codeOf(secret) }).expect(200);
    await app.auth.users.setPassword(id, ada.password);
    await firstStep(browser).expect(200);
    const totp = (steps: number) => secondStep(browser, { method: 'totp', code: codeOf(secret, steps) });
    expectProblem(await totp(0), 401, 'invalid_code');
    await totp(1).expect(200);
  });
});

describe('a passkey of then', () => {
  const optionsFor = (browser: Browser, token: string) =>
    browser.post('/auth/undo-change/options').send({ token });
  const withPasskey = async () => {
    const { id, browser } = await startWithAda();
    const phone = authenticator();
    const passkey = await addPasskey(browser, phone);
    await enroll(browser);
    return { id, browser, phone, passkey };
  };

  test('stands for password and second factor, though it was removed since', async () => {
    const { id, browser, phone, passkey } = await withPasskey();
    const token = await beforeChange(app.auth, id);
    await browser.delete(`/auth/passkeys/${passkey.id}`).expect(204);
    const { options } = (await optionsFor(browser, token).expect(200)).body;
    expect(options).toMatchObject({ userVerification: 'required', timeout: 300_000 });
    expect(options.allowCredentials).toHaveLength(1);
    const response = phone.get(options);
    await undo(browser, { token, passkey: response }).expect(200);
    expect(await app.auth.passkeys.list(id)).toMatchObject([{ id: passkey.id }]);
  });

  test('is asked for in such a browser only, and good there, once, for this link', async () => {
    const { id, browser, phone } = await withPasskey();
    const [other, token] = [await beforeChange(app.auth, id), await beforeChange(app.auth, id)];
    expectProblem(await optionsFor(app.browser(), token), 403, 'proof_required', ['browser']);
    expectProblem(await optionsFor(browser, 'junk'), 400, 'invalid_token');
    const response = phone.get((await optionsFor(browser, token).expect(200)).body.options);
    expectProblem(await undo(browser, { token: other, passkey: response }), 401, 'invalid_passkey');
    expectProblem(await undo(app.browser(), { token, passkey: response }), 403, 'proof_required', [
      'browser',
    ]);
    const strange = authenticator();
    await addPasskey(browser, strange);
    const asked = (await optionsFor(browser, token).expect(200)).body.options;
    const theirs = strange.get({ ...asked, allowCredentials: [] });
    expectProblem(await undo(browser, { token, passkey: theirs }), 401, 'invalid_passkey');
    await undo(browser, { token, passkey: response }).expect(200);
    expectProblem(await undo(browser, { token: other, passkey: response }), 401, 'invalid_passkey');
  });

  test('is one that the account had for a week, or since its first day', async () => {
    const { id, browser, phone } = await withPasskey();
    const created = (days: number) =>
      rows(app.database, 'UPDATE passkeys SET created_at = :at', { at: ago(days * DAY) });
    await rows(app.database, 'UPDATE users SET created_at = :at', { at: ago(20 * DAY) });
    await rows(app.database, 'UPDATE known_devices SET created_at = :at', { at: ago(20 * DAY) });
    await created(6);
    const young = await beforeChange(app.auth, id);
    expect(await missingIn(browser, young)).toEqual(['password', 'second_factor']);
    expectProblem(await optionsFor(browser, young), 409, 'no_passkey');
    expectProblem(
      await undo(browser, { token: young, passkey: phone.get(await signInOptions(browser)) }),
      401,
      'invalid_passkey',
    );
    for (const days of [8, 20]) {
      await created(days);
      const token = await beforeChange(app.auth, id);
      expect(await missingIn(browser, token)).toEqual(['password', 'second_factor', 'passkey']);
      await optionsFor(browser, token).expect(200);
    }
  });

  const signInOptions = async (browser: Browser) =>
    (await browser.post('/auth/signin/passkey/options').expect(200)).body.options;
});

describe('POST /undo-change/lookup', () => {
  test('says what the link undoes and uses nothing up', async () => {
    const { id, browser } = await startWithAda();
    const { token } = await mails.mailOf(ada.email, 'password-changed', () =>
      browser
        .post('/auth/passwords/change')
        .set('user-agent', 'curl/8.5')
        .send({ current_password: ada.password, new_password: 'a difference engine' })
        .expect(200),
    );
    for (let times = 0; times < 3; times++)
      expect((await lookUp(browser, token).expect(200)).body).toEqual({
        kind: 'password-changed',
        at: expect.stringMatching(/^20/),
        device: 'curl',
        missing: ['password'],
      });
    const device = await mails.mailOf(ada.email, 'new-device', () =>
      firstStep(app.browser(), { ...ada, password: 'a difference engine' }).set('user-agent', 'wget/1.2'),
    );
    expect((await lookUp(browser, device.token).expect(200)).body).toMatchObject({
      kind: 'new-device',
      device: 'wget',
    });
    await undo(browser, { token, password: ada.password }).expect(200);
    expectProblem(await lookUp(browser, token), 400, 'invalid_token');
    expectProblem(await lookUp(browser, 'junk'), 400, 'invalid_token');
    expect(await app.auth.users.get(id)).toMatchObject({ email: ada.email });
  });

  test('counts against the limit of the address', async () => {
    const { id, browser } = await startWithAda(0, { rateLimit: { signIn: { limit: 3, window: 60 } } });
    const token = await beforeChange(app.auth, id);
    for (let times = 0; times < 2; times++) await lookUp(browser, token).expect(200);
    expectProblem(await lookUp(browser, token), 429, 'rate_limited');
  });
});

test('who has mailbox and password, but no browser, guesses and uses up nothing', async () => {
  const { id, browser } = await startWithAda(40);
  const { secret } = await enroll(browser);
  await forgetSteps(app);
  const token = await beforeChange(app.auth, id);
  const thief = app.browser();
  for (let times = 0; times < 8; times++) {
    const guess = { token, password: 'wrong', code: wrongCode(secret) };
    expectProblem(await undo(thief, guess), 403, 'proof_required', ['browser']);
  }
  await undo(browser, { token, password: ada.password, code: codeOf(secret) }).expect(200);
});

test('an undo ends every secret that waits for the account', async () => {
  const { id, browser } = await startWithAda();
  const token = await beforeChange(app.auth, id);
  await enroll(browser);
  await browser.post('/auth/passkeys/options').send({}).expect(200);
  await firstStep(app.browser()).expect(200);
  const ask = () => app.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202);
  const mail = await mails.mailOf(ada.email, 'reset-password', ask);
  const left = async () => [
    (await rows(app.database, 'SELECT * FROM passkey_challenges')).length,
    (await rows(app.database, 'SELECT * FROM unfinished_sign_ins')).length,
  ];
  expect(await left()).toEqual([1, 1]);
  await undo(browser, { token, password: ada.password }).expect(200);
  expect(await left()).toEqual([0, 0]);
  const reset = app.http.post('/auth/passwords/reset');
  expectProblem(
    await reset.send({ token: mail.token, new_password: 'a loom of cards' }),
    400,
    'invalid_token',
  );
});
