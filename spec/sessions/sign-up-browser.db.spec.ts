import { afterEach, describe, expect, test } from '@jest/globals';
import { ada, sessionCookie } from '../support/app.js';
import { expectProblem } from '../support/problem.js';
import { ago } from '../support/sessions.js';
import { app, DEVICE, grace, mails, start, tokenOf, userOf, verify } from '../support/sign-up-browser.js';
import { firstStep } from '../support/two-factor.js';

// How the browser of a sign-up is found. The rest is in sign-up-browser.spec.ts.
afterEach(() => app.stop());

describe('a click on the link', () => {
  test('verifies in the browser of the sign-up, and signs nobody in', async () => {
    await start();
    const browser = app.browser();
    const answer = await verify(browser, await tokenOf(browser)).expect(200);
    expect(answer.body.user.email_verified_at).not.toBeNull();
    expect(sessionCookie(answer, '__Host-latchkey')).toBeUndefined();
    await browser.get('/auth/me').expect(401);
    // Nothing that was given at the sign-up is dropped.
    await firstStep(browser).expect(200);
  });

  test('wants the session or the password after a day', async () => {
    await start();
    const browser = app.browser();
    const token = await tokenOf(browser);
    await app.auth.models.RecentBrowser.update({ expiresAt: ago(1000) }, { where: {} });
    expectProblem(await verify(browser, token), 401, 'unauthenticated');
  });

  test('is enough after a sign-in there has given the browser another value', async () => {
    await start();
    const browser = app.browser();
    const token = await tokenOf(browser);
    await tokenOf(browser, grace);
    await firstStep(browser, grace).expect(200);
    await browser.post('/auth/signout').expect(204);
    await verify(browser, token).expect(200);
  });
});

describe('the browser of a sign-up', () => {
  test('gets a new value, by which it is known for what it was known for', async () => {
    await start({ sendVerificationOnSignUp: false });
    await app.auth.users.create({ ...grace, emailVerified: true });
    const first = await firstStep(app.browser(), grace).expect(200);
    const before = sessionCookie(first, DEVICE)?.value;
    const answer = await app.http
      .post('/auth/signup/credential')
      .set('cookie', `${DEVICE}=${before}`)
      .send(ada)
      .expect(201);
    const { value, attributes = [] } = sessionCookie(answer, DEVICE) ?? {};
    expect(value).toMatch(/^lkd_/);
    expect(value).not.toBe(before);
    expect(attributes).toEqual(expect.arrayContaining(['HttpOnly', 'SameSite=Lax', 'Path=/']));
    const again = await app.http
      .post('/auth/signin/credential')
      .set('cookie', `${DEVICE}=${value}`)
      .send({ credential: grace.email, password: grace.password })
      .expect(200);
    expect(sessionCookie(again, DEVICE)?.value).toBe(value);
    // The account that was made knows the browser for a day, and not as a device.
    expect(await app.auth.models.Device.count({ where: { userId: (await userOf()).id } })).toBe(0);
  });

  test('keeps what was attached when it resets the password of its account for the first time', async () => {
    await start();
    const browser = app.browser();
    await tokenOf(browser);
    const { id } = await userOf();
    const key = await app.auth.createSession(id);
    const { token } = await mails.mailOf(ada.email, 'reset-password', () =>
      browser.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202),
    );
    await browser.post('/auth/passwords/reset').send({ token, new_password: 'a difference engine' });
    const changes = await app.auth.models.AccountChange.count({
      where: { userId: id, kind: 'password-changed' },
    });
    expect(changes).toBe(1);
    expect(await app.auth.revokeSession(key.token)).toBe(false);
  });
});
