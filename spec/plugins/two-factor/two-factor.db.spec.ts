import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { twoFactor } from '../../../lib/index.js';
import { ada, password, type SpecApp, sessionCookie, signedIn, startApp } from '../../support/app.js';
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

let app: SpecApp<readonly [ReturnType<typeof password>, ReturnType<typeof twoFactor>]>;
beforeEach(async () => {
  app = await startApp({ plugins: [password(), twoFactor({ issuer: 'A & B' })] });
});
afterEach(() => app.stop());

describe('switching it on', () => {
  test('gives a secret, its address and a QR code, and changes nothing', async () => {
    const browser = await signedIn(app);
    const { body } = await browser.post('/auth/two-factor/totp').expect(201);
    expect(Object.keys(body).sort()).toEqual(['otpauth_url', 'qr_svg', 'secret']);
    expect(body.secret).toMatch(/^[A-Z2-7]{32}$/);
    const url = new URL(body.otpauth_url);
    expect(`${url.protocol}//${url.host}${url.pathname}`).toBe(
      'otpauth://totp/A%20%26%20B:ada%40example.com',
    );
    expect(Object.fromEntries(url.searchParams)).toEqual({
      issuer: 'A & B',
      secret: body.secret,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
    expect(body.qr_svg).toMatch(/^<svg .*<\/svg>$/s);
    expect((await browser.get('/auth/two-factor').expect(200)).body).toMatchObject({
      totp: false,
      recovery_codes_left: 0,
    });
    expect((await firstStep(app.browser()).expect(200)).body.session).toMatchObject({ aal: 1, amr: ['pwd'] });
  });

  test('is confirmed by a code, which ends the other sessions and renews this one', async () => {
    const other = await signedIn(app);
    const browser = app.browser();
    const before = sessionCookie(await firstStep(browser).expect(200));
    const { body: begun } = await browser.post('/auth/two-factor/totp').expect(201);
    const answer = await browser
      .post('/auth/two-factor/totp/confirm')
      .send({ code: codeOf(begun.secret) })
      .expect(200);
    expect(Object.keys(answer.body).sort()).toEqual(['recovery_codes', 'session', 'user']);
    expect(answer.body.session).toMatchObject({ aal: 2, amr: ['pwd', 'otp', 'mfa'] });
    expect(new Set(answer.body.recovery_codes).size).toBe(10);
    for (const code of answer.body.recovery_codes)
      expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){2}[0-9a-hjkmnp-tv-z]{4}$/);
    expect(sessionCookie(answer)?.value).not.toBe(before?.value);
    await other.get('/auth/me').expect(401);
    await app.http.get('/auth/me').set('cookie', `latchkey=${before?.value}`).expect(401);
    expect((await browser.get('/auth/two-factor').expect(200)).body).toMatchObject({
      totp: true,
      recovery_codes_left: 10,
    });
  });

  test('takes the session that began it, a right code, and no longer than 10 minutes', async () => {
    const browser = await signedIn(app);
    const { body } = await browser.post('/auth/two-factor/totp').expect(201);
    const other = app.browser();
    await firstStep(other).expect(200);
    const confirm = (who: typeof browser, code: string) =>
      who.post('/auth/two-factor/totp/confirm').send({ code });
    expectProblem(await confirm(other, codeOf(body.secret)), 401, 'invalid_code');
    expectProblem(await confirm(browser, wrongCode(body.secret)), 401, 'invalid_code');
    await app.auth.models.TotpEnrolment.update({ expiresAt: new Date(Date.now() - 1000) }, { where: {} });
    expectProblem(await confirm(browser, codeOf(body.secret)), 401, 'invalid_code');
    expect(await app.auth.prune()).toBe(1);
  });
});

describe('a sign-in', () => {
  test('begins no session before the second factor', async () => {
    await withSecondFactor(app);
    const browser = app.browser();
    const answer = await firstStep(browser).expect(200);
    expect(answer.body).toEqual({
      second_factor: { methods: ['totp', 'recovery_code'], expires_at: expect.any(String) },
    });
    expect(sessionCookie(answer)).toBeUndefined();
    expect(sessionCookie(answer, 'latchkey-device')).toBeUndefined();
    const pending = sessionCookie(answer, 'latchkey-pending');
    expect(pending?.value).toMatch(/^lkp_/);
    expect(pending?.attributes).toEqual(expect.arrayContaining(['Path=/', 'HttpOnly', 'SameSite=Lax']));
    expectProblem(await browser.get('/auth/me'), 401, 'unauthenticated');
    const token = pending?.value ?? '';
    expectProblem(await app.http.get('/auth/me').set('cookie', `latchkey=${token}`), 401, 'invalid_session');
  });

  test('is completed by a code of the app', async () => {
    const { secret } = await withSecondFactor(app);
    const browser = app.browser();
    await firstStep(browser, ada, { remember_me: true }).expect(200);
    const answer = await secondStep(browser, { method: 'totp', code: codeOf(secret) }).expect(200);
    expect(answer.body.session).toMatchObject({ aal: 2, amr: ['pwd', 'otp', 'mfa'] });
    expect(sessionCookie(answer)?.attributes.join()).toMatch(/Max-Age/);
    expect(sessionCookie(answer, 'latchkey-device')).toBeDefined();
    expect(sessionCookie(answer, 'latchkey-pending')?.value).toBe('');
    await browser.get('/auth/me').expect(200);
  });

  test('is completed by each recovery code once, however it is typed', async () => {
    const { recoveryCodes } = await withSecondFactor(app);
    const [code = ''] = recoveryCodes;
    const typed = ` ${code.toUpperCase().replaceAll('-', ' ').replaceAll('0', 'O').replaceAll('1', 'l')} `;
    const browser = app.browser();
    await firstStep(browser).expect(200);
    await secondStep(browser, { method: 'recovery_code', code: typed }).expect(200);
    expect((await browser.get('/auth/two-factor')).body.recovery_codes_left).toBe(9);
    await firstStep(browser).expect(200);
    expectProblem(await secondStep(browser, { method: 'recovery_code', code }), 401, 'invalid_code');
  });
});

test('enrolling again replaces the secret only when it is confirmed', async () => {
  const { browser, secret } = await withSecondFactor(app);
  await browser.post('/auth/two-factor/totp').expect(201);
  const other = app.browser();
  await firstStep(other).expect(200);
  await secondStep(other, { method: 'totp', code: codeOf(secret) }).expect(200);
  const next = await enroll(other);
  await forgetSteps(app);
  await browser.get('/auth/me').expect(401);
  const third = app.browser();
  await firstStep(third).expect(200);
  expectProblem(await secondStep(third, { method: 'totp', code: codeOf(secret, 1) }), 401, 'invalid_code');
  await secondStep(third, { method: 'totp', code: codeOf(next.secret) }).expect(200);
});
