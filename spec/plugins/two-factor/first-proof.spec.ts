import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { passkeys, twoFactor } from '../../../lib/index.js';
import { ada, password } from '../../support/app.js';
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

async function reset() {
  const { token } = await mail.mailOf(ada.email, 'reset-password', () =>
    app.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202),
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

  test('of an account whose email nobody has verified ends the second factor too', async () => {
    const { id } = await verifiedByTheApp();
    await app.auth.users.changeEmail(id, 'lovelace@example.com');
    await app.auth.users.changeEmail(id, ada.email);
    await reset();
    expect(await app.auth.twoFactor.status(id)).toMatchObject({ totp: false, recoveryCodesLeft: 0 });
    const { body } = await firstStep(app.browser(), { email: ada.email, password: NEW }).expect(200);
    expect(body.session).toMatchObject({ aal: 1 });
  });
});
