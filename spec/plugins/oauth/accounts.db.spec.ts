import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { SECRET } from '../../support/app.js';
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

const NEW_SECRET = 'a newer secret for specs, of 32 bytes and more';
const SEALED = ['access_token', 'refresh_token', 'id_token'] as const;
type Sealed = Record<(typeof SEALED)[number], string> & { id: string };

let app: OAuthApp;
let provider: LyingProvider;
let ada: { browser: Browser; id: string };

beforeAll(async () => {
  provider = await startLyingProvider();
  app = await startOAuthApp({
    providers: () => [oidcPlugin(provider), oidcPlugin(provider, { id: 'twin' })],
  });
});
beforeEach(async () => {
  ada = await signInAs('ada');
});
afterEach(async () => {
  provider.lies = {};
  await rows(app.database, 'DELETE FROM users');
});
afterAll(async () => {
  await app.stop();
  await provider.stop();
});

async function signInAs(sub: string) {
  provider.lies = { claims: { sub, email: null } };
  const browser = app.browser();
  await signInWith(browser, 'oidc');
  return { browser, id: (await browser.get('/auth/me')).body.user.id as string };
}

async function stored(userId: string): Promise<Sealed> {
  const [row] = await rows<Sealed>(
    app.database,
    'SELECT id, access_token, refresh_token, id_token FROM accounts WHERE user_id = :userId',
    { userId },
  );
  return row as Sealed;
}

const store = (userId: string, column: string, value: string) =>
  rows(app.database, `UPDATE accounts SET ${column} = :value WHERE user_id = :userId`, { userId, value });

async function expectRelink({ browser }: { browser: Browser }) {
  for (const response of [
    await browser.get('/auth/oauth/oidc/tokens'),
    await browser.post('/auth/oauth/oidc/tokens/refresh'),
  ]) {
    expect([response.status, response.body.code]).toEqual([409, 'relink_required']);
    expect(response.text).not.toContain('provider-');
  }
}

describe('a stored provider token', () => {
  test('is not readable in any table or log line', async () => {
    await ada.browser.post('/auth/oauth/oidc/tokens/refresh').expect(200);
    const { body } = await ada.browser.get('/auth/oauth/oidc/tokens').expect(200);
    provider.lies = {
      answers: { token: (_req, res) => void res.writeHead(500).end('provider-access-failed') },
    };
    await ada.browser.post('/auth/oauth/oidc/tokens/refresh').expect(502);
    const dump = JSON.stringify(
      await Promise.all(
        ['users', 'sessions', 'accounts', 'oauth_flows'].map((table) =>
          rows(app.database, `SELECT * FROM ${table}`),
        ),
      ),
    );
    for (const text of [dump, app.log.join('\n')]) {
      expect(text).not.toMatch(/provider-(access|refresh|code)-/);
      for (const token of [body.access_token, body.refresh_token, body.id_token]) {
        expect(text).not.toContain(token);
        expect(text).not.toContain(Buffer.from(token).toString('base64url').slice(0, 40));
        expect(text).not.toContain(Buffer.from(token).toString('hex').slice(0, 40));
      }
    }
    // Tokens appear only in the responses of the token routes.
    for (const path of ['/auth/oauth/accounts', '/auth/me', '/auth/sessions'])
      expect((await ada.browser.get(path).expect(200)).text).not.toMatch(/provider-|eyJ/);
  });

  test('is encrypted differently each time', async () => {
    const before = await stored(ada.id);
    provider.lies = {
      claims: { email: null },
      tokens: { access_token: 'the-same', refresh_token: 'the-same' },
    };
    await signInWith(app.browser(), 'oidc');
    const one = await stored(ada.id);
    await signInWith(app.browser(), 'oidc');
    const two = await stored(ada.id);
    expect(new Set([before, one, two].flatMap((row) => SEALED.map((field) => row[field]))).size).toBe(9);
  });

  test('cannot be decrypted in another row', async () => {
    const eve = await signInAs('eve');
    const hers = await stored(ada.id);
    for (const field of SEALED) await store(eve.id, field, hers[field]);
    await expectRelink(eve);
  });

  test('cannot be decrypted in another column', async () => {
    const { access_token, refresh_token } = await stored(ada.id);
    await store(ada.id, 'access_token', refresh_token);
    await expectRelink(ada);
    await store(ada.id, 'access_token', access_token);
    await ada.browser.get('/auth/oauth/oidc/tokens').expect(200);
    await store(ada.id, 'refresh_token', access_token);
    await expectRelink(ada);
  });

  test('cannot be decrypted for another provider', async () => {
    await rows(app.database, "UPDATE accounts SET provider = 'twin' WHERE user_id = :id", { id: ada.id });
    const { body } = await ada.browser.get('/auth/oauth/twin/tokens').expect(409);
    expect(body.code).toBe('relink_required');
  });

  test('cannot be decrypted if it is changed or truncated', async () => {
    const { access_token } = await stored(ada.id);
    const [version, key, body = ''] = access_token.split('.');
    const bytes = Buffer.from(body, 'base64url');
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    for (const value of [
      `${version}.${key}.${bytes.toString('base64url')}`,
      `${version}.${key}.${body.slice(0, -4)}`,
      `${version}.${key}.`,
      `v2.${key}.${body}`,
      'provider-access-in-the-clear',
      '',
    ]) {
      await store(ada.id, 'access_token', value);
      await expectRelink(ada);
    }
  });

  test('is replaced by linking again, even if the provider sends no other refresh token', async () => {
    await store(ada.id, 'refresh_token', 'broken');
    await expectRelink(ada);
    provider.lies = { claims: { email: null }, tokens: { refresh_token: undefined } };
    expect((await linkWith(ada.browser, 'oidc')).headers.location).toBe('/linked');
    const { body } = await ada.browser.get('/auth/oauth/oidc/tokens').expect(200);
    expect(body.refresh_token).toBeNull();
    const refused = await ada.browser.post('/auth/oauth/oidc/tokens/refresh').expect(409);
    expect(refused.body.code).toBe('refresh_token_missing');
  });

  test('is kept if a new sign-in brings no other refresh token', async () => {
    const before = (await ada.browser.get('/auth/oauth/oidc/tokens')).body;
    provider.lies = { claims: { email: null }, tokens: { refresh_token: undefined } };
    await signInWith(app.browser(), 'oidc');
    const after = (await ada.browser.get('/auth/oauth/oidc/tokens')).body;
    expect(after.refresh_token).toBe(before.refresh_token);
    expect(after.access_token).not.toBe(before.access_token);
  });
});

