import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Request, Response } from 'express';
import { apiKeys, authRouter, requireSession } from '../../lib/index.js';
import { ada, password, type SpecApp, signedIn, startApp } from '../support/app.js';
import { expectProblem } from '../support/problem.js';
import { settled } from '../support/sessions.js';

const plugins = [password(), apiKeys()] as const;

let app: SpecApp<typeof plugins>;
let people = 0;
let browser: Awaited<ReturnType<typeof signedIn>>;
let userId: string;
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: { rateLimit: { signIn: false, signUp: false }, bearerEnabled: true },
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      const answer = (_req: Request, res: Response) => void res.json({});
      express.all('/danger', requireSession(auth, { freshWithin: 300 }), answer);
      express.get(
        '/danger-page',
        requireSession(auth, {
          freshWithin: 300,
          onError: (error, _req, res) => res.redirect(303, `/prove?because=${error.code}`),
        }),
        answer,
      );
    },
  });
});
afterAll(() => app.stop());
beforeEach(async () => {
  browser = await signedIn(app, { email: `person-${++people}@example.com`, password: ada.password });
  userId = (await browser.get('/auth/me')).body.user.id;
});

/** Moves the user's sign-ins into the past, while the sessions stay active. */
const age = (seconds: number) =>
  app.auth.models.Session.update(
    { authenticatedAt: new Date(Date.now() - seconds * 1000) },
    { where: { userId } },
  );
const reauthenticate = (given: string = ada.password) =>
  browser.post('/auth/reauthenticate').send({ password: given });
const stale = async (path = '/danger') =>
  expectProblem(await browser.get(path), 403, 'reauthentication_required');

describe('freshWithin', () => {
  test('rejects an old sign-in until the user reauthenticates', async () => {
    await browser.get('/danger').expect(200);
    await age(290);
    await browser.get('/danger').expect(200);
    await age(310);
    await stale();
    // Everything else still works.
    await browser.get('/auth/me').expect(200);
    const before = (await browser.get('/auth/me')).body.session.id;
    const answer = await reauthenticate();
    expect([answer.status, answer.text]).toEqual([204, '']);
    await browser.get('/danger').expect(200);
    expect((await browser.get('/auth/me')).body.session.id).toBe(before);
  });

  test('accepts a new sign-in', async () => {
    await age(1000);
    await stale();
    const credentials = { credential: `person-${people}@example.com`, password: ada.password };
    await browser.post('/auth/signin/credential').send(credentials).expect(200);
    await browser.get('/danger').expect(200);
  });

  test('accepts a password change', async () => {
    await age(1000);
    await browser
      .post('/auth/passwords/change')
      .send({ current_password: ada.password, new_password: 'a difference engine' })
      .expect(200);
    await browser.get('/danger').expect(200);
  });

  test('is not affected by activity or by another session of the user', async () => {
    await age(310);
    for (let index = 0; index < 3; index++) await browser.get('/auth/me').expect(200);
    await app.auth.credential.signIn({ credential: `person-${people}@example.com`, password: ada.password });
    await stale();
  });

  test('is checked after authentication and after the CSRF check', async () => {
    expectProblem(await app.http.get('/danger'), 401, 'unauthenticated');
    await age(310);
    const foreign = await browser.post('/danger').set('sec-fetch-site', 'cross-site');
    expectProblem(foreign, 403, 'origin_not_allowed');
  });

  test('rejects API keys', async () => {
    const { key } = await app.auth.apiKeys.create(userId, { name: 'a program' });
    const answer = await app.http.get('/danger').set('x-service-api-key', key);
    expectProblem(answer, 403, 'session_required');
  });

  test('passes its error to onError', async () => {
    await age(310);
    await browser
      .get('/danger-page')
      .expect(303)
      .expect('location', '/prove?because=reauthentication_required');
  });
});

describe('POST /reauthenticate', () => {
  test('rejects a wrong password and counts it as a failed sign-in', async () => {
    await age(310);
    const failed: unknown[] = [];
    const off = app.auth.on('sign_in.failed', (event) => failed.push(event.userId));
    for (let index = 0; index < 5; index++)
      expectProblem(await reauthenticate('a wrong password'), 401, 'invalid_credentials');
    await stale();
    expectProblem(await reauthenticate(), 429, 'rate_limited');
    await browser.get('/auth/me').expect(200);
    await settled(app.auth);
    expect(failed).toEqual(Array(5).fill(userId));
    off();
  });

  test('requires a session of the user and a request from a page of the app', async () => {
    const { key } = await app.auth.apiKeys.create(userId, { name: 'a program' });
    const send = () => app.http.post('/auth/reauthenticate').send({ password: ada.password });
    expectProblem(await send(), 401, 'unauthenticated');
    expectProblem(await send().set('x-service-api-key', key), 403, 'session_required');
    const foreign = await reauthenticate().set('sec-fetch-site', 'cross-site');
    expectProblem(foreign, 403, 'origin_not_allowed');
    expectProblem(await browser.post('/auth/reauthenticate').send({}), 422, 'validation_failed');
  });

  test('rejects a user without a password, who has to sign in with the provider again', async () => {
    await app.auth.models.User.update({ passwordHash: null }, { where: { id: userId } });
    await age(310);
    for (const given of ['null', ada.password])
      expectProblem(await reauthenticate(given), 401, 'invalid_credentials');
    await stale();
  });

  test('has an equivalent in code that takes the user and the session', async () => {
    await age(310);
    const sessionId = (await browser.get('/auth/me')).body.session.id;
    const prove = (given: string, id = userId) =>
      app.auth.credential.reauthenticate({ userId: id, sessionId, password: given });
    await expect(prove('a wrong password')).rejects.toMatchObject({ code: 'invalid_credentials' });
    await expect(prove(ada.password, 'junk')).rejects.toMatchObject({ code: 'user_not_found' });
    await stale();
    await prove(ada.password);
    await browser.get('/danger').expect(200);
  });
});
