import { expect, test } from '@jest/globals';
import { Sequelize } from 'sequelize';
import { connectByUrl } from '../../../lib/database/connect.js';
import { dialect, type SpecDatabase } from '../../support/database.js';
import { linkWith, signInWith, startWithOidc } from '../../support/oauth-app.js';

const TOKENS = '/auth/oauth/oidc/tokens';

/** Opens the database as an app might, with options and model hooks that latchkey would not choose. */
function open({ url }: SpecDatabase, options: object): Sequelize {
  const own = dialect === 'sqlite' ? (connectByUrl(url) as Sequelize) : new Sequelize(url, options);
  Object.assign((own as unknown as { options: object }).options, { logging: false, ...options });
  return own;
}

test.each<[name: string, options: object]>([
  ['omits nulls', { omitNull: true }],
  ['reads raw rows', { query: { raw: true } }],
  ['has its own model defaults', { define: { paranoid: true, version: true, underscored: false } }],
  ...(dialect === 'sqlite'
    ? []
    : ([['is in another time zone', { timezone: '+05:30' }]] as [string, object][])),
  ...(dialect === 'mysql'
    ? ([
        [
          'has dates as strings',
          { timezone: '-03:30', dialectOptions: { dateStrings: true, typeCast: true } },
        ],
      ] as [string, object][])
    : []),
])(
  'accounts and tokens are stored correctly in the app’s own Sequelize instance that %s',
  async (_name, options) => {
    const hooked: unknown[] = [];
    const { app, provider } = await startWithOidc({
      config(database) {
        const own = open(database, options);
        for (const hook of ['beforeCreate', 'beforeBulkUpdate'] as const)
          own.addHook(hook, (what: unknown) => void hooked.push(what));
        return { database: own };
      },
    });
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    const { body: first } = await browser.get(TOKENS).expect(200);
    const end = new Date(first.access_token_expires_at).getTime();
    expect(Math.abs(end - Date.now() - 3_600_000)).toBeLessThan(60_000);
    const [account] = (await browser.get('/auth/oauth/accounts').expect(200)).body.accounts;
    expect(Math.abs(new Date(account.created_at).getTime() - Date.now())).toBeLessThan(30_000);

    // A refresh takes a lease and releases it by setting it to null.
    for (const _ of [1, 2]) await browser.post(`${TOKENS}/refresh`).expect(200);
    expect(provider.tokenCalls).toBeGreaterThan(2);
    await linkWith(browser, 'oidc');
    await browser.post(`${TOKENS}/refresh`).expect(200);
    await browser.put('/auth/passwords').send({ new_password: 'an analytical engine' });
    expect(hooked).toEqual([]);
    await app.stop();
    await provider.stop();
  },
);
