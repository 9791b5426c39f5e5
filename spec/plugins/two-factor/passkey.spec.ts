import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { passkeys, twoFactor } from '../../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../../support/app.js';
import { addPasskey, authenticator, optionsOf, PAGE, signInWith } from '../../support/passkeys.js';
import { expectProblem } from '../../support/problem.js';
import {
  codeOf,
  firstStep,
  forgetSteps,
  type Protected,
  secondStep,
  withSecondFactor,
  wrongCode,
} from '../../support/two-factor.js';

// A passkey as the second step.
const plugins = [password(), twoFactor(), passkeys()] as const;
const PATH = '/signin/second-factor/options';
const device = authenticator();
let app: SpecApp<typeof plugins>;
let owner: Protected;
beforeAll(async () => {
  app = await startApp({ plugins, config: { baseUrl: PAGE, bearerEnabled: true } });
  owner = await withSecondFactor(app);
  await addPasskey(owner.browser, device);
});
afterAll(() => app.stop());

test('completes a sign-in', async () => {
  const browser = app.browser();
  const { body } = await firstStep(browser).expect(200);
  expect(body.second_factor.methods).toEqual(['totp', 'recovery_code', 'passkey']);
  const response = device.get(await optionsOf(browser, PATH));
  const answer = await secondStep(browser, { method: 'passkey', response }).expect(200);
  expect(answer.body.session.aal).toBe(2);
  expect(answer.body.session.amr).toEqual(expect.arrayContaining(['pwd', 'mfa']));
});

test('of a client without cookies completes it too', async () => {
  const { pending_token } = (await firstStep(app.browser()).expect(200)).body.second_factor;
  const asked = await app.http.post(`/auth${PATH}`).send({ pending_token }).expect(200);
  expect(asked.body.pending_token).toBe(pending_token);
  const response = device.get(asked.body.options);
  await app.http
    .post('/auth/signin/second-factor')
    .send({ method: 'passkey', response, pending_token })
    .expect(200);
});

test('belongs to its sign-in', async () => {
  const [browser, other] = [app.browser(), app.browser()];
  await firstStep(browser).expect(200);
  await firstStep(other).expect(200);
  const response = device.get(await optionsOf(other, PATH));
  expectProblem(await secondStep(browser, { method: 'passkey', response }), 401, 'invalid_passkey');
  expectProblem(await app.http.post(`/auth${PATH}`).send({}), 401, 'sign_in_expired');
  expectProblem(
    await secondStep(browser, { method: 'passkey', response, code: '123456' }),
    422,
    'validation_failed',
  );
});

describe('after too many wrong codes, those of the app are accepted again after', () => {
  beforeEach(async () => {
    await app.auth.models.TotpSecret.update({ wrongCodes: 100, lastStep: 0 }, { where: {} });
    const { body } = await firstStep(app.browser()).expect(200);
    expect(body.second_factor.methods).toEqual(['recovery_code', 'passkey']);
  });
  afterEach(async () => {
    const browser = app.browser();
    const { body } = await firstStep(browser).expect(200);
    expect(body.second_factor.methods).toEqual(['totp', 'recovery_code', 'passkey']);
    await secondStep(browser, { method: 'totp', code: codeOf(owner.secret) }).expect(200);
  });

  test('a sign-in with a passkey', async () => {
    expect((await signInWith(app.browser(), device)).status).toBe(200);
  });

  test('reauthenticating with a passkey', async () => {
    const browser = app.browser();
    await signInWith(browser, device);
    await app.auth.models.TotpSecret.update({ wrongCodes: 100 }, { where: {} });
    const passkey = device.get(await optionsOf(browser, '/reauthenticate/options'));
    await browser.post('/auth/reauthenticate').send({ passkey }).expect(204);
  });
});

test('lets codes of the app in again, after too many wrong ones', async () => {
  await app.auth.models.TotpSecret.update({ wrongCodes: 100 }, { where: {} });
  const browser = app.browser();
  const { body } = await firstStep(browser, ada).expect(200);
  expect(body.second_factor.methods).toEqual(['recovery_code', 'passkey']);
  await secondStep(browser, { method: 'totp', code: wrongCode(owner.secret) }).expect(401);
  const response = device.get(await optionsOf(browser, PATH));
  await secondStep(browser, { method: 'passkey', response }).expect(200);
  await forgetSteps(app);
  await firstStep(browser).expect(200);
  await secondStep(browser, { method: 'totp', code: codeOf(owner.secret) }).expect(200);
});
