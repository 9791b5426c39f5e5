import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { authRouter } from '../../lib/index.js';
import { ada, password, type SpecApp, sessionCookie, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { expectProblem } from '../support/problem.js';

const plugins = [password()] as const;
let app: SpecApp<typeof plugins>;
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: { trustedOrigins: ['https://www.example'], bearerEnabled: true },
    mount: (mounted, auth) => void mounted.use('/v1/auth', authRouter(auth)),
  });
});
afterAll(() => app.stop());
beforeEach(() => rows(app.database, 'DELETE FROM users'));

const post = (path: string, fields: Record<string, string> | string, headers: Record<string, string> = {}) =>
  app.http
    .post(`/v1/auth${path}`)
    .set(headers)
    .type('form')
    .send(typeof fields === 'string' ? fields : `${new URLSearchParams(fields)}`);

const signIn = { credential: ada.email, password: ada.password };

describe('a form', () => {
  test('signs up, signs in and signs out, and leads to / each time', async () => {
    const created = await post('/signup/credential', ada).expect(303).expect('location', '/');
    expect([created.text, created.headers['set-cookie']]).toEqual(['', undefined]);
    const signedIn = await post('/signin/credential', { ...signIn, remember_me: 'on' }).expect(303);
    expect([signedIn.headers.location, signedIn.text]).toEqual(['/', '']);
    const { value = '', attributes } = sessionCookie(signedIn) ?? {};
    expect(attributes).toContainEqual(expect.stringMatching(/^Max-Age=/));
    expect(signedIn.headers['set-auth-token']).toBe(value);
    const cookie = `latchkey=${value}`;
    const signedOut = await post('/signout', {}, { cookie }).expect(303).expect('location', '/');
    expect(sessionCookie(signedOut)?.value).toBe('');
    expectProblem(await app.http.get('/v1/auth/me').set({ cookie }), 401, 'invalid_session');
  });

  test('of a wrong sign-in leads to the page that error_to names', async () => {
    const wrong = { ...signIn, error_to: '/sign-in?next=%2Fa&error=old&error_fields=x#form' };
    const refused = await post('/signin/credential', wrong).expect(303);
    expect(refused.headers.location).toBe('/sign-in?next=%2Fa&error=invalid_credentials#form');
    expect([refused.text, sessionCookie(refused)]).toEqual(['', undefined]);
  });
});
