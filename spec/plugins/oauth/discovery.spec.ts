import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { answers, type LyingProvider, startLyingProvider } from '../../support/lying-provider.js';
import {
  begin,
  type OAuthApp,
  oidcPlugin,
  pathOf,
  signInWith,
  startOAuthApp,
} from '../../support/oauth-app.js';
import { visitProvider } from '../../support/oidc.js';

const AUTHORIZE = '/auth/oauth/oidc/authorize';

describe('discovery', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  beforeEach(async () => {
    provider = await startLyingProvider();
    app = await startOAuthApp({ providers: () => [oidcPlugin(provider)] });
  });
  afterEach(async () => {
    await app.stop();
    await provider.stop();
  });

  test('is requested once for sign-ins that start at the same time', async () => {
    const started = await Promise.all(Array.from({ length: 10 }, () => app.http.get(AUTHORIZE)));
    expect(started.map(({ status }) => status)).toEqual(Array(10).fill(302));
    expect(provider.discoveryRequests).toBe(1);
  });

  test('is not requested again and again while the provider is down', async () => {
    let requests = 0;
    const discovery: typeof answers.failure = (req, res) => {
      requests++;
      answers.failure(req, res);
    };
    provider.lies = { answers: { discovery } };
    for (let n = 0; n < 5; n++) await app.http.get(AUTHORIZE).expect(502);
    expect(requests).toBeLessThan(5);
  });

  test('is not requested again because somebody invents a response', async () => {
    await signInWith(app.browser(), 'oidc');
    const browser = app.browser();
    const back = new URL(await visitProvider(await begin(browser, AUTHORIZE)));
    back.searchParams.set('iss', 'https://evil.example');
    const { headers } = await browser.get(pathOf(back.href));
    expect(headers.location).toMatch(/error=provider_error$/);
    await app.http.get(AUTHORIZE).expect(302);
    expect(provider.discoveryRequests).toBe(1);
  });

  test('names the issuer that is meant if only a slash at its end differs', async () => {
    const issuer = `${provider.issuer}/realm`;
    const other = await startOAuthApp({ providers: () => [oidcPlugin({ issuer: `${issuer}/` })] });
    const fetchBefore = globalThis.fetch;
    globalThis.fetch = async (input, init) =>
      String(input).startsWith(issuer) ? Response.json({ issuer }) : fetchBefore(input, init);
    await other.http.get(AUTHORIZE).expect(502);
    globalThis.fetch = fetchBefore;
    expect(other.log.join('\n')).toContain(
      `its issuer is "${issuer}": set the option issuer to exactly that`,
    );
    await other.stop();
  });
});
