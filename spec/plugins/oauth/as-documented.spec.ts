import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { discord, github, gitlab, google, microsoft, oauth2, x } from '../../../lib/providers.js';
import { ada, signedIn } from '../../support/app.js';
import { rows } from '../../support/database.js';
import {
  type Lies,
  type LyingProvider,
  startLyingProvider,
  type TokenRequest,
} from '../../support/lying-provider.js';
import {
  begin,
  linkWith,
  type OAuthApp,
  signInWith,
  startOAuthApp,
  travel,
} from '../../support/oauth-app.js';

const client = { clientId: 'the-client', clientSecret: 'gloas-1~_secret' };

describe('a provider, as documented', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  beforeAll(async () => {
    provider = await startLyingProvider();
    const { issuer } = provider;
    const endpoints = {
      authorizationUrl: `${issuer}/authorize`,
      tokenUrl: `${issuer}/token`,
      userinfoUrl: `${issuer}/userinfo`,
    };
    app = await startOAuthApp({
      options: { linkByVerifiedEmail: true },
      providers: () => [
        google({ ...client, issuer, authorizeParameters: { prompt: 'select_account', hl: 'de' } }),
        gitlab({ ...client, issuer }),
        microsoft({ ...client, issuer }),
        github({ ...client, endpoints: { ...endpoints, emailsUrl: `${issuer}/emails` } }),
        x({ ...client, endpoints }),
        discord({ ...client, endpoints }),
        oauth2({ id: 'one', ...client, ...endpoints }),
        oauth2({ id: 'two', ...client, ...endpoints }),
        oauth2({ id: 'three', ...client, ...endpoints, issuer: 'urn:shared' }),
        oauth2({ id: 'four', ...client, ...endpoints, issuer: 'urn:shared' }),
        oauth2({
          id: 'mapped',
          ...client,
          ...endpoints,
          profile: ({ user_id }) => ({ subject: `${user_id}`, email: null, emailIsProof: false }),
        }),
      ],
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

  const plain: Lies = { response: { iss: undefined }, tokens: { id_token: undefined } };
  const locationAfter = async (id: string) => (await signInWith(app.browser(), id)).headers.location;
  async function userAfter(id: string): Promise<{ id: string; email: string | null }> {
    const browser = app.browser();
    expect((await signInWith(browser, id)).headers.location).toBe('/done');
    return (await browser.get('/auth/me').expect(200)).body.user;
  }

  // Doorkeeper compares the header as it is, and X too.
  const rawBasic = ({ authorization = '' }: TokenRequest) => {
    const sent = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
    return sent === 'the-client:gloas-1_secret' ? undefined : 'invalid_client';
  };

  test('gets a secret that is not URL-decoded', async () => {
    provider.lies = {
      refuses: ({ form }) =>
        form.get('client_secret') === client.clientSecret ? undefined : 'invalid_client',
    };
    expect(await locationAfter('gitlab')).toBe('/done');
    const other = await startOAuthApp({
      providers: () => [
        x({
          clientId: 'the-client',
          clientSecret: 'gloas-1_secret',
          endpoints: {
            authorizationUrl: `${provider.issuer}/authorize`,
            tokenUrl: `${provider.issuer}/token`,
            userinfoUrl: `${provider.issuer}/userinfo`,
          },
        }),
      ],
    });
    provider.lies = { ...plain, refuses: rawBasic, userinfo: { data: { id: '7' } } };
    expect((await signInWith(other.browser(), 'x')).headers.location).toBe('/done');
    await other.stop();
  });

  test('names its error in the log, unless the code is not a registered one', async () => {
    app.log.length = 0;
    provider.lies = { ...plain, refuses: () => 'invalid_client' };
    expect(await locationAfter('one')).toBe('/done?error=provider_error');
    expect(app.log.join('\n')).toContain('provider one failed: it responded with the error invalid_client');
    app.log.length = 0;
    for (const echoed of ['code abc\nforged', 'abc-forged.token']) {
      provider.lies = { ...plain, refuses: () => echoed };
      expect(await locationAfter('one')).toBe('/done?error=provider_error');
    }
    expect(app.log.join('\n')).not.toMatch(/forged|abc/);
    expect(app.log.join('\n')).toContain('it responded with an error whose code is not registered');
  });

  test('is asked for consent by a link to Google, which issues no second refresh token otherwise', async () => {
    const browser = await signedIn(app);
    const prompts = async (path: string) =>
      new URL(await begin(browser, `/auth/oauth/google/${path}`)).searchParams;
    const link = await prompts('link');
    expect([link.get('access_type'), link.get('prompt'), link.get('hl')]).toEqual([
      'offline',
      'consent select_account',
      'de',
    ]);
    expect((await prompts('authorize')).get('prompt')).toBe('select_account');
  });

  test('is asked for a time of authentication that it can state, and for tokens that live long enough', async () => {
    const browser = await signedIn(app);
    const asked = async (id: string) => {
      provider.lies = { claims: { sub: id } };
      await linkWith(browser, id);
      const url = new URL(await begin(browser, `/auth/oauth/${id}/reauthenticate`));
      return Object.fromEntries(url.searchParams);
    };
    expect(await asked('google')).toMatchObject({
      prompt: 'select_account',
      claims: '{"id_token":{"auth_time":{"essential":true}}}',
    });
    expect(await asked('microsoft')).toMatchObject({ prompt: 'login', max_age: '300' });
    expect(await asked('gitlab')).toMatchObject({ prompt: 'login', max_age: '0' });
  });

  test.each([
    ['a person', 'octocat', true],
    ['a person whom an enterprise manages', 'octocat_acme', false],
  ])('joins an existing account with the GitHub account of %s: %s', async (_what, login, joins) => {
    await signedIn(app, { ...ada, email: 'ada@example.com' });
    await rows(app.database, "UPDATE users SET email_verified_at = created_at, email_proof = 'mailbox'");
    const emails = [{ email: 'ada@example.com', primary: true, verified: true }];
    provider.lies = { ...plain, userinfo: { sub: undefined, id: 7, login }, emails };
    expect(await locationAfter('github')).toBe(joins ? '/done' : '/done?error=account_exists');
    await rows(app.database, 'DELETE FROM users');
    expect((await userAfter('github')).email).toBe('ada@example.com');
  });

  test.each([
    ['a Gmail address', { email: 'ada@gmail.com' }, true],
    ['an address of a Workspace', { email: 'ada@example.com', hd: 'example.com' }, true],
    ['another verified address', { email: 'ada@example.com' }, false],
    ['an address that only ends like one', { email: 'ada@notgmail.com' }, false],
    ['an unverified address', { email: 'ada@gmail.com', email_verified: false }, false],
  ])('joins an existing account with %s only if Google runs the mailbox', async (_what, claims, joins) => {
    await signedIn(app, { ...ada, email: claims.email });
    const [{ id } = { id: '' }] = await rows<{ id: string }>(app.database, 'SELECT id FROM users');
    await rows(app.database, "UPDATE users SET email_verified_at = created_at, email_proof = 'mailbox'");
    provider.lies = { claims };
    const unverified = 'email_verified' in claims;
    if (!joins && !unverified) {
      expect(await locationAfter('google')).toBe('/done?error=account_exists');
    } else {
      const user = await userAfter('google');
      expect(user.email).toBe(unverified ? null : claims.email);
    }
    const linked = await rows<{ user_id: string }>(app.database, 'SELECT user_id FROM accounts');
    expect(linked.filter(({ user_id }) => String(user_id) === String(id))).toHaveLength(joins ? 1 : 0);
  });

  test('verifies no email if it is a self-managed GitLab', async () => {
    expect((await userAfter('gitlab')).email).toBeNull();
  });

  test('shares accounts with another one only if the app names the same issuer for both', async () => {
    provider.lies = { ...plain, userinfo: { sub: undefined, id: 1 } };
    expect((await userAfter('one')).id).not.toBe((await userAfter('two')).id);
    expect((await userAfter('three')).id).toBe((await userAfter('four')).id);
  });

  test.each(['undefined', 'null', 'NaN', '[object Object]', 'true', ' '])(
    'cannot sign anyone in with the subject "%s"',
    async (user_id) => {
      provider.lies = { ...plain, userinfo: { user_id } };
      expect(await locationAfter('mapped')).toBe('/done?error=provider_error');
      expect(await rows(app.database, 'SELECT id FROM users')).toEqual([]);
    },
  );

  test.each<[string, Record<string, unknown>]>([
    ['a line break in the access token', { access_token: 'a\nforged line' }],
    ['a space in the access token', { access_token: 'a b' }],
    ['letters outside ASCII in the refresh token', { refresh_token: '漢'.repeat(30_000) }],
    ['a control character in the scopes', { scope: 'a\u0007b' }],
  ])('is refused with %s, which does not reach the log', async (_what, tokens) => {
    app.log.length = 0;
    provider.lies = { ...plain, tokens: { id_token: undefined, ...tokens } };
    expect(await locationAfter('one')).toBe('/done?error=provider_error');
    expect(app.log.join('\n')).not.toMatch(/forged|漢/);
    expect(app.log.join('\n')).toContain('provider one failed: Error: its');
  });

  test('may issue long tokens', async () => {
    const refresh_token = 'x'.repeat(30_000);
    provider.lies = { ...plain, tokens: { id_token: undefined, refresh_token }, userinfo: { sub: 'ada' } };
    const browser = app.browser();
    await signInWith(browser, 'one');
    const { body } = await browser.get('/auth/oauth/one/tokens').expect(200);
    expect(body.refresh_token).toBe(refresh_token);
  });

  test('gets no flow from parameters of the app', async () => {
    for (const name of ['state', 'nonce', 'redirect_uri', 'code_challenge', 'Response_Type', 'client_id']) {
      expect(() => google({ ...client, authorizeParameters: { [name]: 'x' } })).toThrow(
        /^latchkey: provider google: authorizeParameters must not contain parameters of the flow itself/,
      );
    }
    await travel(app.browser(), '/auth/oauth/google/authorize');
  });
});
