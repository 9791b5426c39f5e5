import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Sequelize, Transaction } from 'sequelize';
import { connectByUrl } from '../../../lib/database/connect.js';
import { dialect, rows } from '../../support/database.js';
import { answers, type Lies, type LyingProvider, startLyingProvider } from '../../support/lying-provider.js';
import {
  type Browser,
  countRows,
  type OAuthApp,
  oidcPlugin,
  signInWith,
  startOAuthApp,
} from '../../support/oauth-app.js';
import { holdTimers } from '../../support/timers.js';
import { until } from '../../support/until.js';

const REFRESH = '/auth/oauth/oidc/tokens/refresh';
const now = () => Math.floor(Date.now() / 1000);

/** Responses without usable tokens. */
const useless: Record<string, (issuer: string) => Lies> = {
  HTML: () => ({ answers: { token: answers.html } }),
  '150 MB': () => ({ answers: { token: answers.huge } }),
  'a redirect': (issuer) => ({ answers: { token: answers.redirect(`${issuer}/userinfo`) } }),
  'a server error': () => ({ answers: { token: answers.failure } }),
  'no access token': () => ({ tokens: { access_token: undefined } }),
  'an empty access token': () => ({ tokens: { access_token: '' } }),
  'a token of 100 KB': () => ({ tokens: { access_token: 'x'.repeat(100_000) } }),
};

/** Responses whose tokens are usable, and what is wrong with the rest. */
const wrongInPart: Record<string, Lies> = {
  'an ID token signed with a wrong key': { wrongKey: true },
  'an unsigned ID token': { alg: 'none' },
  'an ID token for another audience': { claims: { aud: 'somebody-else' } },
  'an ID token without a subject': { claims: { sub: '' } },
  'an ID token that expired ten seconds ago': { claims: { iat: now() - 7200, exp: now() - 10 } },
  'an ID token issued in the future': { claims: { iat: now() + 86_400, exp: now() + 90_000 } },
  'an ID token that is a number': { tokens: { id_token: 7 } },
  'a negative lifetime': { tokens: { expires_in: -1 } },
  'an infinite lifetime': { tokens: { expires_in: 'Infinity' } },
  'a lifetime in words': { tokens: { expires_in: 'soon' } },
  'scopes of 100 KB': { tokens: { scope: 'x '.repeat(50_000) } },
  'scopes that are a number': { tokens: { scope: 7 } },
  'an unknown type of tokens': { tokens: { token_type: 'mac' } },
};

