import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { apiKeys } from '../../../../lib/index.js';
import { ada, password, sessionCookie, signedIn } from '../../../support/app.js';
import { rows } from '../../../support/database.js';
import { type MailApp, startMailApp } from '../../../support/mail-app.js';
import { expectProblem } from '../../../support/problem.js';
import { settled } from '../../../support/sessions.js';

const plugins = [password({ username: true, sendVerificationOnSignUp: true }), apiKeys()] as const;

let app: MailApp<typeof plugins>;
beforeAll(async () => {
  app = await startMailApp({
    plugins,
    config: {
      baseUrl: 'https://app.example.com',
      rateLimit: { signIn: false, signUp: false, mail: false },
      bearerEnabled: true,
    },
  });
});
afterAll(() => app.stop());

let people = 0;
let email: string;
let userId: string;
let token: string;
let browser: Awaited<ReturnType<typeof signedIn>>;
beforeEach(async () => {
  email = `person-${++people}@example.com`;
  const mail = await app.mailOf(async () => {
    browser = await signedIn(app, { email, password: ada.password });
  });
  userId = mail.user!.id;
  token = mail.token;
});

const anyone = (body: object) => app.http.post('/auth/verify-email').send(body);
const verifiedAt = async () => (await browser.get('/auth/me').expect(200)).body.user.email_verified_at;
const sendAgain = () => app.mailOf(() => browser.post('/auth/email-verifications').expect(202));

describe('POST /verify-email', () => {
  test('verifies the email with a session of the user', async () => {
    expect(await verifiedAt()).toBeNull();
    const answer = await browser.post('/auth/verify-email').send({ token }).expect(200);
    expect(Object.keys(answer.body)).toEqual(['user']);
    expect(answer.body.user).toMatchObject({ id: userId, email });
    expect(answer.body.user.email_verified_at).toMatch(/^\d{4}-.*\.\d{3}Z$/);
    expect(await verifiedAt()).toBe(answer.body.user.email_verified_at);
    // The session continues, and no other session is created.
    expect(sessionCookie(answer, '__Host-latchkey')).toBeUndefined();
    expectProblem(await browser.post('/auth/verify-email').send({ token }), 400, 'invalid_token');
  });

  test('verifies the email with that session as a bearer token', async () => {
    const session = await app.auth.credential.signIn({ credential: email, password: ada.password });
    await anyone({ token }).set('authorization', `Bearer ${session.token}`).expect(200);
  });

  test('verifies the email with the password in another browser', async () => {
    await anyone({ token, password: ada.password }).expect(200);
    expect(await verifiedAt()).not.toBeNull();
  });

  test('responds with 401 without a session or password of the user, and does not use up the token', async () => {
    const eve = { email: `eve-${people}@example.com`, password: 'eavesdropping all day' };
    const eves = await signedIn(app, eve);
    const { body } = await browser.post('/auth/api-keys').send({ name: 'program' }).expect(201);
    const refused = [
      await anyone({ token }),
      await eves.post('/auth/verify-email').send({ token }),
      await anyone({ token }).set('cookie', '__Host-latchkey=junk'),
      // An API key does not identify the person.
      await anyone({ token }).set('x-service-api-key', body.key),
    ];
    for (const answer of refused) expectProblem(answer, 401, 'unauthenticated');
    for (const answer of [
      await anyone({ token, password: eve.password }),
      await eves.post('/auth/verify-email').send({ token, password: eve.password }),
    ])
      expectProblem(answer, 401, 'invalid_credentials');
    expect(await verifiedAt()).toBeNull();
    await browser.post('/auth/verify-email').send({ token }).expect(200);
  });

  test('counts a wrong password as a failed sign-in', async () => {
    const failed: unknown[] = [];
    const off = app.auth.on('sign_in.failed', (event) => failed.push(event.userId));
    for (let index = 0; index < 5; index++)
      expectProblem(await anyone({ token, password: 'a wrong password' }), 401, 'invalid_credentials');
    const paused = await anyone({ token, password: ada.password });
    expectProblem(paused, 429, 'rate_limited');
    expect(Number(paused.headers['retry-after'])).toBeGreaterThan(0);
    await app.http
      .post('/auth/signin/credential')
      .send({ credential: email, password: ada.password })
      .expect(429);
    // A signed-in user needs no password.
    await browser.post('/auth/verify-email').send({ token }).expect(200);
    expect(failed).toEqual(Array(5).fill(userId));
    off();
  });

  test('invalidates the user’s other verification tokens', async () => {
    const [second, third] = [(await sendAgain()).token, (await sendAgain()).token];
    await browser.post('/auth/verify-email').send({ token: second }).expect(200);
    for (const sibling of [token, second, third])
      expectProblem(await browser.post('/auth/verify-email').send({ token: sibling }), 400, 'invalid_token');
  });

  test('succeeds for one of 16 concurrent requests with the same token, and emits one event', async () => {
    const events: unknown[] = [];
    const off = app.auth.on('user.email_verified', (event) => events.push(event.userId));
    const statuses = (
      await Promise.all(Array.from({ length: 16 }, () => browser.post('/auth/verify-email').send({ token })))
    ).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 400)).toHaveLength(15);
    await settled(app.auth);
    expect(events).toEqual([userId]);
    off();
  });

  test('succeeds for one of 6 concurrent requests with different tokens of the same user', async () => {
    const tokens = [token];
    while (tokens.length < 6) tokens.push((await sendAgain()).token);
    const statuses = (
      await Promise.all(tokens.map((one) => browser.post('/auth/verify-email').send({ token: one })))
    ).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 400, 400, 400, 400, 400]);
  });

  test('rejects an expired token and a token for a previous address', async () => {
    await rows(
      app.database,
      "UPDATE one_time_tokens SET expires_at = '2020-01-01 00:00:00' WHERE user_id = :userId",
      { userId },
    );
    expectProblem(await browser.post('/auth/verify-email').send({ token }), 400, 'invalid_token');
    const { token: fresh } = await sendAgain();
    await app.auth.models.User.update({ email: `moved-${people}@example.com` }, { where: { id: userId } });
    expectProblem(await browser.post('/auth/verify-email').send({ token: fresh }), 400, 'invalid_token');
    expect(await verifiedAt()).toBeNull();
  });
});

