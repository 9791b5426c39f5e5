import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express, { type RequestHandler } from 'express';
import request from 'supertest';
import {
  type AuthConfig,
  authCallback,
  authRouter,
  createAuth,
  oauth,
  type TwoFactorApi,
  twoFactor,
} from '../lib/index.js';
import { ada, memoryLogger, password, SECRET } from './support/app.js';
import { createDatabase, type SpecDatabase } from './support/database.js';
import { fixedProvider } from './support/fixed-provider.js';
import { mailbox } from './support/mailbox.js';
import { begin, type OAuthApp, oidcPlugin, startOAuthApp } from './support/oauth-app.js';
import { type OidcServer, startOidcServer, visitProvider } from './support/oidc.js';
import { expectProblem } from './support/problem.js';
import { codeOf } from './support/two-factor.js';

/** What a proxy does in front of the app: it removes the prefix, and passes nothing else on. */
const withoutPrefix: RequestHandler = (req, _res, next) => {
  req.url = req.url.replace(/^\/app(?=\/)/, '');
  req.originalUrl = req.url;
  next();
};

const redirectUriIn = (url: string) => new URL(url).searchParams.get('redirect_uri');

describe('baseUrl with a path', () => {
  const mail = mailbox();
  let app: OAuthApp;
  let provider: OidcServer;
  let origin: string;
  beforeAll(async () => {
    app = await startOAuthApp({
      async providers(redirectUri) {
        origin = new URL(redirectUri('any')).origin;
        const paths = ['/auth/oauth/oidc/callback', '/auth/moved', '/return'];
        provider = await startOidcServer([
          ...paths.map((path) => `${origin}/app${path}`),
          `${origin}/elsewhere`,
        ]);
        return [
          oidcPlugin(provider),
          oidcPlugin(provider, { id: 'moved', callbackPath: '/moved' }),
          oidcPlugin(provider, { id: 'mine', callbackUrl: '/return' }),
          oidcPlugin(provider, { id: 'absolute', callbackUrl: `${origin}/elsewhere` }),
          twoFactor() as never,
        ];
      },
      config: () => ({
        baseUrl: `${origin}/app`,
        email: { send: mail.send, resetUrl: '/reset', supportUrl: '/help' },
      }),
      mount(server, auth) {
        server.use(withoutPrefix);
        server.use('/auth', authRouter(auth));
        server.use('/return', authCallback(auth, 'mine'));
      },
    });
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  test.each([
    ['oidc', '/app/auth/oauth/oidc/callback'],
    ['moved', '/app/auth/moved'],
    ['mine', '/app/return'],
    ['absolute', '/elsewhere'],
  ])('is in the redirect URI of %s', async (id, path) => {
    const there = await begin(app.browser(), `/app/auth/oauth/${id}/authorize`);
    expect(redirectUriIn(there)).toBe(`${origin}${path}`);
    const { url } = await app.auth.oauth.authorizeUrl(id);
    expect(redirectUriIn(url)).toBe(`${origin}${path}`);
  });

  test.each(['oidc', 'mine'])('flows of %s come back through the proxy, and end at the app', async (id) => {
    const browser = app.browser();
    const there = await begin(browser, `/app/auth/oauth/${id}/authorize`);
    const back = new URL(await visitProvider(there));
    expect(back.pathname).toMatch(/^\/app\//);
    // Also by a form post, which arrives without cookies.
    const posted = await app.http
      .post(back.pathname)
      .type('form')
      .send(back.searchParams.toString())
      .set({ 'Sec-Fetch-Site': 'cross-site' });
    expect(posted.headers.location).toMatch(new RegExp(`^${back.pathname}\\?code=`));
    const done = await browser.get(posted.headers.location ?? '');
    expect([done.status, done.headers.location]).toEqual([303, '/app/']);
    expect(String(done.headers['set-cookie'])).toMatch(/latchkey=[^;]+; Path=\//);
    await browser.get('/app/auth/me').expect(200);
  });

  test('is no part of what the app gives: callback_url, redirect_to, error_to, second_factor_to', async () => {
    const browser = app.browser();
    const there = await begin(browser, '/app/auth/oauth/oidc/authorize', { callback_url: '/app/done' });
    const { pathname, search } = new URL(await visitProvider(there));
    expect((await browser.get(pathname + search)).headers.location).toBe('/app/done');
    const wrong = { credential: 'nobody@example.com', password: 'wrong', error_to: '/sign-in' };
    const refused = await app.http.post('/app/auth/signin/credential').type('form').send(wrong);
    expect(refused.headers.location).toBe('/sign-in?error=invalid_credentials');
  });

  test('is before the default pages of forms and of late returns', async () => {
    const browser = app.browser();
    const signUp = { ...ada, email: 'form@example.com' };
    const signedUp = await browser.post('/app/auth/signup/credential').type('form').send(signUp);
    expect([signedUp.status, signedUp.headers.location]).toEqual([303, '/app/']);
    const sent = { credential: 'nobody@example.com', password: 'wrong' };
    const refused = await app.http
      .post('/app/auth/signin/credential')
      .set({ referer: `${origin}/app/sign-in`, host: 'internal:8080' })
      .type('form')
      .send(sent);
    expect(refused.headers.location).toBe('/app/sign-in?error=invalid_credentials');
    const late = await app.http.get('/app/auth/oauth/oidc/callback?state=x').set('accept', 'text/html');
    expect(late.headers.location).toBe('/app/?error=invalid_flow');
  });

  test('is before the default page of a second factor', async () => {
    const person = { ...ada, email: 'factor@example.com' };
    const { id: userId } = await app.auth.users.create({ ...person, emailVerified: true });
    const { session } = await app.auth.createSession(userId);
    const { twoFactor } = app.auth as unknown as { twoFactor: TwoFactorApi };
    const { secret } = await twoFactor.enroll({ userId, sessionId: session.id });
    await twoFactor.confirm({ userId, sessionId: session.id, code: codeOf(secret) });
    const sent = { credential: person.email, password: person.password };
    const waiting = await app.http.post('/app/auth/signin/credential').type('form').send(sent);
    expect(waiting.headers.location).toBe('/app/second-factor');
    const chosen = await app.http
      .post('/app/auth/signin/credential')
      .type('form')
      .send({ ...sent, second_factor_to: '/code' });
    expect(chosen.headers.location).toBe('/code');
  });

  test('is in the links of emails, unless the app has given the page', async () => {
    const browser = app.browser();
    const person = { ...ada, email: 'links@example.com' };
    await browser.post('/app/auth/signup/credential').send(person).expect(201);
    const credentials = { credential: person.email, password: person.password };
    await browser.post('/app/auth/signin/credential').send(credentials).expect(200);
    const verify = await mail.mailOf(person.email, 'verify-email', () =>
      browser.post('/app/auth/email-verifications').expect(202),
    );
    expect(verify.url).toMatch(new RegExp(`^${origin}/app/verify-email\\?token=`));
    const reset = await mail.mailOf(person.email, 'reset-password', () =>
      app.http.post('/app/auth/passwords/request-reset').send({ email: person.email }).expect(202),
    );
    expect(reset.url).toMatch(new RegExp(`^${origin}/reset\\?token=`));
    const { id } = (await app.auth.users.find({ email: person.email }))!;
    const notice = await mail.mailOf(person.email, 'password-changed', () =>
      app.auth.users.setPassword(id, 'a difference engine'),
    );
    expect(notice.text).toContain(`${origin}/help`);
  });

  test('does not matter for the origin of requests', async () => {
    const send = (headers: Record<string, string>) =>
      app.http.post('/app/auth/signin/credential').set(headers).send({});
    expectProblem(await send({ origin, host: 'internal:8080' }), 422, 'validation_failed');
    expectProblem(await send({ origin: 'https://evil.example' }), 403, 'origin_not_allowed');
  });

  test('is in the OpenAPI document', async () => {
    const { body } = await app.http.get('/app/auth/openapi.json').expect(200);
    expect(body.servers).toEqual([{ url: '/app/auth' }]);
    expect(app.auth.openapi().servers).toEqual([{ url: '/app/auth' }]);
  });
});

describe('the path of the routes', () => {
  let database: SpecDatabase;
  beforeAll(async () => {
    database = await createDatabase();
    const { auth } = open({});
    await auth.migrate();
    await auth.close();
  });
  afterAll(() => database.drop());

  function open(config: Partial<AuthConfig>) {
    const logger = memoryLogger();
    const auth = createAuth({
      database: database.url,
      secret: SECRET,
      rateLimit: false,
      outbox: { interval: false },
      baseUrl: 'https://example.com/app/',
      logger,
      ...config,
      plugins: [password(), oauth(), fixedProvider()],
    });
    return {
      auth,
      warnings: () => logger.lines.filter((line) => line.includes('the router serves')),
      redirectUri: async () => redirectUriIn((await auth.oauth.authorizeUrl('fixed')).url),
    };
  }

  const AT = 'https://example.com/app';
  const CALLBACK = '/oauth/fixed/callback';

  test.each([
    ['where it is configured', '/auth', '/auth', '/auth'],
    ['in another case', '/auth', '/auth', '/AUTH'],
    ['at the beginning of the configured path', '/v1/auth', '/v1', '/v1/auth'],
  ])('is the configured one, of a router mounted %s', async (_where, httpBasePath, mount, path) => {
    const { auth, warnings, redirectUri } = open({ httpBasePath });
    const http = request(express().use(mount, authRouter(auth)));
    expect(await redirectUri()).toBe(AT + httpBasePath + CALLBACK);
    expectProblem(await http.get(`${path}/me`), 401, 'unauthenticated');
    expect(await redirectUri()).toBe(AT + httpBasePath + CALLBACK);
    expect(warnings()).toEqual([]);
    await auth.close();
  });

  test('is told once to be another than the configured one', async () => {
    const { auth, warnings, redirectUri } = open({ httpBasePath: '/auth' });
    const http = request(express().use(['/v1', '/v2'], authRouter(auth)));
    expect(warnings()).toEqual([]);
    for (const path of ['/v1', '/v1', '/v2'])
      expectProblem(await http.get(`${path}/auth/me`), 401, 'unauthenticated');
    expect(warnings()).toEqual([
      'warn latchkey: the router serves "/v1/auth", but redirect URIs and links lead to /auth: set httpBasePath to the ' +
        'path of the router, or mount the router at /auth. If a proxy removes the beginning of the path, add ' +
        'that part to baseUrl',
    ]);
    expect(await redirectUri()).toBe(`${AT}/auth${CALLBACK}`);
    await auth.close();
  });

  test('is, where none is configured, the one where an app has mounted the router', async () => {
    const { auth, warnings, redirectUri } = open({});
    const http = request(express().use('/v1/auth', authRouter(auth)));
    expect(await redirectUri()).toBe(`${AT}/v1/auth${CALLBACK}`);
    const { headers } = await http.get(`/v1/auth/oauth/fixed/authorize`);
    expect(redirectUriIn(headers.location ?? '')).toBe(`${AT}/v1/auth${CALLBACK}`);
    expect(await redirectUri()).toBe(`${AT}/v1/auth${CALLBACK}`);
    expect(auth.openapi().servers).toEqual([{ url: '/app/v1/auth' }]);
    expect(warnings()).toEqual([]);
    await auth.close();
  });

  test('is otherwise /auth before the first request, which a router elsewhere tells once', async () => {
    const { auth, warnings, redirectUri } = open({});
    const http = request(express().use('/v1', express.Router().use('/auth', authRouter(auth))));
    expect(await redirectUri()).toBe(`${AT}/auth${CALLBACK}`);
    for (let i = 0; i < 2; i++) expectProblem(await http.get('/v1/auth/me'), 401, 'unauthenticated');
    expect(warnings()).toEqual([
      'warn latchkey: the router serves "/v1/auth", but redirect URIs and links lead to /auth: set httpBasePath to the ' +
        'path of the router. If a proxy removes the beginning of the path, add that part to baseUrl',
    ]);
    expect(await redirectUri()).toBe(`${AT}/v1/auth${CALLBACK}`);
    await auth.close();
  });

  test('cannot be spelled by a client for others', async () => {
    const { auth, redirectUri } = open({});
    const outer = express.Router().use('/v1/auth', authRouter(auth)).use('/:tenant', authRouter(auth));
    const http = request(express().use(outer));
    await http.get('/%2e%2e%22x/me');
    await http.get('/V1/aUTH/me');
    expect(await redirectUri()).toBe(`${AT}/V1/aUTH${CALLBACK}`);
    await http.get('/v1/auth/me');
    await http.get('/V1/AUTH/me');
    await http.get('/other/me');
    expect(await redirectUri()).toBe(`${AT}/v1/auth${CALLBACK}`);
    await auth.close();
  });
});
