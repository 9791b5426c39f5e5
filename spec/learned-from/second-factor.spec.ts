import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import type { Response } from 'supertest';
import { type AuthWith, internalsOf } from '../../lib/auth.js';
import { admin, apiKeys, authRouter, oauth, requireSession, twoFactor } from '../../lib/index.js';
import { password, sessionCookie, signedIn } from '../support/app.js';
import { rows } from '../support/database.js';
import { startLyingProvider } from '../support/lying-provider.js';
import { mailbox } from '../support/mailbox.js';
import { mailedLink } from '../support/mailed-link.js';
import { linkWith, type OAuthApp, oidcPlugin, signInWith, startOAuthApp } from '../support/oauth-app.js';
import { expectProblem } from '../support/problem.js';
import { codeOf, enroll, forgetSteps } from '../support/two-factor.js';

// What contributing/learned-from.md says of the second factor: that no way in forgets it.
const provider = await startLyingProvider();
const plugins = [
  password(),
  oauth(),
  oidcPlugin(provider),
  admin({ adminEmails: ['root@example.com'] }),
  apiKeys(),
  mailedLink(),
  twoFactor(),
] as const;
const PASSWORD = 'an analytical engine';

const mail = mailbox();
let app: OAuthApp & { readonly auth: AuthWith<typeof plugins> };
beforeAll(async () => {
  app = (await startOAuthApp({
    providers: () => [],
    config: { plugins, bearerEnabled: true, email: { send: mail.send } } as never,
    mount(server, auth) {
      server.use('/auth', authRouter(auth));
      server.get('/page', requireSession(auth), (_req, res) => void res.json({ ok: true }));
      server.get('/strong', requireSession(auth, { aal: 2 }), (_req, res) => void res.json({ ok: true }));
      // A second sign-in page of the app's own, for its back office.
      server.post('/office/sign-in', express.json(), async (req, res) => {
        const { email, password } = req.body;
        const issued = await (auth as unknown as AuthWith<typeof plugins>).credential.signIn({
          credential: email,
          password,
          request: req,
        });
        await auth.establishSession(req, res, issued);
        res.json({ ok: true });
      });
    },
  })) as never;
});
afterAll(async () => {
  await app.stop();
  await provider.stop();
});

let people = 0;
async function person() {
  const email = `person-${++people}@example.com`;
  const browser = await signedIn(app, { email, password: PASSWORD });
  const { id } = (await browser.get('/auth/me').expect(200)).body.user;
  await app.auth.markEmailVerified(id);
  const before = await app.auth.credential.signIn({ credential: email, password: PASSWORD });
  provider.lies.claims = { sub: id, email, email_verified: true };
  await linkWith(browser, 'oidc');
  const { secret } = await enroll(browser);
  await forgetSteps(app);
  return { id: id as string, email, browser, code: () => codeOf(secret), before };
}
type Person = Awaited<ReturnType<typeof person>>;

/** Every way to sign in, up to where a second factor is due. */
const WAYS: Record<string, (person: Person) => Promise<Response>> = {
  password: async ({ email }) =>
    app.http.post('/auth/signin/credential').send({ credential: email, password: PASSWORD }),
  'a form': async ({ email }) =>
    app.http.post('/auth/signin/credential').type('form').send({ credential: email, password: PASSWORD }),
  'a provider': async () => signInWith(app.browser(), 'oidc'),
  'a mailed link': async ({ email }) => {
    const { token } = await mail.mailOf(email, 'sign-in-link', () =>
      app.http.post('/auth/signin/link/request').send({ email }).expect(202),
    );
    return app.http.post('/auth/signin/link').send({ token });
  },
  "a page of the app's own": async ({ email }) =>
    app.http.post('/office/sign-in').send({ email, password: PASSWORD }),
};
const cookiesOf = (answer: Response) =>
  ((answer.headers['set-cookie'] ?? []) as unknown as string[]).map((line) => line.split(';')[0] ?? '');
const pendingCookie = (answer: Response) =>
  cookiesOf(answer).find((cookie) => /^latchkey-(?!device|flow)/.test(cookie) && !/=$/.test(cookie)) ?? '';

describe('no way in forgets the second factor', () => {
  test.each(Object.keys(WAYS))('CVE-2024-45042, CVE-2022-24857: %s begins no session', async (way) => {
    const owner = await person();
    const sessions = () =>
      rows(app.database, 'SELECT id FROM sessions WHERE user_id = :id', { id: owner.id });
    const before = await sessions();
    const answer = await WAYS[way]!(owner);
    expect(sessionCookie(answer)?.value || undefined).toBeUndefined();
    expect(answer.headers['set-auth-token']).toBeUndefined();
    // The first access to the mailbox, by a link, may end some.
    expect(before).toEqual(expect.arrayContaining(await sessions()));
    const cookie = pendingCookie(answer);
    expect(cookie).toMatch(/=.{20,}/);
    expectProblem(await app.http.get('/page').set('cookie', cookie), 401, 'unauthenticated');
    const done = await app.http
      .post('/auth/signin/second-factor')
      .set('cookie', cookie)
      .send({ method: 'totp', code: owner.code() });
    expect(done.status).toBe(200);
    await app.http
      .get('/strong')
      .set('cookie', `latchkey=${sessionCookie(done)?.value}`)
      .expect(200);
  });
});

describe('who is half signed in is not signed in', () => {
  test('GHSA-xg6x-h9c9-2m83: what waits for the second factor opens no route, as cookie, session or Bearer token', async () => {
    const owner = await person();
    const answer = await WAYS.password!(owner);
    const cookie = pendingCookie(answer);
    const value = cookie.slice(cookie.indexOf('=') + 1);
    const token = answer.body.second_factor.pending_token as string;
    const guarded = internalsOf(app.auth)
      .routes()
      .filter(({ access, path }) => access !== 'public' && path !== '/signout');
    expect(guarded.length).toBeGreaterThan(20);
    for (const { method, path } of guarded) {
      const url = `/auth${path.replace(':provider', 'oidc').replace(/:\w+/g, owner.id)}`;
      const statuses = [
        (await app.http[method](url).set('cookie', cookie)).status,
        (await app.http[method](url).set('cookie', `latchkey=${value}`)).status,
        (await app.http[method](url).set('cookie', `latchkey=${token}`)).status,
        (await app.http[method](url).set('authorization', `Bearer ${token}`)).status,
      ];
      expect([method, path, ...statuses]).toEqual([method, path, 401, 401, 401, 401]);
    }
    expectProblem(await app.http.get('/page').set('cookie', cookie), 401, 'unauthenticated');
    expectProblem(
      await app.http.get('/page').set('authorization', `Bearer ${token}`),
      401,
      'invalid_session',
    );
    await expect(app.auth.getSession({ headers: { cookie } } as never)).rejects.toMatchObject({
      status: 401,
    });
  });
});
