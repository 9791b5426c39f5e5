import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Response } from 'supertest';
import { admin, apiKeys } from '../../lib/index.js';
import { ada, password, signedIn } from '../support/app.js';
import { rows } from '../support/database.js';
import { type MailApp, startMailApp } from '../support/mail-app.js';
import { mailbox } from '../support/mailbox.js';
import { mailedLink } from '../support/mailed-link.js';
import { expectProblem } from '../support/problem.js';
import { settled } from '../support/sessions.js';

// What contributing/learned-from.md says of mailed links.
const plugins = [
  password({ sendVerificationOnSignUp: true }),
  apiKeys(),
  admin({ adminEmails: ['root@example.com'] }),
  mailedLink(),
] as const;
const eve = { email: 'eve@evil.example', password: 'an evil analytical engine' };
const NEW = 'the owner of it';

let app: MailApp<typeof plugins>;
let mail: ReturnType<typeof mailbox>;
beforeEach(async () => {
  mail = mailbox();
  app = await startMailApp({ plugins, config: { email: { send: mail.send } } });
});
afterEach(() => app.stop());

const post = (path: string, body: object) => app.http.post(`/auth${path}`).send(body);
const resetMail = (to = ada.email) =>
  mail.mailOf(to, 'reset-password', () => post('/passwords/request-reset', { email: to }).expect(202));
const reset = (token: unknown) => post('/passwords/reset', { token, new_password: NEW });
const canSignIn = async ({ email }: { email: string }, given: string) =>
  (await post('/signin/credential', { credential: email, password: given })).status === 200;

describe('a token is bound to its user, its address and its purpose', () => {
  test('CVE-2021-21310, CVE-2022-39263, CVE-2023-26481: a token of one user changes nothing for another', async () => {
    await signedIn(app, ada);
    const browser = await signedIn(app, eve);
    const { token } = await resetMail(eve.email);
    for (const more of [{ email: ada.email }, { user_id: 1 }, { credential: ada.email }]) {
      const answer = await post('/passwords/reset', { token, new_password: NEW, ...more });
      expectProblem(answer, 422, 'validation_failed');
    }
    await reset(token).expect(204);
    expect(await canSignIn(ada, ada.password)).toBe(true);
    expect(await canSignIn(ada, NEW)).toBe(false);

    // A verification of Ada's address, with Eve's session or password.
    const verification = mail.mails.find(({ to, kind }) => to === ada.email && kind === 'verify-email');
    for (const answer of [
      await browser.post('/auth/verify-email').send({ token: verification?.token }),
      await post('/verify-email', { token: verification?.token, password: eve.password }),
    ]) {
      expect(answer.status).toBe(401);
    }
  });

  test('CVE-2022-23555: a token for one purpose does not serve another', async () => {
    const browser = await signedIn(app, ada);
    await settled(app.auth);
    const verification = mail.mails.find(({ kind }) => kind === 'verify-email')?.token ?? '';
    const { token: forReset } = await resetMail();
    const { token: forSignIn } = await mail.mailOf(ada.email, 'sign-in-link', () =>
      post('/signin/link/request', { email: ada.email }).expect(202),
    );
    const tries: Record<string, (token: string) => PromiseLike<Response>> = {
      'verify-email': (token) => browser.post('/auth/verify-email').send({ token }),
      'reset-password': reset,
      'sign-in-link': (token) => post('/signin/link', { token }),
      'verify-new-email': (token) => browser.post('/auth/email-changes/confirm').send({ token }),
    };
    const tokens = { 'verify-email': verification, 'reset-password': forReset, 'sign-in-link': forSignIn };
    for (const [made, token] of Object.entries(tokens)) {
      for (const [purpose, attempt] of Object.entries(tries)) {
        if (made !== purpose) expectProblem(await attempt(token), 400, 'invalid_token');
      }
    }
    await reset(forReset).expect(204);
  });

  test.each([
    ['an empty string', '', 422],
    ['white space', ' ', 400],
    ['nothing', undefined, 422],
    ['null', null, 422],
    ['zero', 0, 422],
    ['a list', [''], 422],
    ['an object', { $ne: null }, 422],
    ['a pattern', '%', 400],
  ])('CVE-2019-16109: %s is no token', async (_title, token, status) => {
    await signedIn(app, ada);
    await resetMail();
    for (const path of ['/passwords/reset', '/verify-email', '/email-changes/confirm', '/signin/link']) {
      const body = path === '/passwords/reset' ? { token, new_password: NEW } : { token };
      expect([path, (await post(path, body)).status]).toEqual([path, status]);
    }
    expect(await canSignIn(ada, ada.password)).toBe(true);
  });

  test('CVE-2026-32700: of two changes of email at once, a link proves the address that it was sent to', async () => {
    const browser = await signedIn(app, ada);
    await signedIn(app, { email: 'victim@example.com', password: ada.password });
    await rows(app.database, "DELETE FROM users WHERE email = 'victim@example.com'");
    for (let round = 0; round < 5; round++) {
      const own = `own${round}@evil.example`;
      mail.mails.length = 0;
      await Promise.all(
        [own, 'victim@example.com'].map((new_email) =>
          browser.post('/auth/email-changes').send({ new_email }).expect(202),
        ),
      );
      await settled(app.auth);
      const links = mail.mails.filter(({ kind }) => kind === 'verify-new-email');
      const mine = links.find(({ to }) => to === own);
      await browser.post('/auth/email-changes/confirm').send({ token: mine?.token ?? 'none' });
      const { email } = (await browser.get('/auth/me').expect(200)).body.user;
      expect(email).not.toBe('victim@example.com');
    }
    // The newest link alone works.
    const ask = (new_email: string) => () =>
      browser.post('/auth/email-changes').send({ new_email }).expect(202);
    const { token } = await mail.mailOf('first@evil.example', 'verify-new-email', ask('first@evil.example'));
    await mail.mailOf('victim@example.com', 'verify-new-email', ask('victim@example.com'));
    expectProblem(await browser.post('/auth/email-changes/confirm').send({ token }), 400, 'invalid_token');
  });
});

