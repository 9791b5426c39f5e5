import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type ApiKeysOptions, apiKeys } from '../../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../../support/app.js';
import { expectProblem } from '../../support/problem.js';

type Headers = Record<string, string>;

let app: SpecApp<readonly [ReturnType<typeof password>, ReturnType<typeof apiKeys>]>;
let key: string;
let another: string;
let token: string;

const start = async (options: ApiKeysOptions = {}, bearerEnabled = false) => {
  app = await startApp({ plugins: [password(), apiKeys(options)], config: { bearerEnabled } });
  await app.auth.credential.signUp(ada);
  const signedIn = await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
  token = signedIn.token;
  key = (await app.auth.apiKeys.create(signedIn.user.id, { name: 'one' })).key;
  another = (await app.auth.apiKeys.create(signedIn.user.id, { name: 'another' })).key;
};
const me = (headers: Headers) => app.http.get('/auth/me').set(headers);
/** The credential that a request is authenticated with. */
const via = async (headers: Headers) => {
  const { body } = await me(headers).expect(200);
  return body.api_key?.name ?? 'session';
};
const refuses = async (headers: Headers, status: number, code: string) =>
  expectProblem(await me(headers), status, code);
const ambiguous = (headers: Headers) => refuses(headers, 400, 'ambiguous_credentials');

describe('API keys by default', () => {
  beforeAll(() => start());
  afterAll(() => app.stop());

  test('are accepted in X-Service-API-Key and Authorization: ApiKey, in upper or lower case', async () => {
    expect(await via({ 'X-SERVICE-API-KEY': key })).toBe('one');
    for (const scheme of ['ApiKey', 'apikey', 'APIKEY'])
      expect(await via({ authorization: `${scheme} ${key}` })).toBe('one');
    expect(await via({ authorization: `ApiKey   ${key}` })).toBe('one');
  });

  test('are rejected if they are invalid, even if the request contains a valid cookie', async () => {
    const cookie = `latchkey=${token}`;
    for (const bad of ['junk', token, '', ' ', `lkk_${'A'.repeat(48)}`, key.toLowerCase(), `${key}x`]) {
      await refuses({ 'x-service-api-key': bad, cookie }, 401, 'invalid_api_key');
      await refuses({ authorization: `ApiKey ${bad}`, cookie }, 401, 'invalid_api_key');
    }
    await refuses({ authorization: 'ApiKey', cookie }, 401, 'invalid_api_key');
  });

  test('take precedence over the cookie, and are not accepted in the cookie', async () => {
    expect(await via({ 'x-service-api-key': key, cookie: `latchkey=${token}` })).toBe('one');
    expect(await via({ 'x-service-api-key': key, cookie: 'latchkey=a; latchkey=b' })).toBe('one');
    await refuses({ cookie: `latchkey=${key}` }, 401, 'invalid_session');
  });

  test('are ambiguous if there are two different ones', async () => {
    await ambiguous({ 'x-service-api-key': key, authorization: `ApiKey ${another}` });
    await ambiguous({ 'x-service-api-key': key, authorization: 'ApiKey junk' });
    await ambiguous({ 'x-service-api-key': 'junk', authorization: `ApiKey ${key}` });
    expect(await via({ 'x-service-api-key': key, authorization: `ApiKey ${key}` })).toBe('one');
  });

  test('are ambiguous if the header occurs twice with different values', async () => {
    const twice = async (...values: string[]) => {
      const headers = values.map((value): [string, string] => ['X-Service-API-Key', value]);
      const answer = await fetch(`${app.origin}/auth/me`, { headers });
      return [answer.status, (await answer.json()).code];
    };
    expect(await twice(key, another)).toEqual([400, 'ambiguous_credentials']);
    expect(await twice(key, 'junk')).toEqual([400, 'ambiguous_credentials']);
    expect(await twice(key, key)).toEqual([200, undefined]);
  });

  test('are not accepted as Bearer or Basic', async () => {
    for (const authorization of [`Bearer ${key}`, 'Bearer of the app', 'Basic YTpi', `Token ${key}`]) {
      await refuses({ authorization }, 401, 'unauthenticated');
      expect(await via({ authorization, cookie: `latchkey=${token}` })).toBe('session');
      expect(await via({ authorization, 'x-service-api-key': another })).toBe('another');
    }
  });

  test('are not accepted in the query string', async () => {
    const answer = await app.http.get(`/auth/me?api_key=${key}&x-service-api-key=${key}`);
    expectProblem(answer, 401, 'unauthenticated');
  });

  test('are accepted by getSession with any headers', async () => {
    const request = { headers: { 'x-service-api-key': key } };
    expect(await app.auth.getSession(request)).toMatchObject({
      via: 'api-key',
      session: null,
      apiKey: { name: 'one' },
    });
  });
});

