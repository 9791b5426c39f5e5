import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Sequelize } from 'sequelize';
import { connectByUrl } from '../../../lib/database/connect.js';
import { advance, resetTime } from '../../support/clock.js';
import { rows } from '../../support/database.js';
import { answers, type LyingProvider, startLyingProvider } from '../../support/lying-provider.js';
import {
  type Browser,
  type OAuthApp,
  oidcPlugin,
  signInWith,
  startOAuthApp,
} from '../../support/oauth-app.js';
import { startProcess } from '../../support/processes.js';
import { until } from '../../support/until.js';

const REFRESH = '/auth/oauth/oidc/tokens/refresh';
const LEASE_SECONDS = 7;

describe('the refresh lease', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  let sequelize: Sequelize;
  let browser: Browser;
  let userId: string;
  beforeAll(async () => {
    provider = await startLyingProvider();
    app = await startOAuthApp({
      providers: () => [oidcPlugin(provider)],
      config: ({ url }) => {
        sequelize = connectByUrl(url) as Sequelize;
        return { database: sequelize };
      },
    });
  });
  beforeEach(async () => {
    await rows(app.database, 'DELETE FROM users');
    resetTime(app.auth);
    browser = app.browser();
    await signInWith(browser, 'oidc');
    userId = (await browser.get('/auth/me').expect(200)).body.user.id;
    provider.tokenRequests.length = 0;
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  test('of a process that was killed expires within seconds', async () => {
    const { url } = app.database;
    const child = await startProcess('refresh', { database: url, issuer: provider.issuer, userId, times: 1 });
    const asked = new Promise<void>((resolve) => {
      provider.lies = { answers: { token: () => resolve() } };
    });
    const ended = child.go().catch((error) => error.message);
    await asked;
    child.kill();
    expect(await ended).toContain('ended');
    provider.lies = {};
    advance(app.auth, LEASE_SECONDS);
    await browser.post(REFRESH).expect(200);
    expect(provider.tokenRequests).toHaveLength(1);
  }, 180_000);

  test('is kept as long as new tokens are waiting to be saved', async () => {
    const another = app.another();
    // Its first statement comes after it has read the database's clock.
    await another.oauth.accounts(userId);
    const query = sequelize.query;
    let isBroken = true;
    let hasTried = () => {};
    sequelize.query = (async (sql: string | { query: string }, ...rest: never[]) => {
      const text = typeof sql === 'string' ? sql : sql.query;
      if (isBroken && /^UPDATE accounts.*access_token/.test(text)) throw new Error('the cable is out');
      const result = await (query as (...args: unknown[]) => unknown).call(sequelize, sql, ...rest);
      if (/SET refresh_lease = /.test(text)) hasTried();
      return result;
    }) as Sequelize['query'];
    await browser.post(REFRESH).expect(503);
    const leaseEnd = async () =>
      (await rows(app.database, 'SELECT refresh_lease_until FROM accounts'))[0]?.refresh_lease_until;
    const initial = String(await leaseEnd());
    // Longer than a lease in total, with a renewal in between, and with enough time left until the next one.
    for (const auth of [app.auth, another]) advance(auth, LEASE_SECONDS - 3);
    await until(async () => String(await leaseEnd()) !== initial);
    for (const auth of [app.auth, another]) advance(auth, LEASE_SECONDS - 3);
    const tried = new Promise<void>((resolve) => {
      hasTried = resolve;
    });
    const others = another.oauth.refresh(userId, 'oidc').then(
      (tokens) => tokens.refreshToken,
      (error) => error.code,
    );
    // It has not got the lease, and waits for the outcome.
    await tried;
    isBroken = false;
    const other = await others;
    await until(async () => (await leaseEnd()) === null);
    sequelize.query = query;
    // The tokens of this one call were saved.
    expect(provider.tokenRequests).toHaveLength(1);
    const { refreshToken } = await app.auth.oauth.tokens(userId, 'oidc');
    expect([refreshToken, 'provider_slow']).toContain(other);
    await app.auth.oauth.refresh(userId, 'oidc');
    expect(provider.tokenRequests.at(-1)?.form.get('refresh_token')).toBe(refreshToken);
    expect(provider.tokenRequests).toHaveLength(2);
  }, 180_000);

  test('that expired during a database outage is left to the process that is still saving tokens', async () => {
    const another = app.another();
    // Its first statement comes after it has read the database's clock.
    await another.oauth.accounts(userId);
    const query = sequelize.query;
    let isBroken = true;
    let hasRead = () => {};
    sequelize.query = (async (sql: string | { query: string }, ...rest: never[]) => {
      const text = typeof sql === 'string' ? sql : sql.query;
      const isLost = isBroken && /^UPDATE .?accounts/.test(text) && provider.tokenRequests.length > 0;
      if (isLost) throw new Error('the cable is out');
      const result = await (query as (...args: unknown[]) => unknown).call(sequelize, sql, ...rest);
      if (/^SELECT.*a\.subject/s.test(text)) hasRead();
      return result;
    }) as Sequelize['query'];
    await browser.post(REFRESH).expect(503);
    for (const auth of [app.auth, another]) advance(auth, LEASE_SECONDS);
    expect(await app.auth.oauth.refresh(userId, 'oidc').catch((error) => error.code)).toBe('unavailable');
    const seen = new Promise<void>((resolve) => {
      hasRead = resolve;
    });
    const others = another.oauth.refresh(userId, 'oidc').catch((error) => error.code);
    // It has seen the expired lease, and waits whether it is renewed.
    await seen;
    isBroken = false;
    expect(await others).toBe('unavailable');
    sequelize.query = query;
    expect(provider.tokenRequests).toHaveLength(1);
    await app.auth.oauth.refresh(userId, 'oidc');
    expect(provider.tokenRequests).toHaveLength(2);
  }, 180_000);

  test('is released immediately if the provider fails', async () => {
    provider.lies = { answers: { token: answers.failure } };
    await browser.post(REFRESH).expect(502);
    provider.lies = {};
    await browser.post(REFRESH).expect(200);
  });
});
