import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { ProviderPlugin } from '../../../../lib/providers.js';
import * as providers from '../../../../lib/providers.js';
import {
  discord,
  facebook,
  github,
  gitlab,
  google,
  linkedin,
  oauth2,
  slack,
  spotify,
  twitch,
  x,
} from '../../../../lib/providers.js';
import { signedIn } from '../../../support/app.js';
import { rows } from '../../../support/database.js';
import { type Lies, type LyingProvider, startLyingProvider } from '../../../support/lying-provider.js';
import { linkWith, type OAuthApp, signInWith, startOAuthApp } from '../../../support/oauth-app.js';

const client = { clientId: 'the-client', clientSecret: 'the secret' };
const endpoints = (issuer: string) => ({
  authorizationUrl: `${issuer}/authorize`,
  tokenUrl: `${issuer}/token`,
  userinfoUrl: `${issuer}/userinfo`,
});
const revocable = (issuer: string) => ({ ...endpoints(issuer), revocationUrl: `${issuer}/revoke` });

/** The documented responses of each provider, and the expected result. */
interface Documented {
  plugin(issuer: string): ProviderPlugin;
  asks: Record<string, string>;
  sendsSecretBy: 'basic' | 'post';
  answers: Lies;
  issuer?: string;
  subject: string;
  scopes: string[];
  proves: boolean;
  /** Whether it refuses PKCE. */
  refusesPkce?: boolean;
  /** Its request for the end of a grant. Undefined if there is no such endpoint. */
  revokes?: { method: 'POST' | 'DELETE'; url: string; form?: object; body?: string; authorization?: RegExp };
  /** Changed so that the email is not verified. */
  unproved: Lies;
}

// There is no ID token, no OpenID Connect userinfo, and no `iss` in the authorization response.
const plainOAuth = {
  response: { iss: undefined },
  tokens: { id_token: undefined, refresh_token: undefined },
};

// The tokens, in what is expected of requests.
const ACCESS = 'ACCESS';
const REFRESH = 'REFRESH';

