import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { passkeys, twoFactor } from '../../../lib/index.js';
import { ada, password } from '../../support/app.js';
import { proveMailbox } from '../../support/email-proof.js';
import { type MailApp, startMailApp } from '../../support/mail-app.js';
import { mailbox } from '../../support/mailbox.js';
import { addPasskey, authenticator, PAGE } from '../../support/passkeys.js';
import { codeOf, enroll, firstStep, forgetSteps, secondStep } from '../../support/two-factor.js';

const plugins = [password(), twoFactor(), passkeys()] as const;
const NEW = 'a difference engine';

let app: MailApp<typeof plugins>;
let mail: ReturnType<typeof mailbox>;
beforeEach(async () => {
  mail = mailbox();
  app = await startMailApp({ plugins, config: { baseUrl: PAGE, email: { send: mail.send } } });
});
afterEach(() => app.stop());

/** A user whose email the app has verified, with an authenticator app and a passkey. */
async function verifiedByTheApp() {
  const browser = app.browser();
  const { id } = await app.auth.users.create(ada);
  await app.auth.markEmailVerified(id);
  await firstStep(browser).expect(200);
  const device = authenticator();
  await addPasskey(browser, device);
  const enrolled = await enroll(browser);
  await forgetSteps(app);
  return { id, browser, ...enrolled };
}

/** The account as it would be if the app had let the user set up the second factor without a verified email. */
async function neverVouchedFor(id: string): Promise<void> {
  await app.auth.models.User.update(
    { emailVerifiedAt: null, emailProof: 'none', emailVouchedAt: null },
    { where: { id } },
  );
}

async function reset(email = ada.email) {
  const { token } = await mail.mailOf(email, 'reset-password', () =>
    app.http.post('/auth/passwords/request-reset').send({ email }).expect(202),
  );
  await app.http.post('/auth/passwords/reset').send({ token, new_password: NEW }).expect(204);
}

describe('the first access to the mailbox', () => {
  test('of an account whose email the app has verified keeps the second factor', async () => {
    const { id, secret, recoveryCodes } = await verifiedByTheApp();
    await reset();
    expect(await app.auth.twoFactor.status(id)).toMatchObject({ totp: true, recoveryCodesLeft: 10 });
    // Who has the mailbox alone does not get in.
    const browser = app.browser();
    const { body } = await firstStep(browser, { email: ada.email, password: NEW }).expect(200);
    expect(body.second_factor.methods).toEqual(['totp', 'recovery_code']);
    await secondStep(browser, { method: 'totp', code: codeOf(secret) }).expect(200);
    await firstStep(browser, { email: ada.email, password: NEW }).expect(200);
    await secondStep(browser, { method: 'recovery_code', code: recoveryCodes[0] }).expect(200);
  });

  test('ends the passkeys from before, as other ways in', async () => {
    const { id } = await verifiedByTheApp();
    expect(await app.auth.passkeys.list(id)).toHaveLength(1);
    await reset();
    expect(await app.auth.passkeys.list(id)).toEqual([]);
  });

  test('of an account for whose email nobody has ever vouched ends the second factor that was set up under it', async () => {
    const { id } = await verifiedByTheApp();
    await neverVouchedFor(id);
    await reset();
    expect(await app.auth.twoFactor.status(id)).toMatchObject({ totp: false, recoveryCodesLeft: 0 });
    const { body } = await firstStep(app.browser(), { email: ada.email, password: NEW }).expect(200);
    expect(body.session).toMatchObject({ aal: 1 });
  });

  test.each([
    ['the app', (id: string) => app.auth.markEmailVerified(id)],
    ['its user', (id: string) => proveMailbox(app.auth, id)],
  ])('of an address that nobody knows keeps it if %s had proved an earlier one', async (_who, prove) => {
    const { id } = await verifiedByTheApp();
    await neverVouchedFor(id);
    await prove(id);
    await app.auth.users.changeEmail(id, 'lovelace@example.com');
    await app.auth.users.changeEmail(id, ada.email);
    await reset();
    expect(await app.auth.twoFactor.status(id)).toMatchObject({ totp: true, recoveryCodesLeft: 10 });
  });

  test('keeps it if it was set up under an earlier address, though nobody has vouched for any', async () => {
    const { id } = await verifiedByTheApp();
    await neverVouchedFor(id);
    await app.auth.users.changeEmail(id, 'lovelace@example.com');
    await reset('lovelace@example.com');
    expect(await app.auth.twoFactor.status(id)).toMatchObject({ totp: true, recoveryCodesLeft: 10 });
  });

  test('keeps passkeys that were a second factor under an earlier address', async () => {
    const { id, browser } = await verifiedByTheApp();
    await browser.put('/auth/two-factor/passkeys').send({ on: true }).expect(200);
    await neverVouchedFor(id);
    await app.auth.users.changeEmail(id, 'lovelace@example.com');
    await reset('lovelace@example.com');
    expect(await app.auth.passkeys.list(id)).toHaveLength(1);
    expect(await app.auth.twoFactor.status(id)).toMatchObject({ totp: true, passkeys: true });
  });
});

describe('the first access to the mailbox of an account that had a username only', () => {
  test('keeps the second factor', async () => {
    await app.stop();
    app = await startMailApp({
      plugins: [password({ identifier: 'either' }), twoFactor(), passkeys()],
      config: { baseUrl: PAGE, email: { send: mail.send } },
    });
    const browser = app.browser();
    const { id } = await app.auth.users.create({ username: 'ada', password: ada.password });
    await browser
      .post('/auth/signin/credential')
      .send({ credential: 'ada', password: ada.password })
      .expect(200);
    await enroll(browser);
    await app.auth.users.changeEmail(id, ada.email);
    await reset();
    expect(await app.auth.twoFactor.status(id)).toMatchObject({ totp: true, recoveryCodesLeft: 10 });
  });
});
