import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { oauth } from '../../../../lib/index.js';
import { ada, signedIn } from '../../../support/app.js';
import { rows } from '../../../support/database.js';
import { type LyingProvider, startLyingProvider } from '../../../support/lying-provider.js';
import {
  linkWith,
  type OAuthApp,
  oidcPlugin,
  signInWith,
  startOAuthApp,
} from '../../../support/oauth-app.js';

const unlink = (provider: string) => `/auth/oauth/${provider}/unlink`;

describe('DELETE /oauth/:provider/unlink', () => {
  let app: OAuthApp;
  let one: LyingProvider;
  let two: LyingProvider;
  beforeAll(async () => {
    [one, two] = await Promise.all([startLyingProvider(), startLyingProvider()]);
    app = await startOAuthApp({
      providers: () => [oidcPlugin(one, { id: 'one' }), oidcPlugin(two, { id: 'two' })],
    });
  });
  afterEach(() => rows(app.database, 'DELETE FROM users'));
  afterAll(async () => {
    await app.stop();
    await Promise.all([one.stop(), two.stop()]);
  });

  const linked = async (browser: ReturnType<OAuthApp['browser']>) => {
    const { body } = await browser.get('/auth/oauth/accounts').expect(200);
    return body.accounts.map(({ provider }: { provider: string }) => provider);
  };

  test('unlinks an account if another one is left', async () => {
    const browser = app.browser();
    await signInWith(browser, 'one');
    await linkWith(browser, 'two');
    await browser.delete(unlink('one')).expect(204);
    expect(await linked(browser)).toEqual(['two']);
    await browser.get('/auth/me').expect(200);
    expect((await browser.get('/auth/oauth/one/tokens').expect(404)).body.code).toBe('account_not_linked');
    expect((await browser.delete(unlink('one')).expect(404)).body.code).toBe('account_not_linked');
  });

  test('keeps the last way to sign in', async () => {
    const browser = app.browser();
    await signInWith(browser, 'one');
    const { body } = await browser.delete(unlink('one')).expect(409);
    expect(body.code).toBe('last_sign_in_method');
    expect(await linked(browser)).toEqual(['one']);
  });

  test('unlinks the only account of a user with a password', async () => {
    const browser = await signedIn(app);
    await linkWith(browser, 'one');
    await browser.delete(unlink('one')).expect(204);
    expect(await linked(browser)).toEqual([]);
    await app.http
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: ada.password })
      .expect(200);
  });

  test('keeps one of two accounts if both are unlinked at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      const browser = app.browser();
      await signInWith(browser, 'one');
      await linkWith(browser, 'two');
      const responses = await Promise.all(['one', 'two'].map((name) => browser.delete(unlink(name))));
      expect(responses.map(({ status }) => status).sort()).toEqual([204, 409]);
      expect(await linked(browser)).toHaveLength(1);
      await rows(app.database, 'DELETE FROM users');
    }
  });

  test('unlinks once if it is called twice at the same time', async () => {
    const browser = await signedIn(app);
    await linkWith(browser, 'one');
    const responses = await Promise.all([browser.delete(unlink('one')), browser.delete(unlink('one'))]);
    expect(responses.map(({ status }) => status).sort()).toEqual([204, 404]);
  });

  test('does not count a password if the app no longer uses passwords', async () => {
    const browser = await signedIn(app);
    await linkWith(browser, 'one');
    const { body } = await browser.get('/auth/me').expect(200);
    const without = app.another({ plugins: [oauth(), oidcPlugin(one, { id: 'one' })] as never });
    await expect(without.oauth.unlink(body.user.id, 'one')).rejects.toMatchObject({
      code: 'last_sign_in_method',
    });
    await browser.delete(unlink('one')).expect(204);
  });

  test('does not count an account of a provider that the app no longer uses', async () => {
    const browser = app.browser();
    await signInWith(browser, 'one');
    await linkWith(browser, 'two');
    await rows(app.database, "UPDATE accounts SET provider = 'gone' WHERE provider = 'two'");
    expect((await browser.delete(unlink('one')).expect(409)).body.code).toBe('last_sign_in_method');
    await browser.delete(unlink('gone')).expect(204);
    expect(await linked(browser)).toEqual(['one']);
  });

  test('responds with 404 for an unknown provider and one that is not linked', async () => {
    const browser = await signedIn(app);
    await linkWith(browser, 'one');
    expect((await browser.delete(unlink('nobody')).expect(404)).body.code).toBe('provider_not_found');
    expect((await browser.delete(unlink('two')).expect(404)).body.code).toBe('account_not_linked');
    expect(await linked(browser)).toEqual(['one']);
  });
});