const documented: Record<string, Documented> = {
  google: {
    plugin: (issuer) => google({ ...client, issuer }),
    asks: { scope: 'openid email profile', access_type: 'offline' },
    sendsSecretBy: 'post',
    answers: { tokens: { scope: 'openid https://www.googleapis.com/auth/userinfo.email' } },
    subject: 'ada',
    scopes: ['openid', 'https://www.googleapis.com/auth/userinfo.email'],
    proves: true,
    unproved: { claims: { email_verified: false } },
    revokes: { method: 'POST', url: '/revoke', form: { token: REFRESH, client_secret: 'the secret' } },
  },
  gitlab: {
    plugin: (issuer) => gitlab({ ...client, issuer, trustEmailVerified: true }),
    asks: { scope: 'openid email' },
    sendsSecretBy: 'post',
    // Older versions of GitLab send the email only in userinfo.
    answers: { claims: { email: undefined, email_verified: undefined } },
    subject: 'ada',
    scopes: ['openid', 'email'],
    proves: true,
    unproved: { claims: { email: undefined }, userinfo: { email_verified: false } },
    revokes: { method: 'POST', url: '/revoke', form: { token: REFRESH, client_secret: 'the secret' } },
  },
  github: {
    plugin: (issuer) =>
      github({ ...client, endpoints: { ...revocable(issuer), emailsUrl: `${issuer}/emails` } }),
    asks: { scope: 'read:user user:email' },
    sendsSecretBy: 'post',
    answers: {
      response: { iss: 'https://github.com/login/oauth' },
      tokens: {
        ...plainOAuth.tokens,
        token_type: 'bearer',
        scope: 'read:user,user:email',
        expires_in: undefined,
      },
      userinfo: { sub: undefined, id: 583231, login: 'octocat', email: 'shown@example.com' },
      emails: [
        { email: 'other@example.com', primary: false, verified: true, visibility: null },
        { email: 'ada@example.com', primary: true, verified: true, visibility: 'private' },
      ],
    },
    issuer: 'https://github.com/login/oauth',
    subject: '583231',
    scopes: ['read:user', 'user:email'],
    proves: true,
    unproved: {
      emails: [
        { email: 'other@example.com', primary: false, verified: true },
        { email: 'ada@example.com', primary: true, verified: false },
      ],
    },
    revokes: {
      method: 'DELETE',
      url: '/revoke',
      body: '{"access_token":"ACCESS"}',
      authorization: /^Basic dGhlLWNsaWVudDp0aGUrc2VjcmV0$/,
    },
  },
  discord: {
    plugin: (issuer) => discord({ ...client, endpoints: revocable(issuer) }),
    asks: { scope: 'identify email' },
    sendsSecretBy: 'post',
    answers: {
      ...plainOAuth,
      tokens: { ...plainOAuth.tokens, scope: 'identify email' },
      userinfo: { sub: undefined, id: '80351110224678912', username: 'ada', verified: true },
    },
    issuer: 'https://discord.com',
    subject: '80351110224678912',
    scopes: ['identify', 'email'],
    proves: true,
    unproved: { userinfo: { sub: undefined, id: '80351110224678912', verified: false } },
    revokes: { method: 'POST', url: '/revoke', form: { token: ACCESS, client_secret: 'the secret' } },
  },
  facebook: {
    plugin: (issuer) => facebook({ ...client, endpoints: revocable(issuer) }),
    asks: { scope: 'email' },
    sendsSecretBy: 'post',
    answers: {
      ...plainOAuth,
      tokens: { ...plainOAuth.tokens, scope: undefined, token_type: 'bearer' },
      userinfo: { sub: undefined, id: '10153456789012345' },
    },
    issuer: 'https://www.facebook.com',
    subject: '10153456789012345',
    scopes: ['email'],
    proves: false,
    unproved: { userinfo: { sub: undefined, id: '10153456789012345' } },
    revokes: { method: 'DELETE', url: '/revoke?appsecret_proof=PROOF', authorization: /^Bearer ACCESS$/ },
  },
  linkedin: {
    plugin: (issuer) => linkedin({ ...client, endpoints: endpoints(issuer) }),
    asks: { scope: 'openid profile email' },
    sendsSecretBy: 'post',
    answers: {
      response: { iss: undefined },
      claims: { iss: 'https://www.linkedin.com/oauth', nonce: undefined },
      tokens: { scope: 'email,openid,profile' },
      userinfo: { sub: '782bbtaQ' },
    },
    issuer: 'https://www.linkedin.com/oauth',
    subject: '782bbtaQ',
    scopes: ['email', 'openid', 'profile'],
    proves: true,
    unproved: { userinfo: { sub: '782bbtaQ', email_verified: false } },
    refusesPkce: true,
  },
  slack: {
    plugin: (issuer) => slack({ ...client, issuer, trustEmailVerified: true }),
    asks: { scope: 'openid email profile' },
    sendsSecretBy: 'post',
    answers: {
      response: { iss: undefined },
      claims: {
        sub: 'U0R7MFMJM',
        'https://slack.com/team_id': 'T0R7GR',
        'https://slack.com/user_id': 'U0R7MFMJM',
      },
      tokens: { ok: true, refresh_token: undefined, expires_in: undefined },
    },
    subject: 'T0R7GR:U0R7MFMJM',
    scopes: ['openid', 'email'],
    proves: true,
    unproved: {
      claims: { sub: 'U0R7MFMJM', 'https://slack.com/team_id': 'T0R7GR', email_verified: false },
    },
    refusesPkce: true,
    revokes: { method: 'POST', url: '/api/auth.revoke', authorization: /^Bearer ACCESS$/ },
  },
  twitch: {
    plugin: (issuer) => twitch({ ...client, issuer }),
    asks: {
      scope: 'openid user:read:email',
      claims:
        '{"id_token":{"email":null,"email_verified":null,"preferred_username":null},"userinfo":{"email":null,"email_verified":null,"preferred_username":null}}',
    },
    sendsSecretBy: 'post',
    answers: {
      response: { iss: undefined },
      tokens: { scope: ['openid', 'user:read:email'], token_type: 'bearer' },
    },
    subject: 'ada',
    scopes: ['openid', 'user:read:email'],
    proves: true,
    unproved: { claims: { email_verified: false } },
    revokes: { method: 'POST', url: '/revoke', form: { token: ACCESS, client_id: 'the-client' } },
  },
  x: {
    plugin: (issuer) => x({ ...client, endpoints: revocable(issuer) }),
    asks: { scope: 'users.read tweet.read users.email' },
    sendsSecretBy: 'basic',
    answers: {
      ...plainOAuth,
      tokens: { ...plainOAuth.tokens, token_type: 'bearer', scope: 'users.read tweet.read users.email' },
      userinfo: {
        sub: undefined,
        data: { id: '2244994945', username: 'ada', confirmed_email: 'ada@example.com' },
      },
    },
    issuer: 'https://x.com',
    subject: '2244994945',
    scopes: ['users.read', 'tweet.read', 'users.email'],
    proves: true,
    unproved: { userinfo: { sub: undefined, data: { id: '2244994945', username: 'ada' } } },
    revokes: { method: 'POST', url: '/revoke', form: { token: ACCESS }, authorization: /^Basic / },
  },
  spotify: {
    plugin: (issuer) => spotify({ ...client, endpoints: endpoints(issuer) }),
    asks: { scope: 'user-read-email' },
    sendsSecretBy: 'basic',
    answers: {
      ...plainOAuth,
      tokens: { id_token: undefined, scope: 'user-read-email' },
      userinfo: { sub: undefined, id: 'ada_of_spotify', account_id: 'aB3dE5fG7h', email: 'ada@example.com' },
    },
    issuer: 'https://accounts.spotify.com',
    subject: 'aB3dE5fG7h',
    scopes: ['user-read-email'],
    proves: false,
    unproved: { userinfo: { sub: undefined, id: 'ada_of_spotify', account_id: 'aB3dE5fG7h' } },
  },
  generic: {
    plugin: (issuer) => oauth2({ id: 'generic', ...client, scopes: ['me'], ...endpoints(issuer) }),
    asks: { scope: 'me' },
    sendsSecretBy: 'post',
    answers: { ...plainOAuth, userinfo: { sub: undefined, id: 42 } },
    issuer: 'urn:latchkey:oauth2:generic',
    subject: '42',
    scopes: ['openid', 'email'],
    proves: false,
    unproved: { userinfo: { sub: undefined, id: 42 } },
  },
};

