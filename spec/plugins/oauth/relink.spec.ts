import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { providerPlugin } from '../../../lib/plugins/oauth/provider.js';
import { rows } from '../../support/database.js';
import { type LyingProvider, startLyingProvider } from '../../support/lying-provider.js';
import {
  type Browser,
  linkWith,
  type OAuthApp,
  oidcPlugin,
  signInWith,
  startOAuthApp,
} from '../../support/oauth-app.js';

const TOKENS = '/auth/oauth/oidc/tokens';

describe('a provider that issues a refresh token only when it asks for consent', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  let browser: Browser;
  beforeAll(async () => {
    provider = await startLyingProvider();
    app = await startOAuthApp({
      providers: () => {
        const { provider: plain } = oidcPlugin(provider);
        return [providerPlugin({ ...plain, parametersFor: { link: { prompt: 'consent' } } })];
      },
    });
  });
  beforeEach(async () => {
    browser = app.browser();
    await signInWith(browser, 'oidc');
    // Like Google's, from the second time on.
    provider.lies = {
      get tokens() {
        const { length } = provider.tokenRequests;
        return length === 0 || provider.authorizations.at(-1)?.get('prompt') === 'consent'
          ? {}
          : { refresh_token: undefined };
      },
    };
  });
  afterEach(async () => {
    provider.lies = {};
    await rows(app.database, 'DELETE FROM users');
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  const refuse = () =>
    rows(app.database, 'UPDATE accounts SET relink_required = :yes', { yes: true as never });
  const codeOf = async (method: 'get' | 'post') =>
    (await browser[method](method === 'get' ? TOKENS : `${TOKENS}/refresh`)).body.code;

  test('is asked for consent by a link, and not by a sign-in', async () => {
    expect(provider.authorizations.at(-1)?.has('prompt')).toBe(false);
    await linkWith(browser, 'oidc');
    expect(provider.authorizations.at(-1)?.get('prompt')).toBe('consent');
  });

  test('can be linked again when the grant has ended', async () => {
    await refuse();
    expect(await codeOf('post')).toBe('relink_required');
    expect((await linkWith(browser, 'oidc')).headers.location).toBe('/linked');
    await browser.post(`${TOKENS}/refresh`).expect(200);
  });

  test('leaves no refresh token that cannot be used after a sign-in', async () => {
    await refuse();
    await signInWith(app.browser(), 'oidc');
    expect((await browser.get(TOKENS).expect(200)).body.refresh_token).toBeNull();
    expect(await codeOf('post')).toBe('refresh_token_missing');
    await linkWith(browser, 'oidc');
    await browser.post(`${TOKENS}/refresh`).expect(200);
  });
});
