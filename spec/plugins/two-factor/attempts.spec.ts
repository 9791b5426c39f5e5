import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { admin, twoFactor } from '../../../lib/index.js';
import { ada, memoryLogger, password, type SpecApp, signedIn, startApp } from '../../support/app.js';
import { mailbox } from '../../support/mailbox.js';
import { expectProblem } from '../../support/problem.js';
import {
  codeOf,
  enroll,
  firstStep,
  forgetSteps,
  secondStep,
  withSecondFactor,
  wrongCode,
} from '../../support/two-factor.js';

const plugins = [password(), twoFactor(), admin({ adminEmails: ['admin@example.com'] })] as const;

let app: SpecApp<typeof plugins>;
afterEach(() => app.stop());

describe('with limits', () => {
  let events: string[];
  beforeEach(async () => {
    const rateLimit = {
      signIn: false,
      signUp: false,
      account: { failures: 5, firstPause: 60, maxPause: 60 },
    } as const;
    app = await startApp({ plugins, config: { rateLimit } });
    events = [];
    app.auth.on('sign_in.failed', () => events.push('failed'));
    app.auth.on('sign_in.throttled', () => events.push('throttled'));
  });

  test('of 100 wrong codes at once, in several sign-ins, five are looked at', async () => {
    const { secret } = await withSecondFactor(app);
    const browsers = Array.from({ length: 4 }, () => app.browser());
    for (const browser of browsers) await firstStep(browser).expect(200);
    const code = wrongCode(secret);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        secondStep(browsers[index % 4] as never, { method: 'totp', code }),
      ),
    );
    const codes = answers.map(({ body }) => body.code);
    expect(codes.filter((one) => one === 'invalid_code')).toHaveLength(5);
    expect(codes.filter((one) => one === 'rate_limited')).toHaveLength(95);
    expect(events.filter((one) => one === 'failed')).toHaveLength(5);
    expect(events.filter((one) => one === 'throttled')).toHaveLength(1);
  });

  test('one count for sign-ins, reauthentication and confirmations, which no password clears', async () => {
    const { browser, secret } = await withSecondFactor(app);
    const other = app.browser();
    const code = wrongCode(secret);
    await firstStep(other).expect(200);
    await secondStep(other, { method: 'totp', code }).expect(401);
    await firstStep(other).expect(200);
    await secondStep(other, { method: 'totp', code }).expect(401);
    // These cannot be guessed.
    for (let count = 0; count < 5; count++)
      await secondStep(other, { method: 'recovery_code', code }).expect(401);
    await browser.post('/auth/two-factor/totp').expect(201);
    await browser.post('/auth/two-factor/totp/confirm').send({ code }).expect(401);
    await browser.post('/auth/reauthenticate').send({ code }).expect(401);
    await browser.post('/auth/reauthenticate').send({ recovery_code: code }).expect(401);
    await browser.post('/auth/reauthenticate').send({ code }).expect(401);
    await firstStep(other).expect(200);
    const refused = await secondStep(other, { method: 'totp', code: codeOf(secret) });
    expectProblem(refused, 429, 'rate_limited');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50);
    expectProblem(
      await browser.post('/auth/reauthenticate').send({ code: codeOf(secret) }),
      429,
      'rate_limited',
    );
  });

  test('a right code clears it, also if the sign-in is then refused', async () => {
    const { secret } = await withSecondFactor(app);
    const other = app.browser();
    const code = wrongCode(secret);
    for (let round = 0; round < 3; round++) {
      await forgetSteps(app);
      await firstStep(other).expect(200);
      for (let count = 0; count < 4; count++) await secondStep(other, { method: 'totp', code }).expect(401);
      await secondStep(other, { method: 'totp', code: codeOf(secret) }).expect(200);
    }
  });

  test('the right password gives its own try back, and a completed sign-in clears the wrong ones', async () => {
    const { secret } = await withSecondFactor(app);
    const other = app.browser();
    const wrong = { ...ada, password: 'not an analytical engine' };
    for (let count = 0; count < 3; count++) await firstStep(other, wrong).expect(401);
    // Right, but without the second factor: the three stay, and none is added.
    for (let count = 0; count < 3; count++) await firstStep(other).expect(200);
    await firstStep(other, wrong).expect(401);
    await firstStep(other).expect(200);
    await firstStep(other, wrong).expect(401);
    expectProblem(await firstStep(other), 429, 'rate_limited');
    // The pending sign-in of before is not held up by it.
    await secondStep(other, { method: 'totp', code: codeOf(secret) }).expect(200);
    await firstStep(app.browser()).expect(200);
  });
});

