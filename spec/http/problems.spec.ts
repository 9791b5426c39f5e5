import { STATUS_CODES } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ErrorRequestHandler, Response } from 'express';
import { authRouter, createAuth, type ProblemDetails, requireSession } from '../../lib/index.js';
import { ada, password, SECRET, type SpecApp, signedIn, startApp } from '../support/app.js';
import { expectProblem } from '../support/problem.js';

const plugins = [password()] as const;
let app: SpecApp<typeof plugins>;
/** What the app's function got. */
const given: { problem: ProblemDetails; path: string }[] = [];
let responds: Response | undefined;
/** What the app's own error handler gets. */
const thrown: unknown[] = [];
/** What it does next. */
let shape: (problem: ProblemDetails) => unknown;
const wrapped = ({ code, detail, errors }: ProblemDetails) => ({
  success: false,
  error: { code, message: detail, fields: errors?.map(({ pointer }) => pointer.slice(1)) ?? [] },
});

beforeAll(async () => {
  app = await startApp({
    plugins,
    config: {
      rateLimit: { signIn: false, mail: false, signUp: { limit: 3, window: 60 } },
      problems(problem, req) {
        given.push({ problem, path: req.originalUrl });
        responds = req.res;
        return shape(problem);
      },
    },
    mount: (server, auth) => {
      server.use('/auth', authRouter(auth));
      server.get('/reports', requireSession(auth), (_req, res) => void res.json({}));
      server.get(
        '/page',
        requireSession(auth, { onError: (error, _req, res) => void res.status(418).send(error.code) }),
      );
      const handler: ErrorRequestHandler = (error, _req, _res, next) => {
        thrown.push(error);
        next(error);
      };
      server.use(handler);
    },
  });
  shape = wrapped;
  await signedIn(app);
});
afterAll(() => app.stop());

const refusals: [string, number, string, () => PromiseLike<Answer>][] = [
  ['a route that asks for a session', 401, 'unauthenticated', () => app.http.get('/auth/me')],
  ['a guard', 401, 'unauthenticated', () => app.http.get('/reports')],
  ['a handler', 401, 'invalid_credentials', () => signIn({ credential: ada.email, password: 'wrong' })],
  ['a body that is not valid', 422, 'validation_failed', () => signIn({ credential: ada.email })],
  ['a body that is too large', 413, 'body_too_large', () => signIn({ password: 'x'.repeat(17_000) })],
  [
    'a body of another type',
    415,
    'unsupported_media_type',
    () => app.http.post('/auth/signin/credential').type('text').send('x'),
  ],
  ['another method', 405, 'method_not_allowed', () => app.http.put('/auth/me')],
  ['a malformed path', 400, 'invalid_request', () => app.http.delete('/auth/sessions/%zz')],
  [
    'a session that is not there',
    404,
    'session_not_found',
    async () => (await signedIn(app, { ...ada, email: 'other@example.com' })).delete('/auth/sessions/1'),
  ],
  [
    'a form that names no page',
    401,
    'invalid_credentials',
    () => form({ credential: ada.email, password: 'wrong' }),
  ],
];
type Answer = Awaited<ReturnType<SpecApp<typeof plugins>['http']['get']>>;
const signIn = (body: object) => app.http.post('/auth/signin/credential').send(body);
const form = (body: object) => app.http.post('/auth/signin/credential').type('form').send(body);

test.each(refusals)('the app shapes the body of %s', async (_name, status, code, send) => {
  given.length = 0;
  const answer = await send();
  expect([answer.status, answer.headers['content-type']]).toEqual([
    status,
    'application/json; charset=utf-8',
  ]);
  const [{ problem, path } = { problem: null, path: null }, ...others] = given;
  expect(others).toEqual([]);
  expect(problem).toMatchObject({ type: 'about:blank', title: STATUS_CODES[status], status, code });
  expect(path).toMatch(/^\/(auth|reports)/);
  expect(answer.body).toEqual(JSON.parse(JSON.stringify(wrapped(problem as ProblemDetails))));
});

