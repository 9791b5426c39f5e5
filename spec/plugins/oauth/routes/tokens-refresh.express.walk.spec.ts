import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { rows } from '../../../support/database.js';
import {
  type Browser,
  linkWith,
  type OAuthApp,
  signInWith,
  startWithOidc,
} from '../../../support/oauth-app.js';
import type { OidcServer } from '../../../support/oidc.js';
import { startProcess } from '../../../support/processes.js';

const TOKENS = '/auth/oauth/oidc/tokens';
const REFRESH = `${TOKENS}/refresh`;

describe('POST /oauth/:provider/tokens/refresh', () => {
  let app: OAuthApp;
  let provider: OidcServer;
  beforeAll(async () => {
    ({ app, provider } = await startWithOidc());
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  let browser: Browser;
  let userId: string;
  let people = 0;
  beforeEach(async () => {
    provider.person = { sub: `person-${++people}` };
    provider.rotates = true;
    provider.tokenDelayMs = 0;
    browser = app.browser();
    await signInWith(browser, 'oidc');
    userId = (await browser.get('/auth/me')).body.user.id;
    provider.tokenCalls = 0;
  });

  const read = async () => (await browser.get(TOKENS).expect(200)).body;

  test.each([
    ['rotates refresh tokens', true],
    ['keeps refresh tokens', false],
  ])('returns new tokens from a provider that %s', async (_what, rotates) => {
    provider.rotates = rotates;
    const before = await read();
    const { body } = await browser.post(REFRESH).expect(200);
    expect(body.access_token).not.toBe(before.access_token);
    expect(body.refresh_token === before.refresh_token).toBe(!rotates);
    expect(await read()).toEqual(body);
    // The second refresh uses the tokens that are stored now.
    const { body: again } = await browser.post(REFRESH).expect(200);
    expect(again.access_token).not.toBe(body.access_token);
    expect(provider.tokenCalls).toBe(2);
  });

  test('calls the provider once for 10 concurrent requests in 2 processes, and returns the same tokens to all of them', async () => {
    const other = await startProcess<string[]>('refresh', {
      database: app.database.url,
      issuer: provider.issuer,
      userId,
      times: 5,
    });
    provider.tokenDelayMs = 700;
    const [theirs, ...ours] = await Promise.all([
      other.go(),
      ...Array.from({ length: 5 }, () => browser.post(REFRESH).expect(200)),
    ]);
    const tokens = [...ours.map(({ body }) => body.access_token), ...theirs];
    expect(tokens).toHaveLength(10);
    expect(new Set(tokens).size).toBe(1);
    expect(provider.tokenCalls).toBe(1);
    expect((await read()).access_token).toBe(tokens[0]);
  });

  test('responds with 409 if the provider has revoked the grant, until the account is linked again', async () => {
    // If a rotated refresh token is used again, the provider revokes its grant.
    const [old] = await rows<{ refresh_token: string }>(
      app.database,
      'SELECT refresh_token FROM accounts WHERE user_id = :userId',
      { userId },
    );
    await browser.post(REFRESH).expect(200);
    await rows(app.database, 'UPDATE accounts SET refresh_token = :old WHERE user_id = :userId', {
      userId,
      old: old?.refresh_token ?? '',
    });
    const responses = await Promise.all(Array.from({ length: 3 }, () => browser.post(REFRESH)));
    expect(responses.map(({ body }) => body.code)).toEqual(Array(3).fill('relink_required'));
    const calls = provider.tokenCalls;
    expect((await browser.get(TOKENS).expect(409)).body.code).toBe('relink_required');
    expect((await browser.post(REFRESH).expect(409)).body.code).toBe('relink_required');
    expect(provider.tokenCalls).toBe(calls);

    await linkWith(browser, 'oidc');
    await read();
    await browser.post(REFRESH).expect(200);
  });

  test('responds with 409 without a refresh token', async () => {
    await rows(app.database, 'UPDATE accounts SET refresh_token = NULL WHERE user_id = :userId', { userId });
    expect((await browser.post(REFRESH).expect(409)).body.code).toBe('refresh_token_missing');
    expect((await read()).refresh_token).toBeNull();
    expect(provider.tokenCalls).toBe(0);
  });

  test('takes over from a process that died when its lease has expired', async () => {
    const lease = async (until: string) =>
      rows(
        app.database,
        `UPDATE accounts SET refresh_lease = '01900000-0000-7000-8000-000000000000', refresh_lease_until = :until
         WHERE user_id = :userId`,
        { userId, until },
      );
    await lease('2020-01-01 00:00:00.000');
    await browser.post(REFRESH).expect(200);
    await lease('2100-01-01 00:00:00.000');
    const response = await browser.post(REFRESH).expect(503);
    expect(response.body.code).toBe('provider_slow');
    expect(provider.tokenCalls).toBe(1);
    await read();
  });

  test('responds with 404 for an unknown provider', async () => {
    const { body } = await browser.post('/auth/oauth/nobody/tokens/refresh').expect(404);
    expect(body.code).toBe('provider_not_found');
  });
});
