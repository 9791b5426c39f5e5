import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.js';
import { begin, type OAuthApp, oidcPlugin, pathOf, signInWith, startOAuthApp } from '../support/oauth-app.js';
import { visitProvider } from '../support/oidc.js';
import { expectProblem } from '../support/problem.js';

// What contributing/learned-from.md says of redirects. Every place that takes a target from a request is tried with every target.
const TRUSTED = 'http://trusted.example';
const TARGETS = [
  ['CVE-2022-24858: another origin', 'https://evil.example/x'],
  ['CVE-2022-29214: two slashes and a path', '//evil.example/x'],
  ['CVE-2022-29214: a path that continues the host in front of it', '@evil.example'],
  ['CVE-2022-29214: a path that continues the domain in front of it', '.evil.example'],
  ['CVE-2024-56734: another origin, at a route that takes GET', 'https://malicious-site.example'],
  ['CVE-2025-27143: no scheme', '//malicious-site.example'],
  ['GHSA-vp58-j275-797x: a backslash', '/\\/evil.example'],
  ['GHSA-vp58-j275-797x: a host that looks like a query', `http:evil.example?.${new URL(TRUSTED).host}/`],
  ['CVE-2025-53535: an origin that begins with a trusted one', `${TRUSTED}.evil.example/`],
  ['CVE-2025-53535: a trusted origin as the user of another', `${TRUSTED}@evil.example/`],
  ['CVE-2021-23435: many slashes', '/////evil.example'],
  ['CVE-2021-32618: three backslashes', '\\\\\\evil.example'],
  ['CVE-2023-49438: a backslash and a slash', '/\\evil.example'],
  ['CVE-2024-29041: a host that only an encoding changes', 'http://evil.example\\@trusted.example'],
  ['CVE-2024-43796: a script', 'javascript:alert(1)'],
  ['CVE-2024-43796: markup', '"><script>alert(1)</script>'],
  ['CVE-2022-31093: no URL at all', 'http://['],
  ['CVE-2022-31093: a scheme alone', 'https://'],
] as const;

let app: OAuthApp;
let provider: LyingProvider;
beforeAll(async () => {
  provider = await startLyingProvider();
  app = await startOAuthApp({
    providers: () => [oidcPlugin(provider)],
    config: { trustedOrigins: [TRUSTED], email: { send: () => {} } },
  });
});
afterAll(async () => {
  await app.stop();
  await provider.stop();
});

const MALFORMED = ['invalid_callback_url', 'invalid_request'];

describe('a browser is sent to paths of the app and to trusted origins alone', () => {
  test.each(TARGETS)('%s', async (_title, target) => {
    const flow = await app.http.get('/auth/oauth/oidc/authorize').query({ callback_url: target });
    expect([flow.status, MALFORMED.includes(flow.body.code)]).toEqual([400, true]);
    const form = { credential: 'ada@example.com', password: 'wrong password' };
    for (const name of ['redirect_to', 'error_to']) {
      const sent = app.http
        .post('/auth/signin/credential')
        .type('form')
        .send({ ...form, [name]: target });
      const answer = await sent;
      expect([name, answer.status]).toEqual([name, 400]);
      expect(answer.headers.location).toBeUndefined();
      expect(answer.headers['content-type']).toMatch(/json/);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
  });

  test('CVE-2022-24858: a trusted origin is allowed', async () => {
    const done = await signInWith(app.browser(), 'oidc', `${TRUSTED}/done`);
    expect(done.headers.location).toBe(`${TRUSTED}/done`);
  });

  test('CVE-2024-43796: a redirect has no page of its own that could contain its target', async () => {
    const [flow, done] = [
      await app.http.get('/auth/oauth/oidc/authorize'),
      await signInWith(app.browser(), 'oidc'),
    ];
    expect([flow.status, flow.text, done.status, done.text]).toEqual([302, '', 303, '']);
  });

  test('CVE-2026-40295: a form that is refused goes back to a page of this origin, never to another site', async () => {
    const refused = (referer: string) =>
      app.http
        .post('/auth/signin/credential')
        .type('form')
        .set({ referer, origin: app.origin })
        .send({ credential: 'ada@example.com', password: 'wrong password' });
    const own = await refused(`${app.origin}/sign-in?next=1`);
    expect([own.status, own.headers.location]).toEqual([303, '/sign-in?next=1&error=invalid_credentials']);
    for (const referer of [
      'https://evil.example/',
      `${app.origin}.evil.example/`,
      '//evil.example',
      'junk',
    ]) {
      const answer = await refused(referer);
      expectProblem(answer, 401, 'invalid_credentials');
      expect(answer.headers.location).toBeUndefined();
    }
  });
});

describe('nothing of a request comes back as markup', () => {
  const markup = '<script>alert(1)</script>';

  test('GHSA-9x4v-xfq5-m8x5: an error of a provider is a code of ours, and never what the provider sent', async () => {
    const browser = app.browser();
    provider.lies.response = { code: undefined, error: markup, error_description: markup };
    const failed = await browser.get(
      pathOf(await visitProvider(await begin(browser, '/auth/oauth/oidc/authorize'))),
    );
    provider.lies = {};
    expect([failed.status, failed.headers.location]).toEqual([303, '/?error=provider_error']);
    expect(failed.text).not.toContain('<script');
  });

  test.each([
    ['json', 400],
    ['html', 303],
  ])('GHSA-9x4v-xfq5-m8x5: nor what a made-up callback contains, as %s', async (accept, status) => {
    const answer = await app.http
      .get('/auth/oauth/oidc/callback')
      .set('accept', accept === 'html' ? 'text/html' : 'application/json')
      .query({ error: markup, error_description: markup, state: markup });
    expect(answer.status).toBe(status);
    expect(answer.text).not.toContain('<script');
    expect(answer.headers.location ?? '').not.toContain('script');
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });
});
