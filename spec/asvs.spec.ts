import { afterEach, describe, expect, test } from '@jest/globals';
import type request from 'supertest';
import {
  admin,
  apiKeys,
  authRouter,
  oauth,
  passkeys,
  requireAdmin,
  requireSession,
  twoFactor,
} from '../lib/index.js';
import { ada, password, type SpecApp, type SpecAppOptions, signedIn, startApp } from './support/app.js';
import { rows } from './support/database.js';
import { fixedProvider } from './support/fixed-provider.js';
import { expectProblem } from './support/problem.js';
import { codeOf, firstStep, forgetSteps, secondStep, withSecondFactor } from './support/two-factor.js';
import { withClockAhead } from './support/wrong-clock.js';

// What contributing/asvs.md says of the OWASP ASVS, and no other spec asserts. The numbers are those of its requirements.
const plugins = () =>
  [
    password({ username: true }),
    apiKeys(),
    twoFactor(),
    admin({ adminEmails: [ada.email] }),
    oauth(),
    fixedProvider(),
    passkeys(),
  ] as const;
let app: SpecApp<ReturnType<typeof plugins>>;
afterEach(() => app.stop());

const HTTPS = { baseUrl: 'https://app.example.com' };
const start = async (mount?: SpecAppOptions<ReturnType<typeof plugins>>['mount']) => {
  app = await startApp({
    plugins: plugins(),
    config: { baseUrl: 'http://localhost:3000' },
    ...(mount && { mount }),
  });
};

describe('what a browser gets', () => {
  test('is no page, cannot be framed or embedded, and names no other site where it came from (3.2.1, 3.4.3 to 3.4.6, 3.5.8)', async () => {
    await start();
    const browser = await signedIn(app);
    const form = { credential: ada.email, password: 'wrong', error_to: '/sign-in' };
    const answers = [
      await browser.get('/auth/me').expect(200),
      await browser.get('/auth/sessions/none').expect(405),
      await browser.delete('/auth/sessions/none').expect(404),
      await browser.post('/auth/signin/credential').send('{').type('json').expect(400),
      await browser.post('/auth/signin/credential').type('form').send(form).expect(303),
      await browser.get('/auth/oauth/fixed/authorize').expect(302),
      await browser.get('/auth/oauth/fixed/callback?state=x').expect(400),
      await browser.delete('/auth/sessions/%E0%A4%A').expect(400),
      await browser.post('/auth/signout').expect(204),
    ];
    for (const { headers, request } of answers)
      expect({ url: request.url, headers }).toMatchObject({
        headers: {
          'cache-control': 'no-store',
          'content-security-policy':
            "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
          'cross-origin-resource-policy': 'same-origin',
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
        },
      });
  });

  test('are cookies that only this host can have set, and no script can read (3.3.1 to 3.3.5, 7.2.3, 14.3.3)', async () => {
    app = await startApp({ plugins: plugins(), config: HTTPS });
    await app.auth.credential.signUp(ada);
    const credentials = { credential: ada.email, password: ada.password };
    const signedIn = await app.http.post('/auth/signin/credential').send(credentials).expect(200);
    const [, session = ''] = /__Host-latchkey=([^;]+)/.exec(String(signedIn.headers['set-cookie'])) ?? [];
    expect(JSON.stringify([signedIn.body, { ...signedIn.headers, 'set-cookie': '' }])).not.toContain(session);
    const cookie = `__Host-latchkey=${session}`;
    const begun = await app.http.post('/auth/two-factor/totp').set('cookie', cookie).expect(201);
    const code = codeOf(begun.body.secret);
    const path = '/auth/two-factor/totp/confirm';
    const confirmed = await app.http.post(path).set('cookie', cookie).send({ code }).expect(200);
    await forgetSteps(app);
    const answers = [
      signedIn,
      confirmed,
      await app.http.post('/auth/signin/credential').send(credentials).expect(200),
      await app.http.post('/auth/signin/passkey/options').expect(200),
      await app.http.get('/auth/oauth/fixed/authorize').expect(302),
    ];
    const cookies = answers.flatMap(cookiesOf);
    expect(new Set(cookies.map(({ name }) => name.replace(/flow-.*/, 'flow-')))).toEqual(
      new Set([
        '__Host-latchkey',
        '__Host-latchkey-device',
        '__Host-latchkey-pending',
        '__Host-latchkey-passkey',
        '__Host-latchkey-flow-',
      ]),
    );
    for (const { name, value, attributes } of cookies) {
      expect(attributes).toEqual(expect.arrayContaining(['Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax']));
      expect(attributes.join()).not.toMatch(/domain/i);
      expect(name.length + value.length).toBeLessThan(4096);
      // A prefix, 256 random bits and a checksum, or the bits alone.
      expect(value).toMatch(/^(lk[a-z]_[\w-]{48}|[\w-]{43})$/);
    }
  });
});

test('there is no account before somebody makes one (6.3.2)', async () => {
  await start();
  expect(await rows(app.database, 'SELECT id FROM users')).toEqual([]);
});

