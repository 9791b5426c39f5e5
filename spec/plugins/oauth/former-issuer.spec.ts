import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { providerPlugin } from '../../../lib/plugins/oauth/provider.js';
import { oauth2 } from '../../../lib/providers.js';
import { signedIn } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { type LyingProvider, startLyingProvider } from '../../support/lying-provider.js';
import { type Browser, linkWith, type OAuthApp, signInWith, startOAuthApp } from '../../support/oauth-app.js';
import { CLIENT } from '../../support/oidc.js';

const FORMER = 'https://shared.example';

describe('an account that is stored under a former issuer', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  beforeAll(async () => {
    provider = await startLyingProvider();
    app = await startOAuthApp({
      // Two services on one host, whose subjects were once stored under the same issuer.
      providers: () => ['one', 'two'].map(service),
    });
  });
  beforeEach(() => {
    // The services have issuers of their own, which the provider does not know.
    provider.lies = { response: { iss: undefined }, userinfo: { sub: 'ada' } };
  });
  afterEach(async () => {
    await rows(app.database, 'DELETE FROM users');
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  function service(id: string) {
    const url = (path: string) => `${provider.issuer}/${path}`;
    const urls = { authorizationUrl: url('authorize'), tokenUrl: url('token'), userinfoUrl: url('userinfo') };
    const { provider: plain } = oauth2({ id, ...CLIENT, ...urls, issuer: `https://${id}.example` });
    return providerPlugin({ ...plain, formerIssuers: ['https://older.example', FORMER] });
  }

  const idOf = async (browser: Browser) => (await browser.get('/auth/me').expect(200)).body.user.id as string;
  const issuers = () =>
    rows<{ provider: string; issuer: string }>(app.database, 'SELECT provider, issuer FROM accounts');

  async function storedBefore(id: string) {
    const browser = app.browser();
    await signInWith(browser, id);
    await rows(app.database, 'UPDATE accounts SET issuer = :issuer WHERE provider = :id', {
      issuer: FORMER,
      id,
    });
    return { browser, userId: await idOf(browser) };
  }

  test('is found by its provider, and moves to the current issuer', async () => {
    const { userId } = await storedBefore('one');
    const again = app.browser();
    await signInWith(again, 'one');
    expect(await idOf(again)).toBe(userId);
    expect(await issuers()).toEqual([{ provider: 'one', issuer: 'https://one.example' }]);
    const third = app.browser();
    await signInWith(third, 'one');
    expect(await idOf(third)).toBe(userId);
  });

  test('is not found by another provider with the same former issuer and subject', async () => {
    const { userId } = await storedBefore('one');
    const other = app.browser();
    await signInWith(other, 'two');
    expect(await idOf(other)).not.toBe(userId);
    expect((await issuers()).map(({ provider: id, issuer }) => `${id} ${issuer}`).sort()).toEqual([
      `one ${FORMER}`,
      'two https://two.example',
    ]);
  });

  test('cannot be linked to another user, and is linked again under the current issuer', async () => {
    const { browser } = await storedBefore('one');
    const stranger = await signedIn(app);
    expect((await linkWith(stranger, 'one')).headers.location).toBe('/linked?error=account_linked_elsewhere');
    expect((await linkWith(browser, 'one')).headers.location).toBe('/linked');
    expect(await issuers()).toEqual([{ provider: 'one', issuer: 'https://one.example' }]);
  });

  test('signs in all of several concurrent returns', async () => {
    const { userId } = await storedBefore('one');
    const browsers = Array.from({ length: 8 }, () => app.browser());
    await Promise.all(browsers.map((browser) => signInWith(browser, 'one')));
    expect(new Set(await Promise.all(browsers.map(idOf)))).toEqual(new Set([userId]));
  });
});