describe('while secrets are rotated', () => {
  test('old secrets decrypt, and the new one encrypts', async () => {
    const rotating = app.another({ secret: [NEW_SECRET, SECRET] });
    const before = await stored(ada.id);
    const tokens = await rotating.oauth.tokens(ada.id, 'oidc');
    expect(tokens.accessToken).toMatch(/^provider-access/);
    await rotating.oauth.refresh(ada.id, 'oidc');
    const after = await stored(ada.id);
    const keyOf = (sealed: string) => sealed.split('.')[1];
    for (const field of SEALED) expect(keyOf(after[field])).not.toBe(keyOf(before[field]));
    // A process that does not have the new secret yet cannot read the token.
    await expect(app.auth.oauth.tokens(ada.id, 'oidc')).rejects.toMatchObject({ code: 'relink_required' });
  });

  test('rotateSecrets() re-encrypts the remaining tokens, so that the new secret alone can decrypt all of them', async () => {
    const people = [ada, await signInAs('grace'), await signInAs('edsger')];
    const rotating = app.another({ secret: [NEW_SECRET, SECRET] });
    const next = app.another({ secret: NEW_SECRET });
    const before = await Promise.all(people.map(({ id }) => app.auth.oauth.tokens(id, 'oidc')));
    provider.lies = { claims: { sub: 'ada' } };
    await rotating.oauth.refresh(ada.id, 'oidc');
    before[0] = await rotating.oauth.tokens(ada.id, 'oidc');
    await expect(next.oauth.tokens(people[1]?.id ?? '', 'oidc')).rejects.toMatchObject({
      code: 'relink_required',
    });
    expect(await rotating.rotateSecrets({ dryRun: true })).toBe(2);
    expect(await rotating.rotateSecrets()).toBe(2);
    expect(await rotating.rotateSecrets()).toBe(0);
    expect(await Promise.all(people.map(({ id }) => next.oauth.tokens(id, 'oidc')))).toEqual(before);
  });

  test('tokens that cannot be decrypted are skipped', async () => {
    const grace = await signInAs('grace');
    await store(ada.id, 'access_token', 'broken');
    const rotating = app.another({ secret: [NEW_SECRET, SECRET] });
    expect(await rotating.rotateSecrets({ dryRun: true })).toBe(1);
    expect(await rotating.rotateSecrets()).toBe(1);
    expect((await rotating.oauth.tokens(grace.id, 'oidc')).accessToken).toMatch(/^provider-access/);
    expect((await stored(ada.id)).access_token).toBe('broken');
  });
});
