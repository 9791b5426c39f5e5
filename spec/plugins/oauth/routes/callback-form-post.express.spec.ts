import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sessionCookie } from '../../../support/app.js';
import { rows } from '../../../support/database.js';
import { begin, type OAuthApp, signInWith, startWithOidc } from '../../../support/oauth-app.js';
import { type OidcServer, visitProvider } from '../../../support/oidc.js';

// Apple requires this: the provider responds with a form that the browser posts from the provider's site.
describe('POST /oauth/:provider/callback', () => {
  let app: OAuthApp;
  let provider: OidcServer;
  beforeAll(async () => {
    ({ app, provider } = await startWithOidc());
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  async function answerOfProvider(browser: ReturnType<OAuthApp['browser']>) {
    const redirect = await begin(browser, '/auth/oauth/oidc/authorize', { callback_url: '/done' });
    const back = new URL(await visitProvider(redirect));
    return { path: back.pathname, form: back.searchParams };
  }

  test('signs the user in with the flow cookie', async () => {
    const browser = app.browser();
    const { path, form } = await answerOfProvider(browser);
    const response = await browser
      .post(path)
      .set({ Origin: 'https://provider.example', 'Sec-Fetch-Site': 'cross-site' })
      .type('form')
      .send(form.toString());
    expect(response.status).toBe(303);
    expect(response.headers.location).toBe('/done');
    await browser.get('/auth/me').expect(200);
  });

  test('signs the user in if the browser does not send SameSite=Lax cookies with the form', async () => {
    const browser = app.browser();
    const { path, form } = await answerOfProvider(browser);
    form.set('user', '{"name":{"firstName":"Ada"}}');
    const turned = await app.http
      .post(path)
      .set({ Origin: 'https://provider.example', 'Sec-Fetch-Site': 'cross-site' })
      .type('form')
      .send(form.toString())
      .expect(303);
    expect(turned.headers.location).toMatch(/^\/auth\/oauth\/oidc\/callback\?/);
    expect(turned.headers.location).not.toContain('user=');
    expect(turned.headers['referrer-policy']).toBe('no-referrer');
    expect(turned.headers['set-cookie']).toBeUndefined();
    const response = await browser.get(turned.headers.location ?? '').expect(303);
    expect(response.headers.location).toBe('/done');
    expect(sessionCookie(response)).toBeDefined();
  });

  test('signs the user in if the browser sends only a cookie that the app has set for its own flows', async () => {
    const browser = app.browser();
    const { path, form } = await answerOfProvider(browser);
    const turned = await app.http
      .post(path)
      .set('Cookie', `latchkey-flow=${'x'.repeat(43)}`)
      .type('form')
      .send(form.toString())
      .expect(303);
    const response = await browser.get(turned.headers.location ?? '').expect(303);
    expect(response.headers.location).toBe('/done');
  });

  test('responds with 400 immediately if there is no flow in progress', async () => {
    const post = (form: string, path = '/auth/oauth/oidc/callback') =>
      app.http.post(path).type('form').send(form);
    for (const form of ['', 'code=x', 'state=', `code=x&state=${'x'.repeat(43)}`, 'error=access_denied']) {
      const { body, headers } = await post(form).expect(400);
      expect(body.code).toBe('invalid_flow');
      expect(headers.location).toBeUndefined();
    }
    const browser = app.browser();
    const { path, form } = await answerOfProvider(browser);
    await post(form.toString()).expect(303);
    await browser.post(path).type('form').send(form.toString()).expect(303);
    expect((await post(form.toString()).expect(400)).body.code).toBe('invalid_flow');
    const late = await answerOfProvider(browser);
    await rows(app.database, 'UPDATE oauth_flows SET expires_at = :past', {
      past: '2020-01-01 00:00:00.000',
    });
    await post(late.form.toString()).expect(400);
    expect((await post('state=x', '/auth/oauth/nobody/callback').expect(404)).body.code).toBe(
      'provider_not_found',
    );
  });

  test('reports that the user declined', async () => {
    const browser = app.browser();
    const { path, form } = await answerOfProvider(browser);
    form.delete('code');
    // Apple's own code for this.
    form.set('error', 'user_cancelled_authorize');
    const response = await browser.post(path).type('form').send(form.toString());
    expect(response.headers.location).toBe('/done?error=access_denied');
  });

  test.each([
    ['an empty form', '', 'application/x-www-form-urlencoded', 400, 'invalid_flow'],
    ['JSON', '{"state":"x"}', 'application/json', 415, 'unsupported_media_type'],
    ['a parameter twice', 'state=a&state=b', 'application/x-www-form-urlencoded', 400, 'invalid_request'],
    ['20 KB', `state=${'x'.repeat(20_000)}`, 'application/x-www-form-urlencoded', 413, 'body_too_large'],
  ])('rejects %s', async (_what, body, type, status, code) => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    const response = await browser.post('/auth/oauth/oidc/callback').type(type).send(body).expect(status);
    expect(response.body.code).toBe(code);
  });
});
