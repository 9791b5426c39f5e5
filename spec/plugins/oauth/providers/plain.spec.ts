import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { github, oauth2 } from '../../../../lib/providers.js';
import { rows } from '../../../support/database.js';
import {
  answers,
  type Lies,
  type LyingProvider,
  startLyingProvider,
} from '../../../support/lying-provider.js';
import { countRows, type OAuthApp, signInWith, startOAuthApp } from '../../../support/oauth-app.js';

const client = { clientId: 'the-client', clientSecret: 'the secret' };

// Services without discovery, some of which send errors with status 200.
describe('a service that supports only OAuth 2.0', () => {
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
      providers: () => [
        oauth2({ id: 'plain', ...client, ...endpoints }),
        oauth2({
          id: 'custom',
          ...client,
          ...endpoints,
          issuer: 'urn:custom',
          profile: ({ account }) => {
            const { uuid, mail } = account as Record<string, string>;
            return { subject: uuid, email: mail, emailIsProof: true };
          },
        }),
        github({ ...client, endpoints: { ...endpoints, emailsUrl: `${issuer}/emails` } }),
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

  const plain: Lies = { response: { iss: undefined } };

  async function locationAfter(id: string, lies: Lies) {
    provider.lies = { ...plain, ...lies };
    return (await signInWith(app.browser(), id)).headers.location;
  }

  test.each([
    ['nothing', { sub: undefined }],
    ['null', { sub: null }],
    ['an empty string', { sub: '' }],
    ['a fraction', { sub: 1.5 }],
    ['a number too large to be exact', { sub: 2 ** 60 }],
    ['a boolean', { sub: true }],
    ['a list', { sub: ['ada'] }],
    ['an object', { sub: { toString: 'ada' } }],
    ['a NUL', { sub: 'a\0' }],
  ])('is rejected with %s as the subject', async (_what, userinfo) => {
    expect(await locationAfter('plain', { userinfo })).toBe('/done?error=provider_error');
    expect(await countRows(app.database)).toEqual({ users: 0, accounts: 0, sessions: 0 });
  });

  test.each([
    ['null', 'null'],
    ['a list', '[]'],
    ['a string', '"ada"'],
    ['malformed JSON', 'ada@secret.example'],
  ])('is rejected with %s as userinfo', async (_what, body) => {
    const lies: Lies = {
      answers: {
        userinfo: (_req, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(body),
      },
    };
    for (const id of ['plain', 'custom', 'github'])
      expect(await locationAfter(id, lies)).toBe('/done?error=provider_error');
    // The JSON parser quotes input that it cannot parse.
    expect(app.log.join('\n')).not.toContain('ada@');
  });

  test('must not redirect a request with the access token, and must not fail', async () => {
    const { issuer } = provider;
    for (const userinfo of [answers.redirect(`${issuer}/emails`), answers.failure, answers.huge]) {
      provider.resourceRequests.length = 0;
      expect(await locationAfter('plain', { answers: { userinfo } })).toBe('/done?error=provider_error');
      expect(provider.resourceRequests).toEqual([]);
    }
  });

  test('may send an ID token that cannot be verified, which is ignored', async () => {
    const lies = {
      claims: { iss: 'https://elsewhere.example', aud: 'x', sub: 'eve' },
      userinfo: { sub: 'ada' },
    };
    expect(await locationAfter('plain', lies)).toBe('/done');
    const [account] = await rows(app.database, 'SELECT issuer, subject, id_token FROM accounts');
    expect(account).toEqual({ issuer: 'urn:latchkey:oauth2:plain', subject: 'ada', id_token: null });
  });

  test('gets PKCE, state and nonce too', async () => {
    await locationAfter('plain', {});
    const sent = provider.authorizations.at(-1);
    expect(sent?.get('code_challenge_method')).toBe('S256');
    // No scopes are configured, and an empty parameter would be invalid (RFC 6749, 3.3).
    expect(sent?.has('scope')).toBe(false);
    for (const name of ['code_challenge', 'state', 'nonce']) expect(sent?.get(name)).toMatch(/^[\w-]{43}$/);
  });

  test('can be read by the app’s own profile function', async () => {
    const browser = app.browser();
    provider.lies = { ...plain, userinfo: { account: { uuid: 'u-1', mail: 'Ada@example.com' } } };
    await signInWith(browser, 'custom');
    expect((await browser.get('/auth/me').expect(200)).body.user.email).toBe('ada@example.com');
    const [account] = await rows(app.database, 'SELECT issuer, subject FROM accounts');
    expect(account).toEqual({ issuer: 'urn:custom', subject: 'u-1' });
  });

  test('(GitHub) may send no valid list of emails, and then the email stays unknown', async () => {
    for (const emails of [{}, 'none', [null], [{ primary: true, verified: 'yes', email: 'a@example.com' }]]) {
      provider.lies = { ...plain, userinfo: { id: 7 }, emails };
      const browser = app.browser();
      await signInWith(browser, 'github');
      expect((await browser.get('/auth/me').expect(200)).body.user.email).toBeNull();
    }
    const lies: Lies = { userinfo: { id: 7 }, answers: { emails: answers.failure } };
    expect(await locationAfter('github', lies)).toBe('/done?error=provider_error');
  });

  test('(GitHub) may reject a code or a refresh token with status 200', async () => {
    const wrong = (error: string) => ({ access_token: undefined, id_token: undefined, error });
    const lies = { userinfo: { id: 7 }, tokens: wrong('bad_verification_code') };
    expect(await locationAfter('github', lies)).toBe('/done?error=provider_error');
    const browser = app.browser();
    provider.lies = { ...plain, userinfo: { id: 7 } };
    await signInWith(browser, 'github');
    provider.lies = { ...plain, tokens: wrong('bad_refresh_token') };
    const { body } = await browser.post('/auth/oauth/github/tokens/refresh').expect(409);
    expect(body.code).toBe('relink_required');
  });
});
