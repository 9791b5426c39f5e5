import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { authRouter, twoFactor } from '../../lib/index.js';
import { ada, caught, password, type SpecApp, sessionCookie, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { expectProblem } from '../support/problem.js';
import { codeOf, firstStep, type Protected, secondStep, withSecondFactor } from '../support/two-factor.js';

// Forms, sign-in routes of the app's own, and signing out, for a sign-in that waits for its second factor.
const plugins = [password(), twoFactor()] as const;
const PENDING = 'latchkey-pending';
const right = { credential: ada.email, password: ada.password };

let app: SpecApp<typeof plugins>;
let who: Protected;
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: { bearerEnabled: true, trustedOrigins: ['https://www.example'] },
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      const login = caught(async (req, res) => {
        const signedIn = await auth.credential.signIn({ ...right, request: req });
        await auth.establishSession(req, res, signedIn);
        res.json({ waits: 'secondFactor' in signedIn });
      });
      const logout = caught(async (req, res) => res.json({ ended: await auth.endSession(req, res) }));
      express.post('/login', login);
      express.post('/logout', logout);
    },
  });
});
afterAll(() => app.stop());
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  who = await withSecondFactor(app);
});

const pendings = async () => (await rows(app.database, 'SELECT user_id FROM unfinished_sign_ins')).length;
const form = (fields: object, path = '/auth/signin/credential', browser = app.browser()) =>
  browser.post(path).type('form').send(fields);

describe('the form of a first step', () => {
  test.each([
    [{}, '/second-factor'],
    [{ redirect_to: '/account' }, '/second-factor'],
    [{ second_factor_to: '/in/2?next=%2Faccount' }, '/in/2?next=%2Faccount'],
    [{ second_factor_to: 'https://www.example/2', redirect_to: '/account' }, 'https://www.example/2'],
    [{ second_factor_to: '' }, '/second-factor'],
  ])('with %j leads to %s', async (fields, page) => {
    const answer = await form({ ...right, ...fields }).expect(303);
    expect(answer.headers.location).toBe(page);
    expect(sessionCookie(answer, PENDING)?.value).toMatch(/^lkp_/);
    expect(sessionCookie(answer)).toBeUndefined();
    expect(sessionCookie(answer, 'latchkey-device')).toBeUndefined();
    expect(answer.text).toBe('');
  });

  test.each(['//evil.example', 'https://evil.example/', 'account'])(
    'with second_factor_to %j is a plain 400, before anything is done',
    async (page) => {
      const answer = await form({ ...right, second_factor_to: page, error_to: '/in' });
      expectProblem(answer, 400, 'invalid_callback_url');
      expect(answer.headers['set-cookie']).toBeUndefined();
      expect(await pendings()).toBe(0);
    },
  );

  test('leads to redirect_to for an account without a second factor', async () => {
    const eve = { email: 'eve@example.com', password: 'eavesdropping all day' };
    await app.auth.credential.signUp(eve);
    const fields = { credential: eve.email, password: eve.password, second_factor_to: '/2' };
    expect((await form({ ...fields, redirect_to: '/account' })).headers.location).toBe('/account');
  });

  test('is followed by that of the second step, which names where to go', async () => {
    const browser = app.browser();
    await form(right, '/auth/signin/credential', browser).expect(303);
    const fields = { method: 'totp', code: codeOf(who.secret), redirect_to: '/account' };
    const answer = await form(fields, '/auth/signin/second-factor', browser).expect(303);
    expect(answer.headers.location).toBe('/account');
    expect((await browser.get('/auth/me').expect(200)).body.session.aal).toBe(2);
  });

  test('is documented with its page, as other forms are not', () => {
    const fieldsOf = (path: string) => {
      const { requestBody } = (app.auth.openapi().paths[path] as never as { post: Described }).post;
      return Object.keys(requestBody.content['application/x-www-form-urlencoded']?.schema.properties ?? {});
    };
    expect(fieldsOf('/signin/credential')).toContain('second_factor_to');
    expect(fieldsOf('/signup/credential')).not.toContain('second_factor_to');
  });
});
interface Described {
  readonly requestBody: { readonly content: Record<string, { schema: { properties?: object } }> };
}

test('without the plugin, there is no such field', async () => {
  const plain = await startApp({ plugins: [password()] });
  await plain.auth.credential.signUp(ada);
  const fields = { ...right, second_factor_to: '/2' };
  const answer = await plain.http.post('/auth/signin/credential').type('form').send(fields);
  expectProblem(answer, 422, 'validation_failed');
  await plain.stop();
});

