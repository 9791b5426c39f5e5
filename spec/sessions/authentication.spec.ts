import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Auth } from '../../lib/auth.js';
import { apiKeys } from '../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';

const plugins = [password(), apiKeys()] as const;

let app: SpecApp<typeof plugins>;
let token: string;
let other: string;
let key: string;
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: {
      bearerEnabled: true,
      baseUrl: 'https://app.example.com',
      session: { cookie: { name: 'latchkey', secure: true } },
    },
  });
  const { user } = (await app.auth.credential.signUp(ada)) as { user: { id: string } };
  const signIn = async () =>
    (await app.auth.credential.signIn({ credential: ada.email, password: ada.password })).token;
  [token, other] = [await signIn(), await signIn()];
  ({ key } = await app.auth.apiKeys.create(user.id, { name: 'one' }));
});
afterAll(() => app.stop());

type Given = Parameters<Auth['getSession']>[0];

describe('auth.getSession()', () => {
  const codeOf = (request: object) =>
    app.auth.getSession(request as Given).then(
      ({ via }) => via,
      (error) => error.code ?? error,
    );
  const CROSS_SITE = [
    { 'sec-fetch-site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { origin: 'https://evil.example' },
    { Origin: 'null' },
  ];

  test('refuses an unsafe request of another site with the cookie, and no other', async () => {
    const cookie = `latchkey=${token}`;
    for (const elsewhere of CROSS_SITE) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'post', 'PROPFIND'])
        expect(await codeOf({ method, headers: { ...elsewhere, cookie } })).toBe('origin_not_allowed');
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'get', undefined])
        expect(await codeOf({ method, headers: { ...elsewhere, cookie } })).toBe('cookie');
      const bearer = { ...elsewhere, authorization: `Bearer ${token}` };
      expect(await codeOf({ method: 'POST', headers: bearer })).toBe('bearer');
      expect(await codeOf({ method: 'POST', headers: { ...elsewhere, 'x-service-api-key': key } })).toBe(
        'api-key',
      );
      expect(await codeOf({ method: 'POST', headers: { ...elsewhere, cookie: 'latchkey=junk' } })).toBe(
        'invalid_session',
      );
    }
    const allowed = [{}, { origin: 'https://app.example.com' }, { 'sec-fetch-site': 'same-origin' }];
    for (const headers of allowed)
      expect(await codeOf({ method: 'POST', headers: { ...headers, cookie } })).toBe('cookie');
  });

  test('checks a Fetch request too', async () => {
    const request = (origin: string) =>
      new Request('https://app.example.com/', {
        method: 'post',
        headers: { cookie: `latchkey=${token}`, origin },
      });
    expect(await codeOf(request('https://evil.example'))).toBe('origin_not_allowed');
    expect(await codeOf(request('https://app.example.com'))).toBe('cookie');
  });

  test('rejects a method that is not a string', async () => {
    for (const method of [1, null, ['GET'], {}])
      expect(String(await codeOf({ method, headers: {} }))).toMatch(/TypeError: .*method .* string/);
  });

  test('sees all values of a header that an object has in several spellings', async () => {
    const [one, two] = [`latchkey=${token}`, `latchkey=${other}`];
    const cases: [object, string][] = [
      [{ cookie: one, Cookie: two }, 'invalid_session'],
      [{ Cookie: two, cookie: one }, 'invalid_session'],
      [{ cookie: one, Cookie: 'a=b' }, 'cookie'],
      [{ cookie: one, COOKIE: one }, 'cookie'],
      [{ cookie: [one, 'a=b'] }, 'cookie'],
      [{ cookie: [one, two] }, 'invalid_session'],
      [{ cookie: one, Cookie: undefined }, 'cookie'],
      [{ authorization: `Bearer ${token}`, Authorization: `Bearer ${other}` }, 'invalid_session'],
      [{ authorization: `Bearer ${token}`, Authorization: `Bearer ${token}` }, 'bearer'],
      [{ 'x-service-api-key': key, 'X-Service-API-Key': 'junk' }, 'ambiguous_credentials'],
    ];
    for (const [headers, expected] of cases)
      expect([headers, await codeOf({ headers })]).toEqual([headers, expected]);
    const forged = { cookie: one, origin: 'https://app.example.com', Origin: 'https://evil.example' };
    expect(await codeOf({ method: 'POST', headers: forged })).toBe('origin_not_allowed');
    const site = { cookie: one, 'sec-fetch-site': 'same-origin', 'Sec-Fetch-Site': 'cross-site' };
    expect(await codeOf({ method: 'POST', headers: site })).toBe('origin_not_allowed');
  });

  // The Kelvin sign is a k in lower case.
  test('does not take look-alikes of a header name', async () => {
    expect(await codeOf({ headers: { 'COO\u212aIE': `latchkey=${token}` } })).toBe('unauthenticated');
  });

  test('takes only spaces and tabs for white space', async () => {
    for (const space of [' ', '\t', ' \t ']) {
      expect(
        await codeOf({ headers: { cookie: `a=b;${space}latchkey${space}=${space}${token}${space}` } }),
      ).toBe('cookie');
      expect(await codeOf({ headers: { authorization: `Bearer ${space}${token}${space}` } })).toBe('bearer');
      expect(await codeOf({ headers: { authorization: `ApiKey ${space}${key}${space}` } })).toBe('api-key');
      expect(await codeOf({ headers: { 'x-service-api-key': `${space}${key}${space}` } })).toBe('api-key');
    }
    for (const space of ['\u00a0', '\ufeff', '\u2003', '\u3000', '\u2028', '\v', '\f', '\n', '\r']) {
      for (const cookie of [`${space}latchkey=${token}`, `latchkey${space}=${token}`])
        expect(await codeOf({ headers: { cookie } })).toBe('unauthenticated');
      expect(await codeOf({ headers: { cookie: `${space}latchkey=${other}; latchkey=${token}` } })).toBe(
        'cookie',
      );
      for (const cookie of [`latchkey=${space}${token}`, `latchkey=${token}${space}`])
        expect(await codeOf({ headers: { cookie } })).toBe('invalid_session');
      for (const authorization of [
        `Bearer ${space}${token}`,
        `Bearer${space}${token}`,
        `Bearer ${token}${space}`,
      ])
        expect(await codeOf({ headers: { authorization } })).toBe('invalid_session');
      expect(await codeOf({ headers: { authorization: `ApiKey ${key}${space}` } })).toBe('invalid_api_key');
      expect(await codeOf({ headers: { 'x-service-api-key': `${key}${space}` } })).toBe('invalid_api_key');
    }
  });
});

test('over HTTP, a cookie whose name begins with a no-break space is another cookie', async () => {
  const cookie = `\u00a0latchkey=${other}; latchkey=${token}`;
  await app.http.get('/auth/me').set('cookie', cookie).expect(200);
  await app.http.get('/auth/me').set('cookie', `\u00a0latchkey=${token}`).expect(401);
});
