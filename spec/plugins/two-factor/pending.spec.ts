import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { admin, suspension, twoFactor } from '../../../lib/index.js';
import { ada, password, type SpecApp, sessionCookie, startApp } from '../../support/app.js';
import { expectProblem } from '../../support/problem.js';
import { codeOf, firstStep, type Protected, secondStep, withSecondFactor } from '../../support/two-factor.js';

// What a pending sign-in is good for: one sign-in of its user, for ten minutes, and nothing else.
const plugins = [
  password(),
  twoFactor(),
  suspension(),
  admin({ adminEmails: ['admin@example.com'] }),
] as const;
let app: SpecApp<typeof plugins>;
let owner: Protected;
let browser: ReturnType<typeof app.browser>;
beforeEach(async () => {
  app = await startApp({ plugins, config: { bearerEnabled: true } });
  owner = await withSecondFactor(app);
  browser = app.browser();
});
afterEach(() => app.stop());

const complete = () => secondStep(browser, { method: 'totp', code: codeOf(owner.secret) });

describe('it ends with', () => {
  test.each<[string, () => PromiseLike<unknown>]>([
    ['a revoke-all', () => owner.browser.post('/auth/revoke-sessions').expect(200)],
    [
      'a new password',
      () =>
        owner.browser
          .post('/auth/passwords/change')
          .send({ current_password: ada.password, new_password: 'a difference engine' })
          .expect(200),
    ],
    [
      'a first password, which ends no session',
      async () => {
        await app.auth.models.User.update({ passwordHash: null }, { where: { id: owner.userId } });
        const set = { new_password: 'a difference engine' };
        await owner.browser.put('/auth/passwords').send(set).expect(204);
        await owner.browser.get('/auth/me').expect(200);
      },
    ],
    ['a password set by code', () => app.auth.users.setPassword(owner.userId, 'a difference engine')],
    [
      'a password set by code that keeps sessions',
      () => app.auth.users.setPassword(owner.userId, 'a difference engine', { keepSessions: true }),
    ],
    ['a suspension', () => app.auth.suspension.suspend(owner.userId)],
    ['the second factor', () => app.auth.twoFactor.disable(owner.userId)],
    ['signing out in that browser', () => browser.post('/auth/signout').expect(204)],
    ['its user', () => app.auth.users.delete(owner.userId)],
    [
      'its ten minutes',
      () =>
        app.auth.models.UnfinishedSignIn.update({ expiresAt: new Date(Date.now() - 1000) }, { where: {} }),
    ],
  ])('%s', async (_what, end) => {
    await firstStep(browser).expect(200);
    await end();
    expectProblem(await complete(), 401, 'sign_in_expired');
  });

  test('its completion', async () => {
    const token = (await firstStep(browser).expect(200)).body.second_factor.pending_token;
    await complete().expect(200);
    const again = { method: 'recovery_code', code: owner.recoveryCodes[0], pending_token: token };
    expectProblem(await app.http.post('/auth/signin/second-factor').send(again), 401, 'sign_in_expired');
  });
});

test('there must be one, of the right form', async () => {
  expectProblem(await complete(), 401, 'sign_in_expired');
  for (const pending_token of ['junk', `lkp_${'A'.repeat(48)}`]) {
    const answer = await secondStep(browser, { method: 'totp', code: '123456', pending_token });
    expectProblem(answer, 401, 'sign_in_expired');
  }
});

test('a body without a code, or with what does not belong there, is refused', async () => {
  await firstStep(browser).expect(200);
  for (const body of [
    {},
    { method: 'totp' },
    { method: 'totp', code: 123456 },
    { method: 'totp', code: '' },
    { method: 'totp', code: ['123456'] },
    { method: 'password', code: '123456' },
    { method: 'passkey', response: {} },
    { method: 'totp', code: '123456', user_id: owner.userId },
  ])
    expectProblem(await secondStep(browser, body), 422, 'validation_failed');
  await complete().expect(200);
});

test('a client without cookies sends the token', async () => {
  const { body } = await firstStep(browser).expect(200);
  const { pending_token } = body.second_factor;
  const code = codeOf(owner.secret);
  const answer = await app.http
    .post('/auth/signin/second-factor')
    .send({ method: 'totp', code, pending_token })
    .expect(200);
  await app.http
    .get('/auth/me')
    .set('authorization', `Bearer ${answer.headers['set-auth-token']}`)
    .expect(200);
});

test('a cookie and a token that differ are refused, and equal ones are not', async () => {
  const other = (await firstStep(app.browser()).expect(200)).body.second_factor.pending_token;
  const own = (await firstStep(browser).expect(200)).body.second_factor.pending_token;
  const code = codeOf(owner.secret);
  const differing = await secondStep(browser, { method: 'totp', code, pending_token: other });
  expectProblem(differing, 401, 'sign_in_expired');
  const tossed = await app.http
    .post('/auth/signin/second-factor')
    .set('cookie', `latchkey-pending=${own}; latchkey-pending=${other}`)
    .send({ method: 'totp', code });
  expectProblem(tossed, 401, 'sign_in_expired');
  await secondStep(browser, { method: 'totp', code, pending_token: own }).expect(200);
});

test('it opens no route, whichever way it is sent', async () => {
  const { pending_token: token } = (await firstStep(browser).expect(200)).body.second_factor;
  for (const header of [{ cookie: `latchkey=${token}` }, { authorization: `Bearer ${token}` }])
    for (const path of ['/auth/me', '/auth/sessions', '/auth/two-factor'])
      expectProblem(await app.http.get(path).set(header), 401, 'invalid_session');
  expectProblem(await browser.post('/auth/two-factor/totp'), 401, 'unauthenticated');
});

test('its user is who signed in, whoever is signed in there', async () => {
  const eve = { email: 'eve@example.com', password: 'listening to others' };
  await browser.post('/auth/signup/credential').send(eve).expect(201);
  const before = await firstStep(browser, eve).expect(200);
  await firstStep(browser).expect(200);
  expect((await browser.get('/auth/me').expect(200)).body.user.email).toBe(eve.email);
  const answer = await complete().expect(200);
  expect(answer.body.user.email).toBe(ada.email);
  // The session that the browser carried ends, as with any sign-in.
  const cookie = `latchkey=${sessionCookie(before)?.value}`;
  expectProblem(await app.http.get('/auth/me').set('cookie', cookie), 401, 'invalid_session');
});

test('a form without JavaScript gives both factors', async () => {
  const { email: credential, password } = ada;
  await browser.post('/auth/signin/credential').type('form').send({ credential, password }).expect(303);
  const fields = { method: 'totp', redirect_to: '/home', error_to: '/second-factor' };
  await browser
    .post('/auth/signin/second-factor')
    .type('form')
    .send({ ...fields, code: 'junk' })
    .expect(303)
    .expect('location', '/second-factor?error=invalid_code');
  await browser
    .post('/auth/signin/second-factor')
    .type('form')
    .send({ ...fields, code: codeOf(owner.secret) })
    .expect(303)
    .expect('location', '/home');
  expect((await browser.get('/auth/me').expect(200)).body.user.email).toBe(ada.email);
});
