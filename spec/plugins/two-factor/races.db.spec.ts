import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { twoFactor } from '../../../lib/index.js';
import { password, type SpecApp, signedIn, startApp } from '../../support/app.js';
import { codeOf, firstStep, secondStep, withSecondFactor } from '../../support/two-factor.js';

// What can be used once is used once, however many requests try at the same time.
let app: SpecApp<readonly [ReturnType<typeof password>, ReturnType<typeof twoFactor>]>;
beforeEach(async () => {
  app = await startApp({ plugins: [password(), twoFactor()] });
});
afterEach(() => app.stop());

const SIXTEEN = Array.from({ length: 16 }, (_, index) => index);

/** Sixteen browsers that have given the first factor. */
async function pendingBrowsers() {
  const browsers = SIXTEEN.map(() => app.browser());
  for (const browser of browsers) await firstStep(browser).expect(200);
  return browsers;
}

/** The statuses and codes of responses, and how often each came. */
async function outcomesOf(answers: PromiseLike<{ status: number; body: { code?: string } }>[]) {
  const counts: Record<string, number> = {};
  for (const { status, body } of await Promise.all(answers)) {
    const outcome = `${status} ${body?.code ?? ''}`.trim();
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

const liveSessions = async (userId: string) => (await app.auth.listSessions(userId)).length;

test('of 16 equal codes of the app in 16 browsers, one signs in', async () => {
  const { secret, userId } = await withSecondFactor(app);
  const browsers = await pendingBrowsers();
  const code = codeOf(secret);
  const answers = browsers.map((browser) => secondStep(browser, { method: 'totp', code }));
  expect(await outcomesOf(answers)).toEqual({ 200: 1, '401 invalid_code': 15 });
  expect(await liveSessions(userId)).toBe(2);
});

test('of 16 equal recovery codes in 16 browsers, one signs in', async () => {
  const { recoveryCodes, userId } = await withSecondFactor(app);
  const browsers = await pendingBrowsers();
  const answers = browsers.map((browser) =>
    secondStep(browser, { method: 'recovery_code', code: recoveryCodes[0] }),
  );
  expect(await outcomesOf(answers)).toEqual({ 200: 1, '401 invalid_code': 15 });
  expect(await app.auth.twoFactor.status(userId)).toMatchObject({ totp: true, recoveryCodesLeft: 9 });
});

test('a pending sign-in is completed once, and only what completed it is used up', async () => {
  const { recoveryCodes, userId } = await withSecondFactor(app);
  const browser = app.browser();
  await firstStep(browser).expect(200);
  const answers = recoveryCodes.map((code) => secondStep(browser, { method: 'recovery_code', code }));
  expect(await outcomesOf(answers)).toEqual({ 200: 1, '401 sign_in_expired': 9 });
  expect(await app.auth.twoFactor.status(userId)).toMatchObject({ totp: true, recoveryCodesLeft: 9 });
  expect(await liveSessions(userId)).toBe(2);
});

test('of 16 equal codes in POST /reauthenticate, one counts', async () => {
  const { browser, secret } = await withSecondFactor(app);
  const { token } = await app.auth.createSession((await browser.get('/auth/me')).body.user.id);
  const code = codeOf(secret);
  const answers = SIXTEEN.map(() =>
    app.http.post('/auth/reauthenticate').set('cookie', `latchkey=${token}`).send({ code }),
  );
  const outcomes = await outcomesOf(answers);
  // The one that counts gives the session a new token, which the slower ones do not have.
  expect(outcomes['204']).toBe(1);
  expect((outcomes['401 invalid_code'] ?? 0) + (outcomes['401 invalid_session'] ?? 0)).toBe(15);
});

test('of 16 equal confirmations, one makes recovery codes', async () => {
  const browser = await signedIn(app);
  const { body } = await browser.post('/auth/two-factor/totp').expect(201);
  const answers = SIXTEEN.map(() =>
    browser.post('/auth/two-factor/totp/confirm').send({ code: codeOf(body.secret) }),
  );
  const outcomes = await outcomesOf(answers);
  expect(outcomes['200']).toBe(1);
  expect(Object.keys(outcomes).filter((outcome) => !/^(200|401 .*|403 .*)$/.test(outcome))).toEqual([]);
});