describe('establishSession()', () => {
  test('sets the cookie of a sign-in that waits, and ends nothing yet', async () => {
    const { browser } = who;
    const answer = await browser.post('/login').expect(200);
    expect(answer.body).toEqual({ waits: true });
    expect(sessionCookie(answer, PENDING)?.value).toMatch(/^lkp_/);
    expect(sessionCookie(answer)).toBeUndefined();
    expect(answer.headers['set-auth-token']).toBeUndefined();
    const before = (await browser.get('/auth/me').expect(200)).body.session.id;
    const code = codeOf(who.secret);
    const { body } = await secondStep(browser, { method: 'totp', code }).expect(200);
    expect(body.session.aal).toBe(2);
    // The session that the browser had ends when the sign-in is complete.
    const open = (await app.auth.listSessions(who.userId)).map(({ id }) => id);
    expect(open).toContain(body.session.id);
    expect(open).not.toContain(before);
  });

  test('refuses another site, which then has no cookie', async () => {
    const answer = await app.http.post('/login').set('origin', 'https://evil.example');
    expect(answer.status).toBe(403);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });
});

describe.each([
  ['POST /signout', '/auth/signout', 204],
  ['endSession()', '/logout', 200],
])('%s', (_what, path, status) => {
  test('abandons a sign-in that waits for its second factor', async () => {
    const browser = app.browser();
    await firstStep(browser).expect(200);
    expect(await pendings()).toBe(1);
    const answer = await browser.post(path).expect(status);
    expect(sessionCookie(answer, PENDING)?.value).toBe('');
    expect(await pendings()).toBe(0);
    const late = await secondStep(browser, { method: 'totp', code: codeOf(who.secret) });
    expectProblem(late, 401, 'sign_in_expired');
  });

  test('ends a session beside it too', async () => {
    await firstStep(who.browser).expect(200);
    const answer = await who.browser.post(path).expect(status);
    expect([sessionCookie(answer)?.value, sessionCookie(answer, PENDING)?.value]).toEqual(['', '']);
    expect([await pendings(), (await app.auth.listSessions(who.userId)).length]).toEqual([0, 0]);
  });

  test('abandons it beside the cookie of a session that has ended', async () => {
    await firstStep(who.browser).expect(200);
    await app.auth.models.Session.destroy({ where: {} });
    await who.browser.post(path).expect(status);
    expect(await pendings()).toBe(0);
  });

  test('leaves those of other browsers', async () => {
    const [one, other] = [app.browser(), app.browser()];
    await firstStep(one).expect(200);
    await firstStep(other).expect(200);
    await one.post(path).expect(status);
    await secondStep(other, { method: 'totp', code: codeOf(who.secret) }).expect(200);
  });

  test('is refused to another site', async () => {
    const browser = app.browser();
    await firstStep(browser).expect(200);
    const answer = await browser.post(path).set('sec-fetch-site', 'cross-site');
    expect(answer.status).toBe(403);
    expect(await pendings()).toBe(1);
  });
});

describe('POST /signout', () => {
  test('takes a form without a session', async () => {
    const browser = app.browser();
    await firstStep(browser).expect(200);
    const answer = await form({ redirect_to: '/bye' }, '/auth/signout', browser).expect(303);
    expect([answer.headers.location, sessionCookie(answer, PENDING)?.value]).toEqual(['/bye', '']);
    expect(await pendings()).toBe(0);
  });

  test('is 204 with neither, and clears no pending sign-in that is not there', async () => {
    expect((await app.http.post('/auth/signout').expect(204)).headers['set-cookie']).toHaveLength(1);
    const { headers } = await who.browser.post('/auth/signout').expect(204);
    expect(headers['set-cookie']).toHaveLength(1);
  });

  test('is 204 for a Bearer token that opens nothing, from any origin', async () => {
    const authorization = `Bearer lks_${'A'.repeat(43)}`;
    await app.http.post('/auth/signout').set({ authorization }).expect(204);
    const foreign = { authorization, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    await app.http.post('/auth/signout').set(foreign).expect(204);
  });
});

describe('what ends a sign-in that waits', () => {
  const waiting = async () => {
    const signedIn = await app.auth.credential.signIn(right);
    if (!('secondFactor' in signedIn)) throw new Error('no second factor was demanded');
    return signedIn.secondFactor.pendingToken;
  };
  const complete = async (pendingToken: string) =>
    app.auth
      .completeSignIn({ pendingToken, method: 'totp', code: codeOf(who.secret) })
      .then(() => 'ok')
      .catch(({ code }) => code);

  test('is a new password that the app sets, even if it keeps the sessions', async () => {
    const token = await waiting();
    const { token: session } = await app.auth.createSession(who.userId);
    await app.auth.users.setPassword(who.userId, 'a difference engine', { keepSessions: true });
    expect(await complete(token)).toBe('sign_in_expired');
    // The sessions go on, that of the owner as well as that of code.
    await who.browser.get('/auth/me').expect(200);
    await app.http.get('/auth/me').set('authorization', `Bearer ${session}`).expect(200);
    expect((await app.auth.listSessions(who.userId)).length).toBe(2);
  });

  test('is a revocation of all sessions', async () => {
    const token = await waiting();
    await app.auth.revokeAllSessions(who.userId);
    expect(await complete(token)).toBe('sign_in_expired');
  });

  test('is no sign-in elsewhere', async () => {
    const token = await waiting();
    await app.auth.createSession(who.userId);
    expect(await complete(token)).toBe('ok');
  });
});
