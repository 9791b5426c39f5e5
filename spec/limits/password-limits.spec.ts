import { afterEach, describe, expect, test } from '@jest/globals';
import { createAuth, type RateLimitOptions } from '../../lib/index.js';
import { ada, password, SECRET, signedIn } from '../support/app.js';
import { setLimits } from '../support/limits.js';
import { type MailApp, startMailApp } from '../support/mail-app.js';
import { expectProblem } from '../support/problem.js';
import { settled } from '../support/sessions.js';

const plugins = [password()] as const;

let app: MailApp<typeof plugins>;
let browser: Awaited<ReturnType<typeof signedIn>>;
let userId: string;
afterEach(() => app.stop());

/** Starts an app in which Ada is signed in; only the given rules limit anything. */
const start = async (rules: RateLimitOptions, fixed: Parameters<typeof setLimits>[1] = {}) => {
  const off = { signIn: false, signUp: false, mail: false, account: false } as const;
  app = await startMailApp({ plugins, config: { rateLimit: { ...off, ...rules } } });
  setLimits(app.auth, { passwordCheck: null, passwordChange: null, ...fixed });
  browser = await signedIn(app);
  userId = (await browser.get('/auth/me').expect(200)).body.user.id;
};
const reauthenticate = (given = ada.password) =>
  browser.post('/auth/reauthenticate').send({ password: given });
const change = (from: string, to: string) =>
  browser.post('/auth/passwords/change').send({ current_password: from, new_password: to });
const tokenOf = async (path: string, body = {}) =>
  (await app.mailOf(() => browser.post(`/auth/${path}`).send(body).expect(202))).token;
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    ({ code }) => code as string,
  );
const requestReset = () => tokenOf('passwords/request-reset', { email: ada.email });

describe('the limit per address', () => {
  // One of two was used by the sign-in of `start`.
  const one = { signIn: { limit: 2, window: 600 } };

  test.each<[string, () => PromiseLike<{ status: number }>]>([
    ['reauthentication', () => reauthenticate('wrong')],
    ['a change of password', () => change('wrong', 'another long password')],
    [
      'email verification with a password',
      async () =>
        app.http
          .post('/auth/verify-email')
          .send({ token: await tokenOf('email-verifications'), password: 'wrong' }),
    ],
    [
      'a reset with a valid link',
      async () =>
        app.http
          .post('/auth/passwords/reset')
          .send({ token: await requestReset(), new_password: 'too common: no' }),
    ],
  ])('covers %s', async (_what, attempt) => {
    await start(one);
    expect((await attempt()).status).not.toBe(429);
    const { status } = await app.http
      .post('/auth/signin/credential')
      .send({ credential: 'other@example.com', password: 'wrong' });
    expect(status).toBe(429);
  });

  test('covers setting a first password', async () => {
    await start(one);
    await app.auth.models.User.update({ passwordHash: null }, { where: {} });
    const set = () => browser.put('/auth/passwords').send({ new_password: 'password' });
    expectProblem(await set(), 422, 'validation_failed');
    expectProblem(await set(), 429, 'rate_limited');
  });

  test('does not count a reset link that is not valid, because nothing is hashed for it', async () => {
    await start(one);
    for (let index = 0; index < 3; index++) {
      const body = { token: `lkm_${'A'.repeat(48)}`, new_password: 'another long password' };
      expectProblem(await app.http.post('/auth/passwords/reset').send(body), 400, 'invalid_token');
    }
    await reauthenticate().expect(204);
  });
});

