import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { providerPlugin } from '../../../lib/plugins/oauth/provider.js';
import { oauth2, oidc } from '../../../lib/providers.js';
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

// Until version 0.1, oauth2() stored accounts under the origin of the service, which can be the issuer of an OpenID
// Connect provider with subjects of its own.
describe('an account of oauth2() whose former issuer is that of an OpenID Connect provider', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  beforeAll(async () => {
    provider = await startLyingProvider();
    const url = (path: string) => `${provider.issuer}/${path}`;
    const urls = { authorizationUrl: url('authorize'), tokenUrl: url('token'), userinfoUrl: url('userinfo') };
    app = await startOAuthApp({
      providers: () => [
        oauth2({ id: 'plain', ...CLIENT, ...urls }),
        oidc({ id: 'openid', ...CLIENT, issuer: provider.issuer }),
      ],
    });
  });
  afterEach(async () => {
    await rows(app.database, 'DELETE FROM users');
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  const idOf = async (browser: Browser) => (await browser.get('/auth/me').expect(200)).body.user.id as string;
  const stored = async () =>
    (
      await rows<{ provider: string; issuer: string; user_id: string }>(
        app.database,
        'SELECT * FROM accounts',
      )
    )
      .map((row) => `${row.provider} ${row.issuer} ${row.user_id}`)
      .sort();

  async function storedBefore() {
    const browser = app.browser();
    await signInWith(browser, 'plain');
    await rows(app.database, 'UPDATE accounts SET issuer = :issuer', { issuer: provider.issuer });
    return { browser, userId: await idOf(browser) };
  }

  test('is not found by that provider, and is still found by its own', async () => {
    const { userId } = await storedBefore();
    const others = Array.from({ length: 4 }, () => app.browser());
    for (const response of await Promise.all(others.map((other) => signInWith(other, 'openid'))))
      expect(response.headers.location).toBe('/done');
    const [otherId, ...same] = new Set(await Promise.all(others.map(idOf)));
    expect(same).toEqual([]);
    expect(otherId).not.toBe(userId);
    const again = app.browser();
    await signInWith(again, 'plain');
    expect(await idOf(again)).toBe(userId);
    expect(await stored()).toEqual([
      `openid ${provider.issuer} ${otherId}`,
      `plain urn:latchkey:oauth2:plain ${userId}`,
    ]);
  });

  test('does not prevent a link to that provider, neither of its user nor of another', async () => {
    const { browser, userId } = await storedBefore();
    expect((await linkWith(browser, 'openid')).headers.location).toBe('/linked');
    expect(await stored()).toEqual([
      `openid ${provider.issuer} ${userId}`,
      `plain urn:latchkey:oauth2:plain ${userId}`,
    ]);
    await rows(app.database, 'DELETE FROM users');
    const { userId: ownerId } = await storedBefore();
    const stranger = await signedIn(app);
    expect((await linkWith(stranger, 'openid')).headers.location).toBe('/linked');
    expect(await stored()).toEqual([
      `openid ${provider.issuer} ${await idOf(stranger)}`,
      `plain urn:latchkey:oauth2:plain ${ownerId}`,
    ]);
  });
});
