import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { apiKeys, twoFactor } from '../../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../../support/app.js';
import { beforeChange } from '../../support/changes.js';
import { rows } from '../../support/database.js';
import { proveMailbox } from '../../support/email-proof.js';
import { mailbox } from '../../support/mailbox.js';
import { expectProblem } from '../../support/problem.js';
import { codeOf, enroll, firstStep, forgetSteps, secondStep } from '../../support/two-factor.js';

const plugins = () => [password(), twoFactor(), apiKeys()] as const;

let app: SpecApp<ReturnType<typeof plugins>>;
let mails: ReturnType<typeof mailbox>;
beforeEach(async () => {
  mails = mailbox();
  const config = { baseUrl: 'http://app.example.com', email: { send: mails.send } };
  app = await startApp({ plugins: plugins(), config });
});
afterEach(() => app.stop());

/** Ada, with a second factor, in the browser that switched it on. */
const withSecondFactor = async () => {
  const { id } = await app.auth.users.create(ada);
  await proveMailbox(app.auth, id);
  const browser = app.browser();
  await firstStep(browser).expect(200);
  const enrolled = await enroll(browser);
  await forgetSteps(app);
  return { browser, ...enrolled };
};
/** In the browser in which Ada first signed in. */
const undo = (browser: ReturnType<typeof app.browser>, body: object) =>
  browser.post('/auth/undo-change').send({ password: ada.password, ...body });
/** Sets the password by the link that follows an undo, which is the user's own change. */
const reset = async (userId: string) => {
  const { token } = await mails.mailOf(ada.email, 'reset-password', () =>
    app.auth.credential.requestPasswordReset({ email: ada.email }),
  );
  await app.auth.credential.resetPassword({ token, newPassword: 'a difference engine' });
  await app.auth.revokeAllSessions(userId);
};
const hasSignedIn = async (code: string) => {
  const browser = app.browser();
  await firstStep(browser, { ...ada, password: 'a difference engine' }).expect(200);
  return (await secondStep(browser, { method: 'recovery_code', code })).status;
};

test('an undo puts back the codes that nobody has used, and no others', async () => {
  const { browser, userId, recoveryCodes } = await withSecondFactor();
  const [stolen, proof, proof2, ...left] = recoveryCodes as [string, string, string, ...string[]];
  const earliest = await beforeChange(app.auth, userId);
  const token = await beforeChange(app.auth, userId);
  await browser.post('/auth/reauthenticate').send({ recovery_code: stolen }).expect(204);
  await browser.post('/auth/two-factor/recovery-codes').expect(200);
  for (const [link, code] of [
    [token, proof],
    [earliest, proof2],
  ]) {
    await undo(browser, { token: link, recovery_code: code }).expect(200);
    await reset(userId);
    expect(await app.auth.twoFactor.status(userId)).toMatchObject({
      totp: true,
      recoveryCodesLeft: link === token ? 8 : 7,
    });
  }
  for (const used of [stolen, proof, proof2]) expect(await hasSignedIn(used)).toBe(401);
  for (const code of left.slice(0, 2)) expect(await hasSignedIn(code)).toBe(200);
});

test('what is remembered of used codes goes when no undo needs it any more', async () => {
  const { browser, userId, recoveryCodes } = await withSecondFactor();
  await browser.post('/auth/reauthenticate').send({ recovery_code: recoveryCodes[0] }).expect(204);
  const count = async () => (await rows(app.database, 'SELECT user_id FROM recovery_codes')).length;
  expect(await app.auth.prune()).toBe(0);
  expect(await count()).toBe(10);
  await rows(app.database, 'UPDATE recovery_codes SET used_at = :at WHERE used_at IS NOT NULL', {
    at: new Date(Date.now() - 8 * 24 * 60 * 60 * 1000),
  });
  expect(await app.auth.prune()).toBe(1);
  expect(await count()).toBe(9);
  await browser.post('/auth/reauthenticate').send({ recovery_code: recoveryCodes[1] }).expect(204);
  await app.auth.users.delete(userId);
  expect(await count()).toBe(0);
});

test('a code of the app that was a proof is not taken again', async () => {
  const { browser: known, userId, secret } = await withSecondFactor();
  const token = await beforeChange(app.auth, userId);
  const code = codeOf(secret);
  await undo(known, { token, code }).expect(200);
  await app.auth.users.setPassword(userId, 'a difference engine');
  const browser = app.browser();
  await firstStep(browser, { ...ada, password: 'a difference engine' }).expect(200);
  expectProblem(await secondStep(browser, { method: 'totp', code }), 401, 'invalid_code');
});