describe('POST /email-verifications', () => {
  test('sends a link to the stored address, and none after it has been verified', async () => {
    const mail = await sendAgain();
    expect(mail).toMatchObject({ kind: 'verify-email', to: email, user: { id: userId, email } });
    expect(mail.token).not.toBe(token);
    await browser.post('/auth/verify-email').send({ token: mail.token }).expect(200);
    await app.noMailOf(() => browser.post('/auth/email-verifications').expect(202));
  });

  test('sends a link after a call of auth.markEmailVerified too, which keeps the time of that call', async () => {
    expect((await app.auth.markEmailVerified(userId)).emailVerifiedAt).toBeInstanceOf(Date);
    const before = await verifiedAt();
    expect(before).not.toBeNull();
    const { token } = await app.mailOf(() => browser.post('/auth/email-verifications').expect(202));
    await browser.post('/auth/verify-email').send({ token }).expect(200);
    expect(await verifiedAt()).toBe(before);
    await app.noMailOf(() => browser.post('/auth/email-verifications').expect(202));
  });
});

test('the operations in code work like the routes', async () => {
  const mail = await app.mailOf(() => app.auth.credential.sendVerification({ userId }));
  const verify = (proof: object) => app.auth.credential.verifyEmail({ token: mail.token, ...proof });
  await expect(verify({})).rejects.toMatchObject({ status: 401, code: 'unauthenticated' });
  await expect(verify({ sessionUserId: 'another' })).rejects.toMatchObject({ code: 'unauthenticated' });
  await expect(verify({ password: 'a wrong one' })).rejects.toMatchObject({ code: 'invalid_credentials' });
  expect(await verify({ sessionUserId: userId })).toMatchObject({ id: userId, email });
  await expect(verify({ sessionUserId: userId })).rejects.toMatchObject({ code: 'invalid_token' });
  await expect(app.auth.credential.sendVerification({ userId: 'junk' })).rejects.toMatchObject({
    code: 'user_not_found',
  });
});
