import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Sequelize } from 'sequelize';
import { connectByUrl } from '../../../lib/database/connect.js';
import { signedIn } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { type LyingProvider, startLyingProvider } from '../../support/lying-provider.js';
import {
  type Browser,
  begin,
  linkWith,
  type OAuthApp,
  oidcPlugin,
  pathOf,
  startOAuthApp,
} from '../../support/oauth-app.js';
import { visitProvider } from '../../support/oidc.js';

const HOUR_MS = 3600 * 1000;

let app: OAuthApp;
let provider: LyingProvider;
let sequelize: Sequelize;
let browser: Browser;
let userId: string;
let sessionId: string;
const linked: string[] = [];
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
  app.auth.on('account.linked', (event) => linked.push(event.userId));
});
beforeEach(async () => {
  provider.lies = { claims: { auth_time: Math.floor(Date.now() / 1000), email: null } };
  browser = await signedIn(app);
  await linkWith(browser, 'oidc');
  const { user, session } = (await browser.get('/auth/me').expect(200)).body;
  userId = user.id;
  sessionId = session.id;
  linked.length = 0;
});
afterEach(() => rows(app.database, 'DELETE FROM users'));
afterAll(async () => {
  await app.stop();
  await provider.stop();
});

/** Completes a flow whose account is unlinked right after the callback has found it. */
async function completeWhileUnlinking(client: Browser, path: string) {
  const back = pathOf(await visitProvider(await begin(client, path)));
  const { query } = sequelize;
  sequelize.query = (async (sql: string | { query: string }, ...rest: never[]) => {
    const result = await (query as (...args: unknown[]) => unknown).call(sequelize, sql, ...rest);
    if (/^SELECT.*a\.subject IN /s.test(typeof sql === 'string' ? sql : sql.query)) {
      sequelize.query = query;
      await app.auth.oauth.unlink(userId, 'oidc');
    }
    return result;
  }) as Sequelize['query'];
  const { headers } = await client.get(back).expect(303);
  expect(sequelize.query).toBe(query);
  return headers.location;
}

test('a reauthentication does not make the session fresh', async () => {
  const authenticatedAt = new Date(Date.now() - HOUR_MS);
  await app.auth.models.Session.update({ authenticatedAt }, { where: { id: sessionId } });
  const location = await completeWhileUnlinking(browser, '/auth/oauth/oidc/reauthenticate');
  expect(location).toBe('/?error=account_not_linked');
  const session = await app.auth.models.Session.findByPk(sessionId, { rejectOnEmpty: true });
  expect(session.get('authenticatedAt')).toEqual(authenticatedAt);
});

test('a link links the account again', async () => {
  expect(await completeWhileUnlinking(browser, '/auth/oauth/oidc/link')).toBe('/');
  expect(await app.auth.oauth.accounts(userId)).toHaveLength(1);
  expect(linked).toEqual([userId]);
});

test('a sign-in does not sign in to the user', async () => {
  const stranger = app.browser();
  expect(await completeWhileUnlinking(stranger, '/auth/oauth/oidc/authorize')).toBe('/');
  const { user } = (await stranger.get('/auth/me').expect(200)).body;
  expect(user.id).not.toBe(userId);
  expect(await app.auth.oauth.accounts(userId)).toEqual([]);
});
