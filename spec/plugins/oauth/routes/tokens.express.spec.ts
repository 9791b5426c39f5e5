import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { signedIn } from '../../../support/app.js';
import { type OAuthApp, signInWith, startWithOidc } from '../../../support/oauth-app.js';
import type { OidcServer } from '../../../support/oidc.js';

const TOKENS = '/auth/oauth/oidc/tokens';
const ACCOUNTS = '/auth/oauth/accounts';

describe('GET /oauth/:provider/tokens and /oauth/accounts', () => {
  let app: OAuthApp;
  let provider: OidcServer;
  beforeAll(async () => {
    ({ app, provider } = await startWithOidc());
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  test('return the provider’s tokens to their owner', async () => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    const { body, headers } = await browser.get(TOKENS).expect(200);
    expect(body).toEqual({
      provider: 'oidc',
      access_token: expect.any(String),
      refresh_token: expect.any(String),
      id_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: 'bearer',
      scopes: ['openid', 'email'],
      access_token_expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(headers['cache-control']).toBe('no-store');
    const { sub } = JSON.parse(Buffer.from(body.id_token.split('.')[1], 'base64url').toString());
    const accounts = await browser.get(ACCOUNTS).expect(200);
    expect(accounts.body.accounts).toHaveLength(1);
    expect(accounts.body.accounts[0]).toMatchObject({ provider: 'oidc', provider_account_id: sub });
    // The access token is accepted by the provider's own API.
    const me = await fetch(`${provider.issuer}/me`, {
      headers: { authorization: `Bearer ${body.access_token}` },
    });
    expect(await me.json()).toMatchObject({ sub });
  });

  test('return nothing to others', async () => {
    for (const path of [TOKENS, ACCOUNTS]) {
      // The flow cookie is not a session cookie, even under another name.
      const redirect = await app.http.get('/auth/oauth/oidc/authorize');
      const flow = String(redirect.headers['set-cookie']?.[0]).split(';')[0] ?? '';
      await app.http.get(path).set('Cookie', flow).expect(401);
      await app.http.get(path).set('Cookie', flow.replace('latchkey-flow', 'latchkey')).expect(401);
    }
    const other = await signedIn(app, { email: 'grace@example.com', password: 'a nanosecond of wire' });
    expect((await other.get(TOKENS).expect(404)).body.code).toBe('account_not_linked');
    expect((await other.get(ACCOUNTS).expect(200)).body).toEqual({ accounts: [] });
    expect((await other.get('/auth/oauth/nobody/tokens').expect(404)).body.code).toBe('provider_not_found');
    expect((await other.get('/auth/oauth/__proto__/tokens').expect(404)).body.code).toBe(
      'provider_not_found',
    );
  });
});
