import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { providerPlugin } from '../../../lib/plugins/oauth/provider.js';
import { oauth2 } from '../../../lib/providers.js';
import { signedIn } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { takeMailbox } from '../../support/email-proof.js';
import { answers, type LyingProvider, startLyingProvider } from '../../support/lying-provider.js';
import {
  type Browser,
  linkWith,
  type OAuthApp,
  oidcPlugin,
  signInWith,
  startOAuthApp,
  startWithOidc,
} from '../../support/oauth-app.js';
import { CLIENT } from '../../support/oidc.js';
import { settled } from '../../support/sessions.js';

const unlink = (browser: Browser, provider = 'oidc') => browser.delete(`/auth/oauth/${provider}/unlink`);

async function until(isTrue: () => boolean) {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 20));
}

test('unlinking revokes the tokens at a certified OpenID provider, and the grant with them', async () => {
  const { app, provider } = await startWithOidc();
  const browser = await signedIn(app);
  await linkWith(browser, 'oidc');
  await unlink(browser).expect(204);
  await until(() => provider.revoked.length > 0);
  expect(provider.revoked[0]).toMatch(/^refresh_token /);
  await app.stop();
  await provider.stop();
});

describe('when an account is unlinked', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  beforeAll(async () => {
    provider = await startLyingProvider();
    const url = (path: string) => `${provider.issuer}/${path}`;
    const plain = {
      authorizationUrl: url('authorize'),
      tokenUrl: url('token'),
      userinfoUrl: url('userinfo'),
    };
    const { provider: service } = oauth2({ id: 'plain', ...CLIENT, ...plain });
    const server = { ...service.server, revocationUrl: url('revoke') } as typeof service.server;
    app = await startOAuthApp({
      providers: () => [oidcPlugin(provider), providerPlugin({ ...service, server })],
    });
  });
  afterEach(async () => {
    // A revocation that is still under way would count for the next test.
    await Promise.all([app.auth, ...others.splice(0)].map(settled));
    provider.lies = {};
    provider.revocations.length = 0;
    await rows(app.database, 'DELETE FROM users');
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  const others: ReturnType<OAuthApp['another']>[] = [];
  const start = (config?: Parameters<OAuthApp['another']>[0]) => {
    const other = app.another(config);
    others.push(other);
    return other;
  };

  /** Discovery is cached, so each spec uses an app of its own. */
  async function withEndpoint() {
    provider.lies = { metadata: { revocation_endpoint: `${provider.issuer}/revoke` } };
    return start();
  }

  async function linked(id = 'oidc') {
    const browser = await signedIn(app);
    await linkWith(browser, id);
    const { user } = (await browser.get('/auth/me').expect(200)).body;
    return { browser, userId: user.id as string };
  }

  test('its refresh token is revoked with the credentials of the client', async () => {
    const another = await withEndpoint();
    const { userId } = await linked();
    const { refreshToken } = await another.oauth.tokens(userId, 'oidc');
    await another.oauth.unlink(userId, 'oidc');
    await until(() => provider.revocations.length > 0);
    const [{ form, authorization } = { form: new URLSearchParams(), authorization: '' }] =
      provider.revocations;
    expect(form.get('token')).toBe(refreshToken);
    expect(authorization ?? form.get('client_secret')).toBeTruthy();
    expect(provider.revocations).toHaveLength(1);
  });

  test('its access token is revoked if there is no refresh token', async () => {
    provider.lies = { tokens: { refresh_token: undefined }, userinfo: { sub: 'ada' } };
    const { browser, userId } = await linked('plain');
    const { accessToken } = await app.auth.oauth.tokens(userId, 'plain');
    await unlink(browser, 'plain').expect(204);
    await until(() => provider.revocations.length > 0);
    expect(provider.revocations[0]?.form.get('token')).toBe(accessToken);
  });

  test('it is revoked with the user, after the deletion', async () => {
    const another = await withEndpoint();
    const { userId, browser } = await linked();
    expect((await browser.get('/auth/sign-in-methods').expect(200)).body).toEqual({
      password: true,
      providers: ['oidc'],
    });
    const { refreshToken } = await another.oauth.tokens(userId, 'oidc');
    await another.users.delete(userId);
    await until(() => provider.revocations.length > 0);
    expect(provider.revocations.map(({ form }) => form.get('token'))).toEqual([refreshToken]);
    expect(await rows(app.database, 'SELECT * FROM accounts')).toEqual([]);
  });

  test.each([
    ['unlinked', (id: string) => app.auth.oauth.unlink(id, 'oidc')],
    ['deleted with its user', (id: string) => app.auth.users.delete(id)],
    ['removed by the first proof of the mailbox', (id: string) => takeMailbox(app.auth, id)],
  ])('what a refresh brings is revoked, if the account is %s meanwhile', async (_what, remove) => {
    const another = await withEndpoint();
    const { userId } = await linked();
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      provider.lies = {
        ...provider.lies,
        answers: {
          token(_req, res) {
            answer = () =>
              res
                .writeHead(200, { 'content-type': 'application/json' })
                .end(JSON.stringify({ access_token: 'late', refresh_token: 'late', token_type: 'bearer' }));
            resolve();
          },
        },
      };
    });
    const refreshing = another.oauth.refresh(userId, 'oidc').catch((error) => error.code);
    await asked;
    await remove(userId);
    answer();
    expect(await refreshing).toBe('account_not_linked');
    await until(() => provider.revocations.some(({ form }) => form.get('token') === 'late'));
  });

  test('it is revoked when the account is closed, not when it is deleted for good', async () => {
    provider.lies = { metadata: { revocation_endpoint: `${provider.issuer}/revoke` } };
    const other = start({ accountDeletion: { graceDays: 30 } });
    const { userId } = await linked();
    const { refreshToken } = await other.oauth.tokens(userId, 'oidc');
    await other.users.delete(userId);
    await until(() => provider.revocations.length > 0);
    expect(provider.revocations.map(({ form }) => form.get('token'))).toEqual([refreshToken]);
    // The link stays, and works again once it has new tokens.
    await other.users.restore(userId);
    await expect(other.oauth.tokens(userId, 'oidc')).rejects.toMatchObject({ code: 'relink_required' });
    await signInWith(app.browser(), 'oidc');
    await other.oauth.tokens(userId, 'oidc');
    await other.users.delete(userId);
    await until(() => provider.revocations.length > 1);
    await other.users.delete(userId, { atOnce: true });
    await other.close();
    expect(provider.revocations).toHaveLength(2);
  });

  test.each(['hang', 'failure', 'html', 'huge'] as const)(
    'a revocation endpoint that answers with %s changes nothing, and its token is not logged',
    async (answer) => {
      const another = await withEndpoint();
      const { userId, browser } = await linked();
      const tokens = await another.oauth.tokens(userId, 'oidc');
      const asked = new Promise<void>((resolve) => {
        provider.lies = {
          ...provider.lies,
          answers: {
            revoke(req, res) {
              resolve();
              answers[answer](req, res);
            },
          },
        };
      });
      await another.oauth.unlink(userId, 'oidc');
      await asked;
      expect((await browser.get('/auth/oauth/accounts').expect(200)).body.accounts).toEqual([]);
      // Closing waits for it, at most as long as a provider may take.
      await another.close();
      for (const token of Object.values(tokens))
        if (typeof token === 'string' && token.length > 20) expect(app.log.join('\n')).not.toContain(token);
    },
  );

  test('nothing is revoked if it was not unlinked, or if the provider has no endpoint', async () => {
    const another = await withEndpoint();
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    const { user } = (await browser.get('/auth/me').expect(200)).body;
    await expect(another.oauth.unlink(user.id, 'oidc')).rejects.toMatchObject({
      code: 'last_sign_in_method',
    });
    await rows(app.database, 'DELETE FROM users');
    const { userId } = await linked();
    provider.lies = {};
    const without = start();
    await without.oauth.unlink(userId, 'oidc');
    // Closing waits for revocations.
    for (const one of [another, without]) await one.close();
    expect(provider.revocations).toEqual([]);
  });
});
