import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ada, type password, type SpecApp, startApp } from '../support/app.js';
import { expectProblem } from '../support/problem.js';

type App = SpecApp<readonly [ReturnType<typeof password>]>;

const wrong = { credential: ada.email, password: 'not the password' };
const right = { credential: ada.email, password: ada.password };
const REFUSED = '?error=invalid_credentials';

/** Sends the form of a sign-in. */
const signIn = (
  app: Pick<App, 'http'>,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
) =>
  app.http
    .post('/auth/signin/credential')
    .set(headers)
    .type('form')
    .send(`${new URLSearchParams(fields)}`);

describe('where a form leads', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ config: { trustedOrigins: ['https://www.example'] } });
    await app.auth.credential.signUp(ada);
  });
  afterAll(() => app.stop());

  test.each([
    ['/', '/'],
    ['/account', '/account'],
    ['/account?tab=1#keys', '/account?tab=1#keys'],
    ['/a//b', '/a//b'],
    ['/%2F%2Fevil.example', '/%2F%2Fevil.example'],
    ['/日本', '/%E6%97%A5%E6%9C%AC'],
    ['https://www.example', 'https://www.example/'],
    ['https://www.example/x?y#z', 'https://www.example/x?y#z'],
    ['', '/'],
  ])('redirect_to %j leads to %j', async (page, location) => {
    const answer = await signIn(app, { ...right, redirect_to: page });
    expect([answer.status, answer.headers.location]).toEqual([303, location]);
  });

  test.each([
    ['/in', `/in${REFUSED}`],
    ['/in?next=/a&x=b%20c#form', '/in?next=%2Fa&x=b+c&error=invalid_credentials#form'],
    ['/in?error=old&error_fields=email,password&next=1', '/in?error=invalid_credentials&next=1'],
    ['/in?error=1&error=2', `/in${REFUSED}`],
    ['https://www.example/in#top', `https://www.example/in${REFUSED}#top`],
  ])('error_to %j leads to %j', async (page, location) => {
    const answer = await signIn(app, { ...wrong, error_to: page, redirect_to: '/account' });
    expect([answer.status, answer.headers.location]).toEqual([303, location]);
  });

  test.each([
    ['account'],
    ['//evil.example'],
    ['///evil.example'],
    ['/\\evil.example'],
    ['\\\\evil.example'],
    ['\t//evil.example'],
    ['/\t/evil.example'],
    ['/\r\nSet-Cookie: a=b'],
    ['/\u0000'],
    ['/.//evil.example'],
    ['/x/..//evil.example'],
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    ['https://evil.example'],
    ['https://evil.example/?https://www.example'],
    ['https://www.example.evil.example'],
    ['https://www.example@evil.example'],
    ['https://evil@www.example'],
    ['http://www.example'],
    ['https://www.example:444'],
    [`/${'x'.repeat(2000)}`],
  ])('%j is refused as either, and nothing is done', async (page) => {
    const { id } = (await app.auth.credential.signIn(right)).user;
    const before = await app.auth.listSessions(id);
    const forms: Record<string, string>[] = [
      { redirect_to: page },
      { error_to: page },
      { redirect_to: page, error_to: '/in' },
    ];
    for (const pages of forms) {
      const answer = await signIn(app, { ...right, ...pages }, { referer: `${app.origin}/in` });
      const { detail } = expectProblem(answer, 400, 'invalid_callback_url');
      expect(detail).toMatch(/^(redirect|error)_to must be a path/);
      expect([answer.headers.location, answer.headers['set-cookie']]).toEqual([undefined, undefined]);
    }
    expect((await app.auth.listSessions(id)).length).toBe(before.length);
    await app.auth.revokeAllSessions(id);
  });

  describe('without error_to', () => {
    const pageOf = async (referer: string, headers: Record<string, string> = {}) => {
      const { host } = new URL(app.origin);
      const answer = await signIn(app, wrong, { referer: referer.replace('HOST', host), ...headers });
      if (answer.status === 303) return answer.headers.location;
      expectProblem(answer, 401, 'invalid_credentials');
      return null;
    };

    test.each([
      ['http://HOST/in', `/in${REFUSED}`],
      ['http://HOST/in?next=1&error=old&error_fields=a', '/in?next=1&error=invalid_credentials'],
      ['http://HOST', `/${REFUSED}`],
      ['https://HOST/in', `/in${REFUSED}`],
    ])('the page %s that sent the form shows the error', async (referer, location) => {
      expect(await pageOf(referer)).toBe(location);
    });

    test.each([
      ['http://HOST//evil.example'],
      ['http://HOST/.//evil.example'],
      ['http://user:password@evil.example/HOST'],
      ['http://HOST@evil.example/'],
      ['http://HOST.evil.example/in'],
      ['https://evil.example/in'],
      ['https://www.example/in'],
      ['/in'],
      ['about:blank'],
      ['nonsense'],
      [`http://HOST/${'x'.repeat(3000)}`],
    ])('%s gets the problem as JSON', async (referer) => {
      expect(await pageOf(referer)).toBeNull();
    });

    test('a form without a Referer gets the problem as JSON', async () => {
      expectProblem(await signIn(app, wrong), 401, 'invalid_credentials');
      expectProblem(await signIn(app, { ...wrong, error_to: '' }), 401, 'invalid_credentials');
    });

    test('even a form that cannot be read leads back to its page', async () => {
      const answer = await signIn(
        app,
        { ...wrong, credential: 'x'.repeat(17_000) },
        { referer: `${app.origin}/in` },
      );
      expect([answer.status, answer.headers.location]).toEqual([303, '/in?error=body_too_large']);
    });
  });
});

test('behind a proxy, the page of baseUrl that sent the form shows the error', async () => {
  const app = await startApp({ config: { baseUrl: 'https://app.example' } });
  const location = async (referer: string) => (await signIn(app, wrong, { referer })).headers.location;
  expect(await location('https://app.example/in?a=b')).toBe('/in?a=b&error=invalid_credentials');
  expect(await location('https://other.example/in')).toBeUndefined();
  const absolute = await signIn(app, { ...wrong, error_to: 'https://app.example/in' });
  expect(absolute.headers.location).toBe(`https://app.example/in${REFUSED}`);
  await app.stop();
});
