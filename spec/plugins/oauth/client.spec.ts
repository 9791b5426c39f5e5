import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sessionCookie } from '../../support/app.js';
import { rows } from '../../support/database.js';
import {
  answers,
  type Lies,
  type LyingProvider,
  newKeys,
  startLyingProvider,
} from '../../support/lying-provider.js';
import { countRows, type OAuthApp, oidcPlugin, signInWith, startOAuthApp } from '../../support/oauth-app.js';

const SECONDS = 1000;
const now = () => Math.floor(Date.now() / 1000);

// These are functions, so that times are relative to the moment of the test.
const lies: Record<string, (issuer: string) => Lies> = {
  'an ID token signed with a wrong key': () => ({ wrongKey: true }),
  'an unsigned ID token': () => ({ alg: 'none' }),
  'an ID token with an unannounced algorithm': () => ({ alg: 'HS256' }),
  'no ID token': () => ({ tokens: { id_token: undefined } }),
  'a malformed ID token': () => ({ tokens: { id_token: 'a.b.c' } }),
  'another issuer': () => ({ claims: { iss: 'https://evil.example' } }),
  'another audience': () => ({ claims: { aud: 'somebody-else' } }),
  'several audiences, and another authorized party': () => ({
    claims: { aud: ['latchkey-spec', 'somebody-else'], azp: 'somebody-else' },
  }),
  'another nonce': () => ({ claims: { nonce: 'x'.repeat(43) } }),
  'no nonce': () => ({ claims: { nonce: undefined } }),
  'an expired ID token': () => ({ claims: { iat: now() - 7200, exp: now() - 3600 } }),
  'an ID token without an expiry time': () => ({ claims: { exp: undefined } }),
  'an ID token issued in the future': () => ({ claims: { iat: now() + 86_400, exp: now() + 90_000 } }),
  'an ID token that is not valid yet': () => ({ claims: { nbf: now() + 3600 } }),
  'no subject': () => ({ claims: { sub: undefined } }),
  'an empty subject': () => ({ claims: { sub: '' } }),
  'a number as the subject': () => ({ claims: { sub: 7 } }),
  'a list as the subject': () => ({ claims: { sub: ['ada'] } }),
  'a subject that is too long': () => ({ claims: { sub: 'x'.repeat(256) } }),
  'a subject with a NUL': () => ({ claims: { sub: 'ada\0' } }),
  'a subject with malformed Unicode': () => ({ claims: { sub: 'ada\ud800' } }),
  'userinfo of another subject': () => ({ userinfo: { sub: 'eve' } }),
  'an error instead of userinfo, and an email only there': () => ({
    claims: { email: undefined },
    answers: { userinfo: answers.failure },
  }),
  'userinfo of another subject, and an email only there': () => ({
    claims: { email: undefined },
    userinfo: { sub: 'eve' },
  }),
  'HTML instead of tokens': () => ({ answers: { token: answers.html } }),
  'a redirect instead of tokens': (issuer) => ({
    answers: { token: answers.redirect(`${issuer}/userinfo`) },
  }),
  'an error instead of tokens': () => ({ answers: { token: answers.failure } }),
  'a negative lifetime of the access token': () => ({ tokens: { expires_in: -1 } }),
  'an invalid lifetime of the access token': () => ({ tokens: { expires_in: 'soon' } }),
  'no access token': () => ({ tokens: { access_token: undefined } }),
  'an object as the access token': () => ({ tokens: { access_token: { a: 1 } } }),
  'an object as the refresh token': () => ({ tokens: { refresh_token: { a: 1 } } }),
  'a token of 100 KB': () => ({ tokens: { access_token: 'x'.repeat(100_000) } }),
  'scopes of 100 KB': () => ({ tokens: { scope: 'x '.repeat(50_000) } }),
  'scopes with a NUL': () => ({ tokens: { scope: 'openid\0' } }),
  'an unknown token type': () => ({ tokens: { token_type: 'x'.repeat(200) } }),
  'another issuer in the authorization response (RFC 9207)': () => ({
    response: { iss: 'https://evil.example' },
  }),
  'no issuer in the authorization response although it announced one': () => ({
    response: { iss: undefined },
  }),
  'an unknown error': () => ({ response: { code: undefined, error: 'x"<script>' } }),
};

