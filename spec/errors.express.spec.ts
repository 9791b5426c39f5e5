import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AuthError } from '../lib/index.js';
import { ada, password, type SpecApp, startApp } from './support/app.js';
import { expectProblem } from './support/problem.js';

let app: SpecApp<readonly [ReturnType<typeof password>]>;
beforeAll(async () => {
  app = await startApp({ plugins: [password({ username: true })] });
});
afterAll(() => app.stop());

describe('an AuthError from code', () => {
  test('names the fields that are not valid', async () => {
    const signUp = app.auth.credential.signUp({ email: 'ada', password: 'password1', username: 'x' });
    await expect(signUp).rejects.toMatchObject({
      code: 'validation_failed',
      message: expect.stringMatching(
        /^validation_failed: email must be an email address.*; username must be 3 to 30.*; password is one of the most common passwords; choose another$/,
      ),
    });
  });

  test('has the message of its code, or the detail that it was given', () => {
    expect(new AuthError('unauthenticated').message).toBe(
      'Sign in first: the request does not include a session.',
    );
    const error = new AuthError('unauthenticated', { detail: 'Not here.' });
    expect([error.message, error.detail]).toEqual(['Not here.', 'Not here.']);
    const errors = [{ pointer: '/name', code: 'required', detail: 'is missing' }];
    const invalid = new AuthError('validation_failed', { detail: 'Give a name.', errors });
    expect([invalid.message, invalid.detail]).toEqual(['validation_failed: name is missing', 'Give a name.']);
  });

  test('has its status under both names that frameworks read', () => {
    expect(new AuthError('rate_limited')).toMatchObject({ status: 429, statusCode: 429 });
  });

  test('that is a 422 always says what is wrong', () => {
    const whole = [{ pointer: '', code: 'invalid', detail: 'is not valid' }];
    for (const options of [{}, { errors: [] }]) {
      const error = new AuthError('validation_failed', options);
      expect(error.errors).toEqual(whole);
      expect(error.message).toBe('validation_failed: the input is not valid');
    }
    const { errors } = new AuthError('validation_failed', { detail: 'Give a name.' });
    expect(errors).toEqual([{ pointer: '', code: 'invalid', detail: 'Give a name.' }]);
    expect(new AuthError('unauthenticated', { errors: [] }).errors).toBeUndefined();
  });

  test('names nested fields, and lists at most 20', () => {
    const errors = Array.from({ length: 500 }, (_, index) => ({
      pointer: `/scopes/${index}/${'x'.repeat(1000)}`,
      code: 'invalid',
      detail: 'is wrong',
    }));
    const error = new AuthError('validation_failed', { errors });
    expect(error.errors).toHaveLength(20);
    expect(error.errors?.[0]?.pointer).toBe(`/scopes/0/${'x'.repeat(190)}…`);
    expect(error.message).toMatch(/^validation_failed: scopes\.0\.x+… is wrong; scopes\.1\.x/);
    expect(error.message.length).toBeLessThan(5000);
  });

  test('rejects an unknown code', () => {
    expect(() => new AuthError('no_such_code' as never)).toThrow(
      'latchkey: there is no error code no_such_code',
    );
  });
});

test('on the wire the fields are in errors, not in detail', async () => {
  const answer = await app.http.post('/auth/signup/credential').send({ ...ada, password: 'password1' });
  const problem = expectProblem(answer, 422, 'validation_failed');
  expect(problem.detail).toBe('The body is invalid: see errors.');
  expect(problem.errors).toMatchObject([{ pointer: '/password' }]);
});

describe('an app without usernames', () => {
  let plain: SpecApp<readonly [ReturnType<typeof password>]>;
  beforeAll(async () => {
    plain = await startApp();
  });
  afterAll(() => plain.stop());

  test('gets no message that speaks of them', async () => {
    await plain.auth.credential.signUp(ada);
    const wrong = { credential: ada.email, password: 'another engine' };
    const own = { email: 'grace@example.com', password: 'Grace@Example.com' };
    const problems = [
      expectProblem(await plain.http.post('/auth/signin/credential').send(wrong), 401, 'invalid_credentials'),
      expectProblem(await plain.http.post('/auth/signup/credential').send(own), 422, 'validation_failed'),
      expectProblem(await plain.http.post('/auth/signup/credential').send(ada), 409, 'email_taken'),
    ];
    for (const problem of problems) expect(JSON.stringify(problem)).not.toMatch(/username/i);
    expect(problems[1]?.errors?.[0]?.detail).toBe('must not be your email');
    expect(JSON.stringify(plain.auth.openapi())).not.toMatch(/username/i);
  });
});

test('the problem in docs/errors.md is the one that is sent', async () => {
  const { text } = await app.http
    .post('/auth/signup/credential')
    .send({ email: 'ada', password: 'password' });
  expect(await readFile(new URL('../docs/errors.md', import.meta.url), 'utf8')).toContain(text);
});