describe('the limit of checks per user', () => {
  const reauthenticateFrom = (index: number, sessionId: string, given = ada.password) =>
    codeOf(
      app.auth.credential.reauthenticate({ userId, ip: `192.0.2.${index}`, sessionId, password: given }),
    );
  const sessionId = async () => (await browser.get('/auth/me')).body.session.id as string;
  const signIn = (who: { password: string } = ada) =>
    app.http.post('/auth/signin/credential').send({ credential: ada.email, password: who.password });

  test('counts every check at the request of somebody who has a session, from any address', async () => {
    await start({}, { passwordCheck: { limit: 2, window: 600 } });
    const id = await sessionId();
    const attempts = [1, 2, 3].map((index) => reauthenticateFrom(index, id));
    expect((await Promise.all(attempts)).sort()).toEqual(['done', 'done', 'rate_limited']);
    // In a known device, they are counted on their own.
    expectProblem(await reauthenticate('wrong'), 401, 'invalid_credentials');
    await reauthenticate().expect(204);
    const answer = await change(ada.password, 'another long password');
    expectProblem(answer, 429, 'rate_limited');
    expect(answer.headers['ratelimit-policy']).toBe('"passwordCheck";q=2;w=600');
  });

  test('counts email verifications with a password', async () => {
    await start({}, { passwordCheck: { limit: 1, window: 600 } });
    const token = await tokenOf('email-verifications');
    const verify = () => app.http.post('/auth/verify-email').send({ token, password: 'wrong' });
    expectProblem(await verify(), 401, 'invalid_credentials');
    expectProblem(await verify(), 429, 'rate_limited');
  });

  test.each([
    ['on', { failures: 9, firstPause: 600, maxPause: 600 }],
    ['off', false],
  ] as const)('cannot be used up by strangers, with the rule for accounts %s', async (_name, account) => {
    await start({ account }, { passwordCheck: { limit: 3, window: 600 } });
    for (let index = 0; index < 6; index++) await signIn({ password: 'wrong' }).expect(401);
    await signIn().expect(200);
    expect(await reauthenticateFrom(1, await sessionId())).toBe('done');
    await reauthenticate().expect(204);
  });

  test('is not used up by attempts that a pause refuses', async () => {
    const account = { failures: 1, firstPause: 600, maxPause: 600 };
    await start({ account }, { passwordCheck: { limit: 4, window: 600 } });
    const id = await sessionId();
    expect(await reauthenticateFrom(0, id, 'wrong')).toBe('invalid_credentials');
    for (let index = 1; index < 20; index++)
      expect(await reauthenticateFrom(index, id, 'wrong')).toBe('rate_limited');
    await app.auth.models.RateLimit.update({ blockedUntil: new Date(0) }, { where: { hits: 1 } });
    expect(await reauthenticateFrom(20, id)).toBe('done');
  });
});

describe('the limit of password changes', () => {
  const passwords = [ada.password, ...Array.from({ length: 9 }, (_, index) => `a long password ${index}`)];

  test('keeps someone who knows the password from revoking reset links again and again', async () => {
    await start({}, { passwordChange: { limit: 2, window: 600 } });
    let [current = ''] = passwords;
    for (const next of passwords.slice(1, 3)) {
      await change(current, next).expect(200);
      current = next;
    }
    const token = await requestReset();
    const refused = await change(current, 'yet another password');
    expectProblem(refused, 429, 'rate_limited');
    expect(refused.headers['ratelimit-policy']).toBe('"passwordChange";q=2;w=600');
    const body = { token, new_password: 'the password of the owner' };
    await app.http.post('/auth/passwords/reset').send(body).expect(204);
    // The owner's reset does not count.
    const owner = await app.http
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: body.new_password });
    expect(owner.status).toBe(200);
  });

  test('is five in an hour by default, and counts only passwords that follow the rules', async () => {
    await start({});
    await app.stop();
    app = await startMailApp({ plugins, config: { rateLimit: { signIn: false } } });
    browser = await signedIn(app);
    for (let index = 0; index < 8; index++)
      expectProblem(await change(passwords[0] as string, 'password'), 422, 'validation_failed');
    for (let index = 0; index < 5; index++)
      await change(passwords[index] as string, passwords[index + 1] as string).expect(200);
    const refused = await change(passwords[5] as string, passwords[6] as string);
    expect(refused.headers['ratelimit-policy']).toBe('"passwordChange";q=5;w=3600');
    expectProblem(refused, 429, 'rate_limited');
  });
});

describe('the event sign_in.throttled', () => {
  test('is emitted once for each pause, by one of two processes', async () => {
    const account = { failures: 1, firstPause: 600, maxPause: 600 };
    await start({ account });
    const other = createAuth({
      database: app.database.url,
      secret: SECRET,
      plugins: [password()],
      rateLimit: { account },
    });
    const events: string[] = [];
    for (const auth of [app.auth, other])
      auth.on('sign_in.throttled', (event) => events.push(String(event.userId)));
    const attempts = (times: number) =>
      Promise.all(
        Array.from({ length: times }, (_, index) =>
          codeOf(
            (index % 2 ? app.auth : other).credential.signIn({ credential: ada.email, password: 'wrong' }),
          ),
        ),
      );
    for (const pauses of [1, 2]) {
      expect(await attempts(1)).toEqual(['invalid_credentials']);
      expect(new Set(await attempts(40))).toEqual(new Set(['rate_limited']));
      await Promise.all([settled(app.auth), settled(other)]);
      expect(events).toEqual(Array(pauses).fill(userId));
      await app.auth.models.RateLimit.update({ blockedUntil: new Date(0) }, { where: {} });
    }
    await other.close();
  });
});
