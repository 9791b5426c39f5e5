import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import bodyParser from 'body-parser';
import type { RequestHandler } from 'express';
import express from 'express';
import { authRouter } from '../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { expectProblem } from '../support/problem.js';

// Bodies that the app's own middleware has read, in whichever way it marks and leaves them.
const plugins = [password()] as const;
const FORM = 'application/x-www-form-urlencoded';

const all = { type: () => true };
const PARSERS: Readonly<Record<string, RequestHandler>> = {
  'express.json': express.json(),
  'express.json and urlencoded': both(express.json(), express.urlencoded({ extended: true })),
  // The package as it is installed today, which Express 4 does not contain.
  'body-parser': both(bodyParser.json(), bodyParser.urlencoded({ extended: false })),
  'body-parser text': bodyParser.text(all),
  'body-parser raw': bodyParser.raw(all),
  'express.text': express.text(all),
  'express.raw': express.raw(all),
};

function both(first: RequestHandler, second: RequestHandler): RequestHandler {
  return (req, res, next) =>
    void first(req, res, (error?: unknown) => (error ? next(error) : second(req, res, next)));
}

/** Reads a body and keeps nothing of it. */
const swallow: RequestHandler = (req, _res, next) => void req.on('end', () => next()).resume();

let app: SpecApp<typeof plugins>;
let people = 0;
beforeAll(async () => {
  app = await startApp({
    plugins,
    mount: (mounted, auth) => {
      for (const [name, parser] of Object.entries(PARSERS))
        mounted.use(`/${encodeURIComponent(name)}`, parser, authRouter(auth));
      mounted.use('/swallowed', swallow, authRouter(auth));
      mounted.use('/auth', authRouter(auth));
    },
  });
});
afterAll(() => app.stop());

describe.each(Object.keys(PARSERS))('behind %s', (name) => {
  const prefix = `/${encodeURIComponent(name)}`;
  const person = () => ({ ...ada, email: `person-${people++}@example.com` });
  const post = (path: string, type: string, body: string) =>
    app.http.post(`${prefix}${path}`).set('content-type', type).send(body);

  test('JSON and forms are read', async () => {
    const { email, password: typed } = person();
    await post('/signup/credential', 'application/json', JSON.stringify({ email, password: typed })).expect(
      201,
    );
    const fields = new URLSearchParams({ credential: email, password: typed, redirect_to: '/in' });
    const signedIn = await post('/signin/credential', FORM, `${fields}`);
    expect([signedIn.status, signedIn.headers.location]).toEqual([303, '/in']);
  });

  test('what is wrong with a body has the usual name', async () => {
    const json = (body: string) => post('/signin/credential', 'application/json', body);
    expectProblem(await json('{}'), 422, 'validation_failed');
    expectProblem(await json('{"credential":"a","password":"b","x":1}'), 422, 'validation_failed');
    const long = JSON.stringify({ credential: 'x'.repeat(20_000) });
    expectProblem(await json(long), 413, 'body_too_large');
    if (/text|raw/.test(name)) expectProblem(await json('{"credential":'), 400, 'invalid_json');
  });
});

test('bytes that are not UTF-8 are no text', async () => {
  const bytes = Buffer.from([0x22, 0xff, 0x22]);
  const post = (type: string) =>
    app.http
      .post('/body-parser%20raw/signin/credential')
      .set('content-type', type)
      .serialize((body) => body);
  expectProblem(await post('application/json').send(bytes), 400, 'invalid_json');
  expectProblem(await post(FORM).send(bytes), 400, 'invalid_request');
});

test('a body of which nothing is left is refused with the cause', async () => {
  const answer = await app.http.post('/swallowed/signup/credential').send(ada);
  expect(expectProblem(answer, 400, 'invalid_request').detail).toMatch(/^Other middleware has read the body/);
});

describe('a request without a body', () => {
  const ACCEPT = {
    axios: 'application/json, text/plain, */*',
    browser: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  };
  // axios in Node sends no body as a form of length 0.
  test.each([
    ['axios', { 'content-type': FORM, 'content-length': '0', accept: ACCEPT.axios }, 204],
    ['fetch', { accept: '*/*' }, 204],
    ['a program that says JSON', { 'content-type': 'application/json', accept: 'application/json' }, 204],
    ['a form of a browser', { 'content-type': FORM, 'content-length': '0', accept: ACCEPT.browser }, 303],
    ['curl with -d ""', { 'content-type': FORM, 'content-length': '0', accept: '*/*' }, 303],
  ])('of %s', async (_who, headers, status) => {
    const { token } = await session();
    const answer = await fetch(`${app.origin}/auth/signout`, {
      method: 'POST',
      headers: { cookie: `latchkey=${token}`, 'sec-fetch-site': 'same-origin', ...headers },
      redirect: 'manual',
    });
    expect(answer.status).toBe(status);
  });

  const session = async () => {
    const { id } = await app.auth.users.create({ email: `person-${people++}@example.com` });
    return app.auth.createSession(id);
  };
});
