import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { AuthEvents } from '../../../lib/index.js';
import { signedIn } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { answers, type Lies, type LyingProvider, startLyingProvider } from '../../support/lying-provider.js';
import { linkWith, type OAuthApp, oidcPlugin, signInWith, startOAuthApp } from '../../support/oauth-app.js';

describe('a sign-in with a provider that fails', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  const events: AuthEvents['sign_in.failed'][] = [];
  beforeAll(async () => {
    provider = await startLyingProvider();
    app = await startOAuthApp({ providers: () => [oidcPlugin(provider)] });
    app.auth.on('sign_in.failed', (event) => events.push(event));
  });
  beforeEach(() => {
    events.length = 0;
  });
  afterEach(async () => {
    provider.lies = {};
    await rows(app.database, 'DELETE FROM users');
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  test.each<[string, Lies, string]>([
    ['was declined', { response: { code: undefined, error: 'access_denied' } }, 'access_denied'],
    ['was refused', { response: { code: undefined, error: 'server_error' } }, 'provider_error'],
    ['cannot be trusted', { wrongKey: true }, 'provider_error'],
    ['breaks off', { answers: { token: answers.html } }, 'provider_error'],
    ['has the email of an account', {}, 'account_exists'],
  ])('because it %s emits sign_in.failed with the provider', async (_what, lies, code) => {
    await signedIn(app);
    provider.lies = lies;
    const response = await signInWith(app.browser(), 'oidc');
    expect(response.headers.location).toBe(`/done?error=${code}`);
    expect(events).toEqual([{ userId: null, provider: 'oidc', ip: expect.any(String), userAgent: null }]);
  });

  test('emits nothing if it succeeds, if it only fails to link, or if there was no flow', async () => {
    await signInWith(app.browser(), 'oidc');
    const browser = await signedIn(app, { email: 'grace@example.com', password: 'a nanosecond of wire' });
    expect((await linkWith(browser, 'oidc')).headers.location).toBe('/linked?error=account_linked_elsewhere');
    // Anybody can send such a request as often as they like.
    await app.http.get(`/auth/oauth/oidc/callback?state=${'x'.repeat(43)}&code=x`).expect(400);
    expect(events).toEqual([]);
  });
});
