import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { ProviderPlugin } from '../../../../lib/providers.js';
import { discord, facebook, github, gitlab, google, linkedin, oauth2 } from '../../../../lib/providers.js';
import { rows } from '../../../support/database.js';
import { type Lies, type LyingProvider, startLyingProvider } from '../../../support/lying-provider.js';
import { type OAuthApp, signInWith, startOAuthApp } from '../../../support/oauth-app.js';

const client = { clientId: 'the-client', clientSecret: 'the secret' };
const endpoints = (issuer: string) => ({
  authorizationUrl: `${issuer}/authorize`,
  tokenUrl: `${issuer}/token`,
  userinfoUrl: `${issuer}/userinfo`,
});

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
  /** Changed so that the email is not verified. */
  unproved: Lies;
}

// There is no ID token, no OpenID Connect userinfo, and no `iss` in the authorization response.
const plainOAuth = {
  response: { iss: undefined },
  tokens: { id_token: undefined, refresh_token: undefined },
};

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
  },
  gitlab: {
    plugin: (issuer) => gitlab({ ...client, issuer }),
    asks: { scope: 'openid email' },
    sendsSecretBy: 'post',
    // Older versions of GitLab send the email only in userinfo.
    answers: { claims: { email: undefined, email_verified: undefined } },
    subject: 'ada',
    scopes: ['openid', 'email'],
    proves: true,
    unproved: { claims: { email: undefined }, userinfo: { email_verified: false } },
  },
  github: {
    plugin: (issuer) =>
      github({ ...client, endpoints: { ...endpoints(issuer), emailsUrl: `${issuer}/emails` } }),
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
  },
  discord: {
    plugin: (issuer) => discord({ ...client, endpoints: endpoints(issuer) }),
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
  },
  facebook: {
    plugin: (issuer) => facebook({ ...client, endpoints: endpoints(issuer) }),
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

  async function signInAnswering(lies: Lies) {
    provider.lies = lies;
    const browser = app.browser();
    const response = await signInWith(browser, id);
    expect(response.headers.location).toBe('/done');
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
      code_challenge_method: 'S256',
    });
    const { form, authorization } = provider.tokenRequests.at(-1) ?? {};
    expect(form?.get('redirect_uri')).toBe(`${app.origin}/auth/oauth/${id}/callback`);
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
});
