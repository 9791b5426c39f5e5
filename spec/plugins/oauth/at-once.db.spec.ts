import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ada, signedIn } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { proveMailbox } from '../../support/email-proof.js';
import { type LyingProvider, startLyingProvider } from '../../support/lying-provider.js';
import {
  type Browser,
  begin,
  type OAuthApp,
  oidcPlugin,
  pathOf,
  startOAuthApp,
} from '../../support/oauth-app.js';
import { visitProvider } from '../../support/oidc.js';

let provider: LyingProvider;
let app: OAuthApp;
beforeAll(async () => {
  provider = await startLyingProvider();
  app = await startOAuthApp({
    providers: () => [oidcPlugin(provider, { trustEmailVerified: true })],
    options: { linkByVerifiedEmail: true },
  });
});
afterAll(async () => {
  await app.stop();
  await provider.stop();
});
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  provider.lies = { claims: { sub: 'ada', email: ada.email, email_verified: true } };
});

/** Begins as many flows, and lets the browsers return from the provider at the same time. @returns where they end */
async function returnAtOnce(browsers: readonly Browser[], route: string) {
  const backs: string[] = [];
  for (const browser of browsers)
    backs.push(
      pathOf(await visitProvider(await begin(browser, `/auth/oauth/oidc/${route}?callback_url=/done`))),
    );
  const answers = await Promise.all(browsers.map((browser, n) => browser.get(backs[n] ?? '')));
  return answers.map(({ headers }) => headers.location);
}
const links = () => rows<{ subject: string }>(app.database, 'SELECT subject FROM accounts');

describe.each([1, 2, 3, 4, 5])('a person who returns from a provider several times at once (%i)', () => {
  const both = ['/done', '/done', '/done'];

  test('links one account', async () => {
    const browser = await signedIn(app);
    expect(await returnAtOnce([browser, browser, browser], 'link')).toEqual(both);
    expect(await links()).toEqual([{ subject: 'ada' }]);
  });

  test('signs up once', async () => {
    expect(await returnAtOnce([app.browser(), app.browser(), app.browser()], 'authorize')).toEqual(both);
    expect(await links()).toEqual([{ subject: 'ada' }]);
    expect(await rows(app.database, 'SELECT email FROM users')).toEqual([{ email: ada.email }]);
  });

  test('joins the account with the same address once', async () => {
    const { id } = await app.auth.users.create(ada);
    await proveMailbox(app.auth, id);
    expect(await returnAtOnce([app.browser(), app.browser(), app.browser()], 'authorize')).toEqual(both);
    expect(await links()).toEqual([{ subject: 'ada' }]);
    expect(await rows(app.database, 'SELECT id FROM users')).toEqual([{ id }]);
  });
});