test('status and headers stay', async () => {
  const unauthenticated = await app.http.get('/auth/me');
  expect(unauthenticated.headers).toMatchObject({
    'www-authenticate': expect.any(String),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  expect((await app.http.put('/auth/me')).headers.allow).toContain('GET');
  const signUp = () => app.http.post('/auth/signup/credential').send({ ...ada, email: 'third@example.com' });
  const answers = [await signUp(), await signUp(), await signUp()];
  const limited = answers.find(({ status }) => status === 429);
  expect(limited?.headers['retry-after']).toMatch(/^\d+$/);
  expect(limited?.body.error.code).toBe('rate_limited');
  // An error that asks for more than a body gets none.
  shape = ({ code }) => code;
  expect((await app.http.get('/auth/me')).body).toBe('unauthenticated');
  shape = wrapped;
});

test('redirects of forms and guards with onError are not shaped', async () => {
  given.length = 0;
  const typed = { credential: ada.email, password: 'wrong', error_to: '/sign-in' };
  const redirect = await form(typed).redirects(0);
  expect([redirect.status, redirect.headers.location]).toEqual([303, '/sign-in?error=invalid_credentials']);
  const page = await app.http.get('/page');
  expect([page.status, page.text]).toEqual([418, 'unauthenticated']);
  expect(given).toEqual([]);
});

describe('a function that gives no body', () => {
  const failures: [string, (problem: ProblemDetails) => unknown][] = [
    ['throws', () => JSON.parse('{')],
    ['returns undefined', () => undefined],
    ['returns null', () => null],
    ['returns a function', () => () => undefined],
    ['returns a promise', async () => ({ secret: 1 })],
    ['returns a promise that is rejected', () => Promise.reject(new Error('later'))],
    ['returns what JSON cannot contain', () => ({ id: 1n })],
    ['changes the problem first', (problem) => Object.assign(problem, { code: 'mine' }) && undefined],
  ];

  test.each(failures)('which %s gets the problem', async (_name, failing) => {
    shape = failing;
    expectProblem(await app.http.get('/auth/me'), 401, 'unauthenticated');
    expectProblem(await app.http.get('/reports'), 401, 'unauthenticated');
    shape = wrapped;
  });

  test('does not change what the problem says', async () => {
    shape = ({ errors }) => void (errors as unknown[])?.splice(0);
    const { errors } = expectProblem(await signIn({ credential: ada.email }), 422, 'validation_failed');
    expect(errors).toHaveLength(1);
    shape = wrapped;
  });

  test('is logged once', () => {
    const lines = app.log.filter((line) => line.includes('problems'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^error latchkey: problems threw.*return a value that JSON can represent[\s\S]*SyntaxError/,
    );
  });
});

test('a function that responds by itself ends no process', async () => {
  shape = () => void responds?.status(400).end('mine');
  const answer = await app.http.get('/auth/me');
  expect([answer.status, answer.text]).toEqual([400, 'mine']);
  shape = wrapped;
  // An error would have arrived before the next response.
  await app.http.get('/auth/me').expect(401);
  expect(thrown).toEqual([]);
});

test('the OpenAPI document does not describe the bodies as problems', () => {
  const document = app.auth.openapi();
  const { responses } = (document.paths['/me']?.get ?? {}) as {
    responses: Record<string, { description: string; content: object }>;
  };
  expect(responses[401]?.description).toBe('invalid_session, unauthenticated');
  expect(responses[401]?.content).toEqual({
    'application/json': { schema: { $ref: '#/components/schemas/Problem' } },
  });
  expect(document.components.schemas.Problem).toEqual({ description: expect.stringContaining('this app') });
  const named = Object.keys(document.components.schemas).filter((name) => /Problem/.test(name));
  expect(named).toEqual(['Problem']);
  expect(JSON.stringify(document)).not.toContain('problem+json');
});

test('anything but a function is a config error', () => {
  const config = { database: 'sqlite:./unused.db', secret: SECRET, plugins: [], problems: {} as never };
  expect(() => createAuth(config)).toThrow(
    'latchkey: problems must be a function of a problem and a request',
  );
});
