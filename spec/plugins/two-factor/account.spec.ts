import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../../lib/auth.js';
import { admin, twoFactor } from '../../../lib/index.js';
import type { UserRecord } from '../../../lib/users/record.js';
import { ada, password, type SpecApp, sessionCookie, signedIn, startApp } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { takeMailbox } from '../../support/email-proof.js';
import { mailbox } from '../../support/mailbox.js';
import { expectProblem } from '../../support/problem.js';
import { codeOf, enroll, firstStep, forgetSteps, secondStep } from '../../support/two-factor.js';

// Switching the second factor off, who is told, and what happens to it with the account.
const plugins = [
  password({ username: true }),
  twoFactor(),
  admin({ adminEmails: ['boss@example.com'] }),
] as const;
const mail = mailbox();
let app: SpecApp<typeof plugins>;
let events: string[];
beforeEach(async () => {
  mail.mails.length = 0;
  app = await startApp({ plugins, config: { email: { send: mail.send } } });
  events = [];
  for (const name of ['second_factor.enabled', 'second_factor.disabled', 'recovery_code.used'] as const)
    app.auth.on(name, ({ ip, userAgent: _, ...ids }) =>
      events.push(`${name} ${Object.values(ids).join(' ')}`),
    );
});
afterEach(() => app.stop());

async function verified(person = ada) {
  const browser = await signedIn(app, person);
  const userId: string = (await browser.get('/auth/me').expect(200)).body.user.id;
  await app.auth.markEmailVerified(userId);
  return { browser, userId };
}

async function withSecondFactor(person = ada) {
  const { browser } = await verified(person);
  const enrolled = await enroll(browser);
  await forgetSteps(app);
  return { browser, ...enrolled };
}

const boss = { email: 'boss@example.com', password: 'the analytical boss' };
const isOn = async (userId: string) => (await app.auth.twoFactor.status(userId)).totp;

/** Makes the session of a browser as old as this. */
const age = (userId: string, minutes: number) =>
  app.auth.models.Session.update(
    { authenticatedAt: new Date(Date.now() - minutes * 60_000) },
    { where: { userId } },
  );

describe('with mail, an address that is not verified', () => {
  test('keeps a second factor from being added, and from being confirmed', async () => {
    const browser = await signedIn(app);
    expectProblem(await browser.post('/auth/two-factor/totp'), 403, 'email_not_verified');
    const { id } = (await browser.get('/auth/me')).body.user;
    await app.auth.markEmailVerified(id);
    const { body } = await browser.post('/auth/two-factor/totp').expect(201);
    await rows(app.database, 'UPDATE users SET email_verified_at = NULL');
    const confirm = { code: codeOf(body.secret) };
    expectProblem(
      await browser.post('/auth/two-factor/totp/confirm').send(confirm),
      403,
      'email_not_verified',
    );
    expect(await isOn(id)).toBe(false);
  });

  test('proves to be somebody else’s later: then the second factor goes, and nothing asks for it', async () => {
    const { userId, browser } = await withSecondFactor();
    await browser.post('/auth/two-factor/totp').expect(201);
    await rows(
      app.database,
      'UPDATE users SET email_verified_at = NULL, mailbox_proved_at = NULL, email_vouched_at = NULL',
    );
    await firstStep(app.browser()).expect(200);
    await takeMailbox(app.auth, userId);
    expect(await isOn(userId)).toBe(false);
    for (const table of ['totp_secrets', 'totp_enrolments', 'recovery_codes', 'unfinished_sign_ins'])
      expect(await rows(app.database, `SELECT * FROM ${table}`)).toEqual([]);
    await app.auth.users.setPassword(userId, ada.password);
    expect((await firstStep(app.browser()).expect(200)).body.session).toMatchObject({ aal: 1 });
  });
});

test('an account without an address may have one, under its username', async () => {
  const { id } = await app.auth.users.create({ username: 'grace', password: 'a flow-matic compiler' });
  const { token } = await app.auth.createSession(id);
  const answer = await app.http.post('/auth/two-factor/totp').set('cookie', `latchkey=${token}`).expect(201);
  expect(answer.body.otpauth_url).toMatch(/^otpauth:\/\/totp\/latchkey:grace\?/);
});

