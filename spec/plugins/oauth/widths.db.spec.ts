import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import { authRouter, oauth } from '../../../lib/index.js';
import { signedIn } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { type Lies, type LyingProvider, startLyingProvider } from '../../support/lying-provider.js';
import { countRows, type OAuthApp, oidcPlugin, signInWith, startOAuthApp } from '../../support/oauth-app.js';
import { expectProblem } from '../../support/problem.js';

const CJK = '\u6f22';

describe('what callers and providers send', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  beforeAll(async () => {
    provider = await startLyingProvider();
    app = await startOAuthApp({
      providers: () => [oidcPlugin(provider)],
      mount(host, auth) {
        host.use('/auth', authRouter(auth));
        host.use('/of/:tenant', express.Router({ mergeParams: true }).use(authRouter(auth)));
      },
    });
  });
  afterEach(async () => {
    provider.lies = {};
    await rows(app.database, 'DELETE FROM users');
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  test.each(['', 'garbage', "' OR 1=1 --", 'x'.repeat(300), CJK, '\0', null, 7, {}])(
    'a session id of %j is refused, and not looked up',
    async (id) => {
      const { oauth } = app.auth;
      await expect(oauth.linkUrl('oidc', id as string)).rejects.toMatchObject({ code: 'invalid_session' });
      await expect(oauth.reauthenticateUrl('oidc', id as string)).rejects.toMatchObject({
        code: 'invalid_session',
      });
    },
  );

  test.each<[string, Lies]>([
    ['an access token of 30,000 Chinese characters', { tokens: { access_token: CJK.repeat(30_000) } }],
    ['scopes of Chinese characters (RFC 6749, 3.3)', { tokens: { scope: CJK.repeat(16) } }],
    ['a subject of 256 characters', { claims: { sub: 'x'.repeat(256) } }],
    ['a token type of 300 characters', { tokens: { token_type: 'x'.repeat(300) } }],
  ])('%s is an error of the provider', async (_what, lies) => {
    provider.lies = lies;
    const response = await signInWith(app.browser(), 'oidc');
    expect([response.status, response.headers.location]).toEqual([303, '/done?error=provider_error']);
    expect((await countRows(app.database)).accounts).toBe(0);
  });

  test.each<[string, Lies]>([
    ['tokens of 32 KiB', { tokens: { access_token: 'x'.repeat(8192), refresh_token: 'y'.repeat(32_768) } }],
    [
      'a subject of 255 Chinese characters',
      { claims: { sub: CJK.repeat(255) }, userinfo: { sub: CJK.repeat(255) } },
    ],
    ['scopes of 16,000 characters', { tokens: { scope: 's'.repeat(16_000) } }],
    ['a lifetime of a million years', { tokens: { expires_in: 1e15 } }],
    ['an email of 10,000 characters', { claims: { email: `${'x'.repeat(10_000)}@example.com` } }],
  ])('%s can be stored', async (_what, lies) => {
    provider.lies = lies;
    const browser = app.browser();
    expect((await signInWith(browser, 'oidc')).headers.location).toBe('/done');
    await browser.get('/auth/oauth/oidc/tokens').expect(200);
    await browser.post('/auth/oauth/oidc/tokens/refresh').expect(200);
  });

  test('an issuer of 320 characters is refused at the start', async () => {
    const at = (length: number) => `${provider.issuer}/`.padEnd(length, 'x');
    const start = (issuer: string) => app.another({ plugins: [oauth(), oidcPlugin({ issuer })] as never });
    expect(() => start(at(320))).toThrow(
      /^latchkey: provider oidc: issuer must have at most 255 characters$/,
    );
    start(at(255));
  });

  test('a mount path that is too long for the redirect URI is refused', async () => {
    const response = await app.http.get(`/of/${'x'.repeat(3000)}/oauth/oidc/authorize`);
    expectProblem(response, 400, 'invalid_request');
    const browser = await signedIn(app);
    expectProblem(await browser.get(`/of/${'x'.repeat(3000)}/oauth/oidc/link`), 400, 'invalid_request');
    await app.http.get('/of/one/oauth/oidc/authorize').expect(302);
  });
});