describe('a token works once, and until its end', () => {
  test('CVE-2025-64708: an invitation is refused from its end on, whether or not it was pruned', async () => {
    const root = await signedIn(app, { email: 'root@example.com', password: ada.password });
    await app.auth.markEmailVerified((await root.get('/auth/me')).body.user.id);
    const { token } = await mail.mailOf('new@example.com', 'invitation', () =>
      root.post('/auth/admin/users').send({ email: 'new@example.com' }).expect(201),
    );
    await app.auth.models.OneTimeToken.update({ expiresAt: new Date(Date.now() - 1) } as never, {
      where: {},
    });
    expectProblem(await reset(token), 400, 'invalid_token');
    expect(await rows(app.database, 'SELECT 1 FROM one_time_tokens')).not.toEqual([]);
  });
});

describe('a mail says nothing that a stranger chose', () => {
  test.each([
    { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
    { host: 'evil.example' },
    { forwarded: 'host=evil.example;proto=https' },
    { origin: 'http://app.example.com', referer: 'https://evil.example/' },
  ])(
    'CVE-2025-64101, GHSA-3529-5m8x-rpv3: its link leads to baseUrl, whatever the request says: %j',
    async (headers) => {
      await signedIn(app, ada);
      const { url, text, html } = await mail.mailOf(ada.email, 'reset-password', () =>
        post('/passwords/request-reset', { email: ada.email }).set(headers as never),
      );
      expect(new URL(url).origin).toBe('http://app.example.com');
      for (const part of [url, text, html]) expect(part).not.toContain('evil.example');
    },
  );

  test('GHSA-569q-mpph-wgww: nor does the first request decide where the routes are', async () => {
    const fresh = await startMailApp({ plugins: [password()], config: { baseUrl: undefined as never } });
    const first = fresh.http
      .get('/auth/openapi.json')
      .set({ 'x-forwarded-proto': 'some:', 'x-forwarded-host': 'junk' });
    await first.expect(200);
    await fresh.http.get('/auth/openapi.json').expect(200);
    await fresh.stop();
  });
});

describe('who proves a mailbox shares the account with nobody who came before', () => {
  test('GHSA-qq9h-g4jm-xgf3: the first sign-in by a mailed link ends the password, sessions and keys from before', async () => {
    // A stranger has signed up with Ada's address.
    const stranger = await signedIn(app, ada);
    const { key } = (await stranger.post('/auth/api-keys').send({ name: 'backdoor' }).expect(201)).body;
    const { token } = await mail.mailOf(ada.email, 'sign-in-link', () =>
      post('/signin/link/request', { email: ada.email }).expect(202),
    );
    await post('/signin/link', { token }).expect(200);
    expectProblem(await stranger.get('/auth/me'), 401, 'invalid_session');
    expectProblem(await app.http.get('/auth/me').set('x-service-api-key', key), 401, 'invalid_api_key');
    expect(await canSignIn(ada, ada.password)).toBe(false);
  });
});

describe('a request for a mail says nothing about accounts', () => {
  test('CVE-2023-39522, CVE-2022-39307, CVE-2023-44399: a reset is answered alike for every address', async () => {
    await signedIn(app, ada);
    await app.auth.users.create({ email: 'no-password@example.com' });
    const of = async (email: string) => {
      const { status, body, headers } = await post('/passwords/request-reset', { email });
      const { date: _, ...rest } = headers;
      return { status, body, headers: rest };
    };
    const answers = await Promise.all(
      [ada.email, 'nobody@example.com', 'no-password@example.com', 'ADA@example.com'].map(of),
    );
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });
});