describe('without limits', () => {
  const mail = mailbox();
  beforeEach(async () => {
    mail.mails.length = 0;
    app = await startApp({ plugins, config: { email: { send: mail.send } } });
  });

  async function verified() {
    const browser = await signedIn(app);
    const { body } = await browser.get('/auth/me').expect(200);
    await app.auth.markEmailVerified(body.user.id);
    const enrolled = await enroll(browser);
    await forgetSteps(app);
    return { browser, ...enrolled };
  }

  test('the owner is told of ten wrong codes, once until a right one', async () => {
    const { secret } = await verified();
    const other = app.browser();
    await firstStep(other).expect(200);
    const tryWrong = () => secondStep(other, { method: 'totp', code: wrongCode(secret) }).expect(401);
    for (let count = 0; count < 9; count++) await tryWrong();
    const told = await mail.mailOf(ada.email, 'second-factor-attempts', tryWrong);
    expect(told.token).toBe('');
    for (let count = 0; count < 11; count++) await tryWrong();
    await secondStep(other, { method: 'totp', code: codeOf(secret) }).expect(200);
    await firstStep(other).expect(200);
    for (let count = 0; count < 9; count++) await tryWrong();
    await mail.mailOf(ada.email, 'second-factor-attempts', tryWrong);
    expect(mail.mails.filter(({ kind }) => kind === 'second-factor-attempts')).toHaveLength(2);
  });

  test('after 100 wrong ones in a row, those of the app are refused until another factor is given', async () => {
    const { secret, recoveryCodes, userId } = await verified();
    const other = app.browser();
    await firstStep(other).expect(200);
    const code = wrongCode(secret);
    const tries = (count: number) =>
      Promise.all(
        Array.from({ length: count }, () => secondStep(other, { method: 'totp', code }).expect(401)),
      );
    await tries(99);
    await secondStep(other, { method: 'totp', code: codeOf(secret) }).expect(200);
    await firstStep(other).expect(200);
    await tries(100);
    await forgetSteps(app);
    expectProblem(await secondStep(other, { method: 'totp', code: codeOf(secret) }), 401, 'invalid_code');
    const { body } = await firstStep(other).expect(200);
    expect(body.second_factor.methods).toEqual(['recovery_code']);
    await secondStep(other, { method: 'recovery_code', code: recoveryCodes[0] }).expect(200);
    await firstStep(other).expect(200);
    await secondStep(other, { method: 'totp', code: codeOf(secret) }).expect(200);
    await firstStep(other).expect(200);
    await tries(100);
    await app.auth.twoFactor.disable(userId);
    expect((await firstStep(other).expect(200)).body.session).toMatchObject({ aal: 1 });
  });

  test('a code that was right when it was looked at is not taken after the hundredth wrong one', async () => {
    const { secret, userId } = await verified();
    await app.auth.models.TotpSecret.update({ wrongCodes: 100 }, { where: { userId } });
    const { browser } = { browser: app.browser() };
    await firstStep(browser).expect(200);
    expectProblem(await secondStep(browser, { method: 'totp', code: codeOf(secret) }), 401, 'invalid_code');
  });
});

test('the log of an app without a mail server stays quiet', async () => {
  const logger = memoryLogger();
  app = await startApp({ plugins, config: { logger } });
  const { secret } = await withSecondFactor(app);
  const other = app.browser();
  await firstStep(other).expect(200);
  for (let count = 0; count < 12; count++)
    await secondStep(other, { method: 'totp', code: wrongCode(secret) }).expect(401);
  expect(logger.lines).toEqual([]);
});
