import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import { authCallback, authRouter, createAuth, oauth } from '../../../lib/index.js';
import * as providers from '../../../lib/providers.js';
import { ada, SECRET, signedIn } from '../../support/app.js';
import { type LyingProvider, newRsaKeys, startLyingProvider } from '../../support/lying-provider.js';
import { begin, type OAuthApp, oidcPlugin, pathOf, startOAuthApp, travel } from '../../support/oauth-app.js';
import { type OidcServer, startOidcServer, visitProvider } from '../../support/oidc.js';
import { expectProblem } from '../../support/problem.js';

const { apple, github, google, oidc } = providers;
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

let app: OAuthApp;
let provider: OidcServer;
let liar: LyingProvider;
beforeAll(async () => {
  liar = await startLyingProvider(newRsaKeys());
  // Apple sends no `iss`.
  liar.lies = { response: { iss: undefined }, claims: { email: 'apple@example.com' } };
  app = await startOAuthApp({
    options: { errorUrl: '/too-late' },
    async providers(redirectUri) {
      const { origin } = new URL(redirectUri('any'));
      provider = await startOidcServer([`${origin}/auth/work/return/`, `${origin}/signin/site/return`]);
      return [
        oidcPlugin(provider, { id: 'work', callbackPath: '/work/return/' }),
        oidcPlugin(provider, { id: 'site', callbackUrl: '/signin/site/return' }),
        apple({
          clientId: 'com.example.app',
          teamId: 'TEAM123456',
          keyId: 'KEY1234567',
          privateKey: pem,
          issuer: liar.issuer,
          callbackUrl: `${origin}/apple/return`,
        }),
      ];
    },
    mount: (server, auth) => {
      server.use('/auth', authRouter(auth));
      server.use('/signin/site/return', authCallback(auth, 'site'));
      server.all('/apple/return', express.urlencoded({ extended: true }), authCallback(auth, 'apple'));
    },
  });
});
afterAll(async () => {
  await app.stop();
  await provider.stop();
  await liar.stop();
});

const redirectUriIn = (url: string) => new URL(url).searchParams.get('redirect_uri');
/** Starts a sign-in, and returns where the provider sends the browser. */
async function returnOf(browser: ReturnType<OAuthApp['browser']>, id: string) {
  const there = await begin(browser, `/auth/oauth/${id}/authorize`, { callback_url: '/done' });
  return new URL(await visitProvider(there));
}
/** What a provider's page makes a browser send: from another site, so without cookies. */
const post = ({ pathname, searchParams }: URL) =>
  app.http
    .post(pathname)
    .set({ Origin: 'https://provider.example', 'Sec-Fetch-Site': 'cross-site' })
    .type('form')
    .send(searchParams.toString());

describe('callbackPath', () => {
  test('is where the provider sends the browser, below the path of the router', async () => {
    const browser = app.browser();
    const there = await begin(browser, '/auth/oauth/work/authorize', { callback_url: '/done' });
    expect(redirectUriIn(there)).toBe(`${app.origin}/auth/work/return/`);
    expect((await browser.get(pathOf(await visitProvider(there)))).headers.location).toBe('/done');
    await browser.get('/auth/me').expect(200);
    const again = await travel(browser, '/auth/oauth/work/link', { callback_url: '/linked' });
    expect(again.headers.location).toBe('/linked');
  });

  test('takes forms of the provider', async () => {
    const browser = app.browser();
    const posted = await post(await returnOf(browser, 'work')).expect(303);
    expect(posted.headers.location).toMatch(/^\/auth\/work\/return\/\?code=/);
    expect((await browser.get(posted.headers.location ?? '')).headers.location).toBe('/done');
  });

  test('does not break flows that began at the path of all providers', async () => {
    const browser = app.browser();
    const back = await returnOf(browser, 'work');
    const former = await browser.get(`/auth/oauth/work/callback${back.search}`);
    expect(former.headers.location).toBe('/done');
  });

  test('is in the OpenAPI document', () => {
    const { paths } = app.auth.openapi();
    expect(Object.keys(paths['/work/return'] ?? {})).toEqual(['get', 'post']);
    expect(paths).not.toHaveProperty(['/signin/site/return']);
  });

  test.each(['/me', '/ME', '/sessions/mine', '/oauth/github/callback', '/oauth/accounts', '/openapi.json'])(
    'must not be the path of another route: %s',
    (callbackPath) => {
      expect(() => configWith(google({ ...client, callbackPath }), github(client))).toThrow(
        /^latchkey: provider google: callbackPath is the path of [A-Z]+ \/.*: choose another path$/,
      );
    },
  );

  test('must not be the path of another provider', () => {
    const callbackPath = '/callback';
    expect(() =>
      configWith(google({ ...client, callbackPath }), github({ ...client, callbackPath: '/Callback/' })),
    ).toThrow(/^latchkey: provider g\w+: callbackPath is the path of GET \/callback/i);
  });

  test('can name the path that is the default', async () => {
    const auth = configWith(google({ ...client, callbackPath: '/oauth/google/callback' }));
    expect(Object.keys(auth.openapi().paths).filter((path) => path.endsWith('callback'))).toHaveLength(1);
  });

  test.each(['google', '//google', '/a/../b', '/:id', '/a b', '/', '/a?b', 'https://app.example/x', 5])(
    'must be a path: %j',
    (callbackPath) => {
      expect(() => google({ ...client, callbackPath: callbackPath as string })).toThrow(
        'latchkey: provider google: callbackPath must be a path below the path of the router, such as /google/callback',
      );
    },
  );
});

