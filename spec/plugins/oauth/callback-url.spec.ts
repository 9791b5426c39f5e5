import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkCallbackUrl, withError } from '../../../lib/http/callback-url.js';
import { AuthError } from '../../../lib/index.js';
import { type OAuthApp, signInWith, startWithOidc } from '../../support/oauth-app.js';
import type { OidcServer } from '../../support/oidc.js';

const origins = new Set(['https://app.example', 'https://trusted.example:8443']);

describe('callback_url', () => {
  test.each([
    ['/'],
    ['/x'],
    ['/x?y=//z#w'],
    ['/x//y'],
    ['/%2F%2Fevil.example'],
    ['/%0d%0aSet-Cookie:x'],
    ['/日本'],
    ['https://app.example'],
    ['https://app.example/x?y#z'],
    ['HTTPS://APP.EXAMPLE/x'],
    ['https://trusted.example:8443/x'],
  ])('may be %j', (value) => {
    expect(new URL(checkCallbackUrl(value, origins), 'https://app.example').href).toBe(
      new URL(value, 'https://app.example').href,
    );
  });

  test.each([
    [''],
    ['x'],
    ['//evil.example'],
    ['///evil.example'],
    ['/\\evil.example'],
    ['\\\\evil.example'],
    ['\t//evil.example'],
    ['/\t/evil.example'],
    ['/\n/evil.example'],
    [' //evil.example'],
    ['/\u00a0x'],
    ['/\r\nSet-Cookie: a=b'],
    ['/\u0000'],
    // A path of this origin, but it would lead to another origin after it has been resolved and written as a
    // path again.
    ['/.//evil.example'],
    ['/x/..//evil.example'],
    ['/%2e//evil.example'],
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    ['blob:https://app.example/x'],
    ['view-source:https://app.example'],
    ['https://evil.example'],
    ['https:/evil.example'],
    ['https:evil.example'],
    ['http://app.example'],
    ['https://app.example:444'],
    ['https://app.example.evil.example'],
    ['https://app.example@evil.example'],
    ['https://evil@app.example'],
    ['https://:evil@app.example'],
    ['https://trusted.example'],
    ['https://аpp.example'],
    [`/${'x'.repeat(2000)}`],
  ])('may not be %j', (value) => {
    expect(() => checkCallbackUrl(value, origins)).toThrow(AuthError);
  });

  test.each([
    ['/', '/?error=e'],
    ['/x?y=1#z', '/x?y=1&error=e#z'],
    ['/x?error=old', '/x?error=e'],
    ['https://app.example/x', 'https://app.example/x?error=e'],
    ['/a//b', '/a//b?error=e'],
  ])('%j reports an error as %j', (callbackUrl, expected) => {
    expect(withError(callbackUrl, 'e')).toBe(expected);
  });
});

describe('the callback_url of a flow', () => {
  let app: OAuthApp;
  let provider: OidcServer;
  beforeAll(async () => {
    ({ app, provider } = await startWithOidc({ config: { trustedOrigins: ['https://trusted.example'] } }));
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  test.each([
    ['callback_url=', 'invalid_request'],
    ['callback_url=/a&callback_url=/b', 'invalid_request'],
    ['callback_url[]=/a&callback_url[]=/b', 'invalid_request'],
    ['callback_url=//evil.example', 'invalid_callback_url'],
    ['callback_url=%09//evil.example', 'invalid_callback_url'],
    ['callback_url=/%5Cevil.example', 'invalid_callback_url'],
    ['callback_url=/%0d%0aSet-Cookie:%20a=b', 'invalid_callback_url'],
    ['callback_url=/%00', 'invalid_request'],
    ['callback_url=https://evil.example', 'invalid_callback_url'],
    [`callback_url=/${'x'.repeat(4000)}`, 'invalid_request'],
  ])('is rejected before any redirect: %s', async (query, code) => {
    const response = await app.http.get(`/auth/oauth/oidc/authorize?${query}`).expect(400);
    expect(response.body.code).toBe(code);
    expect(response.headers.location).toBeUndefined();
    expect(response.headers['set-cookie']).toBeUndefined();
  });

  test('may have a trusted origin, also for an error', async () => {
    const done = await signInWith(app.browser(), 'oidc', 'https://trusted.example/done?x=1');
    expect(done.headers.location).toBe('https://trusted.example/done?x=1');
    provider.declines = true;
    const failed = await signInWith(app.browser(), 'oidc', 'https://trusted.example/done?x=1');
    expect(failed.headers.location).toBe('https://trusted.example/done?x=1&error=access_denied');
  });
});