test('a password and its session do not expire by age: nobody must choose another one (6.2.10)', async () => {
  await start();
  const { user } = (await app.auth.credential.signUp(ada)) as { user: { id: string } };
  const longAgo = new Date('2001-01-01T00:00:00.000Z');
  await rows(app.database, 'UPDATE users SET created_at = :longAgo, updated_at = :longAgo', { longAgo });
  const credentials = { credential: ada.email, password: ada.password };
  const answer = await app.http.post('/auth/signin/credential').send(credentials).expect(200);
  expect(answer.body.user).toMatchObject({ id: user.id, updated_at: longAgo.toISOString() });
});

test('codes of an authenticator app are checked by the clock of the database, whatever that of the process (6.5.8)', async () => {
  await start();
  const { secret } = await withSecondFactor(app);
  const code = codeOf(secret);
  const browser = app.browser();
  await firstStep(browser).expect(200);
  await withClockAhead(5 * 60_000, async () => {
    const ofThen = await secondStep(browser, { method: 'totp', code: codeOf(secret) });
    expectProblem(ofThen, 401, 'invalid_code');
    await secondStep(browser, { method: 'totp', code }).expect(200);
  });
});

test('listeners, and with them the audit log, learn of every reauthentication and how it was done (16.3.1)', async () => {
  await start();
  const told: unknown[] = [];
  app.auth.on('session.reauthenticated', ({ userAgent: _, ...event }) => told.push(event));
  const browser = await signedIn(app);
  const { user, session } = (await browser.get('/auth/me')).body;
  await browser.post('/auth/reauthenticate').send({ password: 'wrong' }).expect(401);
  expect(told).toEqual([]);
  await browser.post('/auth/reauthenticate').send({ password: ada.password }).expect(204);
  const { secret } = (await browser.post('/auth/two-factor/totp').expect(201)).body;
  await browser
    .post('/auth/two-factor/totp/confirm')
    .send({ code: codeOf(secret) })
    .expect(200);
  await forgetSteps(app);
  await browser
    .post('/auth/reauthenticate')
    .send({ code: codeOf(secret) })
    .expect(204);
  const who = { userId: user.id, sessionId: session.id, ip: expect.any(String) };
  expect(told).toEqual([
    { ...who, amr: ['pwd'] },
    { ...who, amr: expect.arrayContaining(['otp']) },
  ]);
});

describe('guards in front of the router', () => {
  test('demand a recent sign-in for the end of sessions, as it does for changes of the account (7.5.1, 7.5.2)', async () => {
    await start((express, auth) => {
      const recent = requireSession(auth, { freshWithin: 600 });
      express.post('/auth/revoke-sessions', recent);
      express.delete('/auth/sessions/:id', recent);
      express.use('/auth', authRouter(auth));
    });
    const browser = await signedIn(app);
    const work: [string, () => request.Test][] = [
      ['a username', () => browser.patch('/auth/me').send({ username: 'ada' })],
      ['a username by a form', () => browser.post('/AUTH/me/update/').type('form').send({ username: 'ada' })],
      ['a first password', () => browser.put('/auth/passwords').send({ new_password: 'a new engine' })],
      ['an API key', () => browser.post('/auth/api-keys').send({ name: 'work' })],
      ['a link', () => browser.get('/auth/oauth/fixed/link')],
      ['an unlink', () => browser.delete('/auth/oauth/fixed/unlink')],
      ['another session', () => browser.delete('/auth/sessions/none')],
      ['all sessions', () => browser.post('/auth/revoke-sessions')],
    ];
    await app.auth.models.Session.update({ authenticatedAt: new Date(0) }, { where: {} });
    for (const [what, act] of work) expect([what, (await act()).body.code]).toEqual([what, STALE]);
    await browser.get('/auth/me').expect(200);
    await browser.post('/auth/reauthenticate').send({ password: ada.password }).expect(204);
    for (const [what, act] of work) expect([what, (await act()).body.code]).not.toEqual([what, STALE]);
  });

  test('demand a second factor of administrators, and keep the tokens of providers from pages (8.4.2, 10.1.1)', async () => {
    await start((express, auth) => {
      express.use('/auth/admin', requireAdmin(auth, { aal: 2 }));
      express.use('/auth/oauth/:provider/tokens', (_req, res) => void res.sendStatus(404));
      express.use('/auth', authRouter(auth));
    });
    const browser = await signedIn(app);
    await app.auth.markEmailVerified((await browser.get('/auth/me')).body.user.id);
    expectProblem(await browser.get('/auth/admin/users'), 403, 'second_factor_required');
    const { secret } = (await browser.post('/auth/two-factor/totp').expect(201)).body;
    await browser
      .post('/auth/two-factor/totp/confirm')
      .send({ code: codeOf(secret) })
      .expect(200);
    await browser.get('/auth/admin/users').expect(200);
    await browser.get('/auth/oauth/fixed/tokens').expect(404, 'Not Found');
    await browser.post('/auth/oauth/fixed/tokens/refresh').expect(404, 'Not Found');
  });
});

const STALE = 'reauthentication_required';

function cookiesOf({ headers }: request.Response) {
  return ((headers['set-cookie'] ?? []) as unknown as string[])
    .map((header) => header.split('; '))
    .map(([pair = '', ...attributes]) => {
      const [name = '', value = ''] = pair.split('=');
      return { name, value, attributes };
    })
    .filter(({ value }) => value !== '');
}
