import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { type AuthConfig, AuthError } from '../../lib/index.js';
import { rows } from '../support/database.js';
import { importUsers } from '../support/import-users.js';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.js';
import { type OAuthApp, oidcPlugin, signInWith, startOAuthApp } from '../support/oauth-app.js';
import { ownRows } from '../support/own-rows.js';

type Hooks = NonNullable<AuthConfig['hooks']>;

let provider: LyingProvider;
let app: OAuthApp;
let own: ReturnType<typeof ownRows>;
let beforeCreateUser: Hooks['beforeCreateUser'];
let rowsAreRefused = false;

beforeAll(async () => {
  provider = await startLyingProvider();
  app = await startOAuthApp({
    providers: () => [oidcPlugin(provider, { fields: ({ name }) => ({ name }) })],
    config: (database) => {
      own = ownRows(
        database,
        {},
        {},
        { user: { fields: { name: { type: 'string', maxLength: 10, required: true } } } },
      );
      own.model.beforeCreate(() => {
        if (rowsAreRefused) throw new Error('a rule of the app');
      });
      return {
        ...own.config,
        hooks: { beforeCreateUser: (user, context) => beforeCreateUser?.(user, context) } satisfies Hooks,
      } as never;
    },
  });
  await own.model.sync();
});
afterEach(async () => {
  provider.lies = {};
  beforeCreateUser = undefined;
  rowsAreRefused = false;
  await rows(app.database, 'DELETE FROM users');
  await rows(app.database, 'DELETE FROM auth_users');
});
afterAll(async () => {
  await app.stop();
  await provider.stop();
});

/** The names in the app's rows, in the order of their emails; each belongs to an account. */
async function names() {
  const users = await rows<{ id: string }>(app.database, 'SELECT id FROM auth_users ORDER BY email');
  const found = await own.model.findAll();
  expect(found).toHaveLength(users.length);
  return users.map(({ id }) => found.find((row) => row.authId === id)?.name);
}

test('an import makes a row for each account, and none for those that are skipped', async () => {
  beforeCreateUser = ({ email }) => {
    if (email?.startsWith('eve')) throw new AuthError('sign_up_refused');
  };
  const given = ['ada', 'eve', 'joan', 'ada'].map((name) => ({
    email: `${name}@example.com`,
    fields: { name },
  }));
  const { users, skipped } = await importUsers(app.auth, [...given, { email: 'x@example.com' }]);
  expect([users.length, skipped.map(({ ref, code }) => [ref, code])]).toEqual([
    2,
    [
      [1, 'sign_up_refused'],
      [3, 'duplicate_row'],
      [4, 'invalid_fields'],
    ],
  ]);
  expect(await names()).toEqual(['ada', 'joan']);
});

test('an import without hooks makes the rows too', async () => {
  await importUsers(app.auth, [{ email: 'ada@example.com', fields: { name: 'Ada' } }]);
  expect(await names()).toEqual(['Ada']);
});

test('a new user of a provider has a row with what the provider says', async () => {
  provider.lies = { claims: { name: 'Ada' } };
  const browser = app.browser();
  expect((await signInWith(browser, 'oidc')).headers.location).toBe('/done');
  expect(await names()).toEqual(['Ada']);
  expect((await browser.get('/auth/me').expect(200)).body.user.name).toBe('Ada');
});

test.each([
  ['the provider does not say enough', {}, 303],
  ['the app refuses the row', { name: 'Ada' }, 500],
])('nothing is made if %s', async (_what, claims, status) => {
  provider.lies = { claims };
  rowsAreRefused = true;
  expect((await signInWith(app.browser(), 'oidc')).status).toBe(status);
  expect(await names()).toEqual([]);
  expect(await rows(app.database, 'SELECT id FROM auth_accounts')).toEqual([]);
});
