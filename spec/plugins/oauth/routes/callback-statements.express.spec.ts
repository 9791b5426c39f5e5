import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Sequelize } from 'sequelize';
import { connectByUrl } from '../../../../lib/database/connect.js';
import { begin, type OAuthApp, pathOf, signInWith, startWithOidc } from '../../../support/oauth-app.js';
import { type OidcServer, visitProvider } from '../../../support/oidc.js';

describe('the number of statements of a callback', () => {
  let app: OAuthApp;
  let provider: OidcServer;
  let sequelize: Sequelize;
  const statements: string[] = [];
  beforeAll(async () => {
    ({ app, provider } = await startWithOidc({
      config: ({ url }) => {
        sequelize = connectByUrl(url) as Sequelize;
        return { database: sequelize };
      },
    }));
    // Sequelize's logging cannot be used here, because latchkey excludes statements with secrets from it.
    // This function receives all statements.
    const query = sequelize.query.bind(sequelize) as (...args: unknown[]) => Promise<unknown>;
    sequelize.query = ((sql: string | { query: string }, ...rest: unknown[]) => {
      statements.push(typeof sql === 'string' ? sql : sql.query);
      return query(sql, ...rest);
    }) as Sequelize['query'];
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  const ofTables = () => statements.filter((sql) => /^(SELECT|INSERT|UPDATE|DELETE)/.test(sql));

  // Two are for the device: a new one is inserted, and the oldest ones are looked for.
  test('is at most 8 for an existing user in a new browser', async () => {
    await signInWith(app.browser(), 'oidc');
    const browser = app.browser();
    const back = await visitProvider(await begin(browser, '/auth/oauth/oidc/authorize'));
    statements.length = 0;
    await browser.get(pathOf(back)).expect(303);
    expect(statements.length).toBeGreaterThan(3);
    expect(ofTables().slice(8)).toEqual([]);
  });

  test('is at most 7 in a known browser, also if the callback ends an earlier session', async () => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    const before = (await browser.get('/auth/me').expect(200)).body.session.id;
    const back = await visitProvider(await begin(browser, '/auth/oauth/oidc/authorize'));
    statements.length = 0;
    await browser.get(pathOf(back)).expect(303);
    expect(ofTables().slice(7)).toEqual([]);
    const { body } = await browser.get('/auth/sessions').expect(200);
    expect(body.sessions.map(({ id }: { id: string }) => id)).not.toContain(before);
  });

  test('is one more for a link, which locks its user', async () => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    const back = await visitProvider(await begin(browser, '/auth/oauth/oidc/link'));
    statements.length = 0;
    await browser.get(pathOf(back)).expect(303);
    expect(ofTables().slice(7)).toEqual([]);
  });
});