describe('callbackUrl', () => {
  test('is the redirect URI, which authCallback serves', async () => {
    const browser = app.browser();
    const there = await begin(browser, '/auth/oauth/site/authorize', { callback_url: '/done' });
    expect(redirectUriIn(there)).toBe(`${app.origin}/signin/site/return`);
    const back = await browser.get(pathOf(await visitProvider(there)));
    expect([back.status, back.headers.location]).toEqual([303, '/done']);
    await browser.get('/auth/me').expect(200);
  });

  test('is for flows that code starts, too', async () => {
    const { url } = await app.auth.oauth.authorizeUrl('site', { basePath: '/other' });
    expect(redirectUriIn(url)).toBe(`${app.origin}/signin/site/return`);
  });

  test('can be where a provider such as Apple posts a form', async () => {
    const browser = app.browser();
    const posted = await post(await returnOf(browser, 'apple')).expect(303);
    expect(posted.headers.location).toMatch(/^\/apple\/return\?code=/);
    expect((await browser.get(posted.headers.location ?? '')).headers.location).toBe('/done');
    await browser.get('/auth/me').expect(200);
  });

  test('takes a response only from the browser that began, once, and of its own provider', async () => {
    const browser = app.browser();
    const { search } = await returnOf(browser, 'site');
    expectProblem(await app.browser().get(`/signin/site/return${search}`), 400, 'invalid_flow');
    expectProblem(await browser.get(`/apple/return${search}`), 400, 'invalid_flow');
    const late = await app.browser().get(`/signin/site/return${search}`).set('accept', 'text/html');
    expect(late.headers.location).toBe('/too-late?error=invalid_flow');
    await browser.get(`/signin/site/return${search}`).expect(303);
    expectProblem(await browser.get(`/signin/site/return${search}`), 400, 'invalid_flow');
  });

  test('takes GET and POST alone', async () => {
    const answer = await app.http.put('/apple/return').type('form').send('code=x');
    expectProblem(answer, 405, 'method_not_allowed');
    expect(answer.headers.allow).toBe('GET, HEAD, POST');
    const browser = app.browser();
    const { search } = await returnOf(browser, 'site');
    await browser.head(`/signin/site/return${search}`).expect(405);
    await browser.get(`/signin/site/return${search}`).expect(303);
  });

  test('links an account to the session that began', async () => {
    const browser = await signedIn(app, { ...ada, email: 'links@example.com' });
    provider.person = { sub: 'links' };
    const linked = await travel(browser, '/auth/oauth/site/link', { callback_url: '/linked' });
    expect(linked.headers.location).toBe('/linked');
    expect((await browser.get('/auth/oauth/accounts')).body.accounts).toMatchObject([{ provider: 'site' }]);
  });

  test.each(['https://evil.example/x', 'http://app.example/x', 'https://app.example:444/x'])(
    'must have the origin of baseUrl: %s',
    (callbackUrl) => {
      expect(() => configWith(google({ ...client, callbackUrl }))).toThrow(
        'latchkey: provider google: callbackUrl must have the origin of baseUrl, https://app.example, or be a path',
      );
    },
  );

  test.each([
    ...['signin', '//evil.example/x', '/a?b=c', '/a#b', '/a\\b', '/a/../b', 'https://app.example/a b'],
    ...['https://app.example', 'https://app.example:443/x', 'javascript:alert(1)', ''],
  ])('must be a path or URL as browsers write it: %s', (callbackUrl) => {
    expect(() => google({ ...client, callbackUrl })).toThrow(
      'latchkey: provider google: callbackUrl must be a path of your app',
    );
  });

  test('excludes callbackPath', () => {
    const both = { callbackPath: '/google/callback', callbackUrl: '/signin/google/return' };
    expect(() => configWith(google({ ...client, ...both }))).toThrow(
      'latchkey: provider google: callbackPath and callbackUrl are mutually exclusive: use one of them',
    );
  });
});

test('every provider takes both', () => {
  const urls = {
    authorizationUrl: 'https://a.example/a',
    tokenUrl: 'https://a.example/t',
    userinfoUrl: 'https://a.example/u',
  };
  const more: Record<string, object> = {
    apple: { teamId: 'TEAM123456', keyId: 'KEY1234567', privateKey: pem },
    oidc: { id: 'own', issuer: 'https://a.example' },
    oauth2: { id: 'plain', ...urls },
  };
  for (const [name, make] of Object.entries(providers))
    for (const place of [{ callbackPath: '/back' }, { callbackUrl: '/back' }])
      expect(
        (make as typeof google)({
          ...(name === 'apple' ? { clientId: 'c' } : client),
          ...more[name],
          ...place,
        } as never).provider,
      ).toMatchObject(place);
});

describe('authCallback', () => {
  test.each([
    [
      'facebook',
      'latchkey: authCallback: facebook is not a provider in plugins: pass one of apple, site, work',
    ],
    ['work', 'latchkey: authCallback: set callbackUrl of the provider work to the path of this handler'],
  ])('of %s is a mistake', (id, message) => {
    expect(() => authCallback(app.auth, id)).toThrow(message);
  });

  test('requires oauth()', () => {
    expect(() => authCallback({ ...config, plugins: [] }, 'google')).toThrow(
      'latchkey: authCallback requires oauth() in plugins',
    );
  });

  test('takes a config', () => {
    const plugins = [
      oauth(),
      oidc({ id: 'own', issuer: 'https://a.example', ...client, callbackUrl: '/back' }),
    ];
    expect(authCallback({ ...config, plugins }, 'own')).toBeInstanceOf(Function);
  });
});

const client = { clientId: 'c', clientSecret: 's' };
const config = { database: 'sqlite::memory:', secret: SECRET, baseUrl: 'https://app.example' };
const configWith = (...providers: ReturnType<typeof google>[]) =>
  createAuth({ ...config, plugins: [oauth(), ...providers] });
