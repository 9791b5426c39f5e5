import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Response } from 'supertest';
import { refusalPage } from '../../lib/http/refusal-page.js';
import { AuthError, authRouter } from '../../lib/index.js';
import { ada, type password, type SpecApp, startApp } from '../support/app.js';
import { expectProblem } from '../support/problem.js';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const wrong = { credential: ada.email, password: 'not the password' };

function expectPage(answer: Response, status: number, title: string, code: string) {
  expect([answer.status, answer.headers['content-type']]).toEqual([status, 'text/html; charset=utf-8']);
  expect(answer.text).toMatch(/^<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n/);
  expect(answer.text).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
  expect(answer.text.match(/<h1>.*<\/h1>/g)).toEqual([`<h1>${status} ${title}</h1>`]);
  expect(answer.text).toContain(`<code>${code}</code>`);
  expect(answer.text).not.toMatch(/<script|<style|javascript:|style=/);
  expect(answer.headers).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy':
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
  });
  expect(answer.headers['www-authenticate'] !== undefined).toBe(status === 401);
  expect([answer.headers.location, answer.headers['set-cookie']]).toEqual([undefined, undefined]);
}

describe('a browser whose form has no page to lead to', () => {
  let app: SpecApp<readonly [ReturnType<typeof password>]>;
  beforeAll(async () => {
    app = await startApp({
      config: {
        baseUrl: 'http://app.localhost/app',
        problems: ({ code }) => ({ shaped: code }),
      },
      mount: (mounted, auth) => void mounted.use('/auth', authRouter(auth)),
    });
  });
  afterAll(() => app.stop());

  const post = (fields: Record<string, string>, headers: Record<string, string> = BROWSER) =>
    app.http
      .post('/auth/signin/credential')
      .set(headers)
      .type('form')
      .send(`${new URLSearchParams(fields)}`);

  test('gets a page with the problem and a link back, whatever the app makes of JSON', async () => {
    const answer = await post(wrong);
    expectPage(answer, 401, 'Unauthorized', 'invalid_credentials');
    expect(answer.text).toContain('<a href="/app/">');
    expect(answer.text).not.toContain(ada.email);
  });

  test('gets the invalid fields, without what was typed', async () => {
    const answer = await post({ credential: '<b>', password: '', '<i>/~': 'made up' });
    expectPage(answer, 422, 'Unprocessable Entity', 'validation_failed');
    expect(answer.text).toContain('<li>password is missing</li>');
    expect(answer.text).toContain('<li>&lt;i&gt;/~ is not a field of this request</li>');
    expect(answer.text).not.toMatch(/<b>|<i>|made up/);
  });

  test('gets it for a page that is not allowed, and a form that cannot be read', async () => {
    expectPage(
      await post({ ...wrong, error_to: '//evil.example' }),
      400,
      'Bad Request',
      'invalid_callback_url',
    );
    const long = await post({ credential: 'x'.repeat(17_000) });
    expectPage(long, 413, 'Payload Too Large', 'body_too_large');
  });

  test('gets it in place of every page of the app if another site has sent the form', async () => {
    const answer = await post({ ...wrong, error_to: '/in' }, { ...BROWSER, 'sec-fetch-site': 'cross-site' });
    expectPage(answer, 403, 'Forbidden', 'origin_not_allowed');
  });

  test('is the only client that gets it', async () => {
    for (const accept of ['*/*', 'application/json', '']) {
      const { status, body } = await post(wrong, { accept });
      expect([accept, status, body]).toEqual([accept, 401, { shaped: 'invalid_credentials' }]);
    }
    const json = await app.http.post('/auth/signin/credential').set(BROWSER).send(wrong);
    expect([json.status, json.body]).toEqual([401, { shaped: 'invalid_credentials' }]);
    const got = await app.http.get('/auth/me').set(BROWSER);
    expect([got.status, got.body]).toEqual([401, { shaped: 'unauthenticated' }]);
  });
});

test('without a page, the problem of a guard stays JSON', async () => {
  const app = await startApp();
  expectProblem(await app.http.get('/auth/me').set(BROWSER), 401, 'unauthenticated');
  await app.stop();
});

describe('the page', () => {
  const textOf = (error: AuthError, appName?: string) =>
    refusalPage(error, { home: '/a"b', ...(appName !== undefined && { appName }) }).toString();

  test.each([
    [0, '1 second'],
    [1, '1 second'],
    [30.2, '31 seconds'],
    [89, '89 seconds'],
    [90, '2 minutes'],
    [3600, '60 minutes'],
    [5400, '2 hours'],
  ])('says a wait of %d seconds as %s', (retryAfter, words) => {
    const text = textOf(new AuthError('rate_limited', { retryAfter }));
    expect(text).toContain(`<p>Try again in ${words}.</p>`);
  });

  test('escapes what is put into it', () => {
    const errors = [{ pointer: '', code: 'invalid', detail: 'has a <tag>' }];
    const text = textOf(new AuthError('validation_failed', { errors, detail: '<script>' }), '<App>');
    expect(text).toContain('<p>&lt;script&gt; (<code>validation_failed</code>)</p>');
    expect(text).toContain('<li>The form has a &lt;tag&gt;</li>');
    expect(text).toContain('<a href="/a&quot;b">&lt;App&gt;</a>');
  });
});