describe('a provider that sends', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  beforeAll(async () => {
    provider = await startLyingProvider();
    app = await startOAuthApp({ providers: () => [oidcPlugin(provider)] });
  });
  afterEach(async () => {
    provider.lies = {};
    await rows(app.database, 'DELETE FROM users');
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  async function expectRefusal() {
    const browser = app.browser();
    const response = await signInWith(browser, 'oidc');
    expect([response.status, response.headers.location]).toEqual([303, '/done?error=provider_error']);
    expect(sessionCookie(response)).toBeUndefined();
    expect(await countRows(app.database)).toEqual({ users: 0, accounts: 0, sessions: 0 });
  }

  test.each(Object.keys(lies))('%s is rejected with provider_error', async (name) => {
    provider.lies = lies[name]?.(provider.issuer) ?? {};
    await expectRefusal();
  });

  test.each<[string, (issuer: string) => Lies]>([
    ['an error', () => ({ answers: { userinfo: answers.failure } })],
    ['HTML', () => ({ answers: { userinfo: answers.html } })],
    ['a redirect', (issuer) => ({ answers: { userinfo: answers.redirect(`${issuer}/emails`) } })],
    ['no response', () => ({ answers: { userinfo: answers.hang } })],
    ['a response without a subject', () => ({ userinfo: { sub: undefined } })],
  ])('%s instead of userinfo is accepted if the ID token contains the email', async (_what, lie) => {
    provider.lies = lie(provider.issuer);
    const browser = app.browser();
    expect((await signInWith(browser, 'oidc')).headers.location).toBe('/done');
    expect((await browser.get('/auth/me').expect(200)).body.user.email).toBe('ada@example.com');
    expect(app.log.join('\n')).toContain('provider oidc failed to return userinfo');
  });

  test('tokens in malformed JSON does not get them into the log', async () => {
    provider.lies = {
      answers: {
        token: (_req, res) =>
          void res.writeHead(200, { 'content-type': 'application/json' }).end('gho_SECRET'),
      },
    };
    await expectRefusal();
    expect(app.log.join('\n')).not.toMatch(/gho_|SECRET/);
  });

  test('no valid keys is rejected until it sends them', async () => {
    const other = await startLyingProvider();
    const fresh = await startOAuthApp({ providers: () => [oidcPlugin(other)] });
    for (const jwks of [answers.html, answers.huge, answers.failure]) {
      other.lies = { answers: { jwks } };
      const { headers } = await signInWith(fresh.browser(), 'oidc');
      expect(headers.location).toBe('/done?error=provider_error');
    }
    other.lies = {};
    expect((await signInWith(fresh.browser(), 'oidc')).headers.location).toBe('/done');
    await fresh.stop();
    await other.stop();
  });

  test('no email and has no userinfo endpoint is accepted, and the email stays unknown', async () => {
    const other = await startLyingProvider();
    other.lies = { claims: { email: undefined }, metadata: { userinfo_endpoint: undefined } };
    const fresh = await startOAuthApp({ providers: () => [oidcPlugin(other)] });
    const browser = fresh.browser();
    expect((await signInWith(browser, 'oidc')).headers.location).toBe('/done');
    expect((await browser.get('/auth/me').expect(200)).body.user.email).toBeNull();
    await fresh.stop();
    await other.stop();
  });

  test('an access token with an unlimited lifetime is accepted, and an expiry time is stored', async () => {
    provider.lies = { tokens: { expires_in: 1e300 } };
    expect((await signInWith(app.browser(), 'oidc')).headers.location).toBe('/done');
  });

  test('150 MB does not use much memory or time', async () => {
    for (const endpoint of ['token', 'userinfo'] as const) {
      provider.lies = { claims: { email: undefined }, answers: { [endpoint]: answers.huge } };
      const before = process.memoryUsage().rss;
      const start = performance.now();
      await expectRefusal();
      expect(performance.now() - start).toBeLessThan(3 * SECONDS);
      expect(process.memoryUsage().rss - before).toBeLessThan(60 * 1024 * 1024);
    }
  });
});

test('a sign-in sends one request to each endpoint, and reuses the discovery document and keys', async () => {
  const provider = await startLyingProvider();
  const app = await startOAuthApp({ providers: () => [oidcPlugin(provider)] });
  const realFetch = globalThis.fetch;
  let asked: string[] = [];
  globalThis.fetch = (input, init) => {
    asked.push(new URL(String(input)).pathname);
    return realFetch(input, init);
  };
  await signInWith(app.browser(), 'oidc');
  expect(asked).toEqual(['/.well-known/openid-configuration', '/authorize', '/token', '/jwks', '/userinfo']);
  asked = [];
  await signInWith(app.browser(), 'oidc');
  expect(asked).toEqual(['/authorize', '/token', '/userinfo']);
  globalThis.fetch = realFetch;
  await app.stop();
  await provider.stop();
});

// A call waits 4.5 seconds. Another call's deadline would be at 6 seconds below; the rest is for machines that are busy.
const DEADLINE_MS = 5.8 * SECONDS;

describe('a slow provider', () => {
  test('is cancelled at the deadline of the call', async () => {
    let hasHungUp = false;
    const bent: Lies[] = [
      { answers: { token: (_req, res) => void res.on('close', () => (hasHungUp = true)) } },
      { answers: { discovery: answers.hang } },
      { answers: { discovery: answers.drip } },
      { answers: { token: answers.drip } },
      { answers: { jwks: answers.drip } },
      { claims: { email: undefined }, answers: { userinfo: answers.hang } },
    ];
    const providers = await Promise.all(bent.map(() => startLyingProvider()));
    const app = await startOAuthApp({
      providers: () => providers.map((one, n) => oidcPlugin(one, { id: `slow-${n}` })),
    });
    await Promise.all(
      providers.map(async (provider, n) => {
        provider.lies = bent[n] ?? {};
        const start = performance.now();
        if (provider.lies.answers?.discovery) {
          await app.http.get(`/auth/oauth/slow-${n}/authorize`).expect(502);
        } else {
          const response = await signInWith(app.browser(), `slow-${n}`);
          expect(response.headers.location).toBe('/done?error=provider_error');
        }
        expect(performance.now() - start).toBeLessThan(DEADLINE_MS);
      }),
    );
    expect(await countRows(app.database)).toEqual({ users: 0, accounts: 0, sessions: 0 });
    await sleep(100);
    expect(hasHungUp).toBe(true);
    await app.stop();
    await Promise.all(providers.map((one) => one.stop()));
  });

  test('has no more time because another sign-in is waiting for its keys', async () => {
    const provider = await startLyingProvider();
    const app = await startOAuthApp({ providers: () => [oidcPlugin(provider)] });
    expect((await signInWith(app.browser(), 'oidc')).headers.location).toBe('/done');
    provider.keys = [newKeys()];
    provider.lies = { answers: { jwks: answers.hang } };
    const realFetch = globalThis.fetch;
    let tokenRequests = 0;
    globalThis.fetch = async (input, init) => {
      if (String(input).endsWith('/token') && tokenRequests++ === 0) await sleep(3 * SECONDS);
      return realFetch(input, init);
    };
    const start = performance.now();
    const early = signInWith(app.browser(), 'oidc').then(({ headers }) => {
      expect(headers.location).toBe('/done?error=provider_error');
      expect(performance.now() - start).toBeLessThan(DEADLINE_MS);
    });
    await sleep(1.5 * SECONDS);
    const late = signInWith(app.browser(), 'oidc');
    await early;
    expect((await late).headers.location).toBe('/done?error=provider_error');
    globalThis.fetch = realFetch;
    await app.stop();
    await provider.stop();
  });
});