describe('a refresh', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  let sequelize: Sequelize;
  let browser: Browser;
  beforeAll(async () => {
    provider = await startLyingProvider();
    app = await startOAuthApp({
      providers: () => [oidcPlugin(provider)],
      tables: {},
      config: ({ url }) => {
        sequelize = connectByUrl(url) as Sequelize;
        return { database: sequelize };
      },
    });
  });
  beforeEach(async () => {
    browser = app.browser();
    await signInWith(browser, 'oidc');
    provider.tokenRequests.length = 0;
  });
  afterEach(async () => {
    provider.lies = {};
    await rows(app.database, 'DELETE FROM users');
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  const read = async () => (await browser.get('/auth/oauth/oidc/tokens').expect(200)).body;

  test.each(Object.keys(useless))('that returns %s is 502 and keeps the stored tokens', async (name) => {
    const before = await read();
    const stored = await rows(app.database, 'SELECT access_token, refresh_token, id_token FROM accounts');
    provider.lies = useless[name]?.(provider.issuer) ?? {};
    expect((await browser.post(REFRESH).expect(502)).body.code).toBe('provider_error');
    expect(await read()).toEqual(before);
    expect(await rows(app.database, 'SELECT access_token, refresh_token, id_token FROM accounts')).toEqual(
      stored,
    );
    provider.lies = {};
    await browser.post(REFRESH).expect(200);
  });

  test.each(Object.keys(wrongInPart))(
    'that returns %s saves the new tokens, because the old ones may be used up',
    async (name) => {
      const before = await read();
      app.log.length = 0;
      provider.lies = wrongInPart[name] ?? {};
      const after = (await browser.post(REFRESH).expect(200)).body;
      expect(after.refresh_token).not.toBe(before.refresh_token);
      expect(after.access_token).not.toBe(before.access_token);
      expect(await read()).toEqual(after);
      if (/ID token/.test(name)) expect(after.id_token).toBe(before.id_token);
      else expect(after.id_token).not.toBe(before.id_token);
      expect(app.log.join('\n')).toMatch(/provider oidc refreshed tokens.*(left out)/);
      provider.lies = {};
      await browser.post(REFRESH).expect(200);
    },
  );

  test.each([
    ['issuer', { iss: 'https://evil.example' }],
    ['subject', { sub: 'eve' }],
    ['subject, and is not valid otherwise', { sub: 'eve', exp: now() - 10 }],
  ])('whose ID token has another %s requires a new link', async (_what, claims) => {
    provider.lies = { claims };
    expect((await browser.post(REFRESH).expect(409)).body.code).toBe('relink_required');
    expect((await browser.get('/auth/oauth/oidc/tokens').expect(409)).body.code).toBe('relink_required');
    provider.lies = {};
    expect((await browser.post(REFRESH).expect(409)).body.code).toBe('relink_required');
  });

  test('is not sent if the keys for its ID token cannot be fetched: the new refresh token would be lost', async () => {
    // It has cached no keys yet.
    const another = app.another();
    const [{ user_id: userId = '' } = {}] = await rows<{ user_id: string }>(
      app.database,
      'SELECT user_id FROM accounts',
    );
    provider.lies = { answers: { jwks: answers.failure } };
    await expect(another.oauth.refresh(userId, 'oidc')).rejects.toMatchObject({ code: 'provider_error' });
    expect(refreshRequests()).toEqual([]);
    provider.lies = {};
    await another.oauth.refresh(userId, 'oidc');
    expect(refreshRequests()).toHaveLength(1);
  });

  test('that takes longer is heard to its end, and meanwhile says so to all concurrent calls', async () => {
    const before = await read();
    const held = holdRefresh({
      status: 200,
      body: { access_token: 'late', refresh_token: 'late', token_type: 'bearer', expires_in: 60 },
    });
    const start = performance.now();
    const responses = await Promise.all(Array.from({ length: 5 }, () => browser.post(REFRESH)));
    // 4.5 seconds, and not those of one call after the other.
    expect(performance.now() - start).toBeLessThan(8000);
    for (const { status, body, headers } of responses) {
      expect([status, body.code]).toEqual([503, 'provider_slow']);
      expect(headers['retry-after']).toBe('5');
    }
    expect(await read()).toEqual(before);
    // This call waits for the refresh of before, and the provider gets no second request.
    const attempted = leaseAttempt();
    const waiting = browser.post(REFRESH).then((response) => response);
    await attempted;
    held.release();
    expect((await waiting).body).toMatchObject({ access_token: 'late', refresh_token: 'late' });
    expect(refreshRequests()).toEqual([]);
  });

  test('that takes longer and fails then is 502 for calls that wait, and keeps the stored tokens', async () => {
    const before = await read();
    const held = holdRefresh({ status: 500, body: {} });
    const limit = holdTimers(4500);
    const first = browser.post(REFRESH).then((response) => response);
    await held.isHeld;
    limit.expire();
    expect((await first).body.code).toBe('provider_slow');
    limit.release();
    const attempted = leaseAttempt();
    const waiting = browser.post(REFRESH).then((response) => response);
    await attempted;
    held.release();
    expect((await waiting).body.code).toBe('provider_error');
    expect(await read()).toEqual(before);
    await browser.post(REFRESH).expect(200);
  });

  /** Makes the provider delay its response to a refresh, but not to a sign-in. */
  function holdRefresh(answer: { status: number; body: object }) {
    let release = () => {};
    let arrived = () => {};
    const isHeld = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    provider.lies = {
      answers: {
        token(_req, res) {
          provider.lies = {};
          arrived();
          release = () =>
            res
              .writeHead(answer.status, { 'content-type': 'application/json' })
              .end(JSON.stringify(answer.body));
        },
      },
    };
    return { isHeld, release: () => release() };
  }

  test.each([
    ['refused', { status: 400, body: { error: 'invalid_grant' } }],
    ['answered', { status: 200, body: { access_token: 'late', token_type: 'bearer', expires_in: 60 } }],
  ])('that is %s after a new sign-in keeps the tokens of the sign-in', async (_what, answer) => {
    const held = holdRefresh(answer);
    const refreshing = browser.post(REFRESH).then((response) => response);
    await held.isHeld;
    await signInWith(app.browser(), 'oidc');
    const newer = await read();
    held.release();
    expect((await refreshing).status).toBe(200);
    expect(await read()).toEqual(newer);
    await browser.post(REFRESH).expect(200);
  });

  /** Resolves when a call tries to take the lease of an account. */
  function leaseAttempt() {
    const { query } = sequelize;
    return new Promise<void>((resolve) => {
      sequelize.query = (async (sql: string | { query: string }, ...rest: never[]) => {
        const isAttempt = /SET refresh_lease = /.test(typeof sql === 'string' ? sql : sql.query);
        if (isAttempt) sequelize.query = query;
        const result = await (query as (...args: unknown[]) => unknown).call(sequelize, sql, ...rest);
        if (isAttempt) resolve();
        return result;
      }) as Sequelize['query'];
    });
  }

  /** The refreshes that the provider has received, apart from the one that was delayed. */
  const refreshRequests = () =>
    provider.tokenRequests.filter(({ form }) => form.get('grant_type') === 'refresh_token');

  test('keeps its lease during a sign-in that brings no refresh token, so that none is sent twice', async () => {
    const held = holdRefresh({
      status: 200,
      body: { access_token: 'late', refresh_token: 'rotated', token_type: 'bearer', expires_in: 60 },
    });
    const first = browser.post(REFRESH).then((response) => response);
    await held.isHeld;
    provider.lies = { tokens: { refresh_token: undefined } };
    await signInWith(app.browser(), 'oidc');
    const newer = await read();
    const attempt = leaseAttempt();
    const second = browser.post(REFRESH).then((response) => response);
    await attempt;
    held.release();
    expect((await Promise.all([first, second])).map(({ status }) => status)).toEqual([200, 200]);
    expect(refreshRequests()).toEqual([]);
    // The access token of the sign-in is kept, and so is the rotated refresh token, which replaces the used one.
    expect(await read()).toEqual({ ...newer, refresh_token: 'rotated' });
    provider.lies = {};
    await browser.post(REFRESH).expect(200);
    expect(refreshRequests().at(-1)?.form.get('refresh_token')).toBe('rotated');
  });

  test('that a sign-in overtakes leaves its tokens to calls that are waiting', async () => {
    const held = holdRefresh({ status: 400, body: { error: 'invalid_grant' } });
    const first = browser.post(REFRESH).then((response) => response);
    await held.isHeld;
    await signInWith(app.browser(), 'oidc');
    const newer = await read();
    const attempt = leaseAttempt();
    const second = browser.post(REFRESH).then((response) => response);
    await attempt;
    held.release();
    for (const response of await Promise.all([first, second])) {
      expect(response.status).toBe(200);
      expect(response.body).toEqual(newer);
    }
    expect(refreshRequests()).toEqual([]);
  });

  test('that is refused during a sign-in without a refresh token ends only the refresh token', async () => {
    const held = holdRefresh({ status: 400, body: { error: 'invalid_grant' } });
    const refreshing = browser.post(REFRESH).then((response) => response);
    await held.isHeld;
    provider.lies = { tokens: { refresh_token: undefined } };
    await signInWith(app.browser(), 'oidc');
    const newer = await read();
    held.release();
    expect((await refreshing).status).toBe(200);
    expect(await read()).toEqual({ ...newer, refresh_token: null });
    expect((await browser.post(REFRESH).expect(409)).body.code).toBe('refresh_token_missing');
  });

  test.each([
    'invalid_grant',
    'bad_refresh_token',
    'interaction_required',
    'login_required',
    'consent_required',
    'account_selection_required',
  ])('that is refused with %s requires a new link', async (error) => {
    const held = holdRefresh({ status: 400, body: { error } });
    void held.isHeld.then(held.release);
    expect((await browser.post(REFRESH).expect(409)).body.code).toBe('relink_required');
    expect((await browser.get('/auth/oauth/oidc/tokens').expect(409)).body.code).toBe('relink_required');
    expect((await browser.post(REFRESH).expect(409)).body.code).toBe('relink_required');
    expect(refreshRequests()).toEqual([]);
  });

  test('with the lease of a dead process and a slow provider does not wait for both in full', async () => {
    await rows(
      app.database,
      `UPDATE accounts SET refresh_lease = '01900000-0000-7000-8000-000000000000', refresh_lease_until = :past`,
      { past: '2020-01-01 00:00:00.000' },
    );
    provider.lies = { answers: { token: answers.hang } };
    const start = performance.now();
    const calls = Array.from({ length: 3 }, () => browser.post(REFRESH));
    const codes = (await Promise.all(calls)).map(({ body }) => body.code);
    expect(performance.now() - start).toBeLessThan(6500);
    for (const code of codes) expect(['provider_slow', 'unavailable']).toContain(code);
    expect(codes).toContain('provider_slow');
  });

  test('whose tokens cannot be saved immediately is saved soon, because the old tokens may be invalid by then', async () => {
    const before = await read();
    const query = sequelize.query;
    let failures = 0;
    sequelize.query = ((sql: string | { query: string }, ...rest: never[]) => {
      const text = typeof sql === 'string' ? sql : sql.query;
      if (/^UPDATE accounts.*access_token/.test(text) && failures++ < 2) throw new Error('the cable is out');
      return (query as (...args: unknown[]) => unknown).call(sequelize, sql, ...rest);
    }) as Sequelize['query'];
    expect((await browser.post(REFRESH).expect(503)).body.code).toBe('unavailable');
    let after = before;
    await until(async () => {
      after = await read();
      return after.access_token !== before.access_token;
    });
    sequelize.query = query;
    expect(failures).toBeGreaterThan(1);
    expect(after.refresh_token).not.toBe(before.refresh_token);
    expect(provider.tokenRequests).toHaveLength(1);
    expect(app.log.join('\n')).not.toMatch(/provider-(access|refresh)/);
  });

  test('whose tokens cannot be saved immediately is saved before its process closes', async () => {
    const another = app.another();
    const [{ user_id: userId = '' } = {}] = await rows<{ user_id: string }>(
      app.database,
      'SELECT user_id FROM accounts',
    );
    // The lease is taken, and then a lock blocks writes to the row for longer than a statement waits.
    const held = holdRefresh({
      status: 200,
      body: { access_token: 'new', refresh_token: 'new', token_type: 'bearer', expires_in: 60 },
    });
    const refreshing = another.oauth.refresh(userId, 'oidc').catch((error) => error.code);
    await held.isHeld;
    const { sequelize: writer } = app.database;
    const lock = await writer.transaction({ type: Transaction.TYPES.IMMEDIATE });
    if (dialect === 'postgres')
      await writer.query('SET LOCAL idle_in_transaction_session_timeout = 0', { transaction: lock });
    await writer.query('UPDATE accounts SET updated_at = updated_at', { transaction: lock });
    held.release();
    // The call waits for the provider and the save together, which on a busy machine is over first.
    expect(['unavailable', 'provider_slow']).toContain(await refreshing);
    await lock.commit();
    await another.close();
    expect(await read()).toMatchObject({ access_token: 'new', refresh_token: 'new' });
  });

  test('of an account that is deleted in the meantime responds with account_not_linked', async () => {
    const held = holdRefresh({ status: 400, body: { error: 'invalid_grant' } });
    const refreshing = browser.post(REFRESH).then((response) => response);
    await held.isHeld;
    await rows(app.database, 'DELETE FROM accounts');
    held.release();
    expect((await refreshing).body.code).toBe('account_not_linked');
    expect((await countRows(app.database)).accounts).toBe(0);
  });
});
