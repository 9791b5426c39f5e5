import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { signedIn } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { type LyingProvider, startLyingProvider } from '../../support/lying-provider.js';
import {
  linkWith,
  type OAuthApp,
  oidcPlugin,
  pathOf,
  signInWith,
  startOAuthApp,
} from '../../support/oauth-app.js';
import { visitProvider } from '../../support/oidc.js';
import { settled } from '../../support/sessions.js';

const NOBODY = '01900000-0000-7000-8000-000000000000';

describe('auth.oauth', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  const events: string[] = [];
  beforeAll(async () => {
    provider = await startLyingProvider();
    app = await startOAuthApp({
      providers: () => [oidcPlugin(provider), oidcPlugin(provider, { id: 'twin' })],
    });
    const names = ['account.linked', 'account.unlinked', 'tokens.read', 'tokens.refreshed'] as const;
    for (const name of names)
      app.auth.on(name, (event) => events.push(`${name} ${event.provider} ${Object.keys(event).sort()}`));
    app.auth.on('user.created', ({ userId }) => events.push(`user.created ${userId}`));
    app.auth.on('session.created', ({ userId }) => events.push(`session.created ${userId}`));
  });
  afterEach(async () => {
    provider.lies = {};
    events.length = 0;
    await rows(app.database, 'DELETE FROM users');
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  async function signInOnce() {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    const { body } = await browser.get('/auth/me').expect(200);
    return { browser, id: body.user.id as string };
  }

  test('lists the configured providers', () => {
    expect(app.auth.oauth.providers).toEqual(['oidc', 'twin']);
  });

  test('authorizeUrl() starts a flow for the browser that gets its cookie', async () => {
    const { url, browser } = await app.auth.oauth.authorizeUrl('oidc', { callbackUrl: '/done' });
    const back = pathOf(await visitProvider(url));
    await app.http.get(back).expect(400);
    const response = await app.http.get(back).set('Cookie', `latchkey-flow=${browser}`).expect(303);
    expect(response.headers.location).toBe('/done');
    const again = await app.auth.oauth.authorizeUrl('oidc', { browser });
    expect(again.browser).toBe(browser);
  });

  test('authorizeUrl() rejects the same input as the route', async () => {
    const refused = (provider: string, callbackUrl: unknown) =>
      app.auth.oauth
        .authorizeUrl(provider, { callbackUrl: callbackUrl as string })
        .catch(({ code, status }) => [status, code]);
    expect(await refused('nobody', '/')).toEqual([404, 'provider_not_found']);
    expect(await refused('__proto__', '/')).toEqual([404, 'provider_not_found']);
    expect(await refused('oidc', '//evil.example')).toEqual([400, 'invalid_callback_url']);
    for (const none of ['', null, 7, ['/x'], { href: '/x' }])
      expect(await refused('oidc', none)).toEqual([400, 'invalid_callback_url']);
  });

  test('accounts() lists accounts in the order in which they were linked, without tokens', async () => {
    const browser = await signedIn(app);
    await linkWith(browser, 'twin');
    const { body } = await browser.get('/auth/me');
    const accounts = await app.auth.oauth.accounts(body.user.id);
    expect(accounts).toEqual([
      {
        id: expect.any(String),
        userId: body.user.id,
        provider: 'twin',
        issuer: expect.any(String),
        providerAccountId: 'ada',
        scopes: ['openid', 'email'],
        accessTokenExpiresAt: expect.any(Date),
        relinkRequired: false,
        createdAt: expect.any(Date),
        updatedAt: expect.any(Date),
      },
    ]);
    expect(await app.auth.oauth.accounts(NOBODY)).toEqual([]);
    expect(await app.auth.oauth.accounts('no id')).toEqual([]);
  });

  test('tokens() refreshes on request, and only a token that expires soon', async () => {
    const { id } = await signInOnce();
    provider.tokenRequests.length = 0;
    const before = await app.auth.oauth.tokens(id, 'oidc', { refreshWithin: 3500 });
    expect(provider.tokenRequests).toHaveLength(0);
    const after = await app.auth.oauth.tokens(id, 'oidc', { refreshWithin: 3700 });
    expect(provider.tokenRequests).toHaveLength(1);
    expect(after.accessToken).not.toBe(before.accessToken);
    expect(await app.auth.oauth.tokens(id, 'oidc')).toEqual(after);
    expect(after).toEqual({
      provider: 'oidc',
      accessToken: expect.stringMatching(/^provider-access/),
      refreshToken: expect.stringMatching(/^provider-refresh/),
      idToken: expect.stringMatching(/^eyJ/),
      tokenType: 'bearer',
      scopes: ['openid', 'email'],
      accessTokenExpiresAt: expect.any(Date),
    });
  });

  test('tokens() does not refresh a token without an expiry time', async () => {
    provider.lies = { tokens: { expires_in: undefined, scope: undefined } };
    const { id } = await signInOnce();
    const tokens = await app.auth.oauth.tokens(id, 'oidc', { refreshWithin: 3600 });
    expect(tokens.accessTokenExpiresAt).toBeNull();
    // If the response contains no scopes, all requested scopes were granted.
    expect(tokens.scopes).toEqual(['openid', 'email', 'profile']);
    expect((await app.auth.oauth.refresh(id, 'oidc')).scopes).toEqual(['openid', 'email', 'profile']);
  });

  test('tokens(), refresh() and unlink() report unknown accounts and providers', async () => {
    const { id } = await signInOnce();
    const { oauth } = app.auth;
    const calls: ((userId: string, provider: string) => Promise<unknown>)[] = [
      (...of) => oauth.tokens(...of),
      (...of) => oauth.refresh(...of),
      (...of) => oauth.unlink(...of),
    ];
    for (const call of calls) {
      await expect(call(id, 'twin')).rejects.toMatchObject({ code: 'account_not_linked' });
      await expect(call(id, 'nobody')).rejects.toMatchObject({ code: 'provider_not_found' });
      await expect(call(NOBODY, 'oidc')).rejects.toMatchObject({ code: 'account_not_linked' });
      await expect(call('no id', 'oidc')).rejects.toMatchObject({ code: 'account_not_linked' });
    }
    await expect(oauth.unlink(id, 'oidc')).rejects.toMatchObject({
      code: 'last_sign_in_method',
      status: 409,
    });
  });

  test('emits events with ids and without secrets', async () => {
    const browser = await signedIn(app);
    const { body } = await browser.get('/auth/me');
    const { id } = body.user;
    events.length = 0;
    await linkWith(browser, 'oidc');
    await linkWith(browser, 'oidc');
    await app.auth.oauth.tokens(id, 'oidc');
    await app.auth.oauth.refresh(id, 'oidc');
    await app.auth.oauth.unlink(id, 'oidc');
    await settled(app.auth);
    expect(events).toEqual([
      'account.linked oidc ip,provider,userAgent,userId',
      'tokens.read oidc ip,provider,userAgent,userId',
      'tokens.refreshed oidc ip,provider,userAgent,userId',
      'account.unlinked oidc ip,provider,userAgent,userId',
    ]);
    events.length = 0;
    await rows(app.database, 'DELETE FROM users');
    const { id: created } = await signInOnce();
    await signInOnce();
    await settled(app.auth);
    expect(events).toEqual([
      `user.created ${created}`,
      'account.linked oidc ip,provider,userAgent,userId',
      `session.created ${created}`,
      `session.created ${created}`,
    ]);
  });

  test('prune() deletes expired flows', async () => {
    await rows(app.database, 'DELETE FROM oauth_flows');
    await app.auth.oauth.authorizeUrl('oidc');
    await app.auth.oauth.authorizeUrl('oidc');
    const [row] = await rows<{ provider: string }>(app.database, 'SELECT provider FROM oauth_flows');
    expect(row?.provider).toBe('oidc');
    expect(await app.auth.prune()).toBe(0);
    await rows(app.database, 'UPDATE oauth_flows SET expires_at = :past', {
      past: '2020-01-01 00:00:00.000',
    });
    expect(await app.auth.prune()).toBe(2);
    expect(await rows(app.database, 'SELECT provider FROM oauth_flows')).toEqual([]);
  });
});