describe('API keys with bearerEnabled', () => {
  beforeAll(() => start({}, true));
  afterAll(() => app.stop());

  test('are ambiguous together with a Bearer token, valid or not', async () => {
    for (const bearer of [token, 'junk', key])
      for (const one of [key, 'junk'])
        await ambiguous({ 'x-service-api-key': one, authorization: `Bearer ${bearer}` });
  });

  test('are not accepted as Bearer tokens', async () => {
    await refuses({ authorization: `Bearer ${key}` }, 401, 'invalid_session');
    expect(await via({ authorization: `Bearer ${token}` })).toBe('session');
    expect(await via({ authorization: `ApiKey ${key}` })).toBe('one');
  });
});

describe('API keys with acceptBearer', () => {
  beforeAll(() => start({ acceptBearer: true }));
  afterAll(() => app.stop());

  test('are the only accepted Bearer tokens', async () => {
    expect(await via({ authorization: `Bearer ${key}` })).toBe('one');
    expect(await via({ authorization: `bearer ${key}`, cookie: `latchkey=${token}` })).toBe('one');
    for (const bad of [token, 'junk', ''])
      await refuses({ authorization: `Bearer ${bad}` }, 401, 'invalid_api_key');
    expect(await via({ authorization: `ApiKey ${key}` })).toBe('one');
  });

  test('are ambiguous if the header contains another key', async () => {
    await ambiguous({ 'x-service-api-key': another, authorization: `Bearer ${key}` });
    expect(await via({ 'x-service-api-key': key, authorization: `Bearer ${key}` })).toBe('one');
  });
});

describe('API keys with bearerEnabled and acceptBearer', () => {
  beforeAll(() => start({ acceptBearer: true }, true));
  afterAll(() => app.stop());

  test('are distinguished from session tokens by their prefix', async () => {
    expect(await via({ authorization: `Bearer ${key}` })).toBe('one');
    expect(await via({ authorization: `Bearer ${token}` })).toBe('session');
    await refuses({ authorization: 'Bearer lkk_junk' }, 401, 'invalid_api_key');
    await refuses({ authorization: 'Bearer junk' }, 401, 'invalid_session');
  });

  test('are ambiguous together with a session token, and not if the same key occurs twice', async () => {
    await ambiguous({ 'x-service-api-key': key, authorization: `Bearer ${token}` });
    await ambiguous({ 'x-service-api-key': key, authorization: `Bearer ${another}` });
    expect(await via({ 'x-service-api-key': key, authorization: `Bearer ${key}` })).toBe('one');
  });
});

describe('API keys with the header option', () => {
  beforeEach(() => start({ header: 'X-My-Key' }));
  afterEach(() => app.stop());

  test('are accepted in that header and not in the default one', async () => {
    expect(await via({ 'x-my-key': key })).toBe('one');
    await refuses({ 'x-service-api-key': key }, 401, 'unauthenticated');
    expect(await via({ authorization: `ApiKey ${key}` })).toBe('one');
  });
});

test.each([
  [{ header: 'Authorization' }, /header must not be Authorization or Cookie/],
  [{ header: 'cookie' }, /header must not be Authorization or Cookie/],
  [{ header: 'two words' }, /header must be the name of a header/],
  [{ header: '' }, /header must be the name of a header/],
  [{ maxPerUser: 0 }, /maxPerUser must be a whole number of at least 1/],
  [{ maxPerUser: 1.5 }, /maxPerUser must be a whole number of at least 1/],
  [{ maxPerUser: false }, /maxPerUser must be a whole number of at least 1/],
  [{ acceptBearer: 'yes' }, /acceptBearer must be true or false/],
  [{ headers: 'X-Key' }, /headers/],
])('apiKeys(%j) throws a TypeError', (options, message) => {
  expect(() => apiKeys(options as never)).toThrow(message);
  expect(() => apiKeys(options as never)).toThrow(TypeError);
});