describe('DELETE /two-factor/totp', () => {
  test('switches it off: the codes are gone, the others end, and this session goes on with a new token', async () => {
    const { browser, secret, userId } = await withSecondFactor();
    const other = app.browser();
    await firstStep(other).expect(200);
    await secondStep(other, { method: 'totp', code: codeOf(secret) }).expect(200);
    const told = await mail.mailOf(ada.email, 'second-factor-disabled', async () => {
      const answer = await browser.delete('/auth/two-factor/totp').expect(204);
      expect(sessionCookie(answer)?.value).toMatch(/^lks_/);
    });
    expect(told.url).toContain('token=');
    await other.get('/auth/me').expect(401);
    expect((await browser.get('/auth/me').expect(200)).body.session.aal).toBe(2);
    expect((await browser.get('/auth/two-factor')).body).toMatchObject({
      totp: false,
      recovery_codes_left: 0,
    });
    expect(events).toEqual([
      `second_factor.enabled ${userId} totp`,
      `second_factor.disabled ${userId}  totp`,
    ]);
    await firstStep(app.browser())
      .expect(200)
      .expect(/"session"/);
    await browser.delete('/auth/two-factor/totp').expect(204);
    expect(events).toHaveLength(2);
  });

  test('takes a session that has shown it, and lately', async () => {
    const { browser, secret, userId } = await withSecondFactor();
    const { token } = await app.auth.createSession(userId);
    const calls = [
      ['delete', '/auth/two-factor/totp'],
      ['post', '/auth/two-factor/recovery-codes'],
      ['post', '/auth/two-factor/totp'],
    ] as const;
    for (const [method, path] of calls) {
      const weak = await app.http[method](path).set('cookie', `latchkey=${token}`);
      expectProblem(weak, 403, 'second_factor_required');
    }
    await age(userId, 11);
    for (const [method, path] of calls)
      expectProblem(await browser[method](path), 403, 'reauthentication_required');
    await browser
      .post('/auth/reauthenticate')
      .send({ code: codeOf(secret) })
      .expect(204);
    await browser.post('/auth/two-factor/recovery-codes').expect(200);
    await browser.delete('/auth/two-factor/totp').expect(204);
    expect(await isOn(userId)).toBe(false);
  });

  test('of an account without one takes such a session too', async () => {
    const { browser } = await verified();
    expectProblem(await browser.delete('/auth/two-factor/totp'), 403, 'second_factor_required');
    expectProblem(await browser.post('/auth/two-factor/recovery-codes'), 403, 'second_factor_required');
    const { user, session } = (await browser.get('/auth/me')).body;
    await expect(
      app.auth.twoFactor.renewRecoveryCodes({ userId: user.id, sessionId: session.id }),
    ).rejects.toMatchObject({ code: 'totp_not_enabled', status: 409 });
  });
});

test('new recovery codes replace the earlier ones', async () => {
  const { browser, recoveryCodes } = await withSecondFactor();
  let renewed: string[] = [];
  await mail.mailOf(ada.email, 'recovery-codes-renewed', async () => {
    renewed = (await browser.post('/auth/two-factor/recovery-codes').expect(200)).body.recovery_codes;
  });
  expect(renewed).toHaveLength(10);
  const other = app.browser();
  await firstStep(other).expect(200);
  const code = recoveryCodes[3];
  expectProblem(await secondStep(other, { method: 'recovery_code', code }), 401, 'invalid_code');
  const told = await mail.mailOf(ada.email, 'recovery-code-used', () =>
    secondStep(other, { method: 'recovery_code', code: renewed[3] }).expect(200),
  );
  expect(told.url).toContain('token=');
  expect(events.at(-1)).toMatch(/^recovery_code.used /);
});

test('POST /reauthenticate takes a code or a recovery code, and the session gets a new token', async () => {
  const { browser, secret, recoveryCodes, userId } = await withSecondFactor();
  for (const proof of [{ code: codeOf(secret) }, { recovery_code: recoveryCodes[1] }]) {
    await age(userId, 60);
    const answer = await browser.post('/auth/reauthenticate').send(proof).expect(204);
    expect(sessionCookie(answer)?.value).toMatch(/^lks_/);
    expect((await browser.get('/auth/me')).body.session).toMatchObject({
      aal: 2,
      amr: ['pwd', 'otp', 'mfa'],
    });
    expectProblem(await browser.post('/auth/reauthenticate').send(proof), 401, 'invalid_code');
  }
  expect((await app.auth.twoFactor.status(userId)).recoveryCodesLeft).toBe(9);
});

test('an account without a second factor has no codes to reauthenticate with', async () => {
  const { browser } = await verified();
  for (const proof of [{ code: '123456' }, { recovery_code: '123456' }])
    expectProblem(await browser.post('/auth/reauthenticate').send(proof), 401, 'invalid_code');
});

test('GET /sign-in-methods says what there is', async () => {
  const { browser } = await withSecondFactor();
  expect((await browser.get('/auth/sign-in-methods').expect(200)).body).toEqual({
    password: true,
    totp: true,
    recovery_codes_left: 10,
  });
});

describe('an administrator', () => {
  test('switches it off for a user, who is told and signed out', async () => {
    const { browser, userId } = await withSecondFactor();
    const { browser: admin, userId: adminId } = await verified(boss);
    const path = `/auth/admin/users/${userId}/disable-second-factor`;
    const shown = async () => (await admin.get(`/auth/admin/users/${userId}`).expect(200)).body;
    expect(await shown()).toMatchObject({ second_factor: true, sign_in_methods: { totp: true } });
    await mail.mailOf(ada.email, 'second-factor-disabled', () => admin.post(path).expect(204));
    await browser.get('/auth/me').expect(401);
    expect(await isOn(userId)).toBe(false);
    expect(await shown()).toMatchObject({ second_factor: false, sign_in_methods: { totp: false } });
    expect(events.at(-1)).toBe(`second_factor.disabled ${userId} ${adminId} totp`);
    await admin.post(path).expect(204);
    expect(events).toHaveLength(2);
    const nobody = '/auth/admin/users/00000000-0000-7000-8000-000000000000/disable-second-factor';
    expectProblem(await admin.post(nobody), 404, 'user_not_found');
  });

  test('does not do so for the own account', async () => {
    const { browser, userId } = await withSecondFactor(boss);
    const path = `/auth/admin/users/${userId}/disable-second-factor`;
    expectProblem(await browser.post(path), 409, 'own_account');
    expect(await isOn(userId)).toBe(true);
  });
});