describe.each(Object.entries(documented))('the provider %s', (id, one) => {
  let app: OAuthApp;
  let provider: LyingProvider;
  beforeAll(async () => {
    provider = await startLyingProvider();
    app = await startOAuthApp({ providers: () => [one.plugin(provider.issuer)] });
  });
  afterEach(async () => {
    await rows(app.database, 'DELETE FROM users');
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  const withRevocation = (lies: Lies): Lies => ({
    ...lies,
    metadata: {
      revocation_endpoint: `${provider.issuer}/revoke`,
      authorization_response_iss_parameter_supported: undefined,
    },
  });

  async function signInAnswering(lies: Lies) {
    provider.lies = withRevocation(lies);
    const browser = app.browser();
    const response = await signInWith(browser, id);
    // Facebook adds a fragment, which browsers would keep.
    expect(response.headers.location).toBe(id === 'facebook' ? '/done#' : '/done');
    return browser;
  }

  test('signs users in with its documented responses', async () => {
    const browser = await signInAnswering(one.answers);
    const { body } = await browser.get('/auth/me').expect(200);
    expect(body.user.email).toBe(one.proves ? 'ada@example.com' : null);
    expect(body.user.email_verified_at === null).toBe(!one.proves);
    const [account] = await rows<{ issuer: string; subject: string }>(app.database, 'SELECT * FROM accounts');
    expect(account?.issuer).toBe(one.issuer ?? provider.issuer);
    expect(account?.subject).toBe(one.subject);
    const tokens = await browser.get(`/auth/oauth/${id}/tokens`).expect(200);
    expect(tokens.body.scopes).toEqual(one.scopes);
    expect(tokens.body.access_token).toMatch(/^provider-access/);
  });

  test('gets its requests as documented', async () => {
    await signInAnswering(one.answers);
    expect(Object.fromEntries(provider.authorizations.at(-1) ?? [])).toMatchObject({
      ...one.asks,
      response_type: 'code',
      client_id: 'the-client',
      redirect_uri: `${app.origin}/auth/oauth/${id}/callback`,
      ...(!one.refusesPkce && { code_challenge_method: 'S256' }),
    });
    const { form, authorization } = provider.tokenRequests.at(-1) ?? {};
    expect(form?.get('redirect_uri')).toBe(`${app.origin}/auth/oauth/${id}/callback`);
    expect(provider.authorizations.at(-1)?.has('code_challenge')).toBe(!one.refusesPkce);
    expect(form?.has('code_verifier')).toBe(!one.refusesPkce);
    expect(form?.get('client_secret')).toBe(one.sendsSecretBy === 'post' ? 'the secret' : null);
    expect(authorization !== undefined).toBe(one.sendsSecretBy === 'basic');
    for (const { headers } of provider.resourceRequests)
      expect(headers.authorization).toMatch(/^Bearer provider-access-/);
  });

  test('does not verify an email that it reports as unverified', async () => {
    const browser = await signInAnswering({ ...one.answers, ...one.unproved });
    const { body } = await browser.get('/auth/me').expect(200);
    expect(body.user).toMatchObject({ email: null, email_verified_at: null });
  });

  test('ends the grant when the account is unlinked, in its own way', async () => {
    const browser = await signedIn(app, { email: 'unlinks@example.com', password: 'an analytical engine' });
    provider.lies = withRevocation(one.answers);
    await linkWith(browser, id);
    const { access_token, refresh_token } = (await browser.get(`/auth/oauth/${id}/tokens`).expect(200)).body;
    provider.revocations.length = 0;
    await browser.delete(`/auth/oauth/${id}/unlink`).expect(204);
    await app.auth.close();
    const proof = createHmac('sha256', client.clientSecret).update(access_token).digest('hex');
    const named = (text: string) =>
      text
        .replace(access_token, ACCESS)
        .replace(refresh_token ?? 'none', REFRESH)
        .replace(proof, 'PROOF');
    const seen = provider.revocations.map(({ method, url, body, form, authorization = '' }) => ({
      method,
      url: named(url),
      body: named(body),
      form: Object.fromEntries([...form].map(([name, value]) => [name, named(value)])),
      authorization: named(authorization),
    }));
    const { authorization = /^/, ...expected } = one.revokes ?? {};
    expect(seen).toHaveLength(one.revokes ? 1 : 0);
    if (one.revokes)
      expect(seen).toMatchObject([{ ...expected, authorization: expect.stringMatching(authorization) }]);
  });
});

test.each(Object.entries(providers))('%s() names an option that is no text', (_name, provider) => {
  for (const clientId of [Symbol('a client'), Object.create(null), 5n, null])
    expect(() => (provider as (options: object) => unknown)({ clientId, clientSecret: 'secret' })).toThrow(
      /^latchkey: [\s\S]*clientId/,
    );
});

describe('spotify() after the account got a permanent id', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  const lies = (userinfo: object) => ({
    ...documented.spotify?.answers,
    userinfo: { sub: undefined, ...userinfo },
  });
  beforeAll(async () => {
    provider = await startLyingProvider();
    app = await startOAuthApp({
      providers: () => [spotify({ ...client, endpoints: endpoints(provider.issuer) })],
    });
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });
  const userOf = async (userinfo: object) => {
    provider.lies = lies(userinfo);
    const browser = app.browser();
    expect((await signInWith(browser, 'spotify')).headers.location).toBe('/done');
    return (await browser.get('/auth/me').expect(200)).body.user.id as string;
  };
  const subjects = async () =>
    (await rows<{ subject: string }>(app.database, 'SELECT subject FROM accounts ORDER BY subject')).map(
      ({ subject }) => subject,
    );

  test('is found by the former one once, and afterwards by the permanent one alone', async () => {
    const id = await userOf({ id: 'ada' });
    expect(await subjects()).toEqual(['ada']);
    expect(await userOf({ id: 'ada', account_id: 'aB3' })).toBe(id);
    expect(await subjects()).toEqual(['aB3']);
    expect(await userOf({ id: 'ada has another name', account_id: 'aB3' })).toBe(id);
    // Somebody else gets the name that is free now.
    expect(await userOf({ id: 'ada', account_id: 'cD4' })).not.toBe(id);
    expect(await subjects()).toEqual(['aB3', 'cD4']);
  });

  test('links the same account again, and rewrites it', async () => {
    await rows(app.database, 'DELETE FROM users');
    const browser = await signedIn(app);
    provider.lies = lies({ id: 'ada' });
    expect((await linkWith(browser, 'spotify')).headers.location).toBe('/linked');
    provider.lies = lies({ id: 'ada', account_id: 'aB3' });
    expect((await linkWith(browser, 'spotify')).headers.location).toBe('/linked');
    expect(await subjects()).toEqual(['aB3']);
  });
});
