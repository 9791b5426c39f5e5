import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { emailSignIn, passkeys, twoFactor } from '../../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../../support/app.js';
import { mailbox } from '../../support/mailbox.js';
import { addPasskey, authenticator, optionsOf, PAGE, signInWith } from '../../support/passkeys.js';
import { expectProblem } from '../../support/problem.js';
import { secondStep } from '../../support/two-factor.js';

// An account without a password, whose owner has lost the passkey and has the mailbox.
const plugins = [password(), emailSignIn({ signUp: true }), passkeys(), twoFactor()] as const;
let app: SpecApp<typeof plugins>;
let mails: ReturnType<typeof mailbox>;
let browser: ReturnType<typeof app.browser>;
let lost: string;
beforeEach(async () => {
  mails = mailbox();
  app = await startApp({ plugins, config: { baseUrl: PAGE, email: { send: mails.send } } });
  browser = app.browser();
  await signIn(browser).expect(200);
  lost = (await addPasskey(browser, authenticator())).id;
});
afterEach(() => app.stop());

type Browser = ReturnType<typeof app.browser>;
let code: string;
/** Signs in with an emailed code. */
function signIn(one: Browser) {
  const ask = async () => {
    const request = () => one.post('/auth/signin/email').send({ email: ada.email }).expect(202);
    ({ code } = await mails.mailOf(ada.email, 'sign-in-code', request));
  };
  return {
    expect: async (status: number) => {
      await ask();
      return one.post('/auth/signin/email/confirm').send({ code }).expect(status);
    },
  };
}

test('comes back by mail, chooses a password, and replaces the passkey', async () => {
  const elsewhere = app.browser();
  const { session } = (await signIn(elsewhere).expect(200)).body;
  expect(session).toMatchObject({ aal: 1, amr: ['email'] });
  // The mailbox alone changes no way to sign in.
  for (const refused of [
    await elsewhere.delete(`/auth/passkeys/${lost}`),
    await elsewhere.post('/auth/passkeys/options').send({}),
    await elsewhere.put('/auth/passwords').send({ new_password: ada.password }),
  ])
    expectProblem(refused, 403, 'reauthentication_required');
  expectProblem(await elsewhere.post('/auth/reauthenticate/email'), 409, 'email_code_not_offered');

  const ask = () => elsewhere.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202);
  const { token } = await mails.mailOf(ada.email, 'reset-password', ask);
  await elsewhere.post('/auth/passwords/reset').send({ token, new_password: ada.password }).expect(204);
  await elsewhere
    .post('/auth/signin/credential')
    .send({ credential: ada.email, password: ada.password })
    .expect(200);
  const device = authenticator();
  await addPasskey(elsewhere, device);
  await elsewhere.delete(`/auth/passkeys/${lost}`).expect(204);
  expect((await signInWith(app.browser(), device)).body.session.aal).toBe(2);
});

test('comes back with a recovery code, if the passkey was the second factor', async () => {
  const recoveryCodes = (await browser.put('/auth/two-factor/passkeys').send({ on: true }).expect(200)).body
    .recovery_codes;
  const elsewhere = app.browser();
  const { second_factor } = (await signIn(elsewhere).expect(200)).body;
  expect(second_factor.methods).toEqual(['recovery_code', 'passkey']);
  const proof = { method: 'recovery_code', code: recoveryCodes[0] };
  expect((await secondStep(elsewhere, proof).expect(200)).body.session.aal).toBe(2);
  const device = authenticator();
  const response = device.create(await optionsOf(elsewhere, '/passkeys/options'));
  await elsewhere.post('/auth/passkeys').send({ response }).expect(201);
  await elsewhere.delete(`/auth/passkeys/${lost}`).expect(204);
  expect((await elsewhere.get('/auth/two-factor')).body).toMatchObject({
    passkeys: true,
    recovery_codes_left: 9,
  });
});