test('the route for administrators is there only with admin()', async () => {
  const { app: other } = { app: await startApp({ plugins: [password(), twoFactor()] }) };
  try {
    const paths = Object.keys(other.auth.openapi().paths);
    expect(paths.filter((path) => /second-factor/.test(path))).toEqual([
      '/signin/second-factor',
      '/signin/second-factor/send',
    ]);
  } finally {
    await other.stop();
  }
});

test('it goes with the account', async () => {
  const { browser } = await withSecondFactor();
  await firstStep(app.browser()).expect(200);
  await browser.delete('/auth/me').expect(204);
  for (const table of ['users', 'totp_secrets', 'totp_enrolments', 'recovery_codes', 'unfinished_sign_ins'])
    expect(await rows(app.database, `SELECT * FROM ${table}`)).toEqual([]);
});

describe('undoing a change', () => {
  const undo = () => {
    const { core } = internalsOf(app.auth);
    const way = core.contributions.find((one) => one.undo?.name === 'two-factor')?.undo;
    if (!way) throw new Error('no way back');
    return { core, way };
  };
  const snapshotOf = (userId: string) => {
    const { core, way } = undo();
    return core.database.transaction((transaction) => way.snapshot(userId, transaction));
  };
  const thenOf = (record: UserRecord, part: unknown) => ({
    record,
    at: new Date(),
    later: [],
    part: JSON.parse(JSON.stringify(part)),
  });
  const restore = async (userId: string, part: unknown) => {
    const { core, way } = undo();
    await core.database.transaction(async (transaction) => {
      const record = await core.users.lock(userId, transaction);
      if (record) await way.restore(thenOf(record, part), transaction, null);
    });
  };

  test('puts the second factor back as it was', async () => {
    const { browser, secret, recoveryCodes, userId } = await withSecondFactor();
    const part = await snapshotOf(userId);
    await browser.delete('/auth/two-factor/totp').expect(204);
    const replaced = await enroll(browser);
    await restore(userId, part);
    const other = app.browser();
    await firstStep(other).expect(200);
    for (const code of [codeOf(secret), codeOf(replaced.secret, 1)])
      expectProblem(await secondStep(other, { method: 'totp', code }), 401, 'invalid_code');
    await secondStep(other, { method: 'totp', code: codeOf(secret, 1) }).expect(200);
    await firstStep(other).expect(200);
    const replacedCode = { method: 'recovery_code', code: replaced.recoveryCodes[0] };
    expectProblem(await secondStep(other, replacedCode), 401, 'invalid_code');
    await secondStep(other, { method: 'recovery_code', code: recoveryCodes[0] }).expect(200);
  });

  test('takes away one that was not there, and ends what is in progress', async () => {
    const { browser, userId } = await verified();
    const part = await snapshotOf(userId);
    expect(part).toBeNull();
    await enroll(browser);
    await browser.post('/auth/two-factor/totp').expect(201);
    const other = app.browser();
    await firstStep(other).expect(200);
    await restore(userId, part);
    expect(await isOn(userId)).toBe(false);
    expect(await rows(app.database, 'SELECT * FROM totp_enrolments')).toEqual([]);
    expect(await rows(app.database, 'SELECT * FROM unfinished_sign_ins')).toEqual([]);
    expect((await firstStep(app.browser()).expect(200)).body.session).toMatchObject({ aal: 1 });
  });

  test('takes a code of then as a proof', async () => {
    const { browser, secret, recoveryCodes, userId } = await withSecondFactor();
    const part = await snapshotOf(userId);
    await browser.delete('/auth/two-factor/totp').expect(204);
    const replaced = await enroll(browser);
    const { core, way } = undo();
    const record = (await core.users.findRecord({ id: userId }))!;
    const proves = (proof: Record<string, string>, of: unknown = part) =>
      way.proof?.verify(thenOf(record, of), proof, 'link').catch(({ code }) => code);
    expect(way.proof?.isThere(thenOf(record, part))).toBe(true);
    expect(await proves({ code: codeOf(secret) })).toMatchObject({ step: expect.any(Number) });
    const recoveryCode = { recovery_code: String(recoveryCodes[0]) };
    expect(await proves(recoveryCode)).toMatchObject({ recoveryCode: expect.anything() });
    expect(await proves({ code: codeOf(replaced.secret) })).toBe('invalid_code');
    expect(await proves({ recovery_code: String(replaced.recoveryCodes[0]) })).toBe('invalid_code');
    expect(way.proof?.isThere(thenOf(record, null))).toBe(false);
    expect(await proves({ code: codeOf(secret) }, null)).toBe('invalid_code');
  });
});
